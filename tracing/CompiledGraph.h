// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompiledGraph.h - A graph that is called instead of traced again ----===//
// What torch.compile makes of a function: recorded once between leaves that stand for its arguments, compiled at once,
// and called with buffers. A call records nothing and hashes nothing.
#pragma once
#include "tracing/Graph.h"

#include <atomic>
#include <mutex>

namespace millrace::tracing {

class CompiledGraph {
public:
  struct Inputs {
    std::vector<Value> arguments;  ///< leaves that stand for the arguments
    std::vector<Value> randomKeys; ///< numbers that are drawn anew for every call
    /// Per argument: calls are expected to pass the same buffer again and again. What depends on such arguments alone is prepared once
    /// (PreparedConstants is counted); calls that pass other ones stay right, and after a few in a row the program no longer expects it.
    std::vector<bool> constant = {};
  };
  /// `roots`: distinct values that have to be computed. `overwritten`: per argument the root that replaces its value and
  /// may take its memory, or -1. Other numbers of the graph become constants of the program; other tensors stay what they
  /// are now.
  static runtime::StatusOr<std::shared_ptr<CompiledGraph>> compile(const Inputs &inputs, const std::vector<Value> &roots,
                                                                   const std::vector<int64_t> &overwritten);

  /// `arguments` and `keys` in the order of the inputs; `kept[i]`: argument i must not be overwritten, because something
  /// else shows it. Asynchronous; one buffer per root.
  runtime::StatusOr<std::vector<runtime::BufferPtr>> run(std::vector<runtime::BufferPtr> arguments, const std::vector<uint64_t> &keys,
                                                         const std::vector<bool> &kept) const;
  const std::vector<Shape> &shapes() const { return rootShapes; }
  size_t numKeys() const { return keys; }
  /// StableHLO; empty if there is nothing to compute.
  const std::string &text() const { return program; }

private:
  struct Source {
    enum Kind : uint8_t { Argument, Key, Tensor } kind;
    uint32_t index;
  };
  runtime::Status emit(const Inputs &inputs, const std::vector<Value> &roots, const std::vector<int64_t> &overwritten);

  /// The program that expects other buffers in every call.
  const std::pair<Digest, std::string> &withoutConstants() const;
  /// After a call: `before` is the executable's number of changes in a row before it.
  void countPreparations(const runtime::Executable &executable, uint64_t before) const;

  Digest key; ///< of `program`: the session keeps what it was compiled to, or compiles it again
  std::vector<Source> parameters;
  std::vector<bool> donated; ///< per parameter
  std::vector<Value> tensors; ///< held as values: a graph that would donate them must see that they are in use
  std::vector<Shape> rootShapes;
  size_t keys = 0;
  bool hasConstants = false;
  mutable std::atomic<bool> constantsChange{false}; ///< too often for preparing them
  mutable std::atomic<uint64_t> changes{0}; ///< calls in a row that changed them; the executable may have had other graphs
  mutable std::once_flag plainIsMade;
  mutable std::pair<Digest, std::string> plain; ///< withoutConstants()
  size_t graphInputs = 0; ///< of the recording: tensors and numbers
  std::string program;
  std::string saved; ///< for XLA_SAVE_TENSORS_FILE, at every run
};

} // namespace millrace::tracing
