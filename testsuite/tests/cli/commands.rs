//! What each command does when all is well.

use libtest_mimic::Trial;

use crate::models::*;
use crate::neap::Place;
use crate::numpy::{floats, npz, read_floats};

/// The trials.
pub fn trials() -> Vec<Trial> {
    type Row = (&'static str, fn() -> Result<(), String>);
    let rows: [Row; 12] = [
        ("outputs are named after the model's", names),
        ("a model and its artefact give the same", model_and_artefact),
        ("open dims by name, by place and from inputs", dims),
        ("--json prints one object", json),
        ("--emit prints every level", emit),
        ("profile by launch, by kernel and as a trace", profile),
        ("doctor, completions and manual pages", about_itself),
        ("--color always shows the line at fault", excerpts),
        ("--timing and --dump-ir-after", timing),
        ("stored inputs of both spellings", stored),
        ("a chain of 50,000 operators", long_chain),
        ("neap-opt runs a pipeline", opt),
    ];
    rows.into_iter().map(|(name, f)| Trial::test(format!("cli {name}"), move || Ok(f()?))).collect()
}

fn expect<T: PartialEq + std::fmt::Debug>(found: T, expected: T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("found {found:?}, expected {expected:?}")) }
}

fn names() -> Result<(), String> {
    let place = Place::new()?;
    let m = with(model(vec![node("Relu", &["x"], &["a/b:0"]), node("Neg", &["x"], &["é .-_Z9"])]), |g| {
        g.output = vec![value("a/b:0", &sizes(&[2, 3])), value("é .-_Z9", &sizes(&[2, 3]))];
    });
    place.write("model.onnx", bytes(&m))?;
    place.write("x.npy", floats(&[2, 3], &[1.0, -2.0, 0.0, -0.5, 7.0, f32::INFINITY]))?;
    place.succeed("run model.onnx --backend cranelift --input x=x.npy --output-dir out")?;
    expect(place.left()?, vec!["_ .-_Z9.npy".replace(' ', "_"), "a_b_0.npy".into()])?;
    expect(read_floats(&place.read("out/a_b_0.npy")?), vec![1.0, 0.0, 0.0, 0.0, 7.0, f32::INFINITY])?;
    // A folder that is not there yet is made.
    place.succeed("run model.onnx --backend cranelift --input x=x.npy --output-dir deep/er")?;
    expect(place.read("deep/er/a_b_0.npy")?, place.read("out/a_b_0.npy")?)
}

fn model_and_artefact() -> Result<(), String> {
    let place = Place::new()?;
    place.write("model.onnx", bytes(&relu()))?;
    // Without -o: in this folder, named after the model.
    place.succeed("compile model.onnx")?;
    place.succeed("run model.neap --random 3 --output-dir out")?;
    place.succeed("run model.onnx --random 3 --output-dir again --threads 2 --poison")?;
    expect(place.read("out/y.npy")?, place.read("again/y.npy")?)?;
    place.succeed("run model.neap --random 4 --output-dir again")?;
    if place.read("out/y.npy")? == place.read("again/y.npy")? {
        return Err("another seed gives the same inputs".into());
    }
    Ok(())
}

fn dims() -> Result<(), String> {
    let place = Place::new()?;
    place.write("open.onnx", bytes(&open_sum()))?;
    place.write("in.npz", npz(&[("a", floats(&[2, 3], &[1.0; 6])), ("b", floats(&[2, 3], &[2.5; 6]))]))?;
    place.succeed("run open.onnx --backend cranelift --inputs in.npz --output-dir out")?;
    expect(read_floats(&place.read("out/c.npy")?), vec![3.5; 6])?;
    for dims in ["--dim n=2", "--dim a.0=2 --dim b.0=2", "--dim n=2 --dim b.0=2"] {
        place.succeed(&format!("compile open.onnx --backend cranelift {dims} -o open.neap"))?;
        place.succeed("run open.neap --inputs in.npz --output-dir out")?;
        expect(read_floats(&place.read("out/c.npy")?), vec![3.5; 6])?;
    }
    let missing = place.refuse("compile open.onnx -o nothing.neap", 1);
    // `out` holds results by now; the message is what counts here.
    match missing {
        Err(e) if e.contains("--dim 'n=1'") => Ok(()),
        other => Err(format!("expected the missing dim to be named, found {other:?}")),
    }
}

fn json() -> Result<(), String> {
    let place = Place::new()?;
    place.succeed("zoo mobilenet-v2 --small -o model.onnx")?;
    let rows: [(&str, &[&str]); 8] = [
        ("compile model.onnx --backend cranelift -o m.neap", &["output", "arena_bytes", "kernels", "compile_ms"]),
        ("run m.neap --random 1 --output-dir out", &["outputs"]),
        (
            "bench m.neap --runs 3 --threads 2",
            &["median_ms", "min_ms", "p99_ms", "threads", "runs", "arena_bytes", "load_ms"],
        ),
        ("profile m.neap --runs 3", &["median_ms", "between_ms", "peak_gflops", "peak_gbytes", "kernels"]),
        ("verify model.onnx --backend cranelift", &["ok", "max_abs_diff", "max_rel_diff", "first_mismatch"]),
        ("inspect model.onnx", &["ops", "opsets", "inputs", "outputs", "weights", "flops"]),
        ("zoo bert-base --small -o bert.onnx", &["output"]),
        ("zoo list", &["models"]),
    ];
    for (args, keys) in rows {
        let v = place.json(args)?;
        if let Some(key) = keys.iter().find(|k| v.get(**k).is_none()) {
            return Err(format!("`neap {args} --json` lacks `{key}`: {v}"));
        }
    }
    let bench = place.json("bench m.neap --runs 3 --threads 2")?;
    expect(bench["runs"].as_u64(), Some(3))?;
    expect(bench["threads"].as_u64(), Some(2))?;
    if bench["min_ms"].as_f64() > bench["median_ms"].as_f64() || bench["median_ms"].as_f64() > bench["p99_ms"].as_f64()
    {
        return Err(format!("min, median and p99 are out of order: {bench}"));
    }
    expect(place.json("verify model.onnx --backend cranelift")?["ok"].as_bool(), Some(true))
}

fn excerpts() -> Result<(), String> {
    let place = Place::new()?;
    let long = format!("{{\"tensors\": [{}], \"é\": 1}}", "{\"name\": \"x\", \"size\": 1}, ".repeat(2000));
    let files = [
        ("two.json", "{\"tensors\": [],\n  \"oops\": 1}".to_string(), "\"oops\": 1"),
        ("long.json", long, "\"size\": 1"),
        ("two.csv", "id,lower,upper,size\n\na,3,1,5\n".to_string(), "a,3,1,5"),
        ("cut.json", "{\n\n".to_string(), "cut.json"),
    ];
    for (name, text, part) in files {
        place.write(name, text)?;
        let plain = place.neap(&format!("plan {name}"))?;
        let colour = place.neap(&format!("plan {name} --color always"))?;
        let ok = plain.code == 1
            && plain.stderr.lines().count() == 1
            && plain.stderr.starts_with(&format!("error: {name}:"));
        if !ok
            || colour.code != 1
            || !colour.stderr.contains(part)
            || !colour.stderr.contains('\u{1b}')
            || colour.stderr.len() > 2000
        {
            return Err(format!("{name}: {plain:?}\n{colour:?}"));
        }
    }
    Ok(())
}

fn about_itself() -> Result<(), String> {
    let place = Place::new()?;
    let doctor = place.json("doctor")?;
    expect(doctor["ok"].as_bool(), Some(true))?;
    let code = doctor["findings"].as_array().into_iter().flatten().filter(|f| f["what"] == "code").count();
    expect(code, 2)?;
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = place.succeed(&format!("completions {shell}"))?;
        if !text.contains("recompute-limit") {
            return Err(format!("{shell}'s completions lack options:\n{text}"));
        }
    }
    place.succeed("man --output-dir out")?;
    let pages = place.left()?;
    for name in ["neap.1", "neap-compile.1", "neap-plan.1", "neap-profile.1"] {
        if !pages.iter().any(|p| p == name) {
            return Err(format!("{name} is not among {pages:?}"));
        }
    }
    let page = String::from_utf8_lossy(&place.read("out/neap-compile.1")?).into_owned();
    if page.contains("target\\-cpu") { Ok(()) } else { Err(format!("neap-compile.1 lacks an option:\n{page}")) }
}

fn profile() -> Result<(), String> {
    let place = Place::new()?;
    place.succeed("zoo bert-base --small -o bert.onnx")?;
    place.succeed("compile bert.onnx -o bert.neap")?;
    let launches = place.json("profile bert.neap --runs 5 --trace trace.json")?;
    let kernels = place.json("profile bert.neap --runs 5 --by kernel --threads 2")?;
    let rows = |v: &serde_json::Value| v["kernels"].as_array().cloned().ok_or_else(|| "no kernels".to_string());
    let sum = |v: &serde_json::Value, key: &str| -> Result<f64, String> {
        Ok(rows(v)?.iter().filter_map(|r| r[key].as_f64()).sum())
    };
    for key in ["flops", "bytes", "launches"] {
        expect(sum(&launches, key)?, sum(&kernels, key)?)?;
    }
    expect(sum(&launches, "flops")?, launches["flops"].as_f64().unwrap_or_default())?;
    if rows(&kernels)?.len() >= rows(&launches)?.len() {
        return Err("layers of one shape do not share kernels".into());
    }
    for v in [&launches, &kernels] {
        let share = sum(v, "share")?;
        let whole = sum(v, "mean_ms")? + v["between_ms"].as_f64().unwrap_or_default();
        let peaks = v["peak_gflops"].as_f64() > Some(0.1) && v["peak_gbytes"].as_f64() > Some(0.1);
        if (share - 1.0).abs() > 1e-6 || whole <= 0.0 || !peaks {
            return Err(format!("shares add up to {share}, times to {whole} ms: {v}"));
        }
    }
    let trace: serde_json::Value = serde_json::from_slice(&place.read("trace.json")?).map_err(|e| e.to_string())?;
    let events = trace["traceEvents"].as_array().ok_or("no events")?;
    expect(events.iter().filter(|e| e["ph"] == "X").count(), rows(&launches)?.len())?;
    let table = place.succeed("profile bert.neap --runs 5 --top 3")?;
    if !table.contains("/MatMul") || !table.contains("--top 0 shows all") {
        return Err(format!("the table lacks ONNX names or what it leaves out:\n{table}"));
    }
    Ok(())
}

fn emit() -> Result<(), String> {
    let place = Place::new()?;
    place.write("model.onnx", bytes(&relu()))?;
    for (level, backend, part) in [
        ("mlir-graph", "llvm", "graph.unary"),
        ("mlir-loop", "llvm", "loop."),
        ("mlir-scf", "llvm", "func.func"),
        ("mlir-segment", "llvm", "segment.launch"),
        ("llvm", "llvm", "define "),
        ("asm", "llvm", "ret"),
        ("clif", "cranelift", "function"),
    ] {
        let text = place.succeed(&format!("compile model.onnx --backend {backend} --emit {level}"))?;
        if !text.contains(part) {
            return Err(format!("--emit {level} lacks `{part}`:\n{text}"));
        }
        place.succeed(&format!("compile model.onnx --backend {backend} --emit {level} -o text"))?;
        expect(place.read("text")?, text.into_bytes())?;
    }
    if place.path("model.neap").exists() {
        return Err("--emit writes an artefact too".into());
    }
    Ok(())
}

fn timing() -> Result<(), String> {
    let place = Place::new()?;
    place.write("model.onnx", bytes(&relu()))?;
    let args = "compile model.onnx --backend cranelift -o m.neap --timing --dump-ir-after all --dump-ir-dir ir";
    let out = place.neap(args)?;
    for phase in ["import", "graph-fuse", "plan", "code", "write"] {
        if !out.stderr.contains(phase) {
            return Err(format!("--timing lacks {phase}:\n{}", out.stderr));
        }
    }
    let dumps = std::fs::read_dir(place.path("ir")).map_err(|e| e.to_string())?.count();
    if dumps < 4 { Err(format!("only {dumps} dumps")) } else { Ok(()) }
}

fn stored() -> Result<(), String> {
    let place = Place::new()?;
    place.write("model.onnx", bytes(&relu()))?;
    let x = floats(&[2, 3], &[-1.0, 2.0, -3.0, 4.0, -5.0, 6.0]);
    place.write("plain.npz", npz(&[("x", x.clone())]))?;
    place.write("stored.npz", npz(&[("in:x", x), ("out:y", floats(&[1], &[9.0]))]))?;
    for file in ["plain", "stored"] {
        place.succeed(&format!("run model.onnx --backend cranelift --inputs {file}.npz --output-dir out"))?;
        expect(read_floats(&place.read("out/y.npy")?), vec![0.0, 2.0, 0.0, 4.0, 0.0, 6.0])?;
    }
    Ok(())
}

fn long_chain() -> Result<(), String> {
    let place = Place::new()?;
    let count = 50_000;
    let name = |i: usize| if i == 0 { "x".to_string() } else { format!("v{i}") };
    let nodes = (0..count).map(|i| {
        let op = if i % 2 == 0 { "Tanh" } else { "Sigmoid" };
        node(op, &[&name(i)], &[&name(i + 1)])
    });
    let m = with(model(nodes.collect()), |g| g.output[0] = value(&name(count), &sizes(&[2, 3])));
    place.write("model.onnx", bytes(&m))?;
    place.succeed("compile model.onnx --backend cranelift -o model.neap")?;
    place.succeed("run model.neap --random 1 --output-dir out")?;
    // tanh and sigmoid in turn run into their fixed point, sigmoid(tanh(v)) = v.
    let found = read_floats(&place.read("out/v50000.npy")?);
    let fixed = (0..1000).fold(0.5f64, |v, _| 1.0 / (1.0 + (-v.tanh()).exp()));
    if found.len() == 6 && found.iter().all(|v| (f64::from(*v) - fixed).abs() < 1e-6) {
        Ok(())
    } else {
        Err(format!("found {found:?}, expected {fixed}"))
    }
}

fn opt() -> Result<(), String> {
    let neap = crate::neap::binary()?;
    let file = neap.with_file_name(format!("neap-opt{}", std::env::consts::EXE_SUFFIX));
    let out = std::process::Command::new(file).arg("--list-passes").output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    if out.status.success() && text.contains("graph-fuse") { Ok(()) } else { Err(text) }
}
