// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Summary.cpp - What takes the time, as tables -------------------------===//
#include "runtime/profile/Summary.h"
#include "runtime/profile/Json.h"
#include "runtime/profile/ToXSpace.h"
#include "runtime/profile/Utf8.h"
#include "runtime/profile/views/Lanes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace millrace::runtime::profile {
namespace {

std::string textOf(const Plane &plane, const Plane::Line &line, const Plane::Event &event, std::string_view name) {
  const Stat *stat = plane.find(line, event, name);
  return stat && stat->type == Stat::Type::Text ? plane.texts[stat->text] : std::string();
}
double numberOf(const Plane &plane, const Plane::Line &line, const Plane::Event &event, std::string_view name) {
  const Stat *stat = plane.find(line, event, name);
  if (!stat || stat->type == Stat::Type::Text)
    return 0;
  return stat->type == Stat::Type::Real ? stat->real : stat->type == Stat::Type::Signed ? double(stat->integer) : double(stat->number);
}

/// Per event its duration without that of the events inside of it, in nanoseconds. Events are in the order of their begins.
std::vector<double> ownTimes(const Plane::Line &line) {
  std::vector<double> own(line.events.size());
  std::vector<size_t> open;
  for (size_t i = 0; i < line.events.size(); ++i) {
    const Plane::Event &event = line.events[i];
    own[i] = double(event.duration) / 1000;
    while (!open.empty() && line.events[open.back()].offset + line.events[open.back()].duration < event.offset + std::max<int64_t>(event.duration, 1))
      open.pop_back();
    if (!open.empty())
      own[open.back()] = std::max(0.0, own[open.back()] - own[i]);
    open.push_back(i);
  }
  return own;
}

/// Begins and ends, of one unit of time.
using Times = std::vector<std::pair<int64_t, int64_t>>;

/// Time in which at least one of the events goes on. They are in the order of their begins.
double covered(const Times &times) {
  int64_t sum = 0, until = std::numeric_limits<int64_t>::min();
  for (auto [begin, end] : times) {
    sum += std::max<int64_t>(0, end - std::max(begin, until));
    until = std::max(until, end);
  }
  return double(sum);
}

/// What the host does of one kind, by process.
class OfProcesses {
public:
  void add(const std::string &process, const Plane::Line &line, const Plane::Event &event) {
    times[process].emplace_back(line.start + event.offset / 1000, line.start + (event.offset + event.duration) / 1000);
  }
  /// The share of `wallNs` in which a process does it, on average over so many.
  double share(double wallNs, size_t processes) {
    double sum = 0;
    for (auto &[process, own] : times) {
      std::sort(own.begin(), own.end());
      sum += covered(own);
    }
    return wallNs > 0 && processes ? std::min(1.0, sum / wallNs / double(processes)) : 0;
  }

private:
  std::map<std::string, Times> times;
};

/// Whether so many programs are compiled for those that run that it is worth a sentence.
bool isOften(uint64_t compilations, uint64_t executions) { return compilations > 4 && double(compilations) > 0.2 * double(executions); }

/// Whether the findings name something that is compiled again and again. A short job compiles many programs for few executions, each of them once.
bool isCompiledAgain(const XSpace &space, const Summary &summary) {
  const Roofs roofs;
  Views views;
  addCompilations(Lanes(space, summary, roofs), views);
  return std::any_of(views.findings.begin(), views.findings.end(), [](const Finding &each) { return each.kind == "recompile"; });
}

uint64_t executionsOf(const Summary &summary) {
  uint64_t sum = 0;
  for (const Summary::Device &device : summary.devices)
    sum += device.executions;
  return sum;
}

std::vector<Summary::Row> byTime(std::map<std::string, Summary::Row> rows) {
  std::vector<Summary::Row> sorted;
  for (auto &[key, row] : rows)
    sorted.push_back(std::move(row));
  std::sort(sorted.begin(), sorted.end(),
            [](const auto &a, const auto &b) { return std::tie(b.ns, a.name, a.module, a.source) < std::tie(a.ns, b.name, b.module, b.source); });
  return sorted;
}

std::string placeOf(const Summary::Row &row) {
  return row.otherLines ? row.source + " and " + std::to_string(row.otherLines) + (row.otherLines == 1 ? " other" : " others") : row.source;
}

void addTo(Summary::Row &row, double ns, double waitNs, double flops, double bytes) {
  ++row.calls;
  row.ns += ns;
  row.waitNs += waitNs;
  row.flops += flops;
  row.bytes += bytes;
}

} // namespace

Summary summarize(const XSpace &space) {
  Summary summary;
  summary.warnings = space.warnings;
  std::map<std::string, Summary::Row> steps, lines, programs, host;
  std::map<std::string, std::set<std::string>> sourcesOf; ///< of steps
  std::map<std::string, double> helpersOf;                 ///< of steps: how often another thread of the pool took part
  std::set<std::string> processes;
  OfProcesses compiling, transferring;
  double first = std::numeric_limits<double>::max(), last = 0;
  auto see = [&](const Plane::Line &line, const Plane::Event &event) {
    double begin = double(line.start) + double(event.offset) / 1000;
    first = std::min(first, begin);
    last = std::max(last, begin + double(event.duration) / 1000);
  };
  for (const Plane &plane : space.planes) {
    if (plane.name.starts_with("/device:")) {
      Summary::Device device;
      device.name = plane.name;
      for (const Plane::Line &line : plane.lines) {
        if (line.name == "_counters_") {
          for (const Plane::Event &event : line.events)
            device.peakBytes = std::max(device.peakBytes, uint64_t(numberOf(plane, line, event, "bytes in use")));
          continue;
        }
        std::vector<double> own = ownTimes(line);
        Times spans;
        for (size_t i = 0; i < line.events.size(); ++i) {
          const Plane::Event &event = line.events[i];
          see(line, event);
          const std::string &name = plane.kinds[event.kind].name;
          const std::string module = textOf(plane, line, event, "hlo_module");
          if (line.name == "XLA Modules") {
            spans.emplace_back(event.offset, event.offset + event.duration);
            ++device.executions;
            device.queueNs += numberOf(plane, line, event, "queue_ns");
            Summary::Row &row = programs[name];
            row.name = name;
            row.module = module;
            addTo(row, own[i], 0, 0, 0);
          } else if (line.name == "XLA Ops") {
            const std::string source = textOf(plane, line, event, "source");
            double wait = numberOf(plane, line, event, "wait_ns"), flops = numberOf(plane, line, event, "flops");
            double bytes = numberOf(plane, line, event, "bytes_accessed") + numberOf(plane, line, event, "bytes");
            const std::string key = name + "\n" + module;
            Summary::Row &row = steps[key];
            row.name = name;
            row.module = module;
            std::set<std::string> &seen = sourcesOf[key];
            seen.insert(source);
            row.source = *seen.begin();
            row.otherLines = seen.size() - 1;
            row.category = textOf(plane, line, event, "hlo_category");
            row.operations = textOf(plane, line, event, "operations");
            row.pieces = uint64_t(numberOf(plane, line, event, "most_pieces"));
            addTo(row, own[i], wait, flops, bytes);
            Summary::Row &ofLine = lines[source];
            ofLine.name = ofLine.source = source.empty() ? "(no line)" : source;
            addTo(ofLine, own[i], wait, flops, bytes);
          }
        }
        if (line.name == "XLA Modules")
          device.busyNs += covered(spans) / 1000;
      }
      summary.devices.push_back(std::move(device));
    } else if (plane.name.starts_with(kHostPlane)) {
      const std::string process = processOf(plane);
      processes.insert(process);
      for (const Plane::Line &line : plane.lines) {
        std::vector<double> own = ownTimes(line);
        for (size_t i = 0; i < line.events.size(); ++i) {
          const Plane::Event &event = line.events[i];
          see(line, event);
          const std::string &name = plane.kinds[event.kind].name;
          const double ns = double(event.duration) / 1000;
          if (name.ends_with("ExecuteComputation")) {
            ++summary.launches;
            summary.launchNs += ns;
          } else if (name.ends_with("TransferToDevice") || name.ends_with("TransferFromDevice")) {
            summary.transferNs += ns;
            transferring.add(process, line, event);
            summary.transferredBytes += uint64_t(numberOf(plane, line, event, "bytes"));
          } else if (name == "cache hit") {
            ++summary.cacheHits;
          } else if (name == "cache miss") {
            ++summary.cacheMisses;
          } else if (isCompile(name)) {
            ++summary.compilations;
            summary.compileNs += ns;
            compiling.add(process, line, event);
          }
          if (const std::string module = textOf(plane, line, event, "hlo_module"); !module.empty() && textOf(plane, line, event, "category") == "piece")
            ++helpersOf[textOf(plane, line, event, "hlo_op") + "\n" + module];
          Summary::Row &row = host[name];
          row.name = name;
          row.category = textOf(plane, line, event, "category");
          addTo(row, own[i], 0, 0, numberOf(plane, line, event, "bytes"));
        }
      }
    }
  }
  for (auto &[key, row] : steps)
    if (auto helpers = helpersOf.find(key); helpers != helpersOf.end())
      row.threads += helpers->second / double(row.calls);
  summary.wallNs = last > first ? last - first : 0;
  summary.compileShare = compiling.share(summary.wallNs, processes.size());
  summary.transferShare = transferring.share(summary.wallNs, processes.size());
  summary.steps = byTime(std::move(steps));
  summary.lines = byTime(std::move(lines));
  summary.programs = byTime(std::move(programs));
  summary.host = byTime(std::move(host));
  summary.isCompiledAgain = isOften(summary.compilations, executionsOf(summary)) && isCompiledAgain(space, summary);
  return summary;
}

std::string verdict(const Summary &summary) {
  if (summary.wallNs <= 0)
    return "Nothing was recorded.";
  double busy = 0, waited = 0;
  for (const Summary::Device &device : summary.devices)
    busy += device.busyNs;
  for (const Summary::Row &row : summary.steps)
    waited += row.waitNs;
  const double devices = double(std::max<size_t>(1, summary.devices.size()));
  auto percent = [](double share) { return format("%.0f %%", 100 * share); };
  const std::string wall = summary.wallNs >= 10e9 ? format("%.1f s", summary.wallNs / 1e9) : format("%.1f ms", summary.wallNs / 1e6);
  std::string text = "Of " + wall + ", devices run programs for " + percent(busy / devices / summary.wallNs) +
                     ", the compiler works for " + percent(summary.compileShare) + " (" + std::to_string(summary.compilations) +
                     (summary.compilations == 1 ? " program" : " programs") + "), transfers take " + percent(summary.transferShare) + ".";
  if (summary.isCompiledAgain)
    text += " A program is compiled for every " + format("%.1f", double(executionsOf(summary)) / double(summary.compilations)) +
            " that run: shapes or constants change from step to step.";
  if (busy > 0 && waited > 0.2 * busy)
    text += " Devices wait for each other for " + percent(waited / busy) + " of that: their work is uneven.";
  if (!summary.steps.empty() && busy > 0 && summary.steps[0].ns > 0.3 * busy)
    text += " " + summary.steps[0].name + (summary.steps[0].source.empty() ? "" : " (" + placeOf(summary.steps[0]) + ")") + " alone takes " +
            percent(summary.steps[0].ns / busy) + " of the devices' time.";
  return text;
}

std::string toText(const Summary &summary, size_t top, const std::string &advice) {
  std::string out = forTerminal(verdict(summary), kLongestSentence) + "\n" + advice;
  for (const std::string &warning : summary.warnings)
    out += "warning: " + forTerminal(warning, kLongestSentence) + "\n";
  double total = 0;
  for (const Summary::Row &row : summary.steps)
    total += row.ns;
  auto header = [&](const char *title, size_t rows) {
    out += "\n" + std::string(title) + (rows > top ? " (the first " + std::to_string(top) + " of " + std::to_string(rows) + ")" : "") + "\n";
  };
  header("devices: executions, ms busy, ms queued, MB at most", summary.devices.size());
  for (size_t i = 0; i < std::min(top, summary.devices.size()); ++i) {
    const Summary::Device &device = summary.devices[i];
    out += format("%8llu %10.3f %10.3f %8.1f  ", (unsigned long long)device.executions, device.busyNs / 1e6, device.queueNs / 1e6,
                  double(device.peakBytes) / 1e6) +
           forTerminal(device.name) + "\n";
  }
  header("steps: ms, share, calls, GFLOP/s, GB/s, name, made by, line", summary.steps.size());
  for (size_t i = 0; i < std::min(top, summary.steps.size()); ++i) {
    const Summary::Row &row = summary.steps[i];
    const double ns = std::max(row.ns, 1.0);
    out += format("%10.3f %5.1f%% %8llu %8.1f %7.1f  ", row.ns / 1e6, total > 0 ? 100 * row.ns / total : 0, (unsigned long long)row.calls,
                  row.flops / ns,
                  row.bytes / ns) +
           forTerminal(row.name) + "  " + forTerminal(row.category) + "  " + forTerminal(placeOf(row)) +
           (row.waitNs > 0 ? format("  waits %.3f ms", row.waitNs / 1e6) : "") + "\n";
  }
  header("lines of the program: ms, share, calls, line", summary.lines.size());
  for (size_t i = 0; i < std::min(top, summary.lines.size()); ++i)
    out += format("%10.3f %5.1f%% %8llu  ", summary.lines[i].ns / 1e6, total > 0 ? 100 * summary.lines[i].ns / total : 0,
                  (unsigned long long)summary.lines[i].calls) +
           forTerminal(summary.lines[i].name) + "\n";
  header("programs: ms, executions, name", summary.programs.size());
  for (size_t i = 0; i < std::min(top, summary.programs.size()); ++i)
    out += format("%10.3f %8llu  ", summary.programs[i].ns / 1e6, (unsigned long long)summary.programs[i].calls) + forTerminal(summary.programs[i].name) + "\n";
  header("threads of the host: ms, calls, MB, what", summary.host.size());
  for (size_t i = 0; i < std::min(top, summary.host.size()); ++i)
    out += format("%10.3f %8llu %8.1f  ", summary.host[i].ns / 1e6, (unsigned long long)summary.host[i].calls, summary.host[i].bytes / 1e6) +
           forTerminal(summary.host[i].name) + "\n";
  return out;
}

static std::string rowJson(const Summary::Row &row) {
  return json::Fields()
      .text("name", row.name)
      .text("module", row.module)
      .text("source", row.source)
      .count("other_lines", row.otherLines)
      .text("category", row.category)
      .count("calls", row.calls)
      .count("pieces", row.pieces)
      .number("ns", row.ns)
      .number("wait_ns", row.waitNs)
      .number("flops", row.flops)
      .number("bytes", row.bytes)
      .object();
}

static std::string deviceJson(const Summary::Device &device) {
  return json::Fields()
      .text("name", device.name)
      .count("executions", device.executions)
      .number("busy_ns", device.busyNs)
      .number("queue_ns", device.queueNs)
      .count("peak_bytes", device.peakBytes)
      .object();
}

std::string toJson(const Summary &summary) {
  return json::Fields()
      .text("verdict", verdict(summary))
      .number("wall_ns", summary.wallNs)
      .number("compile_ns", summary.compileNs)
      .number("transfer_ns", summary.transferNs)
      .number("launch_ns", summary.launchNs)
      .count("compilations", summary.compilations)
      .count("cache_hits", summary.cacheHits)
      .count("cache_misses", summary.cacheMisses)
      .count("launches", summary.launches)
      .count("transferred_bytes", summary.transferredBytes)
      .raw("steps", json::list(summary.steps, rowJson))
      .raw("lines", json::list(summary.lines, rowJson))
      .raw("programs", json::list(summary.programs, rowJson))
      .raw("host", json::list(summary.host, rowJson))
      .raw("devices", json::list(summary.devices, deviceJson))
      .raw("warnings", json::texts(summary.warnings))
      .object();
}

XSpace merge(std::vector<XSpace> spaces, const std::vector<std::string> &labels) {
  XSpace merged;
  for (size_t s = 0; s < spaces.size(); ++s) {
    XSpace &space = spaces[s];
    for (Plane &plane : space.planes) {
      if (spaces.size() > 1) {
        plane.name += " (" + labels[s] + ")";
        // Fact: bits of an execution in an arrow. Processes in containers may have the same number, of which arrows begin (ToXSpace.cpp): the place
        // in the list is another one.
        constexpr uint64_t kExecution = (uint64_t(1) << 40) - 1;
        for (Plane::Line &line : plane.lines)
          for (Stat &stat : line.stats)
            if (const std::string &name = plane.nameOf(stat); name == "_p" || name == "_c")
              stat.number = uint64_t(s + 1) << 40 | (stat.number & kExecution);
      }
      merged.planes.push_back(std::move(plane));
    }
    for (const std::string &warning : space.warnings)
      merged.warnings.push_back(spaces.size() > 1 ? labels[s] + ": " + warning : warning);
    for (const std::string &error : space.errors)
      merged.errors.push_back(error);
    for (const std::string &host : space.hostnames)
      if (std::find(merged.hostnames.begin(), merged.hostnames.end(), host) == merged.hostnames.end())
        merged.hostnames.push_back(host);
  }
  return merged;
}

} // namespace millrace::runtime::profile
