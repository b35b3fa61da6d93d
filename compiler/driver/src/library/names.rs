//! What the files and symbols of a library are called.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::cli::Emit;

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Shared library and header.
    Shared,
    /// Relocatable object and header.
    Object,
    /// Header alone.
    Header,
}

impl Form {
    /// The form that `--emit` asks for, where it asks for one.
    pub fn of(emit: Emit) -> Option<Form> {
        match emit {
            Emit::So => Some(Form::Shared),
            Emit::Obj => Some(Form::Object),
            Emit::CHeader => Some(Form::Header),
            _ => None,
        }
    }
}

/// The names of one library.
#[derive(Debug)]
pub struct Names {
    /// What is written.
    pub form: Form,
    /// What its symbols begin with, a C identifier.
    pub prefix: String,
    /// Object or shared library.
    pub library: PathBuf,
    /// Header.
    pub header: PathBuf,
    /// File of weights, where they are not in the library.
    pub weights: Option<PathBuf>,
}

impl Names {
    /// Names from the model's name and what `-o` gives.
    pub fn new(name: &str, form: Form, beside: bool, output: Option<&Path>) -> Names {
        let prefix = identifier(name);
        let usual = match form {
            Form::Shared => format!("lib{prefix}.so"),
            Form::Object => format!("{prefix}.o"),
            Form::Header => format!("{prefix}.h"),
        };
        let library = output.map_or_else(|| PathBuf::from(usual), Path::to_path_buf);
        let (header, weights) = match form {
            Form::Header => (library.clone(), library.with_file_name(format!("{prefix}.weights"))),
            _ => (library.with_file_name(format!("{prefix}.h")), library.with_file_name(format!("{prefix}.weights"))),
        };
        Names { form, prefix, header, weights: beside.then_some(weights), library }
    }

    /// The files that are written.
    pub fn written(&self) -> impl Iterator<Item = &PathBuf> {
        let all = self.form != Form::Header;
        let library = all.then_some(&self.library);
        library.into_iter().chain([&self.header]).chain(self.weights.as_ref().filter(|_| all))
    }
}

/// A C identifier that says the same: other characters become underscores.
pub fn identifier(name: &str) -> String {
    let mut out: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !out.starts_with(|c: char| c.is_ascii_alphabetic()) {
        out.insert_str(0, "m_");
    }
    out
}

/// Members of a struct for tensors of these names: identifiers, none twice, none a word of C or C++.
pub fn members<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let member = |name: &str| {
        let mut out: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        if !out.starts_with(|c: char| c.is_ascii_alphabetic()) {
            out.insert(0, 't');
        }
        if WORDS.contains(&out.as_str()) {
            out.push('_');
        }
        let base = out.clone();
        let mut n = 2;
        while !taken.insert(out.clone()) {
            out = format!("{base}_{n}");
            n += 1;
        }
        out
    };
    names.map(member).collect()
}

/// Keywords of C and C++ up to C23 and C++23, and the alternative operators.
const WORDS: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "typeof_unqual",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];
