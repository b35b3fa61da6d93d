//! Reads a relocatable ELF object.

use super::{Field, ObjectCode, Place, Relocation, Section};
use crate::CodegenError;
use object::{
    Architecture, Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionIndex, SectionKind,
    elf, read::elf::ElfFile64,
};
use std::collections::HashMap;

impl ObjectCode {
    /// Takes code and constants out of an ELF object whose entries are `names`.
    ///
    /// # Errors
    /// A bug, naming the symbol, where the object needs something from outside, an absolute address or writable data.
    pub fn from_elf(bytes: &[u8], names: &[&str]) -> Result<Self, CodegenError> {
        let stage = names.join(", ");
        let bug = |reason: String| CodegenError::bug(stage.clone(), reason);
        let file: ElfFile64<'_> = ElfFile64::parse(bytes).map_err(|error| bug(error.to_string()))?;
        let mut sections = Vec::new();
        let mut numbers = HashMap::new();
        for section in file.sections() {
            let code = match section.kind() {
                SectionKind::Text => true,
                SectionKind::ReadOnlyData | SectionKind::ReadOnlyString => false,
                SectionKind::Data
                | SectionKind::UninitializedData
                | SectionKind::Tls
                | SectionKind::UninitializedTls
                    if section.size() > 0 =>
                {
                    return Err(bug(format!("section {} is writable", section.name().unwrap_or("?"))));
                }
                _ => continue,
            };
            let bytes = section.data().map_err(|error| bug(error.to_string()))?.to_vec();
            // Unwind tables would be the only readers of absolute addresses; kernels neither throw nor unwind.
            if bytes.is_empty() || section.name() == Ok(".eh_frame") {
                continue;
            }
            numbers.insert(section.index(), sections.len());
            sections.push(Section { code, align: section.align().max(1), bytes });
        }
        let place =
            |section: SectionIndex, offset: u64| numbers.get(&section).map(|&section| Place { section, offset });
        let mut relocations = Vec::new();
        for section in file.sections().filter(|s| numbers.contains_key(&s.index())) {
            for (offset, relocation) in section.relocations() {
                let RelocationTarget::Symbol(index) = relocation.target() else {
                    return Err(bug(format!("relocation at {offset:#x} has no symbol")));
                };
                let symbol = file.symbol_by_index(index).map_err(|error| bug(error.to_string()))?;
                let target = symbol
                    .section_index()
                    .and_then(|s| place(s, symbol.address()))
                    .ok_or_else(|| bug(format!("undefined symbol {}", symbol.name().unwrap_or("?"))))?;
                let flags = relocation.flags();
                let field = field(file.architecture(), flags)
                    .ok_or_else(|| bug(format!("relocation {flags:?} is not relative to the program counter")))?;
                let place = Place { section: numbers[&section.index()], offset };
                relocations.push(Relocation { place, target, addend: relocation.addend(), field });
            }
        }
        let entries = names
            .iter()
            .map(|&name| {
                let symbol = file.symbols().find(|s| s.name() == Ok(name));
                let at = symbol.and_then(|s| place(s.section_index()?, s.address()));
                at.map(|at| (name.to_owned(), at)).ok_or_else(|| bug(format!("entry {name} is not in the object")))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { sections, relocations, entries })
    }
}

/// What a relocation fills, where an image may have it.
fn field(arch: Architecture, flags: RelocationFlags) -> Option<Field> {
    let RelocationFlags::Elf { r_type } = flags else { return None };
    Some(match (arch, r_type) {
        (Architecture::X86_64, elf::R_X86_64_PC32 | elf::R_X86_64_PLT32) => Field::Bytes,
        (Architecture::Aarch64, elf::R_AARCH64_CALL26 | elf::R_AARCH64_JUMP26) => Field::Branch,
        (Architecture::Aarch64, elf::R_AARCH64_ADR_PREL_PG_HI21) => Field::Page,
        (Architecture::Aarch64, elf::R_AARCH64_ADD_ABS_LO12_NC | elf::R_AARCH64_LDST8_ABS_LO12_NC) => Field::InPage(0),
        (Architecture::Aarch64, elf::R_AARCH64_LDST16_ABS_LO12_NC) => Field::InPage(1),
        (Architecture::Aarch64, elf::R_AARCH64_LDST32_ABS_LO12_NC) => Field::InPage(2),
        (Architecture::Aarch64, elf::R_AARCH64_LDST64_ABS_LO12_NC) => Field::InPage(3),
        (Architecture::Aarch64, elf::R_AARCH64_LDST128_ABS_LO12_NC) => Field::InPage(4),
        _ => return None,
    })
}
