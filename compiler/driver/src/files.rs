//! Files are written whole or not at all: under a temporary name beside the target, then renamed. Pipes and devices, which a
//! renamed file would replace, are written straight.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::failure::{At, Failure};

/// Writes a file through `fill`.
pub fn write(path: &Path, fill: impl FnOnce(&mut BufWriter<&File>) -> std::io::Result<()>) -> Result<(), Failure> {
    if path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        let file = File::create(path).at(path.display())?;
        let mut out = BufWriter::new(&file);
        return fill(&mut out).and_then(|()| out.flush()).at(path.display());
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(Failure::new(format!(
            "{}: there is no folder {}; make it first",
            path.display(),
            folder.display()
        )));
    }
    let mut builder = tempfile::Builder::new();
    // As any new file; temporary ones are private otherwise.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let temporary = builder.tempfile_in(folder).at(folder.display())?;
    let mut out = BufWriter::new(temporary.as_file());
    fill(&mut out).and_then(|()| out.flush()).at(path.display())?;
    drop(out);
    temporary.persist(path).map_err(|e| e.error).at(path.display())?;
    Ok(())
}
