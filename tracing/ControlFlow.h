// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlFlow.h - Loops and branches as operations of a graph ---------===//
// A front end records the body of a loop once, between values that stand for its arguments, and gets one operation that
// has it as a region. What the body uses from outside becomes an operand.
#pragma once
#include "tracing/Graph.h"

#include <functional>
#include <memory>

namespace millrace::tracing {

/// The operation of that structure, made by `make` once. They live as long as the process, as the programs do.
const Op *internedOp(const std::string &key, const std::function<Op()> &make);

/// What was recorded between `inputs` and `results`.
struct Function {
  std::vector<Value> inputs; ///< leaves that stand for the arguments
  std::vector<Value> results;
  Schedule body;
  std::vector<Value> captured; ///< leaves of the body that are no inputs
};
/// `outside`: nodes that were there before.
Function function(std::vector<Value> inputs, std::vector<Value> results,
                  const std::unordered_set<const Node *> &outside);

/// Random numbers differ from one iteration to the next: `key` (i64, the first input of the body) changes in each, and
/// this is the `index`-th number drawn from it.
Value keyInLoop(const Value &key, int64_t index);

/// while (condition(carried)) carried = body(carried). The body has one input more than the condition, the random key,
/// in front; `key` is its first value. Errors: InvalidArgument if the types of the results are not those carried.
runtime::StatusOr<std::vector<Value>> whileLoop(const Function &condition, const Function &body,
                                                const std::vector<Value> &carried, const Value &key);

/// for x in slices of `sequences` along dim 0: carried, y = body(carried, x). Inputs of the body: key, carried, slices.
/// Yields the last carried values, then every y, stacked. `length` is needed for sequences that are empty lists.
/// `outside`: what the loop reads in place of body.captured, one each with equal types.
runtime::StatusOr<std::vector<Value>> scan(const Function &body, const std::vector<Value> &carried,
                                           const std::vector<Value> &sequences, int64_t length, bool isReverse,
                                           const Value &key, const std::vector<Value> &outside);

/// The two parts of a function that computes results and, from gradients of these, gradients of its arguments.
struct GradientParts {
  Function forward;  ///< results, then the values that the backward part needs
  Function backward; ///< inputs: a key that nobody uses, the gradients, the saved values
  size_t saved = 0;
};
/// `inputs`: `given` of them belong to the forward part (the key first), the others are gradients; the first `results` of
/// `all` are the forward part's. What depends on no input is computed in both parts instead of saved.
GradientParts splitForGradient(const std::vector<Value> &inputs, size_t given, const std::vector<Value> &all,
                               size_t results, const std::unordered_set<const Node *> &outside);

/// body(arguments): the operations of the body, once, without recording them again. Inputs of the body: key, arguments.
std::vector<Value> call(const Function &body, const std::vector<Value> &arguments, const Value &key);

/// condition (a scalar) ? yes() : no(). Both without inputs, with equal types of results.
runtime::StatusOr<std::vector<Value>> branch(const Function &yes, const Function &no, const Value &condition);

} // namespace millrace::tracing
