//! Chooses tile, operand layouts and parallel units of a contraction.

use neap_optable::{DType, Dim};
use neap_spec::{Backend, CpuTarget};

use super::shape::{Contraction, EpilogueRead, Operand};
use super::window::Windows;
use crate::ir::{BufferId, Kernel, Role};
use crate::scheduled::{Facts, Packing, Scheduled, Stage, StageBuffer};

/// Where a tile reads an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Where it is.
    Direct,
    /// As panels of the tile's width that the compiler made of a constant.
    Ahead,
    /// As panels of the tile's width that the thread makes in its scratch.
    Scratch,
    /// Where it is, line by line through masks; a unit has lines instead of panels.
    Window,
}

/// How a contraction is lowered.
#[derive(Clone, Debug, PartialEq)]
pub struct ContractSchedule {
    /// What is computed.
    pub contraction: Contraction,
    /// Rows of the register tile.
    pub rows: u64,
    /// Vectors of the register tile.
    pub vectors: u64,
    /// Lanes of a vector.
    pub lanes: u64,
    /// Whether column tails are masked; else whole vectors and single elements are used.
    pub masks: bool,
    /// Whether the epilogue works on vectors; else on single elements (narrow elements where vectors have 128 bits).
    pub vector_epilogue: bool,
    /// Where the broadcast operand is read.
    pub row_source: Source,
    /// Where the vectorised operand is read.
    pub panel_source: Source,
    /// Row tiles of a parallel unit.
    pub unit_rows: u64,
    /// Column panels of a parallel unit.
    pub unit_panels: u64,
    /// Scratch bytes of a thread: the tile, then packed panels, then packed rows.
    pub scratch: Scratch,
}

/// Byte offsets of the parts of the scratch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scratch {
    /// Packed column panels.
    pub panels: u64,
    /// Packed row panels.
    pub rows: u64,
    /// All.
    pub total: u64,
}

/// Extent taken for a size that is not known: large enough that full tiles pay.
const UNKNOWN: u64 = 512;

impl ContractSchedule {
    /// Columns of the register tile.
    pub fn width(&self) -> u64 {
        self.vectors * self.lanes
    }

    /// Chooses a schedule, or `None` where the kernel is no contraction that this family lowers.
    pub fn choose(kernel: &Kernel, facts: &Facts, target: &CpuTarget) -> Option<Scheduled<ContractSchedule>> {
        let c = Contraction::of(kernel)?;
        let known = |d: &Dim| d.as_const().unwrap_or(UNKNOWN).max(1);
        let size = c.dtype.size();
        let (m, n, k) = (known(&c.rows()), known(&c.count(&c.cols)), known(&c.count(&c.k)));
        let lanes = u64::from(target.vector_bits) / 8 / size;
        let masks = target.masked_memory;
        let constant = |o: &Operand| facts.constant_inputs.get(o.buffer.0).copied().unwrap_or(false);
        let window = masks && !constant(&c.panel_operand) && in_place_windows(&c, lanes);
        let (rows, vectors) = match window {
            true => (m, 1),
            false => tile(m, n, k, lanes, u64::from(target.vector_registers), masks),
        };
        let width = vectors * lanes;

        let mut packed = vec![None; kernel.buffers.iter().filter(|b| b.role == Role::In).count()];
        let ahead = |o: &Operand, axes: &[usize], width: u64| {
            if constant(o) { panels(&c, o, axes, width) } else { None }
        };
        let row_axes: Vec<usize> = c.row.into_iter().collect();
        let row_tiles = m.div_ceil(rows);
        // The same buffer as both factors keeps its layout.
        let distinct = c.rows_operand.buffer != c.panel_operand.buffer;
        let row_source = match ahead(&c.rows_operand, &row_axes, rows).filter(|_| distinct && m > 1) {
            Some(p) => {
                packed[c.rows_operand.buffer.0] = Some(p);
                Source::Ahead
            }
            None if direct_rows(&c) => Source::Direct,
            None => Source::Scratch,
        };
        let panel_source = match ahead(&c.panel_operand, &c.cols, width).filter(|_| distinct) {
            Some(p) => {
                packed[c.panel_operand.buffer.0] = Some(p);
                Source::Ahead
            }
            None if window => Source::Window,
            None if direct_panels(&c, masks, width) && row_tiles <= 2 => Source::Direct,
            None => Source::Scratch,
        };

        // Through windows a unit counts lines.
        let line = c.cols.last().map_or(1, |x| known(&c.extents[*x]));
        let (tiles, width) = if window { (n / line, line.next_multiple_of(lanes)) } else { (n.div_ceil(width), width) };
        let batch = known(&c.count(&c.batch));
        let unit_rows = (target.l2 / 2 / (k * rows * size)).clamp(1, row_tiles.div_ceil(4).max(4)).min(row_tiles);
        let mut unit_panels = match panel_source {
            Source::Scratch => (target.l2 / 4 / (k * width * size)).clamp(1, tiles),
            Source::Direct | Source::Ahead => tiles,
            Source::Window => tiles,
        };
        // Enough units that threads share evenly, as long as a unit is worth its start.
        let work = |panels: u64| unit_rows * rows * panels * width * k;
        let units = |panels: u64| batch * row_tiles.div_ceil(unit_rows) * tiles.div_ceil(panels);
        while unit_panels > 1 && units(unit_panels) < 32 && work(unit_panels) > 1 << 20 {
            unit_panels = unit_panels.div_ceil(2);
        }

        let tile_bytes = if window { 0 } else { align(rows * width * size) };
        let panel_bytes = if panel_source == Source::Scratch { align(unit_panels * width * k * size) } else { 0 };
        let row_bytes = if row_source == Source::Scratch { align(unit_rows * rows * k * size) } else { 0 };
        let scratch =
            Scratch { panels: tile_bytes, rows: tile_bytes + panel_bytes, total: tile_bytes + panel_bytes + row_bytes };
        if (panel_source == Source::Scratch || row_source == Source::Scratch) && !c.count(&c.k).is_const() {
            return None;
        }
        let stage = Stage {
            function: kernel.name.clone(),
            buffers: arguments(kernel),
            extent: units(unit_panels),
            units: open_units(&c, [rows, unit_rows, width, unit_panels])
                .unwrap_or_else(|| Dim::from(units(unit_panels))),
            grain: ((1 << 21) / work(unit_panels).max(1)).max(1),
            scratch: scratch.total,
        };
        let narrow = |id: &BufferId| kernel.buffers[id.0].dtype.size() < size;
        let touched = c.epilogue.stores.iter().map(|s| &s.0).chain(c.epilogue.reads.iter().filter_map(|r| match r {
            EpilogueRead::At(id, _) => Some(id),
            EpilogueRead::Accumulator => None,
        }));
        let vector_epilogue = target.backend != Backend::Cranelift || !touched.into_iter().any(narrow);
        let in_place = in_place(kernel, &c);
        let schedule = ContractSchedule {
            contraction: c,
            rows,
            vectors,
            lanes,
            masks,
            vector_epilogue,
            row_source,
            panel_source,
            unit_rows,
            unit_panels,
            scratch,
        };
        Some(Scheduled { kernel: kernel.clone(), schedule, stages: vec![stage], shared: vec![], packed, in_place })
    }
}

/// Units of a contraction with symbolic sizes, which `emit` numbers alike; `None` if all sizes are known.
fn open_units(c: &Contraction, [rows, unit_rows, width, unit_panels]: [u64; 4]) -> Option<Dim> {
    let (m, n, batch) = (c.rows(), c.count(&c.cols), c.count(&c.batch));
    if m.is_const() && n.is_const() && batch.is_const() {
        return None;
    }
    let up = |d: &Dim, by: u64| d.add(&Dim::from(by - 1)).floor_div(&Dim::from(by));
    let row_blocks = up(&up(&m, rows)?, unit_rows)?;
    let panel_blocks = up(&up(&n, width)?, unit_panels)?;
    Some(batch.mul(&row_blocks).mul(&panel_blocks))
}

/// The register tile with the fewest estimated cycles: two fused multiply-adds and two loads a cycle, a latency of four.
fn tile(m: u64, n: u64, k: u64, lanes: u64, registers: u64, masks: bool) -> (u64, u64) {
    let mut best = ((1, 1), u64::MAX);
    for vectors in 1..=8 {
        // One register holds the broadcast element.
        let most = (registers - 1 - vectors) / vectors;
        for rows in 1..=most.min(m) {
            let (fmas, loads) = (rows * vectors, rows + vectors);
            // In sixteenths of a cycle: a step, and loop control.
            let step = 16 * fmas.max(loads).max(8) / 2 + 8;
            let store = 16 * (20 + 3 * rows + 3 * fmas);
            let width = vectors * lanes;
            let tail = if !masks && !n.is_multiple_of(width) { 16 * 6 * rows * (n % width) } else { 0 };
            let cycles = m.div_ceil(rows) * (n.div_ceil(width) * (k * step + store) + tail);
            if cycles < best.1 {
                best = ((rows, vectors), cycles);
            }
        }
    }
    best.0
}

fn align(bytes: u64) -> u64 {
    bytes.next_multiple_of(64)
}

/// The layout of a constant operand as panels over `axes`, if it is a [batch, k, axes] view.
fn panels(c: &Contraction, o: &Operand, axes: &[usize], width: u64) -> Option<Packing> {
    if !o.guards.is_empty() || o.flat.constant.as_i64() != Some(0) {
        return None;
    }
    let batch: Vec<usize> = c.batch.iter().copied().filter(|a| o.uses(*a)).collect();
    let stride = |axes: &[usize]| if axes.is_empty() { Some(0) } else { o.flat.run(axes, &c.extents)?.as_const() };
    let count = |axes: &[usize]| c.count(axes).as_const();
    Some(Packing::Panels {
        batch: count(&batch)?,
        k: count(&c.k)?,
        n: count(axes)?,
        strides: [stride(&batch)?, stride(&c.k)?, stride(axes)?],
        width,
    })
}

/// Whether row tiles may read the operand in place: all strides are known.
fn direct_rows(c: &Contraction) -> bool {
    let stride = |row: usize| c.rows_operand.flat.strides[row].is_const();
    c.rows().is_const() && c.row.is_none_or(stride)
}

/// Whether to read windows in place: few rows would not repay packing.
fn in_place_windows(c: &Contraction, lanes: u64) -> bool {
    let few = c.rows().as_const().is_some_and(|m| m <= 4);
    few && !c.panel_operand.guards.is_empty()
        && direct_rows(c)
        && Windows::of(c, lanes as i64).is_some_and(|w| w.channel_major() && (1..=49).contains(&w.taps(c).len()))
}

/// Whether panels may be read in place: contiguous columns that need no checks.
fn direct_panels(c: &Contraction, masks: bool, width: u64) -> bool {
    let o = &c.panel_operand;
    let contiguous = o.flat.run(&c.cols, &c.extents).is_some_and(|s| s.as_i64() == Some(1));
    let whole = c.count(&c.cols).as_const().is_some_and(|n| n.is_multiple_of(width));
    o.guards.is_empty() && contiguous && (masks || whole)
}

fn arguments(kernel: &Kernel) -> Vec<(StageBuffer, bool)> {
    let arguments = kernel.buffers.iter().enumerate().filter(|(_, b)| b.role != Role::Temp);
    arguments.map(|(i, b)| (StageBuffer::Arg(BufferId(i)), b.role == Role::Out)).collect()
}

/// An input that the epilogue reads where it stores an output, and nothing else reads, may be overwritten.
fn in_place(kernel: &Kernel, c: &Contraction) -> Vec<(usize, usize)> {
    let inputs = kernel.buffers.iter().filter(|b| b.role == Role::In).count();
    let mut pairs = vec![];
    for (to, flat, _) in &c.epilogue.stores {
        for input in 0..inputs {
            let id = BufferId(input);
            if id == c.rows_operand.buffer || id == c.panel_operand.buffer {
                continue;
            }
            let mut reads = c.epilogue.reads.iter().filter_map(|r| match r {
                EpilogueRead::At(b, f) if *b == id => Some(f),
                _ => None,
            });
            let size = |d: DType| d.size();
            let same = size(kernel.buffers[input].dtype) == size(kernel.buffers[to.0].dtype)
                && kernel.buffers[input].dims == kernel.buffers[to.0].dims;
            // With several outputs a store of one could come before the read for another.
            if c.epilogue.stores.len() == 1 && same && reads.all(|f| f == flat) {
                pairs.push((input, to.0 - inputs));
            }
        }
    }
    pairs
}
