//! From `loop.kernel` to a kernel.

use std::collections::HashMap;

use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::r#type::{MemRefType, ShapedTypeLike};
use melior::ir::{AffineMap, Attribute, BlockRef, Module, OperationRef, RegionLike, Type, Value, ValueLike};
use neap_mlir::inspect::{Plain, attribute, identifier, plain, value_key};
use neap_mlir::symbols::Symbols;
use neap_mlir::{Diagnostic, dtype};
use neap_optable::{ArgKind, BinaryKind, CombineKind, CompareKind, DType, UnaryKind};

use super::{access, scalar};
use crate::affine::Space;
use crate::ir::{
    Access, Buffer, BufferId, Combine, Effect, Iter, IterKind, Kernel, Nest, OpId, Role, Scalar, ScalarOp,
};

/// Reads a verified `loop.kernel`; the kernel is [`super::normal`].
///
/// # Errors
/// The first thing that has no plain form, at its place.
pub fn read(kernel: OperationRef<'_, '_>) -> Result<Kernel, Diagnostic> {
    if name(kernel) != "loop.kernel" {
        return Err(at(kernel)(format!("found {}, expected loop.kernel", name(kernel))));
    }
    let symbols = attr(kernel, "symbols").and_then(Symbols::read).map_err(at(kernel))?;
    let mut reader = Reader {
        symbols,
        kernel: Kernel { name: String::new(), sizes: vec![], buffers: vec![], outer: vec![], nests: vec![] },
        buffers: HashMap::new(),
        constants: HashMap::new(),
    };
    reader.kernel(kernel)?;
    Ok(reader.kernel)
}

/// Reads every kernel of a module, in order.
///
/// # Errors
/// As [`read`].
pub fn read_module(module: &Module<'_>) -> Result<Vec<Kernel>, Diagnostic> {
    operations(module.body()).into_iter().map(read).collect()
}

struct Reader {
    symbols: Symbols,
    kernel: Kernel,
    buffers: HashMap<usize, BufferId>,
    /// Constants that canonicalisation moved out of the nests.
    constants: HashMap<usize, ScalarOp>,
}

/// Scalar operations of the nest being read.
struct Scope {
    ops: Vec<ScalarOp>,
    types: Vec<DType>,
    ids: HashMap<usize, OpId>,
    space: Space,
}

impl Reader {
    fn kernel(&mut self, op: OperationRef<'_, '_>) -> Result<(), Diagnostic> {
        self.kernel.name = match attr(op, "sym_name").map(plain) {
            Ok(Plain::Str(s)) => s.to_string(),
            _ => String::new(),
        };
        let Ok(Plain::Int(sizes)) = attr(op, "sizes").map(plain) else { return Err(at(op)("expected sizes".into())) };
        self.kernel.sizes = self.symbols.meanings().iter().take(sizes as usize).map(ToString::to_string).collect();
        self.kernel.outer = self.iters(op)?;
        for inner in operations(block(op)?) {
            match name(inner) {
                "loop.buffer" => self.buffer(inner)?,
                "loop.nest" => {
                    let nest = self.nest(inner)?;
                    self.kernel.nests.push(nest);
                }
                _ => {
                    let result = first(inner)?;
                    let c = constant(inner, scalar_type(inner, result.r#type())?)?;
                    self.constants.insert(value_key(&result), c);
                }
            }
        }
        Ok(())
    }

    fn iters(&self, op: OperationRef<'_, '_>) -> Result<Vec<Iter>, Diagnostic> {
        let wrong = || at(op)("expected iterators and their extents".into());
        let Ok(Plain::Array(kinds)) = attr(op, "iterators").map(plain) else { return Err(wrong()) };
        let extents = self.symbols.results(map(op, "extents")?).map_err(at(op))?;
        if kinds.len() != extents.len() {
            return Err(wrong());
        }
        kinds
            .into_iter()
            .zip(extents)
            .map(|(kind, extent)| {
                let kind = match plain(kind) {
                    Plain::Str("parallel") => IterKind::Parallel,
                    Plain::Str("reduction") => IterKind::Reduction,
                    Plain::Str("sequential") => IterKind::Sequential,
                    _ => return Err(wrong()),
                };
                Ok(Iter { extent, kind })
            })
            .collect()
    }

    fn buffer(&mut self, op: OperationRef<'_, '_>) -> Result<(), Diagnostic> {
        let role = match attr(op, "role").map(plain) {
            Ok(Plain::Int(0)) => Role::In,
            Ok(Plain::Int(1)) => Role::Out,
            _ => Role::Temp,
        };
        let value = first(op)?;
        let ty = MemRefType::try_from(value.r#type()).map_err(|e| at(op)(e.to_string()))?;
        let dtype = scalar_type(op, ty.element())?;
        let dims = self.symbols.results(map(op, "shape")?).map_err(at(op))?;
        self.buffers.insert(value_key(&value), BufferId(self.kernel.buffers.len()));
        self.kernel.buffers.push(Buffer { dtype, dims, role });
        Ok(())
    }

    fn nest(&self, op: OperationRef<'_, '_>) -> Result<Nest, Diagnostic> {
        let iters = self.iters(op)?;
        let space = Space::new(&self.kernel.outer, &iters);
        let mut scope = Scope { ops: vec![], types: vec![], ids: HashMap::new(), space };
        let (Ok(Plain::Array(maps)), Ok(Plain::Array(outsides))) =
            (attr(op, "maps").map(plain), attr(op, "outside").map(plain))
        else {
            return Err(at(op)("expected maps and outside".into()));
        };
        let block = block(op)?;
        let mut reads = vec![];
        for (i, v) in op.operands().enumerate() {
            let (Some(map), Some(outside)) = (maps.get(i), outsides.get(i)) else {
                return Err(at(op)("expected a map for each read".into()));
            };
            let Plain::Map(map) = plain(*map) else { return Err(at(op)("expected an affine map".into())) };
            let outside = access::read_outside(*outside).map_err(at(op))?;
            let mut a = self.access(op, v, map, &scope.space)?;
            a.outside = outside;
            let arg: Value<'_, '_> = block.argument(i).map_err(|e| at(op)(e.to_string()))?.into();
            scope.push(&arg, ScalarOp::Read(i), self.kernel.buffers[a.buffer.0].dtype);
            reads.push(a);
        }
        let mut effects = vec![];
        for inner in operations(block) {
            match self.effect(inner, &mut scope)? {
                Some(e) => effects.push(e),
                None => self.scalar(inner, &mut scope)?,
            }
        }
        Ok(Nest { iters, reads, ops: scope.ops, effects })
    }

    fn access(
        &self,
        op: OperationRef<'_, '_>,
        buffer: Value<'_, '_>,
        map: AffineMap<'_>,
        space: &Space,
    ) -> Result<Access, Diagnostic> {
        let index = access::indices(map, &self.symbols, space).map_err(at(op))?;
        Ok(Access { buffer: self.buffer_of(op, buffer)?, index, outside: None })
    }

    fn buffer_of(&self, op: OperationRef<'_, '_>, v: Value<'_, '_>) -> Result<BufferId, Diagnostic> {
        self.buffers.get(&value_key(&v)).copied().ok_or_else(|| at(op)("expected a loop.buffer of this kernel".into()))
    }

    /// The scalar operation that gives a value; a constant from outside the nest enters it here.
    fn id(&self, op: OperationRef<'_, '_>, v: Value<'_, '_>, scope: &mut Scope) -> Result<OpId, Diagnostic> {
        let key = value_key(&v);
        if let Some(id) = scope.ids.get(&key) {
            return Ok(*id);
        }
        match self.constants.get(&key) {
            Some(c) => {
                let ty = scalar_type(op, v.r#type())?;
                Ok(scope.push(&v, c.clone(), ty))
            }
            None => Err(at(op)("an operand is not a scalar of this nest".into())),
        }
    }

    fn effect(&self, op: OperationRef<'_, '_>, scope: &mut Scope) -> Result<Option<Effect>, Diagnostic> {
        let operands: Vec<Value<'_, '_>> = op.operands().collect();
        let few = || at(op)("too few operands".into());
        let get = |i: usize| operands.get(i).copied().ok_or_else(few);
        Ok(Some(match name(op) {
            "loop.store" => {
                let to = self.access(op, get(1)?, map(op, "map")?, &scope.space)?;
                let value = self.id(op, get(0)?, scope)?;
                let when = operands.get(2).map(|v| self.id(op, *v, scope)).transpose()?;
                Effect::Store { to, value, when }
            }
            "loop.store_at" => {
                let to = self.buffer_of(op, get(1)?)?;
                let rank = self.kernel.buffers[to.0].dims.len();
                let value = self.id(op, get(0)?, scope)?;
                let index = (2..2 + rank).map(|i| self.id(op, get(i)?, scope)).collect::<Result<_, _>>()?;
                let when = operands.get(2 + rank).map(|v| self.id(op, *v, scope)).transpose()?;
                Effect::StoreAt { to, index, value, when }
            }
            "loop.reduce" => {
                let last = operands.len().checked_sub(1).ok_or_else(few)?;
                let to = self.access(op, get(last)?, map(op, "map")?, &scope.space)?;
                let value = self.id(op, get(0)?, scope)?;
                let second = if last == 2 { Some(self.id(op, get(1)?, scope)?) } else { None };
                let kind: CombineKind = kind(op)?;
                Effect::Reduce { to, combine: combine(kind), value, second }
            }
            _ => return Ok(None),
        }))
    }

    fn scalar(&self, op: OperationRef<'_, '_>, scope: &mut Scope) -> Result<(), Diagnostic> {
        let result = first(op)?;
        let ty = scalar_type(op, result.r#type())?;
        let full = name(op);
        let operands: Vec<Value<'_, '_>> = op.operands().collect();
        let plain_op = match full {
            "loop.load" => {
                let few = || at(op)("expected a buffer".into());
                let buffer = self.buffer_of(op, *operands.first().ok_or_else(few)?)?;
                let index = operands[1..].iter().map(|v| self.id(op, *v, scope)).collect::<Result<_, _>>()?;
                ScalarOp::Load(buffer, index)
            }
            "arith.constant" | "loop.constant" => constant(op, ty)?,
            "loop.iter" => match attr(op, "position").map(plain) {
                Ok(Plain::Int(i)) if (i as usize) < scope.space.extents.len() => ScalarOp::Iter(i as usize),
                _ => return Err(at(op)("there is no such iterator".into())),
            },
            "loop.size" => {
                let sizes = self.symbols.results(map(op, "map")?).map_err(at(op))?;
                let one = sizes.into_iter().next();
                ScalarOp::Size(one.ok_or_else(|| at(op)("expected one size".into()))?)
            }
            _ => {
                let ids = operands.iter().map(|v| self.id(op, *v, scope)).collect::<Result<Vec<_>, _>>()?;
                let found = computed(op, &ids, &scope.types, ty)?;
                found.ok_or_else(|| at(op)(format!("{full} on {ty} is no scalar operation of the loop level")))?
            }
        };
        scope.push(&result, plain_op, ty);
        Ok(())
    }
}

impl Scope {
    fn push<'c>(&mut self, v: &impl ValueLike<'c>, op: ScalarOp, ty: DType) -> OpId {
        let id = OpId(self.ops.len());
        self.ops.push(op);
        self.types.push(ty);
        self.ids.insert(value_key(v), id);
        id
    }
}

/// An operation on scalars by the tables of [`scalar`].
fn computed(
    op: OperationRef<'_, '_>,
    ids: &[OpId],
    types: &[DType],
    ty: DType,
) -> Result<Option<ScalarOp>, Diagnostic> {
    let full = name(op);
    let from = |id: OpId| types[id.0];
    Ok(match (full, ids) {
        ("loop.unary", [a]) => Some(ScalarOp::Unary(kind(op)?, *a)),
        ("loop.binary", [a, b]) => Some(ScalarOp::Binary(kind(op)?, *a, *b)),
        ("loop.compare", [a, b]) => Some(ScalarOp::Compare(kind(op)?, *a, *b)),
        ("loop.cast", [a]) => Some(ScalarOp::Cast(ty, *a)),
        ("arith.select", [c, a, b]) => Some(ScalarOp::Select(*c, *a, *b)),
        ("math.fma", [a, b, c]) => Some(ScalarOp::Fma(*a, *b, *c)),
        (_, [a]) if scalar::cast(ty, from(*a)) == Some(full) => Some(ScalarOp::Cast(ty, *a)),
        (_, [a]) => {
            UnaryKind::ALL.iter().find(|k| scalar::unary(**k, from(*a)) == Some(full)).map(|k| ScalarOp::Unary(*k, *a))
        }
        ("arith.cmpf" | "arith.cmpi", [a, b]) => {
            let Ok(Plain::Int(p)) = attr(op, "predicate").map(plain) else { return Ok(None) };
            let found = CompareKind::ALL.iter().find(|k| scalar::compare(**k, from(*a)) == Some((full, p)));
            found.map(|k| ScalarOp::Compare(*k, *a, *b))
        }
        (_, [a, b]) => BinaryKind::ALL
            .iter()
            .find(|k| scalar::binary(**k, from(*a)) == Some(full))
            .map(|k| ScalarOp::Binary(*k, *a, *b)),
        _ => None,
    })
}

fn combine(k: CombineKind) -> Combine {
    match k {
        CombineKind::Sum => Combine::Sum,
        CombineKind::Prod => Combine::Prod,
        CombineKind::Max => Combine::Max,
        CombineKind::Min => Combine::Min,
        CombineKind::Fma => Combine::Fma,
        CombineKind::Any => Combine::Any,
        CombineKind::All => Combine::All,
        CombineKind::ArgMax => Combine::Arg(ArgKind::Max, false),
        CombineKind::ArgMin => Combine::Arg(ArgKind::Min, false),
        CombineKind::ArgMaxLast => Combine::Arg(ArgKind::Max, true),
        CombineKind::ArgMinLast => Combine::Arg(ArgKind::Min, true),
    }
}

fn constant(op: OperationRef<'_, '_>, ty: DType) -> Result<ScalarOp, Diagnostic> {
    let s = match attr(op, "value").map(plain) {
        Ok(Plain::Float(v)) => Scalar::Float(v),
        Ok(Plain::Int(v)) => Scalar::Int(v),
        Ok(Plain::Bool(v)) => Scalar::Int(v.into()),
        _ => return Err(at(op)("expected a constant".into())),
    };
    Ok(ScalarOp::Const(ty, s))
}

fn kind<E: TryFrom<i64>>(op: OperationRef<'_, '_>) -> Result<E, Diagnostic> {
    match attr(op, "kind").map(plain) {
        Ok(Plain::Int(v)) => E::try_from(v).map_err(|_| at(op)(format!("there is no kind {v}"))),
        _ => Err(at(op)("expected a kind".into())),
    }
}

fn map<'c>(op: OperationRef<'c, '_>, name: &str) -> Result<AffineMap<'c>, Diagnostic> {
    match attr(op, name).map(plain) {
        Ok(Plain::Map(m)) => Ok(m),
        _ => Err(at(op)(format!("expected an affine map as {name}"))),
    }
}

fn attr<'c>(op: OperationRef<'c, '_>, name: &str) -> Result<Attribute<'c>, String> {
    attribute(&op, name).ok_or_else(|| format!("attribute {name} is missing"))
}

fn scalar_type(op: OperationRef<'_, '_>, ty: Type<'_>) -> Result<DType, Diagnostic> {
    dtype(ty).ok_or_else(|| at(op)(format!("{ty}: no such element type in neap")))
}

fn name<'c>(op: OperationRef<'c, '_>) -> &'c str {
    identifier(op.name())
}

fn at<'a>(op: OperationRef<'_, 'a>) -> impl Fn(String) -> Diagnostic + use<'a> {
    let place = neap_mlir::place(op.location());
    move |message| Diagnostic::error(place.clone(), message)
}

fn first<'c, 'a>(op: OperationRef<'c, 'a>) -> Result<Value<'c, 'a>, Diagnostic> {
    op.result(0).map(Into::into).map_err(|_| at(op)(format!("{} is not expected here", name(op))))
}

fn block<'c, 'a>(op: OperationRef<'c, 'a>) -> Result<BlockRef<'c, 'a>, Diagnostic> {
    let block = op.region(0).ok().and_then(|r| r.first_block());
    block.ok_or_else(|| at(op)("expected a region of one block".into()))
}

fn operations<'c, 'a>(block: BlockRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    std::iter::successors(block.first_operation(), |op| op.next_in_block()).collect()
}
