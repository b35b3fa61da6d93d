//! The recurrent cell that neural architecture search found (Zoph and Le, "Neural Architecture Search with Reinforcement
//! Learning", 2016, figure 8), unrolled: 512 wide over 5 steps, as graph optimisers are measured on it (Jia et al., "TASO:
//! Optimizing Deep Learning Computation with Automatic Generation of Graph Substitutions", 2019).

use neap_onnx::proto::DataType;

use crate::builder::{Attr, Builder, Dim, Value};
use crate::layers::node_name;
use crate::weights::Fill;
use crate::{Options, Size, ZooError};

/// Sums of a product of the input and one of the state that a step starts with.
const SUMS: usize = 8;

pub(crate) fn write(b: &mut Builder, options: &Options) -> Result<(), ZooError> {
    let (width, usual) = if options.small { (16, 3) } else { (512, 5) };
    let batch = Dim::of(options.batch, "batch", 1)?;
    // Unrolled, so that the steps must be known.
    let steps = match options.seq {
        Size::Fixed(n) => n,
        _ => usual,
    };
    if !(1..=1024).contains(&steps) {
        return Err(ZooError::Size { what: "seq", found: steps, expected: "1 to 1024".into() });
    }
    let state = [batch, Dim::Fixed(width)];
    let inputs = b.input("input", DataType::Float, &[Dim::Fixed(steps), batch, Dim::Fixed(width)]);
    let mut h = b.input("state", DataType::Float, &state);
    let weights: Vec<[Value; 2]> = (0..SUMS)
        .map(|i| {
            ["weight_x", "weight_h"]
                .map(|which| b.parameter(&format!("{which}.{i}"), &[width, width], Fill::glorot(width, width)))
        })
        .collect();
    for step in 0..steps {
        let at = node_name(&format!("steps.{step}"));
        let index = b.int(step as i64);
        let x = b.node(&at, "Gather", &[&inputs, &index], &[Attr::Int("axis", 0)]);
        h = cell(b, &at, &x, &h, &weights);
        b.count_macs(batch.fixed().map(|n| n * 2 * SUMS as u64 * width * width));
    }
    b.output("output", &h, DataType::Float, &state);
    Ok(())
}

fn cell(b: &mut Builder, at: &str, x: &str, h: &str, weights: &[[Value; 2]]) -> Value {
    let sums: Vec<Value> = weights
        .iter()
        .map(|[wx, wh]| {
            let (x, h) = (b.node(at, "MatMul", &[x, wx], &[]), b.node(at, "MatMul", &[h, wh], &[]));
            b.node(at, "Add", &[&x, &h], &[])
        })
        .collect();
    let mut join = |op: &str, (f, x): (&str, &str), (g, y): (&str, &str)| {
        let (x, y) = (b.node(at, f, &[x], &[]), b.node(at, g, &[y], &[]));
        b.node(at, op, &[&x, &y], &[])
    };
    let first = join("Add", ("Relu", &sums[0]), ("Sigmoid", &sums[3]));
    let second = join("Add", ("Sigmoid", &sums[1]), ("Tanh", &sums[2]));
    let third = join("Mul", ("Sigmoid", &sums[4]), ("Tanh", &sums[5]));
    let fourth = join("Mul", ("Sigmoid", &sums[6]), ("Relu", &sums[7]));
    let inner = join("Add", ("Sigmoid", &second), ("Tanh", &third));
    let outer = join("Mul", ("Tanh", &first), ("Tanh", &fourth));
    let state = join("Mul", ("Tanh", &inner), ("Tanh", &outer));
    b.node(at, "Tanh", &[&state], &[])
}
