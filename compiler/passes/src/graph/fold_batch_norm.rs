//! Folds a per-channel scale behind a convolution or matmul with constant weights into the weights.
//!
//! Batch norm enters the graph as `x * scale + shift` with constant vectors; the scale moves into the filter, the shift stays
//! as a bias in the epilogue. A shift between the product and the scale is scaled with it. Class: reassociates.
//!
//! **Does not fire when** the filter is not constant, the product has other users, or the scale varies along more than the
//! output channel.
//!
//! ```mlir
//! %0 = graph.conv %x, %w strides [1, 1] ...
//! %1 = graph.broadcast %scale : tensor<8x1x1xf32> -> tensor<1x8x4x4xf32>
//! %2 = graph.binary mul %0, %1 : ...        // becomes graph.conv %x, %w' with w'[o, ...] = w[o, ...] * scale[o]
//! ```

use neap_optable::{Attrs, BinaryKind, Body, DType, GraphOp, Node, Tensor, TensorType, ValueId, Weights};

use crate::pass::{Changed, Cx, Func, GraphPass, PassError};
use crate::rewrite::Rebuild;

/// The pass.
pub struct FoldBatchNorm;

/// No options.
#[derive(clap::Args)]
pub struct Options {}

impl GraphPass for FoldBatchNorm {
    type Options = Options;
    const NAME: &'static str = "graph-fold-batch-norm";
    const SUMMARY: &'static str = "fold a per-channel scale behind a convolution or matmul into its constant weights";
    const STEPS: bool = true;

    fn run(cx: &mut Cx, func: &mut Func, _: &Options) -> Result<Changed, PassError> {
        let old = &func.body;
        let uses = old.use_counts();
        let mut single = std::collections::HashSet::new();
        let mut new = Rebuild::new(old);
        let mut changed = Changed::No;
        for node in &old.nodes {
            let inputs = new.inputs(node);
            let folded = scaled(&mut new, &mut cx.weights, node, &inputs, old, &single);
            match folded.filter(|_| cx.steps.rewrite(Self::NAME, node)) {
                Some(v) => {
                    changed = Changed::Yes;
                    new.set(node.outputs[0], v);
                }
                None => new.copy(old, node),
            }
            // Use counts are of the old body: a new value counts as single-use if the old value it stands for is.
            for &o in &node.outputs {
                if uses[o.0 as usize] == 1 {
                    single.insert(new.get(o));
                }
            }
        }
        func.body = new.finish(old);
        Ok(changed)
    }
}

type Single = std::collections::HashSet<ValueId>;

/// Rewrites `contraction(x, w) * scale` and `(contraction(x, w) + shift) * scale`.
fn scaled(
    new: &mut Rebuild,
    weights: &mut Weights,
    node: &Node,
    inputs: &[ValueId],
    old: &Body,
    single: &Single,
) -> Option<ValueId> {
    if node.op != GraphOp::Binary || node.attrs.get_enum::<BinaryKind>("kind") != BinaryKind::Mul {
        return None;
    }
    let ty = old.ty(node.outputs[0]).clone();
    if ty.dtype != DType::F32 {
        return None;
    }
    for (product, factor) in [(inputs[0], inputs[1]), (inputs[1], inputs[0])] {
        if !single.contains(&product) {
            continue;
        }
        let Some(p) = new.producer(product).cloned() else { continue };
        if let Some(v) = contraction(new, weights, &p, factor, &ty, &node.name) {
            return Some(v);
        }
        let is_add = p.op == GraphOp::Binary && p.attrs.get_enum::<BinaryKind>("kind") == BinaryKind::Add;
        if !is_add {
            continue;
        }
        for (inner, shift) in [(p.inputs[0], p.inputs[1]), (p.inputs[1], p.inputs[0])] {
            let channels = channel_count(new, inner, &ty);
            let (Some(n), true) = (channels, single.contains(&inner)) else { continue };
            let (Some(c), Some(s)) = (
                per_channel(new, weights, factor, n, &ty, axis(new, inner)?),
                per_channel(new, weights, shift, n, &ty, axis(new, inner)?),
            ) else {
                continue;
            };
            let Some(q) = new.producer(inner).cloned() else { continue };
            let at = axis(new, inner)?;
            let Some(v) = contraction(new, weights, &q, factor, &ty, &node.name) else { continue };
            let bias: Vec<f32> = c.iter().zip(&s).map(|(c, s)| c * s).collect();
            let mut dims = vec![1u64; ty.rank()];
            dims[at] = n;
            let b = new.tensor(weights, &Tensor::new(&dims, &bias), &p.name);
            let b = new.emit1(GraphOp::Broadcast, Attrs::new(), &[b], ty.clone(), &p.name);
            return Some(new.emit1(GraphOp::Binary, Attrs::new().int("kind", BinaryKind::Add), &[v, b], ty, &p.name));
        }
    }
    None
}

/// The result dim that runs over output channels: 1 for a convolution, the last for a matmul.
fn axis(new: &Rebuild, product: ValueId) -> Option<usize> {
    match new.producer(product)?.op {
        GraphOp::Conv => Some(1),
        GraphOp::Matmul => Some(new.ty(product).rank() - 1),
        _ => None,
    }
}

fn channel_count(new: &Rebuild, product: ValueId, ty: &TensorType) -> Option<u64> {
    ty.dims.get(axis(new, product)?)?.as_const()
}

/// The constant behind `v` as one number a channel, if it varies along nothing else.
fn per_channel(
    new: &Rebuild,
    weights: &Weights,
    v: ValueId,
    channels: u64,
    ty: &TensorType,
    axis: usize,
) -> Option<Vec<f32>> {
    if let Some(c) = new.splat(v) {
        return Some(vec![c as f32; channels as usize]);
    }
    let b = new.producer_of(v, GraphOp::Broadcast)?;
    let t = new.value_of(weights, b.inputs[0])?;
    let at = (axis + t.dims.len()).checked_sub(ty.rank())?;
    let vector = t.dims.iter().enumerate().all(|(i, &d)| d == if i == at { channels } else { 1 });
    vector.then(|| t.elements::<f32>())?
}

/// The same contraction with its weights scaled along the output channel.
fn contraction(
    new: &mut Rebuild,
    weights: &mut Weights,
    p: &Node,
    factor: ValueId,
    ty: &TensorType,
    name: &str,
) -> Option<ValueId> {
    let at = axis(new, *p.outputs.first()?)?;
    let channels = ty.dims.get(at)?.as_const()?;
    let scale = per_channel(new, weights, factor, channels, ty, at)?;
    let w = new.value_of(weights, p.inputs[1])?;
    let elements = w.elements::<f32>()?;
    let columns_last = p.op == GraphOp::Matmul && !p.attrs.get_bool("transpose_rhs");
    // A matmul's [N, K] or a filter's [O, ...] holds a channel in one contiguous run, [K, N] has channels innermost.
    let rank = w.dims.len();
    let (outer, inner) = match (p.op, columns_last) {
        (GraphOp::Matmul, true) if w.dims[rank - 1] == channels => (channels, 1),
        (GraphOp::Matmul, false) if w.dims[rank - 2] == channels => (channels, w.dims[rank - 1]),
        (GraphOp::Conv, _) => (channels, elements.len() as u64 / channels.max(1)),
        _ => return None,
    };
    let scaled: Vec<f32> = elements
        .iter()
        .enumerate()
        .map(|(i, e)| e * scale[(i as u64 / inner.max(1) % outer.max(1)) as usize])
        .collect();
    let t = Tensor::new(&w.dims, &scaled);
    let joined = format!("{}+{name}", p.name);
    let v = new.tensor(weights, &t, &joined);
    Some(new.emit1(p.op, p.attrs.clone(), &[p.inputs[0], v], ty.clone(), &joined))
}
