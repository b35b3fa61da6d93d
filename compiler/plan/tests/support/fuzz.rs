//! What the fuzz targets of `testsuite/fuzz` do with their bytes; the ordinary tests do it with the bytes kept there.

use neap_plan::formats::csv::{self, Interval};
use neap_plan::formats::json;
use neap_plan::place::{PlaceLimits, place};
use neap_plan::{Limits, Problem, check, check_placement, solve};

use super::attack::Attack;
use super::random::{Dice, thrown};
use super::replay::replay;
use super::{brute, show};

fn limits() -> Limits {
    Limits { order_states: 2_000, place_nodes: 2_000, rounds: 50, ..Limits::default() }
}

/// Bytes as a problem file: read, written and read again, solved, checked, run.
pub fn problem(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let problem = match json::read(&text) {
        Ok(problem) => problem,
        Err(e) => return assert!(!e.to_string().contains('\n'), "{e}"),
    };
    assert_eq!(json::read(&json::write(&problem)).as_ref(), Ok(&problem));
    if problem.ops().len() > 12 || problem.tensors().len() > 24 {
        return;
    }
    solved(&problem);
}

/// Bytes as a table of buffers: read, placed, checked, and every pair compared.
pub fn table(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    let interval = if first % 2 == 0 { Interval::HalfOpen } else { Interval::Open };
    let table = match csv::read(&text, interval) {
        Ok(table) => table,
        Err(e) => return assert!(!e.to_string().contains('\n'), "{e}"),
    };
    if table.blocks.len() > 40 {
        return;
    }
    let placed = place(&table.blocks, &PlaceLimits { nodes: 2_000, moves: 200, ..PlaceLimits::default() });
    check_placement(&table.ids, &table.blocks, &placed).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let rows: Vec<_> = table.blocks.iter().zip(&placed.placement.offsets).collect();
    for (i, (a, x)) in rows.iter().enumerate() {
        assert_eq!((**x).wrapping_sub(a.phase) % a.align, 0, "{text}");
        for (b, y) in &rows[..i] {
            let meet = a.lower() < b.upper() && b.lower() < a.upper();
            assert!(!meet || *x + a.extent() <= **y || *y + b.extent() <= **x, "{text}");
        }
    }
}

/// Bytes as dice for a problem and for what is made wrong in its plan: what the check accepts must run.
pub fn plan(bytes: &[u8]) {
    let (dice, changes) = bytes.split_at(bytes.len().min(96));
    let problem = thrown(&mut Dice::of(dice), 7, true);
    let Some(planned) = solved(&problem) else { return };
    let mut attack = Attack::new(&problem, &planned, 0);
    attack.dice = Dice::of(changes);
    for _ in 0..changes.len() / 3 {
        attack.disturb();
    }
    attack.believe();
    if attack.check().is_ok() {
        let run = replay(&problem, &attack.solution);
        assert_eq!(run, Ok(()), "{}{:?}", show(&problem), attack.solution);
    }
}

/// Solves, checks, runs where memory is small enough to hold byte by byte, and tries everything where that is quick.
fn solved(problem: &Problem) -> Option<neap_plan::Planned> {
    let planned = solve(problem, &limits()).ok()?;
    if let Err(e) = check(problem, &planned.solution, &planned.certificate) {
        panic!("{e}\n{}{planned:?}", show(problem));
    }
    let bytes: u64 = problem.tensors().iter().map(|t| t.size + t.align).sum::<u64>()
        + problem.ops().iter().map(|o| o.workspace).sum::<u64>();
    if bytes <= 4096 {
        assert_eq!(replay(problem, &planned.solution), Ok(()), "{}{planned:?}", show(problem));
    }
    if bytes <= 36 && problem.ops().len() <= 4 && problem.shares().len() <= 3 {
        let (least, c) = (brute::least_arena(problem), &planned.certificate);
        assert!(c.lower_bound <= least && least <= c.arena, "least {least}\n{}{planned:?}", show(problem));
    }
    Some(planned)
}
