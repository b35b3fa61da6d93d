//! One stage for each operation, element type and vector length.

/// A lane-by-lane operation: what it reads, what it writes and its text, in which `A`, `B`, `C` are the operands' types
/// and `O` the result's, `%a`, `%b`, `%c` the operands and `%r` the result.
struct Case {
    name: String,
    ins: Vec<&'static str>,
    out: &'static str,
    body: String,
}

/// Vector lengths; 1 stands for scalars. 3 and 5 leave part of a register unused.
const LANES: [u32; 7] = [1, 2, 4, 8, 16, 3, 5];
const INTS: [&str; 4] = ["i8", "i16", "i32", "i64"];
const FLOATS: [&str; 2] = ["f32", "f64"];

/// Name and text of each generated module.
pub(super) fn generate() -> Vec<(String, String)> {
    let cases = cases();
    LANES
        .iter()
        .flat_map(|&lanes| {
            let stages: Vec<String> = cases.iter().map(|case| stage(case, lanes)).collect();
            let parts: Vec<String> = stages.chunks(64).map(|c| c.join("")).collect();
            parts
                .into_iter()
                .enumerate()
                .map(move |(i, text)| (format!("explicit/generated, {lanes} lanes, part {i}"), text))
        })
        .collect()
}

fn case(name: impl Into<String>, ins: &[&'static str], out: &'static str, body: impl Into<String>) -> Case {
    Case { name: name.into(), ins: ins.to_vec(), out, body: body.into() }
}

fn cases() -> Vec<Case> {
    let mut list = Vec::new();
    for t in INTS {
        integers(&mut list, t);
    }
    for t in FLOATS {
        floats(&mut list, t);
    }
    conversions(&mut list);
    truth(&mut list);
    list
}

fn integers(list: &mut Vec<Case>, t: &'static str) {
    for op in ["addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui"] {
        list.push(case(format!("{op}_{t}"), &[t, t], t, format!("%r = arith.{op} %a, %b : O\n")));
    }
    let bits: u32 = t[1..].parse().unwrap_or(8);
    for op in ["shli", "shrsi", "shrui"] {
        let body = format!(
            "%m = arith.constant $({}) : B\n%s = arith.andi %b, %m : B\n%r = arith.{op} %a, %s : O\n",
            bits - 1
        );
        list.push(case(format!("{op}_{t}"), &[t, t], t, body));
        let body = format!("%s = arith.constant $({}) : A\n%r = arith.{op} %a, %s : O\n", bits / 2 - 1);
        list.push(case(format!("{op}_{t}_constant"), &[t], t, body));
    }
    for op in ["divsi", "divui", "remsi", "remui"] {
        let positive = (1u64 << (bits - 1)) - 1;
        let body = format!(
            "%m = arith.constant $({positive}) : B\n%o = arith.constant $(1) : B\n%s = arith.andi %b, %m : B\n%d = arith.ori %s, %o : B\n%r = arith.{op} %a, %d : O\n"
        );
        list.push(case(format!("{op}_{t}"), &[t, t], t, body));
    }
    for predicate in ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"] {
        let body = format!("%k = arith.cmpi {predicate}, %a, %b : A\n%r = arith.select %k, %a, %c : K, O\n");
        list.push(case(format!("cmpi_{predicate}_{t}"), &[t, t, t], t, body));
    }
}

fn floats(list: &mut Vec<Case>, t: &'static str) {
    for op in
        ["arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "arith.minimumf", "math.copysign"]
    {
        let name = op.replace('.', "_");
        list.push(case(format!("{name}_{t}"), &[t, t], t, format!("%r = {op} %a, %b : O\n")));
    }
    for (op, short) in [("arith.maximumf", "max"), ("arith.minimumf", "min")] {
        for (i, bound) in ["0.0", "-0.0", "6.0", "-1.5"].into_iter().enumerate() {
            let body = format!("%k = arith.constant $({bound}) : A\n%r = {op} %a, %k : O\n");
            list.push(case(format!("{short}_bound{i}_{t}"), &[t], t, body));
            let body = format!("%k = arith.constant $({bound}) : A\n%r = {op} %k, %a : O\n");
            list.push(case(format!("{short}_left{i}_{t}"), &[t], t, body));
        }
    }
    for op in ["arith.negf", "math.sqrt", "math.absf", "math.floor", "math.ceil", "math.trunc", "math.roundeven"] {
        let name = op.replace('.', "_");
        list.push(case(format!("{name}_{t}"), &[t], t, format!("%r = {op} %a : O\n")));
    }
    list.push(case(format!("fma_{t}"), &[t, t, t], t, "%r = math.fma %a, %b, %c : O\n"));
    list.push(case(format!("mul_add_{t}"), &[t, t, t], t, "%p = arith.mulf %a, %b : O\n%r = arith.addf %p, %c : O\n"));
    list.push(case(format!("fnma_{t}"), &[t, t, t], t, "%n = arith.negf %a : O\n%r = math.fma %n, %b, %c : O\n"));
    let predicates = [
        "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno",
        "true",
    ];
    for predicate in predicates {
        let body = format!("%k = arith.cmpf {predicate}, %a, %b : A\n%r = arith.select %k, %a, %c : K, O\n");
        list.push(case(format!("cmpf_{predicate}_{t}"), &[t, t, t], t, body));
    }
}

fn conversions(list: &mut Vec<Case>) {
    for (i, from) in INTS.into_iter().enumerate() {
        for (j, to) in INTS.into_iter().enumerate() {
            let ops: &[&str] = match i.cmp(&j) {
                std::cmp::Ordering::Less => &["extsi", "extui"],
                std::cmp::Ordering::Greater => &["trunci"],
                std::cmp::Ordering::Equal => &[],
            };
            for op in ops {
                list.push(case(format!("{op}_{from}_{to}"), &[from], to, format!("%r = arith.{op} %a : A to O\n")));
            }
        }
        for to in FLOATS {
            for op in ["sitofp", "uitofp"] {
                list.push(case(format!("{op}_{from}_{to}"), &[from], to, format!("%r = arith.{op} %a : A to O\n")));
            }
        }
    }
    for from in FLOATS {
        for to in INTS {
            let limit = if to == "i8" { "100.0" } else { "1000.0" };
            // In range, and NaN gone: a select takes the bound unless the comparison holds.
            for (op, low) in [("fptosi", format!("-{limit}")), ("fptoui", "0.0".to_owned())] {
                let body = format!(
                    "%l = arith.constant $({low}) : A\n%h = arith.constant $({limit}) : A\n\
                     %k = arith.cmpf ogt, %a, %l : A\n%x = arith.select %k, %a, %l : K, A\n\
                     %m = arith.cmpf olt, %x, %h : A\n%y = arith.select %m, %x, %h : K, A\n\
                     %r = arith.{op} %y : A to O\n"
                );
                list.push(case(format!("{op}_{from}_{to}"), &[from], to, body));
            }
        }
    }
    list.push(case("extf", &["f32"], "f64", "%r = arith.extf %a : A to O\n"));
    list.push(case("truncf", &["f64"], "f32", "%r = arith.truncf %a : A to O\n"));
    for (from, to) in [("f32", "i32"), ("i32", "f32"), ("f64", "i64"), ("i64", "f64")] {
        list.push(case(format!("bitcast_{from}"), &[from], to, "%r = arith.bitcast %a : A to O\n"));
    }
    for t in ["i32", "i64"] {
        let body = "%x = arith.index_cast %a : A to X\n%y = arith.index_cast %b : B to X\n%z = arith.muli %x, %y : X\n\
                    %w = arith.addi %z, %y : X\n%r = arith.index_cast %w : X to O\n";
        list.push(case(format!("index_cast_{t}"), &[t, t], t, body));
    }
}

fn truth(list: &mut Vec<Case>) {
    for t in ["i8", "i32", "i64", "f32"] {
        let compare = if t == "f32" { "arith.cmpf olt" } else { "arith.cmpi slt" };
        for op in ["andi", "ori", "xori"] {
            // The masks come from operands of different widths.
            let body = format!(
                "%x = {compare}, %a, %b : A\n%z = arith.constant $(0) : C\n%y = arith.cmpi slt, %c, %z : C\n\
                 %k = arith.{op} %x, %y : K\n%r = arith.extui %k : K to O\n"
            );
            list.push(case(format!("mask_{op}_{t}"), &[t, t, "i16"], "i8", body));
        }
        let body = format!("%x = {compare}, %a, %b : A\n%r = arith.extsi %x : K to O\n");
        list.push(case(format!("mask_extsi_{t}"), &[t, t], "i32", body));
        let body = format!("%x = {compare}, %a, %b : A\n%r = arith.uitofp %x : K to O\n");
        list.push(case(format!("mask_uitofp_{t}"), &[t, t], "f32", body));
        let body = format!("%x = {compare}, %a, %b : A\n%r = arith.select %x, %c, %d : K, O\n");
        list.push(case(format!("mask_select_{t}"), &[t, t, "f64", "f64"], "f64", body));
    }
    for t in INTS {
        let body = "%k = arith.trunci %a : A to K\n%o = arith.constant $(true) : K\n%n = arith.xori %k, %o : K\n%r = arith.extui %n : K to O\n";
        list.push(case(format!("truth_of_{t}"), &[t], "i8", body));
    }
}

fn stage(case: &Case, lanes: u32) -> String {
    let vector = |t: &str| if lanes == 1 { t.to_owned() } else { format!("vector<{lanes}x{t}>") };
    let mut text = format!("func.func @{}_x{lanes}(", case.name);
    for (i, t) in case.ins.iter().chain([&case.out]).enumerate() {
        text.push_str(&format!("%p{i}: memref<?x{t}> {{neap.noalias}}, "));
    }
    let (count, last) = (case.ins.len() + 1, case.ins.len());
    text.push_str(&format!(
        "%begin: index, %end: index, %scratch: memref<?xi8>)\n  attributes {{neap.kernel = {{buffers = {count} : i64, dims = 0 : i64}}}} {{\n\
         %step = arith.constant {lanes} : index\nscf.for %i = %begin to %end step %step {{\n"
    ));
    for (i, (t, name)) in case.ins.iter().zip(["a", "b", "c", "d"]).enumerate() {
        text.push_str(&match lanes {
            1 => format!("%{name} = memref.load %p{i}[%i] : memref<?x{t}>\n"),
            _ => format!("%{name} = vector.load %p{i}[%i] : memref<?x{t}>, {}\n", vector(t)),
        });
    }
    text.push_str(&expand(case, lanes, &vector));
    text.push_str(&match lanes {
        1 => format!("memref.store %r, %p{last}[%i] : memref<?x{}>\n", case.out),
        _ => format!("vector.store %r, %p{last}[%i] : memref<?x{}>, {}\n", case.out, vector(case.out)),
    });
    text.push_str("}\nreturn\n}\n");
    text
}

/// Fills in types and constants, `$(x)`.
fn expand(case: &Case, lanes: u32, vector: &dyn Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = case.body.as_str();
    let bytes = case.body.as_bytes();
    while let Some(c) = rest.chars().next() {
        let at = case.body.len() - rest.len();
        let alone = |i: usize| !bytes.get(i).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'%' || *b == b'.');
        let isolated = alone(at + 1) && (at == 0 || alone(at - 1));
        let ty = match c {
            'A' => case.ins.first().copied(),
            'B' => case.ins.get(1).copied(),
            'C' => case.ins.get(2).copied(),
            'O' => Some(case.out),
            'K' => Some("i1"),
            'X' => Some("index"),
            _ => None,
        };
        if let Some(ty) = ty.filter(|_| isolated) {
            out.push_str(&vector(ty));
        } else if let Some(constant) = rest.strip_prefix("$(") {
            let end = constant.find(')').unwrap_or(0);
            out.push_str(&match &constant[..end] {
                "true" if lanes == 1 => "1".to_owned(),
                number if lanes == 1 => number.to_owned(),
                number => format!("dense<{number}>"),
            });
            rest = &constant[end + 1..];
            continue;
        } else {
            out.push(c);
        }
        rest = &rest[c.len_utf8()..];
    }
    out
}
