//! Tries every order, every choice of shares and every offset. It shares nothing with the library but the problem.

use neap_plan::{Home, Problem, ShareKind};

/// The least arena of any plan.
pub fn least_arena(p: &Problem) -> u64 {
    let mut best = u64::MAX;
    let mut order = Vec::new();
    orders(p, &mut order, &mut |order| {
        for mask in 0..1u32 << p.shares().len() {
            if let Some(groups) = groups(p, order, mask) {
                let peak = load(p, order, &groups);
                let mut height = peak;
                while height < best && !fits(p, &groups, height) {
                    height += p.storage_align();
                }
                best = best.min(height);
            }
        }
    });
    best
}

fn orders(p: &Problem, order: &mut Vec<usize>, f: &mut impl FnMut(&[usize])) {
    if order.len() == p.ops().len() {
        f(order);
        return;
    }
    let preds = p.predecessors();
    for o in 0..p.ops().len() {
        if !order.contains(&o) && preds[o].iter().all(|q| order.contains(&q.index())) {
            order.push(o);
            orders(p, order, f);
            order.pop();
        }
    }
}

#[derive(Clone, Copy)]
struct Piece {
    from: i64,
    to: i64,
    birth: usize,
    death: usize,
}

/// Blocks that lie in the arena, each as pieces padded outward, for one choice of shares; none if the choice is illegal.
fn groups(p: &Problem, order: &[usize], mask: u32) -> Option<Vec<Vec<Piece>>> {
    let n = p.tensors().len();
    let step: Vec<usize> = (0..order.len()).map(|o| order.iter().position(|x| *x == o).unwrap()).collect();
    let life = |t: usize| {
        let tensor = &p.tensors()[t];
        let id = neap_plan::TensorId(t as u32);
        let birth = p.producer(id).map_or(0, |o| step[o.index()]);
        let last = p.consumers(id).iter().map(|o| step[o.index()]).max().unwrap_or(birth);
        if tensor.pinned {
            (0, order.len() + 1)
        } else {
            (birth, if tensor.output { order.len() + 1 } else { last + 1 })
        }
    };
    let taken: Vec<_> = p.shares().iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1).map(|s| s.1).collect();
    // Positions by relaxation over the taken shares.
    let mut place: Vec<Option<(usize, i64)>> = vec![None; n];
    for t in 0..n {
        if place[t].is_some() {
            continue;
        }
        place[t] = Some((t, 0));
        let mut work = vec![t];
        while let Some(u) = work.pop() {
            let at = place[u].unwrap().1;
            for s in &taken {
                let (i, o, by) = (s.inner.index(), s.outer.index(), s.offset as i64);
                for (from, to, by) in [(o, i, by), (i, o, -by)] {
                    if from == u {
                        match place[to] {
                            None => {
                                place[to] = Some((t, at + by));
                                work.push(to);
                            }
                            Some((_, x)) if x != at + by => return None,
                            _ => {}
                        }
                    }
                }
            }
        }
    }
    let place: Vec<(usize, i64)> = place.into_iter().map(|x| x.unwrap()).collect();
    let range = |t: usize| (place[t].1, place[t].1 + p.tensors()[t].size as i64);
    for s in &taken {
        if s.kind == ShareKind::InPlace && life(s.outer.index()).1 > step[s.op.index()] + 1 {
            return None;
        }
    }
    // No two values in one byte at one step.
    for a in 0..n {
        for b in 0..a {
            if place[a].0 != place[b].0 {
                continue;
            }
            let (la, lb) = (life(a), life(b));
            let (from, to) = (la.0.max(lb.0), la.1.min(lb.1));
            let (low, high) = (range(a).0.max(range(b).0), range(a).1.min(range(b).1));
            if from >= to || low >= high {
                continue;
            }
            let swap = taken.iter().any(|s| {
                let pair = (s.outer.index(), s.inner.index());
                s.kind == ShareKind::InPlace
                    && (pair == (a, b) || pair == (b, a))
                    && (from, to) == (step[s.op.index()], step[s.op.index()] + 1)
            });
            // Each byte by itself: shares lead from one to the other through tensors that hold it.
            let same = |byte: i64| {
                let mut seen = vec![a];
                let mut i = 0;
                while i < seen.len() {
                    for s in taken.iter().filter(|s| s.kind != ShareKind::InPlace) {
                        for (x, y) in [(s.inner.index(), s.outer.index()), (s.outer.index(), s.inner.index())] {
                            if x == seen[i] && !seen.contains(&y) && range(y).0 <= byte && byte < range(y).1 {
                                seen.push(y);
                            }
                        }
                    }
                    i += 1;
                }
                seen.contains(&b)
            };
            if !swap && !(low..high).all(same) {
                return None;
            }
        }
    }
    // Memory outside the arena.
    let mut outside: Vec<Option<usize>> = vec![None; n];
    for t in 0..n {
        if p.tensors()[t].home != Home::Arena {
            let root = place[t].0;
            if outside[root].is_some() {
                return None;
            }
            outside[root] = Some(t);
        }
    }
    let mut views: Vec<usize> = (0..n).filter(|t| p.tensors()[*t].home == Home::ReadOnly).collect();
    let mut i = 0;
    while i < views.len() {
        let here = views[i];
        for s in taken.iter().filter(|s| s.kind == ShareKind::View && s.outer.index() == here) {
            if !views.contains(&s.inner.index()) {
                views.push(s.inner.index());
            }
        }
        i += 1;
    }
    for t in 0..n {
        if let Some(e) = outside[place[t].0] {
            if range(t).0 < range(e).0 || range(t).1 > range(e).1 {
                return None;
            }
            if p.tensors()[e].home == Home::ReadOnly && !views.contains(&t) {
                return None;
            }
        }
    }
    let unit = p.storage_align() as i64;
    let mut groups = Vec::new();
    for root in 0..n {
        let members: Vec<usize> = (0..n).filter(|t| place[*t].0 == root).collect();
        if members.is_empty() || outside[root].is_some() {
            continue;
        }
        let base = members.iter().map(|t| range(*t).0).min().unwrap();
        groups.push(
            members
                .iter()
                .map(|t| Piece {
                    from: (range(*t).0 - base).div_euclid(unit) * unit,
                    to: (range(*t).1 - base + unit - 1).div_euclid(unit) * unit,
                    birth: life(*t).0,
                    death: life(*t).1,
                })
                .collect(),
        );
    }
    for (o, op) in p.ops().iter().enumerate().filter(|x| x.1.workspace > 0) {
        let to = p.padded(op.workspace) as i64;
        groups.push(vec![Piece { from: 0, to, birth: step[o], death: step[o] + 1 }]);
    }
    Some(groups)
}

fn load(p: &Problem, order: &[usize], groups: &[Vec<Piece>]) -> u64 {
    let mut peak = 0;
    for s in 0..order.len() {
        let mut now = 0;
        for g in groups {
            let end = g.iter().map(|x| x.to).max().unwrap_or(0);
            now += (0..end)
                .filter(|b| g.iter().any(|x| x.from <= *b && *b < x.to && x.birth <= s && s < x.death))
                .count() as u64;
        }
        peak = peak.max(now);
    }
    assert_eq!(peak % p.storage_align(), 0);
    peak
}

fn fits(p: &Problem, groups: &[Vec<Piece>], height: u64) -> bool {
    fn go(groups: &[Vec<Piece>], offsets: &mut Vec<i64>, height: i64, unit: i64) -> bool {
        let i = offsets.len();
        let Some(g) = groups.get(i) else { return true };
        let end = g.iter().map(|x| x.to).max().unwrap_or(0);
        let mut at = 0;
        while at + end <= height {
            let clash = (0..i).any(|j| {
                groups[j].iter().any(|q| {
                    g.iter().any(|x| {
                        x.birth < q.death
                            && q.birth < x.death
                            && x.from + at < q.to + offsets[j]
                            && q.from + offsets[j] < x.to + at
                    })
                })
            });
            if !clash {
                offsets.push(at);
                if go(groups, offsets, height, unit) {
                    return true;
                }
                offsets.pop();
            }
            at += unit;
        }
        false
    }
    go(groups, &mut Vec::new(), height as i64, p.storage_align() as i64)
}
