//! The loop level: kernels, their schedules, and their lowering to the explicit level. See docs/architecture.md.

pub mod affine;
pub mod contract;
pub mod explicit;
pub mod graph_to_loop;
pub mod ir;
pub mod loop_to_gpu;
pub mod loop_to_scf;
pub mod math;
pub mod mlir;
pub mod scalar;
pub mod schedule;
pub mod scheduled;
