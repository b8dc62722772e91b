// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompiledGraph.h - A graph that is called instead of traced again ----===//
// The result of torch.compile for a function: the function was recorded once on leaves that stand for its arguments and compiled at once. A call only
// passes buffers: it neither records nor hashes operations.
#pragma once
#include "tracing/graph/Graph.h"
#include "tracing/programs/ConstantProgram.h"

#include <optional>

namespace millrace::tracing {

class CompiledGraph {
public:
  struct Inputs {
    std::vector<Value> arguments;  ///< leaves that stand for the arguments
    std::vector<Value> randomKeys; ///< random keys; every call draws new ones
    /// Per argument: true if calls are expected to pass the same buffer repeatedly. Values that depend on such arguments alone are prepared once
    /// (PreparedConstants is counted). Calls with other buffers stay correct; after several in a row the graph uses a program without this
    /// expectation.
    std::vector<bool> constant = {};
  };
  /// Compiles the graph of `roots`, distinct values that have to be computed. `overwritten` has per argument the root that replaces the argument's
  /// value and may take its memory, or -1. Other numbers of the graph become constants of the program; other tensors keep the value that they have
  /// now.
  static runtime::StatusOr<std::shared_ptr<CompiledGraph>> compile(const Inputs &inputs, const std::vector<Value> &roots,
                                                                   const std::vector<int64_t> &overwritten);

  /// Executes the program asynchronously and returns one buffer per root. `arguments` and `keys` have the order of the inputs. `kept[i]` says that
  /// argument i must not be overwritten, because another value aliases it.
  runtime::StatusOr<std::vector<runtime::BufferPtr>> run(std::vector<runtime::BufferPtr> arguments, const std::vector<uint64_t> &keys,
                                                         const std::vector<bool> &kept) const;
  const std::vector<Shape> &shapes() const { return rootShapes; }
  size_t numKeys() const { return keys; }
  /// Returns the program as StableHLO text; an empty string if there is nothing to compute.
  const std::string &text() const;

private:
  struct Source {
    enum Kind : uint8_t { Argument, Key, Tensor } kind;
    uint32_t index;
  };
  runtime::Status emit(const Inputs &inputs, const std::vector<Value> &roots, const std::vector<int64_t> &overwritten);

  std::vector<Source> parameters;
  std::vector<bool> donated; ///< per parameter
  std::vector<Value> tensors; ///< kept as values, so that their reference counts prevent donation by other graphs
  std::vector<Shape> rootShapes;
  size_t keys = 0;
  size_t graphInputs = 0; ///< number of tensors and numbers that the recording reads
  std::optional<ConstantProgram> program; ///< nothing if there is nothing to compute
  std::string saved; ///< what every run appends to XLA_SAVE_TENSORS_FILE
};

} // namespace millrace::tracing
