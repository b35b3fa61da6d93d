//! Chooses tile, unit and slab.

use neap_spec::{Backend, CpuTarget};

use super::super::plan::{
    ContractSchedule, Factors, Scratch, Source, align, arguments, block, fetched, grain, in_place, panels,
};
use super::super::shape::{Contraction, Operand};
use super::Pixels;
use super::geometry::Geometry;
use crate::ir::{Kernel, Role};
use crate::scalar;
use crate::scheduled::{Facts, Scheduled, Stage};

/// How factors are held, where the contraction is one of these. Bodies that are not empty read nothing that depends on pixels, so
/// that the slab holds factors, or one zero point is that of all elements.
fn fits(c: &Contraction, g: &Geometry<'_>, facts: &Facts, target: &CpuTarget) -> Option<Factors> {
    let constant = |o: &Operand| facts.constant_inputs.get(o.buffer.0).copied().unwrap_or(false);
    let pixels = &c.panel_operand;
    let weights = &c.rows_operand;
    let even = pixels.prologue.flats().all(|f| (0..c.extents.len()).all(|a| c.batch.contains(&a) || !f.uses(a)));
    let roles = constant(weights) && !constant(pixels) && weights.buffer != pixels.buffer;
    if !roles || !even || !c.epilogue.stores.iter().all(|s| c.dense(&s.1)) {
        return None;
    }
    if c.dtype.is_float() {
        return weights.prologue.is_empty().then_some(Factors::Wide);
    }
    // One axis of channels, of which four lie together, then taps.
    let channels = c.k.first().is_some_and(|k| !g.is_tap(*k)) && c.k[1..].iter().all(|k| g.is_tap(*k));
    (target.quad_products() && channels && c.quads(pixels, weights)).then_some(Factors::Quads)
}

/// A schedule with channels in the lanes, where the contraction is a convolution (or a product) of a constant from the left that
/// this way suits.
pub fn choose(
    kernel: &Kernel,
    c: &Contraction,
    facts: &Facts,
    target: &CpuTarget,
) -> Option<Scheduled<ContractSchedule>> {
    // Cranelift's few registers hold small tiles, which packed panels suit better.
    if target.backend == Backend::Cranelift || !target.masked_memory {
        return None;
    }
    let g = Geometry::of(c)?;
    let factors = fits(c, &g, facts, target)?;
    let group = factors.group();
    let size = scalar::computed(c.dtype).size();
    let lanes = u64::from(target.vector_bits) / 8 / size;
    let (m, k) = (c.rows().as_const()?, c.count(&c.k).as_const()?);
    let (row, (across, down)) = (c.row?, g.extent);
    if m < lanes / 2 || k == 0 || across * down < 4 {
        return None;
    }
    let taps = [g.across.tap, g.down.tap].into_iter().flatten().map(|a| c.extents[a].as_const());
    let taps = taps.collect::<Option<Vec<_>>>()?.iter().product::<u64>();
    // Elements (words of four channels) of a slab for each place, and of a panel for each channel.
    let steps = (k / taps).div_ceil(group);
    let k = steps * taps;
    let widening = if factors == Factors::Wide { c.rows_operand.widening(false) } else { 0 };
    let (columns, lines, vectors) = tile((m, k), g.extent, lanes, u64::from(target.vector_registers), widening);
    let (rows, width) = (columns * lines, vectors * lanes);
    let mut packed = vec![None; kernel.buffers.iter().filter(|b| b.role == Role::In).count()];
    let layout = panels(c, &c.rows_operand, &[row], width, (group, if group > 1 { taps } else { 1 }))?;
    packed[c.rows_operand.buffer.0] = Some(layout);

    let o = &c.panel_operand;
    let panel_count = m.div_ceil(width);
    // Taps that nothing checks would be in the slab once each: then the pixels are read where they are.
    let several = panel_count > 1 && c.k.len() == 1;
    let slab = !o.guards.is_empty() || several || o.widening(false) > 0 || group > 1;
    let tiles = across.div_ceil(columns);
    let inner = k / c.extents[c.k[0]].as_const()?.div_ceil(group);
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
    let block = match factors {
        Factors::Wide if slab && !g.is_tap(c.k[0]) => block(c, most * inner, 1)?,
        _ => None,
    };

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
    // With several axes of taps each step counts more.
    let few = across * down <= if c.k.len() > 1 { 64 } else { 256 };
    let fetch = fetched(target, m * k * size, width, area, few);
    let schedule = ContractSchedule {
        contraction: c.clone(),
        rows,
        vectors,
        lanes,
        factors,
        masks: true,
        vector_epilogue: true,
        row_source: if slab.is_some() { Source::Scratch } else { Source::Direct },
        panel_source: Source::Ahead,
        unit_rows: 1,
        unit_panels,
        block,
        scratch,
        fetch,
        pixels: Some(Pixels {
            columns,
            lines,
            whole: whole(columns, lines, g.extent, lanes),
            unit_lines,
            unit_tiles,
            slab,
        }),
    };
    Some(Scheduled { kernel: kernel.clone(), schedule, stages: vec![stage], shared: vec![], packed, in_place })
}

/// Whether tiles are whole vectors, and their number is that of all pixels.
fn whole(columns: u64, lines: u64, (across, down): (u64, u64), lanes: u64) -> bool {
    (columns * lines).is_multiple_of(lanes) && across.is_multiple_of(columns) && down.is_multiple_of(lines)
}

/// Pixels of a line, lines and vectors of the tile with the fewest estimated cycles, in the terms of the other kind's estimate.
fn tile((m, k): (u64, u64), (across, down): (u64, u64), lanes: u64, registers: u64, widening: u64) -> (u64, u64, u64) {
    let mut best = ((1, 1, 1), u64::MAX);
    for vectors in 1..=8u64.min(m.div_ceil(lanes)) {
        let most = (registers - 1 - vectors) / vectors;
        let part = (1..=most.min(across)).map(|columns| (columns, 1));
        let several = (2..=(most / across).min(down)).map(|lines| (across, lines));
        for (columns, lines) in part.chain(several) {
            let rows = columns * lines;
            let (fmas, loads) = (rows * vectors, rows + vectors);
            // In sixteenths of a cycle, as for the other kind of tile.
            let step = 16 * fmas.max(loads).max(8) / 2 + 8 + 16 * vectors * widening / 3;
            // Masked stores cost more.
            let each = if whole(columns, lines, (across, down), lanes) { 6 } else { 9 };
            let turn = 16 * vectors * rows.div_ceil(lanes) * lanes * each;
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
