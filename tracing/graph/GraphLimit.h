// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GraphLimit.h - Limit the number of graphs that a function records ---===//
// A function that is called repeatedly should record the same operations in every call, because each different sequence is compiled to another
// program. The recorded sequences of a function form a tree. If a call leaves the tree when no further graph is allowed, the limit is exceeded at
// that operation, before anything is compiled, and the message lists the operations that the known sequences have there.
#pragma once
#include "tracing/graph/Graph.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace millrace::tracing {

class GraphLimit {
public:
  explicit GraphLimit(size_t most) : most(most) {}
  /// Begins a call of the function.
  void begin() { at = &root; }
  /// Adds an operation to the sequence of the current call. `text` describes the operation; it is called for messages and new sequences only. Returns
  /// the message if the limit is exceeded; the call is not followed any further then.
  std::optional<std::string> add(const Digest &operation, const std::function<std::string()> &text);
  /// Ends the call. Returns the message if the limit is exceeded.
  std::optional<std::string> end();
  /// Ends the call without counting its sequence as a graph.
  void abandon() { at = nullptr; }
  size_t graphs() const { return found; }

private:
  struct Step {
    std::string text;
    bool isEnd = false; ///< a call ended here
    std::vector<Step *> order; ///< the possible next operations, in the order in which they were first recorded
    std::unordered_map<Digest, std::unique_ptr<Step>, DigestHash> next;
  };
  std::string exceeded(const std::string &got);
  Step root;
  Step *at = nullptr; ///< null between calls
  size_t found = 0;
  const size_t most;
};

} // namespace millrace::tracing
