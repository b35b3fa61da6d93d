//! Generates the C++ of our dialects from `td/` and compiles it.
//!
//! For each family `td/<dialect>/<family>.td` mlir-tblgen writes declarations and definitions that `cpp/<dialect>/<family>.cpp`
//! includes. One translation unit a family keeps compilation to seconds and little memory.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

type Error = Box<dyn std::error::Error>;

const DIALECTS: &[&str] = &["graph", "loop", "segment"];

fn main() -> Result<(), Error> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?).join("include");
    let llvm = llvm_prefix()?;
    for input in ["td", "cpp", "build.rs"] {
        println!("cargo:rerun-if-changed={input}");
    }

    // Where `src/ods.rs` finds the definitions.
    println!("cargo:rustc-env=NEAP_TD={}", here.join("td").display());

    let mut cc = cc::Build::new();
    cc.cpp(true)
        .std("c++17")
        .flag("-fno-rtti")
        .flag("-fno-exceptions")
        .opt_level(0)
        .debug(false)
        // MLIR's headers warn, and their assertions must not replace the library's inline functions.
        .warnings(false)
        .define("NDEBUG", None)
        .include(llvm.join("include"))
        .include(here.join("cpp"))
        .include(&out);
    let tblgen = Tblgen { bin: llvm.join("bin/mlir-tblgen"), include: [here.join("td"), llvm.join("include")] };

    for dialect in DIALECTS {
        let (td, dir) = (here.join("td").join(dialect), out.join(dialect));
        std::fs::create_dir_all(&dir)?;
        let select = format!("-dialect={dialect}");
        tblgen.run(&["-gen-dialect-decls", &select], &td.join("base.td"), &dir.join("base.dialect.h.inc"))?;
        tblgen.run(&["-gen-dialect-defs", &select], &td.join("base.td"), &dir.join("base.dialect.cpp.inc"))?;
        for family in files(&td, "td")? {
            let name = family.file_stem().and_then(|s| s.to_str()).ok_or("td file name")?.to_string();
            if name == "base" || name == *dialect {
                continue;
            }
            for (generator, suffix) in [
                ("-gen-op-decls", "ops.h.inc"),
                ("-gen-op-defs", "ops.cpp.inc"),
                ("-gen-enum-decls", "enums.h.inc"),
                ("-gen-enum-defs", "enums.cpp.inc"),
            ] {
                tblgen.run(&[generator], &family, &dir.join(format!("{name}.{suffix}")))?;
            }
        }
        cc.files(files(&here.join("cpp").join(dialect), "cpp")?);
    }
    cc.files(files(&here.join("cpp"), "cpp")?);
    cc.try_compile("neap_dialects")?;
    Ok(())
}

/// The LLVM and MLIR installation: `LLVM_PREFIX`, or what mlir-sys was told.
fn llvm_prefix() -> Result<PathBuf, Error> {
    for name in ["LLVM_PREFIX", "MLIR_SYS_220_PREFIX"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let prefix = env::var_os("LLVM_PREFIX")
        .or_else(|| env::var_os("MLIR_SYS_220_PREFIX"))
        .ok_or("neither LLVM_PREFIX nor MLIR_SYS_220_PREFIX says where LLVM and MLIR 22 are installed")?;
    Ok(PathBuf::from(prefix))
}

/// Files directly in `dir` with the extension, sorted.
fn files(dir: &Path, extension: &str) -> Result<Vec<PathBuf>, Error> {
    let mut out = vec![];
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == extension) {
            out.push(path);
        }
    }
    out.sort();
    Ok(out)
}

struct Tblgen {
    bin: PathBuf,
    include: [PathBuf; 2],
}

impl Tblgen {
    fn run(&self, args: &[&str], td: &Path, out: &Path) -> Result<(), Error> {
        let mut command = Command::new(&self.bin);
        for dir in &self.include {
            command.arg("-I").arg(dir);
        }
        let status = command
            .args(args)
            .arg(td)
            .arg("-o")
            .arg(out)
            .status()
            .map_err(|e| format!("cannot run {}: {e}", self.bin.display()))?;
        if !status.success() {
            return Err(format!("{} {args:?} {} failed", self.bin.display(), td.display()).into());
        }
        Ok(())
    }
}
