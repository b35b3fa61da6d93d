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
    let escape = |c: char| match c {
        '<' => "&lt;".to_string(),
        '>' => "&gt;".to_string(),
        '&' => "&amp;".to_string(),
        c => c.to_string(),
    };
    let title: String = t.title.chars().map(escape).collect();
    let mut page = String::with_capacity(data.len() + 32_768);
    // Names may hold what looks like a mark, so what is filled in is never looked through again.
    for (i, part) in include_str!("page.html").split("{{").enumerate() {
        let (mark, text) = if i == 0 { ("", part) } else { part.split_once("}}").unwrap_or(("", part)) };
        page.push_str(match mark {
            "title" => &title,
            "style" => include_str!("page.css"),
            "data" => &data,
            "script" => include_str!("page.js"),
            _ => "",
        });
        page.push_str(text);
    }
    page
}
