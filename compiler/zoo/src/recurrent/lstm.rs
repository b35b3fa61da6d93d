//! The medium LSTM language model (Zaremba et al., "Recurrent Neural Network Regularization", 2014), named as PyTorch's
//! `word_language_model` example, whose LSTM has two biases a gate.

use neap_onnx::proto::DataType;

use crate::builder::{Attr, Builder, Dim};
use crate::layers::linear;
use crate::weights::Fill;
use crate::{Options, ZooError};

pub(crate) fn write(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let (layers, width, vocabulary, usual) = if options.small { (2, 16, 100, 5) } else { (2, 650, 10_000, 35) };
    let (batch, seq) = (Dim::of(options.batch, "batch", 1)?, Dim::of(options.seq, "seq", usual)?);
    let rows = batch.fixed().zip(seq.fixed()).map(|(n, s)| n * s);
    let ids = b.input("input", DataType::Int64, &[seq, batch]);
    let state = [Dim::Fixed(layers), batch, Dim::Fixed(width)];
    let [h, c] = ["h", "c"].map(|name| b.input(name, DataType::Float, &state));
    let words = b.parameter("encoder.weight", &[vocabulary, width], Fill::Spread(0.5));
    let mut x = b.node("/encoder", "Gather", &[&words, &ids], &[]);
    let sizes = b.ints(&vec![1; layers as usize]);
    let [before_h, before_c] = [&h, &c]
        .map(|state| b.nodes("/rnn/state", "Split", &[state, &sizes], &[Attr::Int("axis", 0)], layers as usize));
    let (mut last_h, mut last_c) = (vec![], vec![]);
    for i in 0..layers {
        let weight =
            |b: &mut Builder, name: &str, fill| b.parameter(&format!("rnn.{name}_l{i}"), &[1, 4 * width, width], fill);
        let input = weight(b, "weight_ih", Fill::glorot(width, width));
        let hidden = weight(b, "weight_hh", Fill::glorot(width, width));
        let bias = b.parameter(&format!("rnn.bias_l{i}"), &[1, 8 * width], Fill::Range(-0.1, 0.1));
        let at = i as usize;
        let inputs = [&*x, &input, &hidden, &bias, "", &before_h[at], &before_c[at]];
        let out = b.nodes("/rnn", "LSTM", &inputs, &[Attr::Int("hidden_size", width as i64)], 3);
        b.count_macs(rows.map(|r| r * 8 * width * width));
        let one = b.ints(&[1]);
        x = b.node("/rnn", "Squeeze", &[&out[0], &one], &[]);
        last_h.push(out[1].clone());
        last_c.push(out[2].clone());
    }
    let logits = linear(b, "decoder", &x, (width, vocabulary), rows);
    b.output("output", &logits, DataType::Float, &[seq, batch, Dim::Fixed(vocabulary)]);
    for (name, parts) in [("hn", last_h), ("cn", last_c)] {
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let all = b.node("/rnn/state", "Concat", &parts, &[Attr::Int("axis", 0)]);
        b.output(name, &all, DataType::Float, &state);
    }
    Ok(())
}
