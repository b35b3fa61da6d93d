//! Compiles the `gpu.module`s of a file: `device FILE sm_90a|gfx942` prints the assembly.
#![allow(clippy::print_stdout, reason = "a command-line tool")]

use neap_codegen::{GpuChip, compile_gpu, parse};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("give a file with gpu.modules")?;
    let chip = match arguments.next().as_deref() {
        Some("sm_90a") => GpuChip::Sm90a,
        Some("gfx942") => GpuChip::Gfx942,
        _ => return Err("give sm_90a or gfx942".into()),
    };
    let context = neap_mlir::context();
    println!("{}", compile_gpu(&parse(&context, &std::fs::read(file)?)?, chip)?);
    Ok(())
}
