// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IrText.h - Recorded graphs as text, in PyTorch/XLA's form -----------===//
#pragma once
#include "tracing/Graph.h"

namespace millrace::tracing {

/// What an argument of an operator is called; a number of the user's is shown as a node of its own.
struct ArgumentName {
  std::string name;
  bool isNumber = false;
};
/// From a front end that knows: per operator ("aten::add.Tensor") its arguments in order, or none.
void setArgumentNames(std::vector<ArgumentName> (*namesOf)(const std::string &op));

/// The operation of a node as users know it: "aten::add"; a view by what it does: "aten::permute".
std::string shownName(const Node &node);
/// The same after the region it was recorded in: "encoder.1/aten::add".
std::string scopedName(const Node &node);
/// Layout included: "f32[2,3]{1,0}".
std::string shapeText(const Shape &shape);

/// The leaves of a schedule of `roots` in the order in which PyTorch/XLA counts the parameters of a program: of the operands of a
/// node the last one first.
std::vector<uint32_t> parameterOrder(const Schedule &schedule, const std::vector<Value> &roots);

/// One line per node, operands first, roots marked. XLA_IR_DEBUG=1: with the user's lines.
std::string graphText(const std::vector<Value> &roots);
/// The graph in the language of Graphviz.
std::string graphDot(const std::vector<Value> &roots);

} // namespace millrace::tracing
