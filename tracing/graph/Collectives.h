// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Collectives.h - Collectives as operations of a graph -----------------===//
// The operations combine processes of the world. A group is a list of ranks; reductions and results follow its order. All members of a group record
// the same operation with the same list. Every group has a name of letters and digits that differs between groups of the same ranks: if members
// record operations of different groups at the same point, the runtime compares the names and reports an error.
#pragma once
#include "tracing/graph/Graph.h"

namespace millrace::tracing {

using Ranks = std::vector<int64_t>;

/// Reduces operands of one element type in one operation. `reduction` is "add", "multiply", "minimum", "maximum", "and", "or" or "xor".
runtime::StatusOr<std::vector<Value>> allReduce(const std::vector<Value> &operands, const Ranks &group, const std::string &reduction, const std::string &name);
/// Concatenates the tensors of the group along dim 0.
runtime::StatusOr<Value> allGather(const Value &operand, const Ranks &group, const std::string &name);
/// Reduces the tensors of the group and returns this member's shard of the result along dim 0.
runtime::StatusOr<Value> reduceScatter(const Value &operand, const Ranks &group, const std::string &reduction, const std::string &name);
/// Sends shard i along dim 0 to member i. Shard i of the result is the one that member i sent to this process.
runtime::StatusOr<Value> allToAll(const Value &operand, const Ranks &group, const std::string &name);
/// Returns the tensor of the process `root`, which is a member of the group.
runtime::StatusOr<Value> broadcast(const Value &operand, const Ranks &group, int64_t root, const std::string &name);
/// Sends the tensor to `target`, which reads it by receiveFrom() with the same channel. Returns the tensor itself.
runtime::StatusOr<Value> sendTo(const Value &operand, int64_t target, int64_t channel);
/// Returns the first tensor that `source` sent and this process has not received yet. Its shape must be that of `like`.
runtime::StatusOr<Value> receiveFrom(const Value &like, int64_t source, int64_t channel);

} // namespace millrace::tracing
