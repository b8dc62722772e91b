// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompiledGraph.cpp - A graph that is called instead of traced again --===//
#include "tracing/programs/CompiledGraph.h"

#include "tracing/Session.h"
#include "tracing/emit/Emit.h"
#include "tracing/emit/StoredTypes.h"
#include "tracing/reports/Analysis.h"
#include "tracing/reports/Dump.h"
#include "tracing/spmd/Exchanges.h"

#include <bit>

namespace millrace::tracing {

static int64_t indexOf(const std::vector<Value> &values, const Value &wanted) {
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i].node == wanted.node && values[i].index == wanted.index)
      return int64_t(i);
  return -1;
}

static Val constantOf(Emitter &e, const Value &number) {
  const Shape &shape = number.shape();
  Val made = shape.dtype == DType::F64 ? e.constant(std::bit_cast<double>(number.node->bits), shape)
                                       : e.constant(int64_t(number.node->bits), shape);
  made.isWeak = number.node->isWeak;
  return made;
}

runtime::StatusOr<std::shared_ptr<CompiledGraph>> CompiledGraph::compile(const Inputs &inputs,
                                                                         const std::vector<Value> &roots,
                                                                         const std::vector<int64_t> &overwritten) {
  auto made = std::make_shared<CompiledGraph>();
  made->keys = inputs.randomKeys.size();
  for (const Value &root : roots)
    made->rootShapes.push_back(root.shape());
  if (roots.empty())
    return made;
  made->saved = savedForm(roots);
  MILLRACE_TRY(made->emit(inputs, roots, overwritten));
  if (debugLevel()) {
    SyncCause cause("dynamo is compiling a FX graph to HLO");
    reportCompilation({made->program->key(), made->graphInputs, roots.size(), currentStack()}, "");
  }
  runtime::StatusOr<std::shared_ptr<runtime::Executable>> executable = made->program->executable();
  if (!executable)
    return executable.status();
  return made;
}

runtime::Status CompiledGraph::emit(const Inputs &inputs, const std::vector<Value> &roots,
                                    const std::vector<int64_t> &overwritten) {
  Schedule plan = schedule(roots);
  forgetExchanges(plan);
  graphInputs = plan.leaves.size();
  Emitter e;
  Emitted values;
  for (const Value &leaf : plan.leaves) {
    std::vector<Val> &vals = values[leaf.node.get()];
    vals.resize(leaf.node->results.size());
    Source source{Source::Argument, 0};
    int64_t target = -1;
    if (int64_t i = indexOf(inputs.arguments, leaf); i >= 0) {
      source.index = uint32_t(i);
      if (overwritten[size_t(i)] >= 0 && roots[size_t(overwritten[size_t(i)])].shape() == leaf.shape())
        target = overwritten[size_t(i)];
    } else if (int64_t i = indexOf(inputs.randomKeys, leaf); i >= 0) {
      source = {Source::Key, uint32_t(i)};
    } else if (leaf.node->isNumber()) {
      vals[leaf.index] = constantOf(e, leaf);
      continue;
    } else {
      source = {Source::Tensor, uint32_t(tensors.size())};
      tensors.push_back(leaf);
    }
    if (source.kind == Source::Key) {
      vals[leaf.index] = e.parameter(leaf.shape(), target);
      vals[leaf.index].isWeak = leaf.node->isWeak;
    } else {
      const bool isConstant = target < 0 && (source.kind == Source::Tensor || (source.index < inputs.constant.size() && inputs.constant[source.index]));
      vals[leaf.index] = storedParameter(e, leaf, target, isConstant);
    }
    parameters.push_back(source);
    donated.push_back(target >= 0);
  }
  MILLRACE_TRY(emitNodes(e, plan, values));
  std::vector<Val> returned;
  for (const Value &root : roots)
    returned.push_back(toStored(e, values.at(root.node.get())[root.index]));
  e.replicas(Session::get().world()->size);
  runtime::StatusOr<std::pair<std::string, std::string>> texts = e.finishBoth(returned);
  if (!texts)
    return texts.status();
  program.emplace(std::move(texts->first), std::move(texts->second));
  return {};
}

runtime::StatusOr<std::vector<runtime::BufferPtr>> CompiledGraph::run(std::vector<runtime::BufferPtr> arguments,
                                                                      const std::vector<uint64_t> &keyBits,
                                                                      const std::vector<bool> &kept) const {
  if (!program)
    return std::vector<runtime::BufferPtr>();
  Session &session = Session::get();
  std::vector<runtime::BufferPtr> given;
  given.reserve(parameters.size());
  runtime::ExecuteOptions options;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Source &source = parameters[i];
    if (source.kind == Source::Argument) {
      given.push_back(std::move(arguments[source.index])); // the same leaf is one parameter
      if (donated[i] && kept[source.index])
        options.nonDonatable.push_back(uint32_t(i));
      continue;
    }
    runtime::StatusOr<runtime::BufferPtr> buffer =
        source.kind == Source::Key ? session.keyBuffer(keyBits[source.index]) : session.buffer(tensors[source.index]);
    if (!buffer)
      return buffer.status();
    given.push_back(std::move(*buffer));
  }
  appendSaved(saved);
  if (debugLevel() > 1) {
    SyncCause cause("dynamo is executing a compiled program");
    reportExecution({program->key(), graphInputs, rootShapes.size(), currentStack()});
  }
  return program->launch(given, options);
}

const std::string &CompiledGraph::text() const {
  static const std::string nothing;
  return program ? program->text() : nothing;
}

} // namespace millrace::tracing
