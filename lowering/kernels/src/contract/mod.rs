//! Contractions (matmul, convolution) by register tiles.
//!
//! Each output element is one chain of `math.fma` along the full contracted range, in order, so that the bits do not depend
//! on the tile. A tile is `rows x vectors`: a row element is broadcast, a vector of columns is loaded. For a matmul the columns
//! are those of the right operand, for a convolution the output pixels, and the filter's rows are broadcast. Operands are read
//! in place, as panels laid out at compile time (constants), or as panels that the thread packs into its scratch, which for a
//! convolution makes the padding and strides disappear from the inner loop. The epilogue is applied before the only store.

mod body;
mod direct;
mod emit;
mod epilogue;
mod pack;
mod pixels;
mod plan;
mod shape;
mod tile;
mod window;

pub use emit::emit;
pub use pixels::Pixels;
pub use plan::{ContractSchedule, Scratch, Source};
pub use shape::{Body, Contraction, Epilogue, Flat, Guard, Operand, Read};
