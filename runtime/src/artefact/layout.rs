//! The `.neap` container: a fixed little-endian header, then three sections.
//!
//! ```text
//!   0  magic                    8 bytes
//!   8  format version           u32
//!  12  number of sections       u32, always 3
//!  16  bytes of the whole file  u64
//!  24  3 x section              kind u64, offset u64, length u64, checksum u64
//! 120  checksum of bytes 0..120 u64
//! 128  program                  postcard
//!  ..  code                     starts on a page, so that it can be mapped read+execute from the file
//!  ..  weights                  starts on a page; each block starts at a multiple of 64 bytes
//! ```
//!
//! Checksums are XXH3-64. The bytes between sections are zero and mean nothing.

use xxhash_rust::xxh3::xxh3_64;

/// First bytes of every artefact; like PNG's, they break when a transfer mangles line ends.
pub(super) const MAGIC: [u8; 8] = *b"NEAP\r\n\x1a\n";

/// Version of the format, changed whenever the container or [`crate::program`] changes.
pub(super) const VERSION: u32 = 2;

/// Bytes of the header.
pub(super) const HEADER: usize = 128;

/// Alignment of the code and weight sections in the file.
pub(super) const PAGE: u64 = 4096;

/// What a section holds, in file order; the discriminant is its kind in the header.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Program = 0,
    Code = 1,
    Weights = 2,
}

impl Kind {
    pub(super) const ALL: [Kind; 3] = [Kind::Program, Kind::Code, Kind::Weights];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Kind::Program => "program",
            Kind::Code => "code",
            Kind::Weights => "weights",
        }
    }
}

/// Where a section lies in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) checksum: u64,
}

/// The header without magic and version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) file_length: u64,
    /// By [`Kind`].
    pub(super) sections: [Section; 3],
}

/// Why bytes are no header.
pub(super) enum Refusal {
    /// Something else than an artefact.
    Foreign(&'static str),
    /// Another format version.
    Version(u32),
    /// An artefact, but broken.
    Damaged(String),
}

impl Header {
    pub(super) fn section(&self, kind: Kind) -> Section {
        self.sections[kind as usize]
    }

    pub(super) fn encode(&self) -> [u8; HEADER] {
        let mut bytes = [0u8; HEADER];
        let mut at = 0;
        let mut put = |field: &[u8]| {
            bytes[at..at + field.len()].copy_from_slice(field);
            at += field.len();
        };
        put(&MAGIC);
        put(&VERSION.to_le_bytes());
        put(&(Kind::ALL.len() as u32).to_le_bytes());
        put(&self.file_length.to_le_bytes());
        for kind in Kind::ALL {
            let s = self.section(kind);
            for word in [kind as u64, s.offset, s.length, s.checksum] {
                put(&word.to_le_bytes());
            }
        }
        let sum = xxh3_64(&bytes[..HEADER - 8]);
        bytes[HEADER - 8..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Reads the header of a file and checks that its sections lie in order inside it.
    pub(super) fn decode(file: &[u8]) -> Result<Header, Refusal> {
        if file.is_empty() {
            return Err(Refusal::Foreign("it is empty"));
        }
        let shared = file.len().min(MAGIC.len());
        if file[..shared] != MAGIC[..shared] {
            return Err(Refusal::Foreign("it does not start as one"));
        }
        if file.len() < HEADER {
            return Err(Refusal::Damaged(format!("it is cut off after {} bytes", file.len())));
        }
        let version = u32::from_le_bytes([file[8], file[9], file[10], file[11]]);
        if version != VERSION {
            return Err(Refusal::Version(version));
        }
        let word = |at: usize| file[at..at + 8].iter().rev().fold(0u64, |w, &b| w << 8 | u64::from(b));
        if xxh3_64(&file[..HEADER - 8]) != word(HEADER - 8) {
            return Err(Refusal::Damaged("the checksum of its header is wrong".into()));
        }
        let mut header = Header { file_length: word(16), ..Header::default() };
        let mut end = HEADER as u64;
        for kind in Kind::ALL {
            let at = 24 + 32 * kind as usize;
            let section = Section { offset: word(at + 8), length: word(at + 16), checksum: word(at + 24) };
            let stop = section.offset.checked_add(section.length);
            if word(at) != kind as u64 || section.offset < end || stop.is_none_or(|s| s > header.file_length) {
                return Err(Refusal::Damaged(format!("its {} section is misplaced", kind.name())));
            }
            if kind != Kind::Program && !section.offset.is_multiple_of(PAGE) {
                return Err(Refusal::Damaged(format!("its {} section does not start on a page", kind.name())));
            }
            end = section.offset + section.length;
            header.sections[kind as usize] = section;
        }
        if file.len() as u64 != header.file_length {
            let found = file.len();
            return Err(Refusal::Damaged(format!("it has {found} bytes, its header says {}", header.file_length)));
        }
        Ok(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_round_trips() {
        let mut header = Header { file_length: 8192, ..Header::default() };
        header.sections[0] = Section { offset: 128, length: 9, checksum: 1 };
        header.sections[1] = Section { offset: 4096, length: 10, checksum: 2 };
        header.sections[2] = Section { offset: 8192, length: 0, checksum: 3 };
        let mut file = header.encode().to_vec();
        file.resize(8192, 0);
        assert!(matches!(Header::decode(&file), Ok(h) if h == header));
        file.push(0);
        assert!(matches!(Header::decode(&file), Err(Refusal::Damaged(_))));
    }

    #[test]
    fn versions_and_foreign_files_are_told_apart() {
        let mut file = Header::default().encode();
        file[8] = 9;
        assert!(matches!(Header::decode(&file), Err(Refusal::Version(9))));
        assert!(matches!(Header::decode(b"\xff\xd8\xff\xe0"), Err(Refusal::Foreign(_))));
        assert!(matches!(Header::decode(b"NEAP"), Err(Refusal::Damaged(_))));
    }
}
