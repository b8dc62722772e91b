// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Exchanges.h - Order of recorded collectives between processes -------===//
// The n-th collective that a process records for a group is matched with the n-th one of the other processes. A process therefore runs collectives in
// the order in which it recorded them, whichever value it reads first, and also runs collectives whose results it never reads.
#pragma once
#include "tracing/Session.h"

namespace millrace::tracing {

/// Remembers a node with a collective. Returns the number of nodes that have been remembered so far, this one included.
uint64_t rememberExchange(const NodePtr &node);
/// Forgets the collectives of a schedule that will not run as such: it is the body of an operation, or a part of another program.
void forgetExchanges(const Schedule &schedule);
/// Returns true if the schedule contains a collective between processes.
bool meetsOthers(const Schedule &schedule);

/// The remembered collectives at a step barrier, under Session::mutex. During its lifetime the list of remembered nodes does not count as a holder.
class PendingExchanges {
public:
  PendingExchanges();
  ~PendingExchanges();
  PendingExchanges(const PendingExchanges &) = delete;
  bool any() const { return !pending.empty(); }
  /// Returns the values that have to run together with `plan` and are not part of it: with Roots::All every pending collective, else the collectives
  /// that were recorded before the last one of `plan`.
  std::vector<Value> missing(const Schedule &plan, Roots which) const;

private:
  struct Entry {
    NodePtr orphan; ///< null if the node has another holder
    std::weak_ptr<Node> node;
  };
  std::vector<Entry> pending;
};

} // namespace millrace::tracing
