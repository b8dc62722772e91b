// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Origins.h - Which annotation put an axis where it is ---------------===//
#pragma once

#include "passes/sharding/ModuleGraph.h"

#include "llvm/Support/raw_ostream.h"

namespace millrace::sharding {

/// Where an axis of a tensor's dimension comes from.
struct Origin {
  int annotated;    ///< the tensor whose annotation it is; the tensor itself if it was annotated
  int node = -1;    ///< through which node the axis reached the tensor
  int source = -1;  ///< from which tensor
};
Origin originOf(const Graph &graph, int tensor, int dim, const Axis &axis);

/// `argument 0 of @main`, `result 1 of @main`, `sharding_constraint`, `result of dot_general`.
std::string describePlace(const ModuleGraph &graph, int tensor);

/// Puts origins (`sdy.sharding_origins`) on arguments and results of functions, constraints and data-flow edges (a dictionary each) and
/// other operations (a dictionary per result), with names on constraints and manual computations (`sdy.sharding_origin_name`);
/// and recorded steps (`sdy.propagation_edges`) on the operations and functions where they happened.
void attachOrigins(ModuleGraph &graph, bool origins, bool edges);

/// One line per tensor that is split: its sharding and, for every axis, annotation, operation and line.
void explainShardings(const ModuleGraph &graph, llvm::raw_ostream &os);

} // namespace millrace::sharding
