// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Trace.cpp - Functions that are recorded, not run --------------------===//
#include "python/torch_xla/csrc/Trace.h"

namespace millrace::torch_shim {

std::vector<TraceScope *> &traceScopes() {
  static thread_local std::vector<TraceScope *> scopes;
  return scopes;
}

static std::atomic<int> scopesAlive{0};

TraceScope::TraceScope() { ++scopesAlive; }
TraceScope::~TraceScope() { --scopesAlive; }

void enterTrace(TraceScope &scope) {
  traceScopes().push_back(&scope);
  scope.isActive = true;
}

void leaveTrace(TraceScope &scope) {
  if (std::exchange(scope.isActive, false))
    std::erase(traceScopes(), &scope);
}

uint64_t currentTrace() { return traceScopes().empty() ? 0 : traceScopes().back()->id; }
bool isAnythingTraced() { return scopesAlive > 0; }

void refuseInTrace(const std::string &what) {
  std::vector<TraceScope *> &scopes = traceScopes();
  if (scopes.empty())
    return;
  for (TraceScope *scope : scopes)
    if (scope->refused.empty())
      scope->refused = what;
  TORCH_CHECK(scopes.back()->kind == TraceScope::Graph, what, " needs the value of a tensor, which the body of a loop or a "
              "branch does not have while it is traced");
  TORCH_CHECK(false, what, " cannot be part of a compiled graph");
}

Value keyInTrace() {
  std::vector<TraceScope *> &scopes = traceScopes();
  for (size_t i = scopes.size(); i-- > 0;) {
    if (scopes[i]->kind == TraceScope::Loop)
      return tracing::keyInLoop(scopes[i]->loopKey, scopes[i]->drawn++);
    if (scopes[i]->kind == TraceScope::Graph) {
      scopes[i]->randomKeys.push_back(tracing::number(int64_t(0), /*isWeak=*/false)); // every call has another
      return scopes[i]->randomKeys.back();
    }
  }
  return {};
}

static std::atomic<bool> eager{false};
thread_local int EagerScope::depth = 0;

bool isEager() { return eager.load(std::memory_order_relaxed); }
void setEager(bool enabled) { eager = enabled; }

void runIfEager(std::vector<Value> values) {
  if (!isEager() || !traceScopes().empty())
    return;
  runtime::Status status = tracing::Session::get().syncEagerly(std::move(values));
  if (!status.ok())
    raise(status);
}

void runIfEager(const torch::jit::Stack &stack, size_t count) {
  std::vector<Value> values;
  auto add = [&](const Tensor &tensor) {
    if (tensor.defined() && isXla(tensor))
      values.push_back(static_cast<Storage *>(tensor.storage().unsafeGetStorageImpl())->base);
  };
  for (size_t i = stack.size() - std::min(count, stack.size()); i < stack.size(); ++i) {
    if (stack[i].isTensor())
      add(stack[i].toTensor());
    else if (stack[i].isTensorList())
      for (const Tensor &tensor : stack[i].toTensorVector())
        add(tensor);
  }
  runIfEager(std::move(values));
}

} // namespace millrace::torch_shim
