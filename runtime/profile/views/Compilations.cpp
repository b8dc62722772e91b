// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compilations.cpp - What was compiled, and what again ----------------===//
#include "runtime/profile/views/Lanes.h"
#include "runtime/profile/views/Texts.h"

#include <algorithm>
#include <tuple>

namespace millrace::runtime::profile {
namespace {

// A program is reported as recompiled from this ratio on. The ratio is higher before the work begins, when programs create a few parameters per shape.
// Unit: compilations per execution. Source: judgement, not measured alone.
constexpr double kHabitAtWork = 0.3;
constexpr double kHabitBeforeWork = 0.5; // Unit: compilations per execution. Source: judgement, not measured alone.

/// Durations of compilations, by process. Every process compiles for itself, so that one compilation in each process is no recompilation.
class Times {
public:
  void add(const std::string &process, double ns) { of[process].push_back(ns); }
  size_t total() const {
    size_t sum = 0;
    for (const auto &[process, times] : of)
      sum += times.size();
    return sum;
  }
  /// Returns true if some process compiled at least kHabit times.
  bool areHabit() const {
    return std::any_of(of.begin(), of.end(), [](const auto &each) { return each.second.size() >= kHabit; });
  }
  /// Returns the cost of all compilations but the longest one of each process, which is necessary.
  Costs again() const {
    Costs costs;
    for (auto [process, times] : of) {
      std::sort(times.begin(), times.end());
      for (size_t i = 0; i + 1 < times.size(); ++i)
        costs.add(process, times[i]);
    }
    return costs;
  }

private:
  std::map<std::string, std::vector<double>> of;
};

std::string againText(const Costs &again, const std::string &difference) {
  return durationText(again.most()) + " of compiling again" + (again.isOfMany() ? " in the process that does it most" : "") +
         (difference.empty() ? "." : "; " + difference + ".");
}

/// Returns when the program that takes most time of the devices first begins to run. Programs that are compiled before it may prepare it, for example
/// create its parameters, which have several shapes.
double beginOfWork(const Lanes &lanes) {
  std::map<std::string, std::pair<double, double>> firstAndTime;
  for (const Events &events : lanes.executions)
    for (const Event &event : events) {
      auto &[first, time] = firstAndTime.try_emplace(event.text("hlo_module"), event.begin, 0.0).first->second;
      first = std::min(first, event.begin);
      time += event.ns();
    }
  double begin = 0, most = 0;
  for (const auto &[program, value] : firstAndTime)
    if (value.second > most)
      std::tie(begin, most) = value;
  return begin;
}

} // namespace

void addCompilations(const Lanes &lanes, Views &views) {
  struct Group {
    std::map<std::string, size_t> places, differences, causes;
    Times times;
    double last = 0; ///< when the last one ended
    std::string cutAt;
  };
  std::map<std::string, Group> graphs, programs;
  for (const Events &events : lanes.host) {
    for (size_t i = 0; i < events.size(); ++i) {
      const Event &event = events[i];
      const bool isGraph = event.name() == "new graph";
      const bool isProgram = isCompile(event.name()) || event.name() == "cache hit";
      if ((!isGraph && !isProgram) || isInside(events, event, {"new graph", "Compile"}))
        continue;
      Compilation made;
      made.at = event.begin - lanes.first;
      made.ns = event.ns();
      made.program = event.text("program");
      made.source = event.text("source");
      made.difference = event.text("difference");
      made.cache = event.name() == "cache hit" ? "hit" : "";
      for (int at = event.parent; at >= 0; at = events[size_t(at)].parent)
        if (const Event &request = events[size_t(at)]; request.name() == "new program") { // of JAX
          made.difference = request.text("difference");
          made.source = placeOfDifference(made.difference);
          for (size_t k = size_t(at) + 1; k < i; ++k)
            if (events[k].name() == "cache miss")
              made.cache = events[k].text("why").empty() ? "miss" : events[k].text("why");
        }
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
        group.times.add(processOf(*event.plane), made.ns);
        group.cutAt = made.source;
      } else {
        if (made.source.empty() && lanes.sourceOfProgram.contains(made.program))
          made.source = lanes.sourceOfProgram.at(made.program);
        Group &group = programs[made.program];
        ++group.places[placeOfDifference(made.difference)];
        ++group.differences[made.difference];
        group.times.add(processOf(*event.plane), made.ns);
        group.last = std::max(group.last, event.end);
      }
      views.compilations.push_back(std::move(made));
    }
  }
  std::sort(views.compilations.begin(), views.compilations.end(),
            [](const auto &a, const auto &b) { return std::tie(a.at, a.program) < std::tie(b.at, b.program); });
  for (const auto &[source, group] : graphs) {
    if (!group.times.areHabit())
      continue;
    const std::string place = mostFrequent(group.places), difference = mostFrequent(group.differences);
    const Costs again = group.times.again();
    Finding made{"recompile", "", place.empty() ? source : place, "", "", "compilations", again.most()};
    made.title = std::to_string(group.times.total()) + " graphs are compiled for one place" +
                 (source.empty() ? std::string() : ", where " + source + " cuts the graph") + ".";
    const size_t constant = difference.find("constant ");
    made.evidence = againText(again, constant == std::string::npos ? difference : difference.substr(constant));
    made.advice = place.empty() ? "Keep shapes and constants the same from step to step; a graph that was compiled is found again."
                  : constant != std::string::npos
                      ? "This value is a part of the graph. As a tensor of the device it would be an input: torch.tensor(value, device='xla'), for an "
                        "index one of integers. Or take one of a few values."
                      : "Give this operation the same shape or number in each step: pad to a few sizes, or make a number that changes "
                        "a tensor of the device.";
    add(views, std::move(made));
  }
  const double work = beginOfWork(lanes);
  for (const auto &[program, group] : programs) {
    auto runs = lanes.runsOf.find(program);
    const double executed = runs == lanes.runsOf.end() ? 0 : double(runs->second);
    if (!group.times.areHabit() || double(group.times.total()) < (group.last < work ? kHabitBeforeWork : kHabitAtWork) * executed)
      continue;
    const std::string place = mostFrequent(group.places), difference = mostFrequent(group.differences);
    const Costs again = group.times.again();
    Finding made{"recompile", "", place.empty() ? lanes.sourceOf(program) : place, "", "", "compilations", again.most()};
    made.title =
        "Program " + program + " is compiled or loaded " + std::to_string(group.times.total()) + " times, and runs " + format("%.0f times.", executed);
    made.evidence = againText(again, difference);
    made.advice = difference.starts_with("constant ")
                      ? "This value is a part of the program: a static argument, or a number of Python that the function takes from outside. As an argument "
                        "that is not static it would be an input."
                  : difference.starts_with("the same program")
                      ? "Make the jitted function once, outside of the loop: jax.jit of a new lambda or partial is a new function."
                      : "Call it with the same shapes, types and static arguments each time: pad to a few sizes, and make the jitted function once, outside "
                        "of the loop (jax.config.update('jax_explain_cache_misses', True) names the argument).";
    add(views, std::move(made));
  }
}

} // namespace millrace::runtime::profile
