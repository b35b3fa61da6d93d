//! Lays objects out into one image.

use super::{Field, ObjectCode, Place};
use crate::CodegenError;
use std::collections::BTreeMap;

/// Code and constants at their final distances; its first byte must lie at a multiple of [`Image::ALIGN`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// The bytes, to be mapped read and execute.
    pub code: Vec<u8>,
    /// Byte offset of each entry.
    pub entries: BTreeMap<String, u64>,
}

impl Image {
    /// Alignment of the first byte; a page is enough.
    pub const ALIGN: u64 = 4096;
}

/// What fills the gaps between functions: `int3`.
const TRAP: u8 = 0xcc;

/// Links objects in order: all code first, then all constants. The same objects give the same bytes.
///
/// # Errors
/// Two entries of one name, or an image of 2 GiB and more.
pub fn link(objects: &[ObjectCode]) -> Result<Image, CodegenError> {
    let mut image = Image::default();
    let mut bases: Vec<Vec<u64>> = objects.iter().map(|o| vec![0; o.sections.len()]).collect();
    for code in [true, false] {
        for (object, bases) in objects.iter().zip(&mut bases) {
            for (section, base) in object.sections.iter().zip(bases).filter(|(s, _)| s.code == code) {
                if section.align > Image::ALIGN {
                    return Err(CodegenError::bug("image", format!("a section wants alignment {}", section.align)));
                }
                let at = (image.code.len() as u64).next_multiple_of(section.align);
                image.code.resize(at as usize, if code { TRAP } else { 0 });
                image.code.extend_from_slice(&section.bytes);
                *base = at;
            }
        }
    }
    for (object, bases) in objects.iter().zip(&bases) {
        let address = |place: Place| bases[place.section] + place.offset;
        for relocation in &object.relocations {
            let at = address(relocation.place);
            let target = address(relocation.target) as i64 + relocation.addend;
            let word = image.code.get_mut(at as usize..).and_then(|b| b.first_chunk_mut::<4>());
            let word = word.ok_or_else(|| CodegenError::bug("image", "a relocation outside its section"))?;
            let filled = fill(relocation.field, u32::from_le_bytes(*word), at as i64, target);
            *word = filled.ok_or_else(|| CodegenError::bug("image", "code too large for its addresses"))?.to_le_bytes();
        }
        for (name, place) in &object.entries {
            if image.entries.insert(name.clone(), address(*place)).is_some() {
                return Err(CodegenError::bug("image", format!("two entries are named {name}")));
            }
        }
    }
    Ok(image)
}

/// The word at `at` with the way to `target` in its field; none where that does not fit. The image starts at a page.
fn fill(field: Field, word: u32, at: i64, target: i64) -> Option<u32> {
    let within = |n: i64, bits: u32| (-(1i64 << (bits - 1))..1 << (bits - 1)).contains(&n).then_some(n as u32);
    Some(match field {
        Field::Bytes => within(target - at, 32)?,
        Field::Branch => word | within((target - at) >> 2, 26)? & 0x03ff_ffff,
        Field::Page => {
            let pages = within((target >> 12) - (at >> 12), 21)?;
            word | (pages & 3) << 29 | (pages >> 2 & 0x7_ffff) << 5
        }
        Field::InPage(unit) => word | (target as u32 & 0xfff) >> unit << 10,
    })
}
