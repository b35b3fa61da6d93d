//! What can be wrong with a plan.

/// The first thing found wrong with a plan or its certificate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the fields are what the messages name")]
pub enum Violation {
    /// An op id past the end.
    #[error("the order names op {op}, but there are {ops} ops")]
    UnknownOp { op: u32, ops: usize },
    /// An op stands twice in the order.
    #[error("op '{op}' stands twice in the order")]
    OpTwice { op: String },
    /// An op does not stand in the order.
    #[error("op '{op}' does not stand in the order")]
    OpMissing { op: String },
    /// Two ops stand the wrong way round.
    #[error("op '{second}' runs before op '{first}', which must come first")]
    Order { first: String, second: String },
    /// A list of the plan has the wrong length.
    #[error("the plan has {found} {what}, not {expected}")]
    Length { what: &'static str, found: usize, expected: usize },
    /// A share id past the end.
    #[error("the plan takes share {share}, but there are {shares} shares")]
    UnknownShare { share: u32, shares: usize },
    /// Shares taken must ascend, each once.
    #[error("share {share} is taken twice or out of sequence")]
    ShareSequence { share: u32 },
    /// A required share is not taken.
    #[error("tensors '{inner}' and '{outer}' must share memory at op '{op}', but the plan does not take that share")]
    ShareMissing { inner: String, outer: String, op: String },
    /// Two tensors of a taken share do not lie where it says.
    #[error("tensor '{inner}' does not lie {offset} bytes into '{outer}', though the plan takes that share")]
    ShareApart { inner: String, outer: String, offset: u64 },
    /// A tensor is overwritten in place while it is still needed.
    #[error("tensor '{output}' takes the place of '{input}', which is still alive after op '{op}'")]
    Overwritten { input: String, output: String, op: String },
    /// A tensor lies in the arena but belongs outside it, or the other way round.
    #[error("tensor '{tensor}' lies outside the arena by its problem, but the plan puts it elsewhere")]
    Home { tensor: String },
    /// A tensor's bytes do not lie within any memory it may use.
    #[error("tensor '{tensor}' does not lie within the memory the plan puts it in")]
    Outside { tensor: String },
    /// A tensor lies in memory that may only be read.
    #[error("tensor '{tensor}' is put into read-only '{memory}' without being a view of it")]
    ReadOnly { tensor: String, memory: String },
    /// A misaligned offset.
    #[error("'{tensor}' lies at offset {offset}, which is no multiple of {align}")]
    Misaligned { tensor: String, offset: u64, align: u64 },
    /// Two values in one byte at one step.
    #[error("'{first}' and '{second}' are both alive at step {step} (op '{op}') and share bytes from {at} on")]
    Clash { first: String, second: String, step: u64, op: String, at: u64 },
    /// The peak is not what the certificate says.
    #[error("the certificate claims a peak of {claimed} bytes, the plan has {found}")]
    Peak { claimed: u64, found: u64 },
    /// The arena is not what the certificate says.
    #[error("the certificate claims an arena of {claimed} bytes, the plan needs {found}")]
    Arena { claimed: u64, found: u64 },
    /// The bound is above what the plan itself reaches.
    #[error("the certificate claims no arena can be below {bound} bytes, but its plan needs {arena}")]
    BoundAbovePlan { bound: u64, arena: u64 },
    /// The witness does not prove the bound.
    #[error("the witness proves {proven} bytes, the certificate claims {claimed}")]
    Bound { claimed: u64, proven: u64 },
    /// A real order needs less than the witness says every order needs.
    #[error("the certificate claims that every order needs {claimed} bytes, but {order} in this order need {found}")]
    Beaten { claimed: u64, found: u64, order: String },
    /// Other offsets need less than the bound says.
    #[error("no placement is claimed to be below {claimed} bytes, but {order} dropped in this sequence need {found}")]
    Lower { claimed: u64, found: u64, order: String },
    /// The witness counts a tensor that some order would not keep alive then.
    #[error("the witness counts tensor '{tensor}' at op '{op}', but some order does not keep it alive there")]
    NotAlive { tensor: String, op: String },
    /// The witness names something unknown or twice.
    #[error("the witness names {what} that does not exist or stands there twice")]
    WitnessName { what: String },
}
