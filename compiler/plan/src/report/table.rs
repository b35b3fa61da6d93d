//! The short table.

use super::Timeline;

/// How many holders of the peak are listed.
const HOLDERS: usize = 8;

/// Bytes for people: `1.23 MiB` (2^20).
pub fn human(bytes: u64) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.iter().find(|u| bytes >> u.0 > 0) {
        Some((shift, unit)) => format!("{:.2} {unit}", bytes as f64 / (1u64 << shift) as f64),
        None => format!("{bytes} B"),
    }
}

/// A name for one line: control characters escaped, the middle of a long one (many fused ops) left out.
fn shown(name: &str, most: usize) -> String {
    let plain: Vec<char> = name
        .chars()
        .flat_map(|c| if c.is_control() || turns(c) { c.escape_default().collect() } else { vec![c] })
        .collect();
    if plain.len() <= most {
        return plain.into_iter().collect();
    }
    let half = (most - 3) / 2;
    plain[..half].iter().chain(&['.'; 3]).chain(&plain[plain.len() - half..]).collect()
}

/// Whether a character makes a terminal show what follows in another direction.
fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The table of a plan.
pub fn table(t: &Timeline) -> String {
    let mut out = String::new();
    let mut row = |what: &str, bytes: u64, note: String| {
        out.push_str(&format!("{what:14} {:>12} {bytes:>16}  {note}\n", human(bytes)));
    };
    let less = |from: u64| {
        if from > t.arena && from > 0 {
            format!("this plan needs {:.1} % less", (from - t.arena) as f64 / from as f64 * 100.0)
        } else {
            String::new()
        }
    };
    row("no reuse", t.no_reuse, less(t.no_reuse));
    row("file order", t.file_order_peak, less(t.file_order_peak));
    row("this plan", t.arena, t.method.clone());
    let gap = if t.arena <= t.lower_bound {
        "proven: no order and placement of these steps needs less".into()
    } else if t.lower_bound == 0 {
        "nothing is proven".into()
    } else {
        format!("gap {:.2} %", (t.arena - t.lower_bound) as f64 / t.lower_bound as f64 * 100.0)
    };
    let how = if t.lower_bound == 0 { String::new() } else { format!("; bound {}", t.bound) };
    row("proven bound", t.lower_bound, gap + &how);
    if t.arena > t.peak {
        row(
            "alive at most",
            t.peak,
            format!("{:.2} % lost to gaps", (t.arena - t.peak) as f64 / t.arena as f64 * 100.0),
        );
    }
    let held = t.at_peak();
    if !held.is_empty() {
        let step = t.steps.get(t.peak_step as usize).map(String::as_str).unwrap_or_default();
        out.push_str(&format!(
            "\nalive at the peak (step {} of {}, {}):\n",
            t.peak_step + 1,
            t.steps.len(),
            shown(step, 64)
        ));
        for b in held.iter().take(HOLDERS) {
            let by =
                if b.name.ends_with(&b.made_by) { String::new() } else { format!("  from {}", shown(&b.made_by, 40)) };
            out.push_str(&format!("{:>12}  {}{by}\n", human(b.size), shown(&b.name, 64)));
        }
        if held.len() > HOLDERS {
            let rest: u64 = held[HOLDERS..].iter().map(|b| b.size).sum();
            out.push_str(&format!("{:>12}  {} more\n", human(rest), held.len() - HOLDERS));
        }
    }
    out
}
