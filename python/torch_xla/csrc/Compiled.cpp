// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compiled.cpp - Calls of compiled graphs -----------------------------===//
// The object that torch.compile calls. It compares its arguments with those it was traced for (types, sizes, strides),
// starts the program with the buffers of their storages, and wraps the results: nothing is recorded, hashed or looked up.
// Arguments it has not seen are given to the Python function `trace`, which makes another specialization.
#include "python/torch_xla/csrc/Devices.h"
#include "python/torch_xla/csrc/Functions.h"
#include "python/torch_xla/csrc/Trace.h"
#include "tracing/graph/Export.h"
#include "tracing/programs/CompiledGraph.h"

#include <atomic>
#include <optional>

namespace millrace::torch_shim {
namespace {

Storage *storageOf(const Tensor &t) { return static_cast<Storage *>(t.storage().unsafeGetStorageImpl()); }

/// How a tensor lies in its storage, and how it shows what is there.
struct Geometry {
  c10::ScalarType type = c10::ScalarType::Undefined;
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;
  bool isConj = false, isNeg = false; ///< lazily
  static Geometry of(const Tensor &t) {
    return {t.scalar_type(), t.sizes().vec(), t.strides().vec(), t.storage_offset(), t.is_conj(), t.is_neg()};
  }
  bool matches(const at::TensorImpl &impl) const {
    return impl.dtype() == type && impl.sizes() == at::IntArrayRef(sizes) && impl.strides() == at::IntArrayRef(strides) &&
           impl.storage_offset() == offset && impl.is_conj() == isConj && impl.is_neg() == isNeg;
  }
};

/// A tensor of that geometry over the storage of `base`: `base` itself if it has the geometry, unless `isNew`.
Tensor shown(const Tensor &base, const Geometry &geometry, bool isNew) {
  if (!isNew && geometry.matches(*base.unsafeGetTensorImpl()))
    return base;
  Tensor made = viewOf(base, geometry.sizes, geometry.strides, geometry.offset);
  at::TensorImpl *impl = made.unsafeGetTensorImpl();
  if (impl->dtype() != geometry.type)
    impl->set_storage_and_dtype(made.storage(), c10::scalarTypeToTypeMeta(geometry.type));
  impl->_set_conj(geometry.isConj);
  impl->_set_neg(geometry.isNeg);
  return made;
}

struct ArgumentSpec {
  enum Kind : uint8_t { Xla, Cpu, Integer, Other } kind = Other;
  Geometry geometry;
  Shape base;           ///< of an Xla tensor's storage
  uint32_t storage = 0; ///< Xla, Cpu: position among the program's arguments
  bool isFirst = false; ///< the first argument with this storage
  int64_t number = 0;
  Ref object;
};

struct ResultSpec {
  enum Kind : uint8_t { Object, OfArgument, Computed } kind = Object;
  Geometry geometry;
  uint32_t index = 0; ///< OfArgument: the argument whose storage it shows; Computed: of Specialization::storages
  bool isSame = false; ///< OfArgument: the argument itself
  bool toCpu = false;
  Ref object;
};

/// Where the value of a storage comes from.
struct Origin {
  enum Kind : uint8_t { Root, Argument, Fixed } kind = Root;
  uint32_t index = 0;
  Value fixed;
};

struct Specialization {
  std::vector<ArgumentSpec> arguments;
  std::vector<uint32_t> firsts; ///< per storage, its first argument
  std::vector<uint8_t> isOverwritten; ///< per storage: the program may have its memory for a result
  std::vector<uint8_t> isPassedOn;    ///< per storage: its value before the call is the value of a storage afterwards
  /// Per storage, the kind of the value that the last call saw in it. Kinds are interned: the same kind has the same shapes.
  mutable std::vector<std::atomic<const tracing::Kind *>> kinds;
  std::shared_ptr<tracing::CompiledGraph> graph;
  std::vector<std::pair<uint32_t, Origin>> updates; ///< storages that are overwritten
  std::vector<Origin> storages;                     ///< new storages
  std::vector<ResultSpec> results;

  /// Once all above is known, but for what is derived from it. `overwritten`: as in CompiledGraph::compile().
  void prepare(const std::vector<int64_t> &overwritten) {
    isOverwritten.assign(firsts.size(), 0);
    isPassedOn.assign(firsts.size(), 0);
    kinds = std::vector<std::atomic<const tracing::Kind *>>(firsts.size());
    for (size_t s = 0; s < firsts.size(); ++s)
      isOverwritten[s] = overwritten[s] >= 0;
    auto note = [&](const Origin &origin) {
      if (origin.kind == Origin::Argument)
        isPassedOn[origin.index] = 1;
    };
    for (const auto &[index, origin] : updates)
      note(origin);
    for (const Origin &origin : storages)
      note(origin);
  }
};

constexpr const char *kScope = "torch_xla.TraceScope", *kSpecialization = "torch_xla.Specialization";

struct GraphScope : TraceScope {
  std::vector<Tensor> arguments; ///< per argument its stand-in; undefined for what is no tensor
  std::vector<ArgumentSpec> specs;
  uint64_t firstSerial = nextSerial();
  /// What the function left behind of arguments without a value (those of an export) cannot be computed by a later step.
  ~GraphScope() {
    std::vector<Value> unknown;
    for (const Value &input : inputs)
      if (!tracing::Session::hasMemory(input))
        unknown.push_back(input);
    if (!unknown.empty())
      forgetTraced(unknown, firstSerial);
  }
};

GraphScope *scopeOf(PyObject *capsule) {
  auto *scope = static_cast<GraphScope *>(PyCapsule_GetPointer(capsule, kScope));
  TORCH_CHECK(scope, "expects what _graph_begin returned");
  return scope;
}

Value standIn(const Value &real) {
  bool hasBuffer = real.node->isLeaf() && !real.node->isNumber();
  return tracing::leaf(hasBuffer ? real.node->buffers[real.index] : nullptr, real.shape());
}

/// _graph_begin(args) -> (scope, stand-ins): until _graph_end, this thread records a function of the stand-ins.
PyObject *graphBegin(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    TORCH_CHECK(PyTuple_Check(args), "expects a tuple");
    auto scope = std::make_unique<GraphScope>();
    std::unordered_map<const void *, uint32_t> storages;
    Py_ssize_t count = PyTuple_GET_SIZE(args);
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject *object = PyTuple_GET_ITEM(args, i);
      ArgumentSpec &spec = scope->specs.emplace_back();
      Tensor &made = scope->arguments.emplace_back();
      if (isTensor(object)) {
        Tensor tensor = tensorIn(object);
        spec.geometry = Geometry::of(tensor);
        const void *id = isXla(tensor) ? static_cast<const void *>(storageOf(tensor)) : tensor.unsafeGetTensorImpl();
        auto [found, isNew] = storages.emplace(id, uint32_t(scope->standIns.size()));
        spec.storage = found->second;
        spec.isFirst = isNew;
        if (isXla(tensor)) {
          spec.kind = ArgumentSpec::Xla;
          Value base;
          {
            std::lock_guard lock(tracing::Session::get().mutex);
            base = storageOf(tensor)->base;
          }
          spec.base = base.shape();
          DeviceScope device(tensor.device().index());
          if (isNew)
            scope->standIns.push_back(wrap(standIn(base)));
          made = shown(scope->standIns[spec.storage], spec.geometry, /*isNew=*/true);
        } else { // moved into the graph
          spec.kind = ArgumentSpec::Cpu;
          if (isNew)
            scope->standIns.push_back(wrap(standIn(upload(tensor))));
          made = viewOf(scope->standIns[spec.storage], tensor.sizes(), scope->standIns[spec.storage].strides(), 0);
        }
      } else if (PyLong_Check(object)) {
        spec.kind = ArgumentSpec::Integer;
        spec.number = PyLong_AsLongLong(object);
        if (PyErr_Occurred())
          return nullptr;
      } else {
        spec.object = Ref(object);
      }
    }
    for (const Tensor &tensor : scope->standIns)
      scope->inputs.push_back(storageOf(tensor)->base);
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; i < count; ++i)
      PyList_SET_ITEM(list, i, scope->arguments[size_t(i)].defined()
                                   ? pythonOf(scope->arguments[size_t(i)])
                                   : Py_NewRef(PyTuple_GET_ITEM(args, i)));
    enterTrace(*scope);
    PyObject *capsule = PyCapsule_New(scope.release(), kScope, [](PyObject *self) {
      auto *held = static_cast<GraphScope *>(PyCapsule_GetPointer(self, kScope));
      leaveTrace(*held);
      delete held;
    });
    return Py_BuildValue("(NN)", capsule, list);
  });
}

/// _graph_end(scope) -> what could not be traced, or "".
PyObject *graphEnd(PyObject *, PyObject *capsule) {
  return guarded([&]() -> PyObject * {
    GraphScope *scope = scopeOf(capsule);
    leaveTrace(*scope);
    return PyUnicode_FromString(scope->refused.c_str());
  });
}

Origin originOf(const Value &value, const TraceScope &scope, std::vector<Value> &roots) {
  for (size_t i = 0; i < scope.inputs.size(); ++i)
    if (scope.inputs[i].node == value.node)
      return {Origin::Argument, uint32_t(i), {}};
  if (value.node->isLeaf()) {
    if (!value.node->isNumber())
      return {Origin::Fixed, 0, value};
    tracing::Session &session = tracing::Session::get();
    return {Origin::Fixed, 0, valueOrRaise(session.upload(&value.node->bits, value.shape()))};
  }
  for (size_t i = 0; i < roots.size(); ++i)
    if (roots[i].node == value.node && roots[i].index == value.index)
      return {Origin::Root, uint32_t(i), {}};
  roots.push_back(value);
  return {Origin::Root, uint32_t(roots.size() - 1), {}};
}

/// _graph_compile(scope, results, cpu, constants) -> specialization. `cpu[i]`: result i is wanted on the CPU; `constants[i]`: calls are expected to
/// pass the same argument i again and again.
PyObject *graphCompile(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *capsule, *results, *onCpu, *constants;
    if (!PyArg_ParseTuple(args, "OO!O!O!", &capsule, &PyList_Type, &results, &PyList_Type, &onCpu, &PyList_Type, &constants))
      return nullptr;
    GraphScope *scope = scopeOf(capsule);
    leaveTrace(*scope);
    auto made = std::make_unique<Specialization>();
    std::vector<Value> roots;
    std::unordered_map<const void *, uint32_t> storages, standIns;
    for (size_t i = 0; i < scope->standIns.size(); ++i)
      standIns.emplace(storageOf(scope->standIns[i]), uint32_t(i));
    made->firsts.resize(scope->standIns.size());
    for (size_t i = 0; i < scope->specs.size(); ++i)
      if (scope->specs[i].isFirst)
        made->firsts[scope->specs[i].storage] = uint32_t(i);
    std::vector<int64_t> overwritten(scope->standIns.size(), -1);
    for (size_t i = 0; i < scope->standIns.size(); ++i) {
      Value now = storageOf(scope->standIns[i])->base;
      if (now.node == scope->inputs[i].node)
        continue;
      TORCH_CHECK(now.shape() == scope->inputs[i].shape(), "a compiled graph cannot give its argument another size");
      TORCH_CHECK(scope->specs[made->firsts[i]].kind == ArgumentSpec::Xla, "a compiled graph cannot write to an argument on "
                  "the CPU");
      Origin origin = originOf(now, *scope, roots);
      if (origin.kind == Origin::Root)
        overwritten[i] = origin.index;
      made->updates.emplace_back(uint32_t(i), std::move(origin));
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(results); ++i) {
      PyObject *object = PyList_GET_ITEM(results, i);
      ResultSpec &spec = made->results.emplace_back();
      if (!isTensor(object) || !isXla(tensorIn(object))) {
        spec.object = Ref(object);
        continue;
      }
      Tensor tensor = tensorIn(object);
      spec.geometry = Geometry::of(tensor);
      spec.toCpu = PyList_GET_ITEM(onCpu, i) == Py_True;
      if (auto found = standIns.find(storageOf(tensor)); found != standIns.end()) {
        spec.kind = ResultSpec::OfArgument;
        spec.index = made->firsts[found->second];
        for (size_t k = 0; k < scope->arguments.size(); ++k)
          if (scope->arguments[k].defined() && scope->arguments[k].is_same(tensor)) {
            spec.index = uint32_t(k);
            spec.isSame = true;
          }
        if (scope->specs[spec.index].kind == ArgumentSpec::Xla)
          continue;
        spec.isSame = false; // moved to the device
      }
      spec.kind = ResultSpec::Computed;
      auto [found, isNew] = storages.emplace(storageOf(tensor), uint32_t(made->storages.size()));
      if (isNew)
        made->storages.push_back(originOf(storageOf(tensor)->base, *scope, roots));
      spec.index = found->second;
    }
    for (auto &[storage, origin] : made->updates) // two results of one value: none may have the argument's memory
      for (const Origin &other : made->storages)
        if (origin.kind == Origin::Root && other.kind == Origin::Root && other.index == origin.index)
          overwritten[storage] = -1;
    tracing::CompiledGraph::Inputs inputs{scope->inputs, scope->randomKeys, std::vector<bool>(scope->standIns.size(), true)};
    for (size_t i = 0; i < scope->specs.size(); ++i)
      if (scope->arguments[i].defined() && // a storage is what all of its tensors are
          (scope->specs[i].kind != ArgumentSpec::Xla || Py_ssize_t(i) >= PyList_GET_SIZE(constants) || PyList_GET_ITEM(constants, Py_ssize_t(i)) != Py_True))
        inputs.constant[scope->specs[i].storage] = false;
    for (const auto &[storage, origin] : made->updates)
      inputs.constant[storage] = false;
    {
      WithoutGil released;
      noteStack();
      made->graph = valueOrRaise(tracing::CompiledGraph::compile(inputs, roots, overwritten));
    }
    made->arguments = std::move(scope->specs);
    made->prepare(overwritten);
    return PyCapsule_New(made.release(), kSpecialization, [](PyObject *self) {
      delete static_cast<Specialization *>(PyCapsule_GetPointer(self, kSpecialization));
    });
  });
}

/// _graph_export(scope, results) -> (StableHLO text, tensors that are its last parameters, which argument each parameter before is).
/// Arguments that share a storage are one. Results are tensors of the device.
PyObject *graphExport(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *capsule, *results;
    if (!PyArg_ParseTuple(args, "OO!", &capsule, &PyList_Type, &results))
      return nullptr;
    GraphScope *scope = scopeOf(capsule);
    std::vector<Value> values;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(results); ++i) {
      PyObject *object = PyList_GET_ITEM(results, i);
      TORCH_CHECK(isTensor(object) && isXla(tensorIn(object)), "expects results on the device");
      values.push_back(shownValue(tensorIn(object)));
    }
    leaveTrace(*scope);
    for (const Value &key : scope->randomKeys) // the numbers of an exported program are the same in every run
      key.node->bits = nextRandomKey().node->bits;
    tracing::ExportedFunction made = valueOrRaise(tracing::exportFunction(scope->inputs, values));
    PyObject *constants = PyList_New(Py_ssize_t(made.constants.size()));
    for (size_t i = 0; i < made.constants.size(); ++i)
      PyList_SET_ITEM(constants, Py_ssize_t(i), pythonOf(wrap(made.constants[i])));
    PyObject *order = PyList_New(Py_ssize_t(made.order.size()));
    for (size_t i = 0; i < made.order.size(); ++i)
      PyList_SET_ITEM(order, Py_ssize_t(i), PyLong_FromUnsignedLong(made.order[i]));
    return Py_BuildValue("(s#NN)", made.text.data(), Py_ssize_t(made.text.size()), constants, order);
  });
}

PyObject *count(PyObject *, PyObject *name) {
  const char *text = PyUnicode_AsUTF8(name);
  if (!text)
    return nullptr;
  tracing::Metrics::get().count(text);
  Py_RETURN_NONE;
}

/// _graph_text(specialization) -> StableHLO
PyObject *graphText(PyObject *, PyObject *capsule) {
  return guarded([&]() -> PyObject * {
    auto *held = static_cast<Specialization *>(PyCapsule_GetPointer(capsule, kSpecialization));
    TORCH_CHECK(held, "expects what _graph_compile returned");
    const std::string &text = held->graph->text();
    return PyUnicode_FromStringAndSize(text.data(), Py_ssize_t(text.size()));
  });
}

//===-- The type CompiledGraph ----------------------------------------------===//

struct Callable {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  PyObject *trace;                       ///< args -> specialization
  std::vector<PyObject *> *known;        ///< capsules, the last used first
};

Specialization *held(PyObject *capsule) {
  return static_cast<Specialization *>(PyCapsule_GetPointer(capsule, kSpecialization));
}

/// All but the types of the storages' values, which start() compares: they change under the session's mutex.
bool matches(const Specialization &spec, PyObject *const *args, size_t count) {
  if (count != spec.arguments.size())
    return false;
  for (size_t i = 0; i < count; ++i) {
    const ArgumentSpec &wanted = spec.arguments[i];
    PyObject *object = args[i];
    if (isTensor(object)) {
      const Tensor &tensor = tensorIn(object);
      const at::TensorImpl &impl = *tensor.unsafeGetTensorImpl();
      if (wanted.kind == ArgumentSpec::Cpu) {
        if (isXla(tensor) || impl.dtype() != wanted.geometry.type || impl.sizes() != at::IntArrayRef(wanted.geometry.sizes))
          return false;
        continue;
      }
      if (wanted.kind != ArgumentSpec::Xla || !isXla(tensor) || !wanted.geometry.matches(impl))
        return false;
      if (!wanted.isFirst && storageOf(tensor) != storageOf(tensorIn(args[spec.firsts[wanted.storage]])))
        return false;
    } else if (wanted.kind == ArgumentSpec::Integer) {
      if (!PyLong_Check(object) || PyLong_AsLongLong(object) != wanted.number)
        return false;
    } else if (wanted.kind != ArgumentSpec::Other ||
               (object != wanted.object.object && PyObject_RichCompareBool(object, wanted.object.object, Py_EQ) != 1)) {
      return false;
    }
  }
  return true;
}

/// The buffer of a leaf that is whole and has its memory; else null.
const runtime::BufferPtr *wholeBuffer(const Value &value) {
  const tracing::Node &node = *value.node;
  return !node.op && !node.spread && value.index < node.buffers.size() && node.buffers[value.index] ? &node.buffers[value.index] : nullptr;
}

/// Whether the value has the type that the program was made for.
bool hasShape(const Specialization &spec, size_t storage, const Value &base) {
  std::atomic<const tracing::Kind *> &seen = spec.kinds[storage];
  if (base.node->kind == seen.load(std::memory_order_relaxed) && base.index == 0)
    return true;
  if (base.shape() != spec.arguments[spec.firsts[storage]].base)
    return false;
  if (base.index == 0)
    seen.store(base.node->kind, std::memory_order_relaxed);
  return true;
}

/// Starts the program; the values of storages are brought up to date. Nothing if a storage holds a value of another type. The steps go through all
/// arguments one after the other: each reads memory whose addresses the step before has found, so that the misses of hundreds of them overlap.
std::optional<std::vector<Value>> start(const Specialization &spec, PyObject *const *args) {
  tracing::Session &session = tracing::Session::get();
  tracing::Metrics &metrics = tracing::Metrics::get();
  size_t count = spec.firsts.size();
  std::vector<Storage *> storages(count); // null for tensors of the CPU
  for (size_t s = 0; s < count; ++s)
    if (spec.arguments[spec.firsts[s]].kind == ArgumentSpec::Xla)
      storages[s] = storageOf(tensorIn(args[spec.firsts[s]]));
  noteStack();
  std::lock_guard lock(session.mutex);
  std::vector<Value> pending;
  for (size_t s = 0; s < count; ++s) {
    if (!storages[s])
      continue;
    const Value &base = storages[s]->base;
    if (!hasShape(spec, s, base))
      return std::nullopt;
    if (base.node->op)
      pending.push_back(base);
  }
  if (!pending.empty()) {
    metrics.count("DynamoSyncInputExecuteTime");
    runtime::Status status = session.sync(std::move(pending));
    if (!status.ok())
      raise(status);
  }
  std::vector<Value> values(count); // of storages whose values are passed on
  std::vector<bool> kept(count, true);
  std::vector<runtime::BufferPtr> buffers(count);
  for (size_t s = 0; s < count; ++s) {
    const Value uploaded = storages[s] ? Value() : upload(tensorIn(args[spec.firsts[s]]));
    const Value &value = storages[s] ? storages[s]->base : uploaded;
    if (storages[s] && spec.isOverwritten[s])
      kept[s] = value.node.use_count() > 1 || value.node->isShared;
    if (spec.isPassedOn[s])
      values[s] = value;
    const runtime::BufferPtr *whole = wholeBuffer(value);
    buffers[s] = whole ? *whole : valueOrRaise(session.buffer(value));
  }
  std::vector<uint64_t> keys(spec.graph->numKeys());
  for (uint64_t &key : keys)
    key = nextRandomKey().node->bits;
  metrics.sample("RunCachedGraphInputData", double(count));
  std::vector<runtime::BufferPtr> made = valueOrRaise(spec.graph->run(std::move(buffers), keys, kept));
  metrics.sample("RunCachedGraphOutputData", double(made.size()));
  std::vector<Value> roots;
  roots.reserve(made.size());
  for (size_t i = 0; i < made.size(); ++i)
    roots.push_back(tracing::leaf(std::move(made[i]), spec.graph->shapes()[i]));
  auto valueFrom = [&](const Origin &origin) {
    return origin.kind == Origin::Root ? roots[origin.index]
           : origin.kind == Origin::Argument ? values[origin.index] : origin.fixed;
  };
  std::vector<Value> results;
  results.reserve(spec.storages.size());
  for (const Origin &origin : spec.storages)
    results.push_back(valueFrom(origin));
  for (const auto &[index, origin] : spec.updates) {
    Storage &storage = *storages[index];
    storage.views.clear();
    storage.base = valueFrom(origin);
    storage.writtenIn = currentTrace();
  }
  return results;
}

/// None where a storage holds a value of another type than the program was made for.
std::optional<PyObject *> run(const Specialization &spec, PyObject *const *args) {
  std::optional<std::vector<Value>> values;
  {
    WithoutGil released;
    values = start(spec, args);
  }
  if (!values)
    return std::nullopt;
  FoundDevice device;
  for (size_t s = 0; s < spec.firsts.size() && !device.first; ++s)
    device.add(tensorIn(args[spec.firsts[s]]));
  DeviceScope scope(device.get());
  std::vector<Tensor> fresh(values->size());
  for (size_t i = 0; i < values->size(); ++i)
    fresh[i] = wrap(std::move((*values)[i]));
  PyObject *list = PyList_New(Py_ssize_t(spec.results.size()));
  for (size_t i = 0; i < spec.results.size(); ++i) {
    const ResultSpec &result = spec.results[i];
    PyObject *object;
    if (result.kind == ResultSpec::Object) {
      object = Py_NewRef(result.object.object);
    } else if (result.isSame) {
      object = Py_NewRef(args[result.index]);
    } else {
      Tensor tensor = result.kind == ResultSpec::Computed
                          ? shown(fresh[result.index], result.geometry, /*isNew=*/false)
                          : shown(tensorIn(args[result.index]), result.geometry, /*isNew=*/true);
      object = pythonOf(result.toCpu ? toCpu(tensor) : tensor);
    }
    PyList_SET_ITEM(list, Py_ssize_t(i), object);
  }
  return list;
}

PyObject *callWith(Callable *self, PyObject *const *args, size_t count) {
  return guarded([&]() -> PyObject * {
    std::vector<PyObject *> &known = *self->known;
    for (size_t i = 0; i < known.size(); ++i)
      if (matches(*held(known[i]), args, count)) {
        if (i)
          std::rotate(known.begin(), known.begin() + long(i), known.begin() + long(i) + 1);
        Ref alive(known[0]);
        if (std::optional<PyObject *> made = run(*held(alive.object), args))
          return *made;
      }
    PyObject *tuple = PyTuple_New(Py_ssize_t(count));
    for (size_t i = 0; i < count; ++i)
      PyTuple_SET_ITEM(tuple, Py_ssize_t(i), Py_NewRef(args[i]));
    PyObject *made = PyObject_CallObject(self->trace, tuple);
    Py_DECREF(tuple);
    if (!made || !PyCapsule_IsValid(made, kSpecialization))
      return made; // an error, or the results of a graph in parts
    Ref alive = Ref::steal(made);
    std::optional<PyObject *> results;
    if (matches(*held(made), args, count)) {
      known.insert(known.begin(), Py_NewRef(made));
      results = run(*held(made), args);
    }
    if (!results) {
      PyErr_SetString(PyExc_RuntimeError, "a compiled graph does not accept the arguments it was traced for");
      return nullptr;
    }
    return *results;
  });
}

PyObject *callVector(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) {
  if (names && PyTuple_GET_SIZE(names)) {
    PyErr_SetString(PyExc_TypeError, "a compiled graph has no keyword arguments");
    return nullptr;
  }
  return callWith(reinterpret_cast<Callable *>(self), args, size_t(PyVectorcall_NARGS(flags)));
}

/// boxed(list): takes the arguments out of the list, as AOTAutograd's convention allows.
PyObject *callBoxed(PyObject *self, PyObject *list) {
  if (!PyList_Check(list)) {
    PyErr_SetString(PyExc_TypeError, "expects a list");
    return nullptr;
  }
  std::vector<PyObject *> args;
  args.reserve(size_t(PyList_GET_SIZE(list)));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i)
    args.push_back(Py_NewRef(PyList_GET_ITEM(list, i)));
  PyList_SetSlice(list, 0, PyList_GET_SIZE(list), nullptr);
  PyObject *result = callWith(reinterpret_cast<Callable *>(self), args.data(), args.size());
  for (PyObject *arg : args)
    Py_DECREF(arg);
  return result;
}

PyObject *create(PyTypeObject *type, PyObject *args, PyObject *) {
  PyObject *trace;
  if (!PyArg_ParseTuple(args, "O", &trace))
    return nullptr;
  auto *self = reinterpret_cast<Callable *>(type->tp_alloc(type, 0));
  if (!self)
    return nullptr;
  self->vectorcall = callVector;
  self->trace = Py_NewRef(trace);
  self->known = new std::vector<PyObject *>;
  return reinterpret_cast<PyObject *>(self);
}

int traverse(PyObject *object, visitproc visit, void *arg) {
  auto *self = reinterpret_cast<Callable *>(object);
  Py_VISIT(self->trace);
  return 0;
}
int clear(PyObject *object) {
  auto *self = reinterpret_cast<Callable *>(object);
  Py_CLEAR(self->trace);
  return 0;
}
void destroy(PyObject *object) {
  auto *self = reinterpret_cast<Callable *>(object);
  PyObject_GC_UnTrack(object);
  clear(object);
  for (PyObject *capsule : *self->known)
    Py_DECREF(capsule);
  delete self->known;
  Py_TYPE(object)->tp_free(object);
}

PyMethodDef callableMethods[] = {{"boxed", callBoxed, METH_O, "Calls with a list of arguments, which is emptied."},
                                 {nullptr, nullptr, 0, nullptr}};

PyTypeObject callableType = [] { // its other fields are filled in below
  PyTypeObject made{};
  Py_SET_REFCNT(reinterpret_cast<PyObject *>(&made), 1);
  return made;
}();

} // namespace

static PyObject *setEagerMode(PyObject *, PyObject *enabled) {
  int isEnabled = PyObject_IsTrue(enabled);
  if (isEnabled < 0)
    return nullptr;
  setEager(isEnabled);
  Py_RETURN_NONE;
}
static PyObject *getEagerMode(PyObject *, PyObject *) { return PyBool_FromLong(isEager()); }
static PyObject *setAllowExecution(PyObject *, PyObject *allowed) {
  int isAllowed = PyObject_IsTrue(allowed);
  if (isAllowed < 0)
    return nullptr;
  tracing::Session::get().allowExecution(isAllowed);
  Py_RETURN_NONE;
}
static PyObject *getAllowExecution(PyObject *, PyObject *) {
  return PyBool_FromLong(tracing::Session::get().allowsExecution());
}
static PyObject *lastGraph(PyObject *, PyObject *) {
  return PyLong_FromUnsignedLongLong(tracing::Session::get().lastGraph());
}

static PyObject *recorded(PyObject *, PyObject *) { return PyLong_FromUnsignedLongLong(tracing::recordedOperations()); }

static PyMethodDef compiledMethods[] = {
    {"_recorded", recorded, METH_NOARGS, "Operations recorded by this process so far."},
    {"_set_use_eager_mode", setEagerMode, METH_O, "Every operation runs at once."},
    {"_get_use_eager_mode", getEagerMode, METH_NOARGS, ""},
    {"_set_allow_execution", setAllowExecution, METH_O, "False: whatever would run a program is an error."},
    {"_get_allow_execution", getAllowExecution, METH_NOARGS, ""},
    {"_last_graph", lastGraph, METH_NOARGS, "A number of the graph that was run last; equal for equal graphs."},
    {"_graph_begin", graphBegin, METH_O, "Starts to trace a function of these arguments: (scope, stand-ins)."},
    {"_graph_end", graphEnd, METH_O, "Ends a trace without a program: what was refused."},
    {"_graph_compile", graphCompile, METH_VARARGS, "Ends a trace: its program, for CompiledGraph."},
    {"_count", count, METH_O, "Adds one to a counter."},
    {"_graph_export", graphExport, METH_VARARGS, "Ends a trace: its StableHLO, the tensors it holds, the order of its arguments."},
    {"_graph_text", graphText, METH_O, "StableHLO of a compiled trace."},
    {nullptr, nullptr, 0, nullptr}};

bool addCompiledType(PyObject *module) {
  callableType.tp_name = "torch_xla._XLAC.CompiledGraph";
  callableType.tp_basicsize = sizeof(Callable);
  callableType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL;
  callableType.tp_doc = "CompiledGraph(trace): calls programs; trace(*args) makes one for new arguments.";
  callableType.tp_new = create;
  callableType.tp_dealloc = destroy;
  callableType.tp_traverse = traverse;
  callableType.tp_clear = clear;
  callableType.tp_call = PyVectorcall_Call;
  callableType.tp_vectorcall_offset = offsetof(Callable, vectorcall);
  callableType.tp_methods = callableMethods;
  return PyType_Ready(&callableType) == 0 &&
         PyModule_AddObjectRef(module, "CompiledGraph", reinterpret_cast<PyObject *>(&callableType)) == 0 &&
         PyModule_AddFunctions(module, compiledMethods) == 0;
}

} // namespace millrace::torch_shim
