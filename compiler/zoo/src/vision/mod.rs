//! Transformers that see images.

pub(crate) mod swin;
pub(crate) mod vit;
