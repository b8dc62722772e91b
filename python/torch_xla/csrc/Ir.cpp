// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Ir.cpp - Functions of _XLAC about recorded graphs --------------------===//
#include "python/torch_xla/csrc/Ir.h"

#include "python/torch_xla/csrc/Functions.h"
#include "tracing/graph/IrText.h"
#include "tracing/graph/Scope.h"

#include <torch/csrc/Dtype.h>

namespace millrace::torch_shim {
namespace {

PyObject *tensorsText(PyObject *, PyObject *list) {
  return guarded([&] { return text(tracing::graphText(valuesOf(list))); });
}
PyObject *tensorsDot(PyObject *, PyObject *list) {
  return guarded([&] { return text(tracing::graphDot(valuesOf(list))); });
}

/// "aten::add" of what is still to be computed; "" of a tensor with data.
PyObject *operationOf(PyObject *, PyObject *tensor) {
  return guarded([&]() -> PyObject * {
    TORCH_CHECK(isTensor(tensor) && isXla(tensorIn(tensor)), "expects a tensor of the xla device");
    Value value = valueOf(tensorIn(tensor));
    return text(value.node->isLeaf() ? "" : tracing::shownName(*value.node));
  });
}

//===-- Scopes --------------------------------------------------------------===//

PyObject *pushScope(PyObject *, PyObject *name) {
  const char *text = PyUnicode_AsUTF8(name);
  if (!text)
    return nullptr;
  tracing::pushScope(text);
  Py_RETURN_NONE;
}
PyObject *popScope(PyObject *, PyObject *) {
  tracing::popScope();
  Py_RETURN_NONE;
}
PyObject *resetScopes(PyObject *, PyObject *) {
  return guarded([&]() -> PyObject * {
    TORCH_CHECK(tracing::resetScopes(), "Expecting scope to be empty but it is ", *tracing::currentScope());
    Py_RETURN_NONE;
  });
}

PyObject *scopeNow(PyObject *, PyObject *) {
  const std::string *scope = tracing::currentScope();
  return text(scope ? *scope : "");
}

/// _set_xla_custom_op_name_prefix(tensor, prefix, depth) -> whether it is still to be computed
PyObject *setPrefix(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *tensor;
    const char *prefix;
    Py_ssize_t depth; // of the call stack; a node keeps one place
    if (!PyArg_ParseTuple(args, "Osn", &tensor, &prefix, &depth))
      return nullptr;
    TORCH_CHECK(isTensor(tensor) && isXla(tensorIn(tensor)), "expects a tensor of the xla device");
    std::lock_guard lock(tracing::Session::get().mutex);
    Value value = valueOf(tensorIn(tensor));
    if (!value.node->isLeaf())
      value.node->origin = tracing::inScope(value.node->origin, prefix);
    return PyBool_FromLong(!value.node->isLeaf());
  });
}

PyObject *countLibrariesPy(PyObject *, PyObject *flag) {
  countLibraries(PyObject_IsTrue(flag));
  Py_RETURN_NONE;
}

PyObject *followFramesPy(PyObject *, PyObject *flag) { return PyBool_FromLong(followFrames(PyObject_IsTrue(flag))); }

//===-- Numbers and tensors without a value ---------------------------------===//

PyObject *setNumbers(PyObject *, PyObject *args) {
  int all, special;
  if (!PyArg_ParseTuple(args, "pp", &all, &special))
    return nullptr;
  numbersSetting() = all ? Numbers::AllConstant : special ? Numbers::SpecialConstant : Numbers::NoneConstant;
  Py_RETURN_NONE;
}
/// (all numbers are constants of the program, 0 and 1 are)
PyObject *getNumbers(PyObject *, PyObject *) {
  Numbers now = numbersSetting();
  return Py_BuildValue("(NN)", PyBool_FromLong(now == Numbers::AllConstant), PyBool_FromLong(now != Numbers::NoneConstant));
}

/// _create_placeholder_tensor(sizes, dtype)
PyObject *createPlaceholder(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *sizes, *dtype;
    if (!PyArg_ParseTuple(args, "OO", &sizes, &dtype))
      return nullptr;
    TORCH_CHECK(THPDtype_Check(dtype), "expects a torch.dtype");
    Ref fast = Ref::steal(PySequence_Fast(sizes, "expects sizes"));
    if (!fast.object)
      return nullptr;
    Shape shape{dtypeOf(reinterpret_cast<THPDtype *>(dtype)->scalar_type), {}};
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.object); ++i)
      shape.dims.push_back(PyLong_AsLongLong(PySequence_Fast_GET_ITEM(fast.object, i)));
    if (PyErr_Occurred())
      return nullptr;
    return pythonOf(wrap(tracing::leaf(runtime::BufferPtr(), std::move(shape))));
  });
}

std::vector<tracing::ArgumentName> argumentNames(const std::string &op) {
  size_t dot = op.find('.');
  auto handle = c10::Dispatcher::singleton().findSchema({op.substr(0, dot), dot == op.npos ? "" : op.substr(dot + 1)});
  std::vector<tracing::ArgumentName> names;
  if (handle)
    for (const c10::Argument &argument : handle->schema().arguments()) {
      c10::TypePtr type = argument.real_type();
      if (auto optional = type->cast<c10::OptionalType>())
        type = optional->getElementType();
      std::string text = type->str();
      // A wrapped number may stand for a tensor.
      names.push_back({argument.name(), text == "Scalar" || text == "number" || text == "Tensor"});
    }
  return names;
}

const bool namesAreKnown = [] {
  tracing::setArgumentNames(argumentNames);
  return true;
}();

} // namespace

PyMethodDef irMethods[] = {
    {"_get_xla_tensors_text", tensorsText, METH_O, "The recorded graph of a list of tensors."},
    {"_get_xla_tensors_dot", tensorsDot, METH_O, "The recorded graph of a list of tensors, for Graphviz."},
    {"_operation", operationOf, METH_O, "The operation that computes a tensor; empty if it has data."},
    {"_push_scope", pushScope, METH_O, "What this thread records from now on is in the region of that name."},
    {"_pop_scope", popScope, METH_NOARGS, "Ends the innermost region."},
    {"_scope", scopeNow, METH_NOARGS, "The innermost region, \"outer.1/inner.1\"; empty outside."},
    {"_reset_scopes", resetScopes, METH_NOARGS, "Counts regions from 1 again; an error inside of one."},
    {"_set_xla_custom_op_name_prefix", setPrefix, METH_VARARGS, "Names the region of the operation that computes a tensor."},
    {"_count_libraries", countLibrariesPy, METH_O, "Whether an operation's place may be in a library."},
    {"_follow_frames", followFramesPy, METH_O, "Whether this thread's operations have the frames' lines in backward passes, too; returns the last state."},
    {"_set_numbers", setNumbers, METH_VARARGS, "Which numbers are constants of programs: all, or 0 and 1, or none."},
    {"_get_numbers", getNumbers, METH_NOARGS, "(all numbers are constants, 0 and 1 are)"},
    {"_create_placeholder_tensor", createPlaceholder, METH_VARARGS, "A tensor without a value: for tracing only."},
    {nullptr, nullptr, 0, nullptr}};

} // namespace millrace::torch_shim
