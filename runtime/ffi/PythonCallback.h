// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PythonCallback.h - Programs that call Python functions --------------===//
// A custom call `millrace_python_callback` names a Python function by a number (attribute `index`). Python registers one trampoline for all
// functions. It acquires the interpreter's lock itself; the runtime holds no lock of its own during the call.
#pragma once
#include <cstdint>

extern "C" {

/// A tensor as the trampoline receives it. `dtype` is a millrace::runtime::DType (a token has no data); `dims` has `rank` row-major sizes.
struct millrace_python_tensor {
  void *data;
  int32_t dtype;
  int32_t rank;
  const int64_t *dims;
};

/// Calls function `index`, which reads `arguments` and writes `results`. Returns 0, or another number after writing an error text (at most `size`
/// bytes, null-terminated) to `message`.
typedef int millrace_python_call(int64_t index, const millrace_python_tensor *arguments, int64_t num_arguments,
                                 const millrace_python_tensor *results, int64_t num_results, char *message,
                                 int64_t size);

/// Counts loaded programs that need function `index`: `delta` = 1 when one is loaded, -1 when it is destroyed. Returns 0 if there is no such
/// function.
typedef int millrace_python_hold(int64_t index, int delta);
}

namespace millrace::runtime::ffi {

/// Sets both functions, or neither. With neither (the interpreter is about to end) every callback is an error from then on; the call waits, some
/// seconds at most, for callbacks in progress. Must be called without the interpreter's lock.
void setPythonCallbacks(millrace_python_call *call, millrace_python_hold *hold);

} // namespace millrace::runtime::ffi
