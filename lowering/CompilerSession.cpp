// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompilerSession.cpp - Contexts and pipelines for many compilations -===//
#include "lowering/CompilerSession.h"

#include "lowering/Pipeline.h"
#include "lowering/RecordedPasses.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"

using namespace mlir;

namespace millrace {

PreparedPasses::Pipelines::Pipelines(MLIRContext &context, const PipelineOptions &options)
    : options(options), simplification(&context, ModuleOp::getOperationName()), fusion(&context, ModuleOp::getOperationName()) {
  lowering::addSimplifyPasses(simplification, options);
  lowering::addFusionPasses(fusion, options);
  // The context has no threads of its own (State::State).
  for (PassManager *passes : {&simplification, &fusion})
    passes->addInstrumentation(std::make_unique<lowering::RecordedPasses>());
}

PreparedPasses::Pipelines &PreparedPasses::of(const PipelineOptions &options) {
  for (std::unique_ptr<Pipelines> &each : pipelines)
    if (each->options == options)
      return *each;
  return *pipelines.emplace_back(std::make_unique<Pipelines>(context, options));
}

PassManager &PreparedPasses::simplification(const PipelineOptions &options) { return of(options).simplification; }
PassManager &PreparedPasses::fusion(const PipelineOptions &options) { return of(options).fusion; }

struct CompilerSession::Pool {
  std::mutex mutex;
  std::vector<std::unique_ptr<State>> idle;
};

CompilerSession::Pool &CompilerSession::pool() {
  // Never destroyed: threads may compile while the process ends.
  static Pool &pool = *new Pool;
  return pool;
}

static const DialectRegistry &compilerDialects() {
  static const DialectRegistry &registry = [&]() -> const DialectRegistry & {
    auto *made = new DialectRegistry;
    registerCompilerDialects(*made);
    return *made;
  }();
  return registry;
}

CompilerSession::State::State() : context(compilerDialects(), MLIRContext::Threading::DISABLED), passes(context) {
  // A dialect that is loaded later makes every pass manager of the context collect its patterns again.
  context.loadAllAvailableDialects();
}

CompilerSession::CompilerSession(size_t programBytes) {
  {
    Pool &pool = CompilerSession::pool();
    std::lock_guard lock(pool.mutex);
    if (!pool.idle.empty()) {
      state = std::move(pool.idle.back());
      pool.idle.pop_back();
    }
  }
  if (!state)
    state = std::make_unique<State>();
  ++state->programs;
  state->bytes += programBytes;
}

CompilerSession::~CompilerSession() {
  if (state->programs >= kMostPrograms || state->bytes >= kMostProgramBytes)
    return;
  Pool &pool = CompilerSession::pool();
  std::lock_guard lock(pool.mutex);
  if (pool.idle.size() < kMostIdle)
    pool.idle.push_back(std::move(state));
}

size_t CompilerSession::idleCount() {
  Pool &pool = CompilerSession::pool();
  std::lock_guard lock(pool.mutex);
  return pool.idle.size();
}

} // namespace millrace
