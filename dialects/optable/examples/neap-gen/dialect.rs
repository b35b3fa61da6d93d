//! What the generated files need to know of a dialect, read from `llvm-tblgen --dump-json`.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

pub struct Dialect {
    pub name: String,
    pub summary: String,
    pub enums: Vec<Enum>,
    pub ops: Vec<Op>,
}

pub struct Enum {
    pub name: String,
    pub summary: String,
    /// Keywords in the assembly; the position is the number.
    pub cases: Vec<String>,
    place: (String, u64),
}

pub struct Op {
    pub name: String,
    pub family: String,
    pub summary: String,
    pub description: String,
    pub assembly: String,
    pub operands: Vec<Operand>,
    pub results: Vec<Operand>,
    pub attrs: Vec<Attr>,
    pub regions: usize,
    pub pure: bool,
    pub terminator: bool,
}

pub struct Operand {
    pub name: String,
    pub variadic: bool,
    pub optional: bool,
}

pub struct Attr {
    pub name: String,
    pub kind: AttrKind,
    pub optional: bool,
}

#[derive(Clone)]
pub enum AttrKind {
    Int,
    Float,
    Bool,
    Str,
    Ints,
    Floats,
    Elements,
    Enum(String),
    /// Without a plain form: its ODS name.
    Other(String),
}

impl Dialect {
    /// Reads `td/<name>/<name>.td`, which includes all families.
    pub fn load(name: &str, td: &Path, llvm: &Path) -> Result<Dialect, String> {
        let file = td.join(name).join(format!("{name}.td"));
        let bin = llvm.join("bin/llvm-tblgen");
        let output = Command::new(&bin)
            .args(["--dump-json", "-I"])
            .arg(td)
            .arg("-I")
            .arg(llvm.join("include"))
            .arg(&file)
            .output()
            .map_err(|e| format!("cannot run {}: {e}", bin.display()))?;
        if !output.status.success() {
            return Err(format!("{}: {}", file.display(), String::from_utf8_lossy(&output.stderr)));
        }
        let json: Value = serde_json::from_slice(&output.stdout).map_err(|e| format!("{}: {e}", file.display()))?;
        let records = Records(&json);

        let dialect = records
            .instances("Dialect")
            .find(|d| d["name"] == name)
            .ok_or_else(|| format!("{}: no dialect {name}", file.display()))?;
        let own = |r: &&Value| r["cppNamespace"] == dialect["cppNamespace"];
        let mut enums: Vec<Enum> =
            records.instances("I32EnumAttr").filter(own).map(|r| records.enumeration(r)).collect::<Result<_, _>>()?;
        enums.sort_by(|a, b| a.place.cmp(&b.place));
        let mut ops: Vec<Op> = records
            .instances("Op")
            .filter(|r| r["opDialect"]["def"] == dialect["!name"])
            .map(|r| records.op(r))
            .collect::<Result<_, _>>()?;
        ops.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Dialect { name: name.to_string(), summary: string(dialect, "summary"), enums, ops })
    }

    pub fn find_enum(&self, name: &str) -> Option<&Enum> {
        self.enums.iter().find(|e| e.name == name)
    }
}

struct Records<'a>(&'a Value);

impl<'a> Records<'a> {
    fn instances(&self, class: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
        let json = self.0;
        let names = json["!instanceof"][class].as_array();
        names.into_iter().flatten().filter_map(Value::as_str).map(move |n| &json[n])
    }

    fn is(record: &Value, class: &str) -> bool {
        record["!superclasses"].as_array().is_some_and(|s| s.iter().any(|c| c == class))
    }

    fn enumeration(&self, r: &Value) -> Result<Enum, String> {
        let name = string(r, "className");
        let mut cases = vec![];
        for (i, case) in r["enumerants"].as_array().into_iter().flatten().enumerate() {
            let case = &self.0[case["def"].as_str().unwrap_or_default()];
            if case["value"].as_u64() != Some(i as u64) {
                return Err(format!("{name}: cases must be numbered from 0 in order"));
            }
            cases.push(string(case, "str"));
        }
        Ok(Enum { name, summary: string(r, "summary"), cases, place: place(r) })
    }

    fn op(&self, r: &Value) -> Result<Op, String> {
        let mut op = Op {
            name: string(r, "opName"),
            family: place(r).0.trim_end_matches(".td").to_string(),
            summary: string(r, "summary"),
            description: string(r, "description").trim().to_string(),
            assembly: string(r, "assemblyFormat"),
            operands: vec![],
            results: vec![],
            attrs: vec![],
            regions: r["regions"]["args"].as_array().map_or(0, Vec::len),
            pure: false,
            terminator: false,
        };
        for (record, name) in self.args(&r["arguments"]) {
            if Self::is(record, "AttrConstraint") {
                let optional = record["isOptional"].as_u64() == Some(1) || Self::is(record, "OptionalAttr");
                let base = if optional { self.def(&record["baseAttr"]) } else { record };
                let kind = Self::attr_kind(base);
                op.attrs.push(Attr { name, kind, optional });
            } else {
                op.operands.push(Self::operand(record, name));
            }
        }
        for (record, name) in self.args(&r["results"]) {
            op.results.push(Self::operand(record, name));
        }
        op.attrs.sort_by(|a, b| a.name.cmp(&b.name));
        self.traits(&r["traits"], &mut op);
        if op.summary.is_empty() {
            return Err(format!("{}: no summary", op.name));
        }
        Ok(op)
    }

    fn operand(record: &Value, name: String) -> Operand {
        Operand { name, variadic: Self::is(record, "Variadic"), optional: Self::is(record, "Optional") }
    }

    fn traits(&self, list: &Value, op: &mut Op) {
        for t in list.as_array().into_iter().flatten() {
            match t["def"].as_str() {
                Some("Pure") => op.pure = true,
                Some("Terminator") => op.terminator = true,
                _ => {}
            }
        }
    }

    fn def(&self, reference: &Value) -> &'a Value {
        &self.0[reference["def"].as_str().unwrap_or_default()]
    }

    fn args(&self, dag: &'a Value) -> Vec<(&'a Value, String)> {
        let args = dag["args"].as_array().into_iter().flatten();
        args.map(|a| (self.def(&a[0]), a[1].as_str().unwrap_or_default().to_string())).collect()
    }

    fn attr_kind(record: &Value) -> AttrKind {
        if Self::is(record, "I32EnumAttr") {
            return AttrKind::Enum(string(record, "className"));
        }
        match record["!name"].as_str().unwrap_or_default() {
            "I64Attr" => AttrKind::Int,
            "F64Attr" => AttrKind::Float,
            "BoolAttr" => AttrKind::Bool,
            "StrAttr" => AttrKind::Str,
            "DenseI64ArrayAttr" => AttrKind::Ints,
            "DenseF64ArrayAttr" => AttrKind::Floats,
            "ElementsAttr" => AttrKind::Elements,
            other => AttrKind::Other(other.to_string()),
        }
    }
}

fn string(record: &Value, field: &str) -> String {
    record[field].as_str().unwrap_or_default().to_string()
}

/// File and line of a record's definition.
fn place(record: &Value) -> (String, u64) {
    let text = record["!locs"][0].as_str().unwrap_or_default();
    let (file, line) = text.split_once(':').unwrap_or((text, "0"));
    (file.to_string(), line.parse().unwrap_or(0))
}
