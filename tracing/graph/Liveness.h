// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Liveness.h - Which values of a graph have other users ---------------===//
// All functions run under Session::mutex, between schedule() and the execution, because they read what schedule() stored in Node::visit.
#pragma once
#include "tracing/Session.h"

namespace millrace::tracing {

/// Returns the values of `given` that have to be computed, each once. Empties `given`.
std::vector<Value> pendingRoots(std::vector<Value> &given, Roots which);
/// Marks executions of Session::sync(Roots::Some) on this thread as reads of a value, for its lifetime. Such an execution need not be the program of
/// exactly these roots: keepHeld() adds others.
class ForAValue {
public:
  ForAValue() { ++depth(); }
  ~ForAValue() { --depth(); }
  ForAValue(const ForAValue &) = delete;
  static bool isActive() { return depth() != 0; }

private:
  static int &depth();
};

/// Adds to the roots the intermediate values that have holders outside of the graph, so that they are not computed again; for a value that is cheap
/// to compute, its operands instead. Returns true if it has added any: the schedule then no longer is that of the roots.
bool keepHeld(const Schedule &plan, std::vector<Value> &roots);
/// Returns for each leaf whether the user donated it; an empty vector if none was donated.
std::vector<bool> givenUpLeaves(const Schedule &plan);
/// Releases the donated leaves: their tensors have no value afterwards.
void releaseGivenUp(const Schedule &plan, const std::vector<bool> &givenUp);
/// Returns per leaf the root that takes its memory, or -1. `dying[i]` says that leaf i has no other holder.
std::vector<int64_t> matchDonations(const Schedule &plan, const std::vector<Value> &roots, const std::vector<bool> &dying);

} // namespace millrace::tracing
