//! A mixture of experts with the two best for each token, routed without shapes that depend on data: every expert runs on all
//! tokens, and counts for nothing where it was not chosen.

use super::decoder::{Config, mlp};
use crate::builder::{Attr, Builder, Value};
use crate::layers::{node_name, projection, slice};

const CHOSEN: i64 = 2;

/// The weighted sum of the chosen experts' results for [batch, seq, width].
pub(super) fn mixture(b: &mut Builder, name: &str, x: &str, c: &Config, rows: Option<u64>) -> Value {
    let at = node_name(name);
    let logits = projection(b, &format!("{name}.gate"), x, (c.width, c.experts), rows);
    let weights = b.node(&at, "Softmax", &[&logits], &[Attr::Int("axis", -1)]);
    let count = b.ints(&[CHOSEN]);
    let best = b.nodes(&at, "TopK", &[&weights, &count], &[Attr::Int("axis", -1), Attr::Int("largest", 1)], 2);
    let last = b.ints(&[-1]);
    let sum = b.node(&at, "ReduceSum", &[&best[0], &last], &[Attr::Int("keepdims", 1)]);
    let best_weights = b.node(&at, "Div", &[&best[0], &sum], &[]);
    // Each expert's weight, 0 where it was not chosen: [batch, seq, experts].
    let none = b.float(0.0);
    let none = b.node(&at, "Mul", &[&weights, &none], &[]);
    let weights = b.node(&at, "ScatterElements", &[&none, &best[1], &best_weights], &[Attr::Int("axis", -1)]);
    let mut total: Option<Value> = None;
    for e in 0..c.experts {
        let expert = format!("{name}.experts.{e}");
        let y = mlp(b, &expert, ["w1", "w3", "w2"], x, (c.width, c.inner), rows);
        let weight = slice(b, &node_name(&expert), &weights, 2, (e as i64, e as i64 + 1));
        let y = b.node(&node_name(&format!("{expert}.weighted")), "Mul", &[&y, &weight], &[]);
        total = Some(match total {
            Some(sum) => b.node(&at, "Add", &[&sum, &y], &[]),
            None => y,
        });
    }
    total.unwrap_or_else(|| x.into())
}
