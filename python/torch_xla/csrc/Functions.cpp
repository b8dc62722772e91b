// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Functions.cpp - What the files with functions of _XLAC share -----------===//
#include "python/torch_xla/csrc/Functions.h"

#include "python/torch_xla/csrc/Devices.h"

#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>

namespace millrace::torch_shim {

bool isTensor(PyObject *object) { return THPVariable_Check(object); }
const Tensor &tensorIn(PyObject *object) { return THPVariable_Unpack(object); }
PyObject *pythonOf(const Tensor &tensor) { return THPVariable_Wrap(tensor); }
PyObject *setPythonError() {
  torch::translate_exception_to_python(std::current_exception());
  return nullptr;
}

std::vector<Tensor> tensorsOf(PyObject *list) {
  Ref fast = Ref::steal(PySequence_Fast(list, "expects a list of tensors"));
  if (!fast.object)
    throw python_error();
  std::vector<Tensor> tensors;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.object); ++i) {
    PyObject *item = PySequence_Fast_GET_ITEM(fast.object, i);
    TORCH_CHECK(isTensor(item) && isXla(tensorIn(item)), "expects tensors of the xla device, but got ",
                isTensor(item) ? "one of another device" : Py_TYPE(item)->tp_name, " as value ", i);
    tensors.push_back(tensorIn(item));
  }
  return tensors;
}

std::vector<Value> valuesOf(PyObject *list) {
  std::vector<Value> values;
  for (const Tensor &tensor : tensorsOf(list))
    values.push_back(valueOf(tensor));
  return values;
}

std::vector<Value> shownValuesOf(PyObject *list) {
  std::vector<Value> values;
  for (const Tensor &tensor : tensorsOf(list))
    values.push_back(shownValue(tensor));
  return values;
}

PyObject *wrapAll(std::vector<Value> values) {
  PyObject *list = PyList_New(Py_ssize_t(values.size()));
  for (size_t i = 0; i < values.size(); ++i)
    PyList_SET_ITEM(list, Py_ssize_t(i), pythonOf(wrap(std::move(values[i]))));
  return list;
}

PyObject *wrapAllLike(PyObject *list, std::vector<Value> values) {
  Ref fast = Ref::steal(PySequence_Fast(list, "expects a list of tensors"));
  if (!fast.object)
    throw python_error();
  FoundDevice device;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.object); ++i)
    if (PyObject *item = PySequence_Fast_GET_ITEM(fast.object, i); isTensor(item))
      device.add(tensorIn(item));
  DeviceScope scope(device.get());
  return wrapAll(std::move(values));
}

PyObject *text(const std::string &value) { return PyUnicode_FromStringAndSize(value.data(), Py_ssize_t(value.size())); }

} // namespace millrace::torch_shim
