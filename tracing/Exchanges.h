// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Exchanges.h - Recorded operations that meet other processes ---------===//
// The n-th collective of a group meets the n-th one in the other processes. So each process has to run them in the order in which it recorded
// them, whatever it reads first, and has to run those whose results nobody looks at here.
#pragma once
#include "tracing/Session.h"

namespace millrace::tracing {

/// Remembers a node whose operation meets others; how many were remembered before, and this one.
uint64_t rememberExchange(const NodePtr &node);
/// Those of a schedule will not be run: they are the body of an operation, or part of a program of their own.
void forgetExchanges(const Schedule &schedule);
/// Whether any operation of the schedule meets others.
bool meetsOthers(const Schedule &schedule);

/// Around a step barrier, under Session::mutex: as long as it lives, what is remembered counts as held by nobody.
class PendingExchanges {
public:
  PendingExchanges();
  ~PendingExchanges();
  PendingExchanges(const PendingExchanges &) = delete;
  bool any() const { return !pending.empty(); }
  /// What has to run with `plan` and is not part of it: with Roots::All everything that is pending, else what was recorded before the last
  /// one that is part of it.
  std::vector<Value> missing(const Schedule &plan, Roots which) const;

private:
  struct Entry {
    NodePtr orphan; ///< null if somebody else holds it
    std::weak_ptr<Node> node;
  };
  std::vector<Entry> pending;
};

} // namespace millrace::tracing
