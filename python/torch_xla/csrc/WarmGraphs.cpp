// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WarmGraphs.cpp - Graphs that are run by their hash, from Python ------===//
// What PyTorch/XLA's own bridge for torch.compile is made of: record on real tensors, take the hash and the inputs of the graph,
// compile it, forget the recording, and run the program with other inputs.
#include "python/torch_xla/csrc/Functions.h"
#include "python/torch_xla/csrc/Trace.h"

#include "runtime/base/Hash.h"

#include <cstring>

namespace millrace::torch_shim {
namespace {

using tracing::Digest;
using tracing::Session;

const Tensor &deviceTensor(PyObject *object) {
  TORCH_CHECK(isTensor(object) && isXla(tensorIn(object)), "expects a tensor of the xla device");
  return tensorIn(object);
}

/// Of the random numbers of a graph, all of them.
constexpr long long kSeedId = -1;

/// Ids that were given out for leaves, and the storage that holds each.
struct LeafId {
  std::weak_ptr<tracing::Node> leaf;
  const void *id = nullptr, *owner = nullptr; ///< no owner: nobody asked for the id of a tensor that shows it
};

/// Guarded by the GIL.
std::unordered_map<const tracing::Node *, LeafId> &idsOfLeaves() {
  static auto *ids = new std::unordered_map<const tracing::Node *, LeafId>;
  return *ids;
}

LeafId &idOfLeaf(const std::shared_ptr<tracing::Node> &leaf) {
  auto &ids = idsOfLeaves();
  if (ids.size() >= 4096)
    std::erase_if(ids, [](const auto &entry) { return entry.second.leaf.expired(); });
  LeafId &known = ids[leaf.get()];
  if (known.leaf.expired()) // another Node may have been there
    known = {leaf, leaf.get(), nullptr};
  return known;
}

/// Of a view: equal for views of one storage that show the same elements as the same type. Odd, as no address of an object is.
uint64_t idOfView(const Tensor &tensor, const Storage &storage) {
  std::vector<int64_t> key{int64_t(storage.serial), tensor.storage_offset(), int64_t(tensor.scalar_type())};
  key.insert(key.end(), tensor.sizes().begin(), tensor.sizes().end());
  key.insert(key.end(), tensor.strides().begin(), tensor.strides().end());
  return runtime::hash64(key.data(), key.size() * sizeof(int64_t)) | 1;
}

PyObject *tensorId(PyObject *, PyObject *object) {
  return guarded([&]() -> PyObject * {
    const Tensor &tensor = deviceTensor(object);
    const auto &storage = *static_cast<const Storage *>(tensor.storage().unsafeGetStorageImpl());
    Value base;
    {
      std::lock_guard lock(Session::get().mutex);
      if (!showsAll(tensor))
        return PyLong_FromUnsignedLongLong(idOfView(tensor, storage));
      base = storage.base;
    }
    const void *id = &storage;
    if (base.node->isLeaf()) {
      LeafId &known = idOfLeaf(base.node);
      if (!known.owner) // the first storage that holds it and was asked about
        known.owner = id;
      if (known.owner == id)
        id = known.id;
    }
    return PyLong_FromVoidPtr(const_cast<void *>(id));
  });
}

PyObject *hashOf(const Digest &key) {
  const uint64_t halves[2] = {key.high, key.low};
  return PyBytes_FromStringAndSize(reinterpret_cast<const char *>(halves), sizeof halves);
}

PyObject *graphHash(PyObject *, PyObject *list) {
  return guarded([&]() -> PyObject * { return hashOf(withValues(list, [](const std::vector<Value> &values) { return Session::get().describe(values).key; })); });
}

/// (tensors, devices) -> the hash
PyObject *warmUp(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *list, *devices = nullptr;
    if (!PyArg_ParseTuple(args, "O|O", &list, &devices))
      return nullptr;
    return hashOf(withValues(list, [](const std::vector<Value> &values) {
                    noteStack();
                    return Session::get().warmUp(values);
                  }).key);
  });
}

/// (hash, tensors) -> results
PyObject *runCached(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    const char *hash;
    Py_ssize_t size;
    PyObject *list;
    if (!PyArg_ParseTuple(args, "y#O", &hash, &size, &list))
      return nullptr;
    TORCH_CHECK(size == 16, "expects a hash of 16 bytes, but got ", size);
    uint64_t halves[2];
    std::memcpy(halves, hash, sizeof halves);
    Ref fast = Ref::steal(PySequence_Fast(list, "expects a list of tensors"));
    if (!fast.object)
      return nullptr;
    std::vector<Value> values, results;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.object); ++i) {
      PyObject *item = PySequence_Fast_GET_ITEM(fast.object, i);
      TORCH_CHECK(isTensor(item), "expects tensors as inputs of the graph");
      values.push_back(shownValue(tensorIn(item)));
    }
    {
      WithoutGil released;
      tracing::Metrics::get().sample("RunCachedGraphInputData", double(values.size()));
      results = valueOrRaise(Session::get().runGraph({halves[1], halves[0]}, std::move(values)));
      tracing::Metrics::get().sample("RunCachedGraphOutputData", double(results.size()));
    }
    return wrapAllLike(list, std::move(results));
  });
}

/// (ids, tensors): the inputs of the graph of these tensors, in the order in which _run_cached_graph wants them.
PyObject *inputsOf(PyObject *, PyObject *list) {
  return guarded([&]() -> PyObject * {
    std::vector<Value> leaves = Session::get().describe(valuesOf(list)).leaves;
    Ref ids = Ref::steal(PyList_New(0));
    for (const Value &leaf : leaves) {
      const void *id = idOfLeaf(leaf.node).id;
      if (leaf.node->isShared && !idOfLeaf(leaf.node).owner) // a copy of a tensor that somebody asked about
        for (const auto &[node, known] : idsOfLeaves())
          if (known.owner && !known.leaf.expired() && node->isLeaf() && node->buffers == leaf.node->buffers)
            id = known.id;
      Ref number = Ref::steal(isRandomKey(leaf) ? PyLong_FromLongLong(kSeedId) : PyLong_FromVoidPtr(const_cast<void *>(id)));
      PyList_Append(ids.object, number.object);
    }
    PyObject *tensors = wrapAllLike(list, std::move(leaves));
    return Py_BuildValue("(ON)", ids.object, tensors);
  });
}

PyObject *seedId(PyObject *, PyObject *) { return PyLong_FromLongLong(kSeedId); }
PyObject *seedTensor(PyObject *, PyObject *) {
  return guarded([&]() -> PyObject * { return pythonOf(wrap(nextRandomKey())); });
}

/// A tensor over all of every storage.
PyObject *liveTensors(PyObject *, PyObject *) {
  return guarded([&]() -> PyObject * {
    std::vector<Tensor> tensors;
    {
      std::lock_guard lock(Session::get().mutex);
      for (const c10::intrusive_ptr<c10::StorageImpl> &live : liveStorages()) {
        const Storage &storage = *static_cast<const Storage *>(live.get());
        if (storage.isCaptured || !storage.base.node)
          continue;
        const Shape &shape = storage.base.shape();
        tensors.push_back(at::detail::make_tensor<c10::TensorImpl>(c10::Storage(live), c10::DispatchKeySet(c10::DispatchKey::XLA),
                                                                   c10::scalarTypeToTypeMeta(scalarTypeOf(shape.dtype))));
        tensors.back().unsafeGetTensorImpl()->set_sizes_contiguous(shape.dims);
      }
    }
    PyObject *list = PyList_New(0);
    for (const Tensor &tensor : tensors) {
      Ref made = Ref::steal(pythonOf(tensor));
      PyList_Append(list, made.object);
    }
    return list;
  });
}

/// Tensors that were recorded and not computed have no value any more.
PyObject *clearPending(PyObject *, PyObject *) {
  return guarded([&]() -> PyObject * {
    std::lock_guard lock(Session::get().mutex);
    std::vector<Value> trash;
    for (const c10::intrusive_ptr<c10::StorageImpl> &live : liveStorages()) {
      Storage &storage = *static_cast<Storage *>(live.get());
      storage.views.clear();
      if (storage.isCaptured || !storage.base.node || !storage.base.node->op)
        continue;
      Value empty = tracing::leaf(nullptr, storage.base.shape());
      trash.push_back(std::exchange(storage.base, std::move(empty)));
    }
    Py_RETURN_NONE;
  });
}

//===-- Memory that the user gives up ---------------------------------------===//

/// Where a node notes it for this value; 0 if it cannot: the bits are those of Node::givenUp.
uint32_t givenUpBit(const Value &value) { return value.index < 32 ? uint32_t(1) << value.index : 0; }
bool isGivenUp(const Value &value) { return value.node->isLeaf() && value.node->givenUp & givenUpBit(value); }

/// Somebody has given up memory in this process: few programs do, and the others have nothing to release.
std::atomic<bool> isAnyGivenUp{false};

/// (tensor, shouldDonate): the tensor has no value any more after the next program that reads it. False: it has none now.
PyObject *setDonation(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *object;
    int shouldDonate;
    if (!PyArg_ParseTuple(args, "Op", &object, &shouldDonate))
      return nullptr;
    if (!isTensor(object) || !isXla(tensorIn(object)))
      Py_RETURN_FALSE;
    std::lock_guard lock(Session::get().mutex);
    const Value value = valueOf(tensorIn(object));
    const uint32_t bit = givenUpBit(value);
    if (!Session::hasMemory(value) || !bit)
      Py_RETURN_FALSE;
    if (shouldDonate)
      isAnyGivenUp = true;
    value.node->givenUp = shouldDonate ? value.node->givenUp | bit : value.node->givenUp & ~bit;
    tracing::Metrics::get().count("XlaSetBufferDonation");
    Py_RETURN_TRUE;
  });
}

/// Whether the value that the tensor has, or had, was given up; one that was written since has another.
PyObject *getDonation(PyObject *, PyObject *object) {
  return guarded([&]() -> PyObject * {
    if (!isTensor(object) || !isXla(tensorIn(object)))
      Py_RETURN_FALSE;
    return PyBool_FromLong(isGivenUp(valueOf(tensorIn(object))));
  });
}

/// Of these arguments of a program that was enqueued, the memory that was given up; the program still reads it.
PyObject *releaseDonated(PyObject *, PyObject *args) {
  if (!isAnyGivenUp)
    Py_RETURN_NONE;
  return guarded([&]() -> PyObject * {
    Ref fast = Ref::steal(PySequence_Fast(args, "expects a list of arguments"));
    if (!fast.object)
      return nullptr;
    std::lock_guard lock(Session::get().mutex);
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.object); ++i) {
      PyObject *item = PySequence_Fast_GET_ITEM(fast.object, i);
      if (!isTensor(item) || !isXla(tensorIn(item)))
        continue;
      const Value value = valueOf(tensorIn(item));
      if (isGivenUp(value) && Session::hasMemory(value) && !tracing::shardsOf(value))
        value.node->buffers[value.index] = nullptr;
    }
    Py_RETURN_NONE;
  });
}

PyObject *setDonatesGivenUp(PyObject *, PyObject *isOn) {
  const int wanted = PyObject_IsTrue(isOn);
  if (wanted < 0)
    return nullptr;
  Session::get().donateGivenUp(wanted);
  Py_RETURN_NONE;
}
PyObject *setKeepsNumbers(PyObject *, PyObject *isOn) {
  const int wanted = PyObject_IsTrue(isOn);
  if (wanted < 0)
    return nullptr;
  Session::get().keepNumbers(wanted);
  Py_RETURN_NONE;
}
PyObject *getKeepsNumbers(PyObject *, PyObject *) { return PyBool_FromLong(Session::get().keepsNumbers()); }
PyObject *getDonatesGivenUp(PyObject *, PyObject *) { return PyBool_FromLong(Session::get().donatesGivenUp()); }

/// Neither a value nor what computes one.
PyObject *isPlaceholder(PyObject *, PyObject *object) {
  return guarded([&]() -> PyObject * {
    Value value = valueOf(deviceTensor(object));
    return PyBool_FromLong(!value.node->op && !value.node->isNumber() && !Session::hasMemory(value));
  });
}

/// Equal for tensors that show the same value.
PyObject *valueId(PyObject *, PyObject *object) {
  return guarded([&]() -> PyObject * {
    Value value = valueOf(deviceTensor(object));
    return text(std::to_string(reinterpret_cast<uintptr_t>(value.node.get())) + ", " + std::to_string(value.index));
  });
}

PyObject *increment(PyObject *, PyObject *args) {
  const char *name;
  long long by;
  if (!PyArg_ParseTuple(args, "sL", &name, &by))
    return nullptr;
  tracing::Metrics::get().count(name, by);
  Py_RETURN_NONE;
}

PyObject *numPrograms(PyObject *, PyObject *) { return PyLong_FromSize_t(Session::get().numPrograms()); }
PyObject *forgetPrograms(PyObject *, PyObject *) {
  return guarded([]() -> PyObject * {
    runtime::Status status = Session::get().forgetPrograms();
    if (!status.ok())
      raise(status);
    Py_RETURN_NONE;
  });
}

} // namespace

PyMethodDef warmGraphMethods[] = {
    {"_xla_get_tensor_id", tensorId, METH_O, "A number that only tensors over the same memory share that show the same of it: a parameter's views by detach()."},
    {"_get_graph_hash", graphHash, METH_O, "Bytes that are equal for graphs of the same structure."},
    {"_xla_warm_up_cache", warmUp, METH_VARARGS, "(tensors, devices): compiles the graph of these tensors and runs nothing."},
    {"_run_cached_graph", runCached, METH_VARARGS, "(hash, inputs): runs the program of a graph."},
    {"_get_tensors_xla_device_data_node", inputsOf, METH_O, "(ids, tensors): the inputs of the graph of these tensors."},
    {"_get_seed_info_id", seedId, METH_NOARGS, "The id of every input that is a random number."},
    {"_get_base_seed_as_tensor", seedTensor, METH_O, "A new random number, for such an input."},
    {"_live_tensors", liveTensors, METH_NOARGS, "A tensor over the memory of every tensor that is alive."},
    {"_clear_pending_irs", clearPending, METH_O, "Forgets what was recorded; its tensors have no value any more."},
    {"_set_buffer_donation", setDonation, METH_VARARGS, "(tensor, shouldDonate): whether the next program that reads it may have its memory."},
    {"_get_buffer_donation", getDonation, METH_O, "Whether the memory of a tensor is, or was, given up."},
    {"_release_donated", releaseDonated, METH_O, "Of these arguments, what was given up has no memory any more."},
    {"_set_donates_given_up", setDonatesGivenUp, METH_O, "Whether programs other than those of step barriers donate what was given up."},
    {"_get_donates_given_up", getDonatesGivenUp, METH_NOARGS, ""},
    {"_set_xla_enable_device_data_cache", setKeepsNumbers, METH_O, "Whether numbers that the device has had count as no transfer."},
    {"_get_xla_enable_device_data_cache", getKeepsNumbers, METH_NOARGS, ""},
    {"_is_placeholder", isPlaceholder, METH_O, "Whether a tensor has no value, nor anything that computes one."},
    {"_unique_id_for_ir_and_data", valueId, METH_O, "A text that tensors with the same value share."},
    {"_xla_increment_counter", increment, METH_VARARGS, "(name, by)"},
    {"_xla_get_num_cached_compilation_graph", numPrograms, METH_NOARGS, "Programs that are ready to run."},
    {"_xla_computation_cache_clear", forgetPrograms, METH_NOARGS, "Forgets the programs that are ready to run, and deletes those in the folder of initialize_cache()."},
    {nullptr, nullptr, 0, nullptr}};

} // namespace millrace::torch_shim
