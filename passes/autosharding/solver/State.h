// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- State.h - A choice per node that can be changed step by step -------===//
// Cost and loads follow every change at once; changes that are not wanted are taken back.
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
  /// Bytes above the room at the worst time; at most 0 if the state is within the limit.
  int64_t excess() const { return tree.most(); }
  /// Where that is.
  uint32_t fullest() const { return tree.fullest(); }
  int64_t excessAt(uint32_t time) const { return tree.most(time, time + 1); }
  bool fits() const { return excess() <= 0; }
  /// The model's cost; at least `model.impossible` if a pair of choices is impossible.
  double cost() const { return total; }
  bool possible() const { return total < model.impossible; }
  std::vector<int64_t> loads() const { return loadsOf(model, chosen); }

  /// Carries a change out and records it. Returns by how much the cost grows.
  double change(uint32_t node, uint32_t choice);
  /// Changes since the last `keep`, in order: nodes with the choices they had before.
  const std::vector<Change> &pending() const { return done; }
  void keep() { done.clear(); }
  /// Takes pending changes back until there are `count`.
  void undo(size_t count);
  /// What a change would add to the cost, everything else unchanged.
  double difference(uint32_t node, uint32_t choice) const;
  /// Whether a change of this node alone leaves the state within the limit.
  bool wouldFit(uint32_t node, uint32_t choice) const;
  /// Takes over another state's choices.
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
