// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Collectives.cpp - Collectives as operations of a graph ---------------===//
// Output of allReduce(%a, {0, 2}, "add") in a world of three:
//   %0 = "stablehlo.all_reduce"(%a) ({ add }) {replica_groups = dense<[[0, 2], [1, -1]]> : tensor<2x2xi64>}
// Processes that are not in the group do not record the operation; StableHLO requires groups for them, too.
#include "tracing/graph/Collectives.h"

#include "dialects/millrace/Attributes.h"

#include "tracing/Session.h"
#include "tracing/graph/EmbeddedProgram.h"

#include <algorithm>

namespace millrace::tracing {
namespace {

using runtime::Status;
using runtime::StatusOr;

std::string typeOf(const Shape &shape) {
  std::string text = "tensor<";
  for (int64_t dim : shape.dims)
    text += std::to_string(dim) + "x";
  return text + std::string(runtime::name(shape.dtype)) + ">";
}

std::string typesOf(const std::vector<Shape> &shapes) {
  std::string text;
  for (const Shape &shape : shapes)
    text += (text.empty() ? "" : ", ") + typeOf(shape);
  return "(" + text + ")";
}

std::string namesOf(const std::string &prefix, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + prefix + std::to_string(i);
  return text;
}

std::string region(const std::string &reduction, DType dtype) {
  const std::string scalar = typeOf({dtype, {}});
  return "({\n    ^bb0(%x: " + scalar + ", %y: " + scalar + "):\n      %z = \"stablehlo." + reduction + "\"(%x, %y) : (" + scalar + ", " + scalar +
         ") -> " + scalar + "\n      \"stablehlo.return\"(%z) : (" + scalar + ") -> ()\n    })";
}

std::string dense(const std::vector<Ranks> &rows) {
  std::string text;
  for (const Ranks &row : rows) {
    std::string ids;
    for (int64_t id : row)
      ids += (ids.empty() ? "" : ", ") + std::to_string(id);
    text += (text.empty() ? "[" : ", [") + ids + "]";
  }
  return "dense<[" + text + "]> : tensor<" + std::to_string(rows.size()) + "x" + std::to_string(rows.front().size()) + "xi64>";
}

/// Returns groups of all processes of the world, the first of which is `group`. If all groups must have equal sizes, the last one is padded with -1.
std::string groupsWith(const Ranks &group, bool areEven) {
  const int64_t world = Session::get().world()->size;
  Ranks others;
  for (int64_t rank = 0; rank < world; ++rank)
    if (std::find(group.begin(), group.end(), rank) == group.end())
      others.push_back(rank);
  std::vector<Ranks> rows{group};
  for (int64_t next = world; others.size() % group.size();)
    others.push_back(areEven ? next++ : -1);
  for (size_t at = 0; at < others.size(); at += group.size())
    rows.emplace_back(others.begin() + long(at), others.begin() + long(at + group.size()));
  return "replica_groups = " + dense(rows);
}

/// Returns the attribute with the group's name, which becomes a part of the step's name.
std::string named(const std::string &group) { return group.empty() ? "" : ", " + std::string(kGroupNameAttr) + " = \"" + group + "\""; }

StatusOr<std::vector<Value>> record(const std::string &name, const std::vector<Value> &operands, const std::vector<Shape> &results,
                                    const std::string &attributes, const std::string &reduction = "") {
  std::vector<Shape> given;
  std::string arguments;
  for (const Value &operand : operands) {
    arguments += (given.empty() ? "%a" : ", %a") + std::to_string(given.size()) + ": " + typeOf(operand.shape());
    given.push_back(operand.shape());
  }
  const std::string multiple = results.size() > 1 ? ":" + std::to_string(results.size()) : "";
  std::string returned = results.size() > 1 ? "" : "%r";
  for (size_t i = 0; results.size() > 1 && i < results.size(); ++i)
    returned += (i ? ", %r#" : "%r#") + std::to_string(i);
  std::string types = typesOf(results);
  std::string text = "module @" + name + " {\n  func.func @main(" + arguments + ") -> " + types + " {\n    %r" + multiple + " = \"stablehlo." + name +
                     "\"(" + namesOf("%a", operands.size()) + ") " + (reduction.empty() ? "" : region(reduction, given.front().dtype) + " ") + "{" +
                     attributes + "} : " + typesOf(given) + " -> " + types + "\n    \"func.return\"(" + returned + ") : " + types +
                     " -> ()\n  }\n}\n";
  return embedProgram("xla::" + name, text, operands, /*meetsOthers=*/true);
}

StatusOr<Value> recordOne(const std::string &name, const Value &operand, Shape result, const std::string &attributes,
                          const std::string &reduction = "") {
  StatusOr<std::vector<Value>> made = record(name, {operand}, {std::move(result)}, attributes, reduction);
  if (!made)
    return made.status();
  return made->front();
}

Status checkParts(const Value &operand, const Ranks &group) {
  const Shape &shape = operand.shape();
  if (shape.dims.empty() || shape.dims[0] % int64_t(group.size()))
    return runtime::invalidArgument("expects a tensor whose dim 0 the " + std::to_string(group.size()) + " members of the group divide, but got " +
                                    shape.toString());
  return {};
}

StatusOr<Value> transfer(const std::string &name, const Value &tensor, int64_t source, int64_t target, int64_t channel) {
  const std::string type = typeOf(tensor.shape()), token = "!stablehlo.token";
  const std::string attributes = "{channel_handle = #stablehlo.channel_handle<handle = " + std::to_string(channel) +
                                 ", type = 1>, is_host_transfer = false, source_target_pairs = " + dense({{source, target}}) + "}";
  const std::string line = name == "send"
                               ? "%s = \"stablehlo.send\"(%x, %t) " + attributes + " : (" + type + ", " + token + ") -> " + token
                               : "%r:2 = \"stablehlo.recv\"(%t) " + attributes + " : (" + token + ") -> (" + type + ", " + token + ")";
  const std::string text = "module @" + name + " {\n  func.func @main(%x: " + type + ") -> " + type + " {\n    %t = \"stablehlo.create_token\"() : () -> " +
                           token + "\n    " + line + "\n    func.return " + (name == "send" ? "%x" : "%r#0") + " : " + type + "\n  }\n}\n";
  StatusOr<std::vector<Value>> made = embedProgram("xla::" + name, text, {tensor}, /*meetsOthers=*/true);
  if (!made)
    return made.status();
  return made->front();
}

} // namespace

StatusOr<std::vector<Value>> allReduce(const std::vector<Value> &operands, const Ranks &group, const std::string &reduction, const std::string &name) {
  std::vector<Shape> shapes;
  for (const Value &operand : operands)
    shapes.push_back(operand.shape());
  return record("all_reduce", operands, shapes, groupsWith(group, /*areEven=*/false) + named(name), reduction);
}

StatusOr<Value> allGather(const Value &operand, const Ranks &group, const std::string &name) {
  Shape result = operand.shape();
  if (result.dims.empty())
    return runtime::invalidArgument("expects a tensor with a dim to gather along");
  result.dims[0] *= int64_t(group.size());
  return recordOne("all_gather", operand, result, "all_gather_dim = 0 : i64, " + groupsWith(group, /*areEven=*/true) + named(name));
}

StatusOr<Value> reduceScatter(const Value &operand, const Ranks &group, const std::string &reduction, const std::string &name) {
  MILLRACE_TRY(checkParts(operand, group));
  Shape result = operand.shape();
  result.dims[0] /= int64_t(group.size());
  return recordOne("reduce_scatter", operand, result, "scatter_dimension = 0 : i64, " + groupsWith(group, /*areEven=*/true) + named(name), reduction);
}

StatusOr<Value> allToAll(const Value &operand, const Ranks &group, const std::string &name) {
  MILLRACE_TRY(checkParts(operand, group));
  return recordOne("all_to_all", operand, operand.shape(),
                   "split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = " + std::to_string(group.size()) + " : i64, " +
                       groupsWith(group, /*areEven=*/true) + named(name));
}

StatusOr<Value> broadcast(const Value &operand, const Ranks &group, int64_t root, const std::string &name) {
  Ranks rootFirst{root};
  std::copy_if(group.begin(), group.end(), std::back_inserter(rootFirst), [&](int64_t rank) { return rank != root; });
  // The attribute contains this group only, because every further group would be a broadcast from its own first process.
  return recordOne("collective_broadcast", operand, operand.shape(), "replica_groups = " + dense({rootFirst}) + named(name));
}

StatusOr<Value> sendTo(const Value &operand, int64_t target, int64_t channel) {
  return transfer("send", operand, Session::get().world()->rank, target, channel);
}

StatusOr<Value> receiveFrom(const Value &like, int64_t source, int64_t channel) {
  return transfer("recv", like, source, Session::get().world()->rank, channel);
}

} // namespace millrace::tracing
