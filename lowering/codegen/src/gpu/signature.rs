//! Kernels with one pointer for each memref, around the functions that MLIR made with five arguments for each.

use crate::{
    CodegenError,
    legality::{functions, operations},
    llvm::{DESCRIPTOR, enumerated, push_descriptor},
    stage::{illegal, op_name},
};
use inkwell::{
    attributes::AttributeLoc,
    context::Context,
    module::{Linkage, Module},
    types::BasicMetadataTypeEnum,
    values::BasicMetadataValueEnum,
};
use melior::ir::{BlockLike, RegionLike, TypeLike, ValueLike, attribute::StringAttribute, operation::OperationLike};

/// A device kernel's name and, for each argument, whether it is a memref.
pub(super) struct DeviceKernel {
    name: String,
    memrefs: Vec<bool>,
}

/// The kernels of all `gpu.module`s.
pub(super) fn read(module: &melior::ir::Module<'_>) -> Result<Vec<DeviceKernel>, CodegenError> {
    let mut kernels = Vec::new();
    for device_module in functions(module).filter(|op| op_name(op) == "gpu.module") {
        let body = device_module.region(0).ok().and_then(|r| r.first_block());
        for func in operations(body.and_then(|b| b.first_operation())).filter(|op| op_name(op) == "gpu.func") {
            if func.attribute("gpu.kernel").is_err() {
                return Err(illegal(&func, "device functions are kernels; nothing is called"));
            }
            let name = func.attribute("sym_name").ok().and_then(|a| StringAttribute::try_from(a).ok());
            let entry = func.region(0).ok().and_then(|r| r.first_block());
            let (Some(name), Some(entry)) = (name, entry) else { return Err(illegal(&func, "it has no name or body")) };
            // Memory of a workgroup follows the arguments in the block but is none.
            let inputs = func
                .attribute("function_type")
                .ok()
                .and_then(|a| melior::ir::attribute::TypeAttribute::try_from(a).ok())
                .and_then(|a| melior::ir::r#type::FunctionType::try_from(a.value()).ok())
                .map_or(0, |t| t.input_count());
            let memrefs = (0..inputs).filter_map(|i| entry.argument(i).ok()).map(|a| a.r#type().is_mem_ref()).collect();
            kernels.push(DeviceKernel { name: name.value().to_owned(), memrefs });
        }
    }
    Ok(kernels)
}

/// Puts a kernel with flat arguments under the function's name; the function becomes internal and is inlined.
pub(super) fn flatten<'l>(cx: &'l Context, ir: &Module<'l>, kernel: &DeviceKernel) -> Result<(), CodegenError> {
    let bug = |reason: String| CodegenError::bug(format!("gpu kernel @{}", kernel.name), reason);
    let Some(inner) = ir.get_function(&kernel.name) else { return Ok(()) };
    let params = inner.get_type().get_param_types();
    let wanted: usize = kernel.memrefs.iter().map(|&memref| if memref { DESCRIPTOR as usize } else { 1 }).sum();
    if params.len() != wanted {
        return Err(bug("mlir changed its calling convention".to_owned()));
    }
    let mut flat: Vec<BasicMetadataTypeEnum<'l>> = Vec::new();
    let mut at = 0;
    for &memref in &kernel.memrefs {
        flat.push(params[at]);
        at += if memref { DESCRIPTOR as usize } else { 1 };
    }
    inner.as_global_value().set_name(&format!("{}.body", kernel.name));
    let entry = ir.add_function(&kernel.name, cx.void_type().fn_type(&flat, false), Some(Linkage::External));
    entry.set_call_conventions(inner.get_call_conventions());
    for attribute in inner.attributes(AttributeLoc::Function) {
        entry.add_attribute(AttributeLoc::Function, attribute);
    }
    inner.set_call_conventions(0);
    inner.set_linkage(Linkage::Internal);
    inner.add_attribute(AttributeLoc::Function, enumerated(cx, "alwaysinline", 0));

    let builder = cx.create_builder();
    builder.position_at_end(cx.append_basic_block(entry, "entry"));
    let mut arguments: Vec<BasicMetadataValueEnum<'l>> = Vec::new();
    for (&memref, param) in kernel.memrefs.iter().zip(entry.get_param_iter()) {
        if memref {
            push_descriptor(cx, &mut arguments, param.into_pointer_value());
        } else {
            arguments.push(param.into());
        }
    }
    builder.build_call(inner, &arguments, "").map_err(|error| bug(error.to_string()))?;
    builder.build_return(None).map_err(|error| bug(error.to_string()))?;
    Ok(())
}
