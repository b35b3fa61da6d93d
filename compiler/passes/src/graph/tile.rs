//! Runs a segment tile by tile, so that of its large values only parts are in memory at once.
//!
//! Each tile computes a part of the segment's results along one dim: exact intervals of rows are followed backwards through every
//! op (through windows of convolutions and pools with the rows they overlap by, whose padding becomes the tile's own where it is
//! cut). What two tiles both need is computed twice. The parts are concatenated; values that are also read outside of the
//! segment are concatenated too, and what a tile needs whole runs once before the tiles. Along the batch nothing overlaps.
//!
//! Class: exact. Every element is computed by the same operations in the same order: where the order of a reduction could depend
//! on the tile's shape the op is refused.
//!
//! **Does not fire when** the segment has no result with at least two elements along the axis, or an op in it mixes elements
//! along the axis (a normalisation over rows, a flattening into one long row): then the node and the reason are told.
//!
//! ```mlir
//! %0 = graph.unary exp %x : tensor<4xf32> -> tensor<4xf32>
//! // becomes, with axis=0 tiles=2: slices 0..2 and 2..4 of %x, graph.unary exp of each, graph.concat of both
//! ```

mod emit;
mod needs;
mod part;
mod rules;
mod split;
mod window;

pub use split::{Segment, Tiled, split};

use neap_optable::Body;

use crate::pass::{Changed, Cx, Func, GraphPass, PassError};

/// The pass.
pub struct Tile;

/// Options.
#[derive(clap::Args)]
pub struct Options {
    /// First node: its name or its position; the function's first unless given.
    #[arg(long)]
    from: Option<String>,
    /// Last node: its name or its position; the function's last unless given.
    #[arg(long)]
    to: Option<String>,
    /// The dim of the segment's results that is cut.
    #[arg(long, default_value_t = 0)]
    axis: usize,
    /// Tiles at most.
    #[arg(long, default_value_t = 2)]
    tiles: u64,
}

impl GraphPass for Tile {
    type Options = Options;
    const NAME: &'static str = "graph-tile";
    const SUMMARY: &'static str =
        "run a segment tile by tile, so that of its large values only parts are in memory at once";

    fn run(_: &mut Cx, func: &mut Func, options: &Options) -> Result<Changed, PassError> {
        let fail = |message: String| PassError { pass: Self::NAME, message };
        let find = |name: &Option<String>, otherwise: usize| {
            name.as_deref().map_or(Ok(otherwise), |n| position(&func.body, n)).map_err(fail)
        };
        let last = func.body.nodes.len().saturating_sub(1);
        let nodes = find(&options.from, 0)?..find(&options.to, last)? + 1;
        func.body = split(&func.body, &Segment { nodes, axis: options.axis, tiles: options.tiles }).map_err(fail)?.body;
        Ok(Changed::Yes)
    }
}

/// A node by position, or by a name (one of those that were joined by `+` will do).
fn position(body: &Body, name: &str) -> Result<usize, String> {
    if let Ok(i) = name.parse::<usize>() {
        let n = body.nodes.len();
        return if i < n { Ok(i) } else { Err(format!("there is no node {i}: the function has {n}")) };
    }
    let named = |n: &neap_optable::Node| n.name == name || n.name.split('+').any(|part| part == name);
    body.nodes.iter().position(named).ok_or_else(|| format!("no node is named '{name}'"))
}
