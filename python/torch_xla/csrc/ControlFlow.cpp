// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlFlow.cpp - Bodies of loops and branches, from Python ---------===//
// Python calls _body_begin, runs the body on the stand-ins, and calls _body_end with its results: what was recorded in
// between is a function for _while, _scan and _branch. A body may read any tensor from outside, and write none.
#include "python/torch_xla/csrc/Functions.h"
#include "python/torch_xla/csrc/Trace.h"

#include <torch/csrc/autograd/python_variable.h>

namespace millrace::torch_shim {
namespace {

constexpr const char *kScope = "torch_xla.BodyScope", *kFunction = "torch_xla.Function";

struct BodyScope : TraceScope {
  std::unordered_set<const tracing::Node *> outside;
  std::vector<Value> held; ///< keeps the nodes of `outside` alive: their addresses are compared
  std::unordered_map<uint64_t, Value> before; ///< storages by serial
  uint64_t firstSerial = 0;
  /// What is left of the body cannot be computed: its arguments have no values.
  ~BodyScope() { forgetTraced(inputs, firstSerial); }
};

struct BodyFunction {
  tracing::Function function;
  bool drawsNumbers = false;
};

void leave(TraceScope *scope) {
  if (scope->isActive)
    std::erase(traceScopes(), scope);
  scope->isActive = false;
}

BodyScope *scopeOf(PyObject *capsule) {
  auto *scope = static_cast<BodyScope *>(PyCapsule_GetPointer(capsule, kScope));
  TORCH_CHECK(scope, "expects what _body_begin returned");
  return scope;
}
const BodyFunction &functionOf(PyObject *capsule) {
  auto *function = static_cast<BodyFunction *>(PyCapsule_GetPointer(capsule, kFunction));
  TORCH_CHECK(function, "expects what _body_end returned");
  return *function;
}


/// _body_begin(isLoop, tensors) -> (scope, stand-ins with the sizes of `tensors`)
PyObject *bodyBegin(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    int isLoop;
    PyObject *list;
    if (!PyArg_ParseTuple(args, "pO", &isLoop, &list))
      return nullptr;
    std::vector<Tensor> tensors = tensorsOf(list);
    auto scope = std::make_unique<BodyScope>();
    scope->firstSerial = nextSerial();
    scope->kind = isLoop ? TraceScope::Loop : TraceScope::Branch;
    for (auto &[serial, value] : liveValues()) {
      scope->outside.insert(value.node.get());
      scope->held.push_back(value);
      scope->before.emplace(serial, std::move(value));
    }
    auto blank = [](Shape shape) { return tracing::leaf(nullptr, std::move(shape)); };
    if (isLoop)
      scope->inputs.push_back(scope->loopKey = blank({runtime::DType::I64, {}}));
    PyObject *made = PyList_New(Py_ssize_t(tensors.size()));
    for (size_t i = 0; i < tensors.size(); ++i) {
      scope->inputs.push_back(blank({dtypeOf(tensors[i].scalar_type()), tensors[i].sizes().vec()}));
      PyList_SET_ITEM(made, Py_ssize_t(i), THPVariable_Wrap(wrap(scope->inputs.back())));
    }
    traceScopes().push_back(scope.get());
    scope->isActive = true;
    PyObject *capsule = PyCapsule_New(scope.release(), kScope, [](PyObject *self) {
      auto *held = static_cast<BodyScope *>(PyCapsule_GetPointer(self, kScope));
      leave(held);
      delete held;
    });
    return Py_BuildValue("(NN)", capsule, made);
  });
}

PyObject *bodyAbort(PyObject *, PyObject *capsule) {
  return guarded([&]() -> PyObject * {
    BodyScope *scope = scopeOf(capsule);
    leave(scope);
    forgetTraced(scope->inputs, scope->firstSerial);
    Py_RETURN_NONE;
  });
}

/// The key that a loop starts with: a draw of its own only if its body draws, so that other numbers stay what they are.
Value firstKey(const BodyFunction &body) {
  return body.drawsNumbers ? nextRandomKey() : tracing::number(int64_t(0), /*isWeak=*/false);
}

void checkWrites(const BodyScope &scope) {
  for (auto &[serial, value] : liveValues()) {
    auto found = scope.before.find(serial);
    TORCH_CHECK(found == scope.before.end() || found->second.node == value.node || !value.node->op,
                "the body of a loop or a branch writes to a tensor from outside of it (", value.shape().toString(),
                "): return the new value instead");
  }
}

PyObject *capsuleOf(tracing::Function function, bool drawsNumbers) {
  auto *made = new BodyFunction{std::move(function), drawsNumbers};
  return PyCapsule_New(made, kFunction, [](PyObject *self) {
    delete static_cast<BodyFunction *>(PyCapsule_GetPointer(self, kFunction));
  });
}

/// _body_end(scope, results) -> function
PyObject *bodyEnd(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *capsule, *list;
    if (!PyArg_ParseTuple(args, "OO", &capsule, &list))
      return nullptr;
    BodyScope *scope = scopeOf(capsule);
    std::vector<Value> results = valuesOf(list);
    leave(scope);
    checkWrites(*scope);
    return capsuleOf(tracing::function(scope->inputs, std::move(results), scope->outside), scope->drawn > 0);
  });
}

/// _body_end_split(scope, given, results, count) -> (forward, backward, number of saved values): the first `given` stand-ins
/// and the first `count` results belong to the forward part, the others are gradients.
PyObject *bodyEndSplit(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *capsule, *list;
    Py_ssize_t given, count;
    if (!PyArg_ParseTuple(args, "OnOn", &capsule, &given, &list, &count))
      return nullptr;
    BodyScope *scope = scopeOf(capsule);
    std::vector<Value> results = valuesOf(list);
    leave(scope);
    checkWrites(*scope);
    tracing::GradientParts parts =
        tracing::splitForGradient(scope->inputs, size_t(given) + 1, results, size_t(count), scope->outside);
    PyObject *forward = capsuleOf(std::move(parts.forward), scope->drawn > 0);
    return Py_BuildValue("(NNn)", forward, capsuleOf(std::move(parts.backward), false), Py_ssize_t(parts.saved));
  });
}

/// _call(body, arguments) -> results
PyObject *callBody(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *body, *arguments;
    if (!PyArg_ParseTuple(args, "OO", &body, &arguments))
      return nullptr;
    return wrapAll(tracing::call(functionOf(body).function, valuesOf(arguments), firstKey(functionOf(body))));
  });
}

/// _while(condition, body, carried) -> results
PyObject *whileLoop(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *condition, *body, *carried;
    if (!PyArg_ParseTuple(args, "OOO", &condition, &body, &carried))
      return nullptr;
    return wrapAll(valueOrRaise(tracing::whileLoop(functionOf(condition).function, functionOf(body).function,
                                                   valuesOf(carried), firstKey(functionOf(body)))));
  });
}

/// _scan(body, carried, sequences, length, isReverse) -> last carried values, stacked results
PyObject *scan(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *body, *carried, *sequences;
    long long length;
    int isReverse;
    if (!PyArg_ParseTuple(args, "OOOLp", &body, &carried, &sequences, &length, &isReverse))
      return nullptr;
    return wrapAll(valueOrRaise(tracing::scan(functionOf(body).function, valuesOf(carried), valuesOf(sequences), length,
                                              isReverse, firstKey(functionOf(body)))));
  });
}

/// _branch(condition, yes, no) -> results
PyObject *branch(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *condition, *yes, *no;
    if (!PyArg_ParseTuple(args, "OOO", &condition, &yes, &no))
      return nullptr;
    TORCH_CHECK(THPVariable_Check(condition) && isXla(THPVariable_Unpack(condition)), "expects a condition on the device");
    return wrapAll(valueOrRaise(tracing::branch(functionOf(yes).function, functionOf(no).function,
                                                valueOf(THPVariable_Unpack(condition)))));
  });
}

} // namespace

PyMethodDef controlFlowMethods[] = {
    {"_body_begin", bodyBegin, METH_VARARGS, "Starts to record the body of a loop or a branch: (scope, stand-ins)."},
    {"_body_end", bodyEnd, METH_VARARGS, "Ends it with its results: a function."},
    {"_body_end_split", bodyEndSplit, METH_VARARGS, "Ends a body with its gradients: two functions."},
    {"_call", callBody, METH_VARARGS, "Records all operations of a function at once."},
    {"_body_abort", bodyAbort, METH_O, "Ends it without a function."},
    {"_while", whileLoop, METH_VARARGS, "Records a loop with a condition."},
    {"_scan", scan, METH_VARARGS, "Records a loop over sequences."},
    {"_branch", branch, METH_VARARGS, "Records a condition with two branches."},
    {nullptr, nullptr, 0, nullptr}};

} // namespace millrace::torch_shim
