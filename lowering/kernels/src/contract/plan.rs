//! Chooses tile, operand layouts and parallel units of a contraction.

use neap_optable::{DType, Dim};
use neap_spec::{Arch, Backend, CpuTarget};

use super::pixels::{self, Pixels};
use super::shape::{Contraction, Operand, Read};
use super::window::Windows;
use crate::ir::{BufferId, Kernel, Role};
use crate::scalar;
use crate::scheduled::{Facts, Packing, Scheduled, Stage, StageBuffer};

/// Where a tile reads an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Where it is.
    Direct,
    /// As panels of the tile's width that the compiler made of a constant.
    Ahead,
    /// In the thread's scratch, which holds factors: the vectorised operand as panels of the tile's width, the broadcast one
    /// row by row for one tile.
    Scratch,
    /// Where it is, line by line; a unit has lines instead of panels. The vectorised operand only.
    Window,
}

/// How factors are held and multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factors {
    /// In the type of the sums, one step at a time.
    Wide,
    /// As 16-bit integers, two steps at a time.
    Pairs,
    /// As 8-bit integers, unsigned pixels or rows times a constant's signed ones, four steps at a time. Zero points come in at
    /// the end, times the sum of the constant's factors.
    Quads,
}

impl Factors {
    /// Steps that are taken at a time.
    pub const fn group(self) -> u64 {
        match self {
            Factors::Wide => 1,
            Factors::Pairs => 2,
            Factors::Quads => 4,
        }
    }
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
    /// How factors are held and multiplied.
    pub factors: Factors,
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
    /// Elements of the outermost contracted axis that are taken at once, if not all.
    pub block: Option<u64>,
    /// Scratch of a thread.
    pub scratch: Scratch,
    /// Rows of a constant's panel (columns, or channels) that each tile fetches ahead for each step, where the constant comes from far:
    /// while the tiles of a panel are computed, the next panel, which follows it, is brought near.
    pub fetch: Option<u64>,
    /// Set where the operands change sides: pixels are broadcast, and vectors are of channels.
    pub pixels: Option<Pixels>,
}

/// Byte offsets of the parts of the scratch: the tile, or all tiles of a unit, then packed panels, then a tile's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scratch {
    /// Packed column panels.
    pub panels: u64,
    /// Rows of the broadcast operand.
    pub rows: u64,
    /// All.
    pub total: u64,
}

/// Extent taken for a size that is not known: large enough that full tiles pay.
const UNKNOWN: u64 = 512;

/// Rows that use a packed panel: packing an element costs about a cycle, a row's product with it a thirtieth of one.
const WORTH_PACKING: u64 = 128;

impl ContractSchedule {
    /// Columns of the register tile.
    pub fn width(&self) -> u64 {
        self.vectors * self.lanes
    }

    /// Chooses a schedule, or `None` where the kernel is no contraction that this family lowers.
    pub fn choose(kernel: &Kernel, facts: &Facts, target: &CpuTarget) -> Option<Scheduled<ContractSchedule>> {
        let c = Contraction::of(kernel)?;
        if let Some(pixels) = pixels::choose(kernel, &c, facts, target) {
            return Some(pixels);
        }
        let known = |d: &Dim| d.as_const().unwrap_or(UNKNOWN).max(1);
        let size = scalar::computed(c.dtype).size();
        let (m, n, k) = (known(&c.rows()), known(&c.count(&c.cols)), known(&c.count(&c.k)));
        let lanes = u64::from(target.vector_bits) / 8 / size;
        let masks = target.masked_memory;
        let constant = |o: &Operand| facts.constant_inputs.get(o.buffer.0).copied().unwrap_or(false);
        let window = !constant(&c.panel_operand) && in_place_windows(&c, lanes);
        let quads = target.quad_products() && constant(&c.panel_operand) && c.quads(&c.rows_operand, &c.panel_operand);
        let factors = match () {
            () if window => Factors::Wide,
            () if quads => Factors::Quads,
            () if target.arch == Arch::X86_64 && c.narrow() => Factors::Pairs,
            () => Factors::Wide,
        };
        let group = factors.group();
        let pairs = factors == Factors::Pairs;
        // Bytes of a factor.
        let step_size = if factors == Factors::Wide { size } else { 4 / group };
        let steps = k.div_ceil(group);
        let widening = match factors {
            Factors::Quads => 0,
            _ if constant(&c.panel_operand) => c.panel_operand.widening(pairs),
            _ => 0,
        };
        let (rows, vectors) = match window {
            true => (m, 1),
            false => tile((m, n, steps), lanes, u64::from(target.vector_registers), masks, widening),
        };
        let width = vectors * lanes;

        let mut packed = vec![None; kernel.buffers.iter().filter(|b| b.role == Role::In).count()];
        // The same buffer as both factors keeps its layout.
        let distinct = c.rows_operand.buffer != c.panel_operand.buffer;
        let mut ahead = |o: &Operand, axes: &[usize], width: u64| {
            let layout = panels(&c, o, axes, width, (group, 1)).filter(|_| distinct && constant(o));
            packed[o.buffer.0] = layout.clone();
            layout.is_some()
        };
        let row_axes: Vec<usize> = c.row.into_iter().collect();
        let row_tiles = m.div_ceil(rows);
        let row_source = match () {
            () if factors == Factors::Quads && c.words(&c.rows_operand) => Source::Direct,
            () if !window && (group > 1 || c.rows_operand.widening(pairs) > 0) => Source::Scratch,
            () if m > 1 && ahead(&c.rows_operand, &row_axes, rows) => Source::Ahead,
            () => Source::Direct,
        };
        let panel_source = match () {
            () if ahead(&c.panel_operand, &c.cols, width) => Source::Ahead,
            () if window => Source::Window,
            () if !pairs && direct_panels(&c, masks, width) && row_tiles <= 2 => Source::Direct,
            () => Source::Scratch,
        };

        // Through windows a unit counts lines.
        let line = c.cols.last().map(|x| c.extents[*x].clone()).filter(|_| window);
        let panel_count = match &line {
            Some(line) => c.count(&c.cols).floor_div(line)?,
            None => ceil_div(&c.count(&c.cols), width)?,
        };
        let columns = line.as_ref().map_or(width, |l| known(l).next_multiple_of(lanes));
        let (tiles, batch) = (known(&panel_count), known(&c.count(&c.batch)));
        let packs = panel_source == Source::Scratch;
        let block = match (panel_source, row_source) {
            _ if factors == Factors::Quads => None,
            (Source::Scratch, _) | (_, Source::Scratch) => {
                block(&c, target.l2 / 8 / (width.max(rows) * step_size), group)?
            }
            // Many tiles pass over a panel: a block of it stays near.
            (Source::Ahead, _) if row_tiles > 1 => block(&c, target.l2 / 4 / (width * size), group).flatten(),
            _ => None,
        };
        let packed_length = block.map_or(k, |b| b * known(&c.count(&c.k[1..]))).next_multiple_of(group);
        let panel_bytes = width * packed_length * step_size;
        let tile_bytes = rows * width * size;
        let near = (target.l2 / 4 / panel_bytes).clamp(1, tiles);
        let mut unit_panels = match block {
            None if !packs => tiles,
            // Either all, so that long rows pass once, or no more than needed.
            Some(_) if near < tiles => 1,
            _ => near,
        };
        let mut unit_rows = match block {
            // Each unit packs for itself, which its rows must repay, however small a cache is given out for one to save scratch.
            Some(_) => {
                let least = if packs { WORTH_PACKING.div_ceil(rows).min(row_tiles) } else { 1 };
                (target.l2 / 8 / tile_bytes / unit_panels).clamp(least, row_tiles)
            }
            None => (target.l2 / 2 / (k * rows * step_size)).clamp(1, row_tiles.div_ceil(4).max(4)).min(row_tiles),
        };
        // Enough units that threads share evenly, as long as a unit is worth its start.
        let work = |unit_rows: u64, unit_panels: u64| unit_rows * rows * unit_panels * columns * steps;
        let units =
            |unit_rows: u64, unit_panels: u64| batch * row_tiles.div_ceil(unit_rows) * tiles.div_ceil(unit_panels);
        while block.is_none()
            && unit_panels > 1
            && units(unit_rows, unit_panels) < 32
            && work(unit_rows, unit_panels) > 1 << 20
        {
            unit_panels = unit_panels.div_ceil(2);
        }
        while block.is_some() && unit_rows * rows > WORTH_PACKING && units(unit_rows, unit_panels) < 4 {
            unit_rows = unit_rows.div_ceil(2);
        }

        let sums = match block {
            _ if window => 0,
            Some(_) => align(tile_bytes * unit_rows * unit_panels),
            None => align(tile_bytes),
        };
        let panel_bytes = if packs { align(unit_panels * panel_bytes) } else { 0 };
        let row_bytes = if row_source == Source::Scratch { align(rows * packed_length * step_size) } else { 0 };
        let scratch = Scratch { panels: sums, rows: sums + panel_bytes, total: sums + panel_bytes + row_bytes };
        let row_count = ceil_div(&ceil_div(&c.rows(), rows)?, unit_rows)?;
        let count = c.count(&c.batch).mul(&row_count).mul(&ceil_div(&panel_count, unit_panels)?);
        let stage = Stage {
            function: kernel.name.clone(),
            buffers: arguments(kernel),
            extent: count.as_const().unwrap_or(0),
            units: count,
            grain: grain(work(unit_rows, unit_panels), if window { 1 << 18 } else { 1 << 20 }),
            scratch: scratch.total,
        };
        let narrow = |id: &BufferId| kernel.buffers[id.0].dtype.size() < size;
        let touched =
            c.epilogue.stores.iter().map(|s| &s.0).chain(c.epilogue.body.reads.iter().filter_map(|r| match r {
                Read::At(id, _) => Some(id),
                Read::Main => None,
            }));
        let vector_epilogue = target.backend != Backend::Cranelift || !touched.into_iter().any(narrow);
        let in_place = in_place(kernel, &c);
        let fetch = match panel_source {
            Source::Ahead => fetched(target, k * n * step_size, width, unit_rows, m <= 256),
            _ => None,
        };
        let schedule = ContractSchedule {
            contraction: c,
            rows,
            vectors,
            lanes,
            factors,
            masks,
            vector_epilogue,
            row_source,
            panel_source,
            unit_rows,
            unit_panels,
            block,
            scratch,
            fetch,
            pixels: None,
        };
        Some(Scheduled { kernel: kernel.clone(), schedule, stages: vec![stage], shared: vec![], packed, in_place })
    }
}

impl Contraction {
    /// Whether all factors are integers of at most 16 bits with a sum of at most 32.
    fn narrow(&self) -> bool {
        let small = |o: &Operand| o.dtype.size() == 1 && o.prologue.range().is_some();
        self.dtype == DType::I32 && small(&self.rows_operand) && small(&self.panel_operand)
    }
}

impl Contraction {
    /// Whether sums are of unsigned 8-bit elements, perhaps with a zero point, times signed ones without.
    pub(super) fn quads(&self, elements: &Operand, weights: &Operand) -> bool {
        let shifted = elements.prologue.shift().is_some();
        self.dtype == DType::I32
            && elements.dtype.size() == 1
            && shifted
            && weights.dtype == DType::I8
            && weights.prologue.shift() == Some(false)
    }

    /// Whether the elements of four steps are always one aligned 32-bit word, of unsigned ones.
    fn words(&self, o: &Operand) -> bool {
        let whole = |d: &Dim| d.as_const().is_some_and(|v| v.is_multiple_of(4));
        let others = (0..self.extents.len()).filter(|a| !self.k.contains(a));
        o.dtype == DType::U8
            && o.guards.is_empty()
            && whole(&self.count(&self.k))
            && o.flat.run(&self.k, &self.extents).is_some_and(|s| s.as_const() == Some(1))
            && whole(&o.flat.constant)
            && others.into_iter().all(|a| whole(&o.flat.strides[a]))
    }
}

impl Operand {
    /// Operations that make a factor of an element, of which three run at once.
    pub(super) fn widening(&self, pairs: bool) -> u64 {
        let loaded = match self.dtype {
            DType::F16 => 8,
            DType::BF16 => 2,
            _ => 0,
        };
        loaded + self.prologue.ops.len() as u64 + u64::from(pairs)
    }
}

/// The register tile with the fewest estimated cycles: two fused multiply-adds and two loads a cycle, a latency of four.
fn tile((m, n, k): (u64, u64, u64), lanes: u64, registers: u64, masks: bool, widening: u64) -> (u64, u64) {
    let mut best = ((1, 1), u64::MAX);
    for vectors in 1..=8 {
        // One register holds the broadcast element.
        let most = (registers - 1 - vectors) / vectors;
        for rows in 1..=most.min(m) {
            let (fmas, loads) = (rows * vectors, rows + vectors);
            // In sixteenths of a cycle: a step, and loop control.
            let step = 16 * fmas.max(loads).max(8) / 2 + 8 + 16 * vectors * widening / 3;
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

/// Elements of the outermost contracted axis to take at once, where the whole length has much more than `most` steps or is not
/// known; steps come in groups of a size that divides all blocks but the last. `None`: there are no such blocks.
pub(super) fn block(c: &Contraction, most: u64, group: u64) -> Option<Option<u64>> {
    let Some((outermost, inner)) = c.k.split_first() else { return Some(None) };
    let most = (most / c.count(inner).as_const()?).max(1).next_multiple_of(group);
    match c.extents[*outermost].as_const() {
        Some(length) if length <= most * 3 / 2 => Some(None),
        // Blocks of one length, none much shorter than the others.
        Some(length) => Some(Some(length.div_ceil(length.div_ceil(most)).next_multiple_of(group))),
        None => Some(Some(most)),
    }
}

/// What each of a unit's tiles fetches of the next panel, for a constant of so many bytes that is not near anyway; where many rows
/// pass over a panel, waiting for it is the smaller cost.
pub(super) fn fetched(target: &CpuTarget, bytes: u64, width: u64, tiles: u64, few: bool) -> Option<u64> {
    let pays = target.backend == Backend::Llvm && bytes > target.l2 / 2 && tiles > 1 && few;
    pays.then(|| width.div_ceil(tiles))
}

/// Units that are worth a thread of their own: as many products as take some microseconds.
pub(super) fn grain(unit: u64, products: u64) -> u64 {
    (products / unit.max(1)).max(1)
}

fn ceil_div(a: &Dim, by: u64) -> Option<Dim> {
    a.add(&Dim::from(by - 1)).floor_div(&Dim::from(by))
}

pub(super) fn align(bytes: u64) -> u64 {
    bytes.next_multiple_of(64)
}

/// The layout of a constant operand as panels over `axes`, if it is a [batch, k, axes] view.
pub(super) fn panels(
    c: &Contraction,
    o: &Operand,
    axes: &[usize],
    width: u64,
    (group, inner): (u64, u64),
) -> Option<Packing> {
    if !o.guards.is_empty() || o.flat.constant.as_i64() != Some(0) {
        return None;
    }
    let batch: Vec<usize> = c.batch.iter().copied().filter(|a| o.flat.uses(*a)).collect();
    let stride = |axes: &[usize]| if axes.is_empty() { Some(0) } else { o.flat.run(axes, &c.extents)?.as_const() };
    let count = |axes: &[usize]| c.count(axes).as_const();
    Some(Packing::Panels {
        batch: count(&batch)?,
        k: count(&c.k)?,
        n: count(axes)?,
        strides: [stride(&batch)?, stride(&c.k)?, stride(axes)?],
        width,
        group,
        inner,
    })
}

/// Whether to read windows in place: few rows would not repay packing.
fn in_place_windows(c: &Contraction, lanes: u64) -> bool {
    let few = c.rows().as_const().is_some_and(|m| m <= 4);
    few && !c.panel_operand.guards.is_empty()
        && Windows::of(c, lanes as i64).is_some_and(|w| w.channel_major() && (1..=49).contains(&w.taps(c).len()))
}

/// Whether panels may be read in place: contiguous columns that need no checks.
fn direct_panels(c: &Contraction, masks: bool, width: u64) -> bool {
    let o = &c.panel_operand;
    let whole = c.count(&c.cols).as_const().is_some_and(|n| n.is_multiple_of(width));
    o.guards.is_empty() && c.dense(&o.flat) && (masks || whole)
}

pub(super) fn arguments(kernel: &Kernel) -> Vec<(StageBuffer, bool)> {
    let arguments = kernel.buffers.iter().enumerate().filter(|(_, b)| b.role != Role::Temp);
    arguments.map(|(i, b)| (StageBuffer::Arg(BufferId(i)), b.role == Role::Out)).collect()
}

/// An input that the epilogue reads where it stores an output, and nothing else reads, may be overwritten.
pub(super) fn in_place(kernel: &Kernel, c: &Contraction) -> Vec<(usize, usize)> {
    let inputs = kernel.buffers.iter().filter(|b| b.role == Role::In).count();
    let mut pairs = vec![];
    for (to, flat, _) in &c.epilogue.stores {
        for input in 0..inputs {
            let id = BufferId(input);
            let factor = |o: &Operand| {
                id == o.buffer || o.prologue.reads.iter().any(|r| matches!(r, Read::At(b, _) if *b == id))
            };
            if factor(&c.rows_operand) || factor(&c.panel_operand) {
                continue;
            }
            let mut reads = c.epilogue.body.reads.iter().filter_map(|r| match r {
                Read::At(b, f) if *b == id => Some(f),
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
