// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Composite.h - A recorded graph as one operator ----------------------===//
// What a front end decomposes need not be decomposed again: the graph that the decomposition recorded becomes the emission
// of an operator of its own, and later calls record one node.
#pragma once
#include "tracing/Graph.h"

namespace millrace::tracing {

struct Composite {
  const Kind *kind = nullptr;
  std::vector<Value> constants; ///< operands after those for the parameters: tensors that the graph holds
};

/// `parameters` are leaves made by parameter(), `results` what was recorded from them; numbers become constants. `identity`
/// tells composites of one name apart: equal identities, equal graphs. FailedPrecondition if the graph needs a parameter
/// that is not in the list.
runtime::StatusOr<Composite> makeComposite(const std::string &name, std::string_view identity,
                                           const std::vector<Value> &parameters, const std::vector<Value> &results);

} // namespace millrace::tracing
