// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Lanes.h - Events of a recording, as conclusions need them -----------===//
#pragma once
#include "runtime/profile/Views.h"

#include <algorithm>
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

/// A time in which the host waits for devices, such as the read of a value. What a device computes in that time would take as long without the wait;
/// the wait costs the time in which the device has nothing to do, because the host could not launch what follows.
struct Waiting {
  double idleNs = 0; ///< devices have no work within the wait, and after it until the next launch; compilations do not count
  double costNs = 0; ///< what the program would save if the host went on at the beginning of the wait
  Waiting &operator+=(const Waiting &other) {
    idleNs += other.idleNs;
    costNs += other.costNs;
    return *this;
  }
};

/// What one thing costs each process. Processes work at the same time: of the time that passes it takes what it costs the one that it costs most.
class Costs {
public:
  void add(const std::string &process, double ns) { of[process] += ns; }
  double most() const {
    double ns = 0;
    for (const auto &[process, own] : of)
      ns = std::max(ns, own);
    return ns;
  }
  bool isOfMany() const { return of.size() > 1; }

private:
  std::map<std::string, double> of;
};

/// Periods of time in order, which do not overlap.
using Spans = std::vector<std::pair<double, double>>;

/// The part of a plane's name that merge() (Summary.h) adds for its process: "/host:CPU (rank0.12)" -> " (rank0.12)".
std::string processOf(const Plane &plane);

/// The events by what they are, and what all conclusions ask.
struct Lanes {
  Lanes(const XSpace &space, const Summary &summary, const Roofs &roofs);
  double barriers() const; ///< step barriers of PyTorch
  /// What a time costs in which the host waits for the devices of its process.
  Waiting waiting(const Event &event) const;
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

private:
  /// By the process of the recording: the times in which its devices run programs, and those in which they do or the host compiles.
  std::map<std::string, Spans> busyOf, takenOf;
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
