//! `neap inspect`

use std::collections::BTreeMap;

use neap_onnx::{DimInfo, ValueInfo, ValueType};
use neap_passes::import::{ImportOptions, import};
use neap_plan::report::human;
use serde::Serialize;

use crate::cli::Inspect;
use crate::failure::Failure;
use crate::load;

#[derive(Serialize)]
struct Report {
    producer: String,
    ir_version: i64,
    opsets: BTreeMap<String, i64>,
    ops: BTreeMap<String, usize>,
    inputs: Vec<Value>,
    outputs: Vec<Value>,
    weights: usize,
    parameters: u64,
    weight_bytes: u64,
    /// Symbolic where dims are open.
    #[serde(skip_serializing_if = "Option::is_none")]
    flops: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    intermediate_bytes: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
}

#[derive(Serialize)]
struct Value {
    name: String,
    dtype: String,
    shape: Vec<String>,
}

/// Runs the command.
pub fn run(args: &Inspect) -> Result<(), Failure> {
    if load::is_artefact(&args.model) {
        return Err(Failure::new(format!(
            "{}: is an artefact; inspect needs the ONNX model it was made from",
            args.model.display()
        )));
    }
    let model = load::read(&args.model)?;
    let i = neap_onnx::inspect(&model);
    let mut report = Report {
        producer: i.producer,
        ir_version: i.ir_version,
        opsets: i.opsets.into_iter().map(|(d, v)| (if d.is_empty() { "ai.onnx".into() } else { d }, v)).collect(),
        ops: i.ops.into_iter().map(|((d, o), n)| (if d.is_empty() { o } else { format!("{d}.{o}") }, n)).collect(),
        inputs: i.inputs.iter().map(declared).collect(),
        outputs: i.outputs.iter().map(declared).collect(),
        weights: i.weights,
        parameters: i.parameters,
        weight_bytes: i.weight_bytes,
        flops: None,
        intermediate_bytes: None,
        problems: vec![],
    };
    // The import gives inferred shapes; a model that neap cannot import can still be looked at.
    match import(&model, &ImportOptions { dims: args.dims.iter().cloned().collect() }) {
        Ok(imported) => {
            let b = &imported.body;
            let typed = |names: &[String], values: &[neap_optable::ValueId]| -> Vec<Value> {
                let ty = |v: &neap_optable::ValueId| b.ty(*v);
                let shape = |v| ty(v).dims.iter().map(ToString::to_string).collect();
                names
                    .iter()
                    .zip(values)
                    .map(|(n, v)| Value { name: n.clone(), dtype: ty(v).dtype.to_string(), shape: shape(v) })
                    .collect()
            };
            report.inputs = typed(&b.arg_names, &b.args);
            report.outputs = typed(&b.result_names, &b.results);
            report.flops = Some(b.flops().to_string());
            let sizes = b.nodes.iter().filter(|n| !n.inputs.is_empty()).flat_map(|n| &n.outputs).map(|&v| {
                let ty = b.ty(v);
                ty.dims.iter().fold(neap_optable::Dim::constant(ty.dtype.size() as i64), |p, d| p.mul(d))
            });
            report.intermediate_bytes = Some(sizes.fold(neap_optable::Dim::constant(0), |s, d| s.add(&d)).to_string());
        }
        Err(errors) => report.problems = errors.iter().map(ToString::to_string).collect(),
    }
    if args.json { super::print_json(&report) } else { super::print(&text(&report)) }
}

fn declared(v: &ValueInfo) -> Value {
    let (dtype, shape) = match &v.ty {
        ValueType::Tensor(e, dims) => {
            let dim = |(axis, d): (usize, &DimInfo)| match d {
                DimInfo::Known(n) => n.to_string(),
                DimInfo::Named(n) => n.clone(),
                DimInfo::Open => format!("{}.{axis}", v.name),
            };
            (e.to_string(), dims.iter().flatten().enumerate().map(dim).collect())
        }
        ValueType::Other(what) => (what.to_string(), vec![]),
        ValueType::Unknown => ("unknown".into(), vec![]),
    };
    Value { name: v.name.clone(), dtype, shape }
}

fn text(r: &Report) -> String {
    let mut out = format!(
        "producer    {}\nIR version  {}\n",
        if r.producer.is_empty() { "unknown" } else { &r.producer },
        r.ir_version
    );
    for (d, v) in &r.opsets {
        out.push_str(&format!("opset       {d} {v}\n"));
    }
    for (what, values) in [("input", &r.inputs), ("output", &r.outputs)] {
        for v in values {
            out.push_str(&format!("{what:11} {}: {}[{}]\n", v.name, v.dtype, v.shape.join(", ")));
        }
    }
    out.push_str(&format!(
        "weights     {} tensors, {} parameters, {}\n",
        r.weights,
        r.parameters,
        human(r.weight_bytes)
    ));
    if let Some(f) = &r.flops {
        out.push_str(&format!("FLOPs       {f}\n"));
    }
    if let Some(b) = &r.intermediate_bytes {
        let shown = b.parse().map_or_else(|_| format!("{b} bytes"), human);
        out.push_str(&format!("memory      {shown} of intermediates if none were reused\n"));
    }
    let mut ops: Vec<_> = r.ops.iter().collect();
    ops.sort_by_key(|(name, n)| (std::cmp::Reverse(**n), *name));
    out.push_str(&format!("operators   {} of {} kinds\n", ops.iter().map(|(_, n)| **n).sum::<usize>(), ops.len()));
    for (name, n) in ops {
        out.push_str(&format!("  {n:6} {name}\n"));
    }
    for p in &r.problems {
        out.push_str(&format!("problem     {p}\n"));
    }
    out
}
