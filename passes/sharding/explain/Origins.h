// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Origins.h - Shardy's debugging attributes --------------------------===//
#pragma once

#include "passes/sharding/propagation/ModuleGraph.h"

#include <string>

namespace millrace::sharding {

/// The annotation from which an axis comes, as Shardy defines it. The first value to give an axis to a value is its origin, and a returned value
/// counts as annotated by the function's result. If sdy-apply-sharding-constraints copied an annotation to a value, the value's axes come from the
/// constraint.
class Origins {
public:
  /// Before propagation: what is annotated.
  explicit Origins(ModuleGraph &graph);
  /// After it: puts `sdy.sharding_origins` on arguments and results of functions, constraints and data-flow edges (a dictionary each)
  /// and other operations (a dictionary per result), and `sdy.sharding_origin_name` on constraints and manual computations.
  void attach();

private:
  struct Entry {
    Axis axis;
    sdy::AxisRefAttr name;
    std::string from;
  };
  void annotate(mlir::Value value, sdy::TensorShardingAttr sharding, mlir::Operation *user, const std::string &from);
  void add(int tensor, const Axis &axis, sdy::AxisRefAttr name, const std::string &from);
  std::string find(int tensor, const Axis &axis) const;
  void follow();

  ModuleGraph &graph;
  std::vector<std::vector<Entry>> entries;          ///< by tensor
  std::vector<std::string> selves;                  ///< by tensor: what is "self" there
  llvm::SmallVector<std::pair<mlir::Operation *, std::string>> names; ///< of constraints and manual computations
};

/// Puts recorded steps (`sdy.propagation_edges`) on the operations and functions where they happened.
void attachSteps(ModuleGraph &graph);

/// `argument 0 of @main`, `result 1 of @main`, `sharding_constraint`, `stablehlo.dot_general`.
std::string describePlace(const ModuleGraph &graph, int tensor);

} // namespace millrace::sharding
