//! The op table as Rust.

use std::fmt::Write;
use std::io::Write as _;
use std::process::{Command, Stdio};

use super::dialect::{AttrKind, Dialect, Enum, Operand};

const HEAD: &str = "//! Generated from `dialects/mlir/td` by neap-gen; do not edit.\n\n";

/// `mod.rs`.
pub fn module(dialects: &[Dialect]) -> String {
    let mut out = HEAD.to_string();
    for d in dialects {
        for part in parts(d) {
            let _ = writeln!(out, "mod {part};");
        }
    }
    out.push('\n');
    for d in dialects {
        for part in parts(d) {
            let _ = writeln!(out, "pub use {part}::*;");
        }
    }
    out
}

fn parts(d: &Dialect) -> Vec<String> {
    let kinds = (!d.enums.is_empty()).then(|| format!("{}_kinds", d.name));
    kinds.into_iter().chain([format!("{}_op", d.name)]).collect()
}

/// The enumerations of a dialect.
pub fn kinds(d: &Dialect) -> String {
    let mut out = HEAD.to_string();
    for e in &d.enums {
        kind(&mut out, e);
    }
    out
}

fn kind(out: &mut String, e: &Enum) {
    let name = &e.name;
    let case = |f: &dyn Fn(usize, &str) -> String| -> String {
        e.cases.iter().enumerate().map(|(i, c)| f(i, c)).collect::<Vec<_>>().join("\n")
    };
    let _ = write!(
        out,
        r#"/// {}.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i64)]
#[allow(missing_docs, reason = "the names are the documentation")]
pub enum {name} {{
{}
}}

impl {name} {{
    /// All cases in order.
    pub const ALL: &'static [Self] = &[{}];

    /// The keywords in the assembly, in order.
    pub const NAMES: &'static [&'static str] = &[{}];

    /// The keyword in the assembly.
    pub const fn name(self) -> &'static str {{
        Self::NAMES[self as usize]
    }}

    /// The case with this keyword.
    pub fn from_name(name: &str) -> Option<Self> {{
        Self::NAMES.iter().position(|n| *n == name).map(|i| Self::ALL[i])
    }}
}}

impl From<{name}> for i64 {{
    fn from(v: {name}) -> i64 {{
        v as i64
    }}
}}

impl TryFrom<i64> for {name} {{
    type Error = i64;
    fn try_from(v: i64) -> Result<Self, i64> {{
        usize::try_from(v).ok().and_then(|i| Self::ALL.get(i).copied()).ok_or(v)
    }}
}}

"#,
        e.summary.trim_end_matches('.'),
        case(&|i, c| format!("{} = {i},", camel(c))),
        case(&|_, c| format!("Self::{},", camel(c))),
        case(&|_, c| format!("{c:?},")),
    );
}

/// The operators of a dialect and their rows.
pub fn ops(d: &Dialect) -> String {
    let name = format!("{}Op", camel(&d.name));
    let mut out = HEAD.to_string();
    let uses_kinds = d.ops.iter().flat_map(|o| &o.attrs).filter_map(|a| match &a.kind {
        AttrKind::Enum(e) => Some(e.as_str()),
        _ => None,
    });
    let mut kinds: Vec<&str> = uses_kinds.collect();
    kinds.extend(["AttrKind", "AttrRow", "OpRow", "ValueRow"]);
    kinds.sort_unstable();
    kinds.dedup();
    let _ = writeln!(out, "use crate::{{{}}};\n", kinds.join(", "));
    let case = |f: &dyn Fn(&str, &str) -> String| -> String {
        d.ops.iter().map(|o| f(&o.name, &o.summary)).collect::<Vec<_>>().join("\n")
    };
    let _ = write!(
        out,
        r#"/// Operators of the {dialect} dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum {name} {{
{}
}}

impl {name} {{
    /// All operators in order of name.
    pub const ALL: &'static [Self] = &[{}];

    /// Mnemonic without the dialect, as in `{dialect}.<name>`.
    pub const fn name(self) -> &'static str {{
        self.row().name
    }}

    /// The operator with this mnemonic.
    pub fn from_name(name: &str) -> Option<Self> {{
        ROWS.binary_search_by(|r| r.name.cmp(name)).ok().map(|i| Self::ALL[i])
    }}

    /// What the ODS definition says of it.
    pub const fn row(self) -> &'static OpRow {{
        &ROWS[self as usize]
    }}
}}

const fn one(name: &'static str) -> ValueRow {{
    ValueRow {{ name, variadic: false, optional: false }}
}}

{}{}const fn attr(name: &'static str, kind: AttrKind) -> AttrRow {{
    AttrRow {{ name, kind, optional: false }}
}}

{}const ROWS: &[OpRow] = &["#,
        case(&|n, s| format!("/// {s}\n{},", camel(n))),
        case(&|n, _| format!("Self::{},", camel(n))),
        if d.ops.iter().any(|o| o.operands.iter().chain(&o.results).any(|v| v.variadic)) {
            "const fn many(name: &'static str) -> ValueRow {\n    ValueRow { name, variadic: true, optional: false }\n}\n\n"
        } else {
            ""
        },
        if d.ops.iter().any(|o| o.operands.iter().chain(&o.results).any(|v| v.optional)) {
            "const fn maybe(name: &'static str) -> ValueRow {\n    ValueRow { name, variadic: false, optional: true }\n}\n\n"
        } else {
            ""
        },
        if d.ops.iter().any(|o| o.attrs.iter().any(|a| a.optional)) {
            "const fn optional(name: &'static str, kind: AttrKind) -> AttrRow {\n    AttrRow { name, kind, optional: true }\n}\n\n"
        } else {
            ""
        },
        dialect = d.name,
    );
    for o in &d.ops {
        let attrs: Vec<String> = o
            .attrs
            .iter()
            .map(|a| format!("{}({:?}, {})", if a.optional { "optional" } else { "attr" }, a.name, attr_kind(&a.kind)))
            .collect();
        let _ = write!(
            out,
            "OpRow {{ name: {:?}, family: {:?}, summary: {:?}, operands: &[{}], results: &[{}], attrs: &[{}], regions: {}, \
             pure: {}, terminator: {} }},",
            o.name,
            o.family,
            o.summary,
            values(&o.operands),
            values(&o.results),
            attrs.join(", "),
            o.regions,
            o.pure,
            o.terminator
        );
    }
    out.push_str("];\n");
    out
}

fn values(list: &[Operand]) -> String {
    let call = |v: &Operand| match (v.variadic, v.optional) {
        (true, _) => "many",
        (_, true) => "maybe",
        _ => "one",
    };
    let one = |v: &Operand| format!("{}({:?})", call(v), v.name);
    list.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn attr_kind(kind: &AttrKind) -> String {
    match kind {
        AttrKind::Int => "AttrKind::Int".into(),
        AttrKind::Float => "AttrKind::Float".into(),
        AttrKind::Bool => "AttrKind::Bool".into(),
        AttrKind::Str => "AttrKind::Str".into(),
        AttrKind::Ints => "AttrKind::Ints".into(),
        AttrKind::Floats => "AttrKind::Floats".into(),
        AttrKind::Elements => "AttrKind::Elements".into(),
        AttrKind::Enum(name) => format!("AttrKind::Enum {{ name: {name:?}, cases: {name}::NAMES }}"),
        AttrKind::Other(name) => format!("AttrKind::Other({name:?})"),
    }
}

/// `gather_nd` as `GatherNd`.
fn camel(s: &str) -> String {
    s.split('_')
        .map(|p| {
            let (first, rest) = p.split_at(1.min(p.len()));
            first.to_uppercase() + rest
        })
        .collect()
}

/// Runs rustfmt with the repository's width.
pub fn format(text: &str) -> Result<String, String> {
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--config", "max_width=120,use_small_heuristics=Max"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("cannot run rustfmt: {e}"))?;
    let mut stdin = child.stdin.take().ok_or("rustfmt has a standard input")?;
    stdin.write_all(text.as_bytes()).map_err(|e| format!("rustfmt: {e}"))?;
    drop(stdin);
    let output = child.wait_with_output().map_err(|e| format!("rustfmt: {e}"))?;
    if !output.status.success() {
        return Err("rustfmt refuses the generated text".into());
    }
    String::from_utf8(output.stdout).map_err(|e| format!("rustfmt: {e}"))
}
