//! Maximum flow by Dinic's algorithm (Soviet Math. Dokl. 1970), for minimum cuts.

use std::collections::VecDeque;

/// A capacity that no cut crosses.
pub(crate) const ENDLESS: u64 = u64::MAX / 4;

/// A network; each edge is stored beside its reverse.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flow {
    to: Vec<u32>,
    room: Vec<u64>,
    edges: Vec<Vec<u32>>,
    level: Vec<u32>,
    at: Vec<usize>,
    /// Edges looked at.
    pub(crate) work: u64,
}

impl Flow {
    /// A new node.
    pub(crate) fn node(&mut self) -> u32 {
        self.edges.push(Vec::new());
        self.edges.len() as u32 - 1
    }

    /// A new edge.
    pub(crate) fn edge(&mut self, from: u32, to: u32, room: u64) {
        for (a, b, room) in [(from, to, room), (to, from, 0)] {
            self.edges[a as usize].push(self.to.len() as u32);
            self.to.push(b);
            self.room.push(room);
        }
    }

    /// The most that flows.
    pub(crate) fn run(&mut self, source: u32, sink: u32) -> u64 {
        let mut total = 0;
        while self.levels(source, sink) {
            self.at = vec![0; self.edges.len()];
            while let Some(sent) = self.path(source, sink) {
                total += sent;
            }
        }
        total
    }

    fn levels(&mut self, source: u32, sink: u32) -> bool {
        self.level = vec![u32::MAX; self.edges.len()];
        self.level[source as usize] = 0;
        let mut queue = VecDeque::from([source]);
        while let Some(n) = queue.pop_front() {
            for e in &self.edges[n as usize] {
                self.work += 1;
                let to = self.to[*e as usize];
                if self.room[*e as usize] > 0 && self.level[to as usize] == u32::MAX {
                    self.level[to as usize] = self.level[n as usize] + 1;
                    if to == sink {
                        return true;
                    }
                    queue.push_back(to);
                }
            }
        }
        false
    }

    /// Sends as much as one path of the level graph takes.
    fn path(&mut self, source: u32, sink: u32) -> Option<u64> {
        let mut taken: Vec<u32> = Vec::new();
        let mut n = source;
        while n != sink {
            let list = &self.edges[n as usize];
            let at = &mut self.at[n as usize];
            let onward = loop {
                let Some(e) = list.get(*at) else { break None };
                self.work += 1;
                let to = self.to[*e as usize] as usize;
                if self.room[*e as usize] > 0 && self.level[to] == self.level[n as usize].saturating_add(1) {
                    break Some(*e);
                }
                *at += 1;
            };
            match onward {
                Some(e) => {
                    taken.push(e);
                    n = self.to[e as usize];
                }
                None => {
                    let e = taken.pop()?;
                    n = self.to[(e ^ 1) as usize];
                    self.at[n as usize] += 1;
                }
            }
        }
        let sent = taken.iter().map(|e| self.room[*e as usize]).min().unwrap_or(0);
        for e in taken {
            self.room[e as usize] -= sent;
            self.room[(e ^ 1) as usize] += sent;
        }
        Some(sent)
    }
}
