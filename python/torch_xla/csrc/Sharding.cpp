// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Sharding.cpp - Annotations of tensors, and their shards --------------===//
#include "python/torch_xla/csrc/Sharding.h"

#include "python/torch_xla/csrc/Backend.h"
#include "python/torch_xla/csrc/Functions.h"
#include "python/torch_xla/csrc/Trace.h"
#include "tracing/spmd/Explanation.h"

#include <algorithm>

namespace millrace::torch_shim {

using tracing::Operand;
using tracing::Session;
using tracing::ShardingPtr;

namespace {

const Tensor &xlaTensor(PyObject *object) {
  TORCH_CHECK(isTensor(object) && isXla(tensorIn(object)), "expects a tensor of the xla device");
  return tensorIn(object);
}

std::vector<int64_t> integers(PyObject *list) {
  PyObject *fast = PySequence_Fast(list, "expects a list of integers");
  TORCH_CHECK(fast, "expects a list of integers");
  std::vector<int64_t> values;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast); ++i)
    values.push_back(PyLong_AsLongLong(PySequence_Fast_GET_ITEM(fast, i)));
  Py_DECREF(fast);
  TORCH_CHECK(!PyErr_Occurred(), "expects a list of integers");
  return values;
}

PyObject *tuple(const std::vector<int64_t> &values) {
  PyObject *made = PyTuple_New(Py_ssize_t(values.size()));
  for (size_t i = 0; i < values.size(); ++i)
    PyTuple_SET_ITEM(made, Py_ssize_t(i), PyLong_FromLongLong(values[i]));
  return made;
}

/// (names, sizes, devices), or null for None.
std::shared_ptr<const tracing::Mesh> meshOf(PyObject *object) {
  if (!object || object == Py_None)
    return nullptr;
  PyObject *names, *sizes, *devices;
  TORCH_CHECK(PyArg_ParseTuple(object, "OOO", &names, &sizes, &devices), "expects names, sizes and devices of a mesh");
  auto mesh = std::make_shared<tracing::Mesh>();
  PyObject *fast = PySequence_Fast(names, "expects names of axes");
  TORCH_CHECK(fast, "expects names of axes");
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast); ++i) {
    const char *name = PyUnicode_AsUTF8(PySequence_Fast_GET_ITEM(fast, i));
    mesh->names.push_back(name ? name : "");
  }
  Py_DECREF(fast);
  mesh->sizes = integers(sizes);
  mesh->devices = integers(devices);
  return mesh;
}

int64_t devicesOrRaise() {
  int64_t devices = Session::get().partitions();
  TORCH_CHECK(devices > 0, "SPMD is off: call torch_xla.runtime.use_spmd() before tensors are sharded");
  connectWorld(); // before the session's mutex is held: the store takes the GIL
  return devices;
}

ShardingPtr shardingOf(const char *text, size_t rank, PyObject *mesh) {
  return valueOrRaise(tracing::readSharding(text, int64_t(rank), devicesOrRaise(), meshOf(mesh)));
}

Value annotated(const Value &value, const ShardingPtr &sharding) {
  Shape shape = value.shape();
  return node("millrace::sharding", {value}, {Operand{0}, sharding->text, sharding->attribute}, shape);
}

bool hasData(const Value &value) {
  return value.node->isNumber() || Session::hasMemory(value);
}

//===-- Functions -----------------------------------------------------------===//

PyObject *useSpmd(PyObject *, PyObject *args) {
  int isOn, isAuto;
  if (!PyArg_ParseTuple(args, "pp", &isOn, &isAuto))
    return nullptr;
  return guarded([&]() -> PyObject * {
    runtime::Status status;
    {
      WithoutGil released;
      status = Session::get().usePartitions(isOn, isAuto);
    }
    if (!status.ok())
      raise(status);
    if (isOn && isAuto)
      connectWorld();
    beOneDevice(isOn);
    Py_RETURN_NONE;
  });
}

PyObject *partitions(PyObject *, PyObject *) { return PyLong_FromLongLong(Session::get().partitions()); }

/// `change` with the tensor and the sharding that (tensor, text, mesh or None) mean; the tensor has no annotation meanwhile.
template <typename Change> PyObject *withSharding(PyObject *args, Change change) {
  PyObject *object, *mesh;
  const char *spec;
  if (!PyArg_ParseTuple(args, "OsO", &object, &spec, &mesh))
    return nullptr;
  return guarded([&]() -> PyObject * {
    const Tensor &tensor = xlaTensor(object);
    ShardingPtr sharding = shardingOf(spec, size_t(tensor.dim()), mesh);
    noteFrame();
    {
      WithoutGil released;
      std::lock_guard lock(Session::get().mutex);
      ShardingPtr before = annotationOf(tensor);
      setAnnotation(tensor, nullptr);
      change(tensor, sharding, before);
    }
    Py_RETURN_NONE;
  });
}

/// (tensor, text, mesh or None): from now on, also after it has been written to.
PyObject *mark(PyObject *, PyObject *args) {
  return withSharding(args, [](const Tensor &tensor, const ShardingPtr &sharding, const ShardingPtr &) {
    setValue(tensor, annotate(valueOf(tensor), sharding));
    if (!sharding->isManual())
      setAnnotation(tensor, sharding);
  });
}

/// (tensor, text, mesh or None): of the value that it has now, where that is used; nothing is moved.
PyObject *annotateValue(PyObject *, PyObject *args) {
  return withSharding(args, [](const Tensor &tensor, const ShardingPtr &sharding, const ShardingPtr &before) {
    setValue(tensor, annotated(valueOf(tensor), sharding));
    setAnnotation(tensor, before);
  });
}

/// The tensor whole again, on every device.
PyObject *clearSharding(PyObject *, PyObject *object) {
  return guarded([&]() -> PyObject * {
    const Tensor &tensor = xlaTensor(object);
    {
      WithoutGil released;
      std::lock_guard lock(Session::get().mutex);
      setAnnotation(tensor, nullptr);
      Value value = valueOf(tensor);
      if (value.node->op && value.node->op == tracing::findOp("millrace::sharding"))
        setValue(tensor, value.node->operands[0]);
      else if (tracing::shardsOf(value))
        setValue(tensor, upload(toCpu(tensor)));
    }
    Py_RETURN_NONE;
  });
}

PyObject *specOf(PyObject *, PyObject *object) {
  return guarded([&]() -> PyObject * {
    const Tensor &tensor = xlaTensor(object);
    std::lock_guard lock(Session::get().mutex);
    std::string found = shardingText(valueOf(tensor));
    if (found.empty())
      if (ShardingPtr annotation = annotationOf(tensor))
        found = annotation->text;
    return text(found);
  });
}

/// What the devices of this process hold: (tensor of the CPU, begin per dim, size per dim inside of the tensor, replica, device) each. A tensor
/// that has not been split is on all of them.
PyObject *shardsOf(PyObject *, PyObject *object) {
  return guarded([&]() -> PyObject * {
    const Tensor &tensor = xlaTensor(object);
    std::vector<Tensor> copies;
    tracing::Shards shards;
    Shape shape;
    {
      WithoutGil released;
      refuseInTrace("reading the shards of a tensor");
      Session &session = Session::get();
      if (valueOf(tensor).node->op)
        syncAll();
      std::lock_guard lock(session.mutex);
      Value value = valueOf(tensor);
      if (runtime::Status status = session.sync({value}); !status.ok()) // of a view
        raise(status);
      shape = value.shape();
      shards = valueOrRaise(session.spread(value));
      Shape part{shape.dtype, shards.sharding->shardDims(shape.dims)};
      for (const runtime::BufferPtr &buffer : shards.buffers) {
        Tensor copy = at::detail::empty_cpu(part.dims, scalarTypeOf(part.dtype));
        runtime::Status status = buffer->toHost(copy.mutable_data_ptr(), copy.nbytes()).await();
        if (!status.ok())
          raise(status);
        copies.push_back(std::move(copy));
      }
    }
    PyObject *list = PyList_New(0);
    std::vector<int64_t> replicas = shards.sharding->replicaIds();
    for (size_t i = 0; i < copies.size(); ++i) {
      const uint32_t device = shards.buffers[i]->device().id();
      std::vector<int64_t> offset, inside;
      shards.sharding->extentOf(device, shape.dims, offset, inside);
      PyObject *entry = Py_BuildValue("(NNNLI)", pythonOf(copies[i]), tuple(offset), tuple(inside), (long long)replicas[device], device);
      PyList_Append(list, entry);
      Py_DECREF(entry);
    }
    return list;
  });
}

std::vector<Tensor> cpuTensors(PyObject *list) {
  PyObject *fast = PySequence_Fast(list, "expects a list of tensors");
  TORCH_CHECK(fast, "expects a list of tensors");
  std::vector<Tensor> tensors;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast); ++i) {
    PyObject *item = PySequence_Fast_GET_ITEM(fast, i);
    TORCH_CHECK(isTensor(item) && tensorIn(item).is_cpu(), "expects tensors of the CPU");
    tensors.push_back(tensorIn(item).detach().contiguous());
  }
  Py_DECREF(fast);
  return tensors;
}

/// (the sharding as sdy writes it, the mesh as (names, sizes, devices) or None)
PyObject *meshOfTensor(PyObject *, PyObject *object) {
  return guarded([&]() -> PyObject * {
    const Tensor &tensor = xlaTensor(object);
    ShardingPtr found;
    {
      std::lock_guard lock(Session::get().mutex);
      Value value = valueOf(tensor);
      found = value.node->op ? tracing::annotationOf(value.node.get(), value.index) : nullptr;
      if (const tracing::Shards *shards = tracing::shardsOf(value))
        found = shards->sharding;
      if (!found || !found->mesh)
        if (ShardingPtr annotation = annotationOf(tensor))
          found = annotation;
    }
    if (!found || !found->mesh)
      return Py_BuildValue("(sO)", found ? found->attribute.c_str() : "", Py_None);
    PyObject *names = PyList_New(0);
    for (const std::string &name : found->mesh->names) {
      PyObject *item = text(name);
      PyList_Append(names, item);
      Py_DECREF(item);
    }
    return Py_BuildValue("(s(NNN))", found->attribute.c_str(), names, tuple(found->mesh->sizes), tuple(found->mesh->devices));
  });
}

/// (shards on the CPU, one per device of this process; text; sizes of the whole tensor; mesh or None)
PyObject *fromShards(PyObject *, PyObject *args) {
  PyObject *list, *sizes, *mesh;
  const char *spec;
  if (!PyArg_ParseTuple(args, "OsOO", &list, &spec, &sizes, &mesh))
    return nullptr;
  return guarded([&]() -> PyObject * {
    std::vector<Tensor> tensors = cpuTensors(list);
    std::vector<int64_t> dims = integers(sizes);
    ShardingPtr sharding = shardingOf(spec, dims.size(), mesh);
    const auto &devices = Session::get().client()->devices();
    TORCH_CHECK(tensors.size() == devices.size(), "expects ", devices.size(), " shards, one per device of this process, but got ", tensors.size());
    Shape shape{dtypeOf(tensors[0].scalar_type()), dims};
    std::vector<int64_t> part = sharding->shardDims(dims);
    tracing::Shards shards{sharding, {}};
    for (size_t i = 0; i < tensors.size(); ++i) {
      TORCH_CHECK(tensors[i].sizes() == part && dtypeOf(tensors[i].scalar_type()) == shape.dtype, "expects shard ", i, " of ",
                  at::IntArrayRef(part), " and type ", tensors[0].scalar_type(), ", because the tensor has sizes ",
                  at::IntArrayRef(dims), " and is sharded as ", sharding->text, ", but got ", tensors[i].sizes(), " of type ",
                  tensors[i].scalar_type());
      shards.buffers.push_back(valueOrRaise(Session::get().client()->bufferFromHost(
          tensors[i].const_data_ptr(), shape.dtype, part, {}, runtime::HostSemantics::OnlyDuringCall,
          devices[i]->memories().front())));
    }
    Tensor made = wrap(tracing::leaf(std::move(shards), std::move(shape)));
    setAnnotation(made, sharding);
    return pythonOf(made);
  });
}

/// (tensor, another one of these sizes): the first one gets the value and sharding of the second.
PyObject *replaceBy(PyObject *, PyObject *args) {
  PyObject *target, *source;
  if (!PyArg_ParseTuple(args, "OO", &target, &source))
    return nullptr;
  return guarded([&]() -> PyObject * {
    const Tensor &to = xlaTensor(target), &from = xlaTensor(source);
    TORCH_CHECK(to.sizes() == from.sizes() && to.scalar_type() == from.scalar_type(), "expects tensors of the same type");
    std::lock_guard lock(Session::get().mutex);
    setValue(to, resolved(to, shownValue(from)));
    Py_RETURN_NONE;
  });
}

/// (tensor of the CPU, text, mesh or None, whether it is this process's share of the batch): uploads each device its part.
PyObject *uploadShards(PyObject *, PyObject *args) {
  PyObject *object, *mesh;
  const char *spec;
  int isShare;
  if (!PyArg_ParseTuple(args, "OsOp", &object, &spec, &mesh, &isShare))
    return nullptr;
  return guarded([&]() -> PyObject * {
    TORCH_CHECK(isTensor(object) && tensorIn(object).is_cpu(), "expects a tensor of the CPU");
    Tensor cpu = tensorIn(object).detach();
    ShardingPtr sharding = shardingOf(spec, size_t(cpu.dim()), mesh);
    Tensor made;
    {
      WithoutGil released;
      Tensor dense = cpu.resolve_conj().resolve_neg().contiguous();
      Shape shape{dtypeOf(dense.scalar_type()), dense.sizes().vec()};
      tracing::Metrics::get().count("InboundDataBytes", int64_t(dense.nbytes()));
      Session &session = Session::get();
      Value value = valueOrRaise(isShare ? session.uploadShare(dense.const_data_ptr(), shape, sharding)
                                         : session.upload(dense.const_data_ptr(), shape, sharding));
      if (tracing::shardsOf(value)->sharding != sharding)
        value = annotated(value, sharding);
      made = wrap(std::move(value));
      setAnnotation(made, sharding);
    }
    return pythonOf(made);
  });
}

/// The part that each device holds, as a tensor to compute with.
PyObject *fullToShard(PyObject *, PyObject *object) {
  return guarded([&]() -> PyObject * {
    const Tensor &tensor = xlaTensor(object);
    std::lock_guard lock(Session::get().mutex);
    Value value = valueOf(tensor);
    std::string spec = shardingText(value);
    ShardingPtr annotation = annotationOf(tensor);
    TORCH_CHECK(annotation || !spec.empty(), "expects a tensor with a sharding: mark_sharding() comes first");
    ShardingPtr sharding = annotation ? annotation : shardingOf(spec.c_str(), size_t(tensor.dim()), nullptr);
    Shape part{value.shape().dtype, sharding->shardDims(value.shape().dims)};
    TORCH_CHECK(sharding->filledDims(value.shape().dims) == value.shape().dims, "expects sizes that the devices divide, but ",
                tensor.sizes(), " is sharded as ", sharding->text);
    // What the devices hold is said where the value is used, whatever happens to it before.
    return pythonOf(wrap(node("millrace::full_to_shard", {annotated(resolved(tensor, value), sharding)}, {Operand{0}}, part)));
  });
}

/// (tensor inside of a manual part, text, sizes of the whole tensor)
PyObject *shardToFull(PyObject *, PyObject *args) {
  PyObject *object, *sizes;
  const char *spec;
  if (!PyArg_ParseTuple(args, "OsO", &object, &spec, &sizes))
    return nullptr;
  return guarded([&]() -> PyObject * {
    const Tensor &tensor = xlaTensor(object);
    std::lock_guard lock(Session::get().mutex);
    Value value = valueOf(tensor);
    Shape whole{value.shape().dtype, integers(sizes)};
    ShardingPtr sharding = shardingOf(spec, whole.dims.size(), nullptr);
    TORCH_CHECK(shardingText(value) == "{manual}", "expects a tensor that is manually sharded, but got one with the sharding '",
                shardingText(value), "'");
    TORCH_CHECK(sharding->shardDims(whole.dims) == value.shape().dims, "expects shards of ",
                at::IntArrayRef(sharding->shardDims(whole.dims)), " for a tensor of ", at::IntArrayRef(whole.dims), " sharded as ",
                sharding->text, ", but got ", tensor.sizes());
    return pythonOf(
        wrap(node("millrace::shard_to_full", {resolved(tensor, value)}, {Operand{0}, sharding->text}, whole)));
  });
}

PyObject *shardAs(PyObject *, PyObject *list) {
  return guarded([&]() -> PyObject * {
    static int64_t groups = 0;
    devicesOrRaise();
    std::lock_guard lock(Session::get().mutex);
    std::vector<Value> values = shownValuesOf(list);
    std::vector<Operand> operands;
    std::vector<Shape> shapes;
    for (const Value &value : values) {
      TORCH_CHECK(value.shape().dims.size() == values[0].shape().dims.size(), "expects tensors of one rank, but got ",
                  values[0].shape().toString(), " and ", value.shape().toString());
      operands.push_back(Operand{int32_t(operands.size())});
      shapes.push_back(value.shape());
    }
    Value made = tracing::record(tracing::findOp("millrace::shard_as"), std::move(values), {std::move(operands), ++groups},
                                 std::move(shapes));
    std::vector<Value> results;
    for (size_t i = 0; i < made.node->results.size(); ++i)
      results.push_back({made.node, uint32_t(i)});
    return wrapAll(std::move(results));
  });
}

/// Of the program of these tensors, or of the one that was compiled last.
PyObject *program(PyObject *list, runtime::StatusOr<std::string> (*view)(const std::string &, const std::string &, int64_t)) {
  return guarded([&]() -> PyObject * {
    Session &session = Session::get();
    std::string source;
    if (list == Py_None) {
      source = session.lastProgram();
    } else {
      std::vector<Value> roots = valuesOf(list);
      tracing::ProgramOptions options;
      options.withPlaces = true;
      options.partitions = std::max<int64_t>(session.partitions(), 1);
      source = valueOrRaise(tracing::emitProgram(tracing::schedule(roots), roots, options));
    }
    TORCH_CHECK(!source.empty(), "no program has been compiled yet under SPMD");
    const Session::Planning planning = valueOrRaise(session.planning(/*isPending=*/list != Py_None));
    return text(valueOrRaise(view(source, planning.mesh, planning.smallest)));
  });
}
PyObject *explain(PyObject *, PyObject *list) { return program(list, tracing::explainSharding); }
PyObject *explanationPage(PyObject *, PyObject *arguments) {
  return guarded([&]() -> PyObject * {
    const char *report = nullptr, *title = nullptr;
    if (!PyArg_ParseTuple(arguments, "ss", &report, &title))
      return nullptr;
    return text(tracing::explanationPage(report, title));
  });
}
/// (pending tensors, others): of each of the others which argument of the program of explain() it is, or -1.
PyObject *argumentNumbers(PyObject *, PyObject *arguments) {
  return guarded([&]() -> PyObject * {
    PyObject *list = nullptr, *others = nullptr;
    if (!PyArg_ParseTuple(arguments, "OO", &list, &others))
      return nullptr;
    std::lock_guard lock(Session::get().mutex);
    std::vector<Value> roots = valuesOf(list), values = valuesOf(others);
    tracing::Schedule schedule = tracing::schedule(roots);
    PyObject *numbers = PyList_New(Py_ssize_t(values.size()));
    for (size_t i = 0; i < values.size(); ++i) {
      auto found = std::find_if(schedule.leaves.begin(), schedule.leaves.end(),
                                [&](const Value &leaf) { return leaf.node == values[i].node && leaf.index == values[i].index; });
      long number = found == schedule.leaves.end() ? -1 : long(found - schedule.leaves.begin());
      PyList_SET_ITEM(numbers, Py_ssize_t(i), PyLong_FromLong(number));
    }
    return numbers;
  });
}
PyObject *partitioned(PyObject *, PyObject *list) { return program(list, tracing::partitionedText); }

} // namespace

Value annotate(const Value &value, const ShardingPtr &sharding) {
  if (!hasData(value) || !traceScopes().empty() || sharding->isManual())
    return annotated(value, sharding);
  Session &session = Session::get();
  if (const tracing::Shards *shards = tracing::shardsOf(value); shards && shards->sharding->text == sharding->text)
    return value;
  std::shared_ptr<runtime::Storage> memory = valueOrRaise(valueOrRaise(session.buffer(value))->acquire());
  Value made = valueOrRaise(session.upload(memory->data(), value.shape(), sharding, memory));
  tracing::Place place = tracing::placeOf(tracing::currentOrigin());
  made.node->spread->results[0].file = std::move(place.file);
  made.node->spread->results[0].line = place.line;
  return made;
}

std::string shardingText(const Value &value) {
  static const tracing::Op *const sharding = tracing::findOp("millrace::sharding");
  static const tracing::Op *const toShard = tracing::findOp("millrace::full_to_shard");
  static const tracing::Op *const toFull = tracing::findOp("millrace::shard_to_full");
  const tracing::Node &node = *value.node;
  if (node.op == sharding || node.op == toFull)
    return std::get<std::string>(node.args[1]);
  if (node.op == toShard)
    return "{manual}";
  if (node.op)
    return "";
  if (const tracing::Shards *shards = tracing::shardsOf(value))
    return shards->sharding->text;
  return node.kind->op && Session::get().partitions() ? "{replicated}" : "";
}

void replaceBase(Storage &storage, Value value) {
  Value &base = storage.base;
  if (!value.node->op) {
    storage.held = nullptr; // data has a sharding of its own
  } else if (!base.node->op) {
    const tracing::Shards *shards = tracing::shardsOf(base);
    storage.held = shards ? shards->sharding : nullptr;
  }
  base = std::move(value);
  storage.writtenIn = currentTrace();
  if (storage.sharding && Session::get().partitions() && storage.sharding->tiles.size() == base.shape().dims.size() &&
      shardingText(base) != storage.sharding->text)
    base = annotate(base, storage.sharding);
}

void keepHeldShardings(const std::vector<Storage *> &storages) {
  auto isHeld = [](const Storage *storage) {
    const ShardingPtr &held = storage->held;
    return !storage->sharding && held && held->devices == Session::get().partitions() &&
           held->tiles.size() == storage->base.shape().dims.size() && shardingText(storage->base).empty();
  };
  if (std::none_of(storages.begin(), storages.end(),
                   [&](const Storage *storage) { return isHeld(storage) && !storage->held->isReplicated(); }))
    return;
  static const tracing::Op *const annotation = tracing::findOp("millrace::sharding");
  for (Storage *storage : storages)
    if (isHeld(storage)) {
      Value &base = storage->base;
      const Shape shape = base.shape();
      const tracing::Kind *kind = tracing::kindOf(annotation, {Operand{0}, storage->held->text, storage->held->attribute}, {shape});
      base = tracing::record(kind, {base}, tracing::Origin(base.node->origin));
    }
}

PyMethodDef shardingMethods[] = {
    {"_spmd_use", useSpmd, METH_VARARGS, "(on, auto): turns SPMD over all devices of all processes on or off."},
    {"_spmd_partitions", partitions, METH_NOARGS, "Devices that programs are partitioned for; 0 while SPMD is off."},
    {"_spmd_mark", mark, METH_VARARGS, "(tensor, text, mesh): shards the tensor."},
    {"_spmd_annotate", annotateValue, METH_VARARGS, "(tensor, text, mesh): says how the value that the tensor has now is sharded."},
    {"_spmd_clear", clearSharding, METH_O, "Makes a tensor whole again."},
    {"_spmd_text", specOf, METH_O, "The sharding of a tensor as XLA writes it, or an empty string."},
    {"_spmd_shards", shardsOf, METH_O, "What this process's devices hold of a tensor: (CPU tensor, begin, size, replica, device) each."},
    {"_spmd_mesh", meshOfTensor, METH_O, "(sharding as sdy writes it, mesh as (names, sizes, devices) or None)"},
    {"_spmd_from_shards", fromShards, METH_VARARGS, "(CPU tensors, text, sizes, mesh): a tensor in these shards."},
    {"_spmd_replace", replaceBy, METH_VARARGS, "(tensor, source): gives a tensor the value of another."},
    {"_spmd_upload", uploadShards, METH_VARARGS, "(CPU tensor, text, mesh, whether it is this process's share): a tensor in shards."},
    {"_spmd_full_to_shard", fullToShard, METH_O, "The part that each device holds, to compute with as it stands."},
    {"_spmd_shard_to_full", shardToFull, METH_VARARGS, "(tensor, text, sizes): the tensor that the shards make up."},
    {"_spmd_shard_as", shardAs, METH_O, "The tensors of a list, to be sharded alike."},
    {"_spmd_explain", explain, METH_O, "How the program of these tensors (None: the last one) is sharded, and why."},
    {"_spmd_argument_numbers", argumentNumbers, METH_VARARGS, "(pending tensors, others): which arguments of their program the others are."},
    {"_spmd_explanation_page", explanationPage, METH_VARARGS, "(text of _spmd_explain, title): the text as an HTML page."},
    {"_spmd_partitioned", partitioned, METH_O, "StableHLO of each device for these tensors (None: of the last program)."},
    {nullptr, nullptr, 0, nullptr}};

} // namespace millrace::torch_shim
