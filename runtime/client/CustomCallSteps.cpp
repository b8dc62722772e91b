// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CustomCallSteps.cpp - Calls of registered functions ----------------===//
#include "runtime/base/FloatModes.h"
#include "runtime/client/ExecutorState.h"
#include "runtime/client/Relayout.h"

#include <cstring>

namespace millrace::runtime {

namespace {

thread_local int customCallDepth = 0;

} // namespace

bool insideCustomCall() { return customCallDepth > 0; }

Status Executor::runStep(Frame &frame, const CustomCallStep &s) {
  if (frame.cells)
    for (SlotId id : s.results)
      MILLRACE_TRY(prepareOutput(frame, id));
  CustomCall call{s, {}, {}, target.device, where(), target.run};
  MILLRACE_TRY(views(frame, s.arguments, call.arguments));
  MILLRACE_TRY(views(frame, s.results, call.results));
  // Aliases and layouts go through copies, for simplicity: such calls cost far more than a copy.
  std::vector<TensorView> resultViews = call.results;
  std::vector<std::shared_ptr<Storage>> temporaries;
  auto temporary = [&](uint64_t bytes, void *&data) -> Status {
    StatusOr<std::shared_ptr<Storage>> storage = Storage::allocate(target.allocator, bytes);
    if (!storage)
      return storage.status();
    data = (*storage)->data();
    temporaries.push_back(std::move(*storage));
    return Status();
  };
  auto layoutOf = [](const std::vector<std::vector<int64_t>> &layouts, size_t i) -> const std::vector<int64_t> * {
    return i < layouts.size() && !isRowMajor(layouts[i]) ? &layouts[i] : nullptr;
  };
  for (size_t i = 0; i < call.results.size(); ++i)
    if (layoutOf(s.resultLayouts, i))
      MILLRACE_TRY(temporary(call.results[i].bytes(), call.results[i].data));
  // An operand that is copied to its aliased result needs no memory of its own.
  std::vector<void *> aliased(call.arguments.size(), nullptr);
  for (auto [operand, result] : s.aliases)
    if (call.arguments[operand].bytes() == call.results[result].bytes())
      aliased[operand] = call.results[result].data;
  for (size_t i = 0; i < call.arguments.size(); ++i)
    if (const std::vector<int64_t> *layout = layoutOf(s.argumentLayouts, i)) {
      void *data = aliased[i];
      if (!data)
        MILLRACE_TRY(temporary(call.arguments[i].bytes(), data));
      relayout(call.arguments[i], *layout, data, true);
      call.arguments[i].data = data;
    }
  for (auto [operand, result] : s.aliases) {
    if (call.arguments[operand].bytes() != call.results[result].bytes())
      return invalidArgument("custom call '" + s.target + "': an operand and its aliased result differ in size");
    if (call.results[result].data != call.arguments[operand].data)
      std::memmove(call.results[result].data, call.arguments[operand].data, call.results[result].bytes());
    call.arguments[operand].data = call.results[result].data;
  }
  const CustomCallHandler &handler = plan.customCalls.find(&s)->second;
  ++customCallDepth;
  Status status = [&] {
    const DefaultFloatModes modes; // foreign code may change the modes and not restore them
    return handler(call);
  }();
  --customCallDepth;
  MILLRACE_TRY(status.withContext("custom call '" + s.target + "'"));
  for (size_t i = 0; i < call.results.size(); ++i)
    if (const std::vector<int64_t> *layout = layoutOf(s.resultLayouts, i))
      relayout(resultViews[i], *layout, call.results[i].data, false);
  return Status();
}

} // namespace millrace::runtime
