//! A trace that Chrome and Perfetto show: the steps in a track, the bytes alive as counters.

use serde_json::{Value, json};

use super::Timeline;

/// The trace as JSON. Time is the ops' times if they have any, else a microsecond a step.
pub fn trace(t: &Timeline) -> String {
    let timed = t.times.iter().any(|x| *x > 0);
    let meta = |name: &str, value: &str| json!({"ph": "M", "pid": 1, "tid": 1, "ts": 0, "name": name, "args": {"name": value}});
    let mut events: Vec<Value> = vec![meta("process_name", &t.title), meta("thread_name", "steps of the plan")];
    let counters = |now: u64, plan: u64, file: u64| {
        [("plan: bytes alive", plan), ("file order: bytes alive", file)]
            .map(|(name, bytes)| json!({"ph": "C", "pid": 1, "name": name, "ts": now, "args": {"bytes": bytes}}))
    };
    let at = |values: &[u64], i: usize| values.get(i).copied().unwrap_or(0);
    let mut now = 0u64;
    for (i, name) in t.steps.iter().enumerate() {
        let long = if timed { t.times[i].max(1) } else { 1 };
        events.push(json!({"ph": "X", "pid": 1, "tid": 1, "name": name, "ts": now, "dur": long,
            "args": {"step": i, "live_bytes": t.live.get(i)}}));
        events.extend(counters(now, at(&t.live, i), at(&t.file_live, i)));
        now += long;
    }
    // A counter holds until its next event: without these the last step would have no end.
    events.extend(counters(now, 0, 0));
    json!({"traceEvents": events, "displayTimeUnit": "ms"}).to_string()
}
