//! Compiles an explicit-level `.mlir` file, runs its first stage on seeded f32 buffers and prints time and checksum.
//!
//! `explicit FILE --buffers BYTES,BYTES,... [--dims N,...] [--extent N] [--scratch BYTES] [--backend llvm|cranelift]
//! [--cpu native|x86-64-v3|...] [--emit llvm|asm|clif] [--flops N] [--runs N]`
#![allow(clippy::print_stdout, reason = "a command-line tool")]

mod support;

use neap_codegen::{Emit, compile, link, named_target, parse};
use neap_mlir::context;
use neap_spec::Backend;
use std::{error::Error, hash::Hasher, time::Instant};
use support::{Buffer, Loaded, fill_f32};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        let at = arguments.iter().position(|a| a.strip_prefix("--") == Some(name))?;
        arguments.get(at + 1).map(String::as_str)
    };
    let numbers = |name: &str| -> Result<Vec<i64>, std::num::ParseIntError> {
        option(name).unwrap_or("").split(',').filter(|t| !t.is_empty()).map(str::parse).collect()
    };
    let number = |name: &str, default: i64| -> Result<i64, std::num::ParseIntError> {
        option(name).map_or(Ok(default), str::parse)
    };
    let file = arguments.first().ok_or("give an explicit-level .mlir file")?;
    let backend = match option("backend") {
        None | Some("llvm") => Backend::Llvm,
        Some("cranelift") => Backend::Cranelift,
        Some(other) => return Err(format!("no back end {other}").into()),
    };
    let emit = match option("emit") {
        None => Emit::Object,
        Some("llvm") => Emit::Llvm,
        Some("asm") => Emit::Asm,
        Some("clif") => Emit::Clif,
        Some(other) => return Err(format!("cannot emit {other}").into()),
    };
    let target = named_target(option("cpu").unwrap_or("native"), backend)?;
    let context = context();
    let module = parse(&context, &std::fs::read(file)?)?;
    let start = Instant::now();
    let compiled = compile(&module, &target, emit)?;
    let compile_ms = start.elapsed().as_secs_f64() * 1e3;
    if let Some(text) = &compiled.text {
        println!("{text}");
    }
    let entry = compiled.object.entries().next().ok_or("no stage in the file")?.to_owned();
    println!("@{entry}: {} bytes, compiled in {compile_ms:.1} ms for {}", compiled.object.size(), target.cpu);
    let sizes = numbers("buffers")?;
    if sizes.is_empty() {
        return Ok(());
    }
    let loaded = Loaded::new(link(&[compiled.object])?)?;
    let mut buffers: Vec<Buffer> = sizes.iter().map(|&n| Buffer::new(n as usize)).collect();
    for (i, buffer) in buffers.iter_mut().enumerate() {
        fill_f32(buffer.bytes_mut(), i as u64 + 1);
    }
    let dims = numbers("dims")?;
    let range = (0, number("extent", 1)?);
    let mut scratch = Buffer::new(number("scratch", 0)? as usize);
    loaded.call(&entry, &mut buffers, &dims, range, &mut scratch);
    let mut sums = Vec::new();
    for buffer in &buffers {
        let mut hasher = std::collections::hash_map::DefaultHasher::new();
        hasher.write(buffer.bytes());
        sums.push(format!("{:016x} (sum {})", hasher.finish(), buffer.f32s().map(f64::from).sum::<f64>()));
    }
    println!("checksums {}", sums.join(", "));
    let mut times: Vec<f64> = (0..number("runs", 20)?)
        .map(|_| {
            let start = Instant::now();
            loaded.call(&entry, &mut buffers, &dims, range, &mut scratch);
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    if let (Some(min), Some(median)) = (times.first(), times.get(times.len() / 2)) {
        let rate =
            option("flops").and_then(|f| f.parse::<f64>().ok()).map(|f| format!(", {:.1} GFLOP/s", f / min / 1e6));
        println!("min {min:.4} ms, median {median:.4} ms{}", rate.unwrap_or_default());
    }
    Ok(())
}
