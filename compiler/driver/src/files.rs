//! Files are written whole or not at all: under a temporary name beside the target, then renamed. Pipes and devices, which a
//! renamed file would replace, are written straight.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::failure::{At, Failure};

/// Writes a file through `fill`.
pub fn write(path: &Path, fill: impl FnOnce(&mut BufWriter<&File>) -> std::io::Result<()>) -> Result<(), Failure> {
    if path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        let file = File::create(path).at(path.display())?;
        let mut out = BufWriter::new(&file);
        return fill(&mut out).and_then(|()| out.flush()).at(path.display());
    }
    let folder = has_folder(path)?;
    let _pending = Pending::file(path);
    let (prefix, suffix) = temporary(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(suffix);
    // As any new file; temporary ones are private otherwise.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // The error would name the temporary file, of which nobody has heard.
    let temporary = builder.tempfile_in(folder).map_err(|e| e.kind()).at(path.display())?;
    let mut out = BufWriter::new(temporary.as_file());
    fill(&mut out).and_then(|()| out.flush()).at(path.display())?;
    drop(out);
    temporary.persist(path).map_err(|e| e.error).at(path.display())?;
    Ok(())
}

/// The folder that a file is to be written into, which must be there.
pub fn has_folder(path: &Path) -> Result<&Path, Failure> {
    let folder = folder(path);
    if folder.is_dir() {
        return Ok(folder);
    }
    Err(Failure::new(format!("{}: there is no folder {}; make it first", path.display(), folder.display())))
}

/// Folders in which this process is writing under temporary names.
static PENDING: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// While it lives, [`sweep`] looks for temporary files in a file's folder.
pub struct Pending;

impl Pending {
    /// Says that a file is about to be written, by [`write`] or by the runtime's writer of artefacts.
    pub fn file(path: &Path) -> Self {
        PENDING.lock().unwrap_or_else(|e| e.into_inner()).insert(folder(path).to_path_buf());
        Pending
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// How a temporary name begins and ends; the runtime names its own likewise.
fn temporary(path: &Path) -> (String, &'static str) {
    let name: String = path.file_name().unwrap_or_default().to_string_lossy().chars().take(40).collect();
    (format!(".{name}.{}-", std::process::id()), ".tmp")
}

/// Deletes this process's temporary files: what an interrupt would leave behind.
pub fn sweep() {
    let own = format!(".{}-", std::process::id());
    for folder in PENDING.lock().unwrap_or_else(|e| e.into_inner()).iter() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') && name.contains(&own) && name.ends_with(".tmp") {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// Refuses to write over what is read, or two things to one file. Devices and pipes may be named as often as one likes.
///
/// # Errors
/// Usage, naming both: `reads` is called `what`, each of `writes` by the option it was given with.
pub fn apart(reads: &Path, what: &str, writes: &[(&str, Option<&PathBuf>)]) -> Result<(), Failure> {
    let place = |path: &Path| {
        let folder = folder(path).canonicalize().ok()?;
        path.canonicalize().ok().or_else(|| Some(folder.join(path.file_name()?)))
    };
    let mut taken: Vec<(String, Option<PathBuf>)> = vec![(what.to_string(), place(reads))];
    for (option, path) in writes.iter().filter_map(|(o, p)| p.map(|p| (o, p))) {
        if path.metadata().is_ok_and(|m| !m.is_file()) {
            continue;
        }
        let here = place(path);
        if let Some((first, _)) = taken.iter().find(|t| here.is_some() && t.1 == here) {
            return Err(Failure::usage(format!(
                "{}: {option} would replace {first}; give another {option}",
                path.display()
            )));
        }
        taken.push((format!("what {option} writes"), here));
    }
    Ok(())
}
