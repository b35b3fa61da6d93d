//! Segments, disjoint or nested, applied to a body.

use neap_optable::{Body, ValueId};
use neap_passes::graph::tile::{Segment, split};

/// A segment of the base body that runs tile by tile.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decision {
    /// First node of the base body.
    pub from: usize,
    /// One past its last node.
    pub to: usize,
    /// The dim of its results that is cut.
    pub axis: usize,
    /// Tiles at most.
    pub tiles: u64,
}

impl Decision {
    /// Whether both can be applied: one inside the other, along another dim, or apart.
    pub fn agrees(&self, other: &Decision) -> bool {
        let apart = self.to <= other.from || other.to <= self.from;
        let inside = |a: &Decision, b: &Decision| b.from <= a.from && a.to <= b.to && a.to - a.from < b.to - b.from;
        apart || self.axis != other.axis && (inside(self, other) || inside(other, self))
    }
}

/// A body with its decisions applied.
#[derive(Clone, Debug)]
pub struct Built {
    /// The body.
    pub body: Body,
    /// For each node the one of the base body it was written for.
    pub origins: Vec<usize>,
    /// What makes the first value runs before what makes the second.
    pub order: Vec<(ValueId, ValueId)>,
    /// Tiles of each decision.
    pub tiles: Vec<usize>,
}

/// Applies decisions that agree with each other.
///
/// # Errors
/// Why one of them cannot be applied.
pub fn build(base: &Body, decisions: &[Decision]) -> Result<Built, String> {
    let mut inner_first: Vec<usize> = (0..decisions.len()).collect();
    inner_first.sort_by_key(|&i| decisions[i].to - decisions[i].from);
    let mut built = Built {
        body: base.clone(),
        origins: (0..base.nodes.len()).collect(),
        order: vec![],
        tiles: vec![0; decisions.len()],
    };
    for i in inner_first {
        let d = &decisions[i];
        let within = |o: &usize| d.from <= *o && *o < d.to;
        let first = built.origins.iter().position(within).ok_or("the segment is gone")?;
        let last = built.origins.iter().rposition(within).ok_or("the segment is gone")?;
        let tiled = split(&built.body, &Segment { nodes: first..last + 1, axis: d.axis, tiles: d.tiles })?;
        // Order inside a segment holds in each of its tiles.
        let mut order = tiled.order;
        for (a, b) in built.order {
            let inside: Vec<_> = tiled.copies.iter().filter_map(|c| Some((*c.get(&a)?, *c.get(&b)?))).collect();
            if inside.is_empty() {
                order.push((a, b));
            }
            order.extend(inside);
        }
        built.order = order;
        built.origins = tiled.origins.iter().map(|o| built.origins[*o]).collect();
        built.body = tiled.body;
        built.tiles[i] = tiled.tiles;
    }
    Ok(built)
}
