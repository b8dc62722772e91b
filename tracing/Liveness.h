// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Liveness.h - Who needs what of a graph that is about to run ---------===//
// All of it under Session::mutex, between schedule() and the run: Node::visit is schedule()'s.
#pragma once
#include "tracing/Session.h"

namespace millrace::tracing {

/// Those that have to be computed, each once. Empties `given`.
std::vector<Value> pendingRoots(std::vector<Value> &given, Roots which);
/// While it lives, what this thread runs by Session::sync(Roots::Some) is for a value that somebody reads, and not the program of exactly
/// these roots: keepHeld() adds to them.
class ForAValue {
public:
  ForAValue() { ++depth(); }
  ~ForAValue() { --depth(); }
  ForAValue(const ForAValue &) = delete;
  static bool isActive() { return depth() != 0; }

private:
  static int &depth();
};

/// Makes roots of what the graph computes on its way and something outside of it needs, so that nobody computes it again; of
/// what costs nothing, what it is made of. True: there is something of the kind, and the schedule is not that of the roots any more.
bool keepHeld(const Schedule &plan, std::vector<Value> &roots);
/// Which leaves the user gave up; empty if there is none.
std::vector<bool> givenUpLeaves(const Schedule &plan);
/// Afterwards their tensors have no value any more.
void releaseGivenUp(const Schedule &plan, const std::vector<bool> &givenUp);
/// Per leaf the root that takes its memory, or -1; `dying[i]`: nobody else holds leaf i.
std::vector<int64_t> matchDonations(const Schedule &plan, const std::vector<Value> &roots, const std::vector<bool> &dying);

} // namespace millrace::tracing
