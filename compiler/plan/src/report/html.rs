//! One self-contained page: the arena over time, and the bytes alive over time.

use serde_json::json;

use super::Timeline;

/// The page; it needs no network and no other file.
pub fn html(t: &Timeline) -> String {
    // Rows instead of objects keep the page small; `<` is escaped so that no name can end the script.
    let bars: Vec<_> = t.bars.iter().map(|b| json!([b.name, b.made_by, b.from, b.to, b.offset, b.size])).collect();
    let data = json!({
        "title": t.title, "steps": t.steps, "bars": bars, "live": t.live, "fileLive": t.file_live,
        "segments": t.segments, "arena": t.arena, "peak": t.peak, "peakStep": t.peak_step,
        "bound": t.lower_bound, "boundCheck": t.bound.label(), "filePeak": t.file_order_peak, "noReuse": t.no_reuse, "method": t.method,
    });
    let data = data.to_string().replace('<', "\\u003c");
    let title: String = t
        .title
        .chars()
        .map(|c| match c {
            '<' => "&lt;".to_string(),
            '>' => "&gt;".to_string(),
            '&' => "&amp;".to_string(),
            c => c.to_string(),
        })
        .collect();
    include_str!("page.html").replace("{{title}}", &title).replace("{{data}}", &data)
}
