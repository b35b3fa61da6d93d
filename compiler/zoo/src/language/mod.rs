//! Models of language and speech.

pub(crate) mod bert;
pub(crate) mod decoder;
pub(crate) mod gpt2;
mod moe;
pub(crate) mod t5;
pub(crate) mod whisper;
