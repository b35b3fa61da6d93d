//! A trace that Chrome and Perfetto show: the steps in a track, the bytes alive as counters.

use serde_json::{Value, json};

use super::Timeline;

/// The trace as JSON. Time is the ops' times if they have any, else a microsecond a step.
pub fn trace(t: &Timeline) -> String {
    let timed = t.times.iter().any(|x| *x > 0);
    let mut events: Vec<Value> = vec![json!({"ph": "M", "pid": 1, "name": "process_name", "args": {"name": t.title}})];
    let mut now = 0u64;
    for (i, name) in t.steps.iter().enumerate() {
        let long = if timed { t.times[i].max(1) } else { 1 };
        events.push(json!({"ph": "X", "pid": 1, "tid": 1, "name": name, "ts": now, "dur": long,
            "args": {"step": i, "live_bytes": t.live.get(i)}}));
        let counter = |name: &str, bytes: Option<&u64>| json!({"ph": "C", "pid": 1, "name": name, "ts": now, "args": {"bytes": bytes.copied().unwrap_or(0)}});
        events.push(counter("plan: bytes alive", t.live.get(i)));
        events.push(counter("file order: bytes alive", t.file_live.get(i)));
        now += long;
    }
    json!({"traceEvents": events, "displayTimeUnit": "ms"}).to_string()
}
