// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CApi.cpp - Handlers from Python: what the plug-in registers ---------===//
// C functions for python/millrace_jax (through ctypes). Strings that are returned are null (success) or a message that
// belongs to the calling thread until its next call.
#define MILLRACE_C_ABI_ONLY
#include "include/millrace/millrace.h"
#include "runtime/ffi/Handler.h"
#include "runtime/ffi/Objects.h"
#include "runtime/ffi/PythonCallback.h"

using namespace millrace::runtime;

namespace {

const char *report(const Status &status) {
  thread_local std::string message;
  if (status.ok())
    return nullptr;
  message = status.toString();
  return message.c_str();
}

} // namespace

extern "C" {

/// Documented in millrace.h. `traits` describe accelerators and are ignored.
const char *millrace_register_ffi_handler(const char *name, void *instantiate, void *prepare, void *initialize,
                                          void *execute, int api_version, uint32_t traits) {
  (void)traits;
  if (api_version == 0) {
    if (!execute)
      return report(invalidArgument("custom call target '" + std::string(name) + "' has no function"));
    ffi::registerUntypedHandler(name, execute);
    return nullptr;
  }
  if (api_version != 1)
    return report(unimplemented("custom call target '" + std::string(name) + "' is of api_version " +
                                std::to_string(api_version) + "; known are 0 and 1"));
  ffi::abi::Bundle bundle;
  void *stages[] = {instantiate, prepare, initialize, execute};
  for (int i = 0; i < ffi::abi::numStages; ++i)
    bundle.stages[i] = reinterpret_cast<ffi::abi::Handler *>(stages[i]);
  return report(ffi::registerHandler(name, bundle));
}

/// Registers a type of states. `type_id` points to an int64 (0: a number is assigned); `type_info` points to the interface's type information, or is
/// null.
const char *millrace_register_ffi_type(const char *name, void *type_id, const void *type_info) {
  return report(ffi::registerType(name, static_cast<ffi::abi::TypeId *>(type_id),
                                  static_cast<const ffi::abi::TypeInfo *>(type_info)));
}

/// Documented in PythonCallback.h.
void millrace_set_python_callbacks(millrace_python_call *call, millrace_python_hold *hold) {
  ffi::setPythonCallbacks(call, hold);
}

} // extern "C"
