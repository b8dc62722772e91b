// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Collectives.h - Collectives as operations of a graph -----------------===//
// For groups of the processes of the world. A group is a list of ranks in the order that reductions and results follow; all of its members
// record the same operation with the same list. Groups of the same ranks have a name each, letters and digits: members that record an operation of
// one group where others record that of another one are told so, by an error.
#pragma once
#include "tracing/Graph.h"

namespace millrace::tracing {

using Ranks = std::vector<int64_t>;

/// Of operands of one element type, in one operation. `reduction`: "add", "multiply", "minimum", "maximum", "and", "or" or "xor".
runtime::StatusOr<std::vector<Value>> allReduce(const std::vector<Value> &operands, const Ranks &group, const std::string &reduction, const std::string &name);
/// The tensors of the group along dim 0.
runtime::StatusOr<Value> allGather(const Value &operand, const Ranks &group, const std::string &name);
/// The part along dim 0 of the reduction that the member gets.
runtime::StatusOr<Value> reduceScatter(const Value &operand, const Ranks &group, const std::string &reduction, const std::string &name);
/// Part i along dim 0 goes to member i, that of member i becomes part i.
runtime::StatusOr<Value> allToAll(const Value &operand, const Ranks &group, const std::string &name);
/// The tensor of the process `root`, a member.
runtime::StatusOr<Value> broadcast(const Value &operand, const Ranks &group, int64_t root, const std::string &name);
/// Leaves the tensor for `target`, which takes it with receiveFrom() and the same channel. The value is the tensor.
runtime::StatusOr<Value> sendTo(const Value &operand, int64_t target, int64_t channel);
/// The oldest tensor that `source` left, which has to be of this shape.
runtime::StatusOr<Value> receiveFrom(const Value &like, int64_t source, int64_t channel);

} // namespace millrace::tracing
