//! The legality check of the explicit level: refuses what docs/architecture.md does not list.

use crate::{
    CodegenError,
    stage::{Stage, illegal, op_name},
    types::ValueType,
};
use melior::ir::attribute::StringAttribute;
use melior::ir::{BlockLike, Module, OperationRef, RegionLike, ValueLike, operation::OperationLike};

/// Operations of the explicit level besides `func.func`, sorted.
pub const LEGAL_OPS: &[&str] = &[
    "arith.addf",
    "arith.addi",
    "arith.andi",
    "arith.bitcast",
    "arith.cmpf",
    "arith.cmpi",
    "arith.constant",
    "arith.divf",
    "arith.divsi",
    "arith.divui",
    "arith.extf",
    "arith.extsi",
    "arith.extui",
    "arith.fptosi",
    "arith.fptoui",
    "arith.index_cast",
    "arith.maximumf",
    "arith.maxsi",
    "arith.maxui",
    "arith.minimumf",
    "arith.minsi",
    "arith.minui",
    "arith.mulf",
    "arith.muli",
    "arith.negf",
    "arith.ori",
    "arith.remsi",
    "arith.remui",
    "arith.select",
    "arith.shli",
    "arith.shrsi",
    "arith.shrui",
    "arith.sitofp",
    "arith.subf",
    "arith.subi",
    "arith.truncf",
    "arith.trunci",
    "arith.uitofp",
    "arith.xori",
    "func.return",
    "llvm.call_intrinsic",
    "math.absf",
    "math.ceil",
    "math.copysign",
    "math.floor",
    "math.fma",
    "math.roundeven",
    "math.sqrt",
    "math.trunc",
    "memref.load",
    "memref.prefetch",
    "memref.store",
    "memref.view",
    "scf.for",
    "scf.if",
    "scf.yield",
    "vector.bitcast",
    "vector.broadcast",
    "vector.constant_mask",
    "vector.create_mask",
    "vector.extract",
    "vector.from_elements",
    "vector.insert",
    "vector.load",
    "vector.maskedload",
    "vector.maskedstore",
    "vector.shuffle",
    "vector.step",
    "vector.store",
];

/// Checks a module and returns the signatures of its stages, in order.
///
/// # Errors
/// Names the first operation outside the explicit level and its location.
pub fn check(module: &Module<'_>) -> Result<Vec<Stage>, CodegenError> {
    functions(module)
        .map(|func| {
            if op_name(&func) != "func.func" {
                return Err(illegal(&func, "a module holds func.func stages only"));
            }
            let stage = Stage::read(func)?;
            check_regions(func)?;
            Ok(stage)
        })
        .collect()
}

/// The operations at the top of a module.
pub(crate) fn functions<'c, 'a>(module: &'a Module<'c>) -> impl Iterator<Item = OperationRef<'c, 'a>> {
    operations(module.body().first_operation())
}

/// An operation and those after it in its block.
pub(crate) fn operations<'c: 'a, 'a>(
    first: Option<OperationRef<'c, 'a>>,
) -> impl Iterator<Item = OperationRef<'c, 'a>> {
    std::iter::successors(first, |op| op.next_in_block())
}

fn check_regions(parent: OperationRef<'_, '_>) -> Result<(), CodegenError> {
    for region in parent.regions() {
        let Some(block) = region.first_block() else { continue };
        if block.next_in_region().is_some() {
            return Err(illegal(&parent, "control flow is structured: one block a region"));
        }
        for op in operations(block.first_operation()) {
            check_op(op)?;
            check_regions(op)?;
        }
    }
    Ok(())
}

fn check_op(op: OperationRef<'_, '_>) -> Result<(), CodegenError> {
    let name = op_name(&op);
    if LEGAL_OPS.binary_search(&name.as_str()).is_err() {
        let reason = match name.as_str() {
            "vector.fma" => "use math.fma, which rounds once on every target",
            "vector.reduction" => "write the tree out; the order of a reduction belongs to the kernel",
            n if n.starts_with("math.") => "expand the function into arith and math.fma",
            _ => "it is not in the list of docs/architecture.md",
        };
        return Err(illegal(&op, reason));
    }
    for value in op.results() {
        ValueType::read(value.r#type()).map_err(|reason| illegal(&op, reason))?;
    }
    if let Ok(flags) = op.attribute("fastmath")
        && flags.to_string() != "#arith.fastmath<none>"
    {
        return Err(illegal(&op, format!("fast-math flags {flags} change results")));
    }
    match name.as_str() {
        "llvm.call_intrinsic" if !is_product_sum(&op) => {
            Err(illegal(&op, "of LLVM's intrinsics only x86-64's sums of two or four products are"))
        }
        "scf.for" if op.attribute("unsignedCmp").is_ok() => Err(illegal(&op, "loops compare signed")),
        _ => Ok(()),
    }
}

/// Whether an intrinsic adds the products of two neighbouring 16-bit lanes, signed, or of four 8-bit ones, unsigned times signed.
fn is_product_sum(op: &OperationRef<'_, '_>) -> bool {
    let names = [
        "llvm.x86.sse2.pmadd.wd",
        "llvm.x86.avx2.pmadd.wd",
        "llvm.x86.avx512.pmaddw.d.512",
        "llvm.x86.avx512.vpdpbusd.256",
        "llvm.x86.avx512.vpdpbusd.512",
    ];
    let name = op.attribute("intrin").ok().and_then(|a| StringAttribute::try_from(a).ok());
    name.is_some_and(|n| names.contains(&n.value()))
}
