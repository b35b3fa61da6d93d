//! What can be wrong with a model file, each in one line: what, where, and how to mend it.

use crate::external::ExternalError;

/// A file that cannot be used as a model.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file could not be read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A folder was given.
    #[error("{path} is a folder; give the .onnx file itself")]
    Folder {
        /// The folder.
        path: String,
    },
    /// An error in a file.
    #[error("{path}: {source}")]
    In {
        /// The file.
        path: String,
        /// What is wrong with it.
        source: Box<Error>,
    },
    /// No bytes at all.
    #[error("the file is empty; export or download the model again")]
    Empty,
    /// The first bytes belong to some other kind of file.
    #[error("this is {0}, not an ONNX model")]
    OtherFile(&'static str),
    /// The protobuf ends early or is damaged.
    #[error("not an ONNX model, or a truncated or damaged one ({0}); export or download it again")]
    Protobuf(prost::DecodeError),
    /// Messages nested beyond the decoder's limit.
    #[error(
        "the model is nested too deep (more than 100 messages); subgraphs within subgraphs must be flattened by the exporter"
    )]
    TooDeep,
    /// Protobuf without a graph.
    #[error("the file holds no graph, so it is not an ONNX model; export or download it again")]
    NoGraph,
    /// No opset import for a domain in use.
    #[error(
        "{place} uses operators of domain `{domain}`, but the model imports no opset for it; export the model again"
    )]
    NoOpset {
        /// The first node that needs it.
        place: String,
        /// The domain.
        domain: String,
    },
    /// An opset older than neap knows.
    #[error("the model uses opset {0}, neap reads opsets {min} to {max}; convert it with onnx.version_converter", min = crate::OPSETS.start(), max = crate::OPSETS.end())]
    OpsetTooOld(i64),
    /// An opset newer than neap knows.
    #[error("the model uses opset {0} from the future, neap reads opsets {min} to {max}; export it with an older opset", min = crate::OPSETS.start(), max = crate::OPSETS.end())]
    OpsetTooNew(i64),
    /// A negative size.
    #[error("{place} has the negative dim {dim} (axis {axis}); sizes are 0 or more")]
    NegativeDim {
        /// The tensor or value.
        place: String,
        /// Which dim.
        axis: usize,
        /// Its value.
        dim: i64,
    },
    /// A tensor no machine can hold.
    #[error("{place} of shape {dims:?} has more than 2^63 bytes; its shape is surely wrong")]
    TooLarge {
        /// The tensor.
        place: String,
        /// Its shape.
        dims: Vec<u64>,
    },
    /// Data and shape disagree.
    #[error(
        "{place}: shape {dims:?} of {elem} needs {expected} {unit}, the file holds {found}; the file is damaged or was edited wrongly"
    )]
    DataSize {
        /// The tensor.
        place: String,
        /// Its shape.
        dims: Vec<u64>,
        /// Its element type.
        elem: crate::ElementType,
        /// What the shape asks for.
        expected: u64,
        /// What is there.
        found: u64,
        /// `bytes` or `elements`.
        unit: &'static str,
    },
    /// Strings.
    #[error("{place} holds strings; neap computes on numbers only, so do text handling outside the model")]
    Strings {
        /// The tensor.
        place: String,
    },
    /// An element type ONNX does not have.
    #[error("{place} has element type {number}, which ONNX does not define; export the model again")]
    ElementType {
        /// The tensor.
        place: String,
        /// The number in the file.
        number: i32,
    },
    /// Sparse initialisers, segments.
    #[error("{place}: {what} are not supported; export the model with dense tensors")]
    Unsupported {
        /// The tensor.
        place: String,
        /// What it is.
        what: &'static str,
    },
    /// External data that cannot be had.
    #[error("{place}: external data: {source}")]
    External {
        /// The tensor.
        place: String,
        /// Why.
        source: ExternalError,
    },
    /// A number in `external_data` that is none.
    #[error("{place}: external data has {key} `{value}`, which is no size; export the model again")]
    ExternalField {
        /// The tensor.
        place: String,
        /// `offset` or `length`.
        key: String,
        /// Its text.
        value: String,
    },
    /// A value nobody produces.
    #[error("{place} reads `{value}`, which is no input, initialiser or result of another node{hint}")]
    Undefined {
        /// The node or output.
        place: String,
        /// The name.
        value: String,
        /// A similar name, if there is one.
        hint: String,
    },
    /// A value produced twice.
    #[error("`{value}` is produced twice, by {first} and by {second}; every value must have one origin")]
    Twice {
        /// The name.
        value: String,
        /// First origin.
        first: String,
        /// Second origin.
        second: String,
    },
    /// Nodes that wait for each other.
    #[error("nodes depend on each other in a cycle: {0}; ONNX graphs must be acyclic")]
    Cycle(String),
    /// A name is missing.
    #[error("{place} has no {what}; export the model again")]
    Missing {
        /// Where.
        place: String,
        /// What.
        what: &'static str,
    },
    /// An attribute that contradicts itself.
    #[error("{place}: attribute `{name}` is damaged ({why}); export the model again")]
    Attribute {
        /// The node.
        place: String,
        /// The attribute.
        name: String,
        /// Why.
        why: &'static str,
    },
    /// Functions that call each other forever, or explode.
    #[error("function {name}: {why}")]
    Function {
        /// The function.
        name: String,
        /// Why.
        why: String,
    },
}
