//! Kernels to and from the `loop` dialect.
//!
//! Reading gives [`normal`] kernels: each nest's reads are its first scalar operations in order, constants are rounded to their
//! type, and indices are simplified. So `read(write(k)) == normal(k)`, and a normal kernel comes back as it was.

mod access;
mod normal;
mod read;
mod scalar;
mod scheduled;
mod types;
mod write;

pub use normal::normal;
pub use read::{read, read_module};
pub use scheduled::write_scheduled;
pub use write::{write, write_module};
