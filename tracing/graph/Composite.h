// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Composite.h - A recorded graph as one operator ----------------------===//
// A front end decomposes an operator once. The graph that the decomposition recorded becomes the emission of a new operator, and later calls record a
// single node of that operator.
#pragma once
#include "tracing/graph/Graph.h"

namespace millrace::tracing {

struct Composite {
  const Kind *kind = nullptr;
  std::vector<Value> constants; ///< tensors of the graph, which follow the parameters as operands
};

/// Makes an operator of the graph of `results` over `parameters`, which are leaves made by parameter(); numbers become constants. `identity`
/// distinguishes composites of one name: equal identities must mean equal graphs. Errors: FailedPrecondition if the graph depends on a parameter that
/// is not in the list.
runtime::StatusOr<Composite> makeComposite(const std::string &name, std::string_view identity,
                                           const std::vector<Value> &parameters, const std::vector<Value> &results);

} // namespace millrace::tracing
