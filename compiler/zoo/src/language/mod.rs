//! Language models.

pub(crate) mod bert;
pub(crate) mod gpt2;
