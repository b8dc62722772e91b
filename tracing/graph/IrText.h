// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IrText.h - Recorded graphs as text, in PyTorch/XLA's form -----------===//
#pragma once
#include "tracing/graph/Graph.h"

namespace millrace::tracing {

/// The name of an argument of an operator; a number from the user's program is shown as a node of its own.
struct ArgumentName {
  std::string name;
  bool isNumber = false;
};
/// Sets the front end's function that returns the names of an operator's ("aten::add.Tensor") arguments in order, or an empty list if it has none.
void setArgumentNames(std::vector<ArgumentName> (*namesOf)(const std::string &op));

/// Returns what differs between the arguments of two nodes of one operator and equal types, one text per argument: "exponent of aten::pow: 3.0 became
/// 4.0". Empty if the arguments that can be shown are equal.
std::vector<std::string> changedConstants(const Kind &before, const Kind &now);

/// Returns the operation of a node by the name that users know: "aten::add"; for a view the name of its operation: "aten::permute".
std::string shownName(const Node &node);
/// Returns the name after the scope in which the node was recorded: "encoder.1/aten::add".
std::string scopedName(const Node &node);
/// Returns the shape with its layout: "f32[2,3]{1,0}".
std::string shapeText(const Shape &shape);

/// Returns the leaves of a schedule of `roots` in PyTorch/XLA's order of a program's parameters: a depth-first traversal that visits the last operand
/// of a node first.
std::vector<uint32_t> parameterOrder(const Schedule &schedule, const std::vector<Value> &roots);

/// Returns one line per node, operands first, with the roots marked. XLA_IR_DEBUG=1 adds the user's lines.
std::string graphText(const std::vector<Value> &roots);
/// Returns the graph in Graphviz's language.
std::string graphDot(const std::vector<Value> &roots);

} // namespace millrace::tracing
