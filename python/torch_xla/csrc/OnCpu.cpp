// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OnCpu.cpp - Operators that the CPU computes -------------------------===//
#include "python/torch_xla/csrc/Calls.h"
#include "python/torch_xla/csrc/Trace.h"
#include "runtime/profile/Recorder.h"
#include "tracing/reports/Places.h"

#include <c10/core/impl/LocalDispatchKeySet.h>

#include <mutex>
#include <unordered_set>

namespace millrace::torch_shim {

/// Once per operator: a fallback costs a cut, two copies and a wait.
static void tell(const std::string &name) {
  static std::mutex mutex;
  static auto *told = new std::unordered_set<std::string>;
  {
    std::lock_guard lock(mutex);
    if (!told->insert(name).second)
      return;
  }
  std::string place = tracing::placeOf(tracing::currentOrigin()).toString();
  TORCH_WARN("the xla device ran ", name, " on the CPU, with its operands and results copied",
             place.empty() ? "" : " (" + place + ")");
}

void runOnCpu(const c10::OperatorHandle &op, torch::jit::Stack *stack) {
  abortCapture();
  refuseInTrace(op.schema().name());
  const OpInfo &info = infoOf(op);
  size_t count = info.kinds.size();
  tracing::Metrics::get().count(op.schema().name());
  if (tracing::debugLevel())
    tracing::countPlace(op.schema().name(), tracing::currentStack());
  tell(op.schema().name());
  runtime::profile::Scope scope(runtime::profile::Kind::Tracing, "OperatorOnCpu");
  if (scope.isRecorded())
    scope.setDetail("operator=" + op.schema().name() + ", source=" + runtime::profile::asDetail(tracing::userPlace(tracing::currentStack())));
  torch::jit::Stack originals(stack->end() - long(count), stack->end());
  torch::jit::drop(*stack, count);
  auto down = [](const Tensor &tensor) { return tensor.defined() && isXla(tensor) ? toCpu(tensor) : tensor; };
  torch::jit::Stack inner;
  for (size_t i = 0; i < count; ++i) {
    const c10::IValue &value = originals[i];
    if (value.isTensor()) {
      inner.emplace_back(down(value.toTensor()));
    } else if (value.isTensorList()) {
      c10::List<Tensor> list;
      for (const Tensor &tensor : value.toTensorVector())
        list.push_back(down(tensor));
      inner.emplace_back(std::move(list));
    } else if (info.kinds[i] == ArgKind::OptionalTensorList && value.isList()) {
      c10::List<std::optional<Tensor>> list;
      for (const c10::IValue &item : value.toListRef())
        list.push_back(item.isNone() ? std::optional<Tensor>() : down(item.toTensor()));
      inner.emplace_back(std::move(list));
    } else if (value.isDevice()) {
      inner.emplace_back(c10::Device(c10::kCPU));
    } else if (value.isGenerator()) {
      inner.emplace_back();
    } else {
      inner.push_back(value);
    }
  }
  torch::jit::Stack before = inner;
  {
    c10::impl::ExcludeDispatchKeyGuard noAutograd(c10::autograd_dispatch_keyset |
                                                  c10::DispatchKeySet(c10::DispatchKey::ADInplaceOrView));
    c10::impl::ExcludeDispatchKeyGuard noAutocast(c10::autocast_dispatch_keyset);
    try {
      op.callBoxed(inner);
    } catch (c10::Error &error) {
      nameOperands(error, info, originals);
      throw;
    }
  }
  auto writeBack = [](const Tensor &original, const Tensor &cpu) {
    if (!original.defined() || !isXla(original))
      return;
    resizeTo(original, cpu.sizes());
    setValue(original, upload(cpu));
  };
  for (size_t index : info.written) {
    if (originals[index].isTensor()) {
      writeBack(originals[index].toTensor(), before[index].toTensor());
    } else if (originals[index].isTensorList()) {
      std::vector<Tensor> targets = originals[index].toTensorVector(), values = before[index].toTensorVector();
      for (size_t i = 0; i < targets.size(); ++i)
        writeBack(targets[i], values[i]);
    }
  }
  auto up = [&](const Tensor &tensor) -> Tensor {
    if (!tensor.defined())
      return tensor;
    for (size_t i = 0; i < count; ++i) // an argument that was written is returned as itself
      if (before[i].isTensor() && before[i].toTensor().is_same(tensor) && originals[i].isTensor())
        return originals[i].toTensor();
    TORCH_CHECK_NOT_IMPLEMENTED(tensor.layout() == at::kStrided, "the xla device has no sparse tensors, which the result of ",
                                op.schema().name(), " would be: if it is the gradient of an embedding, leave out sparse=True");
    return wrap(upload(tensor));
  };
  for (const c10::IValue &result : inner) {
    if (result.isTensor()) {
      stack->emplace_back(up(result.toTensor()));
    } else if (result.isTensorList()) {
      c10::List<Tensor> list;
      for (const Tensor &tensor : result.toTensorVector())
        list.push_back(up(tensor));
      stack->emplace_back(std::move(list));
    } else {
      stack->push_back(result);
    }
  }
}

} // namespace millrace::torch_shim
