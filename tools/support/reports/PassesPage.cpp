// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PassesPage.cpp - HTML page of the changes by each stop --------------===//
#include "tools/support/reports/PassesPage.h"

#include "runtime/base/HtmlPage.h"
#include "runtime/base/PageStyle.h"
#include "runtime/profile/ChromeTrace.h"
#include "tools/support/programs/Source.h"
#include "tools/support/programs/TextOutput.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace millrace::tools {
namespace {

constexpr const char kHead[] = R"page(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>What the passes did</title>
<style>)page";

constexpr const char kBody[] = R"page(</style></head><body><h1 id="title"></h1>
<div class="bar"><label>of <select id="what" aria-label="program or kernel"></select></label>
<label>before <select id="before" aria-label="stop before"></select></label><label>after <select id="after" aria-label="stop after"></select></label>
<label><input type="checkbox" id="all"> unchanged lines, too</label><span id="note"></span></div>
<p class="faint">The arrow keys left and right go from stop to stop.</p><div id="diff" tabindex="0" aria-label="difference"></div>
<script type="application/json" id="data">)page";

constexpr const char kScript[] = R"page(
const data = JSON.parse(byId("data").textContent), stops = data.stops;
byId("title").textContent = data.title;
const kernels = [...new Set(stops.map(each => each[1]))].sort(); // the program, which has no name, first
byId("what").innerHTML = kernels.map((name, k) => `<option value="${k}">${inHtml(name || "the whole program")}</option>`).join("");
for (const each of stops) each[2] = each[2].trimEnd();
// Stops without changes are omitted.
const chosen = () => stops.filter(each => each[1] === kernels[byId("what").value || 0]).filter((each, k, all) => !k || each[2] !== all[k - 1][2]);

// Returns the shortest list of lines to remove and to insert (Myers); beyond kMost edits the rest counts as changed as a whole.
function difference(a, b) {
  const kMost = 3000; let start = 0, endA = a.length, endB = b.length;
  while (start < endA && start < endB && a[start] === b[start]) ++start;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) { --endA; --endB; }
  const n = endA - start, m = endB - start, v = new Map([[1, 0]]), trace = []; let found = -1;
  for (let d = 0; d <= Math.min(kMost, n + m) && found < 0; ++d) {
    trace.push(new Map(v));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && (v.get(k - 1) ?? -1) < (v.get(k + 1) ?? -1)) ? v.get(k + 1) ?? 0 : (v.get(k - 1) ?? 0) + 1, y = x - k;
      while (x < n && y < m && a[start + x] === b[start + y]) { ++x; ++y; }
      v.set(k, x);
      if (x >= n && y >= m) { found = d; break; }
    }
  }
  const middle = [];
  if (found < 0) {
    for (let i = start; i < endA; ++i) middle.push(["-", a[i]]);
    for (let i = start; i < endB; ++i) middle.push(["+", b[i]]);
  } else {
    let x = n, y = m;
    for (let d = found; d > 0; --d) {
      const before = trace[d], k = x - y, from = k === -d || (k !== d && (before.get(k - 1) ?? -1) < (before.get(k + 1) ?? -1)) ? k + 1 : k - 1;
      const px = before.get(from) ?? 0, py = px - from;
      while (x > px && y > py) { middle.push([" ", a[start + --x]]); --y; }
      if (x > px) middle.push(["-", a[start + --x]]); else middle.push(["+", b[start + --y]]);
    }
    while (x > 0) { middle.push([" ", a[start + --x]]); --y; }
    middle.reverse();
  }
  return [...a.slice(0, start).map(line => [" ", line]), ...middle, ...a.slice(endA).map(line => [" ", line])];
}
function show() {
  const list = chosen(), before = list[byId("before").value || 0], after = list[byId("after").value || 0], context = 3;
  const rows = difference(before[2].split("\n"), after[2].split("\n")), keep = new Uint8Array(rows.length);
  rows.forEach((row, i) => { if (row[0] !== " " || byId("all").checked) for (let k = Math.max(0, i - context); k <= Math.min(rows.length - 1, i + context); ++k) keep[k] = 1; });
  let out = "", skipped = 0, taken = 0, added = 0;
  rows.forEach(([mark, line], i) => {
    taken += mark === "-"; added += mark === "+";
    if (!keep[i]) { ++skipped; return; }
    if (skipped) { out += `<div class="faint">… ${skipped} lines are the same</div>`; skipped = 0; }
    out += `<div class="${mark === "+" ? "plus" : mark === "-" ? "minus" : ""}">${mark} ${inHtml(line)}</div>`;
  });
  if (skipped) out += `<div class="faint">… ${skipped} lines are the same</div>`;
  byId("diff").innerHTML = `<pre>${out}</pre>`;
  byId("note").textContent = `${taken} lines taken away, ${added} added` + (before[3] + after[3] ? `; ${before[3] + after[3]} bytes of the texts are left out` : "");
}
function fill() {
  const list = chosen(), options = list.map((each, k) => `<option value="${k}">${inHtml(each[0])}</option>`).join("");
  byId("before").innerHTML = byId("after").innerHTML = options;
  byId("before").value = "0"; byId("after").value = String(Math.min(1, list.length - 1));
  show();
}
byId("what").onchange = fill; byId("before").onchange = byId("after").onchange = byId("all").onchange = show;
byId("diff").addEventListener("keydown", e => {
  const by = {ArrowRight: 1, ArrowLeft: -1}[e.key], last = chosen().length - 1;
  if (!by) return;
  const at = Math.max(0, Math.min(last - 1, Number(byId("before").value) + by));
  byId("before").value = String(at); byId("after").value = String(Math.min(last, at + 1)); e.preventDefault(); show();
});
fill();
</script></body></html>
)page";

} // namespace

std::string passesPage(const std::vector<StopText> &stops, const std::string &title) {
  using runtime::profile::jsonText;
  std::string data = "{\"title\":" + jsonText(title) + ",\"stops\":[";
  for (size_t i = 0; i < stops.size(); ++i) {
    const std::string &text = stops[i].text;
    const size_t kept = text.size() <= kMostTextBytes ? text.size() : text.rfind('\n', kMostTextBytes) + 1;
    data += (i ? ",\n[" : "[") + jsonText(stops[i].stop) + "," + jsonText(stops[i].kernel) + "," + jsonText(text.substr(0, kept)) + "," +
            std::to_string(text.size() - kept) + "]";
  }
  return std::string(kHead) + runtime::kPageStyle + kBody + runtime::inScript(data + "]}") + "</script>\n<script>" + runtime::kPageTools + kScript;
}

int writePassesPage(mlir::ModuleOp module, CompileOptions options, const std::string &input, const std::string &output) {
  std::vector<StopText> stops;
  std::string before;
  llvm::raw_string_ostream(before) << module;
  stops.push_back({"stablehlo", "", std::move(before)});
  options.onStop = [&](llvm::StringRef stop, llvm::StringRef kernel, llvm::StringRef text) { stops.push_back({stop.str(), kernel.str(), text.str()}); };
  if (llvm::Expected<runtime::Program> program = compile(module, options); !program)
    return fail("xla-compile", llvm::toString(program.takeError()));
  return writeText("xla-compile", output, passesPage(stops, input));
}

} // namespace millrace::tools
