// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PageStyle.h - What all pages look like, and what their scripts share ===//
#pragma once

namespace millrace::runtime {

/// For a style element. Light or dark as the reader's system is.
inline constexpr const char kPageStyle[] = R"page(
:root { color-scheme: light dark; --back: #fff; --text: #1a1a1a; --faint: #666; --rule: #ddd; --lane: #f5f5f5;
        --accent: #0b5fa5; --good: #1f7a3d; --bad: #b3541e; }
@media (prefers-color-scheme: dark) {
  :root { --back: #16181b; --text: #e6e6e6; --faint: #9a9a9a; --rule: #34373b; --lane: #1e2125; --accent: #6fb1ea; --good: #6fca8f; --bad: #e8935f; }
}
body { margin: 0; padding: 1rem; font: 15px/1.45 system-ui, sans-serif; background: var(--back); color: var(--text); }
h1 { font-size: 1.25rem; margin: 0 0 .5rem; } h2 { font-size: 1.05rem; margin: 1.5rem 0 .5rem; }
#verdict { font-size: 1.05rem; max-width: 70rem; } .warning { color: var(--bad); }
#frame { border: 1px solid var(--rule); max-height: 80vh; overflow-y: auto; } .under { position: relative; } canvas { display: block; width: 100%; touch-action: none; cursor: grab; }
#time { position: sticky; top: 0; touch-action: pan-y; }
#tip { position: absolute; pointer-events: none; background: var(--back); border: 1px solid var(--rule); padding: .3rem .5rem; font-size: 13px;
       white-space: pre-wrap; max-width: 32rem; display: none; z-index: 1; overflow-wrap: anywhere; }
.bar { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .5rem 0; font-size: 13px; color: var(--faint); }
input, button { font: inherit; color: inherit; background: var(--lane); border: 1px solid var(--rule); border-radius: 3px; padding: .15rem .5rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; } th, td { padding: .15rem .6rem; text-align: left; border-bottom: 1px solid var(--rule); }
td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; } th { cursor: pointer; white-space: nowrap; }
td { overflow-wrap: anywhere; min-width: 6.5rem; } td.n { min-width: 0; }
nav { display: flex; flex-wrap: wrap; gap: .25rem; margin: .75rem 0; border-bottom: 1px solid var(--rule); }
nav button { border: 0; border-bottom: 3px solid transparent; border-radius: 0; background: none; padding: .35rem .7rem; cursor: pointer; }
nav button[aria-selected="true"] { border-bottom-color: var(--accent); font-weight: 600; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 1fr)); gap: .75rem; }
.card { border: 1px solid var(--rule); border-top: 4px solid var(--accent); border-radius: 4px; padding: .6rem .8rem; background: var(--lane); }
.card h3 { margin: 0 0 .3rem; font-size: 1rem; } .card p { margin: .3rem 0; font-size: 13.5px; } .card code { overflow-wrap: anywhere; }
.cost { float: right; margin-left: .5rem; color: var(--bad); font-weight: 600; } .faint { color: var(--faint); font-size: 13px; }
.split { display: flex; height: 1.4rem; max-width: 70rem; border: 1px solid var(--rule); } .split span { min-width: 1px; }
.key { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 .8em; vertical-align: baseline; }
.item { white-space: nowrap; }
svg { display: block; max-width: 100%; height: auto; } svg text { fill: var(--text); font: 11px system-ui, sans-serif; }
svg .axis { stroke: var(--rule); } svg .roof { stroke: var(--bad); stroke-width: 1.5; fill: none; }
svg .dot { fill: var(--accent); fill-opacity: .55; stroke: var(--accent); }
.details { white-space: pre-wrap; font-size: 13px; border-left: 3px solid var(--accent); padding: .2rem .6rem; margin: .5rem 0;
overflow-wrap: anywhere; } .details:empty { display: none; }
.plus { background: color-mix(in srgb, var(--good) 22%, transparent); } .minus { background: color-mix(in srgb, var(--bad) 22%, transparent); }
pre { overflow-x: auto; font-size: 12px; margin: .3rem 0; } .heat { color: #000; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
section[hidden] { display: none; }
@media (max-width: 40rem) {
  body { padding: .6rem; } nav button { padding: .45rem .5rem; }
  th, th.n { white-space: normal; } th, td { padding: .15rem .35rem; }
}
)page";

/// The beginning of a script: numbers as texts, tables that sort, views with buttons.
inline constexpr const char kPageTools[] = R"page(
"use strict";
const byId = id => document.getElementById(id);
const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const inHtml = text => String(text).replace(/[&<>"]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})[c]);
const duration = ns => ns >= 1e9 ? (ns / 1e9).toFixed(3) + " s" : ns >= 1e6 ? (ns / 1e6).toFixed(3) + " ms" :
  ns >= 1e3 ? (ns / 1e3).toFixed(2) + " µs" : Math.round(ns) + " ns";
const bytes = n => n >= 1e9 ? (n / 1e9).toFixed(2) + " GB" : n >= 1e6 ? (n / 1e6).toFixed(1) + " MB" : n >= 1e3 ? (n / 1e3).toFixed(1) + " kB" : n +
    " B";
const megabytes = bytes => (bytes / 1e6).toFixed(1) + " MB";

// Tables: a click on a title, or Enter on it, sorts by that column, and once more the other way round.
function table(id, rows, columns) {
  const element = byId(id), shown = 100;
  function draw(order, by, isReversed) {
    element.textContent = "";
    const head = element.createTHead().insertRow();
    columns.forEach(([title, value, isNumber], k) => {
      const cell = document.createElement("th"); cell.textContent = title; cell.className = isNumber ? "n" : ""; cell.tabIndex = 0;
      cell.onclick = () => {
        const reverse = by === k && !isReversed, sign = reverse ? -1 : 1;
        draw([...rows].sort((a, b) =>
          sign * (isNumber ? columns[k][3](b) - columns[k][3](a) : String(value(a)).localeCompare(String(value(b))))), k, reverse);
      };
      cell.onkeydown = e => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); cell.onclick(); } };
      head.append(cell);
      if (by !== k) return;
      cell.setAttribute("aria-sort", isNumber !== isReversed ? "descending" : "ascending");
      cell.focus();
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

const text = (title, of) => [title, of, false], number = (title, of, show) => [title, row => show(of(row)), true, of];
const percent = x => (100 * x).toFixed(1) + " %";
const palette = ["#3f7fbf", "#d08a3c", "#4f9d69", "#b35c8a", "#8a6fc2", "#c25b4e", "#5aa6b0", "#8f8f8f"];
const svgText = (width, height, label, content) =>
  `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${inHtml(label)}">${content}</svg>`;
function svg(id, width, height, label, content) { byId(id).innerHTML = svgText(width, height, label, content); }
const axisLine = (x1, y1, x2, y2) => `<line class="axis" x1="${x1}" x2="${x2}" y1="${y1}" y2="${y2}"/>`;
const axisText = (x, y, anchor, content) => `<text x="${x}" y="${y}" text-anchor="${anchor}">${content}</text>`;
// Views that one page has: a button for each, of which one is pressed. The address keeps which: page.html#memory.
function views(names, shown) {
  function show(name) {
    for (const each of names) {
      byId("view-" + each).hidden = each !== name;
      byId("tab-" + each).setAttribute("aria-selected", String(each === name));
      byId("tab-" + each).tabIndex = each === name ? 0 : -1;
    }
    if (shown[name]) shown[name]();
  }
  const fromAddress = () => { const name = location.hash.slice(1); show(names.includes(name) ? name : names[0]); };
  names.forEach((name, k) => {
    byId("tab-" + name).onclick = () => { location.hash = name; };
    byId("tab-" + name).onkeydown = e => {
      const to = {ArrowRight: k + 1, ArrowLeft: k - 1, Home: 0, End: names.length - 1}[e.key];
      if (to === undefined) return;
      const next = names[(to + names.length) % names.length];
      location.hash = next; byId("tab-" + next).focus(); e.preventDefault();
    };
  });
  addEventListener("hashchange", fromAddress);
  fromAddress();
}
)page";

} // namespace millrace::runtime
