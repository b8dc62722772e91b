// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- State.h - A choice per node with incremental cost and loads --------===//
// Cost and loads are updated with every change, and changes can be undone.
#pragma once

#include "passes/autosharding/solver/Model.h"
#include "passes/autosharding/solver/Prices.h"

namespace millrace::autosharding {

struct Change {
  uint32_t node, choice;
};

class State {
public:
  State(const Model &model, std::vector<uint32_t> choices);

  const std::vector<uint32_t> &choices() const { return chosen; }
  uint32_t operator[](uint32_t node) const { return chosen[node]; }
  /// Returns the bytes above the room at the worst time; at most 0 if the state is within the limit.
  int64_t excess() const { return tree.most(); }
  /// Returns the worst time.
  uint32_t fullest() const { return tree.fullest(); }
  int64_t excessAt(uint32_t time) const { return tree.most(time, time + 1); }
  bool fits() const { return excess() <= 0; }
  /// Returns the model's cost; at least `model.impossible` if a pair of choices is impossible.
  double cost() const { return total; }
  bool possible() const { return total < model.impossible; }
  std::vector<int64_t> loads() const { return loadsOf(model, chosen); }

  /// Makes a change and records it. Returns by how much the cost grows.
  double change(uint32_t node, uint32_t choice);
  /// Returns the changes since the last `keep`, in order: nodes with their previous choices.
  const std::vector<Change> &pending() const { return done; }
  void keep() { done.clear(); }
  /// Undoes pending changes until there are `count`.
  void undo(size_t count);
  /// Returns what a change would add to the cost, everything else unchanged.
  double difference(uint32_t node, uint32_t choice) const;
  /// Returns true if a change of this node alone leaves the state within the limit.
  bool wouldFit(uint32_t node, uint32_t choice) const;
  /// Sets the choices to those of another state.
  void assign(const std::vector<uint32_t> &choices);

private:
  void set(uint32_t node, uint32_t choice);

  const Model &model;
  std::vector<uint32_t> chosen;
  LoadTree tree; ///< loads minus rooms
  double total = 0;
  std::vector<Change> done;
};

} // namespace millrace::autosharding
