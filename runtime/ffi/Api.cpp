// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Api.cpp - The functions that FFI handlers may call ------------------===//
// Functions for accelerators (streams, device memory) return an error, as on any CPU.
#include "runtime/ffi/Handler.h"
#include "runtime/ffi/Objects.h"
#include "runtime/ffi/TaskThreads.h"
#include "runtime/kernels/CustomCall.h"

#include <string>

namespace millrace::runtime::ffi {
namespace {

/// Checks the size that a caller states: one that was compiled against an older interface passes a smaller struct.
template <typename Args>
Status checkSize(const Args *args, size_t needed = abi::statedSize<Args>) {
  if (args->header.size >= needed)
    return Status();
  return invalidArgument("an FFI function expects arguments of " + std::to_string(needed) + " bytes, but got " +
                         std::to_string(args->header.size));
}

#define MILLRACE_FFI_TRY(expression)                                                                                   \
  do {                                                                                                                 \
    if (Status status_ = (expression); !status_.ok())                                                                  \
      return makeError(std::move(status_));                                                                            \
  } while (false)

abi::Error *errorCreate(abi::ErrorCreateArgs *args) {
  MILLRACE_FFI_TRY(checkSize(args));
  Code code = args->code > 0 && args->code <= int(Code::Unauthenticated) ? Code(args->code) : Code::Unknown;
  return makeError(Status(code, args->message ? args->message : ""));
}

void errorMessage(abi::ErrorMessageArgs *args) {
  args->message = args->error->status.message().data(); // the status holds a std::string, which ends with a null
}

void errorDestroy(abi::ErrorDestroyArgs *args) { delete args->error; }

abi::Error *registerStaticHandler(abi::RegisterHandlerArgs *args) {
  MILLRACE_FFI_TRY(checkSize(args));
  std::string_view platform(args->platform.data, args->platform.size);
  // A library may register the same name for several platforms, of which only the CPU is of interest.
  if (platform != "cpu" && platform != "CPU" && platform != "Host" && platform != "HOST")
    return nullptr;
  return makeError(registerHandler(std::string(args->name.data, args->name.size), args->bundle));
}

abi::Error *stream(abi::StreamArgs *) { return makeError(unimplemented("a CPU has no streams")); }

abi::Error *registerTypeName(abi::RegisterTypeArgs *args) {
  MILLRACE_FFI_TRY(checkSize(args));
  return makeError(registerType({args->name.data, args->name.size}, args->id, args->info));
}

abi::Error *contextGet(abi::ContextGetArgs *args) {
  MILLRACE_FFI_TRY(checkSize(args));
  return makeError(notFound("the execution context has no user data of type number " + std::to_string(args->type->id)));
}

StatusOr<State *> stateOf(const abi::StateArgs *args) {
  int stage = int(args->stage);
  if (stage < 0 || stage >= abi::numStages || !args->context->states[stage])
    return failedPrecondition("this stage has no state");
  return args->context->states[stage];
}

/// Returns the arguments of a handler that was compiled for a version without stages of states; null for other handlers.
abi::OldStateArgs *asOld(abi::StateArgs *args) {
  return args->context->minor < 3 ? reinterpret_cast<abi::OldStateArgs *>(args) : nullptr;
}
StatusOr<State *> stateOf(const abi::OldStateArgs *args) {
  MILLRACE_TRY(checkSize(args, offsetof(abi::OldStateArgs, destroy)));
  State *state = args->context->states[int(abi::Stage::Instantiate)];
  if (!state)
    return failedPrecondition("there is no state");
  return state;
}

abi::Error *stateSet(abi::StateArgs *args) {
  if (abi::OldStateArgs *old = asOld(args)) {
    StatusOr<State *> state = stateOf(old);
    bool hasDestroy = old->header.size >= sizeof(abi::OldStateArgs);
    return makeError(state ? (*state)->set(*old->type, old->state, hasDestroy ? old->destroy : nullptr) : state.status());
  }
  MILLRACE_FFI_TRY(checkSize(args));
  StatusOr<State *> state = stateOf(args);
  return makeError(state ? (*state)->set(*args->type, args->state) : state.status());
}

abi::Error *stateGet(abi::StateArgs *args) {
  if (abi::OldStateArgs *old = asOld(args)) {
    StatusOr<State *> state = stateOf(old);
    StatusOr<void *> object = state ? (*state)->get(*old->type) : StatusOr<void *>(state.status());
    if (!object)
      return makeError(object.status());
    old->state = *object;
    return nullptr;
  }
  MILLRACE_FFI_TRY(checkSize(args));
  StatusOr<State *> state = stateOf(args);
  if (!state)
    return makeError(state.status());
  StatusOr<void *> object = (*state)->get(*args->type);
  if (!object)
    return makeError(object.status());
  args->state = *object;
  return nullptr;
}

abi::Error *allocate(abi::AllocateArgs *) {
  return makeError(unimplemented("a CPU has no device memory to allocate from; use ordinary memory"));
}
abi::Error *freeMemory(abi::FreeArgs *) { return makeError(unimplemented("a CPU has no device memory to free")); }

abi::Error *schedule(abi::ScheduleArgs *args) {
  MILLRACE_FFI_TRY(checkSize(args));
  TaskThreads::global().schedule(args->task, args->data);
  return nullptr;
}

abi::Error *numThreads(abi::NumThreadsArgs *args) {
  MILLRACE_FFI_TRY(checkSize(args));
  *args->count = TaskThreads::global().size();
  return nullptr;
}

abi::Error *futureCreate(abi::FutureCreateArgs *args) {
  args->future = new abi::Future;
  return nullptr;
}

abi::Error *complete(abi::Future *future, Status status) {
  std::shared_ptr<abi::Future::Parts> parts = future->parts;
  {
    std::lock_guard lock(parts->mutex);
    if (parts->outcome)
      return makeError(failedPrecondition("the future is complete already"));
    parts->outcome = std::move(status);
  }
  parts->changed.notify_all();
  return nullptr;
}

abi::Error *futureSet(abi::FutureSetArgs *args) { return complete(args->future, Status()); }

abi::Error *futureError(abi::FutureErrorArgs *args) {
  Status status = takeError(args->error);
  return complete(args->future, status.ok() ? internalError("a future was ended by an error that is none") : status);
}

abi::Error *runId(abi::RunIdArgs *args) {
  MILLRACE_FFI_TRY(checkSize(args));
  if (!args->context->call)
    return makeError(failedPrecondition("there is no run while a call is instantiated"));
  args->run = args->context->call->run;
  return nullptr;
}

abi::Error *device(abi::DeviceArgs *args) {
  MILLRACE_FFI_TRY(checkSize(args));
  if (!args->context->call)
    return makeError(failedPrecondition("there is no device while a call is instantiated"));
  args->ordinal = int32_t(args->context->call->device);
  return nullptr;
}

} // namespace

const abi::Api &api() {
  static const abi::Api table = {
      {sizeof(abi::Api), nullptr},
      {{sizeof(abi::Version), nullptr}, abi::majorVersion, abi::minorVersion},
      nullptr,
      errorCreate, errorMessage, errorDestroy, registerStaticHandler, stream, registerTypeName, contextGet, stateSet,
      stateGet, allocate, freeMemory, schedule, numThreads, futureCreate, futureSet, futureError, runId, device};
  return table;
}

} // namespace millrace::runtime::ffi
