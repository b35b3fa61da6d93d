//! Time as the solvers see it: only the instants at which a maximal set of rectangles is alive.

/// First and past-the-last maximal instant of each half-open life, and how many there are: an instant is maximal when
/// something is born right before it and something dies right after it.
pub(crate) fn maximal(lives: &[(u64, u64)]) -> (Vec<u32>, Vec<u32>, usize) {
    // (time, is birth, index); deaths come first at one time, since lives are half open.
    let mut events: Vec<(u64, bool, u32)> = Vec::with_capacity(lives.len() * 2);
    for (i, (lower, upper)) in lives.iter().enumerate() {
        events.push((*lower, true, i as u32));
        events.push((*upper, false, i as u32));
    }
    events.sort_unstable();
    let (mut low, mut high) = (vec![0; lives.len()], vec![0; lives.len()]);
    let mut section = 0;
    let mut grown = false;
    for (_, birth, i) in events {
        if birth {
            low[i as usize] = section;
            grown = true;
        } else {
            if grown {
                section += 1;
                grown = false;
            }
            high[i as usize] = section;
        }
    }
    (low, high, section as usize)
}
