//! From a kernel to `loop.kernel`.

use melior::Context;
use melior::ir::attribute::{ArrayAttribute, FloatAttribute, IntegerAttribute, StringAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationBuilder;
use melior::ir::r#type::{IntegerType, MemRefType};
use melior::ir::{Attribute, Block, Identifier, Location, Module, Operation, Region, RegionLike, Type, Value};
use neap_mlir::inspect::map_attribute;
use neap_mlir::symbols::Symbols;
use neap_mlir::{Diagnostic, element};
use neap_optable::{ArgKind, CombineKind, DType, Dim};

use super::normal::{fits, iterators};
use super::types::types;
use super::{access, scalar};
use crate::ir::{Access, BufferId, Combine, Effect, Iter, IterKind, Kernel, Nest, OpId, Role, Scalar, ScalarOp};

/// Writes a kernel as a `loop.kernel`.
///
/// # Errors
/// A kernel that is not well formed: buffers, operands or iterators that do not exist.
pub fn write<'c>(cx: &'c Context, kernel: &Kernel) -> Result<Operation<'c>, Diagnostic> {
    let mut writer = Writer { cx, kernel, symbols: Symbols::with_names(&kernel.sizes) };
    let region = Region::new();
    let block = region.append_block(Block::new(&[]));
    let mut buffers = vec![];
    for i in 0..kernel.buffers.len() {
        buffers.push(first(block.append_operation(writer.buffer(i)?), &kernel.name)?);
    }
    for nest in &kernel.nests {
        block.append_operation(writer.nest(nest, &buffers)?);
    }
    let extents = writer.extents(&kernel.outer);
    // Last, when all symbols are known.
    let symbols = writer.symbols.attribute(cx);
    writer.op(
        "loop.kernel",
        &[
            ("sym_name", StringAttribute::new(cx, &kernel.name).into()),
            ("sizes", writer.int(kernel.sizes.len() as i64)),
            ("symbols", symbols),
            ("iterators", writer.kinds(&kernel.outer)),
            ("extents", extents),
        ],
        &[],
        &[],
        vec![region],
    )
}

/// Writes kernels as a module.
///
/// # Errors
/// As [`write`].
pub fn write_module<'c>(cx: &'c Context, kernels: &[Kernel]) -> Result<Module<'c>, Diagnostic> {
    let module = Module::new(Location::unknown(cx));
    for k in kernels {
        module.body().append_operation(write(cx, k)?);
    }
    Ok(module)
}

/// The number of a way to combine, among the dialect's.
pub(super) fn combine_kind(c: Combine) -> CombineKind {
    match c {
        Combine::Sum => CombineKind::Sum,
        Combine::Prod => CombineKind::Prod,
        Combine::Max => CombineKind::Max,
        Combine::Min => CombineKind::Min,
        Combine::Fma => CombineKind::Fma,
        Combine::Any => CombineKind::Any,
        Combine::All => CombineKind::All,
        Combine::Arg(ArgKind::Max, false) => CombineKind::ArgMax,
        Combine::Arg(ArgKind::Min, false) => CombineKind::ArgMin,
        Combine::Arg(ArgKind::Max, true) => CombineKind::ArgMaxLast,
        Combine::Arg(ArgKind::Min, true) => CombineKind::ArgMinLast,
    }
}

struct Writer<'c, 'k> {
    cx: &'c Context,
    kernel: &'k Kernel,
    symbols: Symbols,
}

/// Values by buffer and by scalar operation of the nest being written.
struct Scope<'c, 'a> {
    buffers: &'a [Value<'c, 'a>],
    ops: Vec<Value<'c, 'a>>,
    types: Vec<DType>,
    iterators: usize,
}

impl<'c> Writer<'c, '_> {
    fn wrong(&self, what: impl std::fmt::Display) -> Diagnostic {
        Diagnostic::error(&self.kernel.name, format!("kernel is not well formed: {what}"))
    }

    fn op(
        &self,
        name: &str,
        attributes: &[(&str, Attribute<'c>)],
        operands: &[Value<'c, '_>],
        results: &[Type<'c>],
        regions: Vec<Region<'c>>,
    ) -> Result<Operation<'c>, Diagnostic> {
        let named: Vec<_> = attributes.iter().map(|(n, a)| (Identifier::new(self.cx, n), *a)).collect();
        OperationBuilder::new(name, Location::unknown(self.cx))
            .add_attributes(&named)
            .add_operands(operands)
            .add_results(results)
            .add_regions_vec(regions)
            .build()
            .map_err(|e| self.wrong(e))
    }

    fn buffer(&mut self, i: usize) -> Result<Operation<'c>, Diagnostic> {
        let b = &self.kernel.buffers[i];
        let role = match b.role {
            Role::In => 0,
            Role::Out => 1,
            Role::Temp => 2,
        };
        // What the C API calls dynamic.
        let dims: Vec<i64> = b.dims.iter().map(|d| d.as_const().map_or(i64::MIN, |c| c as i64)).collect();
        let ty = MemRefType::new(element(self.cx, b.dtype), &dims, None, None);
        let shape = map_attribute(self.symbols.map(self.cx, &b.dims));
        self.op("loop.buffer", &[("role", self.enumeration(role)), ("shape", shape)], &[], &[ty.into()], vec![])
    }

    fn nest(&mut self, nest: &Nest, buffers: &[Value<'c, '_>]) -> Result<Operation<'c>, Diagnostic> {
        let cx = self.cx;
        let count = self.kernel.outer.len() + nest.iters.len();
        let types = types(self.kernel, nest).ok_or_else(|| self.wrong("an operand comes later than its use"))?;
        let (mut reads, mut maps, mut outsides, mut args) = (vec![], vec![], vec![], vec![]);
        for a in &nest.reads {
            maps.push(self.map(a, count)?);
            reads.push(buffers[a.buffer.0]);
            outsides.push(access::outside(cx, a.outside));
            args.push((element(cx, self.kernel.buffers[a.buffer.0].dtype), Location::unknown(cx)));
        }
        let region = Region::new();
        let block = region.append_block(Block::new(&args));
        let mut scope = Scope { buffers, ops: vec![], types, iterators: count };
        for op in &nest.ops {
            let v = match op {
                ScalarOp::Read(r) => block.argument(*r).map_err(|e| self.wrong(e))?.into(),
                op => first(block.append_operation(self.scalar(op, &scope)?), &self.kernel.name)?,
            };
            scope.ops.push(v);
        }
        for e in &nest.effects {
            block.append_operation(self.effect(e, &scope)?);
        }
        let extents = self.extents(&nest.iters);
        self.op(
            "loop.nest",
            &[
                ("iterators", self.kinds(&nest.iters)),
                ("extents", extents),
                ("maps", ArrayAttribute::new(cx, &maps).into()),
                ("outside", ArrayAttribute::new(cx, &outsides).into()),
            ],
            &reads,
            &[],
            vec![region],
        )
    }

    fn scalar(&mut self, op: &ScalarOp, scope: &Scope<'c, '_>) -> Result<Operation<'c>, Diagnostic> {
        let cx = self.cx;
        let result = element(cx, scope.types[scope.ops.len()]);
        let of =
            |o: &OpId| scope.ops.get(o.0).copied().ok_or_else(|| self.wrong("an operand comes later than its use"));
        // Of an operand that does not exist `of` complains.
        let ty = |o: &OpId| scope.types.get(o.0).copied().unwrap_or(DType::F32);
        // An upstream name, or one of ours with the number of its kind.
        let (name, attributes, operands): (&str, Vec<(&str, Attribute<'c>)>, Vec<Value<'c, '_>>) = match op {
            ScalarOp::Read(_) => return Err(self.wrong("a read is a block argument")),
            ScalarOp::Load(b, index) => {
                let mut operands = vec![*scope.buffers.get(b.0).ok_or_else(|| self.wrong("no such buffer"))?];
                for i in index {
                    operands.push(of(i)?);
                }
                ("loop.load", vec![], operands)
            }
            ScalarOp::Const(d, s) => {
                let (name, value) = self.constant(*d, *s)?;
                (name, vec![("value", value)], vec![])
            }
            ScalarOp::Iter(i) if *i < scope.iterators => ("loop.iter", vec![("position", self.int(*i as i64))], vec![]),
            ScalarOp::Iter(i) => return Err(self.wrong(format!("there is no iterator {i}"))),
            ScalarOp::Size(d) => {
                let map = map_attribute(self.symbols.map(cx, std::slice::from_ref::<Dim>(d)));
                return self.op("loop.size", &[("map", map)], &[], &[result], vec![]);
            }
            ScalarOp::Unary(k, a) => match scalar::unary(*k, ty(a)) {
                Some(name) => (name, vec![], vec![of(a)?]),
                None => ("loop.unary", vec![("kind", self.enumeration(*k as i64))], vec![of(a)?]),
            },
            ScalarOp::Binary(k, a, b) => match scalar::binary(*k, ty(a)) {
                Some(name) => (name, vec![], vec![of(a)?, of(b)?]),
                None => ("loop.binary", vec![("kind", self.enumeration(*k as i64))], vec![of(a)?, of(b)?]),
            },
            ScalarOp::Compare(k, a, b) => match scalar::compare(*k, ty(a)) {
                Some((name, p)) => (name, vec![("predicate", self.int(p))], vec![of(a)?, of(b)?]),
                None => ("loop.compare", vec![("kind", self.enumeration(*k as i64))], vec![of(a)?, of(b)?]),
            },
            ScalarOp::Select(c, a, b) => ("arith.select", vec![], vec![of(c)?, of(a)?, of(b)?]),
            ScalarOp::Cast(d, a) => (scalar::cast(*d, ty(a)).unwrap_or("loop.cast"), vec![], vec![of(a)?]),
            ScalarOp::Fma(a, b, c) => ("math.fma", vec![], vec![of(a)?, of(b)?, of(c)?]),
        };
        self.op(name, &attributes, &operands, &[result], vec![])
    }

    fn constant(&self, d: DType, s: Scalar) -> Result<(&'static str, Attribute<'c>), Diagnostic> {
        let ty = element(self.cx, d);
        Ok(match s {
            Scalar::Float(v) if d.is_float() => ("arith.constant", FloatAttribute::new(self.cx, ty, v).into()),
            Scalar::Int(v) if d.is_unsigned() => ("loop.constant", self.int(v)),
            Scalar::Int(v) if d == DType::Bool => {
                ("arith.constant", IntegerAttribute::new(ty, i64::from(v != 0)).into())
            }
            Scalar::Int(v) if d.is_int() => ("arith.constant", IntegerAttribute::new(ty, v).into()),
            s => return Err(self.wrong(format!("constant {s:?} of type {d}"))),
        })
    }

    fn effect(&mut self, e: &Effect, scope: &Scope<'c, '_>) -> Result<Operation<'c>, Diagnostic> {
        let later = || {
            Diagnostic::error(&self.kernel.name, "kernel is not well formed: an effect of a value that does not exist")
        };
        let of = |o: &OpId| scope.ops.get(o.0).copied().ok_or_else(later);
        let buffer = |b: &BufferId| scope.buffers.get(b.0).copied().ok_or_else(later);
        match e {
            Effect::Store { to, value, when } => {
                let mut operands = vec![of(value)?, buffer(&to.buffer)?];
                operands.extend(when.as_ref().map(of).transpose()?);
                let map = self.map(to, scope.iterators)?;
                self.op("loop.store", &[("map", map)], &operands, &[], vec![])
            }
            Effect::StoreAt { to, index, value, when } => {
                let mut operands = vec![of(value)?, buffer(to)?];
                for i in index {
                    operands.push(of(i)?);
                }
                operands.extend(when.as_ref().map(of).transpose()?);
                let segments = [1, 1, index.len() as i32, i32::from(when.is_some())];
                let segments = melior::ir::attribute::DenseI32ArrayAttribute::new(self.cx, &segments).into();
                self.op("loop.store_at", &[("operandSegmentSizes", segments)], &operands, &[], vec![])
            }
            Effect::Reduce { to, combine, value, second } => {
                let mut operands = vec![of(value)?];
                operands.extend(second.as_ref().map(of).transpose()?);
                operands.push(buffer(&to.buffer)?);
                let map = self.map(to, scope.iterators)?;
                let kind = self.enumeration(combine_kind(*combine).into());
                self.op("loop.reduce", &[("kind", kind), ("map", map)], &operands, &[], vec![])
            }
        }
    }

    fn map(&mut self, a: &Access, count: usize) -> Result<Attribute<'c>, Diagnostic> {
        if !fits(self.kernel, a) || a.index.iter().any(|i| iterators(i) > count) {
            return Err(self.wrong(format!("access to buffer {} does not fit its rank or the iterators", a.buffer.0)));
        }
        Ok(map_attribute(access::map(self.cx, &mut self.symbols, count, &a.index)))
    }

    fn extents(&mut self, iters: &[Iter]) -> Attribute<'c> {
        let extents: Vec<Dim> = iters.iter().map(|i| i.extent.clone()).collect();
        map_attribute(self.symbols.map(self.cx, &extents))
    }

    fn kinds(&self, iters: &[Iter]) -> Attribute<'c> {
        let name = |i: &Iter| match i.kind {
            IterKind::Parallel => "parallel",
            IterKind::Reduction => "reduction",
            IterKind::Sequential => "sequential",
        };
        let names: Vec<Attribute<'c>> = iters.iter().map(|i| StringAttribute::new(self.cx, name(i)).into()).collect();
        ArrayAttribute::new(self.cx, &names).into()
    }

    fn int(&self, v: i64) -> Attribute<'c> {
        IntegerAttribute::new(IntegerType::new(self.cx, 64).into(), v).into()
    }

    fn enumeration(&self, v: i64) -> Attribute<'c> {
        IntegerAttribute::new(IntegerType::new(self.cx, 32).into(), v).into()
    }
}

fn first<'c, 'a>(op: melior::ir::OperationRef<'c, 'a>, place: &str) -> Result<Value<'c, 'a>, Diagnostic> {
    op.result(0).map(Into::into).map_err(|e| Diagnostic::error(place, e.to_string()))
}
