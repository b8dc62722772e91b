// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ModuleGraph.h - Operations of a module as a graph ------------------===//
#pragma once
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <utility>
#include <vector>

namespace millrace {

/// For graphviz: a node per operation, in a box per function.
std::string moduleDot(mlir::ModuleOp module);

/// Per function its name and the graph for a page (runtime/base/PageGraph.h): a box per operation with the user's line, shape and sharding, and the
/// bytes of what goes between them.
std::vector<std::pair<std::string, std::string>> moduleGraphs(mlir::ModuleOp module);

} // namespace millrace
