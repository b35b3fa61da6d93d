//! `math.fma` for CPUs without the instruction, with the same bits; of f64 see [`double`].
//!
//! Of f32 the product of two f32 is exact in f64. The sum with the third is rounded to odd there, by its exact error, so that the
//! second rounding, to f32, cannot go wrong (S. Boldo, G. Melquiond, "Emulation of a FMA and correctly rounded sums:
//! proved algorithms using rounding to odd", IEEE Transactions on Computers 57, 2008).

mod double;

use crate::{
    CodegenError, context,
    legality::{functions, operations},
    stage::{illegal, op_name},
    types::{Elem, ValueType},
};
use melior::{
    Context,
    ir::{
        Attribute, BlockLike, BlockRef, Identifier, Module, OperationRef, RegionLike, Type, Value, ValueLike,
        operation::{OperationBuilder, OperationLike, OperationMutLike, OperationRefMut},
    },
};
use mlir_sys as sys;

/// A copy of the module without `math.fma`.
///
/// # Errors
/// A module that MLIR cannot copy or build, which is a bug.
pub(crate) fn expand<'c>(module: &Module<'c>) -> Result<Module<'c>, CodegenError> {
    let copy = context::copy(module).ok_or_else(|| CodegenError::bug("fma", "cannot copy the module"))?;
    let mut found = Vec::new();
    for func in functions(&copy) {
        collect(func, &mut found);
    }
    let reference = module.context();
    // SAFETY: the context outlives `module`, which is borrowed for the whole call.
    let cx = unsafe { reference.to_ref() };
    for op in found {
        replace(cx, op)?;
    }
    Ok(copy)
}

fn collect<'c: 'a, 'a>(parent: OperationRef<'c, 'a>, found: &mut Vec<OperationRef<'c, 'a>>) {
    for block in parent.regions().filter_map(|region| region.first_block()) {
        for op in operations(block.first_operation()) {
            if op_name(&op) == "math.fma" {
                found.push(op);
            }
            collect(op, found);
        }
    }
}

/// Puts operations before one that is to go.
struct Before<'c, 'a> {
    cx: &'c Context,
    block: BlockRef<'c, 'a>,
    at: OperationRef<'c, 'a>,
    /// `vector<8x` and `>`, or nothing for scalars.
    shape: (String, &'static str),
}

impl<'c: 'a, 'a> Before<'c, 'a> {
    fn ty(&self, elem: &str) -> Result<Type<'c>, CodegenError> {
        let text = format!("{}{elem}{}", self.shape.0, self.shape.1);
        Type::parse(self.cx, &text).ok_or_else(|| CodegenError::bug("fma", format!("no type {text}")))
    }

    fn op(&self, name: &str, operands: &[Value<'c, 'a>], elem: &str) -> Result<Value<'c, 'a>, CodegenError> {
        self.with(name, operands, elem, &[])
    }

    fn with(
        &self,
        name: &str,
        operands: &[Value<'c, 'a>],
        elem: &str,
        attributes: &[(&str, &str)],
    ) -> Result<Value<'c, 'a>, CodegenError> {
        let bug = |reason: String| CodegenError::bug("fma", reason);
        let attributes: Vec<_> = attributes
            .iter()
            .map(|(key, text)| {
                let value = Attribute::parse(self.cx, text).ok_or_else(|| bug(format!("no attribute {text}")))?;
                Ok((Identifier::new(self.cx, key), value))
            })
            .collect::<Result<_, CodegenError>>()?;
        let op = OperationBuilder::new(name, self.at.location())
            .add_operands(operands)
            .add_results(&[self.ty(elem)?])
            .add_attributes(&attributes)
            .build()
            .map_err(|error| bug(error.to_string()))?;
        let op = self.block.insert_operation_before(self.at, op);
        op.result(0).map(Value::from).map_err(|error| bug(error.to_string()))
    }

    fn constant(&self, number: &str, elem: &str) -> Result<Value<'c, 'a>, CodegenError> {
        let ty = self.ty(elem)?;
        let text = match self.shape.1 {
            "" => format!("{number} : {ty}"),
            _ => format!("dense<{number}> : {ty}"),
        };
        self.with("arith.constant", &[], elem, &[("value", &text)])
    }
}

fn replace(cx: &Context, op: OperationRef<'_, '_>) -> Result<(), CodegenError> {
    let result = op.result(0).map_err(|_| illegal(&op, "it has no result"))?;
    let ty = ValueType::read(result.r#type()).map_err(|reason| illegal(&op, reason))?;
    let shape = match ty {
        ValueType::Vector(_, lanes) => (format!("vector<{lanes}x"), ">"),
        _ => (String::new(), ""),
    };
    let block = op.block().ok_or_else(|| illegal(&op, "it is in no block"))?;
    let b = Before { cx, block, at: op, shape };
    let operand = |i: usize| op.operand(i).map_err(|_| illegal(&op, "an operand is missing"));
    let (x, y, z) = (operand(0)?, operand(1)?, operand(2)?);
    let rounded = match ty.elem() {
        Elem::F64 => double::fma(&b, x, y, z)?,
        _ => single(&b, x, y, z)?,
    };
    // SAFETY: both values are alive and of one type; afterwards nothing uses the operation, which is then taken out.
    unsafe {
        sys::mlirValueReplaceAllUsesOfWith(result.to_raw(), rounded.to_raw());
        let mut gone = OperationRefMut::from_raw(op.to_raw());
        gone.remove_from_parent();
        sys::mlirOperationDestroy(op.to_raw());
    }
    Ok(())
}

fn single<'c: 'a, 'a>(
    b: &Before<'c, 'a>,
    x: Value<'c, 'a>,
    y: Value<'c, 'a>,
    z: Value<'c, 'a>,
) -> Result<Value<'c, 'a>, CodegenError> {
    let wide = |v| b.op("arith.extf", &[v], "f64");
    let (x, y, z) = (wide(x)?, wide(y)?, wide(z)?);
    let product = b.op("arith.mulf", &[x, y], "f64")?;
    let sum = b.op("arith.addf", &[product, z], "f64")?;
    // Knuth's two-sum: sum + error = product + z exactly.
    let from_z = b.op("arith.subf", &[sum, product], "f64")?;
    let from_product = b.op("arith.subf", &[sum, from_z], "f64")?;
    let lost_product = b.op("arith.subf", &[product, from_product], "f64")?;
    let lost_z = b.op("arith.subf", &[z, from_z], "f64")?;
    let error = b.op("arith.addf", &[lost_product, lost_z], "f64")?;
    // An even sum with an error moves by one towards the exact value; infinities and NaN have no error that compares.
    let (zero, one) = (b.constant("0.0", "f64")?, b.constant("1", "i64")?);
    let inexact = b.with("arith.cmpf", &[error, zero], "i1", &[("predicate", "6 : i64")])?;
    let bits = b.op("arith.bitcast", &[sum], "i64")?;
    let last = b.op("arith.andi", &[bits, one], "i64")?;
    let nothing = b.constant("0", "i64")?;
    let even = b.with("arith.cmpi", &[last, nothing], "i1", &[("predicate", "0 : i64")])?;
    let moves = b.op("arith.andi", &[inexact, even], "i1")?;
    let error_bits = b.op("arith.bitcast", &[error], "i64")?;
    let signs = b.op("arith.xori", &[bits, error_bits], "i64")?;
    let shift = b.constant("63", "i64")?;
    let differ = b.op("arith.shrsi", &[signs, shift], "i64")?;
    let step = b.op("arith.ori", &[differ, one], "i64")?;
    let moved = b.op("arith.addi", &[bits, step], "i64")?;
    let odd = b.op("arith.select", &[moves, moved, bits], "i64")?;
    let odd = b.op("arith.bitcast", &[odd], "f64")?;
    b.op("arith.truncf", &[odd], "f32")
}
