//! Convolutional networks that a search found, or that are wired at random.

pub(crate) mod amoebanet;
mod cell;
pub(crate) mod darts;
pub(crate) mod nasnet;
pub(crate) mod pnasnet;
pub(crate) mod randwire;
mod slim;
pub(crate) mod swiftnet;
mod wiring;
