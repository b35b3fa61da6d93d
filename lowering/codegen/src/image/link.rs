//! Lays objects out into one image.

use super::{ObjectCode, Place};
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
            let distance = address(relocation.target) as i64 + relocation.addend - at as i64;
            let distance = i32::try_from(distance).map_err(|_| CodegenError::bug("image", "code of 2 GiB and more"))?;
            let field = image.code.get_mut(at as usize..at as usize + 4);
            field
                .ok_or_else(|| CodegenError::bug("image", "a relocation outside its section"))?
                .copy_from_slice(&distance.to_le_bytes());
        }
        for (name, place) in &object.entries {
            if image.entries.insert(name.clone(), address(*place)).is_some() {
                return Err(CodegenError::bug("image", format!("two entries are named {name}")));
            }
        }
    }
    Ok(image)
}
