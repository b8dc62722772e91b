// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Functions.h - What the files with functions of _XLAC share -------------===//
#pragma once
#include "python/torch_xla/csrc/Shim.h"

#include <torch/csrc/Exceptions.h>

#include <Python.h>

namespace millrace::torch_shim {

/// Every function that may wait or compile gives the GIL up first: autograd's threads need it.
struct WithoutGil {
  PyThreadState *state = PyEval_SaveThread();
  ~WithoutGil() { PyEval_RestoreThread(state); }
};

/// Runs the body of a function; an exception of C++ becomes one of Python.
template <typename F>
PyObject *guarded(F &&body) {
  try {
    return body();
  } catch (const std::exception &error) {
    const auto *torchError = dynamic_cast<const c10::Error *>(&error);
    PyErr_SetString(PyExc_RuntimeError, torchError ? torchError->what_without_backtrace() : error.what());
    return nullptr;
  }
}

/// Of a Python list of tensors of the device. Module.cpp
std::vector<Value> valuesOf(PyObject *list);
/// The functions of Api.cpp.
extern PyMethodDef apiMethods[];

} // namespace millrace::torch_shim
