//! The reference page of a dialect.

use std::fmt::Write;

use super::dialect::{Attr, AttrKind, Dialect, Op, Operand};

/// A Markdown page: kinds, then operators by family.
pub fn page(d: &Dialect) -> String {
    let mut out = format!("<!-- Generated from dialects/mlir/td/{} by neap-gen; do not edit. -->\n", d.name);
    let _ = writeln!(out, "# The {} dialect\n\n{}\n", d.name, d.summary);
    let mut families: Vec<&str> = d.ops.iter().map(|o| o.family.as_str()).collect();
    families.sort_unstable();
    families.dedup();
    for family in families {
        let _ = writeln!(out, "## {family}\n");
        for o in d.ops.iter().filter(|o| o.family == family) {
            op(&mut out, d, o);
        }
    }
    while out.ends_with("\n\n") {
        out.pop();
    }
    out
}

fn op(out: &mut String, d: &Dialect, o: &Op) {
    let _ = writeln!(out, "### {}.{}\n\n{}\n", d.name, o.name, capitalised(&o.summary));
    if !o.description.is_empty() {
        let _ = writeln!(out, "{}\n", o.description);
    }
    values(out, "Operands", &o.operands);
    values(out, "Results", &o.results);
    if !o.attrs.is_empty() {
        let _ = writeln!(out, "- Attributes: {}", list(&o.attrs, |a| attr(d, a)));
    }
    if !o.assembly.is_empty() {
        let _ = writeln!(out, "- Assembly: `{}.{}` {}", d.name, o.name, code(&o.assembly));
    }
    out.push('\n');
}

fn values(out: &mut String, title: &str, list_: &[Operand]) {
    if !list_.is_empty() {
        let one = |v: &Operand| {
            format!(
                "`{}`{}",
                v.name,
                if v.variadic {
                    "..."
                } else if v.optional {
                    "?"
                } else {
                    ""
                }
            )
        };
        let _ = writeln!(out, "- {title}: {}", list(list_, one));
    }
}

fn list<T>(items: &[T], f: impl Fn(&T) -> String) -> String {
    items.iter().map(f).collect::<Vec<_>>().join(", ")
}

fn attr(d: &Dialect, a: &Attr) -> String {
    let kind = match &a.kind {
        AttrKind::Int => "integer".to_string(),
        AttrKind::Float => "float".to_string(),
        AttrKind::Bool => "bool".to_string(),
        AttrKind::Str => "string".to_string(),
        AttrKind::Ints => "integers".to_string(),
        AttrKind::Floats => "floats".to_string(),
        AttrKind::Elements => "elements".to_string(),
        AttrKind::Enum(name) => match d.find_enum(name) {
            Some(e) => list(&e.cases, |c| format!("`{c}`")).replace(", ", " | "),
            None => name.clone(),
        },
        AttrKind::Other(name) => name.clone(),
    };
    format!("`{}` ({kind}{})", a.name, if a.optional { ", optional" } else { "" })
}

/// Inline code that may hold backquotes.
fn code(s: &str) -> String {
    format!("`` {} ``", s.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn capitalised(s: &str) -> String {
    let (first, rest) = s.split_at(s.chars().next().map_or(0, char::len_utf8));
    // A name such as `exp(x)` at the start stays as it is.
    let word = s.split(' ').next().unwrap_or("");
    let plain = word.chars().all(|c| c.is_ascii_alphabetic() || c == ',' || c == ':');
    let head = if plain { first.to_uppercase() } else { first.to_string() };
    format!("{head}{rest}.")
}
