//! The MiniMalloc CSV: a header `id,lower,upper,size` (in any sequence; `alignment` may follow), one buffer a row.

use std::collections::HashSet;

use super::shorten;
use crate::build::{MAX_TOTAL_BYTES, ProblemError};
use crate::place::Block;

/// How the `upper` (and `lower`) column is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interval {
    /// Alive on [lower, upper): MiniMalloc's reading.
    #[default]
    HalfOpen,
    /// Alive on (lower, upper): idealloc's reading.
    Open,
}

/// Buffers of a table: ids as written, and one block each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Ids by row.
    pub ids: Vec<String>,
    /// Blocks by row.
    pub blocks: Vec<Block>,
}

/// Reads a table.
///
/// # Errors
/// One line that names the row and column at fault.
pub fn read(text: &str, interval: Interval) -> Result<Table, ProblemError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rows = ::csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(::csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut row = ::csv::StringRecord::new();
    // Reads the next row that is not blank; says at which byte it starts, or just before.
    let mut next = |row: &mut ::csv::StringRecord| -> Result<Option<usize>, ProblemError> {
        while rows.read_record(row).map_err(|e| ProblemError::new(format!("no readable table: {e}")))? {
            if row.iter().any(|cell| !cell.is_empty()) {
                return Ok(Some(row.position().map_or(0, |p| p.byte() as usize)));
            }
        }
        Ok(None)
    };
    if next(&mut row)?.is_none() {
        return Err(ProblemError::new("the table is empty; it needs a header 'id,lower,upper,size'"));
    }
    let names: Vec<String> = row.iter().map(String::from).collect();
    let column = |name: &str| names.iter().position(|n| *n == name);
    let need = |name: &str| {
        column(name).ok_or_else(|| {
            ProblemError::new(format!("the header '{}' has no column '{name}'", shorten(&names.join(","))))
        })
    };
    if let Some(twice) =
        ["id", "lower", "upper", "size", "alignment"].iter().find(|n| names.iter().filter(|m| m == *n).count() > 1)
    {
        return Err(ProblemError::new(format!("the header has the column '{twice}' twice")));
    }
    let (id, lower, upper, size) = (need("id")?, need("lower")?, need("upper")?, need("size")?);
    const KNOWN: [&str; 6] = ["id", "lower", "upper", "size", "alignment", "offset"];
    if let Some(stray) = names.iter().find(|n| !KNOWN.contains(&n.as_str())) {
        return Err(ProblemError::new(format!(
            "the header has the column '{}', which has no meaning here; the columns are id, lower, upper, size and alignment",
            shorten(stray)
        )));
    }
    let alignment = column("alignment");
    let mut table = Table { ids: Vec::new(), blocks: Vec::new() };
    let mut seen = HashSet::new();
    let mut total = 0u64;
    while let Some(start) = next(&mut row)? {
        let line = Line { text, start };
        let cells: Vec<&str> = row.iter().collect();
        if cells.len() != names.len() {
            return Err(line.error(format!("{} cells under {} columns", cells.len(), names.len())));
        }
        let number = |c: usize| -> Result<u64, ProblemError> {
            cells[c].parse::<u64>().ok().filter(|v| *v < 1 << 63).ok_or_else(|| {
                line.error(format!("{} '{}' is no whole number from 0 to 2^63 - 1", names[c], shorten(cells[c])))
            })
        };
        let (from, to, bytes) = (number(lower)?, number(upper)?, number(size)?);
        let align = alignment.map(number).transpose()?.unwrap_or(1).max(1);
        if !align.is_power_of_two() || align > 1 << 30 {
            return Err(line.error(format!("alignment {align} is no power of two up to 2^30")));
        }
        if from >= to {
            return Err(line.error(format!("lower {from} is not below upper {to}")));
        }
        if !seen.insert(cells[id].to_string()) {
            return Err(line.error(format!("id '{}' stands twice", shorten(cells[id]))));
        }
        total = bytes
            .checked_add(align)
            .and_then(|b| total.checked_add(b))
            .filter(|t| *t <= MAX_TOTAL_BYTES)
            .ok_or_else(|| line.error(format!("size {bytes} takes the sum of all sizes past 2^62")))?;
        // The open interval (lower, upper) over whole instants is [lower + 1, upper); one that holds no instant is empty.
        let from = match interval {
            Interval::HalfOpen => from,
            Interval::Open => from + 1,
        };
        table.ids.push(cells[id].to_string());
        table.blocks.push(if from < to && bytes > 0 {
            Block::rectangle(from, to, bytes, align)
        } else {
            Block::new(Vec::new(), align, 0)
        });
    }
    Ok(table)
}

/// The line of a row, counted only where it is shown.
#[derive(Clone, Copy)]
struct Line<'t> {
    text: &'t str,
    start: usize,
}

impl Line<'_> {
    fn error(self, message: String) -> ProblemError {
        // The reader's own count is off after blank lines and those that end in `\r\n`.
        let bytes = self.text.as_bytes();
        let blank = bytes.iter().skip(self.start).take_while(|b| b.is_ascii_whitespace()).count();
        let line = 1 + bytes.iter().take(self.start + blank).filter(|b| **b == b'\n').count();
        ProblemError::new(message).at(line, None)
    }
}

/// Writes a table with offsets, as MiniMalloc does.
pub fn write(text: &str, offsets: &[u64]) -> String {
    let mut out = String::with_capacity(text.len() + offsets.len() * 8);
    let mut lines = text.lines().filter(|l| !l.trim().is_empty());
    if let Some(header) = lines.next() {
        out.push_str(header.trim_end());
        out.push_str(",offset\n");
    }
    for (row, offset) in lines.zip(offsets) {
        out.push_str(row.trim_end());
        out.push_str(&format!(",{offset}\n"));
    }
    out
}
