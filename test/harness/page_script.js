// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the script of a page of xla-prof without a browser: node page_script.js PAGE.html. Prints, as JSON, what it draws at first, after zooming
// in by the keyboard, and after a search; what the other views draw; and the rows of its tables. An exception ends with status 1.
"use strict";
const fs = require("fs"), vm = require("vm");
const page = fs.readFileSync(process.argv[2], "utf8");
const data = /<script type="application\/json" id="data">([^]*?)<\/script>/.exec(page)[1], script = /<script>([^]*?)<\/script>/.exec(page)[1];
let calls = {}, frames = [];
const context = new Proxy({measureText: text => ({width: 6 * text.length})}, {get: (own, name) => own[name] ?? ((...given) => { calls[name] = (calls[name] || 0) + 1; if (given.some(v => typeof v === "number" && !Number.isFinite(v))) throw new Error(`${String(name)}(${given})`); }),
                               set: (own, name, value) => { own[name] = value; return true; }});
class Element {
  constructor(id) { Object.assign(this, {id, style: {}, rows: [], children: [], listeners: {}, clientWidth: id === "graphframe" ? 0 : 1000, clientHeight: 4000, scrollTop: 0, _text: ""}); }
  get textContent() { return this._text; }
  set textContent(text) { this._text = String(text); this.rows = []; this.children = []; }
  get innerHTML() { return this._html || ""; }
  set innerHTML(html) {
    if (/(undefined|NaN|\[object)/.test(html)) throw new Error(`${this.id} has ${/.{0,40}(undefined|NaN|\[object).{0,20}/.exec(html)[0]}`);
    this._html = String(html);
  }
  setAttribute(name, value) { this[name] = value; }
  append(...more) { this.children.push(...more); }
  createTHead() { return this; }
  createTBody() { return this; }
  insertRow() { const row = new Element(); this.rows.push(row); return row; }
  insertCell() { const cell = new Element(); this.children.push(cell); return cell; }
  addEventListener(kind, run) { this.listeners[kind] = run; }
  setPointerCapture() {}
  getBoundingClientRect() { return {left: 0, top: 0}; }
  focus() { focused = this; }
  getContext() { return context; }
}
const elements = {};
let focused = null;
const document = {documentElement: new Element(), createElement: () => new Element(),
                  getElementById: id => { if (!new RegExp(`id="${id}"`).test(page)) throw new Error("no element " + id); return elements[id] ??= new Element(id); }};
document.getElementById("data")._text = data;
const media = {matches: false, addEventListener() {}}, listeners = {};
const world = {document, location: {hash: "#timeline"}, getComputedStyle: () => ({getPropertyValue: name => { if (!page.includes(name + ":")) throw new Error("no colour " + name); return " #123456 "; }}),
               matchMedia: () => media, devicePixelRatio: 2, addEventListener: (kind, run) => (listeners[kind] ??= []).push(run), requestAnimationFrame: run => frames.push(run)};
vm.runInNewContext(script, world);
const drawn = () => { for (const run of frames.splice(0)) run(); const now = calls; calls = {}; return now; };
const first = drawn(), frame = elements.frame, key = name => frame.listeners.keydown({key: name, preventDefault() {}});
for (let i = 0; i < 12; ++i) key("+");
key("ArrowRight");
frame.listeners.wheel({preventDefault() {}, deltaY: -1, offsetX: 500});
const zoomed = drawn();
key("0");
elements.search.oninput({target: {value: "DOT"}});
const found = elements.found.textContent;
drawn();
elements.time.listeners.pointermove({offsetX: 500, offsetY: 50, clientX: 500});
// Two fingers, of which one goes away and the other one is taken by the browser for scrolling: nothing is held afterwards.
const finger = (kind, pointerId, clientX) => elements.time.listeners[kind]({pointerId, clientX, offsetX: clientX, offsetY: 50});
finger("pointerdown", 1, 400); finger("pointerdown", 2, 600);
drawn();
finger("pointermove", 2, 800);
const pinched = drawn();
finger("pointerup", 1, 400); finger("pointercancel", 2, 800); finger("pointermove", 3, 500);
const released = drawn();
key("0");
elements.closer.onclick();
drawn();
// Sorting a table by the keyboard, and once more the other way round.
const titleOf = k => elements.lines.rows[0].children[k], enter = {key: "Enter", preventDefault() {}}, times = () => elements.lines.rows.slice(1).map(row => row.children[0].textContent);
titleOf(0).onkeydown(enter);
const down = [titleOf(0)["aria-sort"], times()];
focused.onkeydown(enter);
const sorted = {down, up: [titleOf(0)["aria-sort"], times()]};
focused.onkeydown(enter);
const tables = Object.fromEntries(["steps", "lines", "devices", "programs", "host"].map(id => [id, elements[id].rows.slice(1).map(row => row.children.map(cell => cell.textContent))]));
// Each view, as a click on its button shows it.
const html = {};
elements.graphframe.clientWidth = 1000; // a view that is not shown has no width
for (const name of ["kernels", "memory", "compilations", "collectives", "graph", "tables"]) {
  world.location.hash = "#" + name;
  for (const run of listeners.hashchange) run();
  if (elements["view-" + name].hidden || !elements["view-dashboard"].hidden) throw new Error(`${name} is not shown`);
}
drawn();
for (const id of ["cards", "split", "roofline", "memorychart", "compilestrip", "which"]) html[id] = elements[id].innerHTML;
for (const key of ["+", "n", "ArrowDown", "0"]) elements.graphframe.listeners.keydown({key, preventDefault() {}});
const graph = drawn(), box = elements.box?.textContent ?? "";
console.log(JSON.stringify({html, graph, box, graphnote: elements.graphnote?.textContent, canvas: elements.time.height, pinched, released, sorted, first, zoomed, found, tables, verdict: elements.verdict.textContent, warnings: elements.warnings?.children.length ?? 0}));
