// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Composite.cpp - A recorded graph as one operator --------------------===//
#include "tracing/graph/Composite.h"

#include "tracing/emit/Emit.h"
#include "tracing/spmd/Exchanges.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace millrace::tracing {
namespace {

/// The graph in a form that does not depend on the values of the front end, which may be destroyed.
struct CompositeBody {
  std::vector<Value> parameters, constants, results;
  Schedule schedule;
};

Val numberConstant(Emitter &e, const Node &node) {
  Val made = node.results[0].dtype == DType::F64 ? e.constant(std::bit_cast<double>(node.bits), node.results[0])
                                                 : e.constant(int64_t(node.bits), node.results[0]);
  made.isWeak = node.isWeak;
  return made;
}

std::vector<Val> emitBody(const CompositeBody &body, const Call &call) {
  Emitted values;
  auto set = [&](const Value &value, const Val &val) {
    std::vector<Val> &made = values[value.node.get()];
    made.resize(value.node->results.size());
    made[value.index] = val;
  };
  for (size_t i = 0; i < body.parameters.size(); ++i)
    set(body.parameters[i], call.operands[i]);
  for (size_t i = 0; i < body.constants.size(); ++i)
    set(body.constants[i], call.operands[body.parameters.size() + i]);
  for (const Value &leaf : body.schedule.leaves)
    if (leaf.node->isNumber())
      set(leaf, numberConstant(call.e, *leaf.node));
  if (!emitNodes(call.e, body.schedule, values).ok())
    return {};
  std::vector<Val> results;
  for (const Value &result : body.results)
    results.push_back(values.at(result.node.get())[result.index]);
  return results;
}

} // namespace

runtime::StatusOr<Composite> makeComposite(const std::string &name, std::string_view identity,
                                           const std::vector<Value> &parameters, const std::vector<Value> &results) {
  auto body = std::make_shared<CompositeBody>();
  body->parameters = parameters;
  body->results = results;
  body->schedule = schedule(results);
  std::vector<Shape> shapes;
  for (const Value &result : results)
    shapes.push_back(result.shape());
  for (const Value &leaf : body->schedule.leaves) {
    if (leaf.node->isNumber())
      continue;
    if (!leaf.node->isParameter)
      body->constants.push_back(leaf);
    else if (std::none_of(parameters.begin(), parameters.end(), [&](const Value &p) { return p.node == leaf.node; }))
      return runtime::failedPrecondition(name + " depends on a tensor that is not an operand");
  }
  Composite made;
  made.constants = body->constants;
  // Composites, like kinds, are never freed.
  forgetExchanges(body->schedule);
  Op *op = new Op{name, [body](const Call &call) { return emitBody(*body, call); }, false, std::string(identity), meetsOthers(body->schedule)};
  made.kind = kindOf(op, {}, std::move(shapes));
  return made;
}

} // namespace millrace::tracing
