// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Functions.h - What the files with functions of _XLAC share -------------===//
#pragma once
#define PY_SSIZE_T_CLEAN
#include "python/torch_xla/csrc/Shim.h"

#include <torch/csrc/Exceptions.h>

#include <Python.h>

namespace millrace::torch_shim {

/// Every function that may wait or compile gives the GIL up first: autograd's threads need it.
struct WithoutGil {
  PyThreadState *state = PyEval_SaveThread();
  ~WithoutGil() { PyEval_RestoreThread(state); }
};

/// A reference to a Python object that is given back, whatever happens.
struct Ref {
  PyObject *object = nullptr;
  Ref() = default;
  explicit Ref(PyObject *borrowed) : object(borrowed) { Py_XINCREF(object); }
  static Ref steal(PyObject *owned) {
    Ref made;
    made.object = owned;
    return made;
  }
  Ref(Ref &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Ref &operator=(Ref &&other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Ref() { Py_XDECREF(object); }
};

/// Runs the body of a function; an exception of C++ becomes one of Python, of the type that PyTorch gives it.
template <typename F>
PyObject *guarded(F &&body) {
  try {
    return body();
  } catch (...) {
    torch::translate_exception_to_python(std::current_exception());
    return nullptr;
  }
}

/// Of a Python sequence of tensors of the device; raises for anything else. Functions.cpp
std::vector<Tensor> tensorsOf(PyObject *list);
std::vector<Value> valuesOf(PyObject *list);
/// A Python list of new tensors.
PyObject *wrapAll(std::vector<Value> values);
/// A Python string.
PyObject *text(const std::string &value);

/// The functions of the other files.
extern PyMethodDef apiMethods[], controlFlowMethods[], exportMethods[];
/// Adds the type CompiledGraph. False: a Python error is set.
bool addCompiledType(PyObject *module);

} // namespace millrace::torch_shim
