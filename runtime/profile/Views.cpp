// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Views.cpp - What to change, and what the pages show of it -----------===//
#include "runtime/profile/Views.h"
#include "runtime/profile/ChromeTrace.h"
#include "runtime/profile/ToXSpace.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace millrace::runtime::profile {
namespace {

// What is worth a finding: a program does what it does a few times while it warms up; more than that is a habit. Unit: times. Source: judgement, not
// measured alone.
constexpr size_t kHabit = 3;
constexpr std::string_view kJaxRead = "np.asarray(jax.Array)"; ///< JAX's region of a read
/// A kernel is looked at from this share on. Unit: share of the devices' time. Source: judgement, not measured alone.
constexpr double kLargeShare = 0.2;

std::string format(const char *pattern, ...) {
  char buffer[256];
  va_list arguments;
  va_start(arguments, pattern);
  int size = std::vsnprintf(buffer, sizeof buffer, pattern, arguments);
  va_end(arguments);
  return std::string(buffer, size_t(std::clamp(size, 0, int(sizeof buffer) - 1)));
}

std::string durationText(double ns) {
  return ns >= 1e9 ? format("%.2f s", ns / 1e9) : ns >= 1e6 ? format("%.1f ms", ns / 1e6) : format("%.0f us", ns / 1e3);
}
std::string bytesText(double bytes) {
  return bytes >= 1e9 ? format("%.2f GB", bytes / 1e9) : bytes >= 1e6 ? format("%.1f MB", bytes / 1e6) : format("%.1f kB", bytes / 1e3);
}

struct Event {
  const Plane *plane;
  const Plane::Line *line;
  const Plane::Event *event;
  double begin, end; ///< ns
  int parent = -1;   ///< in the list of its line
  const std::string &name() const { return plane->kinds[event->kind].name; }
  double ns() const { return end - begin; }
  std::string text(std::string_view key) const {
    const Stat *stat = plane->find(*line, *event, key);
    return stat && stat->type == Stat::Type::Text ? plane->texts[stat->text] : std::string();
  }
  double number(std::string_view key) const {
    const Stat *stat = plane->find(*line, *event, key);
    if (!stat || stat->type == Stat::Type::Text)
      return 0;
    return stat->type == Stat::Type::Real ? stat->real : stat->type == Stat::Type::Signed ? double(stat->integer) : double(stat->number);
  }
};
using Events = std::vector<Event>;

Events eventsOf(const Plane &plane, const Plane::Line &line) {
  Events all;
  all.reserve(line.events.size());
  std::vector<int> open;
  for (const Plane::Event &event : line.events) {
    const double begin = double(line.start) + double(event.offset) / 1000;
    Event made{&plane, &line, &event, begin, begin + double(event.duration) / 1000};
    while (!open.empty() && all[size_t(open.back())].end < made.end)
      open.pop_back();
    made.parent = open.empty() ? -1 : open.back();
    open.push_back(int(all.size()));
    all.push_back(made);
  }
  return all;
}

bool isInside(const Events &events, const Event &event, std::initializer_list<std::string_view> names) {
  for (int at = event.parent; at >= 0; at = events[size_t(at)].parent)
    for (std::string_view name : names)
      if (events[size_t(at)].name() == name)
        return true;
  return false;
}

bool isCompile(const std::string &name) { return name == "Compile" || name.ends_with("::Compile"); }

/// Of "now:    add -> f32[3] (train.py:12);before: ..." the place of what is new.
std::string placeOfDifference(const std::string &text) {
  size_t begin = text.find("now:");
  if (begin == std::string::npos)
    begin = text.find("operands:");
  if (begin == std::string::npos)
    return "";
  const size_t before = text.find("before:", begin), close = text.rfind(')', std::min(before, text.size()));
  const size_t open = close == std::string::npos ? close : text.rfind('(', close);
  if (open == std::string::npos || open < begin)
    return "";
  std::string place = text.substr(open + 1, close - open - 1);
  return place.find(':') != std::string::npos ? place : "";
}

/// What occurs most often.
std::string mostFrequent(const std::map<std::string, size_t> &counts) {
  std::string best;
  size_t most = 0;
  for (const auto &[text, count] : counts)
    if (!text.empty() && count > most)
      best = text, most = count;
  return best;
}

double covered(std::vector<std::pair<double, double>> spans) {
  std::sort(spans.begin(), spans.end());
  double sum = 0, until = -std::numeric_limits<double>::max();
  for (auto [begin, end] : spans) {
    sum += std::max(0.0, end - std::max(begin, until));
    until = std::max(until, end);
  }
  return sum;
}

class Analysis {
public:
  Analysis(const XSpace &space, const Summary &summary, const Roofs &roofs) : summary(summary), roofs(roofs) {
    for (const Plane &plane : space.planes)
      if (plane.name.starts_with(kProgramsPlane))
        for (const Stat &stat : plane.stats)
          if (stat.type == Stat::Type::Text)
            views.programs.emplace_back(plane.nameOf(stat), plane.texts[stat.text]);
    for (const Plane &plane : space.planes)
      for (const Plane::Line &line : plane.lines) {
        if (line.events.empty())
          continue;
        if (plane.name.starts_with(kHostPlane))
          host.push_back(eventsOf(plane, line));
        else if (plane.name.starts_with("/device:") && line.name == "XLA Modules")
          executions.push_back(eventsOf(plane, line));
        else if (plane.name.starts_with("/device:") && line.name == "XLA Ops")
          steps.push_back(eventsOf(plane, line));
        else if (plane.name.starts_with("/device:") && line.name == "_counters_")
          counters.push_back(eventsOf(plane, line));
      }
    for (const auto *lists : {&host, &executions, &steps})
      for (const Events &events : *lists)
        for (const Event &event : events)
          first = std::min(first, event.begin);
    for (const Events &events : executions)
      for (const Event &event : events) {
        starts.push_back(event.begin);
        ends.emplace_back(event.end, &event);
        ++runsOf[event.text("hlo_module")];
        busySpans.emplace_back(event.begin, event.end);
      }
    std::sort(starts.begin(), starts.end());
    std::sort(ends.begin(), ends.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
    for (const Summary::Device &device : summary.devices)
      busyNs += device.busyNs;
    for (const Summary::Row &row : summary.steps)
      if (!row.source.empty() && !sourceOfProgram.contains(row.module))
        sourceOfProgram[row.module] = row.source; // rows are by time: that of its most expensive kernel
  }

  Views run() {
    compilations();
    fallbacks();
    reads();
    collectives();
    memory();
    kernels();
    caches();
    split();
    idle();
    std::sort(views.findings.begin(), views.findings.end(), [](const Finding &a, const Finding &b) { return std::tie(b.ns, a.title) < std::tie(a.ns, b.title); });
    return std::move(views);
  }

private:
  void add(Finding finding) {
    if (finding.ns > 0)
      views.findings.push_back(std::move(finding));
  }

  double barriers() const {
    double count = 0;
    for (const Events &events : host)
      for (const Event &event : events)
        count += event.name() == "StepMarker";
    return count;
  }

  void compilations() {
    struct Group {
      std::map<std::string, size_t> places, differences, causes;
      std::vector<double> times;
      std::string cutAt;
    };
    std::map<std::string, Group> graphs, programs;
    for (const Events &events : host) {
      for (size_t i = 0; i < events.size(); ++i) {
        const Event &event = events[i];
        const bool isGraph = event.name() == "new graph";
        const bool isProgram = isCompile(event.name()) || event.name() == "cache hit";
        if ((!isGraph && !isProgram) || isInside(events, event, {"new graph", "Compile"}))
          continue;
        Compilation made;
        made.at = event.begin - first;
        made.ns = event.ns();
        made.program = event.text("program");
        made.source = event.text("source");
        made.difference = event.text("difference");
        made.cache = event.name() == "cache hit" ? "hit" : "";
        for (size_t k = i + 1; isGraph && k < events.size() && events[k].begin < event.end; ++k) {
          if (made.program.empty())
            made.program = events[k].text("program");
          if (events[k].name() == "cache hit" || (events[k].name() == "cache miss" && made.cache.empty()))
            made.cache = events[k].name() == "cache hit" ? "hit" : events[k].text("why").empty() ? "miss" : events[k].text("why");
        }
        if (isGraph) {
          if (event.parent >= 0)
            made.cause = events[size_t(event.parent)].text("cause");
          Group &group = graphs[made.source];
          ++group.places[placeOfDifference(made.difference)];
          ++group.differences[made.difference];
          group.times.push_back(made.ns);
          group.cutAt = made.source;
        } else {
          if (made.source.empty() && sourceOfProgram.contains(made.program))
            made.source = sourceOfProgram.at(made.program);
          programs[made.program].times.push_back(made.ns);
        }
        views.compilations.push_back(std::move(made));
      }
    }
    std::sort(views.compilations.begin(), views.compilations.end(), [](const auto &a, const auto &b) { return std::tie(a.at, a.program) < std::tie(b.at, b.program); });
    auto cost = [](std::vector<double> times) { // the first one has to be
      std::sort(times.begin(), times.end());
      double sum = 0;
      for (size_t i = 0; i + 1 < times.size(); ++i)
        sum += times[i];
      return sum;
    };
    for (const auto &[source, group] : graphs) {
      if (group.times.size() < kHabit)
        continue;
      const std::string place = mostFrequent(group.places), difference = mostFrequent(group.differences);
      Finding made{"recompile", "", place.empty() ? source : place, "", "", "compilations", cost(group.times)};
      made.title = std::to_string(group.times.size()) + " graphs are compiled for one place" +
                   (source.empty() ? std::string() : ", where " + source + " cuts the graph") + ".";
      made.evidence = durationText(made.ns) + " of compiling again" + (difference.empty() ? "." : "; " + difference + ".");
      made.advice = place.empty() ? "Keep shapes and constants the same from step to step; a graph that was compiled is found again."
                                  : "Give this operation the same shape or number in each step: pad to a few sizes, or make a number that changes "
                                    "a tensor of the device.";
      add(std::move(made));
    }
    for (const auto &[program, group] : programs) {
      auto runs = runsOf.find(program);
      const double executed = runs == runsOf.end() ? 0 : double(runs->second);
      if (group.times.size() < kHabit || double(group.times.size()) < 0.3 * executed)
        continue;
      auto source = sourceOfProgram.find(program);
      Finding made{"recompile", "", source == sourceOfProgram.end() ? "" : source->second, "", "", "compilations", cost(group.times)};
      made.title = "Program " + program + " is compiled or loaded " + std::to_string(group.times.size()) + " times, and runs " +
                   format("%.0f times.", executed);
      made.evidence = durationText(made.ns) + " of compiling again.";
      made.advice = "Call it with the same shapes, types and static arguments each time, and make the jitted function once, outside of the loop "
                    "(jax.config.update('jax_explain_cache_misses', True) names the argument).";
      add(std::move(made));
    }
  }

  void fallbacks() {
    std::map<std::pair<std::string, std::string>, std::pair<size_t, double>> groups;
    for (const Events &events : host)
      for (const Event &event : events)
        if (event.name() == "OperatorOnCpu" && !isInside(events, event, {"OperatorOnCpu"})) {
          auto &[count, ns] = groups[{event.text("operator"), event.text("source")}];
          ++count;
          ns += event.ns();
        }
    for (const auto &[key, value] : groups) {
      Finding made{"fallback", key.first + " runs on the CPU " + (value.first == 1 ? "once" : std::to_string(value.first) + " times") +
                                   ": each time the graph is cut, and its operands and results are copied.",
                   key.second, durationText(value.second) + " with the copies and the waiting.",
                   "Write it with operators that the device has, or move it out of the step.", "timeline", value.second};
      add(std::move(made));
    }
  }

  /// How long no device begins a program after `at`: what a read of the host leaves idle. At most 10 ms, for what comes later has other causes.
  double idleAfter(double at) const {
    auto next = std::lower_bound(starts.begin(), starts.end(), at);
    return next == starts.end() ? 0 : std::min(*next - at, 10e6);
  }

  void reads() {
    struct Group {
      size_t count = 0;
      double ns = 0, bytes = 0;
    };
    std::map<std::string, Group> groups, ofPrograms;
    bool hasPlaces = false;
    for (const Events &events : host)
      for (const Event &event : events)
        hasPlaces |= event.name() == "ReadByHost" || event.name() == "SyncTensorsGraph";
    for (const Events &events : host)
      for (size_t i = 0; i < events.size(); ++i) {
        const Event &event = events[i];
        if (event.name() == "ReadByHost" && !isInside(events, event, {"OperatorOnCpu", "ReadByHost"})) {
          Group &group = groups[event.text("source")];
          ++group.count;
          group.ns += event.ns() + idleAfter(event.end);
        } else if (event.name() == "SyncTensorsGraph" && event.text("cause").find("trying to access tensor value") != std::string::npos &&
                   !isInside(events, event, {"OperatorOnCpu", "ReadByHost"})) {
          double compiled = 0; // which the read only happens to wait for
          for (size_t k = i + 1; k < events.size() && events[k].begin < event.end; ++k)
            if (events[k].name() == "new graph" && events[k].parent == int(i))
              compiled += events[k].ns();
          groups[event.text("source")].ns += std::max(0.0, event.ns() - compiled);
        } else if (!hasPlaces && (event.name().ends_with("TransferFromDevice") || event.name() == kJaxRead) && !isInside(events, event, {kJaxRead})) {
          auto after = std::upper_bound(ends.begin(), ends.end(), event.end, [](double at, const auto &end) { return at < end.first; });
          if (after == ends.begin())
            continue;
          Group &group = ofPrograms[std::prev(after)->second->text("hlo_module")];
          ++group.count;
          group.ns += event.ns() + idleAfter(event.end);
          group.bytes += event.number("bytes");
        }
      }
    const double steps = barriers();
    for (const auto &[source, group] : groups) {
      if (group.count < kHabit || double(group.count) < 0.3 * steps)
        continue;
      Finding made{"read", "", source, "", "", "timeline", group.ns};
      made.title = "The host reads values " + std::to_string(group.count) + " times at one line" +
                   (steps ? format(", in %.0f steps", steps) : std::string()) + ": each time it waits for the device, and the device for it.";
      made.evidence = durationText(group.ns) + " of waiting and of devices without work.";
      made.advice = "Read less often (every hundredth step), or keep the value on the device: add losses up there, use torch.where for an if.";
      add(std::move(made));
    }
    for (const auto &[program, group] : ofPrograms) {
      const double executed = double(runsOf[program]);
      if (group.count < kHabit || double(group.count) < 0.5 * executed)
        continue;
      auto source = sourceOfProgram.find(program);
      Finding made{"read", "", source == sourceOfProgram.end() ? "" : source->second, "", "", "timeline", group.ns};
      made.title = "The host reads results of " + program + " " + std::to_string(group.count) + " times, and runs it " + format("%.0f times.", executed);
      made.evidence = durationText(group.ns) + " of waiting and of devices without work, " + bytesText(group.bytes) + ".";
      made.advice = "Read less often, or keep the value on the device; jax.block_until_ready and float() in the loop wait for each step.";
      add(std::move(made));
    }
  }

  void collectives() {
    struct Use {
      CollectiveUse made;
      std::map<std::string, CollectiveUse::OfDevice> devices;
    };
    std::map<std::pair<std::string, std::string>, Use> uses;
    std::map<std::tuple<std::string, std::string>, std::map<std::string, double>> kernelTimes; ///< (name, source) -> device -> ns
    std::map<std::string, double> workOf, waitOf;
    for (const Events &events : steps)
      for (size_t i = 0; i < events.size(); ++i) {
        const Event &event = events[i];
        const std::string &device = event.plane->name;
        const std::string source = event.text("source");
        if (event.text("hlo_category") != "collective") {
          if (i + 1 < events.size() && events[i + 1].parent == int(i)) // a loop: its steps count
            continue;
          kernelTimes[{event.name(), source}][device] += event.ns();
          workOf[device] += event.ns();
          continue;
        }
        Use &use = uses[{event.name(), source}];
        use.made.name = event.name();
        use.made.source = source;
        ++use.made.calls;
        use.made.bytes += uint64_t(event.number("bytes"));
        CollectiveUse::OfDevice &of = use.devices[device];
        of.device = device;
        of.ns += event.ns();
        of.waitNs += event.number("wait_ns");
        waitOf[device] += event.number("wait_ns");
      }
    for (auto &[key, use] : uses) {
      for (auto &[device, of] : use.devices)
        use.made.devices.push_back(of);
      views.collectives.push_back(std::move(use.made));
    }
    auto waited = [](const CollectiveUse &use) {
      double sum = 0;
      for (const auto &each : use.devices)
        sum += each.waitNs;
      return sum;
    };
    std::sort(views.collectives.begin(), views.collectives.end(), [&](const auto &a, const auto &b) {
      return std::tuple(-waited(a), a.name, a.source) < std::tuple(-waited(b), b.name, b.source);
    });
    if (waitOf.size() < 2)
      return;
    auto less = [](const auto &a, const auto &b) { return a.second < b.second; };
    const auto [slow, patient] = std::minmax_element(waitOf.begin(), waitOf.end(), less);
    double mean = 0;
    for (const auto &[device, ns] : waitOf)
      mean += ns / double(waitOf.size());
    if (mean < 0.05 * busyNs / double(std::max<size_t>(1, summary.devices.size())) || patient->second < 2 * slow->second)
      return;
    // Whom the others wait for has something to do that they do not have, or have less of.
    std::string kernel, source;
    double most = 0, here = 0, others = 0;
    for (const auto &[key, times] : kernelTimes) {
      auto found = times.find(slow->first);
      if (found == times.end())
        continue;
      double elsewhere = 0;
      for (const auto &[device, ns] : times)
        elsewhere += device == slow->first ? 0 : ns / double(waitOf.size() - 1);
      if (found->second - elsewhere > most) {
        std::tie(kernel, source) = key;
        most = found->second - elsewhere, here = found->second, others = elsewhere;
      }
    }
    if (most < 0.25 * patient->second || here < 1.3 * others)
      return;
    Finding made{"imbalance", "", source, "", "", "collectives", mean};
    made.title = "Devices wait for " + slow->first + ": it has more to do than the others.";
    made.evidence = "They wait " + durationText(mean) + " each on average; " + kernel + " takes " + durationText(here) + " there and " +
                    durationText(others) + " elsewhere.";
    made.advice = "Split this work evenly: the same number of elements and tokens per device, or another axis for the shards.";
    add(std::move(made));
  }

  void memory() {
    for (const Events &events : counters) {
      size_t peakAt = 0;
      double peak = 0;
      for (size_t i = 0; i < events.size(); ++i)
        if (double now = events[i].number("bytes in use"); now > peak)
          peak = now, peakAt = i;
      struct Block {
        std::string purpose, source;
        double bytes, begin;
      };
      // Records without addresses (of older files) tell how much there is, not whose it is.
      std::map<uint64_t, Block> live, atPeak;
      std::map<std::string, double> use;
      for (const Event &event : events)
        if (std::string purpose = event.text("purpose"); !purpose.empty())
          use[purpose] = 0;
      MemorySeries series{events[0].plane->name, {}, {}};
      for (const auto &[purpose, bytes] : use)
        series.purposes.push_back(purpose);
      series.purposes.push_back(use.empty() ? "in use" : "before the recording");
      // The highest point of each pixel is drawn: a page is not wider. Unit: pixels. Source: judgement.
      constexpr double kPixels = 1200;
      const double pixel = std::max(1.0, (events.back().end - events.front().begin) / kPixels);
      double highest = -1, until = 0, lastRun = 0; // what is given back while the process ends says nothing
      for (const Events &all : executions)
        if (all[0].plane->name == events[0].plane->name)
          for (const Event &event : all)
            lastRun = std::max(lastRun, event.end);
      std::map<uint64_t, Block> afterLast;
      bool isPast = false;
      for (size_t i = 0; i < events.size(); ++i) {
        if (!isPast && events[i].begin > lastRun) {
          isPast = true;
          afterLast = live;
        }
        const auto address = uint64_t(events[i].number("address"));
        const double change = events[i].number("change");
        if (address && change > 0) {
          live[address] = {events[i].text("purpose"), events[i].text("source"), change, events[i].begin};
          use[events[i].text("purpose")] += change;
        } else if (auto block = live.find(address); address && block != live.end()) {
          use[block->second.purpose] -= block->second.bytes;
          live.erase(block);
        }
        const double inUse = events[i].number("bytes in use");
        if (series.points.empty() || events[i].begin >= until || inUse > highest) {
          if (series.points.empty() || events[i].begin >= until) {
            series.points.emplace_back();
            until = events[i].begin + pixel;
          }
          highest = inUse;
          std::vector<double> &point = series.points.back();
          point = {events[i].begin - first};
          double sum = 0;
          for (size_t k = 0; k + 1 < series.purposes.size(); ++k) {
            point.push_back(std::max(0.0, use[series.purposes[k]]));
            sum += point.back();
          }
          point.push_back(std::max(0.0, inUse - sum));
        }
        if (i == peakAt)
          atPeak = live;
      }
      std::map<std::pair<std::string, std::string>, MemoryOwner> owners;
      double known = 0;
      for (const auto &[address, block] : atPeak) {
        MemoryOwner &owner = owners[{block.purpose, block.source}];
        owner.device = events[0].plane->name;
        owner.purpose = block.purpose;
        owner.source = block.source;
        owner.bytes += uint64_t(block.bytes);
        ++owner.blocks;
        known += block.bytes;
      }
      if (peak > known * 1.001)
        owners[{"before the recording", ""}] = {events[0].plane->name, known || atPeak.size() ? "before the recording" : "not known", "",
                                                uint64_t(peak - known), 0};
      for (auto &[key, owner] : owners)
        views.owners.push_back(std::move(owner));
      views.memory.push_back(std::move(series));
      const auto &kept = isPast ? afterLast : live;
      leak(events, kept.empty() ? nullptr : &kept, peak);
    }
    std::sort(views.owners.begin(), views.owners.end(), [](const auto &a, const auto &b) {
      return std::tie(b.bytes, a.device, a.purpose, a.source) < std::tie(a.bytes, b.device, b.purpose, b.source);
    });
  }

  template <typename Live>
  void leak(const Events &events, const Live *live, double peak) {
    // What is in use whenever the most frequent program has run.
    const std::string &device = events[0].plane->name;
    std::map<std::string, std::vector<double>> runs;
    for (const Events &all : executions)
      if (all[0].plane->name == device)
        for (const Event &event : all)
          runs[event.text("hlo_module")].push_back(event.end);
    const std::pair<const std::string, std::vector<double>> *often = nullptr;
    for (const auto &each : runs)
      if (!often || each.second.size() > often->second.size())
        often = &each;
    constexpr size_t kWarmUp = 2, kLeast = 6;
    if (!often || often->second.size() < kLeast + kWarmUp)
      return;
    std::vector<double> samples;
    size_t at = 0;
    double now = 0;
    for (double end : often->second) {
      while (at < events.size() && events[at].begin <= end)
        now = events[at++].number("bytes in use");
      samples.push_back(now);
    }
    samples.erase(samples.begin(), samples.begin() + kWarmUp);
    size_t rises = 0, falls = 0;
    for (size_t i = 1; i < samples.size(); ++i) {
      rises += samples[i] > samples[i - 1];
      falls += samples[i] < samples[i - 1];
    }
    const double growth = samples.back() - samples.front();
    if (growth <= 0 || growth < 0.02 * peak || rises * 2 < samples.size() || falls * 4 > samples.size())
      return;
    std::string source = sourceOfProgram.contains(often->first) ? sourceOfProgram.at(often->first) : "", what = "values";
    if (live) { // of what was allocated in the second half and still lives, the line that has most blocks
      const double half = (often->second[kWarmUp] + often->second.back()) / 2;
      std::map<std::string, double> bytes;
      for (const auto &[address, block] : *live)
        if (block.begin < half && block.begin > often->second[kWarmUp] && !block.source.empty())
          bytes[block.source] += block.bytes;
      double most = 0;
      for (const auto &[place, sum] : bytes)
        if (sum > most)
          most = sum, source = place;
    }
    Finding made{"leak", "", source, "", "", "memory", summary.wallNs * std::min(0.5, growth / peak)};
    made.title = "Memory in use grows by " + bytesText(growth / double(samples.size() - 1)) + " with each execution of " + often->first + " on " + device + ".";
    made.cost = bytesText(growth);
    made.evidence = bytesText(growth) + " over " + std::to_string(samples.size()) + " executions, of " + bytesText(peak) + " at most.";
    made.advice = "Something keeps a result of each step: a list of losses that are tensors (append loss.detach() or a number read now and then), a "
                  "graph that autograd retains, a cache without a limit.";
    add(std::move(made));
  }

  void kernels() {
    if (busyNs <= 0)
      return;
    for (const Summary::Row &row : summary.steps) {
      if (row.ns < kLargeShare * busyNs)
        break;
      if (row.category == "collective" || row.category == "step")
        continue;
      const double share = row.ns / busyNs, perDevice = row.ns / double(std::max<size_t>(1, summary.devices.size()));
      if (row.pieces == 1 && row.ns / double(row.calls) > 50e3 && roofs.threads > 1) {
        Finding made{"serial", "", row.source, "", "", "kernels", perDevice * (1 - 1.0 / roofs.threads)};
        made.title = "Kernel " + row.name + " runs on one thread of " + std::to_string(roofs.threads) + ", and takes " + format("%.0f %%", 100 * share) +
                     " of the devices' time.";
        made.evidence = durationText(row.ns / double(row.calls)) + " per call, " + std::to_string(row.calls) + " calls.";
        made.advice = "Each of its elements depends on the one before, or it has one result: sum along another axis first, use a batch of such "
                      "problems, or a scan over larger pieces.";
        add(std::move(made));
        continue;
      }
      double bandwidth = roofs.levels.empty() ? 0 : roofs.levels.back().gbps;
      const double least = std::max(roofs.gflops ? row.flops / roofs.gflops : 0, bandwidth ? row.bytes / bandwidth : 0);
      if (least > 0 && least < 0.25 * row.ns) {
        Finding made{"kernel", "", row.source, "", "", "kernels", (row.ns - least) / double(std::max<size_t>(1, summary.devices.size()))};
        made.title = "Kernel " + row.name + " reaches " + format("%.0f %%", 100 * least / row.ns) + " of what this machine can do, and takes " +
                     format("%.0f %%", 100 * share) + " of the devices' time.";
        made.evidence = format("%.1f GFLOP/s, %.1f GB/s; made by the emitter '", row.flops / row.ns, row.bytes / row.ns) + row.category + "'.";
        made.advice = "Its operations: see the program with `xla-prof --out=page.html`; larger batches, bfloat16, or another order of axes may help.";
        add(std::move(made));
      }
    }
  }

  void caches() {
    struct Group {
      size_t count = 0;
      double ns = 0;
      std::set<std::string> planes;
    };
    std::map<std::string, Group> byReason, byProgram;
    for (const Events &events : host) {
      double pending = 0;
      for (const Event &event : events) {
        if (event.name() == "cache miss") {
          std::string why = event.text("why");
          if (why.find("the cache is off") != std::string::npos || why.find("damaged") != std::string::npos || why.find("differs in") != std::string::npos) {
            Group &group = byReason[why];
            ++group.count;
            group.planes.insert(why);
          }
          pendingReason = why;
          pending = 1;
        } else if (isCompile(event.name()) && !isInside(events, event, {"Compile"})) {
          if (pending && byReason.contains(pendingReason))
            byReason[pendingReason].ns += event.ns();
          pending = 0;
          Group &group = byProgram[event.text("program") + "\n" + (event.parent >= 0 ? events[size_t(event.parent)].text("graph") : "")];
          ++group.count;
          group.ns += event.ns();
          group.planes.insert(event.plane->name);
        }
      }
    }
    for (const auto &[why, group] : byReason) {
      if (group.count < kHabit || why.ends_with("differs in: program")) // another program, which "recompile" looks at
        continue;
      add({"cache", "The cache of programs misses " + std::to_string(group.count) + " times: " + why + ".", placeOfMisses(),
           durationText(group.ns) + " of compiling that a hit would save.",
           "What differs must be the same in each process and run: versions, options and environment; MILLRACE_CACHE and MILLRACE_CACHE_DIR say "
           "which cache is used.", "compilations", group.ns});
    }
    double ns = 0;
    size_t count = 0;
    std::string name;
    for (const auto &[program, group] : byProgram)
      if (group.planes.size() > 1 && program.find('\n') != 0 && program.substr(program.find('\n') + 1).size()) {
        ns += group.ns * double(group.planes.size() - 1) / double(group.planes.size());
        ++count;
        name = program.substr(0, program.find('\n'));
      }
    if (count)
      add({"cache", std::to_string(count) + (count == 1 ? " program is" : " programs are") + " compiled in more than one process, such as " + name + ".",
           placeOfMisses(), durationText(ns) + " that a cache which all share would save.",
           "Give the processes one folder, MILLRACE_CACHE_DIR, that all can write (torch_xla.runtime.initialize_cache).", "compilations", ns});
  }

  /// The user's line of the compilation that took longest.
  std::string placeOfMisses() const {
    const Compilation *longest = nullptr;
    for (const Compilation &each : views.compilations)
      if (each.cache != "hit" && !each.source.empty() && (!longest || each.ns > longest->ns))
        longest = &each;
    return longest ? longest->source : "";
  }

  /// Each moment belongs to one thing: what devices do first, then the compiler, transfers, tracing and the user's own code.
  void split() {
    struct Class {
      const char *name;
      std::vector<std::pair<double, double>> spans;
    };
    Class classes[] = {{"devices run", busySpans}, {"compiling", {}}, {"transfers", {}}, {"operators on the CPU", {}}, {"tracing", {}}, {"launching", {}}};
    for (const Events &events : host)
      for (const Event &event : events) {
        const std::string &name = event.name();
        int which = isCompile(name) || name == "new graph" || name == "backend_compile_and_load"  ? 1
                    : name.ends_with("TransferToDevice") || name.ends_with("TransferFromDevice") ? 2
                    : name == "OperatorOnCpu"                                                     ? 3
                    : name == "SyncTensorsGraph" || name == "lower_sharding_computation"          ? 4
                    : name.ends_with("ExecuteComputation")                                        ? 5
                                                                                                  : -1;
        if (which >= 0)
          classes[which].spans.emplace_back(event.begin, event.end);
      }
    std::vector<std::pair<double, double>> taken;
    double before = 0;
    for (Class &each : classes) {
      taken.insert(taken.end(), each.spans.begin(), each.spans.end());
      const double now = covered(taken);
      views.split.emplace_back(each.name, now - before);
      before = now;
    }
    views.split.emplace_back("the program's own code, and waiting", std::max(0.0, summary.wallNs - before));
  }

  void idle() {
    if (summary.wallNs <= 0 || starts.size() < kHabit)
      return;
    const double rest = views.split.back().second;
    double explained = 0;
    for (const Finding &finding : views.findings)
      if (finding.kind == "read" || finding.kind == "fallback")
        explained += finding.ns;
    if (rest - explained < 0.5 * summary.wallNs)
      return;
    const Summary::Row *region = nullptr;
    for (const Summary::Row &row : summary.host)
      if (row.category == "region" && row.name != "backend_compile_and_load" && row.name != "lower_sharding_computation" && (!region || row.ns > region->ns))
        region = &row;
    add({"host", "Devices have nothing to do for " + format("%.0f %%", 100 * rest / summary.wallNs) + " of the time: the program's own code takes it.",
         "", region ? "Of the program's regions " + region->name + " takes most: " + durationText(region->ns) + "." :
                      std::string("No region is marked: xp.Trace or jax.profiler.TraceAnnotation would say which part it is."),
         "Load data in the background (pl.MpDeviceLoader), and do more in a step: larger batches, several steps in one program.", "timeline", rest - explained});
  }

  const Summary &summary;
  const Roofs &roofs;
  Views views;
  std::vector<Events> host, executions, steps, counters;
  double first = std::numeric_limits<double>::max(), busyNs = 0;
  std::vector<double> starts; ///< of executions
  std::vector<std::pair<double, const Event *>> ends;
  std::vector<std::pair<double, double>> busySpans;
  std::map<std::string, size_t> runsOf;              ///< of a program
  std::map<std::string, std::string> sourceOfProgram;
  std::string pendingReason;
};

std::string jsonNumber(double value) { return format("%.0f", std::isfinite(value) ? value : 0); }

} // namespace

Views viewsOf(const XSpace &space, const Summary &summary, const Roofs &roofs) { return Analysis(space, summary, roofs).run(); }

std::string toJson(const Roofs &roofs) {
  std::string out = format("{\"gflops\":%.1f,\"bf16_gflops\":%.1f,\"threads\":%u,\"levels\":[", roofs.gflops, roofs.bf16Gflops, roofs.threads);
  for (size_t i = 0; i < roofs.levels.size(); ++i)
    out += format("%s{\"bytes\":%.0f,\"gbps\":%.1f}", i ? "," : "", roofs.levels[i].bytes, roofs.levels[i].gbps);
  return out + "]}";
}

std::string toJson(const Views &views) {
  auto list = [](const auto &all, auto toText) {
    std::string out = "[";
    for (const auto &each : all)
      out += (out.size() > 1 ? ",\n" : "") + toText(each);
    return out + "]";
  };
  return "{\"findings\":" + list(views.findings, [](const Finding &f) {
           return "{\"kind\":" + jsonText(f.kind) + ",\"title\":" + jsonText(f.title) + ",\"source\":" + jsonText(f.source) + ",\"evidence\":" +
                  jsonText(f.evidence) + ",\"advice\":" + jsonText(f.advice) + ",\"page\":" + jsonText(f.page) + ",\"cost\":" + jsonText(f.cost) + ",\"ns\":" + jsonNumber(f.ns) + "}";
         }) +
         ",\"split\":" + list(views.split, [](const auto &part) { return "{\"name\":" + jsonText(part.first) + ",\"ns\":" + jsonNumber(part.second) + "}"; }) +
         ",\"compilations\":" + list(views.compilations, [](const Compilation &c) {
           return "{\"at\":" + jsonNumber(c.at) + ",\"ns\":" + jsonNumber(c.ns) + ",\"program\":" + jsonText(c.program) + ",\"source\":" +
                  jsonText(c.source) + ",\"cause\":" + jsonText(c.cause) + ",\"difference\":" + jsonText(c.difference) + ",\"cache\":" + jsonText(c.cache) + "}";
         }) +
         ",\"collectives\":" + list(views.collectives, [&](const CollectiveUse &c) {
           return "{\"name\":" + jsonText(c.name) + ",\"source\":" + jsonText(c.source) + ",\"calls\":" + std::to_string(c.calls) + ",\"bytes\":" +
                  std::to_string(c.bytes) + ",\"devices\":" + list(c.devices, [](const auto &d) {
                    return "{\"device\":" + jsonText(d.device) + ",\"ns\":" + jsonNumber(d.ns) + ",\"wait_ns\":" + jsonNumber(d.waitNs) + "}";
                  }) + "}";
         }) +
         ",\"owners\":" + list(views.owners, [](const MemoryOwner &o) {
           return "{\"device\":" + jsonText(o.device) + ",\"purpose\":" + jsonText(o.purpose) + ",\"source\":" + jsonText(o.source) + ",\"bytes\":" +
                  std::to_string(o.bytes) + ",\"blocks\":" + std::to_string(o.blocks) + "}";
         }) +
         ",\"memory\":" + list(views.memory, [&](const MemorySeries &m) {
           return "{\"device\":" + jsonText(m.device) + ",\"purposes\":" + list(m.purposes, [](const std::string &p) { return jsonText(p); }) +
                  ",\"points\":" + list(m.points, [&](const auto &point) { return list(point, jsonNumber); }) + "}";
         }) +
         ",\"programs\":" + list(views.programs, [](const auto &p) { return "{\"name\":" + jsonText(p.first) + ",\"graph\":" + p.second + "}"; }) + "}";
}

std::string toText(const Views &views, size_t top) {
  std::string out;
  for (size_t i = 0; i < std::min(top, views.findings.size()); ++i) {
    const Finding &each = views.findings[i];
    out += std::to_string(i + 1) + ". " + each.title + (each.source.empty() ? "" : " (" + each.source + ")") + "\n   " + each.evidence + " " + each.advice + "\n";
  }
  return out;
}

} // namespace millrace::runtime::profile
