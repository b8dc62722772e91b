// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Lanes.h - Events of a recording, as conclusions need them -----------===//
#pragma once
#include "runtime/profile/Views.h"

#include <initializer_list>
#include <limits>
#include <map>

namespace millrace::runtime::profile {

// What is worth a finding: a program does what it does a few times while it warms up; more than that is a habit. Unit: times. Source: judgement, not
// measured alone.
inline constexpr size_t kHabit = 3;

struct Event {
  const Plane *plane;
  const Plane::Line *line;
  const Plane::Event *event;
  double begin, end; ///< ns
  int parent = -1;   ///< in the list of its line
  const std::string &name() const { return plane->kinds[event->kind].name; }
  double ns() const { return end - begin; }
  std::string text(std::string_view key) const;
  double number(std::string_view key) const;
};
using Events = std::vector<Event>;

/// Whether an event around `event` has one of the names.
bool isInside(const Events &events, const Event &event, std::initializer_list<std::string_view> names);
bool isCompile(const std::string &name);

/// The events by what they are, and what all conclusions ask.
struct Lanes {
  Lanes(const XSpace &space, const Summary &summary, const Roofs &roofs);
  double barriers() const; ///< step barriers of PyTorch
  /// How long no device begins a program after `at`: what a read of the host leaves idle. At most 10 ms, for what comes later has other causes.
  double idleAfter(double at) const;
  /// Of a program's most expensive kernel; empty where it is not known.
  std::string sourceOf(const std::string &program) const;

  const XSpace &space;
  const Summary &summary;
  const Roofs &roofs;
  std::vector<Events> host, executions, steps, counters;
  double first = std::numeric_limits<double>::max(), busyNs = 0;
  std::vector<double> starts; ///< of executions
  std::vector<std::pair<double, const Event *>> ends;
  std::vector<std::pair<double, double>> busySpans;
  std::map<std::string, size_t> runsOf; ///< of a program
  std::map<std::string, std::string> sourceOfProgram;
};

/// Keeps a finding that costs something.
void add(Views &views, Finding finding);

// Each adds what it concludes, a file of its own: findings, and what the page shows of its subject. In this order: some read what others found.
void addCompilations(const Lanes &lanes, Views &views);
void addFallbacks(const Lanes &lanes, Views &views);
void addReads(const Lanes &lanes, Views &views);
void addCollectives(const Lanes &lanes, Views &views);
void addMemory(const Lanes &lanes, Views &views);
void addKernels(const Lanes &lanes, Views &views);
void addCaches(const Lanes &lanes, Views &views);
void addSplit(const Lanes &lanes, Views &views);

} // namespace millrace::runtime::profile
