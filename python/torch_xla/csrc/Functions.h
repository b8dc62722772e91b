// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Functions.h - What the files with functions of _XLAC share -------------===//
#pragma once
#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include "python/torch_xla/csrc/Gil.h"
#include "python/torch_xla/csrc/Shim.h"

#include <Python.h>

#include <exception>

namespace millrace::torch_shim {

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

// PyTorch's headers for Python bring pybind11 with them, which doubles the time to compile a file: only Functions.cpp has them.
bool isTensor(PyObject *object);
const Tensor &tensorIn(PyObject *object); ///< of a Python object that isTensor()
PyObject *pythonOf(const Tensor &tensor);
/// The C++ exception being handled as a Python error; null.
PyObject *setPythonError();

/// Runs the body of a function; an exception of C++ becomes one of Python, of the type that PyTorch gives it.
template <typename F>
PyObject *guarded(F &&body) {
  try {
    return body();
  } catch (...) {
    return setPythonError();
  }
}

/// Computes the value if nobody has. Api.cpp
runtime::BufferPtr bufferOf(const Tensor &tensor);
/// Of a Python sequence of tensors of the device; raises for anything else. Functions.cpp
std::vector<Tensor> tensorsOf(PyObject *list);
/// What their storages hold: to compute it, or to describe how it is computed.
std::vector<Value> valuesOf(PyObject *list);
/// What the tensors show: to compute with it.
std::vector<Value> shownValuesOf(PyObject *list);
/// What `body` makes of the values of a list of tensors, without the GIL; its error is raised.
template <typename F>
auto withValues(PyObject *list, F &&body) {
  std::vector<Value> values = valuesOf(list);
  WithoutGil released;
  using Made = decltype(body(std::move(values)));
  if constexpr (std::is_same_v<Made, runtime::Status>) {
    if (runtime::Status status = body(std::move(values)); !status.ok())
      raise(status);
  } else if constexpr (requires(Made made) { made.status(); }) {
    return valueOrRaise(body(std::move(values)));
  } else {
    return body(std::move(values));
  }
}
/// A Python list of new tensors.
PyObject *wrapAll(std::vector<Value> values);
/// The same on the device of the first tensor of a list.
PyObject *wrapAllLike(PyObject *list, std::vector<Value> values);
/// A Python string.
PyObject *text(const std::string &value);

/// The functions of the other files.
extern PyMethodDef profileMethods[], apiMethods[], controlFlowMethods[], exportMethods[], graphLimitMethods[], warmGraphMethods[], worldMethods[], backendMethods[];
/// Adds the type CompiledGraph. False: a Python error is set.
bool addCompiledType(PyObject *module);

} // namespace millrace::torch_shim
