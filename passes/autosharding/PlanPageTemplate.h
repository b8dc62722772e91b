// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PlanPageTemplate.h - The HTML page without its data -----------------===//
#pragma once

namespace millrace::autosharding {

/// @TITLE@ and @DATA@ are replaced, the latter by JSON (PlanPage.cpp).
inline constexpr const char kPlanPageTemplate[] = R"page(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>@TITLE@: modelled step</title>
<style>
:root { color-scheme: light dark; --back: #fff; --text: #1a1a1a; --faint: #666; --rule: #ddd; --lane: #f5f5f5; --compute: #0b5fa5; --move: #c4661f;
        --wait: #8a5fb5; --memory: #2c8a57; }
@media (prefers-color-scheme: dark) {
  :root { --back: #16181b; --text: #e6e6e6; --faint: #9a9a9a; --rule: #34373b; --lane: #1e2125; --compute: #6fb1ea; --move: #e39a5c; --wait: #b79ad8;
          --memory: #6cc596; }
}
body { margin: 0; padding: 1rem; font: 15px/1.45 system-ui, sans-serif; background: var(--back); color: var(--text); }
h1 { font-size: 1.25rem; margin: 0 0 .5rem; } h2 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; }
p { max-width: 70rem; } #frame { position: relative; border: 1px solid var(--rule); }
canvas { display: block; width: 100%; height: 260px; touch-action: none; cursor: grab; }
#tip { position: absolute; pointer-events: none; background: var(--back); border: 1px solid var(--rule); padding: .3rem .5rem; font-size: 13px;
       white-space: pre-wrap; max-width: 32rem; display: none; z-index: 1; overflow-wrap: anywhere; }
.bar { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .5rem 0; font-size: 13px; color: var(--faint); }
input, button { font: inherit; color: inherit; background: var(--lane); border: 1px solid var(--rule); border-radius: 3px; padding: .15rem .5rem; }
.scroll { overflow-x: auto; } .key { display: inline-block; width: .8em; height: .8em; margin-right: .3em; }
table { border-collapse: collapse; font-size: 13px; } th, td { padding: .15rem .6rem; text-align: left; border-bottom: 1px solid var(--rule);
        vertical-align: top; overflow-wrap: anywhere; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
</style></head><body>
<h1>@TITLE@: modelled step</h1><p id="verdict"></p>
<h2>Where the time goes</h2><div class="scroll"><table id="parts"></table></div>
<h2>Timeline of one device, and the bytes that are alive</h2>
<div class="bar"><span><span class="key" style="background:var(--compute)"></span>computing</span>
<span><span class="key" style="background:var(--move)"></span>collectives</span>
<span><span class="key" style="background:var(--wait)"></span>of these, waiting for messages</span>
<span><span class="key" style="background:var(--memory)"></span>memory</span>
<button id="whole">whole</button><span>wheel or + and - zoom, drag or arrow keys move, 0 shows the whole</span></div>
<div id="frame" tabindex="0" aria-label="timeline"><canvas id="time"></canvas><div id="tip"></div></div>
<div id="candidatepart"><h2>Compared programs</h2><p>The one whose simulated step is the shortest was taken.</p>
<div class="scroll"><table id="candidates"></table></div></div>
<div id="meshpart"><h2>Meshes of as many devices</h2><div class="scroll"><table id="meshes"></table></div></div>
<div id="tensorpart"><h2>Tensors</h2><p>The time is that of the operation that makes the tensor and of what its readers reshard.
Alternatives: what a step takes more if this tensor alone is split otherwise and all else stays as planned.</p>
<div class="bar"><input id="search" type="search" placeholder="name, line or sharding" aria-label="search tensors"><span id="found"></span></div>
<div class="scroll"><table id="tensors"></table></div></div>
<script type="application/json" id="data">@DATA@</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent), plan = data.plan;
const byId = id => document.getElementById(id);
const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const duration = s => s === null ? "infinite" : Math.abs(s) >= 1 ? s.toFixed(3) + " s" : Math.abs(s) >= 1e-3 ? (s * 1e3).toFixed(3) + " ms" : (s * 1e6).toFixed(2) + " µs";
const amount = b => b >= 1e9 ? (b / 1e9).toFixed(2) + " GB" : b >= 1e6 ? (b / 1e6).toFixed(2) + " MB" :
  b >= 1e3 ? (b / 1e3).toFixed(1) + " kB" : b + " B";
const percent = share => (100 * share).toFixed(1) + " %";
byId("verdict").textContent = `A step takes ${duration(data.seconds)} on each device of ${data.machine}: ` +
  `${percent(data.seconds ? data.flops / data.rate / data.seconds : 0)} of the machine's arithmetic. At the worst time values take ` +
  `${amount(data.peak)} of ${amount(data.memory)}, ${amount(data.arguments)} of them arguments.` +
  (plan ? ` The plan expected ${duration(plan.seconds)}; ` +
  `no plan of its kind takes less than ${duration(plan.bound)}` +
  (plan.gap === null ? "." : `, so it is at most ${percent(plan.gap)} above the best one.`) +
  (plan.recomputed ? ` ${plan.recomputed} values are computed again instead of kept, which takes ${duration(plan.recomputing)}.` : "") : "");

function fill(id, titles, rows) { // titles: [text, is a number]
  const element = byId(id);
  element.textContent = "";
  const head = element.createTHead().insertRow();
  for (const [title, isNumber] of titles) {
    const cell = document.createElement("th");
    cell.textContent = title; cell.className = isNumber ? "n" : "";
    head.append(cell);
  }
  const body = element.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    row.forEach((text, k) => { const cell = line.insertCell(); cell.textContent = text; cell.className = titles[k][1] ? "n" : ""; });
  }
}
fill("parts", [["part"], ["time", 1], ["share", 1], ["operations", 1], ["received", 1]],
     data.parts.map(([name, seconds, bytes, count]) =>
       [name, duration(seconds), percent(data.seconds ? seconds / data.seconds : 0), count, bytes ? amount(Math.round(bytes)) : ""]));
if (plan && plan.candidates.length)
  fill("candidates", [["program"], ["simulated step", 1], ["bytes of values at the worst time", 1], [""]],
       plan.candidates.map(([name, taken, seconds, peak, why]) => [name, why && !seconds ? "" : duration(seconds), peak ? amount(peak) : "", taken ? "taken" : why]));
else
  byId("candidatepart").hidden = true;
if (data.meshes.length)
  fill("meshes", [["mesh"], ["expected", 1], ["to the best", 1]],
       data.meshes.map(([mesh, seconds]) => [mesh, duration(seconds), (seconds / data.meshes[0][1]).toFixed(3)]));
else
  byId("meshpart").hidden = true;

// The timeline: from `from` on, `span` seconds.
let from = 0, span = data.seconds || 1;
const canvas = byId("time"), tip = byId("tip"), steps = data.steps, most = Math.max(data.peak, 1);
const lanes = { top: 8, height: 70, memory: 110, bottom: 235 };
const first = at => { // the step that runs at that time
  let low = 0, high = steps.length;
  while (low < high) { const middle = (low + high) >> 1; steps[middle][0] + steps[middle][1] < at ? low = middle + 1 : high = middle; }
  return low;
};
function draw() {
  const scale = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = width * scale; canvas.height = height * scale;
  const g = canvas.getContext("2d");
  g.scale(scale, scale);
  g.fillStyle = style("--lane"); g.fillRect(0, lanes.top, width, lanes.height); g.fillRect(0, lanes.memory, width, lanes.bottom - lanes.memory);
  const x = at => (at - from) / span * width, colors = [style("--compute"), style("--move")], wait = style("--wait");
  const memory = []; // left, right and height of each step
  for (let k = first(from); k < steps.length && steps[k][0] <= from + span; ++k) {
    const [begin, seconds, kind, name, , alive, , waiting] = steps[k];
    const left = Math.max(x(begin), 0), right = Math.min(x(begin + seconds), width);
    g.fillStyle = colors[kind]; g.fillRect(left, lanes.top, Math.max(right - left - (right - left > 3 ? .5 : 0), .3), lanes.height);
    if (waiting) { g.fillStyle = wait; g.fillRect(left, lanes.top + lanes.height - 12, Math.max((right - left) * waiting / seconds, .3), 12); }
    if (right - left > 60) {
      g.save(); g.beginPath(); g.rect(left, lanes.top, right - left - 4, lanes.height); g.clip();
      g.fillStyle = style("--back"); g.font = "12px system-ui, sans-serif"; g.fillText(data.names[name], left + 4, lanes.top + 30); g.restore();
    }
    const y = lanes.bottom - alive / most * (lanes.bottom - lanes.memory - 8);
    memory.push([left, right, y]);
  }
  g.globalAlpha = .55; g.fillStyle = style("--memory");
  for (const [left, right, y] of memory) g.fillRect(left, y, Math.max(right - left, .3), lanes.bottom - y);
  g.globalAlpha = 1;
  g.fillStyle = style("--faint"); g.font = "12px system-ui, sans-serif";
  g.fillText(amount(most), 4, lanes.memory - 6); g.fillText(duration(from), 4, 252);
  const end = duration(from + span); g.fillText(end, width - g.measureText(end).width - 4, 252);
}
function move(start, length) {
  const all = data.seconds || 1;
  span = Math.min(Math.max(length, all * 1e-6), all); from = Math.min(Math.max(start, 0), all - span); draw();
}
const at = event => from + event.offsetX / canvas.clientWidth * span;
const zoom = (factor, around) => move(around - (around - from) * factor, span * factor);
canvas.addEventListener("wheel", event => { event.preventDefault(); zoom(event.deltaY > 0 ? 1.25 : .8, at(event)); }, { passive: false });
let held = null;
canvas.addEventListener("pointerdown", event => { held = event.offsetX; canvas.setPointerCapture(event.pointerId); });
canvas.addEventListener("pointerup", () => { held = null; });
canvas.addEventListener("pointerleave", () => { tip.style.display = "none"; });
canvas.addEventListener("pointermove", event => {
  if (held !== null) { move(from - (event.offsetX - held) / canvas.clientWidth * span, span); held = event.offsetX; }
  const step = steps[first(at(event))];
  tip.style.display = step ? "block" : "none";
  if (!step) return;
  tip.textContent = [data.names[step[3]], data.names[step[4]], `${duration(step[1])} from ${duration(step[0])}`,
    step[6] ? `${amount(Math.round(step[6]))} received` : "", step[7] ? `${duration(step[7])} waiting for messages` : "", `${amount(step[5])} alive`]
    .filter(line => line).join("\n");
  tip.style.left = Math.min(event.offsetX + 12, Math.max(canvas.clientWidth - 260, 0)) + "px"; tip.style.top = "90px";
});
byId("frame").addEventListener("keydown", event => {
  const middle = from + span / 2;
  const action = { "+": () => zoom(.8, middle), "=": () => zoom(.8, middle), "-": () => zoom(1.25, middle), "0": () => move(0, Infinity),
                   ArrowLeft: () => move(from - span / 5, span), ArrowRight: () => move(from + span / 5, span) }[event.key];
  if (action) { event.preventDefault(); action(); }
});
byId("whole").onclick = () => move(0, Infinity);
window.addEventListener("resize", draw);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
draw();

if (plan && plan.tensors.length) {
  const shown = 200, more = s => s === null ? "impossible" : (s < 0 ? "" : "+") + duration(s);
  const search = () => {
    const text = byId("search").value.toLowerCase();
    const found = plan.tensors.filter(tensor => tensor.slice(0, 3).some(each => each.toLowerCase().includes(text)));
    byId("found").textContent = `${found.length} of ${plan.tensors.length}` +
      (found.length > shown ? `, the ${shown} that take longest are shown` : "");
    fill("tensors", [["tensor"], ["line"], ["split"], ["on a device", 1], ["time", 1], ["alternatives"]],
         [...found].sort((a, b) => b[4] - a[4]).slice(0, shown).map(([name, line, sharding, bytes, seconds, others]) =>
           [name, line, sharding, amount(bytes), duration(seconds), others.map(([other, s]) => `${other} ${more(s)}`).join("; ")]));
  };
  byId("search").oninput = search;
  search();
} else
  byId("tensorpart").hidden = true;
</script></body></html>
)page";

} // namespace millrace::autosharding
