// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Analysis.cpp - PT_XLA_DEBUG: reports of compilations and executions -===//
#include "tracing/reports/Analysis.h"
#include "tracing/reports/Places.h"

#include "tracing/reports/Dump.h"
#include "tracing/emit/Emit.h"
#include "tracing/graph/IrText.h"
#include "tracing/Session.h"
#include "runtime/base/Environment.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>

namespace millrace::tracing {
namespace {

std::string baseName(const std::string &path) { return path.substr(path.rfind('/') + 1); }
bool isOurs(const Place &place) { return place.file.find("/torch_xla/") != std::string::npos; }
/// Returns true for helper functions of the package, which stand on the stack between the function that the user called and the barrier.
bool isHelper(const Place &place) { return isOurs(place) && place.function.size() > 1 && place.function[0] == '_' && place.function[1] != '_'; }

thread_local std::string givenCause;

class Report {
public:
  explicit Report(std::string prefix) : prefix(std::move(prefix)) { line(std::string(80, '=')); }
  void line(const std::string &text) { out << prefix << ": " << text << "\n"; }
  void graph(const AnalysisOf &what) {
    line("Graph Info:");
    line("  Graph Hash: " + what.graph.toString());
    line("  Number of Graph Inputs: " + std::to_string(what.inputs));
    line("  Number of Graph Outputs: " + std::to_string(what.outputs));
  }
  void frames(const std::vector<Place> &stack) {
    line("Python Frame Triggered Execution:");
    size_t most = size_t(std::max<uint64_t>(1, runtime::environment::count("PT_XLA_DEBUG_MAX_FRAME").value_or(8))), shown = 0;
    for (const Place &place : stack) {
      if (shown == 0 && isHelper(place))
        continue;
      if (shown++ == most) {
        line("  ..........");
        break;
      }
      line("  " + place.function + " (" + place.toString() + ")");
    }
  }
  void end() {
    line(std::string(80, '-'));
    line(std::string(80, '='));
    static std::mutex mutex;
    std::lock_guard lock(mutex);
    if (const std::string path = runtime::environment::text("PT_XLA_DEBUG_FILE"); !path.empty())
      std::ofstream(path, std::ios::app) << out.str() << "\n";
    else
      std::cerr << out.str() << std::endl;
  }

private:
  std::string prefix;
  std::ostringstream out;
};

std::string describe(const GraphSummary &graph, size_t index) {
  const GraphSummary::Item &item = graph.items[index];
  if (!item.kind)
    return (item.isNumber ? "number " : "input ") + std::to_string(index) + " " + item.shape.toString();
  std::string text = item.kind->op ? item.kind->op->name : "input";
  text += " -> ";
  for (size_t i = 0; i < item.kind->results.size(); ++i)
    text += (i ? ", " : "") + item.kind->results[i].toString();
  return text;
}

std::string placeOfItem(const GraphSummary &graph, size_t index) {
  const GraphSummary::Item &item = graph.items[index];
  if (!item.kind && item.firstUser)
    return placeOfItem(graph, item.firstUser);
  std::string text = placeOf(item.origin).toString();
  return text.empty() ? "unknown place" : text;
}

} // namespace

GraphSummary summarize(const Schedule &schedule, size_t results) {
  GraphSummary made;
  made.leaves = schedule.leaves.size();
  made.results = results;
  std::map<std::pair<const Node *, uint32_t>, uint32_t> numbers;
  for (const Value &leaf : schedule.leaves) {
    numbers[{leaf.node.get(), leaf.index}] = uint32_t(made.items.size());
    made.items.push_back({nullptr, leaf.shape(), leaf.node->isNumber(), {}, {}, 0});
  }
  for (const Node *node : schedule.nodes) {
    GraphSummary::Item item{node->kind, {}, false, {}, node->origin, 0};
    uint32_t index = uint32_t(made.items.size());
    for (const Value &operand : node->operands) {
      bool isLeaf = operand.node->isLeaf();
      uint32_t number = numbers.at({operand.node.get(), isLeaf ? operand.index : 0});
      item.operands.push_back(number);
      if (!isLeaf)
        item.operands.push_back(operand.index);
      else if (!made.items[number].firstUser)
        made.items[number].firstUser = index;
    }
    numbers[{node, 0}] = index;
    made.items.push_back(std::move(item));
  }
  return made;
}

Difference difference(const GraphSummary &before, const GraphSummary &now) {
  // Nodes are compared first: an input of another shape also shows in the nodes that depend on it, and these have lines.
  auto nodes = [](const GraphSummary &g) { return g.items.size() - g.leaves; };
  auto kind = [](const GraphSummary &g, size_t i) { return g.items[g.leaves + i].kind; };
  Difference found;
  size_t both = std::min(nodes(before), nodes(now)), &same = found.same;
  while (same < both && kind(before, same) == kind(now, same))
    ++same;
  auto name = [&](const GraphSummary &g, size_t i) { return kind(g, i)->op ? kind(g, i)->op->name : std::string(); };
  while (found.alike < both && name(before, found.alike) == name(now, found.alike))
    ++found.alike;
  auto say = [&](const std::string &what, const GraphSummary &g, size_t index) {
    found.text += what + describe(g, index) + " (" + placeOfItem(g, index) + ")";
  };
  if (same < nodes(now) || same < nodes(before)) {
    if (same < nodes(now))
      say("now:    ", now, now.leaves + same);
    else
      found.text += "now:    ends after " + std::to_string(same) + " operations";
    found.text += "\n";
    if (same < nodes(before))
      say("before: ", before, before.leaves + same);
    else
      found.text += "before: ended after " + std::to_string(same) + " operations";
    const Kind *was = same < nodes(before) ? kind(before, same) : nullptr, *is = same < nodes(now) ? kind(now, same) : nullptr;
    if (was && is && was->op == is->op && was->results == is->results)
      for (const std::string &change : changedConstants(*was, *is))
        found.text += "\nconstant " + change + " at " + placeOfItem(now, now.leaves + same);
    return found;
  }
  for (size_t i = 0; i < std::min(before.leaves, now.leaves); ++i) {
    const GraphSummary::Item &a = before.items[i], &b = now.items[i];
    if (a.shape == b.shape && a.isNumber == b.isNumber)
      continue;
    say("now:    ", now, i);
    found.text += "\n";
    say("before: ", before, i);
    return found;
  }
  for (size_t i = 0; i < nodes(now) && before.leaves == now.leaves; ++i)
    if (before.items[before.leaves + i].operands != now.items[now.leaves + i].operands) {
      say("other operands: ", now, now.leaves + i);
      return found;
    }
  if (before.leaves != now.leaves)
    found.text = "now: " + std::to_string(now.leaves) + " inputs, before: " + std::to_string(before.leaves);
  else if (before.results != now.results)
    found.text = "now: " + std::to_string(now.results) + " outputs, before: " + std::to_string(before.results);
  else
    found.text = "the same operations, with other results";
  return found;
}

std::string syncCause(const std::vector<Place> &stack) {
  if (!givenCause.empty())
    return givenCause;
  // The name by which the user's code called the barrier, and the package's functions that are active below it.
  std::string barrier;
  bool inLoader = false, inProfiler = false, inBridge = false;
  for (const Place &place : stack) {
    if (!isOurs(place)) {
      if (barrier.empty())
        break; // this frame is the user's code, which reads a value
      if (place.file.find("/torch/") == std::string::npos && place.file.find("contextlib") == std::string::npos)
        break;
      continue;
    }
    std::string file = baseName(place.file);
    if (barrier.empty() && file == "xla_model.py" && place.function == "mark_step")
      barrier = "mark_step";
    if (barrier.empty() && file == "torch_xla.py" && place.function == "sync")
      barrier = "torch_xla.sync";
    inLoader |= file == "parallel_loader.py";
    inProfiler |= file == "profiler.py";
    inBridge |= file == "dynamo_bridge.py";
  }
  if (inBridge)
    return barrier.empty() ? "dynamo is executing a compiled program" : barrier + " when dynamo processing input graphs";
  if (barrier.empty())
    return "most likely user code trying to access tensor value before torch_xla.sync";
  if (inLoader)
    return barrier + " in parallel loader at step end";
  if (inProfiler)
    return barrier + " when exiting a profiler StepTrace region";
  return "user " + barrier;
}

std::string userPlace(const std::vector<Place> &stack) {
  for (const Place &place : stack)
    if (!isOurs(place) && place.file.find("-packages/torch/") == std::string::npos && place.file.find("contextlib") == std::string::npos)
      return place.toString();
  return "";
}

std::string setSyncCause(std::string cause) { return std::exchange(givenCause, std::move(cause)); }

int debugLevel() {
  const std::optional<uint64_t> wanted = runtime::environment::count("PT_XLA_DEBUG_LEVEL");
  const int level = wanted ? int(std::min<uint64_t>(*wanted, 100)) : runtime::environment::isOn("PT_XLA_DEBUG") ? 100 : 0;
  if (!level)
    return 0;
  runtime::StatusOr<World> place = Session::world();
  return place && place->localRank ? 0 : level; // only one process of each host reports, because all do the same
}

namespace {
struct Places {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, int64_t> counts;
  static Places &get() {
    static auto *places = new Places;
    return *places;
  }
};
} // namespace

void countPlace(const std::string &what, const std::vector<Place> &stack) {
  std::string place = userPlace(stack);
  Places &places = Places::get();
  std::lock_guard lock(places.mutex);
  ++places.counts[{what, std::move(place)}];
}

std::map<std::pair<std::string, std::string>, int64_t> countedPlaces() {
  Places &places = Places::get();
  std::lock_guard lock(places.mutex);
  return places.counts;
}

void reportCompilation(const AnalysisOf &what, const std::string &difference) {
  countPlace("compile", what.stack);
  Report report("Compilation Analysis");
  report.line("Compilation Cause");
  report.line("  " + syncCause(what.stack));
  report.graph(what);
  if (!difference.empty()) {
    report.line("First Difference to the Nearest Compiled Graph: ");
    std::istringstream lines(difference);
    for (std::string line; std::getline(lines, line);)
      report.line("  " + line);
  }
  report.frames(what.stack);
  report.end();
}

void reportExecution(const AnalysisOf &what) {
  Report report("Execution Analysis");
  report.line("Execution Cause");
  report.line("  " + syncCause(what.stack));
  report.graph(what);
  report.frames(what.stack);
  report.end();
}

void reportCompiled(const runtime::MemoryStats &memory) {
  Report report("Post Compilation Analysis");
  auto size = [&](const char *what, uint64_t bytes) {
    char text[64];
    std::snprintf(text, sizeof text, ": %f GB", double(bytes) / (1 << 30));
    report.line(what + std::string(text));
  };
  size("Graph input size", memory.arguments);
  size("Graph output size", memory.results);
  size("Aliased Input size", memory.aliased);
  size("Intermediate tensor size", memory.temporaries);
  size("Compiled program size", memory.code);
  report.end();
}

} // namespace millrace::tracing
