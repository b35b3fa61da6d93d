//! The linker that makes shared libraries: lld, or the system's, as found when it is needed.

use std::path::{Path, PathBuf};
use std::process::Command;

use neap_spec::CpuTarget;

use super::Names;
use crate::failure::{At, Failure};

/// How a linker is told what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// As `ld` is.
    Ld,
    /// Through a C compiler.
    Driver,
}

/// A linker of this machine.
#[derive(Debug)]
pub struct Linker {
    path: PathBuf,
    kind: Kind,
}

/// What libraries may need of the C library: the names that `support.ll` and `beside.ll` declare, and what LLVM may call.
const LIBC: &[&str] = &[
    "aligned_alloc",
    "close",
    "free",
    "lseek",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "mmap",
    "munmap",
    "open",
    "pthread_create",
    "pthread_join",
    "syscall",
    "sysconf",
];

impl Linker {
    /// The first linker on the `PATH` that links for an instruction set.
    ///
    /// # Errors
    /// Says what was looked for.
    pub fn find(arch: &str) -> Result<Linker, Failure> {
        let cross = format!("{arch}-linux-gnu-ld");
        let mut sought = vec![("ld.lld-22", Kind::Ld), ("ld.lld", Kind::Ld), (cross.as_str(), Kind::Ld)];
        if arch == std::env::consts::ARCH {
            sought.extend([("ld", Kind::Ld), ("cc", Kind::Driver)]);
        }
        let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
        for (name, kind) in &sought {
            if let Some(path) = folders.iter().map(|f| f.join(name)).find(|p| p.is_file()) {
                return Ok(Linker { path, kind: *kind });
            }
        }
        let names: Vec<&str> = sought.iter().map(|s| s.0).collect();
        Err(Failure::new(format!(
            "no linker on the PATH, looked for {}; install lld, or take --emit obj and link it elsewhere",
            names.join(", ")
        )))
    }

    /// The bytes of a shared library from its object.
    ///
    /// The C library is stood in for by a stub of its name: any version of it will do when the library is loaded, and its
    /// development files need not be here.
    pub fn shared(&self, names: &Names, object: &[u8], target: &CpuTarget, folder: &Path) -> Result<Vec<u8>, Failure> {
        let path = |name: &str| folder.join(name);
        let stub: String = LIBC.iter().map(|f| format!("define void @{f}() {{ ret void }}\n")).collect();
        let stub = neap_codegen::object(&stub, target).map_err(Failure::new)?;
        std::fs::write(path("libc.o"), stub).at("temporary folder")?;
        std::fs::write(path("library.o"), object).at("temporary folder")?;
        self.link("libc.so.6", &path("libc.so"), &[path("libc.o")])?;
        let soname = format!("lib{}.so", names.prefix);
        let soname = names.library.file_name().map_or(soname, |f| f.to_string_lossy().into_owned());
        self.link(&soname, &path("library.so"), &[path("library.o"), path("libc.so")])?;
        std::fs::read(path("library.so")).at("temporary folder")
    }

    fn link(&self, soname: &str, output: &Path, inputs: &[PathBuf]) -> Result<(), Failure> {
        let mut command = Command::new(&self.path);
        let options =
            ["-soname", soname, "-z", "noexecstack", "-z", "relro", "-z", "now", "-z", "defs", "--build-id=none"];
        match self.kind {
            Kind::Ld => command.arg("-shared").args(options),
            Kind::Driver => command.args(["-shared", "-nostdlib"]).args(options.iter().flat_map(|o| ["-Xlinker", o])),
        };
        let out = command.arg("-o").arg(output).args(inputs).output().at(self.path.display())?;
        if out.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&out.stderr);
        let said = said.lines().find(|l| !l.trim().is_empty()).unwrap_or("it says nothing").trim();
        Err(Failure::new(format!("{} could not link the library ({}): {said}", self.path.display(), out.status)))
    }
}
