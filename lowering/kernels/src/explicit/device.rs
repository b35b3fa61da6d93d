//! Kernels for GPUs: a `gpu.module` with one `gpu.func`, and what only a device has.

use melior::Context;
use melior::ir::attribute::{IntegerAttribute, StringAttribute, TypeAttribute};
use melior::ir::operation::{OperationBuilder, OperationLike};
use melior::ir::r#type::{FunctionType, MemRefType};
use melior::ir::{Attribute, Block, BlockLike, Identifier, Location, Module, Region, RegionLike};

use super::builder::Builder;
use super::function::{BuildError, Stage};
use super::types::{Buf, Elem, Repr, V};

/// The arguments inside.
pub struct DeviceArgs<'c> {
    /// Buffers in order.
    pub buffers: Vec<Buf<'c>>,
    /// Run-time sizes in order.
    pub dims: Vec<V<'c>>,
    /// Bytes in global memory for all blocks.
    pub scratch: Buf<'c>,
    /// One f32 a thread of the block, in its shared memory.
    pub shared: Buf<'c>,
}

/// Appends a `gpu.module` with one kernel of `threads` threads a block, and verifies it. Its arguments are the stage's buffers,
/// its run-time sizes, and the scratch.
pub fn build_device_kernel<'c>(
    cx: &'c Context,
    module: &Module<'c>,
    stage: &Stage<'_>,
    threads: u32,
    body: impl FnOnce(&Builder<'c>, DeviceArgs<'c>),
) -> Result<(), BuildError> {
    let location = Location::unknown(cx);
    let mut types: Vec<_> = stage.buffers.iter().map(|b| Buf::mlir(cx, b.elem)).collect();
    types.extend((0..stage.dims).map(|_| Elem::Index.mlir(cx)));
    types.push(Buf::mlir(cx, Elem::I8));
    let function_type = FunctionType::new(cx, &types, &[]);
    let space = Attribute::parse(cx, "#gpu.address_space<workgroup>").expect("the gpu dialect is loaded");
    types.push(MemRefType::new(Elem::F32.mlir(cx), &[i64::from(threads)], None, Some(space)).into());

    let region = Region::new();
    let block = region.append_block(Block::new(&types.iter().map(|t| (*t, location)).collect::<Vec<_>>()));
    let value = |i: usize| block.argument(i).expect("the block was made with this argument").into();
    let (n, dims) = (stage.buffers.len(), stage.dims);
    let arguments = DeviceArgs {
        buffers: stage.buffers.iter().enumerate().map(|(i, b)| Buf { elem: b.elem, value: value(i) }).collect(),
        dims: (0..dims).map(|i| V { ty: Elem::Index.scalar(), repr: Repr::Op(value(n + i)) }).collect(),
        scratch: Buf { elem: Elem::I8, value: value(n + dims) },
        shared: Buf { elem: Elem::F32, value: value(n + dims + 1) },
    };
    let builder = Builder::new(cx, location, block);
    body(&builder, arguments);
    let build = |name: &str, attributes: &[(&str, Attribute<'c>)], regions: Vec<Region<'c>>| {
        let attributes: Vec<_> = attributes.iter().map(|(n, a)| (Identifier::new(cx, n), *a)).collect();
        let op = OperationBuilder::new(name, location).add_attributes(&attributes).add_regions_vec(regions).build();
        op.unwrap_or_else(|e| panic!("{name}: {e}"))
    };
    block.append_operation(build("gpu.return", &[], vec![]));

    let size = Attribute::parse(cx, &format!("array<i32: {threads}, 1, 1>")).expect("an array of three numbers");
    let function = build(
        "gpu.func",
        &[
            ("sym_name", StringAttribute::new(cx, stage.name).into()),
            ("function_type", TypeAttribute::new(function_type.into()).into()),
            ("gpu.kernel", Attribute::unit(cx)),
            ("known_block_size", size),
            ("workgroup_attributions", IntegerAttribute::new(Elem::I64.mlir(cx), 1).into()),
        ],
        vec![region],
    );
    let holder = Region::new();
    holder.append_block(Block::new(&[])).append_operation(function);
    let name = format!("{}_device", stage.name);
    let op = build("gpu.module", &[("sym_name", StringAttribute::new(cx, &name).into())], vec![holder]);
    let op = module.body().append_operation(op);
    if op.verify() { Ok(()) } else { Err(BuildError { name: stage.name.to_owned(), text: op.to_string() }) }
}

impl<'c> Builder<'c> {
    /// Position of the thread in its block.
    pub fn thread_id(&self) -> V<'c> {
        self.device_index("gpu.thread_id")
    }

    /// Position of the block in the grid.
    pub fn block_id(&self) -> V<'c> {
        self.device_index("gpu.block_id")
    }

    fn device_index(&self, name: &str) -> V<'c> {
        let x = Attribute::parse(self.context(), "#gpu<dim x>").expect("the gpu dialect is loaded");
        self.emit(name, &[], Elem::Index.scalar(), &[("dimension", x)])
    }

    /// Waits for all threads of the block and makes what they stored visible to it.
    pub fn barrier(&self) {
        self.emit_void("gpu.barrier", &[]);
    }
}
