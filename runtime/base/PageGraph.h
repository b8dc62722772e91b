// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PageGraph.h - A program as a graph in a page -------------------------===//
#pragma once

namespace millrace::runtime {

/// The elements of the view.
inline constexpr const char kGraphBody[] = R"page(<div class="bar"><select id="which" aria-label="program"></select>
<label><input type="checkbox" id="fold"> one box per line of the program</label>
<label>colours <select id="paint" aria-label="colours"><option value="time">time</option><option value="sharding">sharding</option>
<option value="layout">layout</option></select></label>
<input id="boxsearch" type="search" placeholder="name or line" aria-label="search boxes by name or line"><span id="graphnote"></span>
<span>wheel or + and - zoom, drag or arrow keys move, n and p go from box to box, 0 shows the whole</span></div>
<div class="faint" id="paintkey"></div>
<div id="graphframe" tabindex="0" aria-label="program as a graph"><canvas id="board"></canvas></div><div class="details" id="box"></div>)page";

/// The script, after kPageTools. It expects `graphs`, a list of {name, graph}, and `nsOf`, a map from names of boxes to nanoseconds. A graph is
/// {"nodes":[[name, kind, operations, place, depth, shape, sharding], ...], "edges":[from, to, bytes, ...], "left_out":n}; a shape ends with
/// its layout, "f32[8,16]{1,0}". Boxes in a row depend on nothing in the same row; what a box reads stands above it.
inline constexpr const char kPageGraph[] = R"page(
const plane = byId("graphframe"), board = byId("board"), boxWidth = 170, boxHeight = 34, gapX = 18, gapY = 30;
let graph = null, gx = 0, gy = 0, scale = 1, chosen = -1, wantedBox = "";
const withoutColumn = place => place.replace(/^(.*:\d+):\d+$/, "$1");
const layoutOf = node => (/\{[\d,]*\}/.exec(node[5] || "") || [""])[0];
const isEnd = node => node[1] === "argument" || node[1] === "result";
const timeOf = node => node[8] ?? (nsOf.get(node[0]) || 0);
function folded(raw) { // what comes from one line of the program as one box; [7] counts its steps, [8] is their time
  const index = new Map(), nodes = [], of = [];
  raw.nodes.forEach((node, k) => {
    const place = withoutColumn(node[3]), key = place && !isEnd(node) ? place : "#" + k;
    if (!index.has(key)) {
      index.set(key, nodes.length);
      nodes.push(key[0] === "#" ? [...node, 1] : [place.replace(/^.*\//, ""), "line", "", node[3], node[4], node[5], node[6], 0, 0]);
    }
    const at = index.get(key);
    of.push(at);
    if (key[0] === "#") return;
    const line = nodes[at];
    ++line[7];
    line[2] += (line[2] ? ", " : "") + node[0];
    line[8] += nsOf.get(node[0]) || 0;
    if (node[6]) line[6] = node[6];
  });
  const sums = new Map(), edges = [];
  for (let i = 0; i < raw.edges.length; i += 3) {
    const a = of[raw.edges[i]], b = of[raw.edges[i + 1]];
    if (a === b) continue;
    const key = a * nodes.length + b;
    sums.set(key, (sums.get(key) || 0) + raw.edges[i + 2]);
  }
  for (const [key, sum] of sums) edges.push(Math.floor(key / nodes.length), key % nodes.length, sum);
  return {nodes, edges, left_out: raw.left_out};
}
function layOut(raw) {
  const n = raw.nodes.length, layer = new Int32Array(n), inputs = raw.nodes.map(() => []), outputs = raw.nodes.map(() => []);
  for (let i = 0; i < raw.edges.length; i += 3) { inputs[raw.edges[i + 1]].push(i); outputs[raw.edges[i]].push(i); }
  for (let k = 0; k < n; ++k)
    for (const i of inputs[k])
      if (raw.edges[i] < k) layer[k] = Math.max(layer[k], layer[raw.edges[i]] + 1);
  for (let k = 0; k < n; ++k) // an argument stands above its first reader
    if (!inputs[k].length && outputs[k].length) layer[k] = Math.max(0, Math.min(...outputs[k].map(i => layer[raw.edges[i + 1]])) - 1);
  const rows = [];
  for (let k = 0; k < n; ++k) (rows[layer[k]] ??= []).push(k);
  const x = new Float64Array(n), y = new Float64Array(n);
  let width = 1;
  rows.forEach((row, r) => {
    if (!row) return;
    const wish = new Map(row.map(k => [k, inputs[k].length ? inputs[k].reduce((sum, i) => sum + x[raw.edges[i]], 0) / inputs[k].length : 1e12]));
    row.sort((a, b) => wish.get(a) - wish.get(b) || a - b);
    row.forEach((k, c) => { x[k] = (c - (row.length - 1) / 2) * (boxWidth + gapX); y[k] = r * (boxHeight + gapY); });
    width = Math.max(width, row.length);
  });
  let most = 1, mostBytes = 1;
  for (const node of raw.nodes) most = Math.max(most, timeOf(node));
  for (let i = 2; i < raw.edges.length; i += 3) mostBytes = Math.max(mostBytes, raw.edges[i]);
  return {...raw, x, y, inputs, outputs, most, mostBytes, width: width * (boxWidth + gapX), height: Math.max(1, rows.length) * (boxHeight + gapY)};
}
// What boxes say besides their time: a colour for each sharding or layout that occurs. Names of colours are in `paintkey`.
const colourOf = new Map();
const aspectOf = node => byId("paint").value === "sharding" ? node[6] || "" : byId("paint").value === "layout" ? layoutOf(node) : "";
function chooseColours() {
  colourOf.clear();
  const counts = new Map();
  for (const node of graph ? graph.nodes : [])
    if (aspectOf(node)) counts.set(aspectOf(node), (counts.get(aspectOf(node)) || 0) + 1);
  [...counts].sort((a, b) => b[1] - a[1]).forEach(([name], k) => colourOf.set(name, palette[Math.min(k, palette.length - 1)]));
  const key = [...colourOf].slice(0, palette.length).map(([name, colour], k) =>
    `<span class="key" style="background: ${colour}"></span>${inHtml(k === palette.length - 1 && colourOf.size > palette.length ? "others" : name)}`);
  byId("paintkey").innerHTML = byId("paint").value === "time" ? "" : key.join(" ") || "No box has one.";
}
function chooseGraph() {
  const raw = graphs[byId("which").value || 0];
  if (!raw) return;
  graph = layOut(byId("fold").checked ? folded(raw.graph) : raw.graph);
  chosen = -1;
  byId("graphnote").textContent = `${graph.nodes.length} boxes, ${graph.edges.length / 3} values of at most ${bytes(graph.mostBytes)}` +
    (graph.left_out ? `; ${graph.left_out} more steps are left out` : "");
  chooseColours();
  wholeGraph(plane.clientWidth ? Math.min(1, plane.clientWidth / graph.width) < .15 : false);
}
function wholeGraph(top) { // all of it, or its beginning where it would be too small to read
  const width = plane.clientWidth || 1, fit = Math.min(1, width / graph.width, 560 / graph.height);
  scale = top || fit < .6 ? Math.max(.6, Math.min(1, width / graph.width)) : fit;
  gx = 0;
  gy = -10 / scale;
  laterGraph();
}
const boxAt = (px, py) => {
  const wx = (px - plane.clientWidth / 2) / scale + gx, wy = py / scale + gy;
  for (let k = 0; k < graph.nodes.length; ++k)
    if (Math.abs(wx - graph.x[k]) < boxWidth / 2 && wy >= graph.y[k] && wy <= graph.y[k] + boxHeight) return k;
  return -1;
};
// From 0 for a few bytes to 1 for the most: each step of a tenth is a factor.
const weightOf = size => size > 64 && graph.mostBytes > 64 ? Math.log(size / 64) / Math.log(graph.mostBytes / 64) : 0;
function drawEdges(c, sx, sy, seen) {
  const {x, y, edges} = graph, ink = style("--text"), faint = style("--faint"), accent = style("--accent"), bad = style("--bad");
  const labels = []; // [left, middle, width]: one that would hide another is left out
  let lines = 0;
  for (let i = 0; i < edges.length && lines < 6000; i += 3) {
    const a = edges[i], b = edges[i + 1], isChosen = a === chosen || b === chosen, weight = weightOf(edges[i + 2]);
    if (!isChosen && (scale < .08 || (!seen(a) && !seen(b)))) continue;
    ++lines;
    c.strokeStyle = isChosen ? ink : weight > .85 ? bad : weight > .5 ? accent : faint;
    c.globalAlpha = isChosen ? 1 : .3 + .6 * weight;
    c.lineWidth = Math.max(.5, (.5 + 3.5 * weight) * Math.min(1, scale * 1.5));
    const x1 = sx(x[a]), y1 = sy(y[a] + boxHeight), x2 = sx(x[b]), y2 = sy(y[b]), mid = (y2 - y1) / 2;
    c.beginPath();
    c.moveTo(x1, y1);
    c.bezierCurveTo(x1, y1 + mid, x2, y2 - mid, x2, y2);
    c.stroke();
    if (scale > (isChosen ? .5 : .8)) {
      c.fillStyle = isChosen ? ink : faint;
      c.globalAlpha = 1;
      c.font = "10px system-ui, sans-serif";
      const label = bytes(edges[i + 2]), left = (x1 + x2) / 2 + 3, middle = (y1 + y2) / 2, width = c.measureText(label).width;
      if (labels.some(([l, m, w]) => Math.abs(m - middle) < 10 && left < l + w + 2 && l < left + width + 2)) continue;
      labels.push([left, middle, width]);
      c.fillText(label, left, middle);
    }
  }
}
function drawBox(c, k, px, py) {
  const node = graph.nodes[k], w = Math.max(1, boxWidth * scale), h = Math.max(1, boxHeight * scale), share = timeOf(node) / graph.most;
  const ink = style("--text"), faint = style("--faint"), aspect = colourOf.get(aspectOf(node));
  c.fillStyle = style("--lane");
  c.fillRect(px, py, w, h);
  c.fillStyle = aspect || (node[1] === "collective" ? style("--bad") : style("--accent"));
  c.globalAlpha = byId("paint").value === "time" ? .1 + .5 * share : aspect ? .55 : 0;
  if (byId("paint").value !== "time" || !isEnd(node)) c.fillRect(px, py, w, h);
  c.globalAlpha = wantedBox && !(node[0] + node[3] + node[2]).toLowerCase().includes(wantedBox) ? .25 : 1;
  c.strokeStyle = k === chosen ? ink : faint;
  c.lineWidth = 1;
  if (scale > .1) c.strokeRect(px, py, w, h);
  if (scale < .55) return;
  c.save();
  c.beginPath();
  c.rect(px, py, w, h);
  c.clip();
  c.fillStyle = ink;
  c.font = `${Math.min(12, 14 * scale)}px system-ui, sans-serif`;
  c.fillText(node[0], px + 4, py + h * .32);
  c.fillStyle = share > .4 || aspect ? ink : faint;
  c.fillText(aspectOf(node) || withoutColumn(node[3]).replace(/^.*\//, "") || node[5] || node[1], px + 4, py + h * .72);
  c.restore();
}
function drawGraph() {
  if (!graph || !plane.clientWidth) return;
  const width = plane.clientWidth, high = 560, dpr = devicePixelRatio || 1, c = board.getContext("2d"), {x, y, nodes} = graph;
  board.width = width * dpr;
  board.height = high * dpr;
  board.style.height = high + "px";
  c.setTransform(dpr, 0, 0, dpr, 0, 0);
  c.fillStyle = style("--back");
  c.fillRect(0, 0, width, high);
  const sx = at => (at - gx) * scale + width / 2, sy = at => (at - gy) * scale;
  const seen = k => {
    const px = sx(x[k]), py = sy(y[k]);
    return px > -boxWidth * scale && px < width + boxWidth * scale && py > -boxHeight * scale && py < high;
  };
  drawEdges(c, sx, sy, seen);
  c.textBaseline = "middle";
  for (let k = 0; k < nodes.length; ++k) {
    c.globalAlpha = 1;
    if (seen(k)) drawBox(c, k, sx(x[k]) - boxWidth * scale / 2, sy(y[k]));
  }
  c.globalAlpha = 1;
}
let askedGraph = 0;
const laterGraph = () => { if (!askedGraph) askedGraph = requestAnimationFrame(() => { askedGraph = 0; drawGraph(); }); };
function chooseBox(k) {
  chosen = k;
  const node = graph.nodes[k];
  laterGraph();
  if (!node) { byId("box").textContent = ""; return; }
  const name = i => graph.nodes[i][0];
  const names = list => list.slice(0, 12).map(i =>
    `  ${name(graph.edges[i])} -> ${name(graph.edges[i + 1])}  ${graph.nodes[graph.edges[i]][5] || ""}  ${bytes(graph.edges[i + 2])}`).join("\n");
  const ns = timeOf(node);
  byId("box").textContent = [`${node[0]}  (${node[1]})`, withoutColumn(node[3]), ns ? duration(ns) + " in this recording" : "", node[2], node[5],
    node[6] ? "sharding " + node[6] : "", "reads", names(graph.inputs[k]), "is read by", names(graph.outputs[k])].filter(Boolean).join("\n");
}
function moveBox(k) { if (k >= 0) { gx = graph.x[k]; gy = graph.y[k] - 200 / scale; chooseBox(k); } }
let grabbed = null, travelled = 0;
board.addEventListener("pointerdown", e => { grabbed = [e.clientX, e.clientY]; travelled = 0; board.setPointerCapture(e.pointerId); });
board.addEventListener("pointermove", e => {
  if (!grabbed) return;
  gx -= (e.clientX - grabbed[0]) / scale;
  gy -= (e.clientY - grabbed[1]) / scale;
  travelled += Math.abs(e.clientX - grabbed[0]) + Math.abs(e.clientY - grabbed[1]);
  grabbed = [e.clientX, e.clientY];
  laterGraph();
});
board.addEventListener("pointerup", e => { grabbed = null; if (graph && travelled < 4) chooseBox(boxAt(e.offsetX, e.offsetY)); });
function zoomGraph(factor, px, py) {
  const next = Math.min(3, Math.max(.01, scale * factor)), wx = (px - plane.clientWidth / 2) / scale + gx, wy = py / scale + gy;
  scale = next;
  gx = wx - (px - plane.clientWidth / 2) / scale;
  gy = wy - py / scale;
  laterGraph();
}
const zoomMiddle = factor => zoomGraph(factor, plane.clientWidth / 2, 280);
plane.addEventListener("wheel", e => { e.preventDefault(); zoomGraph(e.deltaY > 0 ? .8 : 1.25, e.offsetX, e.offsetY); }, {passive: false});
plane.addEventListener("keydown", e => {
  const step = 80 / scale, act = {
    "+": () => zoomMiddle(1.4), "=": () => zoomMiddle(1.4), "-": () => zoomMiddle(.7),
    "0": () => { scale = Math.min(1, plane.clientWidth / graph.width, 560 / graph.height); gx = 0; gy = 0; },
    ArrowLeft: () => gx -= step, ArrowRight: () => gx += step, ArrowUp: () => gy -= step, ArrowDown: () => gy += step,
    n: () => moveBox(chosen + 1 < graph.nodes.length ? chosen + 1 : 0),
    p: () => moveBox(chosen > 0 ? chosen - 1 : graph.nodes.length - 1)}[e.key];
  if (act && graph) { e.preventDefault(); act(); laterGraph(); }
});
byId("which").innerHTML = graphs.map((each, k) => `<option value="${k}">${inHtml(each.name)}</option>`).join("");
byId("which").onchange = byId("fold").onchange = chooseGraph;
byId("paint").onchange = () => { chooseColours(); laterGraph(); };
byId("boxsearch").oninput = e => {
  wantedBox = e.target.value.toLowerCase();
  if (wantedBox && graph) moveBox(graph.nodes.findIndex(node => (node[0] + node[3] + node[2]).toLowerCase().includes(wantedBox)));
  laterGraph();
};
addEventListener("resize", laterGraph);
if (graphs.length) chooseGraph();
)page";

} // namespace millrace::runtime
