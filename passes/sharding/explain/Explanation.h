// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Explanation.h - Why every tensor is split as it is, or whole -------===//
#pragma once

#include "passes/sharding/propagation/ModuleGraph.h"

#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace millrace::sharding {

/// The innermost file and line, `model.py:12`; empty if there is none.
std::string lineOf(mlir::Location loc);

/// The explanation of one program, from the user's annotations to the shardings after propagation.
class Explanation {
public:
  /// Before any pass: afterwards a mark tells what the user annotated from what passes copied there.
  static void mark(mlir::ModuleOp module);
  /// After import, before propagation.
  void begin(const ModuleGraph &graph);
  /// After propagation.
  void collect(const ModuleGraph &graph);
  /// When all is done: removes the marks, and adds what arguments and results are for callers where that is something else.
  void settle(mlir::ModuleOp module);

  /// Sections of tensors: annotated, split by propagation, whole. A line for each tensor, with its sharding and the user's line; below it
  /// for every axis the annotation that it comes from, the operation it came through, the factor of that operation's rule and between
  /// which operands and results; for a dimension that an axis did not reach what was in the way; the rules. Equal ones are one, with
  /// their number.
  void print(llvm::raw_ostream &os) const;

private:
  friend class Collector;
  struct Tensor {
    std::string section, head, line; ///< `argument 0 of @main "x" : tensor<8x8xf32> #sdy.sharding<...>`, `file:line`
    std::vector<std::string> why;
    // Of the program's signature:
    std::string function;
    bool isArgument = false;
    int index = -1;
    sdy::TensorShardingAttr sharding;
  };
  std::vector<std::string> meshes;
  std::vector<std::optional<TensorSharding>> annotations; ///< before propagation
  std::vector<Tensor> tensors;
};

/// Propagates the shardings of a module that has been imported, and says why.
llvm::LogicalResult propagateShardings(mlir::ModuleOp module, const PropagationOptions &options, Explanation &explanation);

} // namespace millrace::sharding
