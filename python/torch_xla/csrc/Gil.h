// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Gil.h - Giving up and taking Python's lock ---------------------------===//
#pragma once
#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#include <cxxabi.h>
#include <unistd.h>

namespace millrace::torch_shim {

/// Calls `take`, which waits for the GIL. A thread that waits for it while the interpreter shuts down (one that uploads batches nobody reads any
/// more) gets its stack unwound, which ends the process in the first destructor. It waits for the process's end instead, as in Python 3.14.
template <typename Take>
auto orNever(Take take) {
  try {
    return take();
  } catch (abi::__forced_unwind &) {
    while (true)
      ::pause();
  }
}

/// Every function that may wait or compile gives the GIL up first: autograd's threads need it.
struct WithoutGil {
  PyThreadState *state = PyEval_SaveThread();
  ~WithoutGil() {
    orNever([&] { PyEval_RestoreThread(state); });
  }
};

inline PyGILState_STATE takeGil() {
  return orNever([] { return PyGILState_Ensure(); });
}

struct WithGil {
  PyGILState_STATE state = takeGil();
  ~WithGil() { PyGILState_Release(state); }
};

} // namespace millrace::torch_shim
