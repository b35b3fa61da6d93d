//! The loop level: kernels, their schedules, and their lowering to the explicit level. See docs/architecture.md.

pub mod explicit;
pub mod ir;
pub mod scheduled;
