//! Chooses tile, unit and slab.

use neap_spec::CpuTarget;

use super::super::plan::{ContractSchedule, Scratch, Source, align, arguments, block, grain, in_place, panels};
use super::super::shape::{Contraction, Operand};
use super::Pixels;
use super::geometry::Geometry;
use crate::ir::{Kernel, Role};
use crate::scalar;
use crate::scheduled::{Facts, Scheduled, Stage};

/// Bodies that are not empty read nothing that depends on pixels, so that the slab holds factors.
fn fits(c: &Contraction, facts: &Facts) -> bool {
    let constant = |o: &Operand| facts.constant_inputs.get(o.buffer.0).copied().unwrap_or(false);
    let pixels = &c.panel_operand;
    let weights = &c.rows_operand;
    let even = pixels.prologue.flats().all(|f| (0..c.extents.len()).all(|a| c.batch.contains(&a) || !f.uses(a)));
    c.dtype.is_float()
        && constant(weights)
        && !constant(pixels)
        && weights.buffer != pixels.buffer
        && weights.prologue.is_empty()
        && even
        && c.epilogue.stores.iter().all(|s| c.dense(&s.1))
}

/// A schedule with channels in the lanes, where the contraction is a convolution (or a product) of a constant from the left that
/// this way suits.
pub fn choose(
    kernel: &Kernel,
    c: &Contraction,
    facts: &Facts,
    target: &CpuTarget,
) -> Option<Scheduled<ContractSchedule>> {
    if !target.masked_memory || !fits(c, facts) {
        return None;
    }
    let g = Geometry::of(c)?;
    let size = scalar::computed(c.dtype).size();
    let lanes = u64::from(target.vector_bits) / 8 / size;
    let (m, k) = (c.rows().as_const()?, c.count(&c.k).as_const()?);
    let (row, (across, down)) = (c.row?, g.extent);
    if m < lanes / 2 || k == 0 || across * down < 4 {
        return None;
    }
    let widening = c.rows_operand.widening(false);
    let (columns, lines, vectors) = tile((m, k), g.extent, lanes, u64::from(target.vector_registers), widening);
    let (rows, width) = (columns * lines, vectors * lanes);
    let mut packed = vec![None; kernel.buffers.iter().filter(|b| b.role == Role::In).count()];
    let layout = panels(c, &c.rows_operand, &[row], (width, 1))?;
    packed[c.rows_operand.buffer.0] = Some(layout);

    let o = &c.panel_operand;
    let panel_count = m.div_ceil(width);
    let slab = !o.guards.is_empty() || panel_count > 1 || o.widening(false) > 0;
    let tiles = across.div_ceil(columns);
    let inner = k / c.extents[c.k[0]].as_const()?;
    let is_channel = g.across.tap != Some(c.k[0]) && g.down.tap != Some(c.k[0]);
    // Elements of a slab for each of the contracted steps that are no taps.
    let taps = [g.across.tap, g.down.tap].into_iter().flatten().map(|a| c.extents[a].as_const());
    let steps = k / taps.collect::<Option<Vec<_>>>()?.iter().product::<u64>();
    let plane = |lines: u64, tiles: u64| Some(g.lines(c, lines)? * g.elements(c, (tiles * columns).min(across))?);
    let room = target.l2 / 4 / size;

    // As many lines as there is room for, but enough that what neighbours share is the smaller part.
    let least = if lines > 1 { down } else { (2 * g.lines(c, 1)?.saturating_sub(1)).clamp(1, down) };
    let mut unit_lines = down;
    while unit_lines > least && steps * plane(unit_lines, tiles)? > room {
        unit_lines -= 1;
    }
    let mut unit_tiles = tiles;
    while unit_tiles > 4 && unit_lines == least && steps * plane(unit_lines, unit_tiles)? > room {
        unit_tiles = unit_tiles.div_ceil(2);
    }
    let per_step = plane(unit_lines, unit_tiles)? * steps / (k / inner);
    let most = (room / per_step.max(1)).min(target.l2 / 2 / (inner * width * size)).max(1);
    let block = if is_channel { block(c, most * inner, 1)?.filter(|_| slab) } else { None };

    let area = unit_lines.div_ceil(lines) * unit_tiles;
    let mut unit_panels = match block {
        Some(_) => (target.l2 / 8 / (area * rows * width * size)).clamp(1, panel_count),
        None => panel_count,
    };
    let batch = c.count(&c.batch);
    let areas = |unit_lines: u64, unit_tiles: u64| down.div_ceil(unit_lines) * tiles.div_ceil(unit_tiles);
    let work =
        |unit_panels: u64, unit_lines: u64| unit_lines.div_ceil(lines) * unit_tiles * rows * unit_panels * width * k;
    // Enough units that threads share evenly, as long as a unit is worth its start.
    let known = batch.as_const().unwrap_or(1);
    let units =
        |unit_panels: u64, unit_lines: u64| known * areas(unit_lines, unit_tiles) * panel_count.div_ceil(unit_panels);
    while unit_panels > 1 && units(unit_panels, unit_lines) < 16 && work(unit_panels, unit_lines) > 1 << 21 {
        unit_panels = unit_panels.div_ceil(2);
    }
    while lines == 1
        && unit_lines > least
        && units(unit_panels, unit_lines) < 8
        && work(unit_panels, unit_lines) > 1 << 21
    {
        unit_lines = unit_lines.div_ceil(2).max(least);
    }

    let slab = match slab {
        true => Some((g.lines(c, unit_lines)?, g.elements(c, (unit_tiles * columns).min(across))?)),
        false => None,
    };
    let tile_bytes = rows * width * size;
    let sums = match block {
        Some(_) => align(tile_bytes * unit_lines.div_ceil(lines) * unit_tiles * unit_panels),
        None => align(tile_bytes),
    };
    let held = block.map_or(steps, |b| steps / (k / inner) * b);
    let slab_bytes = slab.map_or(0, |(l, e)| align((held * l * e + lanes) * size));
    let turned = lanes * lanes * size;
    let scratch = Scratch { panels: sums, rows: sums + slab_bytes, total: sums + slab_bytes + turned };
    let blocks = areas(unit_lines, unit_tiles) * panel_count.div_ceil(unit_panels);
    let count = batch.mul(&blocks.into());
    let stage = Stage {
        function: kernel.name.clone(),
        buffers: arguments(kernel),
        extent: count.as_const().unwrap_or(0),
        units: count,
        grain: grain(work(unit_panels, unit_lines), 1 << 20),
        scratch: scratch.total,
    };
    let in_place = in_place(kernel, c);
    let schedule = ContractSchedule {
        contraction: c.clone(),
        rows,
        vectors,
        lanes,
        pairs: false,
        masks: true,
        vector_epilogue: true,
        row_source: if slab.is_some() { Source::Scratch } else { Source::Direct },
        panel_source: Source::Ahead,
        unit_rows: 1,
        unit_panels,
        block,
        scratch,
        pixels: Some(Pixels { columns, lines, unit_lines, unit_tiles, slab }),
    };
    Some(Scheduled { kernel: kernel.clone(), schedule, stages: vec![stage], shared: vec![], packed, in_place })
}

/// Pixels of a line, lines and vectors of the tile with the fewest estimated cycles, in the terms of the other kind's estimate.
fn tile((m, k): (u64, u64), (across, down): (u64, u64), lanes: u64, registers: u64, widening: u64) -> (u64, u64, u64) {
    let mut best = ((1, 1, 1), u64::MAX);
    for vectors in 1..=8u64.min(m.div_ceil(lanes)) {
        let most = (registers - 1 - vectors) / vectors;
        let part = (1..=most.min(across)).map(|columns| (columns, 1));
        let whole = (2..=(most / across).min(down)).map(|lines| (across, lines));
        for (columns, lines) in part.chain(whole) {
            let rows = columns * lines;
            let (fmas, loads) = (rows * vectors, rows + vectors);
            // In sixteenths of a cycle, as for the other kind of tile.
            let step = 16 * fmas.max(loads).max(8) / 2 + 8 + 16 * vectors * widening / 3;
            let turn = 16 * vectors * rows.div_ceil(lanes) * lanes * 9;
            let store = 16 * (20 + fmas) + turn;
            let tiles = across.div_ceil(columns) * down.div_ceil(lines) * m.div_ceil(vectors * lanes);
            let cycles = tiles * (k * step + store);
            if cycles < best.1 {
                best = ((columns, lines, vectors), cycles);
            }
        }
    }
    best.0
}
