//! `neap doctor`: what neap finds on this machine, and whether both code generators work here.

use neap_codegen::{host_target, versions};
use neap_spec::Backend;
use serde::Serialize;
use serde_json::json;

use crate::cli::Doctor;
use crate::failure::Failure;
use crate::machine::Machine;
use neap_plan::report::human;

#[derive(Serialize)]
struct Finding {
    what: &'static str,
    found: String,
    /// Whether neap can do without mending this.
    ok: bool,
}

/// Runs the command; fails where a code generator does not work.
pub fn run(args: &Doctor) -> Result<(), Failure> {
    let mut findings = vec![];
    let mut say = |what, found: String, ok| findings.push(Finding { what, found, ok });
    let target = host_target(Backend::Llvm);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    say("neap", format!("{} for {}-{}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH, std::env::consts::OS), true);
    say("cpu", format!("{}, {cores} cores for this process, vectors of {} bits", target.cpu, target.vector_bits), true);
    if !target.fma {
        say("cpu", "no fused multiply-add: its bits are computed in software, slowly".into(), true);
    }
    say("caches", format!("L1 {}, L2 {}, L3 {}", human(target.l1), human(target.l2), human(target.l3)), true);
    if let Some(free) = available_memory() {
        say("memory", format!("{} available", human(free)), true);
    }
    let (llvm, cranelift) = versions();
    for (backend, name) in
        [(Backend::Llvm, format!("LLVM {llvm}")), (Backend::Cranelift, format!("Cranelift {cranelift}"))]
    {
        let tried = Machine::new(1, backend).and_then(|mut m| m.measure());
        match tried {
            Ok(p) => {
                let rates = format!("{:.1} GFLOP/s, {:.1} GB/s copied", p.flops / 1e9, p.bytes / 1e9);
                say("code", format!("{name}: made and ran a kernel ({rates}, one thread)"), true);
            }
            Err(e) => say("code", format!("{name}: {e}"), false),
        }
    }
    let ok = findings.iter().all(|f| f.ok);
    if args.json {
        super::print_json(&json!({"ok": ok, "findings": findings}))?;
    } else {
        let line = |f: &Finding| format!("{:4} {:8} {}\n", if f.ok { "ok" } else { "FAIL" }, f.what, f.found);
        super::print(&findings.iter().map(line).collect::<String>())?;
    }
    if ok { Ok(()) } else { Err(Failure::new("a code generator does not work on this machine; see the lines above")) }
}

/// Bytes that the kernel says a new program can have, where it says so.
fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}
