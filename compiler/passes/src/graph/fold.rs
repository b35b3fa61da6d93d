//! Computes at compile time what depends on constants alone, with the reference interpreter.
//!
//! **Does not fire when** the result would be larger than `max-bytes` and larger than the constants it is made of
//! (a broadcast of a small tensor stays a broadcast), or would grow out of bytes beyond 1 KiB: weights of 8 and 4 bits stay small, and
//! whole numbers of 8 bits are multiplied faster.
//!
//! ```mlir
//! %0 = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
//! %1 = graph.unary neg %0 : tensor<2xf32> -> tensor<2xf32>   // becomes graph.constant dense<[-1.0, -2.0]>
//! ```

use neap_optable::{Body, DType, GraphOp, Node, Tensor};

use crate::pass::{Changed, Cx, Func, GraphPass, PassError};
use crate::rewrite::Rebuild;

/// Bytes that a result of 8-bit operands may grow to.
const NARROW: u64 = 1 << 10;

/// The pass.
pub struct Fold;

/// Options.
#[derive(clap::Args)]
pub struct Options {
    /// Bytes a folded result may have even if its operands are smaller.
    #[arg(long, default_value_t = 1 << 20)]
    max_bytes: u64,
}

impl GraphPass for Fold {
    type Options = Options;
    const NAME: &'static str = "graph-fold";
    const SUMMARY: &'static str = "compute at compile time what depends on constants alone";
    const STEPS: bool = true;

    fn run(cx: &mut Cx, func: &mut Func, options: &Options) -> Result<Changed, PassError> {
        let old = &func.body;
        let mut new = Rebuild::new(old);
        let mut changed = Changed::No;
        for node in &old.nodes {
            let foldable = operands(&new, cx, node, old, options.max_bytes);
            match foldable.filter(|_| cx.steps.rewrite(Self::NAME, node)) {
                Some(operands) => {
                    let refs: Vec<&Tensor> = operands.iter().collect();
                    let types: Vec<_> = node.outputs.iter().map(|&o| old.ty(o).clone()).collect();
                    let results = neap_reference::eval(node.op, &node.attrs, &refs, &types)
                        .map_err(|e| PassError { pass: Self::NAME, message: format!("node '{}': {e}", node.name) })?;
                    for (&o, t) in node.outputs.iter().zip(&results) {
                        let v = new.tensor(&mut cx.weights, t, &node.name);
                        new.set(o, v);
                    }
                    changed = Changed::Yes;
                }
                None => new.copy(old, node),
            }
        }
        func.body = new.finish(old);
        Ok(changed)
    }
}

/// The operands' tensors, if all are constant and folding pays.
fn operands(new: &Rebuild, cx: &Cx, node: &Node, old: &Body, max_bytes: u64) -> Option<Vec<Tensor>> {
    if node.region.is_some()
        || matches!(node.op, GraphOp::Constant | GraphOp::Weight | GraphOp::Yield | GraphOp::Fusion)
    {
        return None;
    }
    // A splat broadcast stays a splat; `graph-simplify` has the rule for it.
    if node.op == GraphOp::Broadcast {
        return None;
    }
    let inputs = new.inputs(node);
    let constant = |n: &Node| matches!(n.op, GraphOp::Constant | GraphOp::Weight | GraphOp::Broadcast);
    if !inputs.iter().all(|&v| new.producer(v).is_some_and(constant)) {
        return None;
    }
    let out: u64 = node.outputs.iter().map(|&o| old.ty(o).bytes()).sum::<Option<u64>>()?;
    let tensors = inputs.iter().map(|&v| value(new, cx, v)).collect::<Option<Vec<_>>>()?;
    // What is stored: of a broadcast its operand.
    let stored = |v: &neap_optable::ValueId| match new.producer_of(*v, GraphOp::Broadcast) {
        Some(b) => new.ty(b.inputs[0]).bytes(),
        None => new.ty(*v).bytes(),
    };
    let largest = inputs.iter().filter_map(stored).max().unwrap_or(0);
    let narrow = tensors.iter().any(|t| matches!(t.dtype, DType::I8 | DType::U8));
    let limit = if narrow { max_bytes.min(NARROW) } else { max_bytes };
    (out <= limit.max(largest)).then_some(tensors)
}

/// The tensor of a constant, a weight, or a broadcast of one (written out, up to a mebibyte).
fn value(new: &Rebuild, cx: &Cx, v: neap_optable::ValueId) -> Option<Tensor> {
    match new.producer_of(v, GraphOp::Broadcast) {
        Some(b) => {
            let ty = new.ty(v).clone();
            if ty.bytes()? > 1 << 20 {
                return None;
            }
            let inner = new.value_of(&cx.weights, b.inputs[0])?;
            neap_reference::eval(GraphOp::Broadcast, &b.attrs, &[&inner], &[ty]).ok()?.pop()
        }
        None => new.value_of(&cx.weights, v),
    }
}
