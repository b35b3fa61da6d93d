//! LSTM, GRU and RNN: the input projection is one matmul over all steps, the recurrence its own op, directions apart.

use neap_optable::{Attrs, BinaryKind as B, Dim, GraphOp, UnaryKind as U};

use crate::import::cx::{Cx, Val};
use crate::import::error::{Res, invalid, unsupported};
use crate::import::op::Op;
use crate::import::table::{Entry, always};

pub(super) const OPS: &[Entry] = &[
    always("LSTM", |cx, op| op.in_f32(cx, lstm)),
    always("GRU", |cx, op| op.in_f32(cx, gru)),
    always("RNN", |cx, op| op.in_f32(cx, rnn)),
];

/// Most steps of an RNN, which is unrolled.
const MAX_STEPS: i64 = 1024;

/// The operands of all three, time first.
struct Layer {
    /// [T, B, I]
    x: Val,
    /// For each direction whether it runs backwards.
    backwards: Vec<bool>,
    hidden: Dim,
    gates: i64,
    /// [T, B, H] of the results, batch first where the node asks so.
    batch_first: bool,
    time: Dim,
    batch: Dim,
}

impl Layer {
    fn read(cx: &mut Cx, op: &Op<'_>, gates: i64, activations: &[&str]) -> Res<Self> {
        let batch_first = op.flag("layout", false)?;
        let mut x = op.input(0)?;
        if cx.rank(x) != 3 || cx.rank(op.input(1)?) != 3 || cx.rank(op.input(2)?) != 3 {
            return invalid("X, W and R must have rank 3");
        }
        if batch_first {
            x = cx.transpose(x, &[1, 0, 2])?;
        }
        let backwards = match op.text("direction", "forward")? {
            "forward" => vec![false],
            "reverse" => vec![true],
            "bidirectional" => vec![false, true],
            other => {
                return invalid(format!(
                    "attribute `direction` is `{other}`, expected forward, reverse or bidirectional"
                ));
            }
        };
        let dims = cx.dims(x);
        let recurrent = cx.dims(op.input(2)?);
        if recurrent[0].as_i64() != Some(backwards.len() as i64) {
            return invalid(format!("R is {} for {} directions", cx.ty(op.input(2)?), backwards.len()));
        }
        if op.float_opt("clip")?.is_some() {
            return unsupported("clip is not supported; export the model without it");
        }
        if let Some(given) = op.texts("activations")? {
            let fits = given.len() == activations.len() * backwards.len()
                && given.iter().zip(activations.iter().cycle()).all(|(g, a)| g.eq_ignore_ascii_case(a));
            if !fits {
                return unsupported(format!("activations {given:?} are not supported, only {activations:?}"));
            }
        }
        if let Some(lengths) = op.opt(4) {
            let all = dims[0].as_i64();
            let full = cx.tensor(lengths).and_then(|t| t.to_i64()).is_some_and(|l| l.iter().all(|n| Some(*n) == all));
            if !full {
                return unsupported(
                    "sequence_lens other than the full length are not supported; mask outside the model",
                );
            }
        }
        let hidden = recurrent[2].clone();
        Ok(Layer { x, backwards, hidden, gates, batch_first, time: dims[0].clone(), batch: dims[1].clone() })
    }

    /// Entry `d` of an operand with one a direction.
    fn of_direction(&self, cx: &mut Cx, v: Val, d: usize) -> Res<Val> {
        let part = cx.slice_axis(v, 0, d as i64, Dim::constant(1))?;
        let dims = cx.dims(part)[1..].to_vec();
        cx.reshape(part, dims)
    }

    /// `x W^T` of one direction, [T, B, gates * H].
    fn projected(&self, cx: &mut Cx, op: &Op<'_>, d: usize) -> Res<Val> {
        let w = self.of_direction(cx, op.input(1)?, d)?;
        cx.matmul(self.x, w, false, true)
    }

    /// Biases of the input and of the recurrence of one direction, [gates * H] each.
    fn biases(&self, cx: &mut Cx, op: &Op<'_>, d: usize) -> Res<Option<(Val, Val)>> {
        let Some(b) = op.opt(3) else { return Ok(None) };
        let b = self.of_direction(cx, b, d)?;
        let width = self.hidden.scale(self.gates);
        let start = cx.number(&width)?;
        Ok(Some((cx.slice_axis(b, 0, 0, width.clone())?, cx.slice_axis(b, 0, start, width)?)))
    }

    /// An initial state of one direction, [B, H], zero unless given.
    fn initial(&self, cx: &mut Cx, op: &Op<'_>, operand: usize, d: usize) -> Res<Val> {
        let dims = [self.batch.clone(), self.hidden.clone()];
        match op.opt(operand) {
            Some(v) if self.batch_first => {
                let v = cx.transpose(v, &[1, 0, 2])?;
                self.of_direction(cx, v, d)
            }
            Some(v) => self.of_direction(cx, v, d),
            None => {
                let zero = cx.scalar(cx.dtype(self.x), 0.0);
                cx.broadcast(zero, &dims)
            }
        }
    }

    /// All states of the directions ([T, B, H] each) as ONNX's Y.
    fn all(&self, cx: &mut Cx, of: &[Val]) -> Res<Val> {
        let mut parts = vec![];
        for &v in of {
            parts.push(
                cx.reshape(v, vec![self.time.clone(), Dim::constant(1), self.batch.clone(), self.hidden.clone()])?,
            );
        }
        let y = cx.concat(&parts, 1)?;
        if self.batch_first { cx.transpose(y, &[2, 0, 1, 3]) } else { Ok(y) }
    }

    /// Last states of the directions ([B, H] each) as ONNX's Y_h.
    fn last(&self, cx: &mut Cx, of: &[Val]) -> Res<Val> {
        let mut parts = vec![];
        for &v in of {
            parts.push(cx.reshape(v, vec![Dim::constant(1), self.batch.clone(), self.hidden.clone()])?);
        }
        let y = cx.concat(&parts, 0)?;
        if self.batch_first { cx.transpose(y, &[1, 0, 2]) } else { Ok(y) }
    }
}

fn lstm(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let layer = Layer::read(cx, op, 4, &["Sigmoid", "Tanh", "Tanh"])?;
    if op.flag("input_forget", false)? {
        return unsupported("input_forget is not supported; export the model without it");
    }
    if let Some(p) = op.opt(7)
        && !cx.tensor(p).is_some_and(|t| t.data.iter().all(|&b| b == 0))
    {
        return unsupported("peephole weights are not supported; export the model without them");
    }
    let (mut all, mut h, mut c) = (vec![], vec![], vec![]);
    for (d, &reverse) in layer.backwards.iter().enumerate() {
        let mut gates = layer.projected(cx, op, d)?;
        if let Some((wb, rb)) = layer.biases(cx, op, d)? {
            let bias = cx.binary(B::Add, wb, rb)?;
            gates = cx.binary(B::Add, gates, bias)?;
        }
        let recurrent = layer.of_direction(cx, op.input(2)?, d)?;
        let (h0, c0) = (layer.initial(cx, op, 5, d)?, layer.initial(cx, op, 6, d)?);
        let out = cx.infer(GraphOp::Lstm, Attrs::new().flag("reverse", reverse), &[gates, recurrent, h0, c0])?;
        all.push(out[0]);
        h.push(out[1]);
        c.push(out[2]);
    }
    Ok(vec![layer.all(cx, &all)?, layer.last(cx, &h)?, layer.last(cx, &c)?])
}

fn gru(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let layer = Layer::read(cx, op, 3, &["Sigmoid", "Tanh"])?;
    let linear = op.flag("linear_before_reset", false)?;
    let hidden = cx.number(&layer.hidden)?;
    let (mut all, mut h) = (vec![], vec![]);
    for (d, &reverse) in layer.backwards.iter().enumerate() {
        let mut gates = layer.projected(cx, op, d)?;
        let zero = cx.scalar(cx.dtype(layer.x), 0.0);
        let mut hidden_bias = cx.broadcast(zero, std::slice::from_ref(&layer.hidden))?;
        if let Some((wb, rb)) = layer.biases(cx, op, d)? {
            // The hidden gate's part of the recurrent bias stays apart.
            let rest = cx.slice_axis(rb, 0, 0, layer.hidden.scale(2))?;
            let rest = cx.concat(&[rest, hidden_bias], 0)?;
            hidden_bias = cx.slice_axis(rb, 0, hidden.saturating_mul(2), layer.hidden.clone())?;
            let bias = cx.binary(B::Add, wb, rest)?;
            gates = cx.binary(B::Add, gates, bias)?;
        }
        let recurrent = layer.of_direction(cx, op.input(2)?, d)?;
        let h0 = layer.initial(cx, op, 5, d)?;
        let attrs = Attrs::new().flag("linear_before_reset", linear).flag("reverse", reverse);
        let out = cx.infer(GraphOp::Gru, attrs, &[gates, recurrent, hidden_bias, h0])?;
        all.push(out[0]);
        h.push(out[1]);
    }
    Ok(vec![layer.all(cx, &all)?, layer.last(cx, &h)?])
}

/// `h = f(x W^T + h R^T + b)`, step by step.
fn rnn(cx: &mut Cx, op: &Op<'_>) -> Res<Vec<Val>> {
    let relu = op.texts("activations")?.is_some_and(|a| a.iter().all(|a| a.eq_ignore_ascii_case("relu")));
    let layer = Layer::read(cx, op, 1, if relu { &["Relu"] } else { &["Tanh"] })?;
    let steps = cx.number(&layer.time)?;
    if steps > MAX_STEPS {
        return unsupported(format!("it has {steps} steps, at most {MAX_STEPS} are unrolled; use a GRU or LSTM"));
    }
    let (mut all, mut last) = (vec![], vec![]);
    for (d, &reverse) in layer.backwards.iter().enumerate() {
        let mut gates = layer.projected(cx, op, d)?;
        if let Some((wb, rb)) = layer.biases(cx, op, d)? {
            let bias = cx.binary(B::Add, wb, rb)?;
            gates = cx.binary(B::Add, gates, bias)?;
        }
        let recurrent = layer.of_direction(cx, op.input(2)?, d)?;
        let mut h = layer.initial(cx, op, 5, d)?;
        let mut states = vec![h; steps as usize];
        for i in 0..steps {
            let t = if reverse { steps - 1 - i } else { i };
            let now = cx.slice_axis(gates, 0, t, Dim::constant(1))?;
            let now = cx.reshape(now, vec![layer.batch.clone(), layer.hidden.clone()])?;
            let before = cx.matmul(h, recurrent, false, true)?;
            let sum = cx.binary(B::Add, now, before)?;
            h = cx.unary(if relu { U::Relu } else { U::Tanh }, sum)?;
            states[t as usize] = cx.reshape(h, vec![Dim::constant(1), layer.batch.clone(), layer.hidden.clone()])?;
        }
        last.push(h);
        all.push(if steps == 0 { gates } else { cx.concat(&states, 0)? });
    }
    Ok(vec![layer.all(cx, &all)?, layer.last(cx, &last)?])
}
