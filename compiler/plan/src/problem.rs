//! The memory problem as plain data: ops, tensors, what may share bytes, what must come before what.
//!
//! Sizes are bytes, times are any unit the caller likes (only compared and added). Ids are positions in the problem's lists.

/// An op by position in [`Problem::ops`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub u32);

/// A tensor by position in [`Problem::tensors`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorId(pub u32);

/// A share by position in [`Problem::shares`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShareId(pub u32);

impl OpId {
    /// Position as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl TensorId {
    /// Position as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ShareId {
    /// Position as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Whose memory a tensor lies in, unless a taken share moves it elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Home {
    /// The planned arena.
    #[default]
    Arena,
    /// Memory that somebody else owns and that is never written here: weights, the caller's inputs.
    ReadOnly,
    /// The caller's memory, free for use during the whole run: an output buffer. Parts of a concatenation and tensors
    /// overwritten in place may lie in it.
    Writable,
}

/// A value. It is alive from the step of the op that makes it to the step of its last reader, both included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tensor {
    /// Name for messages and reports; unique in the text formats.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Its address is a multiple of this power of two; 0 counts as 1.
    pub align: u64,
    /// Whose memory.
    pub home: Home,
    /// Graph input: there before the first step; no op makes it.
    pub input: bool,
    /// Graph output: still alive after the last step.
    pub output: bool,
    /// Alive during the whole run whoever reads it.
    pub pinned: bool,
}

impl Tensor {
    /// A tensor in the arena that an op makes and others read.
    pub fn new(name: impl Into<String>, size: u64) -> Self {
        Tensor { name: name.into(), size, ..Tensor::default() }
    }

    /// Sets the alignment in bytes.
    pub fn align(mut self, align: u64) -> Self {
        self.align = align;
        self
    }

    /// Sets whose memory it lies in.
    pub fn home(mut self, home: Home) -> Self {
        self.home = home;
        self
    }

    /// Marks it a graph input.
    pub fn input(mut self) -> Self {
        self.input = true;
        self
    }

    /// Marks it a graph output.
    pub fn output(mut self) -> Self {
        self.output = true;
        self
    }

    /// Keeps it alive during the whole run.
    pub fn pinned(mut self) -> Self {
        self.pinned = true;
        self
    }
}

/// An operator: one step of the order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Op {
    /// Name for messages and reports.
    pub name: String,
    /// Tensors read; a tensor may stand here more than once.
    pub inputs: Vec<TensorId>,
    /// Tensors made.
    pub outputs: Vec<TensorId>,
    /// Bytes of the arena needed during this step alone.
    pub workspace: u64,
    /// How long it runs.
    pub time: u64,
}

impl Op {
    /// An op that reads and makes nothing yet.
    pub fn new(name: impl Into<String>) -> Self {
        Op { name: name.into(), ..Op::default() }
    }

    /// Sets the tensors read.
    pub fn inputs(mut self, inputs: impl IntoIterator<Item = TensorId>) -> Self {
        self.inputs = inputs.into_iter().collect();
        self
    }

    /// Sets the tensors made.
    pub fn outputs(mut self, outputs: impl IntoIterator<Item = TensorId>) -> Self {
        self.outputs = outputs.into_iter().collect();
        self
    }

    /// Sets the workspace in bytes.
    pub fn workspace(mut self, bytes: u64) -> Self {
        self.workspace = bytes;
        self
    }

    /// Sets the running time.
    pub fn time(mut self, time: u64) -> Self {
        self.time = time;
        self
    }
}

/// How two tensors may share bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShareKind {
    /// `inner`, made by `op`, holds the bytes of `outer`, read by `op`, from `offset` on: reshape, squeeze, a slice along
    /// the outermost axis, a part of a split. The op moves nothing.
    View,
    /// `inner`, made by `op`, takes the place of `outer`, read by `op` and by nobody later; `offset` is 0.
    InPlace,
    /// `inner`, read by `op`, is written straight into its place in `outer`, made by `op`: a part of a concatenation or
    /// the middle of a padded tensor. The op need not move it.
    Into,
}

/// Two tensors of one op that may (or must) share bytes: address of `inner` = address of `outer` + `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// What it means.
    pub kind: ShareKind,
    /// The op that relates the two.
    pub op: OpId,
    /// The tensor inside.
    pub inner: TensorId,
    /// The tensor around it.
    pub outer: TensorId,
    /// Bytes from the start of `outer` to the start of `inner`.
    pub offset: u64,
    /// Whether every plan must take it.
    pub required: bool,
}

/// A checked problem; made by [`ProblemBuilder`].
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub(crate) ops: Vec<Op>,
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) shares: Vec<Share>,
    pub(crate) edges: Vec<(OpId, OpId)>,
    pub(crate) storage_align: u64,
    pub(crate) producer: Vec<Option<OpId>>,
    pub(crate) consumers: Vec<Vec<OpId>>,
    pub(crate) file_order: Vec<OpId>,
}

impl Problem {
    /// A builder with nothing in it.
    pub fn builder() -> ProblemBuilder {
        ProblemBuilder::default()
    }

    /// The ops as given.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The tensors as given.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// What may share bytes.
    pub fn shares(&self) -> &[Share] {
        &self.shares
    }

    /// Order edges: the first runs before the second.
    pub fn edges(&self) -> &[(OpId, OpId)] {
        &self.edges
    }

    /// Every buffer of the arena starts at a multiple of this power of two and the arena's size is a multiple of it.
    pub fn storage_align(&self) -> u64 {
        self.storage_align
    }

    /// One op.
    pub fn op(&self, id: OpId) -> &Op {
        &self.ops[id.index()]
    }

    /// One tensor.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.index()]
    }

    /// One share.
    pub fn share(&self, id: ShareId) -> &Share {
        &self.shares[id.index()]
    }

    /// The op that makes a tensor; none for graph inputs.
    pub fn producer(&self, id: TensorId) -> Option<OpId> {
        self.producer[id.index()]
    }

    /// The ops that read a tensor, each once, in the order given.
    pub fn consumers(&self, id: TensorId) -> &[OpId] {
        &self.consumers[id.index()]
    }

    /// The order the ops were given in, or the nearest to it that obeys all edges.
    pub fn file_order(&self) -> &[OpId] {
        &self.file_order
    }

    /// All ops in the order given.
    pub fn op_ids(&self) -> impl DoubleEndedIterator<Item = OpId> + ExactSizeIterator + use<> {
        (0..self.ops.len() as u32).map(OpId)
    }

    /// All tensors in the order given.
    pub fn tensor_ids(&self) -> impl DoubleEndedIterator<Item = TensorId> + ExactSizeIterator + use<> {
        (0..self.tensors.len() as u32).map(TensorId)
    }

    /// All shares in the order given.
    pub fn share_ids(&self) -> impl DoubleEndedIterator<Item = ShareId> + ExactSizeIterator + use<> {
        (0..self.shares.len() as u32).map(ShareId)
    }

    /// Rounds bytes up to the storage alignment.
    pub fn padded(&self, bytes: u64) -> u64 {
        bytes.next_multiple_of(self.storage_align)
    }

    /// The ops that must run directly before an op, by data or order edges; each once, ascending, for every op.
    pub fn predecessors(&self) -> Vec<Vec<OpId>> {
        let mut all: Vec<Vec<OpId>> =
            self.ops.iter().map(|op| op.inputs.iter().filter_map(|t| self.producer(*t)).collect()).collect();
        for (before, after) in &self.edges {
            all[after.index()].push(*before);
        }
        for list in &mut all {
            list.sort_unstable();
            list.dedup();
        }
        all
    }
}

/// Collects a problem; [`ProblemBuilder::build`] checks it.
#[derive(Clone, Debug, Default)]
pub struct ProblemBuilder {
    pub(crate) ops: Vec<Op>,
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) shares: Vec<Share>,
    pub(crate) edges: Vec<(OpId, OpId)>,
    pub(crate) storage_align: u64,
}

impl ProblemBuilder {
    /// Adds a tensor.
    pub fn tensor(&mut self, tensor: Tensor) -> TensorId {
        self.tensors.push(tensor);
        TensorId(self.tensors.len() as u32 - 1)
    }

    /// Adds an op; ops are best added in the order of the file, which is the first order tried.
    pub fn op(&mut self, op: Op) -> OpId {
        self.ops.push(op);
        OpId(self.ops.len() as u32 - 1)
    }

    /// Adds a share.
    pub fn share(&mut self, share: Share) -> ShareId {
        self.shares.push(share);
        ShareId(self.shares.len() as u32 - 1)
    }

    /// `inner`, made by `op`, is always a view of `outer`.
    pub fn view(&mut self, op: OpId, inner: TensorId, outer: TensorId, offset: u64) -> ShareId {
        self.share(Share { kind: ShareKind::View, op, inner, outer, offset, required: true })
    }

    /// `output` may take the place of `input`.
    pub fn in_place(&mut self, op: OpId, input: TensorId, output: TensorId) -> ShareId {
        self.share(Share { kind: ShareKind::InPlace, op, inner: output, outer: input, offset: 0, required: false })
    }

    /// `part`, read by `op`, may be written straight into `whole`, made by `op`, at `offset`.
    pub fn into_whole(&mut self, op: OpId, part: TensorId, whole: TensorId, offset: u64) -> ShareId {
        self.share(Share { kind: ShareKind::Into, op, inner: part, outer: whole, offset, required: false })
    }

    /// `part`, made by `op`, may be read straight out of `whole`, read by `op`.
    pub fn out_of_whole(&mut self, op: OpId, part: TensorId, whole: TensorId, offset: u64) -> ShareId {
        self.share(Share { kind: ShareKind::View, op, inner: part, outer: whole, offset, required: false })
    }

    /// `before` runs before `after`.
    pub fn edge(&mut self, before: OpId, after: OpId) {
        self.edges.push((before, after));
    }

    /// Every buffer of the arena starts at a multiple of this power of two; 1 unless set.
    pub fn storage_align(&mut self, align: u64) {
        self.storage_align = align;
    }
}
