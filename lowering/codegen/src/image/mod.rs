//! Relocation at compile time: objects in, one flat position-independent image out.
//!
//! An image is code and constants, addressed relative to the program counter only, with no undefined symbol and no
//! writable data, so that a loader maps it and jumps.

mod elf;
mod link;

pub use link::{Image, link};

/// A run of bytes that keeps its own alignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// Whether it holds instructions.
    pub(crate) code: bool,
    /// Alignment in bytes, a power of two.
    pub(crate) align: u64,
    /// Contents before relocation.
    pub(crate) bytes: Vec<u8>,
}

/// A place in an object: section and byte offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) section: usize,
    pub(crate) offset: u64,
}

/// How the distance from a place to its target is written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// x86-64: all 32 bits are the distance in bytes.
    Bytes,
    /// 64-bit Arm, `bl` and `b`: 26 bits of distance in instructions.
    Branch,
    /// 64-bit Arm, `adrp`: 21 bits of distance in pages.
    Page,
    /// 64-bit Arm, `add` and loads and stores: the target's place in its page, in units of so many bytes (as a power of two).
    InPage(u32),
}

/// A field of 32 bits to be filled with the way to `target + addend`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Relocation {
    pub(crate) place: Place,
    pub(crate) target: Place,
    pub(crate) addend: i64,
    pub(crate) field: Field,
}

/// Machine code of the stages of one module, not yet placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectCode {
    pub(crate) sections: Vec<Section>,
    pub(crate) relocations: Vec<Relocation>,
    /// Entry names and where they are.
    pub(crate) entries: Vec<(String, Place)>,
}

impl ObjectCode {
    /// Bytes of code and constants.
    pub fn size(&self) -> usize {
        self.sections.iter().map(|s| s.bytes.len()).sum()
    }

    /// Names of the entries, in order.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_str())
    }
}
