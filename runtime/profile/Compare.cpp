// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compare.cpp - What is slower in one recording than in another --------===//
#include "runtime/profile/Compare.h"
#include "runtime/base/HtmlPage.h"
#include "runtime/base/PageStyle.h"
#include "runtime/profile/Json.h"
#include "runtime/profile/Utf8.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace millrace::runtime::profile {
namespace {

/// Smaller differences of what is counted say nothing. Unit: share. Source: judgement: counts of the same plan are equal.
constexpr double kSameShare = 0.02;
/// Times of the same code differ that much from run to run. Unit: share. Source: judgement, not measured alone.
constexpr double kSameTime = 0.1;

bool differs(double before, double after, double share) { return std::abs(after - before) > share * std::max(std::abs(before), std::abs(after)); }

std::map<std::string, uint64_t> runsOf(const Summary &summary) {
  std::map<std::string, uint64_t> runs;
  for (const Summary::Row &program : summary.programs)
    runs[program.module] += program.calls;
  return runs;
}

/// What the runtime and the compiler did otherwise, in the order of what explains most.
std::string reasonOf(const Comparison::Row &row, double beforeRuns, double afterRuns) {
  if (!row.before)
    return "only in the second recording";
  if (!row.after)
    return "only in the first recording";
  const Summary::Row &a = *row.before, &b = *row.after;
  std::string why;
  auto say = [&](const std::string &text) { why += (why.empty() ? "" : "; ") + text; };
  auto perCall = [](double of, const Summary::Row &row) { return row.calls ? of / double(row.calls) : 0; };
  if (a.category != b.category)
    say("other plan: made by '" + b.category + "', not by '" + a.category + "'");
  if (a.operations != b.operations)
    say("other plan: computes " + b.operations + ", not " + a.operations);
  if (differs(double(a.calls) / beforeRuns, double(b.calls) / afterRuns, kSameShare))
    say(format("%.1f calls per execution, not %.1f", double(b.calls) / afterRuns, double(a.calls) / beforeRuns));
  if (differs(perCall(a.bytes, a), perCall(b.bytes, b), kSameShare))
    say((b.bytes * double(a.calls) > a.bytes * double(b.calls) ? "more bytes: " : "fewer bytes: ") + bytesText(perCall(b.bytes, b)) + ", not " +
        bytesText(perCall(a.bytes, a)));
  if (differs(perCall(a.flops, a), perCall(b.flops, b), kSameShare))
    say(format("%.2f million operations per call, not %.2f", perCall(b.flops, b) / 1e6, perCall(a.flops, a) / 1e6));
  if (differs(a.threads, b.threads, kSameTime))
    say((b.threads < a.threads ? "fewer threads: " : "more threads: ") + format("%.1f, not %.1f", b.threads, a.threads));
  if (a.pieces != b.pieces && a.pieces && b.pieces)
    say("can run in " + std::to_string(b.pieces) + " pieces, not " + std::to_string(a.pieces));
  if (differs(perCall(a.waitNs, a), perCall(b.waitNs, b), kSameTime))
    say("devices wait " + durationText(perCall(b.waitNs, b)) + " for each other, not " + durationText(perCall(a.waitNs, a)));
  if (why.empty())
    why = differs(row.beforeNs, row.afterNs, kSameTime) ? "the same code, bytes and threads: the machine (clock, memory, other programs)" : "the same";
  return why;
}

/// Pairs of steps that `key` gives the same text, the most expensive ones first; an empty key has no partner.
template <typename Key>
void pair(std::vector<const Summary::Row *> &before, std::vector<const Summary::Row *> &after, std::vector<Comparison::Row> &rows, Key key) {
  std::map<std::string, std::vector<const Summary::Row *>> waiting;
  for (const Summary::Row *row : before)
    if (const std::string text = key(*row); !text.empty())
      waiting[text].push_back(row);
  std::set<const Summary::Row *> taken;
  for (const Summary::Row *row : after)
    if (auto found = waiting.find(key(*row)); found != waiting.end() && !found->second.empty()) {
      rows.push_back({.before = found->second.front(), .after = row, .why = {}});
      taken.insert({found->second.front(), row});
      found->second.erase(found->second.begin());
    }
  for (auto *list : {&before, &after})
    std::erase_if(*list, [&](const Summary::Row *row) { return taken.contains(row); });
}

std::string sideJson(const Summary::Row *row) {
  if (!row)
    return "null";
  return json::Fields()
      .text("name", row->name)
      .count("calls", row->calls)
      .number("ns", row->ns, 1)
      .number("flops", row->flops, 1)
      .number("bytes", row->bytes, 1)
      .number("threads", row->threads, 1)
      .text("made_by", row->category)
      .object();
}

std::string rowJson(const Comparison::Row &row) {
  const Summary::Row &known = row.known();
  return json::Fields()
      .text("name", known.name)
      .text("program", known.module)
      .text("source", known.source)
      .number("before_ns", row.beforeNs, 1)
      .number("after_ns", row.afterNs, 1)
      .number("cost_ns", row.costNs, 1)
      .text("why", row.why)
      .raw("before", sideJson(row.before))
      .raw("after", sideJson(row.after))
      .object();
}

std::string programJson(const Comparison::Program &program) {
  return json::Fields()
      .text("name", program.name)
      .count("before_runs", program.beforeRuns)
      .count("after_runs", program.afterRuns)
      .number("before_ns", program.beforeNs, 1)
      .number("after_ns", program.afterNs, 1)
      .object();
}

constexpr const char kComparePage[] = R"page(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>@TITLE@</title>
<style>@STYLE@</style></head><body>
<h1>@TITLE@</h1><p id="verdict"></p>
<h2>Programs</h2><div class="scroll"><table id="programs"></table></div>
<h2>What differs</h2><p class="faint" id="key"></p><div id="bars"></div><div class="scroll"><table id="steps"></table></div>
<h2>Both under operations per byte</h2><div id="dots"></div>
<script type="application/json" id="data">@DATA@</script>
<script>@TOOLS@
const data = JSON.parse(byId("data").textContent), rows = data.rows, colours = [palette[0], palette[1]];
const sum = (list, key) => list.reduce((all, row) => all + row[key], 0);
const ratio = (a, b) => a > 0 && b > 0 ? (b / a).toFixed(2) + "x" : "";
const slower = rows.filter(r => r.cost_ns > 0), most = slower[0];
byId("verdict").textContent = `One execution of each program takes ${duration(sum(data.programs, "after_ns"))}, and took ` +
  `${duration(sum(data.programs, "before_ns"))}.` + (most ? ` ${most.name} costs most: ${most.why}.` : " Nothing is slower.");
table("programs", data.programs, [text("program", p => p.name), number("first", p => p.before_ns, duration), number("second", p => p.after_ns, duration),
  number("ratio", p => p.before_ns ? p.after_ns / p.before_ns : 0, x => x ? x.toFixed(2) + "x" : ""), number("runs, first", p => p.before_runs, String),
  number("runs, second", p => p.after_runs, String)]);
table("steps", rows, [number("costs", r => r.cost_ns, ns => (ns < 0 ? "-" : "") + duration(Math.abs(ns))), number("first", r => r.before_ns, duration),
  number("second", r => r.after_ns, duration), text("ratio", r => ratio(r.before_ns, r.after_ns)), text("kernel", r => r.name),
  text("line", r => r.source), text("why", r => r.why), text("program", r => r.program)]);
byId("key").innerHTML = ["first", "second"].map((name, k) => `<span class="key" style="background: ${colours[k]}"></span>${name} recording`).join(" ") +
  ", time per execution";
const drawn = rows.slice(0, 20), longest = Math.max(1, ...drawn.map(r => Math.max(r.before_ns, r.after_ns))), bar = ns => ns / longest * 420;
svg("bars", 900, drawn.length * 30 + 10, `times of ${drawn.length} kernels in both recordings`, drawn.map((r, k) =>
  `<g transform="translate(0 ${k * 30})"><text x="0" y="16">${inHtml(r.name.slice(0, 44))}</text>` +
  [r.before_ns, r.after_ns].map((ns, side) => `<rect x="300" y="${4 + side * 11}" width="${bar(ns)}" height="10" fill="${colours[side]}">` +
    `<title>${inHtml(r.name)}: ${duration(ns)}</title></rect>`).join("") +
  `<text x="${308 + bar(Math.max(r.before_ns, r.after_ns))}" y="18">${ratio(r.before_ns, r.after_ns)}</text></g>`).join(""));
// A dot per recording and kernel, and what has moved between them.
const pairs = rows.filter(r => [r.before, r.after].every(of => of && of.flops > 0 && of.bytes > 0 && of.ns > 0));
const points = pairs.map(r => [r.before, r.after].map(of => [Math.log10(of.flops / of.bytes), Math.log10(of.flops / of.ns)]));
const range = at => { const all = points.flat().map(p => p[at]); return [Math.floor(Math.min(...all)), Math.ceil(Math.max(...all) + .01)]; };
if (pairs.length) {
  const [x0, x1] = range(0), [y0, y1] = range(1), x = v => 60 + (v - x0) / (x1 - x0) * 780, y = v => 330 - (v - y0) / (y1 - y0) * 300;
  let out = "";
  for (let e = x0; e <= x1; ++e) out += axisLine(x(e), 30, x(e), 330) + axisText(x(e), 346, "middle", +(10 ** e).toPrecision(1));
  for (let e = y0; e <= y1; ++e) out += axisLine(60, y(e), 840, y(e)) + axisText(54, y(e) + 4, "end", +(10 ** e).toPrecision(1));
  points.forEach(([a, b], k) => {
    out += `<line class="axis" x1="${x(a[0])}" y1="${y(a[1])}" x2="${x(b[0])}" y2="${y(b[1])}"/>`;
    [a, b].forEach((p, side) => out += `<circle cx="${x(p[0])}" cy="${y(p[1])}" r="5" fill="${colours[side]}" fill-opacity=".7">` +
      `<title>${inHtml(pairs[k].name)}: ${inHtml(pairs[k].why)}</title></circle>`);
  });
  svg("dots", 860, 370, `${pairs.length} kernels in both recordings`, out + axisText(450, 364, "middle", "operations per byte") +
    axisText(10, 20, "start", "GFLOP/s"));
}
</script></body></html>
)page";

} // namespace

Comparison compare(const Summary &before, const Summary &after) {
  Comparison made;
  std::vector<const Summary::Row *> first, second;
  for (const Summary::Row &row : before.steps)
    first.push_back(&row);
  for (const Summary::Row &row : after.steps)
    second.push_back(&row);
  pair(first, second, made.rows, [](const Summary::Row &row) { return row.module + "\n" + row.name; });
  pair(first, second, made.rows, [](const Summary::Row &row) {
    return row.operations.empty() || row.source.empty() ? std::string() : row.module + "\n" + row.operations + "\n" + row.source;
  });
  pair(first, second, made.rows, [](const Summary::Row &row) { return row.source.empty() ? std::string() : row.module + "\n" + row.source; });
  pair(first, second, made.rows, [](const Summary::Row &row) { return row.operations.empty() ? std::string() : row.module + "\n" + row.operations; });
  for (const Summary::Row *row : first)
    made.rows.push_back({.before = row, .why = {}});
  for (const Summary::Row *row : second)
    made.rows.push_back({.after = row, .why = {}});
  const std::map<std::string, uint64_t> beforeRuns = runsOf(before), afterRuns = runsOf(after);
  auto runs = [](const std::map<std::string, uint64_t> &of, const std::string &module) {
    auto found = of.find(module);
    return found == of.end() ? 1.0 : double(std::max<uint64_t>(1, found->second));
  };
  std::map<std::string, Comparison::Program> programs;
  for (Comparison::Row &row : made.rows) {
    const std::string &module = row.known().module;
    const double a = runs(beforeRuns, module), b = runs(afterRuns, module);
    row.beforeNs = row.before ? row.before->ns / a : 0;
    row.afterNs = row.after ? row.after->ns / b : 0;
    row.costNs = (row.afterNs - row.beforeNs) * b;
    row.why = reasonOf(row, a, b);
    Comparison::Program &program = programs[module];
    program.name = module;
    program.beforeNs += row.beforeNs;
    program.afterNs += row.afterNs;
  }
  for (auto &[name, program] : programs) {
    program.beforeRuns = beforeRuns.contains(name) ? beforeRuns.at(name) : 0;
    program.afterRuns = afterRuns.contains(name) ? afterRuns.at(name) : 0;
    made.programs.push_back(std::move(program));
  }
  std::sort(made.programs.begin(), made.programs.end(),
            [](const auto &a, const auto &b) { return std::tie(b.afterNs, a.name) < std::tie(a.afterNs, b.name); });
  std::sort(made.rows.begin(), made.rows.end(), [](const auto &a, const auto &b) {
    return std::tuple(-std::abs(a.costNs), a.known().name, a.known().module) < std::tuple(-std::abs(b.costNs), b.known().name, b.known().module);
  });
  return made;
}

std::string toText(const Comparison &comparison, size_t top) {
  std::string out = "programs: us of one execution, first and second recording, ratio, executions\n";
  for (const Comparison::Program &each : comparison.programs)
    out += format("%12.1f %12.1f  %s  %llu %llu  ", each.beforeNs / 1e3, each.afterNs / 1e3,
                  each.beforeNs > 0 && each.afterNs > 0 ? format("%6.2fx", each.afterNs / each.beforeNs).c_str() : "      -",
                  (unsigned long long)each.beforeRuns, (unsigned long long)each.afterRuns) + forTerminal(each.name) + "\n";
  out += "\nwhat differs: us of one execution, first and second recording, ratio, kernel, line, why";
  out += comparison.rows.size() > top ? " (the first " + std::to_string(top) + " of " + std::to_string(comparison.rows.size()) + ")\n" : "\n";
  for (size_t i = 0; i < std::min(top, comparison.rows.size()); ++i) {
    const Comparison::Row &row = comparison.rows[i];
    out += format("%12.1f %12.1f  %s  ", row.beforeNs / 1e3, row.afterNs / 1e3,
                  row.before && row.after && row.beforeNs > 0 ? format("%6.2fx", row.afterNs / row.beforeNs).c_str() : "      -") +
           forTerminal(row.known().name) + "  " + forTerminal(row.known().source) + "  " + forTerminal(row.why, kLongestSentence) + "\n";
  }
  return out;
}

std::string toJson(const Comparison &comparison) {
  return json::Fields().raw("programs", json::list(comparison.programs, programJson)).raw("rows", json::list(comparison.rows, rowJson)).object();
}

std::string htmlPage(const Comparison &comparison, const std::string &before, const std::string &after) {
  std::string page = kComparePage;
  putInPage(page, "@STYLE@", kPageStyle);
  putInPage(page, "@TOOLS@", kPageTools);
  putInPage(page, "@TITLE@", inHtml(before + " and " + after)); // before the data, which may contain marks
  const std::string mark = "@DATA@";
  page.replace(page.rfind(mark), mark.size(), inScript(toJson(comparison)));
  return page;
}

} // namespace millrace::runtime::profile
