//! Reads a relocatable x86-64 ELF object.

use super::{ObjectCode, Place, Relocation, Section};
use crate::CodegenError;
use object::{
    Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionIndex, SectionKind, elf,
    read::elf::ElfFile64,
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
                match relocation.flags() {
                    RelocationFlags::Elf { r_type: elf::R_X86_64_PC32 | elf::R_X86_64_PLT32 } => {}
                    flags => return Err(bug(format!("relocation {flags:?} is not relative to the program counter"))),
                }
                let place = Place { section: numbers[&section.index()], offset };
                relocations.push(Relocation { place, target, addend: relocation.addend() });
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
