//! The MiniMalloc CSV: a header `id,lower,upper,size` (in any sequence; `alignment` may follow), one buffer a row.

use std::collections::HashSet;

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
    let mut lines = text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty());
    let Some((_, header)) = lines.next() else {
        return Err(ProblemError::new("the table is empty; it needs a header 'id,lower,upper,size'"));
    };
    let names: Vec<&str> = header.split(',').map(str::trim).collect();
    let column = |name: &str| names.iter().position(|n| *n == name);
    let need = |name: &str| {
        column(name)
            .ok_or_else(|| ProblemError::new(format!("the header '{}' has no column '{name}'", shorten(header))))
    };
    let (id, lower, upper, size) = (need("id")?, need("lower")?, need("upper")?, need("size")?);
    let alignment = column("alignment");
    let mut table = Table { ids: Vec::new(), blocks: Vec::new() };
    let mut seen = HashSet::new();
    let mut total = 0u64;
    for (line, row) in lines {
        let cells: Vec<&str> = row.split(',').map(str::trim).collect();
        if cells.len() != names.len() {
            return Err(ProblemError::new(format!(
                "line {}: {} cells under {} columns",
                line + 1,
                cells.len(),
                names.len()
            )));
        }
        let number = |c: usize| -> Result<u64, ProblemError> {
            cells[c].parse::<u64>().ok().filter(|v| *v < 1 << 63).ok_or_else(|| {
                ProblemError::new(format!(
                    "line {}: {} '{}' is no whole number from 0 to 2^63 - 1",
                    line + 1,
                    names[c],
                    shorten(cells[c])
                ))
            })
        };
        let (from, to, bytes) = (number(lower)?, number(upper)?, number(size)?);
        let align = alignment.map(number).transpose()?.unwrap_or(1).max(1);
        if !align.is_power_of_two() || align > 1 << 30 {
            return Err(ProblemError::new(format!(
                "line {}: alignment {align} is no power of two up to 2^30",
                line + 1
            )));
        }
        if from >= to {
            return Err(ProblemError::new(format!("line {}: lower {from} is not below upper {to}", line + 1)));
        }
        if !seen.insert(cells[id].to_string()) {
            return Err(ProblemError::new(format!("line {}: id '{}' stands twice", line + 1, shorten(cells[id]))));
        }
        total =
            bytes.checked_add(align).and_then(|b| total.checked_add(b)).filter(|t| *t <= MAX_TOTAL_BYTES).ok_or_else(
                || ProblemError::new(format!("line {}: size {bytes} takes the sum of all sizes past 2^62", line + 1)),
            )?;
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

fn shorten(text: &str) -> String {
    if text.chars().count() <= 40 { text.to_string() } else { text.chars().take(40).chain("...".chars()).collect() }
}
