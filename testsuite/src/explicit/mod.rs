//! The explicit level through both back ends: every operation, element type and vector length on random inputs gives the
//! same bits (`generated`, and `testsuite/explicit/*.mlir`), what is outside the level is refused (`explicit/illegal`), and
//! device kernels become assembly (`explicit/device`).

mod cases;

use crate::{
    exec::{Buffer, Loaded},
    files,
};
use libtest_mimic::{Failed, Trial};
use neap_codegen::{
    Elem, Emit, GpuChip, Stage, check, compile, compile_gpu, compile_source, host_target, link, named_target, parse,
};
use neap_spec::Backend;

/// Elements of each buffer.
const ELEMENTS: usize = 1024;
/// End of the parallel range: all cases step through it in vectors.
const EXTENT: i64 = 960;
/// Run-time sizes that cases may take.
const DIMS: [i64; 4] = [37, 5, 960, 3];

/// One trial a module, and one a refused case.
pub fn trials() -> Vec<Trial> {
    let mut out = Vec::new();
    let mut sources = cases::generate();
    for path in files::find("explicit", "mlir") {
        let Ok(text) = files::read(&path) else { continue };
        let name = files::name(&path);
        if name.contains("device") {
            for (chip, mark) in [(GpuChip::Sm90a, "sm_90a"), (GpuChip::Gfx942, "gfx942")] {
                let text = text.clone();
                out.push(Trial::test(format!("{name} {mark}"), move || device(&text, chip, mark)));
            }
            continue;
        }
        if !name.contains("illegal") {
            sources.push((name, text));
            continue;
        }
        for (i, case) in text.split("// -----").enumerate() {
            let case = case.to_owned();
            out.push(Trial::test(format!("{name} case {}", i + 1), move || refused(&case)));
        }
    }
    // CPUs without fma or with other vectors give the same bits too, where the module says that it is for any.
    let targets = |text: &str| match text.contains("// any cpu") {
        true => vec!["native", "x86-64-v2", "x86-64-v3"],
        false => vec!["native"],
    };
    out.push(Trial::test("explicit/link", linked));
    out.extend(sources.into_iter().map(|(name, text)| Trial::test(name, move || same_bits(&text, &targets(&text)))));
    out
}

/// A case's first line is a comment with the message that is expected.
fn refused(text: &str) -> Result<(), Failed> {
    let expected = text.trim().lines().next().and_then(|l| l.strip_prefix("// ")).ok_or("no expected message")?;
    let context = neap_mlir::context();
    let error = match parse(&context, text.as_bytes()) {
        Ok(module) => check(&module).err().ok_or("it is not refused")?,
        Err(error) => error,
    };
    let message = error.to_string();
    if message.contains(expected) { Ok(()) } else { Err(format!("found: {message}").into()) }
}

/// Objects of both back ends in one image, each with its constants; and two entries of one name.
fn linked() -> Result<(), Failed> {
    let stage = |name: &str, number: u32| {
        let numbers: Vec<String> = (0..16).map(|i| format!("{}.5", number + i)).collect();
        let list = numbers.join(", ");
        format!(
            "func.func @{name}(%o: memref<?xf32>, %begin: index, %end: index, %scratch: memref<?xi8>)
                 attributes {{neap.kernel = {{buffers = 1 : i64, dims = 0 : i64}}}} {{
               %v = arith.constant dense<[{list}]> : vector<16xf32>
               vector.store %v, %o[%begin] : memref<?xf32>, vector<16xf32>
               return
             }}"
        )
    };
    let mut objects = Vec::new();
    for (i, backend) in [Backend::Llvm, Backend::Cranelift, Backend::Llvm].into_iter().enumerate() {
        let source = stage(&format!("k{i}"), 100 * i as u32);
        objects.push(compile_source(source.as_bytes(), &host_target(backend), Emit::Object)?.object);
    }
    let image = Loaded::new(link(&objects)?)?;
    for i in 0..3u32 {
        let mut buffers = [Buffer::new(64)];
        image.call(&format!("k{i}"), &mut buffers, &[], (0, 0), &mut Buffer::new(0));
        let wanted: Vec<u8> = (0..16).flat_map(|j| ((100 * i + j) as f32 + 0.5).to_le_bytes()).collect();
        if buffers[0].bytes() != wanted {
            return Err(format!("k{i} stores other numbers").into());
        }
    }
    objects.push(objects[0].clone());
    match link(&objects) {
        Err(error) if error.to_string().contains("two entries are named k0") => Ok(()),
        other => Err(format!("two entries of one name: {other:?}").into()),
    }
}

/// Comments `// <chip>: text` say what the assembly holds.
fn device(text: &str, chip: GpuChip, mark: &str) -> Result<(), Failed> {
    let context = neap_mlir::context();
    let assembly = compile_gpu(&parse(&context, text.as_bytes())?, chip)?;
    let wanted: Vec<&str> =
        text.lines().filter_map(|l| l.strip_prefix("// ")?.strip_prefix(mark)?.strip_prefix(": ")).collect();
    match wanted.iter().find(|w| !assembly.contains(**w)) {
        None if wanted.is_empty() => Err("nothing is expected of it".into()),
        None => Ok(()),
        Some(missing) => Err(format!("no `{missing}` in\n{assembly}").into()),
    }
}

fn same_bits(text: &str, cpus: &[&str]) -> Result<(), Failed> {
    let context = neap_mlir::context();
    let module = parse(&context, text.as_bytes())?;
    let stages = check(&module)?;
    let mut loaded = Vec::new();
    let host = host_target(Backend::Llvm).features;
    for (cpu, backend) in cpus.iter().flat_map(|&cpu| [(cpu, Backend::Llvm), (cpu, Backend::Cranelift)]) {
        let target = named_target(cpu, backend)?;
        if !target.features.iter().all(|f| host.contains(f)) {
            continue;
        }
        let object = compile(&module, &target, Emit::Object)?.object;
        if compile(&module, &target, Emit::Object)?.object != object {
            return Err(format!("{backend:?} for {cpu} gives other code the second time").into());
        }
        loaded.push(Loaded::new(link(&[object])?)?);
    }
    let different: Vec<String> = stages
        .iter()
        .filter_map(|stage| compare(stage, &loaded).map(|difference| format!("@{}: {difference}", stage.name)))
        .collect();
    if different.is_empty() { Ok(()) } else { Err(different.join("\n").into()) }
}

/// The first difference from the first image's results; NaNs are equal.
fn compare(stage: &Stage, loaded: &[Loaded]) -> Option<String> {
    let results: Vec<Vec<Buffer>> = loaded
        .iter()
        .map(|image| {
            let mut buffers = inputs(stage);
            let mut scratch = Buffer::new(1 << 16);
            image.call(&stage.name, &mut buffers, &DIMS[..stage.dims], (0, EXTENT), &mut scratch);
            buffers
        })
        .collect();
    let places = (1..results.len()).flat_map(|other| stage.buffers.iter().enumerate().map(move |(i, p)| (other, i, p)));
    for (other, i, param) in places {
        let bytes = (param.elem.bits() / 8) as usize;
        let (a, b) = (results[0][i].bytes(), results[other][i].bytes());
        for (element, (x, y)) in a.chunks_exact(bytes).zip(b.chunks_exact(bytes)).enumerate() {
            if x != y && !(is_nan(param.elem, x) && is_nan(param.elem, y)) {
                let sources: Vec<String> = inputs(stage)
                    .iter()
                    .zip(&stage.buffers)
                    .map(|(b, p)| {
                        let n = (p.elem.bits() / 8) as usize;
                        format!("{:02x?}", &b.bytes()[element * n..(element + 1) * n])
                    })
                    .collect();
                return Some(format!(
                    "image {other}, buffer {i}, element {element}: {x:02x?} and {y:02x?} from {}",
                    sources.join(" ")
                ));
            }
        }
    }
    None
}

fn is_nan(elem: Elem, bytes: &[u8]) -> bool {
    match (elem, bytes) {
        (Elem::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).is_nan(),
        (Elem::F64, bytes) => bytes.try_into().is_ok_and(|b| f64::from_le_bytes(b).is_nan()),
        _ => false,
    }
}

/// Random buffers, with the values in them that go wrong most often.
fn inputs(stage: &Stage) -> Vec<Buffer> {
    const SPECIAL: [f64; 14] =
        [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-40, 3e38, 0.1];
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut fill = |elem: Elem| {
        let bytes = (elem.bits() / 8) as usize;
        let mut buffer = Buffer::new(ELEMENTS * bytes);
        for chunk in buffer.bytes_mut().chunks_exact_mut(bytes) {
            let random = next();
            let special = random % 4 == 0;
            let number = if special {
                SPECIAL[(random >> 8) as usize % SPECIAL.len()]
            } else {
                ((random >> 20) as f64 / (1u64 << 43) as f64 - 1.0) * if random % 4 == 1 { 2.0 } else { 300.0 }
            };
            match elem {
                Elem::F32 => chunk.copy_from_slice(&(number as f32).to_le_bytes()),
                Elem::F64 => chunk.copy_from_slice(&number.to_le_bytes()),
                _ if special => chunk.copy_from_slice(&((random >> 8) as i64 % 4 - 1).to_le_bytes()[..bytes]),
                _ => chunk.copy_from_slice(&(random >> 8).to_le_bytes()[..bytes]),
            }
        }
        buffer
    };
    stage.buffers.iter().map(|p| fill(p.elem)).collect()
}
