//! Typed builder for the explicit level (docs/architecture.md, "The explicit level").
//!
//! [`Builder`] appends operations where it stands; values are [`V`] and carry their type, so that `b.add(x, y)` picks
//! `arith.addf` or `arith.addi`. A scalar meeting a vector is broadcast. Integer and index scalars that are known while
//! building are folded and cost nothing, so that kernels of static sizes come out clean; loops and branches whose bounds
//! and conditions are known fold too. Misuse (types that do not fit) is a bug of the caller and panics with the types.

mod arith;
mod builder;
mod control;
mod device;
mod function;
mod memory;
mod size;
mod types;
mod vector;

pub use arith::Cmp;
pub use builder::Builder;
pub use device::{DeviceArgs, build_device_kernel};
pub use function::{BufferArg, BuildError, Stage, StageArgs, build_stage};
pub use size::Sizes;
pub use types::{Buf, Elem, Ty, V};
