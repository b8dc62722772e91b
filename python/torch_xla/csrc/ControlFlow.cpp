// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlFlow.cpp - Bodies of loops and branches, from Python ---------===//
// Python calls _body_begin, runs the body on the stand-ins, and calls _body_end with its results: what was recorded in
// between is a function for _while, _scan and _branch. A body may read any tensor from outside. What it writes to one becomes
// another carried value of a loop, or another result of a branch, and the tensor gets it afterwards.
#include "python/torch_xla/csrc/Devices.h"
#include "python/torch_xla/csrc/Functions.h"
#include "python/torch_xla/csrc/Trace.h"

namespace millrace::torch_shim {
namespace {

constexpr const char *kScope = "torch_xla.BodyScope", *kFunction = "torch_xla.Function";

/// What was there before a body was recorded.
struct Outside {
  std::unordered_set<const tracing::Node *> nodes;
  std::unordered_map<uint64_t, Value> values; ///< by the serial numbers of storages; keeps the nodes alive
};

/// A tensor from outside that a body writes to.
struct Write {
  c10::intrusive_ptr<c10::StorageImpl> storage;
  Value before, after;
  Storage &target() const { return *static_cast<Storage *>(storage.get()); }
};

struct BodyScope : TraceScope {
  std::shared_ptr<Outside> outside = std::make_shared<Outside>();
  std::vector<Value> constants; ///< stand-ins for what is the same in all iterations; every loop has its own
  uint64_t firstSerial = 0;
  /// What is left of the body cannot be computed: its arguments have no values.
  ~BodyScope() { forget(); }
  void forget() {
    std::vector<Value> made = inputs;
    made.insert(made.end(), constants.begin(), constants.end());
    forgetTraced(made, firstSerial);
  }
};

struct BodyFunction {
  tracing::Function function;
  bool drawsNumbers = false;
  std::vector<Write> writes;
  std::shared_ptr<Outside> outside;
  std::vector<Value> constants;
};

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


/// New inputs of the body, or constants, with the sizes of `tensors`.
PyObject *standIns(std::vector<Value> &values, const std::vector<Tensor> &tensors) {
  PyObject *made = PyList_New(Py_ssize_t(tensors.size()));
  for (size_t i = 0; i < tensors.size(); ++i) {
    values.push_back(tracing::leaf(nullptr, {dtypeOf(tensors[i].scalar_type()), tensors[i].sizes().vec()}));
    DeviceScope device(tensors[i].device().index());
    PyList_SET_ITEM(made, Py_ssize_t(i), pythonOf(wrap(values.back())));
  }
  return made;
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
      scope->outside->nodes.insert(value.node.get());
      scope->outside->values.emplace(serial, std::move(value));
    }
    if (isLoop)
      scope->inputs.push_back(scope->loopKey = tracing::leaf(nullptr, {runtime::DType::I64, {}}));
    PyObject *made = standIns(scope->inputs, tensors);
    enterTrace(*scope);
    PyObject *capsule = PyCapsule_New(scope.release(), kScope, [](PyObject *self) {
      auto *held = static_cast<BodyScope *>(PyCapsule_GetPointer(self, kScope));
      leaveTrace(*held);
      delete held;
    });
    return Py_BuildValue("(NN)", capsule, made);
  });
}

/// (scope, tensors) -> stand-ins that go to `values` of the body under way
PyObject *furtherStandIns(PyObject *args, std::vector<Value> BodyScope::*values) {
  return guarded([&]() -> PyObject * {
    PyObject *capsule, *list;
    if (!PyArg_ParseTuple(args, "OO", &capsule, &list))
      return nullptr;
    return standIns(scopeOf(capsule)->*values, tensorsOf(list));
  });
}

/// _body_more(scope, tensors) -> stand-ins that are further inputs of the body under way
PyObject *bodyMore(PyObject *, PyObject *args) { return furtherStandIns(args, &BodyScope::inputs); }

/// _body_constants(scope, tensors) -> stand-ins for what _scan() is given at each call, the same in all iterations
PyObject *bodyConstants(PyObject *, PyObject *args) { return furtherStandIns(args, &BodyScope::constants); }

/// What the body reads from outside: `given` in the places of its constants.
std::vector<Value> withConstants(const BodyFunction &body, std::vector<Value> captured, const std::vector<Value> &given) {
  TORCH_CHECK(given.size() == body.constants.size(), "expects ", body.constants.size(), " constants, but got ", given.size());
  for (size_t i = 0; i < given.size(); ++i) {
    const Value &constant = body.constants[i];
    TORCH_CHECK(given[i].shape() == constant.shape(), "expects constant ", i, " to be ", constant.shape().toString(),
                ", but got ", given[i].shape().toString());
    for (Value &value : captured)
      if (value.node == constant.node)
        value = given[i];
  }
  return captured;
}

/// The key that a loop starts with: a draw of its own only if its body draws, so that other numbers stay what they are.
Value firstKey(const BodyFunction &body) {
  return body.drawsNumbers ? nextRandomKey() : tracing::number(int64_t(0), /*isWeak=*/false);
}

/// What the tensors from outside that have another value now had before.
std::vector<Write> changesOutside(const BodyScope &scope) {
  const std::unordered_map<uint64_t, Value> &before = scope.outside->values;
  std::vector<Write> changes;
  for (const c10::intrusive_ptr<c10::StorageImpl> &held : liveStorages()) {
    Storage &storage = *static_cast<Storage *>(held.get());
    auto found = before.find(storage.serial);
    if (found == before.end() || (found->second.node == storage.base.node && found->second.index == storage.base.index) ||
        !storage.base.node->op)
      continue;
    changes.push_back({held, found->second, storage.base});
  }
  return changes;
}

/// The changes but those that other threads made meanwhile, for themselves. A body's gradients are computed by threads of PyTorch's: what they
/// write depends on its inputs.
std::vector<Write> writesOfBody(const BodyScope &scope, std::vector<Write> changes) {
  auto isOurs = [&](const Write &change) { return change.target().writtenIn == scope.id; };
  if (std::all_of(changes.begin(), changes.end(), isOurs))
    return changes;
  std::vector<Value> roots;
  for (const Write &change : changes)
    roots.push_back(change.after);
  std::unordered_set<const tracing::Node *> traced;
  for (const std::vector<Value> *standIns : {&scope.inputs, &scope.constants})
    for (const Value &value : *standIns)
      traced.insert(value.node.get());
  traced = dependents(tracing::schedule(roots), std::move(traced));
  std::erase_if(changes, [&](const Write &change) { return !isOurs(change) && !traced.count(change.after.node.get()); });
  return changes;
}

/// The tensors from outside get back what they had: it is the loop that writes to them.
std::vector<Write> restoreOutside(const BodyScope &scope) {
  std::lock_guard lock(tracing::Session::get().mutex);
  std::vector<Write> writes = writesOfBody(scope, changesOutside(scope));
  for (const Write &write : writes) {
    write.target().base = write.before;
    write.target().views.clear();
  }
  return writes;
}

std::vector<Write> takeWrites(const BodyScope &scope) {
  std::vector<Write> writes = restoreOutside(scope);
  for (const Write &write : writes) {
    TORCH_CHECK(write.after.shape() == write.before.shape(), "the body of a loop or a branch gives a tensor from outside of it "
                "another size: ", write.after.shape().toString(), " instead of ", write.before.shape().toString());
    for (const auto &[serial, value] : scope.outside->values) // what the body reads of either could not be told apart
      TORCH_CHECK(serial == write.target().serial || value.node != write.before.node || value.index != write.before.index,
                  "the body of a loop or a branch writes to a tensor from outside of it (", value.shape().toString(),
                  ") that is a copy of another one: return the new value instead");
  }
  return writes;
}

void refuseWrites(const BodyScope &scope) {
  std::vector<Write> writes = takeWrites(scope);
  TORCH_CHECK(writes.empty(), "the body of a loop or a branch that has a gradient writes to a tensor from outside of it (",
              writes.empty() ? "" : writes[0].before.shape().toString(), "): return the new value instead");
}

/// Tensors that any of the functions writes to, each once.
std::vector<Write> writesOf(std::initializer_list<const BodyFunction *> functions) {
  std::vector<Write> all;
  for (const BodyFunction *function : functions)
    for (const Write &write : function->writes)
      if (std::none_of(all.begin(), all.end(), [&](const Write &known) { return known.storage == write.storage; }))
        all.push_back(write);
  return all;
}

/// The function with the values of these tensors after its other results, and, from `inputAt` on, as inputs.
tracing::Function withWrites(const BodyFunction &body, const std::vector<Write> &writes, std::optional<size_t> inputAt,
                             std::optional<size_t> resultAt) {
  if (writes.empty())
    return body.function;
  std::vector<Value> inputs = body.function.inputs, results = body.function.results, befores, afters;
  for (const Write &write : writes) {
    auto ours = std::find_if(body.writes.begin(), body.writes.end(), [&](const Write &w) { return w.storage == write.storage; });
    befores.push_back(write.before);
    afters.push_back(ours == body.writes.end() ? write.before : ours->after);
  }
  if (inputAt)
    inputs.insert(inputs.begin() + long(*inputAt), befores.begin(), befores.end());
  if (resultAt)
    results.insert(results.begin() + long(*resultAt), afters.begin(), afters.end());
  return tracing::function(std::move(inputs), std::move(results), body.outside->nodes);
}

std::vector<Value> valuesBefore(std::vector<Value> carried, const std::vector<Write> &writes) {
  for (const Write &write : writes)
    carried.push_back(write.before);
  return carried;
}

/// Takes the values of the tensors that were written out of the results, where they begin at `at`.
std::vector<Value> assignWrites(std::vector<Value> results, const std::vector<Write> &writes, size_t at) {
  std::lock_guard lock(tracing::Session::get().mutex);
  for (size_t i = 0; i < writes.size(); ++i) {
    Storage &storage = writes[i].target();
    storage.views.clear();
    storage.base = results[at + i];
    storage.writtenIn = currentTrace();
  }
  results.erase(results.begin() + long(at), results.begin() + long(at + writes.size()));
  return results;
}

/// What a body that is recorded does to values of views, for a body that was recorded before.
PyObject *forgetViews(PyObject *, PyObject *) {
  return guarded([&]() -> PyObject * {
    std::lock_guard lock(tracing::Session::get().mutex);
    for (const c10::intrusive_ptr<c10::StorageImpl> &held : liveStorages())
      static_cast<Storage *>(held.get())->views.clear();
    Py_RETURN_NONE;
  });
}

PyObject *bodyAbort(PyObject *, PyObject *capsule) {
  return guarded([&]() -> PyObject * {
    BodyScope *scope = scopeOf(capsule);
    leaveTrace(*scope);
    restoreOutside(*scope);
    scope->forget();
    Py_RETURN_NONE;
  });
}

PyObject *capsuleOf(tracing::Function function, bool drawsNumbers, std::vector<Write> writes = {},
                    std::shared_ptr<Outside> outside = nullptr, std::vector<Value> constants = {}) {
  auto *made = new BodyFunction{std::move(function), drawsNumbers, std::move(writes), std::move(outside), std::move(constants)};
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
    std::vector<Value> results = shownValuesOf(list);
    leaveTrace(*scope);
    std::vector<Write> writes = takeWrites(*scope);
    return capsuleOf(tracing::function(scope->inputs, std::move(results), scope->outside->nodes), scope->drawn > 0,
                     std::move(writes), scope->outside);
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
    std::vector<Value> results = shownValuesOf(list);
    leaveTrace(*scope);
    refuseWrites(*scope);
    tracing::GradientParts parts =
        tracing::splitForGradient(scope->inputs, size_t(given) + 1, results, size_t(count), scope->outside->nodes);
    PyObject *forward = capsuleOf(std::move(parts.forward), scope->drawn > 0, {}, nullptr, scope->constants);
    PyObject *backward = capsuleOf(std::move(parts.backward), false, {}, nullptr, scope->constants);
    return Py_BuildValue("(NNn)", forward, backward, Py_ssize_t(parts.saved));
  });
}

/// _call(body, arguments) -> results
PyObject *callBody(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *body, *arguments;
    if (!PyArg_ParseTuple(args, "OO", &body, &arguments))
      return nullptr;
    const BodyFunction &called = functionOf(body);
    const size_t count = called.function.results.size();
    tracing::Function function = withWrites(called, called.writes, std::nullopt, count);
    return wrapAllLike(arguments, assignWrites(tracing::call(function, shownValuesOf(arguments), firstKey(called)), called.writes, count));
  });
}

/// _while(condition, body, carried) -> results
PyObject *whileLoop(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *condition, *body, *carried;
    if (!PyArg_ParseTuple(args, "OOO", &condition, &body, &carried))
      return nullptr;
    const BodyFunction &test = functionOf(condition), &step = functionOf(body);
    TORCH_CHECK(test.writes.empty(), "the condition of a loop writes to a tensor");
    std::vector<Value> values = shownValuesOf(carried);
    const size_t count = values.size();
    return wrapAllLike(carried, assignWrites(
        valueOrRaise(tracing::whileLoop(withWrites(test, step.writes, count, std::nullopt),
                                        withWrites(step, step.writes, count + 1, count),
                                        valuesBefore(std::move(values), step.writes), firstKey(step))),
        step.writes, count));
  });
}

/// _scan(body, carried, sequences, length, isReverse, constants=None) -> last carried values, stacked results
PyObject *scan(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *body, *carried, *sequences, *constants = nullptr;
    long long length;
    int isReverse;
    if (!PyArg_ParseTuple(args, "OOOLp|O", &body, &carried, &sequences, &length, &isReverse, &constants))
      return nullptr;
    const BodyFunction &step = functionOf(body);
    std::vector<Value> values = shownValuesOf(carried);
    const size_t count = values.size();
    const tracing::Function function = withWrites(step, step.writes, count + 1, count);
    std::vector<Value> captured =
        withConstants(step, function.captured, constants ? shownValuesOf(constants) : std::vector<Value>());
    std::vector<Value> made = assignWrites(
        valueOrRaise(tracing::scan(function, valuesBefore(std::move(values), step.writes), shownValuesOf(sequences), length, isReverse,
                                   firstKey(step), captured)),
        step.writes, count);
    return wrapAllLike(count ? carried : sequences, std::move(made));
  });
}

/// _branch(condition, yes, no) -> results
PyObject *branch(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *condition, *yes, *no;
    if (!PyArg_ParseTuple(args, "OOO", &condition, &yes, &no))
      return nullptr;
    TORCH_CHECK(isTensor(condition) && isXla(tensorIn(condition)), "expects a condition on the device");
    const BodyFunction &then = functionOf(yes), &otherwise = functionOf(no);
    const std::vector<Write> writes = writesOf({&then, &otherwise});
    const size_t count = then.function.results.size();
    DeviceScope device(tensorIn(condition).device().index());
    return wrapAll(assignWrites(
        valueOrRaise(tracing::branch(withWrites(then, writes, std::nullopt, count),
                                     withWrites(otherwise, writes, std::nullopt, otherwise.function.results.size()),
                                     valueOf(tensorIn(condition)))),
        writes, count));
  });
}

} // namespace

PyMethodDef controlFlowMethods[] = {
    {"_body_begin", bodyBegin, METH_VARARGS, "Starts to record the body of a loop or a branch: (scope, stand-ins)."},
    {"_body_more", bodyMore, METH_VARARGS, "Further inputs of the body under way: stand-ins."},
    {"_body_constants", bodyConstants, METH_VARARGS, "What every call of _scan gives the body under way: stand-ins."},
    {"_forget_views", forgetViews, METH_NOARGS, "Views of tensors are read anew, as when a body has been recorded."},
    {"_body_end", bodyEnd, METH_VARARGS, "Ends it with its results: a function."},
    {"_body_end_split", bodyEndSplit, METH_VARARGS, "Ends a body with its gradients: two functions."},
    {"_call", callBody, METH_VARARGS, "Records all operations of a function at once."},
    {"_body_abort", bodyAbort, METH_O, "Ends it without a function."},
    {"_while", whileLoop, METH_VARARGS, "Records a loop with a condition."},
    {"_scan", scan, METH_VARARGS, "Records a loop over sequences."},
    {"_branch", branch, METH_VARARGS, "Records a condition with two branches."},
    {nullptr, nullptr, 0, nullptr}};

} // namespace millrace::torch_shim
