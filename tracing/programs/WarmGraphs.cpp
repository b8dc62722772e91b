// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WarmGraphs.cpp - Programs of graphs that are executed by their key --===//
// For callers that record a graph once, compile it, and execute it with other inputs without recording it again.
#include "tracing/Session.h"
#include "tracing/graph/IrText.h"
#include "tracing/programs/Compile.h"
#include "tracing/spmd/Exchanges.h"

#include <set>

namespace millrace::tracing {

/// Returns the values that have to be computed, each once.
static std::vector<Value> pending(const std::vector<Value> &given) {
  std::vector<Value> roots;
  std::set<std::pair<const Node *, uint32_t>> seen;
  for (const Value &value : given)
    if (value.node->op && seen.emplace(value.node.get(), value.index).second)
      roots.push_back(value);
  return roots;
}

using Order = std::vector<uint32_t>;

/// The order in which callers of runGraph() pass the leaves of a graph. Guarded by Session::mutex.
static Order &orderOf(const Digest &key) {
  static auto *orders = new std::unordered_map<Digest, Order, DigestHash>;
  return (*orders)[key];
}

static std::vector<Value> inOrder(const Schedule &plan, const std::vector<Value> &roots) {
  Order &order = orderOf(plan.key);
  if (order.empty())
    order = parameterOrder(plan, roots);
  std::vector<Value> leaves;
  for (uint32_t index : order)
    leaves.push_back(plan.leaves[index]);
  return leaves;
}

Session::WarmGraph Session::describe(const std::vector<Value> &given) {
  std::lock_guard lock(mutex);
  std::vector<Value> roots = pending(given);
  if (roots.empty())
    roots = given;
  Schedule plan = schedule(roots);
  return {plan.key, inOrder(plan, roots), pending(given).size()};
}

runtime::StatusOr<Session::WarmGraph> Session::warmUp(const std::vector<Value> &given) {
  MILLRACE_TRY(started());
  std::lock_guard lock(mutex);
  std::vector<Value> roots = pending(given);
  if (roots.empty())
    return describe(given);
  Schedule plan = schedule(roots);
  forgetExchanges(plan);
  AnalysisOf what;
  if (debugLevel())
    what = {plan.key, plan.leaves.size(), roots.size(), currentStack()};
  runtime::StatusOr<LoadedProgramPtr> program = findOrCompile(plan, roots, dyingLeaves(plan, roots), what);
  if (!program)
    return program.status();
  return WarmGraph{plan.key, inOrder(plan, roots), roots.size()};
}

runtime::StatusOr<std::vector<Value>> Session::runGraph(const Digest &key, std::vector<Value> leaves) {
  MILLRACE_TRY(started());
  MILLRACE_TRY(sync(leaves));
  std::lock_guard lock(mutex);
  LoadedProgramPtr program = programs.find(key);
  if (!program)
    return runtime::notFound("no program of the graph " + key.toString() +
                             " is there: it was not compiled, or others took its place (XLA_COMPILATION_CACHE_SIZE)");
  if (leaves.size() != program->numbers.size())
    return runtime::invalidArgument("expects " + std::to_string(program->numbers.size()) + " inputs of the graph " +
                                    key.toString() + ", but got " + std::to_string(leaves.size()));
  if (const Order &order = orderOf(key); order.size() == leaves.size()) {
    std::vector<Value> given = std::move(leaves);
    leaves.assign(given.size(), {});
    for (size_t i = 0; i < given.size(); ++i)
      leaves[order[i]] = std::move(given[i]);
  }
  for (size_t i = 0; i < leaves.size(); ++i) {
    Value &leaf = leaves[i];
    DType wanted = program->numbers[i];
    if (wanted == DType::Invalid && leaf.node->isNumber()) {
      runtime::StatusOr<runtime::BufferPtr> sent = buffer(leaf);
      if (!sent)
        return sent.status();
      leaf = tracing::leaf(std::move(*sent), leaf.shape());
    } else if (wanted != DType::Invalid && !leaf.node->isNumber()) {
      if (leaf.shape() != Shape{wanted, {}})
        return runtime::invalidArgument("expects input " + std::to_string(i) + " to be a number, " + Shape{wanted, {}}.toString() +
                                        ", but got " + leaf.shape().toString());
      uint64_t bits = 0;
      MILLRACE_TRY(download(leaf, &bits));
      leaf = wanted == DType::F64 ? number(0.0) : wanted == DType::I64 ? number(int64_t(0)) : number(false);
      leaf.node->bits = bits;
    }
  }
  Schedule plan;
  plan.leaves = std::move(leaves);
  const std::vector<bool> dying(plan.leaves.size(), false); // the caller's tensors are not donated
  std::vector<Value> results;
  for (const Shape &shape : program->shapes)
    results.push_back(tracing::leaf(nullptr, shape));
  if (!program->text.empty()) {
    MILLRACE_TRY(runOnAll(plan, results, *program, dying));
    return results;
  }
  runtime::ExecuteOptions options;
  runtime::StatusOr<std::vector<runtime::BufferPtr>> arguments = gather(plan, *program, dying, options);
  if (!arguments)
    return arguments.status();
  runtime::StatusOr<std::vector<runtime::BufferPtr>> made = launch(*program->executable, *arguments, options);
  if (!made)
    return made.status();
  for (size_t k = 0; k < results.size(); ++k)
    results[k].node->buffers[0] = std::move((*made)[k]);
  return results;
}

size_t Session::numPrograms() {
  std::lock_guard lock(mutex);
  return programs.size();
}

runtime::Status Session::forgetPrograms() {
  std::lock_guard lock(mutex);
  programs.clear();
  return clearCacheFolder();
}

} // namespace millrace::tracing
