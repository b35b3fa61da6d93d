//! Artefacts that are damaged, foreign, or made for another machine.

use libtest_mimic::Trial;
use neap_runtime::program::Program;

use crate::models::*;
use crate::neap::{Place, snapshot};

/// Bits flipped, evenly over the file.
const FLIPS: usize = 120;

/// The trials.
pub fn trials() -> Vec<Trial> {
    let mut out = vec![];
    type Damage = (&'static str, fn(&mut Vec<u8>));
    let damages: [Damage; 8] = [
        ("emptied", Vec::clear),
        ("one byte", |b| b.truncate(1)),
        ("header only", |b| b.truncate(64)),
        ("half", |b| b.truncate(b.len() / 2)),
        ("one byte short", |b| b.truncate(b.len() - 1)),
        ("one byte long", |b| b.push(0)),
        ("junk", |b| *b = b"hello, world".repeat(1000)),
        ("another version", |b| b[8] = 99),
    ];
    for (name, damage) in damages {
        out.push(Trial::test(format!("cli bad artefact: {name}"), move || {
            let place = compiled()?;
            let mut bytes = place.read("model.neap")?;
            damage(&mut bytes);
            place.write("model.neap", bytes)?;
            let lines = place.refuse("run model.neap --random 1 --output-dir out", 1)?;
            snapshot(&format!("bad-artefact-{}", name.replace(' ', "-")), &lines);
            Ok(())
        }));
    }
    for (name, edit) in [
        ("a feature this machine lacks", (|p| p.features.push("quantum".into())) as fn(&mut Program)),
        ("another architecture", |p| p.arch = "pdp11".into()),
    ] {
        out.push(Trial::test(format!("cli bad artefact: {name}"), move || {
            let place = Place::new()?;
            let mut program = nothing();
            edit(&mut program);
            let none: [&[u8]; 0] = [];
            neap_runtime::artefact::write(&place.path("model.neap"), &program, &[0xc3], none)
                .map_err(|e| e.to_string())?;
            let lines = place.refuse("run model.neap --output-dir out", 1)?;
            snapshot(&format!("bad-artefact-{}", name.replace(' ', "-")), &lines);
            Ok(())
        }));
    }
    out.push(Trial::test("cli bad artefact: any bit flipped", || Ok(flipped()?)));
    out.push(Trial::test("cli artefact is no model", || {
        let place = compiled()?;
        for (name, args) in [
            ("compile", "compile model.neap -o out/again.neap"),
            ("verify", "verify model.neap"),
            ("inspect", "inspect model.neap"),
        ] {
            snapshot(&format!("artefact-to-{name}"), &place.refuse(args, 1)?);
        }
        snapshot("artefact-with-dim", &place.refuse("run model.neap --random 1 --dim n=3", 2)?);
        Ok(())
    }));
    out
}

/// A folder with `model.neap`: a matrix product by a weight.
fn compiled() -> Result<Place, String> {
    let place = Place::new()?;
    let m = with(model(vec![node("MatMul", &["x", "w"], &["p"]), node("Relu", &["p"], &["y"])]), |g| {
        g.initializer.push(tensor("w", &[3, 3], &[1.0, -2.0, 3.0, 0.5, 0.25, -1.0, 4.0, 1.5, -0.5]));
    });
    place.write("model.onnx", bytes(&m))?;
    place.succeed("compile model.onnx --backend cranelift -o model.neap")?;
    Ok(place)
}

/// A program that computes nothing.
fn nothing() -> Program {
    Program {
        model: "nothing".into(),
        backend: "llvm".into(),
        arch: std::env::consts::ARCH.into(),
        cpu: "any".into(),
        features: vec![],
        inputs: vec![],
        outputs: vec![],
        arena_bytes: 0,
        held: vec![],
        launches: vec![],
    }
}

/// Every flip is found, or (between the sections) changes nothing.
fn flipped() -> Result<(), String> {
    let place = compiled()?;
    let whole = place.read("model.neap")?;
    let run = "run model.neap --random 1 --output-dir out";
    place.succeed(run)?;
    let expected = place.read("out/y.npy")?;
    let mut found = 0;
    for i in 0..FLIPS {
        // The header, where each byte counts, and then all of the file.
        let at = if i < FLIPS / 3 { i * 2 } else { (i * 7919 * 61) % whole.len() };
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (i % 8);
        place.write("model.neap", bytes)?;
        let _ = std::fs::remove_file(place.path("out/y.npy"));
        if place.neap(run)?.code == 0 {
            if place.read("out/y.npy")? != expected {
                return Err(format!("bit {} of byte {at} flipped gives other results", i % 8));
            }
            continue;
        }
        found += 1;
        place.refuse(run, 1).map_err(|e| format!("byte {at}: {e}"))?;
    }
    if found > FLIPS / 4 { Ok(()) } else { Err(format!("only {found} of {FLIPS} flips were found")) }
}
