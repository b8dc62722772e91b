// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PageTemplate.h - The page of a recording without its data ------------===//
#pragma once

namespace millrace::runtime::profile {

/// @TITLE@, @STYLE@, @TOOLS@ (runtime/base/PageStyle.h) and @GRAPH@ (PageGraph.h), and at last @DATA@, JSON (Page.cpp), are replaced.
inline constexpr const char kPageBody[] = R"page(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>@TITLE@</title>
<style>@STYLE@</style></head><body>
<h1>@TITLE@</h1><p id="verdict"></p><div id="warnings"></div>
<nav role="tablist" aria-label="views">
<button role="tab" id="tab-dashboard" aria-controls="view-dashboard">What to change</button>
<button role="tab" id="tab-timeline" aria-controls="view-timeline">Timeline</button>
<button role="tab" id="tab-kernels" aria-controls="view-kernels">Kernels</button>
<button role="tab" id="tab-memory" aria-controls="view-memory">Memory</button>
<button role="tab" id="tab-compilations" aria-controls="view-compilations">Compilations</button>
<button role="tab" id="tab-collectives" aria-controls="view-collectives">Collectives</button>
<button role="tab" id="tab-graph" aria-controls="view-graph">Program</button>
<button role="tab" id="tab-tables" aria-controls="view-tables">Tables</button>
</nav>
<section id="view-dashboard" role="tabpanel" aria-labelledby="tab-dashboard"><div class="cards" id="cards"></div>
<div id="otherspart"><h2>Then</h2><div class="scroll"><table id="others"></table></div></div>
<h2>Where the time goes</h2><div class="split" id="split"></div><p class="faint" id="splitkey"></p>
<h2>Devices</h2><div class="scroll"><table id="devices"></table></div></section>
<section id="view-timeline" role="tabpanel" aria-labelledby="tab-timeline" hidden><div class="bar">
<input id="search" type="search" placeholder="name or line" aria-label="search events by name or line"><span id="found"></span>
<button id="closer" aria-label="zoom in">+</button><button id="farther" aria-label="zoom out">&minus;</button><button id="whole">whole</button>
<span>wheel or + and - zoom, drag or arrow keys move, 0 shows the whole; a click shows what launched what</span></div>
<div class="under"><div id="frame" tabindex="0" aria-label="timeline"><div id="lanes"><canvas id="time"></canvas></div></div><div id="tip"></div></div><div class="details" id="selected"></div>
</section>
<section id="view-kernels" role="tabpanel" aria-labelledby="tab-kernels" hidden><p class="faint" id="roofnote"></p><div id="roofline"></div>
<h2>Kernels, and what bounds them</h2><div class="scroll"><table id="kernelrows"></table></div></section>
<section id="view-memory" role="tabpanel" aria-labelledby="tab-memory" hidden><div id="memorychart"></div><p id="saving"></p>
<h2>Who owns the peak</h2><div class="scroll"><table id="owners"></table></div></section>
<section id="view-compilations" role="tabpanel" aria-labelledby="tab-compilations" hidden><div id="compilestrip"></div>
<h2>Causes</h2><div class="scroll"><table id="causes"></table></div><h2>One after the other</h2><div class="scroll"><table id="compilationrows">
</table></div></section>
<section id="view-collectives" role="tabpanel" aria-labelledby="tab-collectives" hidden><p id="nocollectives">No collective ran in this recording.</p>
<div class="scroll"><table id="collectiverows"></table></div><h2>By device</h2><div class="scroll"><table id="ranks"></table></div></section>
<section id="view-graph" role="tabpanel" aria-labelledby="tab-graph" hidden>@GRAPH@</section>
<section id="view-tables" role="tabpanel" aria-labelledby="tab-tables" hidden>
<h2>What takes the time</h2><div class="scroll"><table id="steps"></table></div>
<h2>Lines of the program</h2><div class="scroll"><table id="lines"></table></div>
<h2>Programs</h2><div class="scroll"><table id="programs"></table></div>
<h2>Threads of the host</h2><div class="scroll"><table id="host"></table></div></section>
<script type="application/json" id="data">@DATA@</script>
<script>@TOOLS@)page";

/// What to change, kernels, memory, compilations, collectives, tables.
inline constexpr const char kPageViews[] = R"page(
const data = JSON.parse(byId("data").textContent), time = data.timeline, summary = data.summary, found = data.views, roofs = data.roofs;
const graphs = found.programs, nsOf = new Map();
for (const row of summary.steps) nsOf.set(row.name, (nsOf.get(row.name) || 0) + row.ns);
byId("verdict").textContent = summary.verdict;
for (const text of summary.warnings) {
  const p = document.createElement("p");
  p.className = "warning";
  p.textContent = text;
  byId("warnings").append(p);
}

// The three most valuable things to change, then what else there is.
byId("cards").innerHTML = found.findings.slice(0, 3).map((f, k) =>
  `<article class="card"><span class="cost">${inHtml(f.cost || percent(Math.min(1, f.ns / (summary.wall_ns || 1))))}</span>` +
  `<h3>${k + 1}. ${inHtml(f.title)}</h3>` + (f.source ? `<p><code>${inHtml(f.source)}</code></p>` : "") +
      `<p>${inHtml(f.advice)}</p><p class="faint">${inHtml(f.evidence)} ` +
  (f.cost ? "" : `Costs ${duration(f.ns)} of ${duration(summary.wall_ns)}.`) +
      `</p><button onclick="location.hash='${f.page}'">show</button></article>`).join("") ||
  "<p>Nothing stands out: no graph is compiled again, no operator runs on the CPU, the host reads little, devices do not wait for each other.</p>";
table("others", found.findings.slice(3), [number("costs", f => f.ns, ns => duration(ns)), text("what", f => f.title), text("line", f => f.source),
    text("do", f => f.advice)]);
byId("otherspart").hidden = found.findings.length <= 3;
const parts = found.split.filter(part => part.ns > 0), whole_ns = parts.reduce((sum, part) => sum + part.ns, 0) || 1;
byId("split").innerHTML = parts.map(
    (part, k) => `<span style="flex: ${part.ns / whole_ns}; background: ${palette[k % 8]}"` +
    ` title="${inHtml(part.name)}: ${duration(part.ns)}"></span>`).join("");
byId("splitkey").innerHTML = parts.map(
    (part, k) => `<span class="item"><span class="key" style="background: ${palette[k % 8]}"></span>${inHtml(part.name)} ` +
              `${percent(part.ns / whole_ns)}</span>`).join(" ");
const total = summary.steps.reduce((sum, row) => sum + row.ns, 0) || 1;
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


// Kernels under the machine's roofs.
const levelOf = size => roofs.levels.find(level => size <= level.bytes) || roofs.levels[roofs.levels.length - 1];
const levelName = level => level === roofs.levels[roofs.levels.length - 1] ? "memory" : bytes(level.bytes) + " cache";
const kernels = summary.steps.filter(row => row.ns && row.category !== "collective" && row.category !== "step").map(row => {
  const level = roofs.levels.length && row.bytes ? levelOf(row.bytes / row.calls) : null;
  const arithmetic = roofs.gflops ? row.flops / roofs.gflops : 0, moving = level ? row.bytes / level.gbps : 0, least = Math.max(arithmetic, moving);
  return {...row, of_roof: least / row.ns, lost: Math.max(0, row.ns - least),
          bound: row.pieces === 1 && roofs.threads > 1 && row.ns / row.calls > 5e4 ? "one thread" : !least ? "nothing counted" :
              arithmetic >= moving ? "arithmetic" : levelName(level)};
});
table("kernelrows", kernels, [number("time", r => r.ns, duration), number("share", r => r.ns / total, percent),
    number("of the roof", r => r.of_roof, percent), text("bound by", r => r.bound),
  number("could save", r => r.lost, duration), number("GFLOP/s", r => r.flops / r.ns, x => x.toFixed(1)),
      number("GB/s", r => r.bytes / r.ns, x => x.toFixed(1)),
  number("pieces", r => r.pieces, n => n ? String(n) : ""), text("kernel", r => r.name), text("line", r => r.source),
      text("made by", r => r.category)]);
byId("roofnote").textContent = roofs.gflops ? `Measured here with ${roofs.threads} threads: ${roofs.gflops.toFixed(0)} GFLOP/s of float32, ` +
  roofs.levels.map(level => `${level.gbps.toFixed(0)} GB/s from ${levelName(level)}`).join(", ") +
      ". Roofs are ceilings of this machine, now; a recording of another one has others."
  : "No roofs: this page was made without measuring the machine (xla-prof --roofs).";
function drawRoofs() {
  const W = 860, H = 420, left = 60, bottom = 380, dots = kernels.filter(k => k.flops && k.bytes);
  const xs = [.01, ...dots.map(k => k.flops / k.bytes), 1000], highest = Math.max(roofs.gflops || 1, ...dots.map(k => k.flops / k.ns)),
      ys = [highest, ...dots.map(k => Math.max(k.flops / k.ns, highest / 1e5)), .1];
  const x0 = Math.floor(Math.log10(Math.max(1e-4, Math.min(...xs)))), x1 = Math.ceil(Math.log10(Math.max(...xs)));
  const y0 = Math.floor(Math.log10(Math.max(1e-3, Math.min(...ys)))), y1 = Math.ceil(Math.log10(Math.max(...ys)) + .05);
  const x = v => left + (Math.log10(v) - x0) / (x1 - x0) * (W - left - 20), y = v => bottom - (Math.log10(v) - y0) / (y1 - y0) * (bottom - 20);
  let out = "";
  const decade = e => +(10 ** e).toPrecision(1);
  for (let e = x0; e <= x1; ++e) out += axisLine(x(10 ** e), 20, x(10 ** e), bottom) + axisText(x(10 ** e), bottom + 16, "middle", decade(e));
  for (let e = y0; e <= y1; ++e) out += axisLine(left, y(10 ** e), W - 20, y(10 ** e)) + axisText(left - 6, y(10 ** e) + 4, "end", decade(e));
  out += `<text x="${W / 2}" y="${bottom + 34}" text-anchor="middle">operations per byte</text><text x="10" y="14">GFLOP/s</text>`;
  if (roofs.gflops) roofs.levels.forEach((level, k) => {
    const ridge = roofs.gflops / level.gbps, low = 10 ** x0;
    const start = y(Math.max(10 ** y0, low * level.gbps)), bend = y(Math.min(roofs.gflops, 10 ** x1 * level.gbps));
    out += `<path class="roof" d="M${x(low)} ${Math.min(bottom, start)}L${x(Math.min(ridge, 10 ** x1))} ${bend}L${x(10 ** x1)} ${y(roofs.gflops)}"/>` +
      `<text x="${x(low) + 8}" y="${start + (k - 2) * 13 - 12}">${levelName(level)}: ${level.gbps.toFixed(0)} GB/s</text>`;
  });
  for (const k of dots)
    out += `<circle class="dot" cx="${x(k.flops / k.bytes)}" cy="${y(Math.max(10 ** y0, k.flops / k.ns))}" r="${3 + 18 * Math.sqrt(k.ns / total)}">` +
      `<title>${inHtml(k.name + " " + k.source)}: ${duration(k.ns)}, ${percent(k.of_roof)} of the roof, bound by ${inHtml(k.bound)}</title></circle>`;
  svg("roofline", W, H, `roofline of ${dots.length} kernels`, out);
}

// Memory over time by purpose, and who owns the peak.
function drawMemory() {
  const W = 860, H = 220, left = 70, bottom = 190; let all = "";
  found.memory.forEach((m, k) => {
    const most = Math.max(1, ...m.points.map(p => p.slice(1).reduce((a, b) => a + b, 0)));
    const last = Math.max(1, summary.wall_ns, ...m.points.map(p => p[0])); // memory is given back after the last event, too
    const x = ns => left + ns / last * (W - left - 10), y = b => bottom - b / most * (bottom - 20); let out = "";
    for (let q = 0; q <= 4; ++q)
      out += axisLine(left, y(most * q / 4), W - 10, y(most * q / 4)) + axisText(left - 6, y(most * q / 4) + 4, "end", bytes(most * q / 4));
    const below = m.points.map(() => 0);
    m.purposes.forEach((purpose, p) => {
      let upper = "", lower = "";
      m.points.forEach((point, i) => {
        const next = i + 1 < m.points.length ? m.points[i + 1][0] : last, top = below[i] + point[p + 1];
        upper += `${upper ? "L" : "M"}${x(point[0]).toFixed(1)} ${y(top).toFixed(1)}L${x(next).toFixed(1)} ${y(top).toFixed(1)}`;
        lower = `L${x(next).toFixed(1)} ${y(below[i]).toFixed(1)}L${x(point[0]).toFixed(1)} ${y(below[i]).toFixed(1)}` + lower; below[i] = top;
      });
      if (upper) out += `<path d="${upper}${lower}Z" fill="${palette[p % 8]}" fill-opacity=".75"><title>${inHtml(purpose)}</title></path>`;
    });
    out += `<text x="${left}" y="${H - 6}">0</text><text x="${W - 10}" y="${H - 6}" text-anchor="end">${duration(last)}</text>`;
    all += `<h3>${inHtml(m.device)}, at most ${bytes(most)}</h3>` +
      svgText(W, H, "memory in use over time", out) + `<p class="faint">` +
      m.purposes.map((purpose, p) => `<span class="item"><span class="key" style="background: ${palette[p % 8]}"></span>${inHtml(purpose)}</span>`).join(" ") + "</p>";
  });
  byId("memorychart").innerHTML = all || "<p>No memory was allocated or given back in this recording.</p>";
}
const peakOf = name => found.owners.filter(o => o.purpose.toLowerCase() === name).reduce((sum, o) => sum + o.bytes, 0);
const saving = [["intermediate",
    "values inside of programs: checkpointing (torch_xla.utils.checkpoint, jax.checkpoint) or a smaller batch saves of these"],
  ["result", "results of programs: donation (in-place updates, donate_argnums) or keeping fewer of them saves of these"],
      ["upload", "values from the host: smaller types, or not keeping batches"],
  ["copy", "copies, because somebody else still reads the value"]].filter(([name]) => peakOf(name));
byId("saving").textContent = saving.length ? "At the peak: " + saving.map(([name, what]) => `${bytes(peakOf(name))} are ${what}`).join("; ") + "." :
    "";
table("owners", found.owners, [number("bytes", o => o.bytes, bytes), number("blocks", o => o.blocks, String), text("purpose", o => o.purpose),
    text("line", o => o.source), text("device", o => o.device)]);

// What was compiled, and why again.
const causes = new Map();
for (const c of found.compilations) {
  const key = (c.source || c.program) + "\n" + c.difference.replace(/\d+/g, "#"), of = causes.get(key) ||
      {source: c.source, program: c.program, difference: c.difference, count: 0, ns: 0};
  ++of.count; of.ns += c.ns; causes.set(key, of);
}
table("causes", [...causes.values()].sort((a, b) => b.ns - a.ns), [number("time", c => c.ns, duration), number("times", c => c.count, String),
    text("line", c => c.source), text("program", c => c.program),
  text("first difference to the nearest graph", c => c.difference)]);
table("compilationrows", found.compilations, [number("at", c => c.at, duration), number("took", c => c.ns, duration), text("cache", c => c.cache),
    text("line", c => c.source), text("program", c => c.program),
  text("why it ran", c => c.cause), text("first difference", c => c.difference)]);
{
  const W = 860, last = Math.max(1, summary.wall_ns);
  svg("compilestrip", W, 44, "compilations over time",
      axisLine(0, 30, W, 30) + axisText(0, 42, "start", 0) + axisText(W, 42, "end", duration(last)) + found.compilations.map(c =>
    `<rect x="${c.at / last * W}" y="6" width="${Math.max(1, c.ns / last * W)}" height="24" fill="${palette[c.cache === "hit" ? 2 : 1]}" ` +
    `fill-opacity=".8"><title>${inHtml(c.program + " " + c.source)}: ${duration(c.ns)}</title></rect>`).join(""));
}

// Collectives: who waits for whom.
const sumOf = (c, key) => c.devices.reduce((sum, d) => sum + d[key], 0), mostOf = (c, key) => Math.max(0, ...c.devices.map(d => d[key]));
table("collectiverows", found.collectives, [number("time", c => sumOf(c, "ns") / c.devices.length, duration),
    number("waits, mean", c => sumOf(c, "wait_ns") / c.devices.length, duration),
  number("waits, most", c => mostOf(c, "wait_ns"), duration), number("imbalance", c => sumOf(c, "wait_ns") ?
      mostOf(c, "wait_ns") * c.devices.length / sumOf(c, "wait_ns") : 1, x => x.toFixed(2)), number("calls", c => c.calls, String),
  number("data", c => c.bytes, bytes), number("GB/s", c => sumOf(c, "ns") - sumOf(c, "wait_ns") > 0 ?
      c.bytes / (sumOf(c, "ns") - sumOf(c, "wait_ns")) : 0, x => x.toFixed(2)), text("collective", c => c.name), text("line", c => c.source)]);
const ranks = [...new Set(found.collectives.flatMap(c => c.devices.map(d => d.device)))];
table("ranks", ranks.map(rank => ({rank, of: found.collectives.map(c => c.devices.find(d => d.device === rank)).filter(d => d)})),
    [text("device", r => r.rank),
  number("in collectives", r => r.of.reduce((sum, d) => sum + d.ns, 0), duration),
      number("waits for others", r => r.of.reduce((sum, d) => sum + d.wait_ns, 0), duration)]);
byId("nocollectives").hidden = found.collectives.length > 0;
)page";

/// Lanes over time.
inline constexpr const char kPageTimeline[] = R"page(
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
// The canvas is as large as what is seen of the lanes: browsers draw nothing on larger ones than some ten thousand points.
const canvas = byId("time"), context = canvas.getContext("2d"), frame = byId("frame"), tip = byId("tip"), height = Math.max(80, y);
let from = 0, until = end, wanted = "";
byId("lanes").style.height = height + "px";
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
  if (!frame.clientWidth) return; // another view is shown
  const width = frame.clientWidth, seen = frame.clientHeight, top = frame.scrollTop, bottom = top + seen, dpr = devicePixelRatio || 1;
  canvas.width = width * dpr; canvas.height = seen * dpr; canvas.style.height = seen + "px"; context.setTransform(dpr, 0, 0, dpr, 0, -top * dpr);
  const x = ns => (ns - from) / (until - from) * width, ink = style("--text"), faint = style("--faint");
  context.fillStyle = style("--back"); context.fillRect(0, top, width, seen);
  context.font = "11px system-ui, sans-serif"; context.textBaseline = "middle";
  let step = 10 ** Math.floor(Math.log10((until - from) / 5)); while ((until - from) / step > 10) step *= 2;
  context.strokeStyle = style("--rule");
  for (let at = Math.ceil(from / step) * step; at < until; at += step) {
    context.beginPath(); context.moveTo(x(at), top); context.lineTo(x(at), bottom); context.stroke();
  }
  for (const line of time.lines) {
    if (line.y > bottom || line.y + titleHeight + line.rows * rowHeight < top) continue;
    context.fillStyle = faint; context.fillText(line.plane + " · " + line.name, 4, line.y + titleHeight / 2);
    const e = line.events, last = new Float64Array(line.rows).fill(-1);
    for (let i = 0; i < e.length; i += 4) {
      if (e[i] > until) break;
      const left = Math.max(0, x(e[i])), right = Math.min(width, x(e[i] + e[i + 1])), row = line.row[i / 4];
      if (right < 0 || (right < last[row] + .7 && right - left < .7)) continue; // below a pixel, one of several
      const w = Math.max(.8, right - left), upper = line.y + titleHeight + row * rowHeight;
      last[row] = left + w;
      context.globalAlpha = isWanted(e[i + 2], e[i + 3]) ? 1 : .15;
      context.fillStyle = colour(e[i + 2]); context.fillRect(left, upper, w, rowHeight - 2);
      if (w > 30) { context.save(); context.beginPath(); context.rect(left, upper, w, rowHeight); context.clip(); context.fillStyle = ink;
        context.fillText(time.texts[e[i + 2]], left + 3, upper + rowHeight / 2 - 1); context.restore(); }
    }
    context.globalAlpha = 1;
  }
  for (const line of time.counters) {
    context.fillStyle = faint; context.fillText(line.plane + " · memory in use, at most " + megabytes(line.most), 4, line.y + titleHeight / 2);
    const ground = line.y + titleHeight + counterHeight, e = line.events; let before = 0;
    context.fillStyle = style("--accent"); context.globalAlpha = .5; context.beginPath(); context.moveTo(0, ground);
    for (let i = 0; i < e.length; i += 2) {
      const at = Math.min(width, Math.max(0, x(e[i]))); context.lineTo(at, ground - before / line.most * counterHeight);
      before = e[i + 1]; context.lineTo(at, ground - before / line.most * counterHeight);
      if (e[i] > until) break;
    }
    context.lineTo(width, ground - before / line.most * counterHeight); context.lineTo(width, ground); context.fill(); context.globalAlpha = 1;
  }
  // Few arrows are all drawn. Of many, those to a lane keep a distance: they would hide what they connect, and be a single area.
  const a = time.arrows, last = new Map(); let visible = 0; context.strokeStyle = style("--accent");
  const isSeen = i => a[i + 3] >= from && a[i + 1] <= until;
  for (let i = 0; i < a.length && visible <= 100; i += 4) visible += isSeen(i);
  for (let i = 0; i < a.length; i += 4) {
    if (!isSeen(i) || (visible > 100 && x(a[i + 1]) - (last.get(a[i + 2]) ?? -1e9) < 24)) continue;
    last.set(a[i + 2], x(a[i + 1]));
    const x1 = x(a[i + 1]), y1 = time.lines[a[i]].y + titleHeight + 4, x2 = x(a[i + 3]), y2 = time.lines[a[i + 2]].y + titleHeight + 4;
    context.beginPath(); context.moveTo(x1, y1); context.bezierCurveTo(x1 + 20, y1, x2 - 20, y2, x2, y2); context.stroke();
  }
  context.fillStyle = style("--back"); context.fillRect(0, top, width, rulerHeight - 2); context.fillStyle = faint;
  for (let at = Math.ceil(from / step) * step; at < until; at += step) context.fillText(duration(at), x(at) + 3, top + 9);
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
frame.addEventListener("scroll", later);
let held = null, pressed = null;
const pointers = new Map(); // where each one is: two are a pinch
function eventAt(offsetX, fromTop) {
  const offsetY = fromTop + frame.scrollTop;
  const at = from + offsetX / frame.clientWidth * (until - from), slack = (until - from) / frame.clientWidth; let best = null;
  for (const line of time.lines) {
    const row = Math.floor((offsetY - line.y - titleHeight) / rowHeight); if (row < 0 || row >= line.rows) continue;
    const v = line.events;
    for (let i = 0; i < v.length && v[i] <= at + slack; i += 4)
      if (line.row[i / 4] === row && v[i] + v[i + 1] >= at - slack) best = [line, i];
  }
  return best;
}
const describe = (line, i) => time.texts[line.events[i + 2]] + "\n" + duration(line.events[i + 1]) + " at " + duration(line.events[i]) + "\n" +
    time.texts[line.events[i + 3]];
// From a kernel to the execution that it is in, to the launch of that, and back.
function select(line, i) {
  const e = line.events, lineAt = time.lines.indexOf(line), parts = [describe(line, i)];
  let execution = line.name === "XLA Modules" ? [line, i] : null;
  if (line.name === "XLA Ops")
    for (const other of time.lines)
      if (other.plane === line.plane && other.name === "XLA Modules")
        for (let k = 0; k < other.events.length && other.events[k] <= e[i]; k += 4)
          if (other.events[k] + other.events[k + 1] >= e[i]) execution = [other, k];
  const a = time.arrows;
  if (execution) {
    if (execution[0] !== line) parts.push("in the execution " + describe(...execution));
    const to = time.lines.indexOf(execution[0]), at = execution[0].events[execution[1]];
    for (let k = 0; k < a.length; k += 4)
      if (a[k + 2] === to && a[k + 3] === at)
        parts.push(`launched by ${time.lines[a[k]].name} at ${duration(a[k + 1])}, ${duration(at - a[k + 1])} before it began`);
  } else {
    for (let k = 0; k < a.length; k += 4)
      if (a[k] === lineAt && a[k + 1] >= e[i] && a[k + 1] <= e[i] + e[i + 1])
        parts.push(`launches an execution of ${time.lines[a[k + 2]].plane}, which begins at ${duration(a[k + 3])}`);
  }
  byId("selected").textContent = parts.join("\n\n");
}
canvas.addEventListener("pointerdown", e => {
  pointers.set(e.pointerId, e.clientX);
  held = pointers.size === 1 ? e.clientX : null; pressed = held ?? -1e9;
  canvas.setPointerCapture(e.pointerId);
});
const release = e => { pointers.delete(e.pointerId); held = null; };
canvas.addEventListener("pointercancel", release);
canvas.addEventListener("pointerup", e => {
  release(e);
  const hit = Math.abs(e.clientX - pressed) < 3 && eventAt(e.offsetX, e.offsetY);
  if (hit) select(...hit);
});
function pinch(e) {
  const widthOf = () => { const [a, b] = pointers.values(); return Math.max(8, Math.abs(a - b)); }, before = widthOf();
  pointers.set(e.pointerId, e.clientX);
  const [a, b] = pointers.values();
  zoom(before / widthOf(), ((a + b) / 2 - canvas.getBoundingClientRect().left) / frame.clientWidth);
}
canvas.addEventListener("pointermove", e => {
  if (pointers.size === 2 && pointers.has(e.pointerId)) return pinch(e);
  if (held !== null) { move((held - e.clientX) / frame.clientWidth); held = e.clientX; return; }
  const best = eventAt(e.offsetX, e.offsetY);
  tip.style.display = best ? "block" : "none";
  if (best) {
    tip.textContent = describe(...best);
    tip.style.left = Math.min(e.offsetX + 12, Math.max(0, frame.clientWidth - 330)) + "px"; tip.style.top = e.offsetY + 14 + "px"; }
});
canvas.addEventListener("pointerleave", () => tip.style.display = "none");
frame.addEventListener("keydown", e => {
  const act = {"+": () => zoom(.6, .5), "=": () => zoom(.6, .5), "-": () => zoom(1.6, .5), "0": whole,
               ArrowLeft: () => move(-.2), ArrowRight: () => move(.2)}[e.key];
  if (act) { e.preventDefault(); act(); }
});
byId("whole").onclick = whole; byId("closer").onclick = () => zoom(.6, .5); byId("farther").onclick = () => zoom(1.6, .5);
byId("search").oninput = e => {
  wanted = e.target.value.toLowerCase(); let count = 0, sum = 0;
  if (wanted)
    for (const line of time.lines)
      for (let i = 0; i < line.events.length; i += 4)
        if (isWanted(line.events[i + 2], line.events[i + 3])) { ++count; sum += line.events[i + 1]; }
  byId("found").textContent = wanted ? `${count} events, ${duration(sum)}` : ""; later();
};
addEventListener("resize", later); matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { colours.clear(); later(); });
)page";

/// The choice of views, after the script of the graph (runtime/base/PageGraph.h).
inline constexpr const char kPageEnd[] = R"page(
views(["dashboard", "timeline", "kernels", "memory", "compilations", "collectives", "graph", "tables"],
      {timeline: draw, kernels: drawRoofs, memory: drawMemory, graph: () => { if (graphs.length) wholeGraph(false); }});
</script></body></html>
)page";

} // namespace millrace::runtime::profile
