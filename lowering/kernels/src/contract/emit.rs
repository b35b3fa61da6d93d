//! The function of a contraction: parallel units, packing, tiles.

use melior::Context;
use melior::ir::Module;
use neap_optable::{DType, Dim};

use super::direct;
use super::pack;
use super::pixels;
use super::plan::{ContractSchedule, Factors, Source};
use super::shape::{Contraction, Flat, Operand};
use super::tile;
use crate::explicit::{Buf, BufferArg, BuildError, Builder, Cmp, Elem, Sizes, Stage, V, build_stage};
use crate::ir::{BufferId, Role};
use crate::scalar;
use crate::scheduled::Scheduled;

/// Everything that emission looks at.
pub(super) struct Env<'a, 'c> {
    pub b: &'a Builder<'c>,
    pub s: &'a ContractSchedule,
    pub c: &'a Contraction,
    /// What sums are computed in.
    pub elem: Elem,
    /// What factors are held in.
    pub factor: Elem,
    pub sizes: Sizes<'c>,
    buffers: Vec<Buf<'c>>,
    dtypes: Vec<DType>,
    pub tile: Buf<'c>,
    pub panels: Buf<'c>,
    /// The same bytes as words.
    pub panel_words: Buf<'c>,
    pub rows: Buf<'c>,
    /// The same bytes, as many factors at a time as are multiplied together.
    pub row_words: Buf<'c>,
    /// Rows, columns and contracted length.
    pub m: V<'c>,
    pub n: V<'c>,
    pub k: V<'c>,
    /// Row tiles and column panels.
    pub row_tiles: V<'c>,
    pub col_tiles: V<'c>,
}

/// Where emission stands.
#[derive(Clone)]
pub(super) struct At<'c> {
    /// Values of the axes that are fixed so far; of the outermost contracted axis, the start of the current block.
    axes: Vec<Option<V<'c>>>,
    /// Length of the current block of the outermost contracted axis.
    block: V<'c>,
}

/// Innermost body of [`Env::nest`]: the loops' variables, the cursors and the values, to the next values.
pub(super) type Step<'s, 'c> = dyn FnMut(&[V<'c>], &[V<'c>], &[V<'c>]) -> Vec<V<'c>> + 's;

/// Adds the function of a scheduled contraction to a module.
pub fn emit<'c>(
    cx: &'c Context,
    module: &Module<'c>,
    scheduled: &Scheduled<ContractSchedule>,
) -> Result<(), BuildError> {
    let kernel = &scheduled.kernel;
    let arguments: Vec<_> = kernel.buffers.iter().filter(|b| b.role != Role::Temp).collect();
    let inputs = arguments.iter().filter(|b| b.role == Role::In).count();
    let shared = |i: usize| scheduled.in_place.iter().any(|(a, o)| i == *a || i == inputs + o);
    let stage = Stage {
        name: &scheduled.stages[0].function,
        buffers: arguments
            .iter()
            .enumerate()
            .map(|(i, b)| BufferArg { elem: Elem::of(b.dtype), noalias: !shared(i) })
            .collect(),
        dims: kernel.sizes.len(),
    };
    build_stage(cx, module, &stage, |b, args| {
        let s = &scheduled.schedule;
        let c = &s.contraction;
        let elem = scalar::elem(c.dtype);
        let sizes = Sizes::new(&kernel.sizes, &args.dims);
        let (m, n, k) = (b.size(&c.rows(), &sizes), b.size(&c.count(&c.cols), &sizes), b.size(&c.count(&c.k), &sizes));
        let factor = match s.factors {
            Factors::Wide => elem,
            Factors::Pairs => Elem::I16,
            Factors::Quads => Elem::I8,
        };
        let window = |from: u64, to: u64, elem: Elem| {
            let len = (to - from) as i64 / elem.bytes();
            b.view(args.scratch, b.index(from as i64), elem, b.index(len))
        };
        let env = Env {
            b,
            s,
            c,
            elem,
            factor,
            sizes,
            buffers: args.buffers,
            dtypes: arguments.iter().map(|b| b.dtype).collect(),
            tile: window(0, s.scratch.panels, elem),
            panels: window(s.scratch.panels, s.scratch.rows, factor),
            panel_words: window(s.scratch.panels, s.scratch.rows, Elem::I32),
            rows: window(s.scratch.rows, s.scratch.total, factor),
            row_words: window(s.scratch.rows, s.scratch.total, Elem::I32),
            m,
            n,
            k,
            row_tiles: b.div_ceil(m, s.rows as i64),
            col_tiles: b.div_ceil(n, s.width() as i64),
        };
        if let Some(p) = s.pixels {
            return pixels::units(&env, p, args.begin, args.end);
        }
        match s.panel_source {
            Source::Window => direct::units(&env, args.begin, args.end),
            _ => units(&env, args.begin, args.end),
        }
    })
}

/// Units are numbered (batch, block of panels, block of row tiles), so that a thread's slice packs a block of panels once.
fn units<'c>(env: &Env<'_, 'c>, begin: V<'c>, end: V<'c>) {
    let (b, s) = (env.b, env.s);
    let row_blocks = b.div_ceil(env.row_tiles, s.unit_rows as i64);
    let panel_blocks = b.div_ceil(env.col_tiles, s.unit_panels as i64);
    let last = b.div_u(b.sub(b.add(end, row_blocks), b.index(1)), row_blocks);
    b.for_(b.div_u(begin, row_blocks), last, 1, |b, outer| {
        let first = b.mul(outer, row_blocks);
        let from = b.max(b.sub(begin, first), b.index(0));
        let to = b.min(b.sub(end, first), row_blocks);
        let at = env.batch_at(b.div_u(outer, panel_blocks));
        let panel = b.mul(b.rem_u(outer, panel_blocks), b.index(s.unit_panels as i64));
        let panels = (panel, b.min(b.add(panel, b.index(s.unit_panels as i64)), env.col_tiles));
        if s.panel_source == Source::Scratch && s.block.is_none() {
            pack::panels(env, &at, panels);
        }
        b.for_(from, to, 1, |b, unit| {
            let tile = b.mul(unit, b.index(s.unit_rows as i64));
            let tiles = (tile, b.min(b.add(tile, b.index(s.unit_rows as i64)), env.row_tiles));
            match s.block {
                None => unit_tiles(env, &at, panels, tiles, None),
                Some(block) => blocks(env, &at, panels, tiles, block as i64),
            }
        });
    });
}

/// A unit in blocks of the contracted length: sums wait in the scratch, and each block's panels are packed for themselves.
fn blocks<'c>(env: &Env<'_, 'c>, at: &At<'c>, panels: Range<'c>, tiles: Range<'c>, block: i64) {
    let (b, s) = (env.b, env.s);
    let axis = env.c.k[0];
    let length = env.size(&env.c.extents[axis]);
    let vectors = (s.unit_panels * s.rows * s.vectors) as i64;
    let count = b.mul(b.sub(tiles.1, tiles.0), b.index(vectors));
    let zero = b.zero(env.elem.vector(s.lanes as u32));
    b.for_(b.index(0), count, 1, |b, i| b.vstore(zero, env.tile, b.mul(i, b.index(s.lanes as i64))));
    b.for_(b.index(0), length, block, |b, from| {
        let at = at.in_block(axis, from, b.min(b.sub(length, from), b.index(block)));
        let last = b.cmp(Cmp::Ge, b.add(from, b.index(block)), length);
        if s.panel_source == Source::Scratch {
            pack::panels(env, &at, panels);
        }
        unit_tiles(env, &at, panels, tiles, Some(last));
    });
}

/// `last` is whether this block of the contracted length is the last, where there are blocks.
fn unit_tiles<'c>(env: &Env<'_, 'c>, at: &At<'c>, panels: Range<'c>, tiles: Range<'c>, last: Option<V<'c>>) {
    let b = env.b;
    let columns = |panel: V<'c>| tile::Columns::new(env, at, panel, b.sub(panel, panels.0));
    let row = |t: V<'c>| b.sub(t, tiles.0);
    match last {
        None => b.for_(panels.0, panels.1, 1, |b, panel| {
            let columns = columns(panel);
            b.for_(tiles.0, tiles.1, 1, |_, t| tile::emit(env, at, &columns, t, row(t), None));
        }),
        // Long rows come from far: they pass once, while the panels stay near.
        Some(_) => b.for_(tiles.0, tiles.1, 1, |b, t| {
            b.for_(panels.0, panels.1, 1, |_, panel| tile::emit(env, at, &columns(panel), t, row(t), last));
        }),
    }
}

/// From the first to before the last.
pub(super) type Range<'c> = (V<'c>, V<'c>);

impl<'c> At<'c> {
    /// With one axis more.
    pub fn with(&self, axis: usize, v: V<'c>) -> Self {
        let mut at = self.clone();
        at.axes[axis] = Some(v);
        at
    }

    /// In the block of the outermost contracted axis that begins at `from`.
    pub fn in_block(&self, axis: usize, from: V<'c>, length: V<'c>) -> Self {
        At { block: length, ..self.with(axis, from) }
    }

    /// With axes fixed no more.
    pub fn without(&self, axes: &[usize]) -> Self {
        let mut at = self.clone();
        axes.iter().for_each(|a| at.axes[*a] = None);
        at
    }

    /// Start of the current block along a contracted axis, if not 0.
    pub fn block_start(&self, axis: usize) -> Option<V<'c>> {
        self.axes[axis]
    }
}

impl<'c> Env<'_, 'c> {
    pub fn buffer(&self, id: BufferId) -> Buf<'c> {
        self.buffers[id.0]
    }

    /// A buffer of bytes, of this many words, as 32-bit words.
    pub fn words(&self, id: BufferId, count: V<'c>) -> Buf<'c> {
        self.b.view(self.buffer(id), self.b.index(0), Elem::I32, count)
    }

    pub fn dtype(&self, id: BufferId) -> DType {
        self.dtypes[id.0]
    }

    /// An operand's value outside of it, as memory holds it.
    pub fn outside(&self, o: &Operand) -> V<'c> {
        let (b, raw) = (self.b, Elem::of(o.dtype).scalar());
        match o.outside {
            0.0 => b.zero(raw),
            v => scalar::to_memory(b, o.dtype, b.splat(scalar::elem(o.dtype).scalar(), v)),
        }
    }

    /// sum + a * b, of floats rounded once.
    pub fn multiply_add(&self, a: V<'c>, b: V<'c>, sum: V<'c>) -> V<'c> {
        match self.elem.is_float() {
            true => self.b.fma(a, b, sum),
            false => self.b.add(sum, self.b.mul(a, b)),
        }
    }

    /// Steps as the scratch and panels made ahead count them: rounded up to whole groups.
    pub fn grouped(&self, steps: V<'c>) -> V<'c> {
        match self.s.factors.group() as i64 {
            1 => steps,
            group => self.b.mul(self.b.div_ceil(steps, group), self.b.index(group)),
        }
    }

    pub fn size(&self, d: &Dim) -> V<'c> {
        self.b.size(d, &self.sizes)
    }

    /// The offset as far as the fixed axes and the constant go.
    pub fn offset(&self, f: &Flat, at: &At<'c>) -> V<'c> {
        let mut sum = self.size(&f.constant);
        for (stride, v) in f.strides.iter().zip(&at.axes) {
            if let Some(v) = v {
                sum = self.b.add(sum, self.b.mul(*v, self.size(stride)));
            }
        }
        sum
    }

    /// A number of batch as values of the batch axes.
    pub fn batch_at(&self, number: V<'c>) -> At<'c> {
        let block = self.c.k.first().map_or(self.b.index(1), |a| self.size(&self.c.extents[*a]));
        let (mut at, mut rest) = (At { axes: vec![None; self.c.extents.len()], block }, number);
        for (i, axis) in self.c.batch.iter().enumerate().rev() {
            let extent = self.size(&self.c.extents[*axis]);
            at.axes[*axis] = Some(if i == 0 { rest } else { self.b.rem_u(rest, extent) });
            rest = self.b.div_u(rest, extent);
        }
        at
    }

    /// Position of the fixed batch axes among those that an operand depends on, in row-major order.
    pub fn batch(&self, uses: impl Fn(usize) -> bool, at: &At<'c>) -> V<'c> {
        let mut sum = self.b.index(0);
        for axis in self.c.batch.iter().filter(|a| uses(**a)) {
            let v = at.axes[*axis].expect("batch axes are fixed first");
            sum = self.b.add(self.b.mul(sum, self.size(&self.c.extents[*axis])), v);
        }
        sum
    }

    /// A flattened column number as values of the column axes.
    pub fn columns(&self, at: &At<'c>, n: V<'c>) -> At<'c> {
        let (mut at, mut rest) = (at.clone(), n);
        for (i, axis) in self.c.cols.iter().enumerate().rev() {
            let extent = self.size(&self.c.extents[*axis]);
            at.axes[*axis] = Some(if i == 0 { rest } else { self.b.rem_u(rest, extent) });
            if i > 0 {
                rest = self.b.div_u(rest, extent);
            }
        }
        at
    }

    /// Whether the last panel may be partial.
    pub fn ragged(&self) -> bool {
        self.n.known().is_none_or(|n| n % self.s.width() as i64 != 0)
    }

    /// Loops over axes, outermost first. `cursors` are offsets with a stride an axis; `values` are folded.
    pub fn nest(
        &self,
        axes: &[(V<'c>, Vec<V<'c>>)],
        cursors: &[V<'c>],
        values: &[V<'c>],
        ivs: &mut Vec<V<'c>>,
        body: &mut Step<'_, 'c>,
    ) -> Vec<V<'c>> {
        let Some(((extent, strides), inner)) = axes.split_first() else {
            return body(ivs, cursors, values);
        };
        let init: Vec<_> = cursors.iter().chain(values).copied().collect();
        let out = self.b.for_iter(self.b.index(0), *extent, 1, &init, |b, iv, state| {
            let (here, values) = state.split_at(cursors.len());
            ivs.push(iv);
            let values = self.nest(inner, here, values, ivs, body);
            ivs.pop();
            here.iter().zip(strides).map(|(c, s)| b.add(*c, *s)).chain(values).collect()
        });
        out[cursors.len()..].to_vec()
    }

    /// The contracted axes within the current block, with the strides of some offsets, for [`Env::nest`].
    pub fn k_axes(&self, at: &At<'c>, strides: &[&dyn Fn(usize) -> V<'c>]) -> Vec<(V<'c>, Vec<V<'c>>)> {
        let axis = |(i, a): (usize, &usize)| {
            let extent = if i == 0 { at.block } else { self.size(&self.c.extents[*a]) };
            (extent, strides.iter().map(|s| s(*a)).collect())
        };
        self.c.k.iter().enumerate().map(axis).collect()
    }

    /// Steps of the current block.
    pub fn block_length(&self, at: &At<'c>) -> V<'c> {
        match self.c.k.split_first() {
            Some((_, inner)) => self.b.mul(at.block, self.size(&self.c.count(inner))),
            None => self.b.index(1),
        }
    }

    /// The position with a loop's value for a contracted axis, counted from the block's start.
    pub fn step_at(&self, at: &At<'c>, axis: usize, iv: V<'c>) -> At<'c> {
        at.with(axis, at.axes[axis].map_or(iv, |start| self.b.add(start, iv)))
    }

    /// Offset of the current block in a panel that holds the whole contracted length.
    pub fn block_offset(&self, at: &At<'c>, width: u64) -> V<'c> {
        let start = self.c.k.first().and_then(|a| Some((*a, at.block_start(*a)?)));
        start.map_or(self.b.index(0), |(a, v)| self.b.mul(v, self.packed_stride(a, width)))
    }

    /// Stride of a contracted axis in a packed panel of some width.
    pub fn packed_stride(&self, axis: usize, width: u64) -> V<'c> {
        let position = self.c.k.iter().position(|a| *a == axis).expect("a contracted axis");
        let inner = self.size(&self.c.count(&self.c.k[position + 1..]));
        self.b.mul(inner, self.b.index(width as i64))
    }
}
