//! Walks a stage and dispatches its operations.

use super::{
    constant,
    value::{Val, mask_type, param_types, part_count, part_type, scalar_type, width},
};
use crate::{
    CodegenError,
    legality::operations,
    stage::{Stage, illegal, op_name},
    types::{Elem, ValueType},
};
use cranelift_codegen::{
    ir::{
        AbiParam, ConstantData, Endianness, Function, InstBuilder, MemFlagsData, Signature, Type, UserFuncName, Value,
        types,
    },
    isa::{CallConv, TargetFrontendConfig},
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use melior::ir::{
    BlockLike, BlockRef, OperationRef, RegionLike, ValueLike,
    attribute::{DenseI64ArrayAttribute, IntegerAttribute},
    operation::OperationLike,
};
use mlir_sys as sys;
use std::collections::{HashMap, HashSet};

/// Key of an MLIR value.
type Key = usize;

/// State while one stage is translated.
pub(super) struct Translator<'f> {
    pub(super) b: FunctionBuilder<'f>,
    values: HashMap<Key, Val>,
    /// Bit patterns of constants: one for a splat.
    constants: HashMap<Key, Vec<u64>>,
    /// Index values as another value plus a constant, for the offset field of an address.
    offsets: HashMap<Key, (Value, i64)>,
    /// How many loops enclose what a value is computed from; constants and arguments are not in it.
    depths: HashMap<Key, u32>,
    /// How many loops enclose the current operation.
    pub(super) depth: u32,
    /// Whether the innermost loop stores nothing.
    pub(super) quiet: bool,
    /// Buffers that nothing in the stage writes.
    constant_buffers: HashSet<Key>,
}

/// Translates a stage; its signature is the C entry of docs/architecture.md.
pub(super) fn function(
    func: OperationRef<'_, '_>,
    stage: &Stage,
    config: TargetFrontendConfig,
    context: &mut FunctionBuilderContext,
) -> Result<Function, CodegenError> {
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params = vec![AbiParam::new(types::I64); 5];
    let mut function = Function::with_name_signature(UserFuncName::testcase(&stage.name), signature);
    let mut t = Translator {
        b: FunctionBuilder::new(&mut function, context),
        values: HashMap::new(),
        constants: HashMap::new(),
        offsets: HashMap::new(),
        depths: HashMap::new(),
        depth: 0,
        quiet: false,
        constant_buffers: HashSet::new(),
    };
    let body = t.body(func)?;
    t.entry(stage, body);
    t.block(body)?;
    t.b.seal_all_blocks();
    t.b.finalize(config);
    Ok(function)
}

/// Whether all uses of a buffer are loads.
fn only_read(buffer: melior::ir::Value<'_, '_>) -> bool {
    uses(buffer).all(|user| matches!(op_name(&user).as_str(), "memref.load" | "vector.load" | "vector.maskedload"))
}

/// The operations that use a value, once for each use.
pub(super) fn uses<'c: 'a, 'a>(value: melior::ir::Value<'c, 'a>) -> impl Iterator<Item = OperationRef<'c, 'a>> {
    // SAFETY: the value, its uses and their owners live as long as the module, which nothing changes; the list ends
    // with a null use.
    unsafe {
        let first = Some(sys::mlirValueGetFirstUse(value.to_raw()));
        std::iter::successors(first, |use_| Some(sys::mlirOpOperandGetNextUse(*use_)))
            .take_while(|use_| !use_.ptr.is_null())
            .map(|use_| OperationRef::from_raw(sys::mlirOpOperandGetOwner(use_)))
    }
}

impl Translator<'_> {
    /// The only block of an operation's first region.
    fn body<'c: 'a, 'a>(&self, op: OperationRef<'c, 'a>) -> Result<BlockRef<'c, 'a>, CodegenError> {
        op.region(0).ok().and_then(|r| r.first_block()).ok_or_else(|| illegal(&op, "it has no body"))
    }

    /// Loads buffers and sizes and binds the stage's arguments.
    fn entry(&mut self, stage: &Stage, body: BlockRef<'_, '_>) {
        let block = self.b.create_block();
        self.b.append_block_params_for_function_params(block);
        self.b.switch_to_block(block);
        let &[buffers, dims, begin, end, scratch] = self.b.block_params(block) else { unreachable!("five parameters") };
        let flags = MemFlagsData::trusted().with_readonly();
        let mut arguments = Vec::new();
        for (i, _) in stage.buffers.iter().enumerate() {
            arguments.push(self.b.ins().load(types::I64, flags, buffers, 8 * i as i32));
        }
        for i in 0..stage.dims {
            arguments.push(self.b.ins().load(types::I64, flags, dims, 8 * i as i32));
        }
        arguments.extend([begin, end, scratch]);
        for (i, value) in arguments.into_iter().enumerate() {
            if let Ok(argument) = body.argument(i)
                && let Ok(ty) = ValueType::read(argument.r#type())
            {
                if stage.buffers.get(i).is_some_and(|b| b.noalias) && only_read(argument.into()) {
                    self.constant_buffers.insert(argument.to_raw().ptr as Key);
                }
                self.bind(argument, Val::single(ty, value));
            }
        }
    }

    /// Translates the operations of a block but for a final `scf.yield`.
    pub(super) fn block(&mut self, block: BlockRef<'_, '_>) -> Result<(), CodegenError> {
        for op in operations(block.first_operation()) {
            self.op(op)?;
        }
        Ok(())
    }

    fn op(&mut self, op: OperationRef<'_, '_>) -> Result<(), CodegenError> {
        let name = op_name(&op);
        let result = match name.as_str() {
            "scf.for" => return self.for_loop(op),
            "scf.if" => return self.if_else(op),
            "scf.yield" => return Ok(()),
            "func.return" => {
                self.b.ins().return_(&[]);
                return Ok(());
            }
            "memref.store" | "vector.store" => return self.store(op),
            // Cranelift has no such instruction; it is a hint.
            "memref.prefetch" => return Ok(()),
            "vector.maskedstore" => return self.masked_store(op),
            "arith.constant" => self.constant(op)?,
            "arith.addi" => {
                self.note_offset(op)?;
                self.integer(op, &name)?
            }
            "arith.subi" | "arith.muli" | "arith.divsi" | "arith.divui" | "arith.remsi" | "arith.remui"
            | "arith.andi" | "arith.ori" | "arith.xori" | "arith.shli" | "arith.shrsi" | "arith.shrui"
            | "arith.minsi" | "arith.maxsi" | "arith.minui" | "arith.maxui" => self.integer(op, &name)?,
            "arith.cmpi" => self.compare_integers(op)?,
            "arith.cmpf" => self.compare_floats(op)?,
            "arith.select" => self.select(op)?,
            "arith.addf" | "arith.subf" | "arith.mulf" | "arith.divf" | "arith.negf" | "math.fma" | "math.sqrt"
            | "math.absf" | "math.floor" | "math.ceil" | "math.trunc" | "math.roundeven" | "math.copysign" => {
                self.float(op, &name)?
            }
            "arith.maximumf" | "arith.minimumf" => self.extreme(op, name == "arith.maximumf")?,
            "arith.index_cast" | "arith.extsi" | "arith.extui" | "arith.trunci" => self.resize(op, &name)?,
            "arith.sitofp" | "arith.uitofp" => self.int_to_float(op, name == "arith.sitofp")?,
            "arith.fptosi" | "arith.fptoui" => self.float_to_int(op, name == "arith.fptosi")?,
            "arith.extf" | "arith.truncf" => self.float_to_float(op)?,
            "arith.bitcast" => self.reinterpret(op)?,
            "memref.load" | "vector.load" => self.load(op)?,
            "memref.view" => self.view(op)?,
            "vector.maskedload" => self.masked_load(op)?,
            "vector.create_mask" => self.create_mask(op)?,
            "vector.constant_mask" => self.constant_mask(op)?,
            "vector.bitcast" => self.view_lanes(op)?,
            "llvm.call_intrinsic" => self.pair_products(op)?,
            "vector.broadcast" => self.broadcast(op)?,
            "vector.extract" => self.extract(op)?,
            "vector.insert" => self.insert(op)?,
            "vector.from_elements" => self.from_elements(op)?,
            "vector.shuffle" => self.shuffle(op)?,
            "vector.step" => self.step(op)?,
            _ => return Err(illegal(&op, "cranelift does not know it")),
        };
        let to = op.result(0).map_err(|_| illegal(&op, "it has no result"))?;
        let depth = if matches!(name.as_str(), "memref.load" | "vector.load" | "vector.maskedload") {
            self.depth
        } else {
            (0..op.operand_count()).filter_map(|i| self.depth_of(op, i).ok()).max().unwrap_or(0)
        };
        self.note_depth(to, depth);
        self.bind(to, result);
        Ok(())
    }

    /// Says how many loops enclose what a value is computed from.
    pub(super) fn note_depth<'c>(&mut self, value: impl ValueLike<'c>, depth: u32) {
        if depth > 0 {
            self.depths.insert(value.to_raw().ptr as Key, depth);
        }
    }

    fn depth_of(&self, op: OperationRef<'_, '_>, i: usize) -> Result<u32, CodegenError> {
        Ok(self.depths.get(&self.operand_key(op, i)?).copied().unwrap_or(0))
    }

    /// Whether a load may be delayed to where its value is used, which saves registers: no store can come between, and
    /// since the address changes with the innermost loop, no pass can hoist the load to where it would not have run.
    pub(super) fn may_move(&self, op: OperationRef<'_, '_>, buffer: usize, index: usize) -> Result<bool, CodegenError> {
        Ok(self.depth > 0
            && self.depth_of(op, index)? == self.depth
            && (self.quiet || self.constant_buffers.contains(&self.operand_key(op, buffer)?)))
    }

    /// Gives an MLIR value its translation.
    pub(super) fn bind<'c>(&mut self, to: impl ValueLike<'c>, value: Val) {
        self.values.insert(to.to_raw().ptr as Key, value);
    }

    /// Operand `i`, translated.
    pub(super) fn operand(&self, op: OperationRef<'_, '_>, i: usize) -> Result<Val, CodegenError> {
        let key = self.operand_key(op, i)?;
        self.values.get(&key).cloned().ok_or_else(|| illegal(&op, format!("operand {i} is not translated")))
    }

    fn operand_key(&self, op: OperationRef<'_, '_>, i: usize) -> Result<Key, CodegenError> {
        let value = op.operand(i).map_err(|_| illegal(&op, format!("operand {i} is missing")))?;
        Ok(value.to_raw().ptr as Key)
    }

    /// Type of result 0.
    pub(super) fn result_type(&self, op: OperationRef<'_, '_>) -> Result<ValueType, CodegenError> {
        let result = op.result(0).map_err(|_| illegal(&op, "it has no result"))?;
        ValueType::read(result.r#type()).map_err(|reason| illegal(&op, reason))
    }

    /// The bit pattern of operand `i` if it is a constant equal in all lanes.
    pub(super) fn splat_bits(&self, op: OperationRef<'_, '_>, i: usize) -> Option<u64> {
        let bits = self.constants.get(&self.operand_key(op, i).ok()?)?;
        bits.iter().all(|b| *b == bits[0]).then(|| bits[0])
    }

    /// Operand `i`, an index, as a value plus a constant.
    pub(super) fn offset(&self, op: OperationRef<'_, '_>, i: usize) -> Result<(Value, i64), CodegenError> {
        match self.offsets.get(&self.operand_key(op, i)?) {
            Some(offset) => Ok(*offset),
            None => Ok((self.operand(op, i)?.parts[0], 0)),
        }
    }

    /// Operand `i` as another value plus a constant, where that is known.
    pub(super) fn origin(&self, op: OperationRef<'_, '_>, i: usize) -> Option<(Value, i64)> {
        self.offsets.get(&self.operand_key(op, i).ok()?).copied()
    }

    /// Says, or takes back, that a value is another one plus a constant.
    pub(super) fn note_origin<'c>(&mut self, value: impl ValueLike<'c>, origin: Option<(Value, i64)>) {
        let key = value.to_raw().ptr as Key;
        match origin {
            Some(origin) => self.offsets.insert(key, origin),
            None => self.offsets.remove(&key),
        };
    }

    /// An integer attribute.
    pub(super) fn number(&self, op: OperationRef<'_, '_>, name: &str) -> Result<i64, CodegenError> {
        op.attribute(name)
            .ok()
            .and_then(|a| IntegerAttribute::try_from(a).ok())
            .map(|a| a.value())
            .ok_or_else(|| illegal(&op, format!("attribute {name} is missing")))
    }

    /// An integer array attribute.
    pub(super) fn numbers(&self, op: OperationRef<'_, '_>, name: &str) -> Result<Vec<i64>, CodegenError> {
        let array = op
            .attribute(name)
            .ok()
            .and_then(|a| DenseI64ArrayAttribute::try_from(a).ok())
            .ok_or_else(|| illegal(&op, format!("attribute {name} is missing")))?;
        Ok((0..array.len()).filter_map(|i| array.element(i).ok()).collect())
    }

    /// Remembers `x + constant` for addresses.
    fn note_offset(&mut self, op: OperationRef<'_, '_>) -> Result<(), CodegenError> {
        if self.result_type(op)? != ValueType::Scalar(Elem::Index) {
            return Ok(());
        }
        for (value, constant) in [(0, 1), (1, 0)] {
            if let Some(bits) = self.splat_bits(op, constant) {
                let (root, offset) = self.offset(op, value)?;
                if let (Some(sum), Ok(to)) = (offset.checked_add(bits as i64), op.result(0)) {
                    self.offsets.insert(to.to_raw().ptr as Key, (root, sum));
                }
                break;
            }
        }
        Ok(())
    }

    fn constant(&mut self, op: OperationRef<'_, '_>) -> Result<Val, CodegenError> {
        let ty = self.result_type(op)?;
        let bits = op
            .attribute("value")
            .ok()
            .and_then(|a| constant::bits(a, ty))
            .ok_or_else(|| illegal(&op, "its value is not a number or a dense list of numbers"))?;
        if let Ok(to) = op.result(0) {
            self.constants.insert(to.to_raw().ptr as Key, bits.clone());
        }
        Ok(match ty {
            ValueType::Vector(elem, lanes) => {
                let all: Vec<u64> = (0..lanes as usize).map(|i| bits[i.min(bits.len() - 1)]).collect();
                self.vector_constant(elem, lanes, &all)
            }
            _ => Val::single(ty, self.scalar_constant(ty.elem(), bits[0])),
        })
    }

    /// A scalar with these bits.
    pub(super) fn scalar_constant(&mut self, elem: Elem, bits: u64) -> Value {
        use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
        match elem {
            Elem::F32 => self.b.ins().f32const(Ieee32::with_bits(bits as u32)),
            Elem::F64 => self.b.ins().f64const(Ieee64::with_bits(bits)),
            _ => self.b.ins().iconst(scalar_type(elem), bits as i64),
        }
    }

    /// A vector with these bits, one entry a lane.
    pub(super) fn vector_constant(&mut self, elem: Elem, lanes: u32, bits: &[u64]) -> Val {
        let (width, bytes) = (width(elem), width(elem) as usize / 8);
        let mut memory = vec![0; part_count(lanes, width) * 16];
        for (lane, &b) in memory.chunks_exact_mut(bytes).zip(bits) {
            let b = if elem == Elem::I1 && b != 0 { u64::MAX } else { b };
            lane.copy_from_slice(&b.to_le_bytes()[..bytes]);
        }
        let parts = memory.chunks_exact(16).map(|part| self.part_constant(part_type(elem), part)).collect();
        Val { ty: ValueType::Vector(elem, lanes), width, parts }
    }

    /// Sixteen bytes as a part.
    pub(super) fn part_constant(&mut self, ty: Type, bytes: &[u8]) -> Value {
        let constant = self.b.func.dfg.constants.insert(ConstantData::from(bytes));
        self.b.ins().vconst(ty, constant)
    }

    /// The same bits as another type of the same size.
    pub(super) fn view_as(&mut self, ty: Type, value: Value) -> Value {
        if self.b.func.dfg.value_type(value) == ty {
            return value;
        }
        self.b.ins().bitcast(ty, MemFlagsData::new().with_endianness(Endianness::Little), value)
    }

    /// Block parameters for a value of this type.
    pub(super) fn params(&mut self, block: cranelift_codegen::ir::Block, ty: ValueType) -> Val {
        let parts = param_types(ty).into_iter().map(|ty| self.b.append_block_param(block, ty)).collect();
        Val { ty, width: width(ty.elem()), parts }
    }

    /// A truth vector with lanes of this width; other values as they are.
    pub(super) fn at_width(&mut self, value: Val, to: u32) -> Val {
        if !matches!(value.ty, ValueType::Vector(Elem::I1, _)) || value.width == to {
            return value;
        }
        let lanes = value.lanes();
        let parts = if value.width < to {
            self.widen(value.parts, value.width, to, lanes, true)
        } else {
            self.narrow_masks(value.parts, value.width, to, lanes)
        };
        debug_assert!(parts.iter().all(|&p| self.b.func.dfg.value_type(p) == mask_type(to)));
        Val::mask(lanes, to, parts)
    }
}
