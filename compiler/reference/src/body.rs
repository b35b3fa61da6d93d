//! Whole bodies.

use std::collections::BTreeMap;
use std::sync::Arc;

use neap_optable::{Body, Dim, GraphOp, Node, Tensor, TensorType, Weights};

use crate::{EvalError, eval};

/// Runs a body on inputs and gives its results. Symbolic dims are settled by the inputs' shapes. `observe` sees every node
/// of this body with its results as soon as they are there (not the nodes inside fusions). A value is freed after its last use.
///
/// # Errors
/// What does not fit, with the node; never a panic on a body that breaks the rules.
pub fn eval_body(
    body: &Body,
    weights: &Weights,
    inputs: &[Tensor],
    observe: &mut dyn FnMut(&Node, &[Tensor]),
) -> Result<Vec<Tensor>, EvalError> {
    body.verify().map_err(EvalError::Illegal)?;
    run(body, weights, inputs, observe)
}

/// As [`eval_body`], of a body already verified.
fn run(
    body: &Body,
    weights: &Weights,
    inputs: &[Tensor],
    observe: &mut dyn FnMut(&Node, &[Tensor]),
) -> Result<Vec<Tensor>, EvalError> {
    let sizes = settle(body, inputs)?;
    let mut values: Vec<Option<Tensor>> = vec![None; body.types.len()];
    for (v, t) in body.args.iter().zip(inputs) {
        values[v.0 as usize] = Some(t.clone());
    }
    let mut uses = body.use_counts();
    for node in &body.nodes {
        let at_node = |e: EvalError| EvalError::AtNode { node: node.name.clone(), source: Box::new(e) };
        let ins: Vec<Tensor> = node.inputs.iter().filter_map(|v| values[v.0 as usize].clone()).collect();
        let types: Vec<TensorType> = node.outputs.iter().map(|v| with_sizes(body.ty(*v), &sizes)).collect();
        let outs = eval_node(node, weights, &ins, &types).map_err(at_node)?;
        observe(node, &outs);
        for (v, t) in node.outputs.iter().zip(outs) {
            if uses[v.0 as usize] > 0 {
                values[v.0 as usize] = Some(t);
            }
        }
        for v in &node.inputs {
            let left = &mut uses[v.0 as usize];
            *left -= 1;
            if *left == 0 {
                values[v.0 as usize] = None;
            }
        }
    }
    Ok(body.results.iter().filter_map(|v| values[v.0 as usize].clone()).collect())
}

fn eval_node(node: &Node, weights: &Weights, ins: &[Tensor], types: &[TensorType]) -> Result<Vec<Tensor>, EvalError> {
    match (node.op, &node.region) {
        (GraphOp::Fusion, Some(region)) => run(region, weights, ins, &mut |_, _| ()),
        (GraphOp::Weight, _) => {
            let key = node.attrs.get_str("key");
            let t = weights.get(key).ok_or_else(|| EvalError::UnknownWeight(key.into()))?;
            if t.ty() != types[0] {
                return Err(EvalError::Illegal(format!("weight {key} is {}, expected {}", t.ty(), types[0])));
            }
            Ok(vec![t.clone()])
        }
        _ => eval(node.op, &node.attrs, &ins.iter().collect::<Vec<_>>(), types),
    }
}

type Sizes = BTreeMap<Arc<str>, i64>;

fn with_sizes(t: &TensorType, sizes: &Sizes) -> TensorType {
    let of = |s: &str| sizes.get(s).map(|v| Dim::constant(*v));
    TensorType { dtype: t.dtype, dims: t.dims.iter().map(|d| d.substitute(&of)).collect() }
}

/// The sizes of the symbols, from the inputs; fails where an input does not fit its argument.
fn settle(body: &Body, inputs: &[Tensor]) -> Result<Sizes, EvalError> {
    if inputs.len() != body.args.len() {
        return Err(EvalError::Illegal(format!("{} inputs given, expected {}", inputs.len(), body.args.len())));
    }
    let mut sizes = Sizes::new();
    for (v, t) in body.args.iter().zip(inputs) {
        for (d, found) in body.ty(*v).dims.iter().zip(&t.dims) {
            if let [s] = d.symbols().as_slice()
                && *d == Dim::symbol(s)
            {
                sizes.entry(s.clone()).or_insert(i64::try_from(*found).unwrap_or(i64::MAX));
            }
        }
    }
    for (i, (v, t)) in body.args.iter().zip(inputs).enumerate() {
        let expected = with_sizes(body.ty(*v), &sizes);
        let fits = |(d, found): (&Dim, &u64)| d.as_i64().is_none_or(|d| u64::try_from(d) == Ok(*found));
        if expected.dtype != t.dtype || expected.rank() != t.dims.len() || !expected.dims.iter().zip(&t.dims).all(fits)
        {
            let name = body.arg_names.get(i).cloned().unwrap_or_else(|| i.to_string());
            return Err(EvalError::Input { name, found: t.ty().to_string(), expected: expected.to_string() });
        }
    }
    Ok(sizes)
}
