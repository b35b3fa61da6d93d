//! The zoo's small models: the same artefact each time, the same bits on every back end and any number of threads, with and
//! without fusion, and the reference's results.

use libtest_mimic::Trial;

use crate::neap::Place;

/// One trial a model.
pub fn trials() -> Vec<Trial> {
    neap_zoo::list().iter().map(|m| Trial::test(format!("cli zoo {}", m.name), move || Ok(check(m.name)?))).collect()
}

fn check(name: &str) -> Result<(), String> {
    let place = Place::new()?;
    place.succeed(&format!("zoo {name} --small -o model.onnx"))?;
    place.succeed(&format!("zoo {name} --small -o again.onnx"))?;
    if place.read("model.onnx")? != place.read("again.onnx")? {
        return Err("the zoo writes another model the second time".into());
    }
    let mut first: Option<(String, Vec<Vec<u8>>)> = None;
    for backend in ["cranelift", "llvm"] {
        place.succeed(&format!("compile model.onnx --backend {backend} -o model.neap"))?;
        place.succeed(&format!("compile model.onnx --backend {backend} -o again.neap"))?;
        if place.read("model.neap")? != place.read("again.neap")? {
            return Err(format!("{backend} gives another artefact the second time"));
        }
        for threads in ["1", "2", "2 --poison"] {
            let how = format!("{backend}, threads {threads}");
            place.succeed(&format!("run model.neap --random 7 --threads {threads} --output-dir out"))?;
            let outputs =
                place.left()?.iter().map(|n| place.read(&format!("out/{n}"))).collect::<Result<Vec<_>, _>>()?;
            match &first {
                None => first = Some((how, outputs)),
                Some((other, expected)) if *expected != outputs => {
                    return Err(format!("{how} gives other bits than {other}"));
                }
                Some(_) => {}
            }
        }
    }
    place.succeed("run model.onnx --random 7 --no-fusion --output-dir out")?;
    let apart = place.left()?.iter().map(|n| place.read(&format!("out/{n}"))).collect::<Result<Vec<_>, _>>()?;
    if first.is_some_and(|(_, fused)| fused != apart) {
        return Err("fused kernels give other bits than one kernel an operator".into());
    }
    let verified = place.json("verify model.onnx --backend llvm")?;
    if verified["ok"] != true {
        return Err(format!("does not agree with the reference: {verified}"));
    }
    Ok(())
}
