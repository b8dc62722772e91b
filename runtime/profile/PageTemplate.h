// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PageTemplate.h - The page without its data ---------------------------===//
#pragma once

namespace millrace::runtime::profile {

/// @TITLE@ and @DATA@ are replaced, the latter by JSON (Page.cpp).
inline constexpr const char kPageTemplate[] = R"page(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>@TITLE@</title>
<style>
:root { color-scheme: light dark; --back: #fff; --text: #1a1a1a; --faint: #666; --rule: #ddd; --lane: #f5f5f5;
        --accent: #0b5fa5; }
@media (prefers-color-scheme: dark) {
  :root { --back: #16181b; --text: #e6e6e6; --faint: #9a9a9a; --rule: #34373b; --lane: #1e2125; --accent: #6fb1ea; }
}
body { margin: 0; padding: 1rem; font: 15px/1.45 system-ui, sans-serif; background: var(--back); color: var(--text); }
h1 { font-size: 1.25rem; margin: 0 0 .5rem; } h2 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; }
#verdict { font-size: 1.05rem; max-width: 70rem; } .warning { color: #b3541e; }
#frame { position: relative; border: 1px solid var(--rule); } canvas { display: block; width: 100%; touch-action: none; cursor: grab; }
#tip { position: absolute; pointer-events: none; background: var(--back); border: 1px solid var(--rule); padding: .3rem .5rem; font-size: 13px;
       white-space: pre-wrap; max-width: 32rem; display: none; z-index: 1; overflow-wrap: anywhere; }
.bar { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .5rem 0; font-size: 13px; color: var(--faint); }
input, button { font: inherit; color: inherit; background: var(--lane); border: 1px solid var(--rule); border-radius: 3px; padding: .15rem .5rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; } th, td { padding: .15rem .6rem; text-align: left; border-bottom: 1px solid var(--rule); }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; } th { cursor: pointer; white-space: nowrap; } td { overflow-wrap: anywhere; }
</style></head><body>
<h1>@TITLE@</h1><p id="verdict"></p><div id="warnings"></div>
<div class="bar">
<input id="search" type="search" placeholder="name or line" aria-label="search events by name or line"><span id="found"></span>
<button id="whole">whole</button><span>wheel or + and - zoom, drag or arrow keys move, 0 shows the whole</span></div>
<div id="frame" tabindex="0" aria-label="timeline"><canvas id="time"></canvas><div id="tip"></div></div>
<h2>What takes the time</h2><div class="scroll"><table id="steps"></table></div>
<h2>Lines of the program</h2><div class="scroll"><table id="lines"></table></div>
<h2>Devices</h2><div class="scroll"><table id="devices"></table></div>
<h2>Programs</h2><div class="scroll"><table id="programs"></table></div>
<h2>Threads of the host</h2><div class="scroll"><table id="host"></table></div>
<script type="application/json" id="data">@DATA@</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent), time = data.timeline, summary = data.summary;
const byId = id => document.getElementById(id);
const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
byId("verdict").textContent = summary.verdict;
for (const text of summary.warnings) {
  const p = document.createElement("p");
  p.className = "warning";
  p.textContent = text;
  byId("warnings").append(p);
}
const duration = ns => ns >= 1e9 ? (ns / 1e9).toFixed(3) + " s" : ns >= 1e6 ? (ns / 1e6).toFixed(3) + " ms" :
  ns >= 1e3 ? (ns / 1e3).toFixed(2) + " µs" : Math.round(ns) + " ns";
const megabytes = bytes => (bytes / 1e6).toFixed(1) + " MB";

// Tables: a click on a title sorts by that column.
function table(id, rows, columns) {
  const element = byId(id), shown = 100;
  function draw(order) {
    element.textContent = "";
    const head = element.createTHead().insertRow();
    columns.forEach(([title, value, isNumber], k) => {
      const cell = document.createElement("th"); cell.textContent = title; cell.className = isNumber ? "n" : "";
      cell.onclick = () => draw([...rows].sort((a, b) =>
        isNumber ? columns[k][3](b) - columns[k][3](a) : String(value(a)).localeCompare(String(value(b)))));
      head.append(cell);
    });
    const body = element.createTBody();
    for (const row of order.slice(0, shown)) {
      const line = body.insertRow();
      for (const [, value, isNumber] of columns) {
        const cell = line.insertCell();
        cell.textContent = value(row);
        cell.className = isNumber ? "n" : "";
      }
    }
    if (order.length > shown) body.insertRow().insertCell().textContent = `and ${order.length - shown} more`;
  }
  draw(rows);
}
const total = summary.steps.reduce((sum, row) => sum + row.ns, 0) || 1;
const text = (title, of) => [title, of, false], number = (title, of, show) => [title, row => show(of(row)), true, of];
table("steps", summary.steps, [number("time", r => r.ns, duration), number("share", r => r.ns / total, x => (100 * x).toFixed(1) + " %"),
  number("calls", r => r.calls, String), number("per call", r => r.ns / r.calls, duration),
  number("GFLOP/s", r => r.ns ? r.flops / r.ns : 0, x => x.toFixed(1)),
  number("GB/s", r => r.ns ? r.bytes / r.ns : 0, x => x.toFixed(1)), number("waits", r => r.wait_ns, duration), text("name", r => r.name),
  text("line", r => r.source + (r.other_lines ? ` and ${r.other_lines} more` : "")), text("made by", r => r.category),
  text("program", r => r.module)]);
table("lines", summary.lines, [number("time", r => r.ns, duration), number("share", r => r.ns / total, x => (100 * x).toFixed(1) + " %"),
  number("calls", r => r.calls, String), text("line", r => r.name)]);
table("devices", summary.devices, [text("device", r => r.name),
  number("executions", r => r.executions, String), number("busy", r => r.busy_ns, duration),
  number("queued", r => r.queue_ns, duration), number("memory at most", r => r.peak_bytes, megabytes)]);
table("programs", summary.programs, [number("time", r => r.ns, duration), number("executions", r => r.calls, String), text("program", r => r.name)]);
table("host", summary.host, [number("time", r => r.ns, duration), number("calls", r => r.calls, String), number("data", r => r.bytes, megabytes),
  text("what", r => r.name)]);

// Lanes: each line has as many rows as its events nest. A counter is one lane.
const rowHeight = 16, titleHeight = 16, counterHeight = 34, rulerHeight = 20;
let end = 1, y = rulerHeight;
for (const line of time.lines) {
  const open = [], e = line.events; line.rows = 1; line.row = new Uint8Array(e.length / 4);
  for (let i = 0; i < e.length; i += 4) {
    while (open.length && (open[open.length - 1] <= e[i] || open[open.length - 1] + 2 < e[i] + e[i + 1])) open.pop(); // rounded to nanoseconds
    open.push(e[i] + e[i + 1]);
    line.row[i / 4] = Math.min(open.length - 1, 7); line.rows = Math.max(line.rows, line.row[i / 4] + 1);
    end = Math.max(end, e[i] + e[i + 1]);
  }
  line.y = y; y += titleHeight + line.rows * rowHeight + 4;
}
for (const line of time.counters) {
  line.most = 1;
  for (let i = 0; i < line.events.length; i += 2) {
    line.most = Math.max(line.most, line.events[i + 1]);
    end = Math.max(end, line.events[i]);
  }
  line.y = y; y += titleHeight + counterHeight + 4;
}
const canvas = byId("time"), context = canvas.getContext("2d"), frame = byId("frame"), tip = byId("tip"), height = Math.max(80, y);
let from = 0, until = end, wanted = "", hits = null;
const colours = new Map();
function colour(index) {
  if (!colours.has(index)) {
    let hash = 0; for (const c of time.texts[index]) hash = (hash * 31 + c.charCodeAt(0)) >>> 0;
    colours.set(index, `hsl(${hash % 360} 55% ${matchMedia("(prefers-color-scheme: dark)").matches ? 42 : 72}%)`);
  }
  return colours.get(index);
}
const isWanted = (name, detail) => !wanted || time.texts[name].toLowerCase().includes(wanted) || time.texts[detail].toLowerCase().includes(wanted);
function draw() {
  const width = frame.clientWidth, dpr = devicePixelRatio || 1;
  canvas.width = width * dpr; canvas.height = height * dpr; canvas.style.height = height + "px"; context.setTransform(dpr, 0, 0, dpr, 0, 0);
  const x = ns => (ns - from) / (until - from) * width, ink = style("--text"), faint = style("--faint");
  context.fillStyle = style("--back"); context.fillRect(0, 0, width, height);
  context.font = "11px system-ui, sans-serif"; context.textBaseline = "middle";
  let step = 10 ** Math.floor(Math.log10((until - from) / 5)); while ((until - from) / step > 10) step *= 2;
  context.strokeStyle = style("--rule"); context.fillStyle = faint;
  for (let at = Math.ceil(from / step) * step; at < until; at += step) {
    context.beginPath(); context.moveTo(x(at), 0); context.lineTo(x(at), height); context.stroke(); context.fillText(duration(at), x(at) + 3, 9);
  }
  for (const line of time.lines) {
    context.fillStyle = faint; context.fillText(line.plane + " · " + line.name, 4, line.y + titleHeight / 2);
    const e = line.events, last = new Float64Array(line.rows).fill(-1);
    for (let i = 0; i < e.length; i += 4) {
      if (e[i] > until) break;
      const left = Math.max(0, x(e[i])), right = Math.min(width, x(e[i] + e[i + 1])), row = line.row[i / 4];
      if (right < 0 || (right < last[row] + .7 && right - left < .7)) continue; // below a pixel, one of several
      const w = Math.max(.8, right - left), top = line.y + titleHeight + row * rowHeight;
      last[row] = left + w;
      context.globalAlpha = isWanted(e[i + 2], e[i + 3]) ? 1 : .15;
      context.fillStyle = colour(e[i + 2]); context.fillRect(left, top, w, rowHeight - 2);
      if (w > 30) { context.save(); context.beginPath(); context.rect(left, top, w, rowHeight); context.clip(); context.fillStyle = ink;
        context.fillText(time.texts[e[i + 2]], left + 3, top + rowHeight / 2 - 1); context.restore(); }
    }
    context.globalAlpha = 1;
  }
  for (const line of time.counters) {
    context.fillStyle = faint; context.fillText(line.plane + " · memory in use, at most " + megabytes(line.most), 4, line.y + titleHeight / 2);
    const bottom = line.y + titleHeight + counterHeight, e = line.events; let before = 0;
    context.fillStyle = style("--accent"); context.globalAlpha = .5; context.beginPath(); context.moveTo(0, bottom);
    for (let i = 0; i < e.length; i += 2) {
      const at = Math.min(width, Math.max(0, x(e[i]))); context.lineTo(at, bottom - before / line.most * counterHeight);
      before = e[i + 1]; context.lineTo(at, bottom - before / line.most * counterHeight);
      if (e[i] > until) break;
    }
    context.lineTo(width, bottom - before / line.most * counterHeight); context.lineTo(width, bottom); context.fill(); context.globalAlpha = 1;
  }
  const a = time.arrows; let drawn = 0; context.strokeStyle = style("--accent");
  for (let i = 0; i < a.length && drawn < 300; i += 4) {
    if (a[i + 3] < from || a[i + 1] > until) continue;
    const x1 = x(a[i + 1]), y1 = time.lines[a[i]].y + titleHeight + 4, x2 = x(a[i + 3]), y2 = time.lines[a[i + 2]].y + titleHeight + 4;
    context.beginPath(); context.moveTo(x1, y1); context.bezierCurveTo(x1 + 20, y1, x2 - 20, y2, x2, y2); context.stroke(); ++drawn;
  }
}
let asked = 0; const later = () => { if (!asked) asked = requestAnimationFrame(() => { asked = 0; draw(); }); };
function zoom(factor, at) {
  const middle = from + at * (until - from), span = Math.min(end, Math.max(20, (until - from) * factor));
  from = Math.max(0, Math.min(end - span, middle - at * span)); until = from + span; later();
}
function move(by) { const span = until - from; from = Math.max(0, Math.min(end - span, from + by * span)); until = from + span; later(); }
function whole() { from = 0; until = end; later(); }
frame.addEventListener("wheel", e => {
  e.preventDefault();
  if (e.shiftKey) move(e.deltaY / 1000);
  else zoom(e.deltaY > 0 ? 1.25 : .8, e.offsetX / frame.clientWidth);
}, {passive: false});
let held = null;
canvas.addEventListener("pointerdown", e => { held = e.clientX; canvas.setPointerCapture(e.pointerId); });
canvas.addEventListener("pointerup", () => held = null);
canvas.addEventListener("pointermove", e => {
  if (held !== null) { move((held - e.clientX) / frame.clientWidth); held = e.clientX; return; }
  const at = from + e.offsetX / frame.clientWidth * (until - from), slack = (until - from) / frame.clientWidth; let best = null;
  for (const line of time.lines) {
    const row = Math.floor((e.offsetY - line.y - titleHeight) / rowHeight); if (row < 0 || row >= line.rows) continue;
    const v = line.events;
    for (let i = 0; i < v.length && v[i] <= at + slack; i += 4)
      if (line.row[i / 4] === row && v[i] + v[i + 1] >= at - slack) best = [v, i];
  }
  tip.style.display = best ? "block" : "none";
  if (best) {
    const [v, i] = best;
    tip.textContent = time.texts[v[i + 2]] + "\n" + duration(v[i + 1]) + " at " + duration(v[i]) + "\n" + time.texts[v[i + 3]];
    tip.style.left = Math.min(e.offsetX + 12, Math.max(0, frame.clientWidth - 330)) + "px"; tip.style.top = e.offsetY + 14 + "px"; }
});
canvas.addEventListener("pointerleave", () => tip.style.display = "none");
frame.addEventListener("keydown", e => {
  const act = {"+": () => zoom(.6, .5), "=": () => zoom(.6, .5), "-": () => zoom(1.6, .5), "0": whole,
               ArrowLeft: () => move(-.2), ArrowRight: () => move(.2)}[e.key];
  if (act) { e.preventDefault(); act(); }
});
byId("whole").onclick = whole;
byId("search").oninput = e => {
  wanted = e.target.value.toLowerCase(); let count = 0, sum = 0;
  if (wanted)
    for (const line of time.lines)
      for (let i = 0; i < line.events.length; i += 4)
        if (isWanted(line.events[i + 2], line.events[i + 3])) { ++count; sum += line.events[i + 1]; }
  byId("found").textContent = wanted ? `${count} events, ${duration(sum)}` : ""; later();
};
addEventListener("resize", later); matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { colours.clear(); later(); });
draw();
</script></body></html>
)page";

} // namespace millrace::runtime::profile
