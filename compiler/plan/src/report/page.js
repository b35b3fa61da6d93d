"use strict";
const d = JSON.parse(document.getElementById("data").textContent);
const n = Math.max(1, d.steps.length), arena = Math.max(1, d.arena);
const el = id => document.getElementById(id);
const make = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
const human = b => b >= 2 ** 30 ? (b / 2 ** 30).toFixed(2) + " GiB" : b >= 2 ** 20 ? (b / 2 ** 20).toFixed(2) + " MiB"
  : b >= 1024 ? (b / 1024).toFixed(2) + " KiB" : b + " B";
// Names of fused ops are long; what begins and what ends them says most.
const short = (text, most) => text.length <= most ? text : text.slice(0, most / 2 - 1) + "\u2026" + text.slice(1 - most / 2);

// Figures and the table.
el("method").textContent = d.steps.length + " steps, " + d.bars.length + " buffers; " + d.method;
const less = (a, b) => b > 0 && a < b ? ((b - a) / b * 100).toFixed(1) + " % less than file order" : a > b ? "" : "as file order";
const gap = d.bound === 0 && d.arena > 0 ? "nothing is proven"
  : (d.arena <= d.bound ? "optimal" : "gap " + ((d.arena - d.bound) / d.bound * 100).toFixed(2) + " %") + ", " + d.boundCheck;
for (const [what, bytes, note] of [["no reuse", d.noReuse, ""], ["file order", d.filePeak, ""],
    ["this plan", d.arena, less(d.arena, d.filePeak)], ["proven bound", d.bound, gap]]) {
  const card = make("div", "");
  card.className = "card";
  card.append(make("span", what), make("b", human(bytes)), make("span", note));
  el("cards").append(card);
}
const SHOWN = 14;
const held = d.bars.filter(b => b[2] <= d.peakStep && d.peakStep < b[3]).sort((a, b) => b[5] - a[5]);
el("where").textContent = d.steps.length
  ? "step " + (d.peakStep + 1) + " of " + d.steps.length + ", " + short(d.steps[d.peakStep], 120) + ": " + human(d.peak) : "";
const row = (tag, cells) => { const tr = make("tr", ""); tr.append(...cells.map(c => make(tag, c))); el("held").append(tr); };
row("th", ["bytes", "buffer", "made by", "steps"]);
for (const b of held.slice(0, SHOWN))
  row("td", [human(b[5]), short(b[0], 110), b[0].endsWith(b[1]) ? "" : short(b[1], 80), b[2] + 1 + "\u2013" + b[3]]);
if (held.length > SHOWN) row("td", [human(held.slice(SHOWN).reduce((s, b) => s + b[5], 0)), held.length - SHOWN + " more", "", ""]);

// Charts: `view` is the part of steps and bytes that is seen; both charts share the steps.
const full = { s0: 0, s1: n, b0: 0, b1: arena };
let view = { ...full }, theme = {}, colors = [], layer = null, at = null, hover = -1;
const left = 78, right = 16, top_ = 22, bottom = 26;
function dress() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["line", "dim", "band", "plan", "file", "peak", "bound", "card", "ink"]) theme[name] = style.getPropertyValue("--" + name).trim();
  theme.dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const hash = text => { let h = 7; for (let i = 0; i < text.length; i++) h = (h * 31 + text.charCodeAt(i)) >>> 0; return (h * 2654435761 >>> 0) % 360; };
  colors = d.bars.map(b => "hsl(" + hash(b[0]) + (theme.dark ? " 40% 44%)" : " 55% 72%)"));
}
/** The smallest of 1, 2, 5 times a power of ten that cuts `range` into at most `most`. */
function nice(range, most) {
  const raw = range / most, power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map(m => m * power).find(s => s >= raw * 0.999);
}
function frame(canvas, b0, b1, ticks) {
  const scale = window.devicePixelRatio || 1, width = Math.max(200, canvas.clientWidth), height = Math.max(100, canvas.clientHeight);
  const sheet = document.createElement("canvas");
  sheet.width = canvas.width = Math.round(width * scale);
  sheet.height = canvas.height = Math.round(height * scale);
  const g = sheet.getContext("2d"), w = width - left - right, h = height - top_ - bottom, { s0, s1 } = view;
  g.scale(scale, scale);
  const f = { g, sheet, canvas, scale, width, height, w, h, x: s => left + (s - s0) / (s1 - s0) * w,
    y: b => top_ + h - (b - b0) / (b1 - b0) * h, step: x => s0 + (x - left) / w * (s1 - s0), byte: y => b0 + (top_ + h - y) / h * (b1 - b0) };
  g.font = "11.5px system-ui, sans-serif"; g.textBaseline = "middle"; g.fillStyle = theme.dim; g.strokeStyle = theme.line;
  const by = 2 ** Math.max(0, Math.ceil(Math.log2((b1 - b0) / ticks)));
  g.textAlign = "right";
  for (let b = Math.ceil(b0 / by) * by; b <= b1 + by / 1e6; b += by) {
    g.beginPath(); g.moveTo(left, f.y(b)); g.lineTo(left + w, f.y(b)); g.stroke(); g.fillText(human(Math.round(b)), left - 8, f.y(b));
  }
  g.textAlign = "center";
  const every = Math.max(1, nice(s1 - s0, 12));
  for (let s = Math.ceil(s0 / every) * every; s <= s1; s += every) g.fillText(s, f.x(s), height - bottom + 13);
  g.save(); g.beginPath(); g.rect(left, top_ - 1, w, h + 2); g.clip();
  // Segments too narrow to tell apart would only be noise.
  g.fillStyle = theme.band;
  d.segments.forEach((s, i) => {
    const end = i + 1 < d.segments.length ? d.segments[i + 1] : n;
    if (i % 2 && end > s0 && s < s1 && f.x(end) - f.x(s) >= 4) g.fillRect(f.x(s), top_, f.x(end) - f.x(s), h);
  });
  return f;
}
function drawArena() {
  const f = layer = frame(el("arena"), view.b0, view.b1, 8), g = f.g;
  d.bars.forEach((b, i) => {
    if (b[3] <= view.s0 || b[2] >= view.s1 || b[4] + b[5] <= view.b0 || b[4] >= view.b1) return;
    const x0 = f.x(b[2]), y0 = f.y(b[4] + b[5]), w = Math.max(0.7, f.x(b[3]) - x0), h = Math.max(0.7, f.y(b[4]) - y0);
    g.globalAlpha = w > 4 && h > 4 ? 0.86 : 1;
    g.fillStyle = colors[i];
    g.fillRect(x0, y0, w, h);
    g.globalAlpha = 1;
    if (w > 4 && h > 4) { g.strokeStyle = theme.card; g.strokeRect(x0 + .5, y0 + .5, w - 1, h - 1); }
    const from = Math.max(x0, left), room = Math.min(x0 + w, left + f.w) - from - 10;
    const high = Math.max(y0, top_), low = Math.min(y0 + h, top_ + f.h);
    if (room > 80 && low - high > 13) {
      g.fillStyle = theme.dark ? "#fff" : "#16202c"; g.textAlign = "left";
      g.fillText(short(b[0], 2 * Math.floor(room / 13)), from + 5, (high + low) / 2, room);
    }
  });
  g.strokeStyle = theme.peak; g.setLineDash([4, 3]); g.beginPath();
  g.moveTo(f.x(d.peakStep + .5), top_); g.lineTo(f.x(d.peakStep + .5), top_ + f.h); g.stroke(); g.setLineDash([]);
  g.restore();
  if (d.peakStep >= view.s0 && d.peakStep < view.s1) label(f, "peak", f.x(d.peakStep + .5), 11);
  show();
}
/** A word beside a point, on whichever side has room. */
function label(f, text, x, y) {
  const g = f.g, w = g.measureText(text).width + 10, to = x + 7 + w < left + f.w ? x + 7 : x - 7 - w;
  g.fillStyle = theme.card; g.globalAlpha = 0.9; g.fillRect(to, y - 8, w, 16); g.globalAlpha = 1;
  g.fillStyle = theme.peak; g.textAlign = "left"; g.fillText(text, to + 5, y + 1);
}
/** The drawn arena and, over it, what the pointer is on: moving it draws nothing anew. */
function show() {
  const g = layer.canvas.getContext("2d");
  g.setTransform(1, 0, 0, 1, 0, 0); g.clearRect(0, 0, layer.canvas.width, layer.canvas.height); g.drawImage(layer.sheet, 0, 0);
  if (hover < 0) return;
  g.scale(layer.scale, layer.scale); g.beginPath(); g.rect(left, top_ - 1, layer.w, layer.h + 2); g.clip();
  const b = d.bars[hover], x0 = layer.x(b[2]), y0 = layer.y(b[4] + b[5]);
  const w = Math.max(3, layer.x(b[3]) - x0), h = Math.max(3, layer.y(b[4]) - y0);
  g.fillStyle = colors[hover]; g.fillRect(x0, y0, w, h); g.strokeStyle = theme.ink; g.lineWidth = 2; g.strokeRect(x0, y0, w, h);
  if (w > 90 && h > 13) {
    g.font = layer.g.font; g.textBaseline = "middle"; g.fillStyle = theme.ink;
    g.fillText(short(b[0], 2 * Math.floor(w / 13)), Math.max(x0, left) + 5, y0 + h / 2, w - 10);
  }
}
function drawLive() {
  const f = frame(el("live"), 0, Math.max(1, d.peak, d.filePeak, d.bound) * 1.04, 4), g = f.g;
  const line = (values, color, thick) => {
    g.strokeStyle = color; g.lineWidth = thick; g.beginPath();
    const s0 = Math.floor(view.s0), s1 = Math.min(n, Math.ceil(view.s1)), wide = Math.max(1, Math.floor((s1 - s0) / f.w / 2));
    for (let s = s0; s < s1; s += wide) {
      // Where many steps share a pixel: the most and the least of them.
      const part = wide === 1 ? [values[s]] : values.slice(s, s + wide), most = Math.max(...part), least = Math.min(...part);
      g.lineTo(f.x(s), f.y(most)); g.lineTo(f.x(Math.min(n, s + wide)), f.y(least));
    }
    g.stroke(); g.lineWidth = 1;
  };
  line(d.fileLive, theme.file, 4);
  line(d.live, theme.plan, 1.6);
  g.strokeStyle = theme.bound; g.setLineDash([6, 4]); g.beginPath();
  g.moveTo(left, f.y(d.bound)); g.lineTo(left + f.w, f.y(d.bound)); g.stroke(); g.setLineDash([]);
  const x = f.x(d.peakStep + .5);
  g.fillStyle = theme.peak; g.beginPath(); g.arc(x, f.y(d.peak), 4, 0, 7); g.fill();
  label(f, "peak " + human(d.peak), x, Math.min(f.y(d.peak) + 16, top_ + f.h - 8));
  f.canvas.getContext("2d").drawImage(f.sheet, 0, 0);
}
function draw() { drawArena(); drawLive(); }
let asked = false;
const redraw = () => { if (!asked) { asked = true; requestAnimationFrame(() => { asked = false; draw(); }); } };

// Pointer.
const clamp = (v, low, high) => Math.max(low, Math.min(high, v));
function tip(e, text) {
  const t = el("tip");
  t.style.display = text ? "block" : "none";
  if (!text) return;
  t.textContent = text;
  t.style.left = clamp(e.clientX + 14, 4, innerWidth - t.offsetWidth - 8) + "px";
  t.style.top = (e.clientY + 18 + t.offsetHeight > innerHeight ? e.clientY - t.offsetHeight - 12 : e.clientY + 18) + "px";
}
const inside = (canvas, e) => { const r = canvas.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
/** Keeps the view within everything. */
function settle(v) {
  const s = Math.min(n, v.s1 - v.s0), b = Math.min(arena, v.b1 - v.b0);
  const s0 = clamp(v.s0, 0, n - s), b0 = clamp(v.b0, 0, arena - b);
  view = { s0, s1: s0 + s, b0, b1: b0 + b };
  redraw();
}
el("arena").addEventListener("wheel", e => {
  e.preventDefault();
  const [x, y] = inside(el("arena"), e), by = Math.exp(clamp(e.deltaY || e.deltaX, -200, 200) / 400);
  const s = clamp(layer.step(x), view.s0, view.s1), b = clamp(layer.byte(y), view.b0, view.b1);
  const ks = Math.max(by, Math.min(1, 4 / (view.s1 - view.s0))), kb = e.shiftKey ? 1 : Math.max(by, Math.min(1, 64 / (view.b1 - view.b0)));
  settle({ s0: s - (s - view.s0) * ks, s1: s + (view.s1 - s) * ks, b0: b - (b - view.b0) * kb, b1: b + (view.b1 - b) * kb });
}, { passive: false });
el("arena").addEventListener("pointerdown", e => { at = { x: e.clientX, y: e.clientY, view }; el("arena").setPointerCapture(e.pointerId); });
el("arena").addEventListener("pointerup", () => { at = null; });
el("arena").addEventListener("dblclick", () => settle(full));
el("arena").addEventListener("pointermove", e => {
  if (at && Math.hypot(e.clientX - at.x, e.clientY - at.y) > 3) {
    const ds = (at.x - e.clientX) / layer.w * (at.view.s1 - at.view.s0), db = (e.clientY - at.y) / layer.h * (at.view.b1 - at.view.b0);
    settle({ s0: at.view.s0 + ds, s1: at.view.s1 + ds, b0: at.view.b0 + db, b1: at.view.b1 + db });
    tip(e, "");
    return;
  }
  const [x, y] = inside(el("arena"), e), s = layer.step(x), b = layer.byte(y);
  let found = -1;
  // The smallest of those that share these bytes: the others can be reached beside it.
  if (s >= view.s0 && s <= view.s1 && b >= view.b0 && b <= view.b1)
    d.bars.forEach((bar, i) => {
      if (s >= bar[2] && s < bar[3] && b >= bar[4] && b < bar[4] + bar[5] && (found < 0 || bar[5] <= d.bars[found][5])) found = i;
    });
  if (found !== hover) { hover = found; show(); }
  if (found < 0) return tip(e, "");
  const bar = d.bars[found];
  tip(e, bar[0] + "\n" + human(bar[5]) + " (" + bar[5] + " bytes) at " + bar[4] + ", steps " + (bar[2] + 1) + " to " + bar[3]
    + (bar[1] && !bar[0].endsWith(bar[1]) ? "\nmade by " + bar[1] : ""));
});
el("arena").addEventListener("pointerleave", e => { hover = -1; tip(e, ""); show(); });
el("live").addEventListener("pointermove", e => {
  const s = Math.floor(layer.step(inside(el("live"), e)[0]));
  if (s < 0 || s >= d.steps.length) return tip(e, "");
  tip(e, "step " + (s + 1) + ": " + d.steps[s] + "\n" + human(d.live[s]) + " alive; step " + (s + 1) + " of the file's order: " + human(d.fileLive[s]));
});
el("live").addEventListener("pointerleave", e => tip(e, ""));
// Also drawn anew where a page that was opened unseen gets its size only later.
new ResizeObserver(redraw).observe(el("arena"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { dress(); redraw(); });
dress();
draw();
