//! Kernels for GPUs: what the assembly of three of them holds, and that every fusion has one.

use libtest_mimic::{Failed, Trial};
use neap_codegen::{GpuChip, compile_gpu};
use neap_kernels::graph_to_loop::lower;
use neap_kernels::loop_to_gpu::emit;

use super::cases::Case;
use super::{body, fusions};

/// Kernel, chip, and what its assembly must hold.
const EXPECTED: &[(&str, GpuChip, &[&str])] = &[
    (
        "elementwise chain with two results",
        GpuChip::Sm90a,
        &[
            ".target sm_90a",
            ".visible .entry",
            "%ctaid.x",
            "%tid.x",
            "ld.global",
            "mul.rn.f32",
            "fma.rn.f32",
            "st.global",
        ],
    ),
    (
        "elementwise chain with two results",
        GpuChip::Gfx942,
        &["gfx942", ".amdhsa_kernel", "global_load_dword", "v_mul_f32", "v_fma", "global_store_dword"],
    ),
    (
        "scale, mask, softmax",
        GpuChip::Sm90a,
        &[".visible .entry", "%ctaid.x", ".shared", "bar.sync", "st.shared", "ld.shared", "max.NaN.f32", "st.global"],
    ),
    ("scale, mask, softmax", GpuChip::Gfx942, &[".amdhsa_kernel", "ds_write", "ds_read", "v_max_f32", "global_store"]),
    ("matmul, bias, gelu", GpuChip::Sm90a, &[".visible .entry", "ld.global", "fma.rn.f32", "st.global"]),
    ("matmul, bias, gelu", GpuChip::Gfx942, &[".amdhsa_kernel", "global_load", "v_fma", "global_store"]),
];

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut out = vec![];
    for (name, chip, wanted) in EXPECTED.iter().copied() {
        out.push(Trial::test(format!("device {name} {chip:?}"), move || {
            let case =
                fusions::all().into_iter().find(|c| c.name == format!("fusion {name}")).ok_or("no such fusion")?;
            let text = assembly(&case, chip)?;
            match wanted.iter().find(|w| !text.contains(**w)) {
                None => Ok(()),
                Some(missing) => Err(format!("no `{missing}` in\n{text}").into()),
            }
        }));
    }
    for chip in [GpuChip::Sm90a, GpuChip::Gfx942] {
        out.push(Trial::test(format!("device every fusion {chip:?}"), move || {
            for case in fusions::all() {
                assembly(&case, chip).map_err(|e| format!("{}: {e:?}", case.name))?;
            }
            Ok(())
        }));
    }
    out
}

fn assembly(case: &Case, chip: GpuChip) -> Result<String, Failed> {
    let body = body(case);
    let kernel = lower(&body.nodes[0], &body)?;
    let cx = neap_mlir::context();
    let (module, _) = emit(&kernel, &cx)?;
    Ok(compile_gpu(&module, chip).map_err(|e| format!("{e}\n{}", module.as_operation()))?)
}
