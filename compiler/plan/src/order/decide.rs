//! The exact order search from both ends.
//!
//! The same search runs forwards over the model and backwards over its mirror image. What is free at either end is done
//! first, once; what is left lies between two down-sets. Either direction alone settles whether an order exists, and often
//! one of them has far less to look at, so both go on in turns until one is done.

use super::model::Model;
use super::search::{Search, Verdict};
use crate::limits::Clock;
use crate::random::Random;

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// An order that meets the target.
    Order(Vec<u32>),
    /// No order meets the target; none is below this.
    AtLeast(u64),
    /// The states ran out.
    Unknown,
}

/// A model and its mirror image.
#[derive(Clone, Debug)]
pub(crate) struct Both {
    pub(crate) forward: Model,
    backward: Model,
}

impl Both {
    pub(crate) fn new(forward: Model) -> Self {
        Both { backward: forward.reversed(), forward }
    }

    /// Looks for an order with a peak of at most `target`; says how many states it looked at.
    pub(crate) fn decide(&self, target: u64, states: u64, clock: &Clock) -> (Found, u64) {
        let mut forward = Search::new(&self.forward, target);
        forward.close();
        let mut backward = Search::new(&self.backward, target);
        if !forward.complete() {
            backward.forbid(forward.order());
            backward.close();
            forward.forbid(backward.order());
        }
        let head: Vec<u32> = forward.order().collect();
        let tail: Vec<u32> = backward.order().collect();
        let blocked = forward.next.min(backward.next);
        let spent = |f: &Search<'_>, b: &Search<'_>| f.states + b.states;
        if forward.complete() {
            let order = head.into_iter().chain(tail.into_iter().rev()).collect();
            return (Found::Order(order), 1);
        }
        let mut slice = 64;
        while spent(&forward, &backward) < states && !clock.over() {
            for ahead in [true, false] {
                let search = if ahead { &mut forward } else { &mut backward };
                let found = match search.go_on(slice) {
                    Verdict::Found if ahead => Found::Order(search.order().chain(tail.into_iter().rev()).collect()),
                    Verdict::Found => Found::Order(head.into_iter().chain(search.order().rev()).collect()),
                    Verdict::Impossible => Found::AtLeast(search.next.min(blocked)),
                    Verdict::Open => continue,
                };
                return (found, spent(&forward, &backward));
            }
            slice = (slice * 2).min(1 << 16);
        }
        (Found::Unknown, spent(&forward, &backward))
    }

    /// Orders that follow the same rules without looking back, one from each end.
    pub(crate) fn descend(&self, target: u64) -> [Vec<u32>; 2] {
        let mut forward = Search::new(&self.forward, target);
        forward.descend();
        let mut backward = Search::new(&self.backward, target);
        backward.descend();
        [forward.order().collect(), backward.order().rev().collect()]
    }

    /// An order that follows the same rules but for some choices made by chance, from one end or the other.
    pub(crate) fn wander(&self, target: u64, random: &mut Random) -> Vec<u32> {
        if random.bits().is_multiple_of(2) {
            let mut forward = Search::new(&self.forward, target);
            forward.wander(random);
            forward.order().collect()
        } else {
            let mut backward = Search::new(&self.backward, target);
            backward.wander(random);
            backward.order().rev().collect()
        }
    }
}
