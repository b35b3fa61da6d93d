//! The host program as the `segment` dialect, for dumps.

use std::collections::BTreeMap;

use melior::Context;
use melior::ir::attribute::{
    ArrayAttribute, DenseI32ArrayAttribute, DictionaryAttribute, IntegerAttribute, StringAttribute, TypeAttribute,
};
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationBuilder;
use melior::ir::r#type::{IntegerType, MemRefType, RankedTensorType};
use melior::ir::{
    Attribute, Block, BlockRef, Identifier, Location, Module, Operation, Region, RegionLike, Type, Value,
};
use neap_mlir::inspect::ints;
use neap_optable::DType;
use neap_runtime::program::{BufferRef, DType as RuntimeType, Launch, Place, Program, TensorInfo};

use crate::failure::Failure;

/// The program as MLIR text.
pub fn text(program: &Program) -> Result<String, Failure> {
    let cx = neap_mlir::context();
    let module = Writer { cx: &cx }.program(program)?;
    neap_mlir::verify(&cx, &module.as_operation()).map_err(|e| Failure::new(format!("bug: segment program: {e}")))?;
    Ok(module.as_operation().to_string())
}

struct Writer<'c> {
    cx: &'c Context,
}

/// Views made so far, by place and size: equal ones are one.
type Views<'c, 'a> = BTreeMap<(u8, u64, u64, u64), Value<'c, 'a>>;

impl<'c> Writer<'c> {
    fn program(&self, p: &Program) -> Result<Module<'c>, Failure> {
        let region = Region::new();
        let block = region.append_block(Block::new(&[]));
        for (kind, tensors) in [(0, &p.inputs), (1, &p.outputs)] {
            for (i, t) in tensors.iter().enumerate() {
                block.append_operation(self.tensor(kind, i, t)?);
            }
        }
        let mut views = Views::new();
        for l in &p.launches {
            self.launch(block, &mut views, l)?;
        }
        let features: Vec<Attribute<'c>> = p.features.iter().map(|f| self.str(f)).collect();
        let target = [
            ("arch", self.str(&p.arch)),
            ("backend", self.str(&p.backend)),
            ("cpu", self.str(&p.cpu)),
            ("features", ArrayAttribute::new(self.cx, &features).into()),
        ];
        let named: Vec<_> = target.iter().map(|(n, a)| (Identifier::new(self.cx, n), *a)).collect();
        let target = DictionaryAttribute::new(self.cx, &named).into();
        let attributes = [("sym_name", self.str(&p.model)), ("arena", self.int(p.arena_bytes)), ("target", target)];
        let op = self.op("segment.program", &attributes, &[], &[], vec![region], None)?;
        let module = Module::new(Location::unknown(self.cx));
        module.body().append_operation(op);
        Ok(module)
    }

    fn tensor(&self, kind: i64, position: usize, t: &TensorInfo) -> Result<Operation<'c>, Failure> {
        let ty: Type<'c> = RankedTensorType::new(&t.dims, neap_mlir::element(self.cx, dtype(t.dtype)), None).into();
        let attributes = [
            ("kind", self.kind(kind)),
            ("position", self.int(position as u64)),
            ("name", self.str(&t.name)),
            ("type", TypeAttribute::new(ty).into()),
        ];
        self.op("segment.tensor", &attributes, &[], &[], vec![], None)
    }

    fn view<'a>(
        &self,
        block: BlockRef<'c, 'a>,
        views: &mut Views<'c, 'a>,
        b: &BufferRef,
    ) -> Result<Value<'c, 'a>, Failure> {
        let (kind, position, offset) = match b.place {
            Place::Input(i, at) => (0, u64::from(i), at),
            Place::Output(i, at) => (1, u64::from(i), at),
            Place::Weight(at) => (2, 0, at),
            Place::Arena(at) => (3, 0, at),
        };
        let key = (kind, position, offset, b.bytes);
        if let Some(v) = views.get(&key) {
            return Ok(*v);
        }
        let bytes = MemRefType::new(IntegerType::new(self.cx, 8).into(), &[b.bytes as i64], None, None);
        let attributes =
            [("kind", self.kind(kind.into())), ("position", self.int(position)), ("offset", self.int(offset))];
        let op = block.append_operation(self.op("segment.view", &attributes, &[], &[bytes.into()], vec![], None)?);
        let value = op.result(0).map_err(Failure::new)?.into();
        views.insert(key, value);
        Ok(value)
    }

    fn launch<'a>(&self, block: BlockRef<'c, 'a>, views: &mut Views<'c, 'a>, l: &Launch) -> Result<(), Failure> {
        let mut operands = vec![];
        let mut order = vec![0; l.buffers.len()];
        for written in [false, true] {
            for (i, b) in l.buffers.iter().enumerate().filter(|(_, b)| b.written == written) {
                order[i] = operands.len() as i64;
                operands.push(self.view(block, views, b)?);
            }
        }
        let reads = l.buffers.iter().filter(|b| !b.written).count();
        let segments = [reads as i32, (operands.len() - reads) as i32];
        let attributes = [
            ("kernel", self.str(&l.kernel)),
            ("operandSegmentSizes", DenseI32ArrayAttribute::new(self.cx, &segments).into()),
            ("order", ints(self.cx, &order)),
            ("sizes", ints(self.cx, &l.dims)),
            ("entry", self.int(l.entry)),
            ("extent", self.int(l.extent)),
            ("grain", self.int(l.grain)),
            ("scratch", self.int(l.scratch)),
            ("flops", self.int(l.flops)),
            ("nodes", self.str(&l.nodes)),
        ];
        block.append_operation(self.op("segment.launch", &attributes, &operands, &[], vec![], Some(&l.nodes))?);
        Ok(())
    }

    fn op(
        &self,
        name: &str,
        attributes: &[(&str, Attribute<'c>)],
        operands: &[Value<'c, '_>],
        results: &[Type<'c>],
        regions: Vec<Region<'c>>,
        node: Option<&str>,
    ) -> Result<Operation<'c>, Failure> {
        let unknown = Location::unknown(self.cx);
        let location = node.filter(|n| !n.is_empty()).map_or(unknown, |n| Location::name(self.cx, n, unknown));
        let named: Vec<_> = attributes.iter().map(|(n, a)| (Identifier::new(self.cx, n), *a)).collect();
        let builder = OperationBuilder::new(name, location).add_attributes(&named).add_operands(operands);
        builder.add_results(results).add_regions_vec(regions).build().map_err(Failure::new)
    }

    fn int(&self, v: u64) -> Attribute<'c> {
        IntegerAttribute::new(IntegerType::new(self.cx, 64).into(), v as i64).into()
    }

    fn kind(&self, v: i64) -> Attribute<'c> {
        IntegerAttribute::new(IntegerType::new(self.cx, 32).into(), v).into()
    }

    fn str(&self, s: &str) -> Attribute<'c> {
        StringAttribute::new(self.cx, s).into()
    }
}

fn dtype(t: RuntimeType) -> DType {
    match t {
        RuntimeType::F32 => DType::F32,
        RuntimeType::F64 => DType::F64,
        RuntimeType::F16 => DType::F16,
        RuntimeType::BF16 => DType::BF16,
        RuntimeType::I8 => DType::I8,
        RuntimeType::I16 => DType::I16,
        RuntimeType::I32 => DType::I32,
        RuntimeType::I64 => DType::I64,
        RuntimeType::U8 => DType::U8,
        RuntimeType::U16 => DType::U16,
        RuntimeType::U32 => DType::U32,
        RuntimeType::U64 => DType::U64,
        RuntimeType::Bool => DType::Bool,
    }
}
