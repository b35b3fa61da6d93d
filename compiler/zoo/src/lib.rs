//! Well-known architectures, written as ONNX models with seeded weights, so that demos, tests and benches need no download.
//!
//! Each model is spelled in plain ops as PyTorch's exporter writes it, has the published number of parameters, and comes in a
//! full and a small configuration. Weights are drawn so that activations stay of order 1. Same options, same bytes.

mod builder;
mod catalog;
mod cnn;
mod language;
mod layers;
mod map;
mod nas;
mod quantise;
mod recurrent;
#[cfg(test)]
mod tests;
mod vision;
mod weights;

use neap_onnx::proto::ModelProto;
use prost::Message;

use builder::Builder;
pub use catalog::{Entry, list};

/// A size of the model's inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// The architecture's usual size, smaller in the small configuration.
    #[default]
    Usual,
    /// This many.
    Fixed(u64),
    /// A named symbol (`batch`, `seq`, `past`), to be settled when compiling.
    Symbolic,
}

/// What to build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// A configuration with the same structure and far fewer, narrower layers.
    pub small: bool,
    /// Inputs at once; usually 1.
    pub batch: Size,
    /// Tokens of language models, usually 128, for one step of decoding 1; frames (Whisper); steps of recurrent networks.
    pub seq: Size,
    /// Tokens already in the KV cache (GPT-2 decode); usually 128.
    pub past: Size,
    /// Height and width of the images in pixels; usually 224, 256 (U-Net), 299 (Inception). `None` is the usual size.
    pub image: Option<u64>,
    /// Seed of the weights, and of random wirings.
    pub seed: u64,
    /// Spell layer normalisation in primitive ops (as exporters below opset 17) instead of `LayerNormalization`.
    pub decomposed_norms: bool,
}

/// Counts of a model: what a paper's table says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Trained parameters (running statistics of batch norms are not), of a quantised model those of the float one.
    pub parameters: u64,
    /// Multiply-adds of convolutions and matrix products for one run; `None` with symbolic sizes.
    pub macs: Option<u64>,
}

/// Why a model cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ZooError {
    /// No such architecture.
    #[error("the zoo has no {name}; `neap zoo list` names what it has")]
    Unknown {
        /// Name asked for.
        name: String,
    },
    /// A size the architecture cannot have.
    #[error("{what} is {found}, expected {expected}")]
    Size {
        /// Which size.
        what: &'static str,
        /// Value asked for.
        found: u64,
        /// Values it may have.
        expected: String,
    },
}

/// Writes a model.
///
/// # Errors
/// An unknown name, or a size that the architecture cannot have.
pub fn build(name: &str, options: &Options) -> Result<ModelProto, ZooError> {
    let (entry, b) = written(name, options)?;
    let mut model = b.finish();
    if let (Some(quantise), Some(graph)) = (entry.quantise, &mut model.graph) {
        quantise(graph);
    }
    Ok(model)
}

/// The bytes of an `.onnx` file.
pub fn encode(model: &ModelProto) -> Vec<u8> {
    model.encode_to_vec()
}

/// Counts parameters and multiply-adds without drawing the weights.
///
/// # Errors
/// As [`build`].
pub fn counts(name: &str, options: &Options) -> Result<Counts, ZooError> {
    Ok(written(name, options)?.1.counts())
}

fn written(name: &str, options: &Options) -> Result<(&'static Entry, Builder), ZooError> {
    let entry = list().iter().find(|e| e.name == name).ok_or_else(|| ZooError::Unknown { name: name.into() })?;
    let mut b = Builder::new(name, options.seed);
    (entry.write)(&mut b, options)?;
    Ok((entry, b))
}
