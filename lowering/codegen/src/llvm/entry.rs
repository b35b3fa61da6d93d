//! The C entry of a stage around the function that MLIR made.

use crate::{CodegenError, stage::Stage};
use inkwell::{
    AddressSpace,
    attributes::{Attribute, AttributeLoc},
    builder::{Builder, BuilderError},
    context::Context,
    module::{Linkage, Module},
    values::{BasicMetadataValueEnum, FunctionValue, IntValue, PointerValue},
};
use neap_spec::CpuTarget;

/// Arguments of one memref after MLIR's conversion.
pub(crate) const DESCRIPTOR: u32 = 5;
/// Which of them kernels address through.
const ALIGNED: u32 = 1;
/// A memref's size that nothing reads.
const UNKNOWN_SIZE: u64 = i64::MAX as u64;

/// Adds `extern "C" fn(buffers, dims, begin, end, scratch)` under the stage's name; the kernel's own function becomes
/// internal and is always inlined into it.
pub(crate) fn add<'l>(
    cx: &'l Context,
    module: &Module<'l>,
    stage: &Stage,
    target: &CpuTarget,
) -> Result<(), CodegenError> {
    let bug = |reason: &str| CodegenError::bug(format!("entry of @{}", stage.name), reason);
    let inner = module.get_function(&stage.name).ok_or_else(|| bug("the function is gone"))?;
    let expected = DESCRIPTOR * (stage.buffers.len() as u32 + 1) + stage.dims as u32 + 2;
    if inner.count_params() != expected {
        return Err(bug("mlir changed its calling convention"));
    }
    inner.as_global_value().set_name(&format!("{}.body", stage.name));
    inner.set_linkage(Linkage::Internal);
    annotate(cx, inner, stage, target);

    let (pointer, int) = (cx.ptr_type(AddressSpace::default()), cx.i64_type());
    let ty = cx.void_type().fn_type(&[pointer.into(), pointer.into(), int.into(), int.into(), pointer.into()], false);
    let entry = module.add_function(&stage.name, ty, Some(Linkage::External));
    function_attributes(cx, entry, target);
    for param in [0, 1, 4] {
        entry.add_attribute(AttributeLoc::Param(param), enumerated(cx, "noalias", 0));
    }
    entry.add_attribute(AttributeLoc::Param(4), enumerated(cx, "align", 64));
    let builder = cx.create_builder();
    builder.position_at_end(cx.append_basic_block(entry, "entry"));
    call(cx, &builder, entry, inner, stage).map_err(|error| bug(&error.to_string()))
}

/// Facts that inlining turns into alias scopes and assumptions.
fn annotate(cx: &Context, inner: FunctionValue<'_>, stage: &Stage, target: &CpuTarget) {
    function_attributes(cx, inner, target);
    inner.add_attribute(AttributeLoc::Function, enumerated(cx, "alwaysinline", 0));
    let noalias = |param: u32| inner.add_attribute(AttributeLoc::Param(param), enumerated(cx, "noalias", 0));
    for (i, _) in stage.buffers.iter().enumerate().filter(|(_, b)| b.noalias) {
        noalias(DESCRIPTOR * i as u32 + ALIGNED);
    }
    let scratch = inner.count_params() - DESCRIPTOR + ALIGNED;
    noalias(scratch);
}

fn function_attributes(cx: &Context, function: FunctionValue<'_>, target: &CpuTarget) {
    let features: Vec<String> = target.features.iter().map(|f| format!("+{f}")).collect();
    let width = target.vector_bits.to_string();
    // The base level plus exactly the listed features: a cpu name would bring features that a hypervisor may hide.
    let texts = [
        ("target-cpu", super::machine::base_cpu(target.arch)),
        ("tune-cpu", target.cpu.as_str()),
        ("target-features", &features.join(",")),
        ("prefer-vector-width", width.as_str()),
        ("no-jump-tables", "true"),
        // No pass may turn loops into memset, memcpy or libm calls: an image has no undefined symbols.
        ("no-builtins", ""),
        ("frame-pointer", "none"),
    ];
    for (key, value) in texts {
        function.add_attribute(AttributeLoc::Function, cx.create_string_attribute(key, value));
    }
    function.add_attribute(AttributeLoc::Function, enumerated(cx, "nounwind", 0));
}

pub(crate) fn enumerated(cx: &Context, name: &str, value: u64) -> Attribute {
    cx.create_enum_attribute(Attribute::get_named_enum_kind_id(name), value)
}

/// The arguments of a memref at `base`.
pub(crate) fn push_descriptor<'l>(
    cx: &'l Context,
    arguments: &mut Vec<BasicMetadataValueEnum<'l>>,
    base: PointerValue<'l>,
) {
    let number = |n: u64| -> IntValue<'l> { cx.i64_type().const_int(n, false) };
    arguments.extend_from_slice(&[base.into(), base.into()]);
    arguments.extend([number(0), number(UNKNOWN_SIZE), number(1)].map(BasicMetadataValueEnum::from));
}

/// Loads buffers and sizes and calls the kernel's function.
fn call<'l>(
    cx: &'l Context,
    builder: &Builder<'l>,
    entry: FunctionValue<'l>,
    inner: FunctionValue<'l>,
    stage: &Stage,
) -> Result<(), BuilderError> {
    let (pointer, int) = (cx.ptr_type(AddressSpace::default()), cx.i64_type());
    let param = |i: u32| entry.get_nth_param(i);
    let (Some(buffers), Some(dims), Some(begin), Some(end), Some(scratch)) =
        (param(0), param(1), param(2), param(3), param(4))
    else {
        return Err(BuilderError::UnsetPosition);
    };
    let slot = |base: PointerValue<'l>, i: usize| {
        // SAFETY: the table has an entry for each argument; the index is in range by the entry's contract.
        unsafe { builder.build_in_bounds_gep(pointer, base, &[int.const_int(i as u64, false)], "slot") }
    };
    let mut arguments: Vec<BasicMetadataValueEnum<'l>> = Vec::new();
    for i in 0..stage.buffers.len() {
        let base = builder.build_load(pointer, slot(buffers.into_pointer_value(), i)?, "buffer")?.into_pointer_value();
        push_descriptor(cx, &mut arguments, base);
    }
    for i in 0..stage.dims {
        arguments.push(builder.build_load(int, slot(dims.into_pointer_value(), i)?, "size")?.into());
    }
    arguments.extend([begin, end].map(BasicMetadataValueEnum::from));
    push_descriptor(cx, &mut arguments, scratch.into_pointer_value());
    builder.build_call(inner, &arguments, "")?;
    builder.build_return(None)?;
    Ok(())
}
