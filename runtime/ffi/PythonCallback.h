// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PythonCallback.h - Programs that call Python functions --------------===//
// Custom calls `millrace_python_callback` name a Python function by number (attribute `index`). Python registers one
// trampoline for all of them; it takes the interpreter's lock itself, and no lock of ours is held meanwhile.
#pragma once
#include <cstdint>

extern "C" {

/// A tensor as the trampoline sees it; dtype is a millrace::runtime::DType (tokens included, without data), dims has
/// `rank` entries, row-major.
struct millrace_python_tensor {
  void *data;
  int32_t dtype;
  int32_t rank;
  const int64_t *dims;
};

/// Calls function `index`: reads `arguments`, writes `results`. Returns 0, or another number after it has written what
/// went wrong (at most `size` bytes, ending with a null) to `message`.
typedef int millrace_python_call(int64_t index, const millrace_python_tensor *arguments, int64_t num_arguments,
                                 const millrace_python_tensor *results, int64_t num_results, char *message,
                                 int64_t size);

/// A loaded program begins (`delta` = 1) or ends (-1) to need function `index`; 0 if there is no such function.
typedef int millrace_python_hold(int64_t index, int delta);
}

namespace millrace::runtime::ffi {

/// Both or neither. With neither (the interpreter is about to end) every callback is an error from now on; waits (some
/// seconds at most) for those in progress. To be called without the interpreter's lock.
void setPythonCallbacks(millrace_python_call *call, millrace_python_hold *hold);

} // namespace millrace::runtime::ffi
