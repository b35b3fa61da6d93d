//! Recurrences. Everything is computed in f64 over the whole sequence and rounded once.

use neap_optable::Tensor;

use crate::elementwise::sigmoid;
use crate::values::{Values, load_floats, store};

/// One direction of an LSTM; see the ODS definition for the shapes. Gives all h, the last h and the last c.
pub(crate) fn lstm(gates: &Tensor, recurrent: &Tensor, h0: &Tensor, c0: &Tensor, reverse: bool) -> Vec<Tensor> {
    let step = Step::of(gates, recurrent);
    let (x, r) = (load_floats(gates), load_floats(recurrent));
    let (mut h, mut c) = (load_floats(h0), load_floats(c0));
    let (steps, hidden) = (gates.dims[0] as usize, step.hidden);
    let mut all = vec![0.0; steps * h.len()];
    for t in step.order(steps, reverse) {
        let g = step.gates(&x, &r, &h, t, 0..4);
        for (p, h) in h.iter_mut().enumerate() {
            let gate = |k: usize| g[p / hidden * 4 * hidden + k * hidden + p % hidden];
            let (input, output, forget, cell) =
                (sigmoid(gate(0)), sigmoid(gate(1)), sigmoid(gate(2)), libm::tanh(gate(3)));
            c[p] = forget * c[p] + input * cell;
            *h = output * libm::tanh(c[p]);
        }
        all[t * h.len()..][..h.len()].copy_from_slice(&h);
    }
    let dims = [gates.dims[0], h0.dims[0], h0.dims[1]];
    let float = |dims: &[u64], v| store(gates.dtype, dims, &Values::Float(v));
    vec![float(&dims, all), float(&h0.dims, h), float(&h0.dims, c)]
}

/// One direction of a GRU; see the ODS definition for the shapes. Gives all h and the last h.
pub(crate) fn gru(
    gates: &Tensor,
    recurrent: &Tensor,
    bias: &Tensor,
    h0: &Tensor,
    linear: bool,
    reverse: bool,
) -> Vec<Tensor> {
    let step = Step::of(gates, recurrent);
    let (x, r, b) = (load_floats(gates), load_floats(recurrent), load_floats(bias));
    let mut h = load_floats(h0);
    let (steps, hidden) = (gates.dims[0] as usize, step.hidden);
    let mut all = vec![0.0; steps * h.len()];
    for t in step.order(steps, reverse) {
        let g = step.gates(&x, &r, &h, t, 0..2);
        let gate = |p: usize, k: usize| g[p / hidden * 3 * hidden + k * hidden + p % hidden];
        let reset: Vec<f64> = (0..h.len()).map(|p| sigmoid(gate(p, 1))).collect();
        // What the hidden gate multiplies by its weights: the state, reset before or after.
        let seen: Vec<f64> = h.iter().zip(&reset).map(|(h, r)| if linear { *h } else { h * r }).collect();
        let products = step.products(&r, &seen, 2);
        for (p, h) in h.iter_mut().enumerate() {
            let update = sigmoid(gate(p, 0));
            let inner = products[p] + b[p % hidden];
            let new = libm::tanh(gate(p, 2) + if linear { reset[p] * inner } else { inner });
            *h = (1.0 - update) * new + update * *h;
        }
        all[t * h.len()..][..h.len()].copy_from_slice(&h);
    }
    let dims = [gates.dims[0], h0.dims[0], h0.dims[1]];
    let float = |dims: &[u64], v| store(gates.dtype, dims, &Values::Float(v));
    vec![float(&dims, all), float(&h0.dims, h)]
}

/// Sizes of one step of a recurrence.
struct Step {
    /// Gates times hidden size.
    width: usize,
    hidden: usize,
}

impl Step {
    fn of(gates: &Tensor, recurrent: &Tensor) -> Self {
        Step { width: gates.dims[2] as usize, hidden: recurrent.dims[1] as usize }
    }

    fn order(&self, steps: usize, reverse: bool) -> impl Iterator<Item = usize> {
        (0..steps).map(move |t| if reverse { steps - 1 - t } else { t })
    }

    /// `h` [B, H] times the rows of gate `k` of `recurrent`, transposed: [B, H].
    fn products(&self, recurrent: &[f64], h: &[f64], k: usize) -> Vec<f64> {
        let n = self.hidden;
        let dot = |h: &[f64], row: &[f64]| h.iter().zip(row).map(|(x, y)| x * y).sum::<f64>();
        (0..h.len()).map(|p| dot(&h[p / n * n..][..n], &recurrent[(k * n + p % n) * n..][..n])).collect()
    }

    /// The gates of step `t` before their activation, [B, width]; only those in `recurrent_gates` see the state.
    fn gates(
        &self,
        x: &[f64],
        recurrent: &[f64],
        h: &[f64],
        t: usize,
        recurrent_gates: std::ops::Range<usize>,
    ) -> Vec<f64> {
        let n = self.hidden;
        let batch = h.len().checked_div(n).unwrap_or(0);
        let mut out = x[t * batch * self.width..][..batch * self.width].to_vec();
        for k in recurrent_gates {
            for (p, v) in self.products(recurrent, h, k).into_iter().enumerate() {
                out[p / n * self.width + k * n + p % n] += v;
            }
        }
        out
    }
}
