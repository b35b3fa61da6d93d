//! A damaged artefact is refused in one line or runs as before; nothing crashes.
#![cfg(target_arch = "x86_64")]

mod common;

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use common::{CODE, bytes, expected, floats, program, weights};
use neap_runtime::{Artefact, Check, Error, Model, Options, Session, artefact::write};
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

const N: u64 = 32;

fn sound(dir: &Path) -> (std::path::PathBuf, Vec<u8>) {
    let path = dir.join("m.neap");
    write(&path, &program(N), CODE, weights(N)).unwrap();
    let file = fs::read(&path).unwrap();
    (path, file)
}

/// Loads and runs; the result must be the right one, the error a single line that says what to do.
fn refused_or_right(path: &Path) -> Result<(), String> {
    match Artefact::open(path, Check::Weights).and_then(Model::new) {
        Ok(model) => {
            let (a, b) = (floats(N, 1), floats(N, 2));
            let mut y = vec![0u8; 4 * N as usize];
            let mut session = Session::new(Arc::new(model), &Options { threads: 1, ..Options::default() }).unwrap();
            session.run(&[&bytes(&a), &bytes(&b)], &mut [&mut y]).unwrap();
            assert_eq!(y, bytes(&expected(&a, &b)));
            Ok(())
        }
        Err(error) => {
            let text = error.to_string();
            assert!(text.contains("m.neap: ") && !text.contains('\n'), "{text}");
            assert!(text.contains("compile the model again") || text.contains("pass a file made by"), "{text}");
            Err(text)
        }
    }
}

#[test]
fn every_flipped_byte_is_refused_or_means_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (path, file) = sound(dir.path());
    let handle = OpenOptions::new().write(true).open(&path).unwrap();
    let mut accepted = 0;
    for (at, &byte) in file.iter().enumerate() {
        handle.write_all_at(&[byte ^ (1 << (at % 8))], at as u64).unwrap();
        accepted += usize::from(refused_or_right(&path).is_ok());
        handle.write_all_at(&[byte], at as u64).unwrap();
    }
    refused_or_right(&path).unwrap();
    let content = file.len() - accepted;
    assert!(content > 128 + CODE.len() + 4 * N as usize, "only {content} bytes were noticed");
    assert!(accepted > 0, "padding means nothing");
}

#[test]
fn every_truncation_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (path, file) = sound(dir.path());
    let handle = OpenOptions::new().write(true).open(&path).unwrap();
    for length in (0..file.len() as u64).rev() {
        handle.set_len(length).unwrap();
        assert!(refused_or_right(&path).is_err(), "{length} bytes");
    }
    assert!(matches!(Artefact::open(&path, Check::Code), Err(Error::NotArtefact { .. })));
    assert!(matches!(Artefact::open(dir.path(), Check::Code), Err(Error::NotArtefact { .. })));
    assert!(matches!(Artefact::open(dir.path().join("none"), Check::Code), Err(Error::Io { .. })));
}

/// Makes the checksums right again, so that what lies behind them is tested.
fn reseal(file: &mut [u8]) {
    let word = |file: &[u8], at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
    for section in 0..3 {
        let at = 24 + 32 * section;
        let (offset, length) = (word(file, at + 8) as usize, word(file, at + 16) as usize);
        if let Some(bytes) = offset.checked_add(length).and_then(|end| file.get(offset..end)) {
            let sum = xxh3_64(bytes);
            file[at + 24..at + 32].copy_from_slice(&sum.to_le_bytes());
        }
    }
    let sum = xxh3_64(&file[..120]);
    file[120..128].copy_from_slice(&sum.to_le_bytes());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whoever makes a program with right checksums could as well put anything into the code, so it is not run here;
    /// but opening it, and refusing it, must be safe.
    #[test]
    fn resealed_damage_never_crashes_the_loader(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (path, mut file) = sound(dir.path());
        let content = 128 + u64::from_le_bytes(file[40..48].try_into().unwrap()) as usize;
        for (index, value) in flips {
            file[8 + index.index(content - 8)] = value;
        }
        reseal(&mut file);
        fs::write(&path, &file).unwrap();
        if let Ok(artefact) = Artefact::open(&path, Check::Weights) {
            let threads = Options { threads: 1, ..Options::default() };
            let _ = Model::new(artefact).and_then(|model| Session::new(Arc::new(model), &threads));
        }
    }

    #[test]
    fn junk_is_refused(junk in prop::collection::vec(any::<u8>(), 0..300)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m.neap");
        fs::write(&path, &junk).unwrap();
        prop_assert!(refused_or_right(&path).is_err());
    }
}
