// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlFlow.h - Loops and branches as operations of a graph ---------===//
// A front end records the body of a loop once, on values that stand for its arguments, and gets one operation with the body as its region. Values
// that the body uses from outside become operands.
#pragma once
#include "tracing/graph/Graph.h"

#include <functional>
#include <memory>

namespace millrace::tracing {

/// Returns the operation of this structure; `make` is called the first time only. Interned operations are never freed, because programs refer to
/// them.
const Op *internedOp(const std::string &key, const std::function<Op()> &make);

/// The operations that were recorded between `inputs` and `results`.
struct Function {
  std::vector<Value> inputs; ///< leaves that stand for the arguments
  std::vector<Value> results;
  Schedule body;
  std::vector<Value> captured; ///< leaves that the body uses and that are not inputs
};
/// Makes a Function. `outside` has the nodes that existed before the recording.
Function function(std::vector<Value> inputs, std::vector<Value> results,
                  const std::unordered_set<const Node *> &outside);

/// Returns the `index`-th random number that a loop's body draws from `key` (i64, the first input of the body). The key changes in every iteration,
/// so that random numbers differ from one iteration to the next.
Value keyInLoop(const Value &key, int64_t index);

/// Records while (condition(carried)) carried = body(carried). The body has the random key as an additional first input; `key` is the key's initial
/// value. Errors: InvalidArgument if the types of the results are not those of the carried values.
runtime::StatusOr<std::vector<Value>> whileLoop(const Function &condition, const Function &body,
                                                const std::vector<Value> &carried, const Value &key);

/// Records for x in slices of `sequences` along dim 0: carried, y = body(carried, x). The body's inputs are the key, the carried values, the slices.
/// Returns the last carried values and then every y, stacked. `length` is the number of iterations where `sequences` is empty. `outside` has the
/// values that the loop reads in place of body.captured, with equal types.
runtime::StatusOr<std::vector<Value>> scan(const Function &body, const std::vector<Value> &carried,
                                           const std::vector<Value> &sequences, int64_t length, bool isReverse,
                                           const Value &key, const std::vector<Value> &outside);

/// The forward and the backward part of a function that computes results and, from their gradients, the gradients of its arguments.
struct GradientParts {
  Function forward;  ///< returns the results and then the values that the backward part reads
  Function backward; ///< inputs: an unused random key, the gradients, the saved values
  size_t saved = 0;
};
/// Splits a recorded function into its parts. The first `given` of `inputs` belong to the forward part (the key is the first), the others are
/// gradients; the first `results` of `all` are the forward part's. Values that depend on no input are computed in both parts instead of saved.
GradientParts splitForGradient(const std::vector<Value> &inputs, size_t given, const std::vector<Value> &all,
                               size_t results, const std::unordered_set<const Node *> &outside);

/// Records the operations of the body once, as a call with `arguments`; the body is not recorded again. Its inputs are the key and the arguments.
std::vector<Value> call(const Function &body, const std::vector<Value> &arguments, const Value &key);

/// Records condition ? yes() : no() for a scalar condition. Both functions have no inputs and results of equal types.
runtime::StatusOr<std::vector<Value>> branch(const Function &yes, const Function &no, const Value &condition);

} // namespace millrace::tracing
