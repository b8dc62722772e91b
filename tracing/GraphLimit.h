// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GraphLimit.h - How many different graphs a function may record ------===//
// A function that is called again and again should record the same operations every time: each other sequence is another program.
// The sequences that a function has recorded form a tree. Where a call leaves the tree and no further graph is allowed, it is known at
// that operation, before anything is compiled, which operations would have been no new graph.
#pragma once
#include "tracing/Graph.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace millrace::tracing {

class GraphLimit {
public:
  explicit GraphLimit(size_t most) : most(most) {}
  /// A call of the function begins.
  void begin() { at = &root; }
  /// It records an operation; `text` says which, and is only called for a message or a new sequence. What is wrong, or nothing: then the
  /// call is not followed any further.
  std::optional<std::string> add(const Digest &operation, const std::function<std::string()> &text);
  /// It is over. What is wrong, or nothing.
  std::optional<std::string> end();
  /// It is over and counts as no graph of its own.
  void abandon() { at = nullptr; }
  size_t graphs() const { return found; }

private:
  struct Step {
    std::string text;
    bool isEnd = false; ///< some call ended here
    std::vector<Step *> order; ///< the next ones, in the order in which they were first seen
    std::unordered_map<Digest, std::unique_ptr<Step>, DigestHash> next;
  };
  std::string exceeded(const std::string &got);
  Step root;
  Step *at = nullptr; ///< null between calls
  size_t found = 0;
  const size_t most;
};

} // namespace millrace::tracing
