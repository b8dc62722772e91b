// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Api.cpp - Functions of _XLAC that look at devices, graphs, memory ---===//
#include "python/torch_xla/csrc/Functions.h"
#include "tracing/graph/Liveness.h"
#include "tracing/emit/StoredTypes.h"
#include "runtime/base/Environment.h"

#include <ATen/ops/from_blob.h>
#include <algorithm>
#include <atomic>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace millrace::torch_shim {

using tracing::Operand;
using tracing::Session;

static std::atomic<bool> saidDefault = false;

std::string chooseDevice() {
  if (const std::string device = runtime::environment::text("PJRT_DEVICE"); !device.empty()) {
    static const std::string known[] = {"CPU", "TPU", "TPU_C_API", "TPU_LEGACY", "CUDA", "GPU", "ROCM", "XPU", "NEURON"}; // PyTorch/XLA's
    TORCH_CHECK(std::find(std::begin(known), std::end(known), device) != std::end(known), "Unknown PJRT_DEVICE '", device,
                "': the only device available is CPU");
    TORCH_CHECK(device == "CPU", "PJRT_DEVICE is ", device, ", but the only device available is CPU");
    return device;
  }
  TORCH_CHECK(!runtime::environment::isOff("PJRT_SELECT_DEFAULT_DEVICE"), "PJRT_DEVICE is not set, and PJRT_SELECT_DEFAULT_DEVICE=0 wants no device to be "
              "chosen: the only device available is CPU (PJRT_DEVICE=CPU)");
  if (!saidDefault.exchange(true))
    std::fputs("torch_xla: PJRT_DEVICE is not set, so the device is CPU\n", stderr);
  return "CPU";
}

runtime::BufferPtr bufferOf(const Tensor &tensor) {
  Session &session = Session::get();
  Value value = valueOf(tensor);
  tracing::ForAValue kept;
  if (runtime::Status status = session.sync({value}); !status.ok())
    raise(status);
  return valueOrRaise(session.buffer(value));
}

namespace {

const Tensor &tensorOf(PyObject *object) {
  TORCH_CHECK(isTensor(object) && isXla(tensorIn(object)), "expects a tensor of the xla device");
  return tensorIn(object);
}

//===-- Devices -------------------------------------------------------------===//

PyObject *defaultDeviceWasSaid(PyObject *, PyObject *) { return PyBool_FromLong(saidDefault); }
PyObject *deviceType(PyObject *, PyObject *) {
  return guarded([&]() -> PyObject * { return text(chooseDevice()); });
}

const std::shared_ptr<runtime::Client> &client() {
  chooseDevice();
  const std::shared_ptr<runtime::Client> &made = Session::get().client();
  TORCH_CHECK(made, "the device cannot be used: ", Session::get().startStatus().message());
  return made;
}

PyObject *runtimeDeviceCount(PyObject *, PyObject *) {
  return guarded([&]() -> PyObject * { return PyLong_FromSize_t(client()->devices().size()); });
}

PyObject *countDevices(PyObject *, PyObject *) { return PyLong_FromLong(deviceCount()); }
PyObject *currentDeviceIndex(PyObject *, PyObject *) { return PyLong_FromLong(xlaDevice().index()); }
PyObject *setCurrentDevice(PyObject *, PyObject *number) {
  const long index = PyLong_AsLong(number);
  if (index == -1 && PyErr_Occurred())
    return nullptr;
  return guarded([&]() -> PyObject * {
    TORCH_CHECK(index >= 0 && index < deviceCount(), "expects the index of a device, 0 to ", deviceCount() - 1, ", but got ", index);
    c10::impl::getDeviceGuardImpl(c10::kXLA)->setDevice(c10::Device(c10::kXLA, c10::DeviceIndex(index)));
    Py_RETURN_NONE;
  });
}

PyObject *memoryStats(PyObject *, PyObject *) {
  return guarded([&]() -> PyObject * {
    runtime::AllocatorStats stats = client()->devices()[0]->memoryStats();
    return Py_BuildValue("(KKK)", (unsigned long long)stats.inUse, (unsigned long long)stats.peak, (unsigned long long)stats.limit);
  });
}

PyObject *clearMemoryStats(PyObject *, PyObject *) {
  return guarded([&]() -> PyObject * {
    client()->devices()[0]->clearMemoryStats();
    Py_RETURN_NONE;
  });
}

PyObject *gatheredBytes(PyObject *, PyObject *) {
  return guarded([&]() -> PyObject * { return PyLong_FromUnsignedLongLong(Session::get().gatheredBytes()); });
}

//===-- Graphs --------------------------------------------------------------===//

PyObject *needMaterialization(PyObject *, PyObject *list) {
  return guarded([&]() -> PyObject * {
    Ref fast = Ref::steal(PySequence_Fast(list, "expects a list of tensors"));
    if (!fast.object)
      return nullptr;
    Ref made = Ref::steal(PyList_New(0));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.object); ++i) {
      PyObject *item = PySequence_Fast_GET_ITEM(fast.object, i);
      TORCH_CHECK(isTensor(item), "expects tensors");
      const Tensor &tensor = tensorIn(item);
      PyList_Append(made.object, isXla(tensor) && valueOf(tensor).node->op ? Py_True : Py_False);
    }
    return std::exchange(made.object, nullptr);
  });
}

PyObject *aliasId(PyObject *, PyObject *tensor) {
  return guarded([&]() -> PyObject * { return PyLong_FromVoidPtr(tensorOf(tensor).storage().unsafeGetStorageImpl()); });
}

/// The values of the tensors, each computed after all of them.
std::vector<Value> behindBarrier(const std::vector<Tensor> &tensors) {
  std::vector<Value> values;
  for (const Tensor &tensor : tensors)
    values.push_back(valueOf(tensor));
  if (values.empty())
    return values;
  std::vector<Operand> operands;
  std::vector<Shape> shapes;
  for (const Value &value : values) {
    operands.push_back(Operand{int32_t(operands.size())});
    shapes.push_back(value.shape());
  }
  const tracing::Op *op = tracing::findOp("millrace::optimization_barrier");
  Value made = tracing::record(op, std::move(values), {std::move(operands)}, std::move(shapes));
  values.clear();
  for (size_t i = 0; i < tensors.size(); ++i)
    values.push_back({made.node, uint32_t(i)});
  return values;
}

PyObject *optimizationBarrier(PyObject *, PyObject *list) {
  return guarded([&]() -> PyObject * {
    std::vector<Tensor> tensors = tensorsOf(list);
    std::vector<Value> values = behindBarrier(tensors);
    for (size_t i = 0; i < tensors.size(); ++i)
      setValue(tensors[i], values[i]);
    Py_RETURN_NONE;
  });
}

PyObject *behindOptimizationBarrier(PyObject *, PyObject *list) {
  return guarded([&]() -> PyObject * {
    std::vector<Value> values = behindBarrier(tensorsOf(list));
    PyObject *made = PyList_New(Py_ssize_t(values.size()));
    for (size_t i = 0; i < values.size(); ++i)
      PyList_SET_ITEM(made, Py_ssize_t(i), pythonOf(wrap(values[i])));
    return made;
  });
}

//===-- Memory --------------------------------------------------------------===//

constexpr const char *kReadyCapsule = "torch_xla.ready";

PyObject *awaitTensor(PyObject *, PyObject *object) {
  return guarded([&]() -> PyObject * {
    const Tensor &tensor = tensorOf(object);
    runtime::Status status;
    {
      WithoutGil released;
      status = bufferOf(tensor)->ready().await();
    }
    if (!status.ok())
      raise(status);
    Py_RETURN_NONE;
  });
}

/// When what the tensor shows now is computed, for _await_ready(). The event and not the buffer: a later program may take over the memory of
/// a tensor that is gone, and buffers that were given away have no events.
PyObject *readyCapsule(PyObject *, PyObject *object) {
  return guarded([&]() -> PyObject * {
    const Tensor &tensor = tensorOf(object);
    auto held = std::make_unique<runtime::Event>();
    {
      WithoutGil released;
      noteStack();
      *held = bufferOf(tensor)->ready();
    }
    PyObject *made = PyCapsule_New(held.get(), kReadyCapsule, [](PyObject *capsule) {
      delete static_cast<runtime::Event *>(PyCapsule_GetPointer(capsule, kReadyCapsule));
    });
    if (made)
      (void)held.release(); // the capsule's now
    return made;
  });
}

PyObject *awaitReady(PyObject *, PyObject *capsule) {
  return guarded([&]() -> PyObject * {
    auto *held = static_cast<runtime::Event *>(PyCapsule_GetPointer(capsule, kReadyCapsule));
    if (!held)
      return nullptr;
    runtime::Status status;
    {
      WithoutGil released;
      status = held->await();
    }
    if (!status.ok())
      raise(status);
    Py_RETURN_NONE;
  });
}

/// The address of the tensor's memory, after it was computed; valid until the tensor is written or gone.
PyObject *bufferPointer(PyObject *, PyObject *object) {
  return guarded([&]() -> PyObject * {
    const Tensor &tensor = tensorOf(object);
    void *data;
    {
      WithoutGil released;
      data = valueOrRaise(bufferOf(tensor)->acquire())->data();
    }
    return PyLong_FromVoidPtr(data);
  });
}

/// _replace_xla_tensor(tensor, source): the tensor shows the value of the source from now on, as do all views of it; one of other sizes
/// gets memory of its own.
PyObject *replaceTensor(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    PyObject *target, *source;
    if (!PyArg_ParseTuple(args, "OO", &target, &source))
      return nullptr;
    const Tensor &to = tensorOf(target), &from = tensorOf(source);
    if (to.sizes() == from.sizes()) {
      TORCH_CHECK(c10::canCast(from.scalar_type(), to.scalar_type()), "result type ", from.scalar_type(),
                  " can't be cast to the desired output type ", to.scalar_type());
      setValue(to, resolved(to, convertTo(shownValue(from), to.scalar_type())));
    } else {
      TORCH_CHECK(to.dtype() == from.dtype(), "expects tensors of one type, but got ", to.dtype(), " and ", from.dtype());
      at::TensorImpl *impl = to.unsafeGetTensorImpl();
      impl->set_storage_keep_dtype(wrap(resolved(to, shownValue(from))).storage());
      impl->set_storage_offset(0);
      impl->set_sizes_contiguous(from.sizes());
    }
    Py_INCREF(target);
    return target;
  });
}

/// The device keeps tensors of this type in another one: their memory cannot be shared.
bool isStoredOtherwise(const Tensor &tensor) {
  runtime::DType dtype = dtypeOf(tensor.scalar_type());
  return tracing::storedType(dtype) != dtype;
}

/// A tensor of the CPU over the memory of one of the device, after it was computed.
PyObject *toCpuAlias(PyObject *, PyObject *object) {
  return guarded([&]() -> PyObject * {
    const Tensor &tensor = tensorOf(object);
    Tensor made;
    {
      WithoutGil released;
      if (tensor.is_conj() || tensor.is_neg() || isStoredOtherwise(tensor)) {
        made = toCpu(tensor);
      } else {
        std::shared_ptr<runtime::Storage> memory = valueOrRaise(bufferOf(tensor)->acquire());
        void *data = memory->data();
        made = at::from_blob(data, tensor.sizes(), [memory](void *) {}, at::TensorOptions().dtype(tensor.scalar_type()));
      }
    }
    return pythonOf(made);
  });
}

/// A tensor of the device over the memory of one of the CPU, which is never written by the device.
PyObject *fromCpuAlias(PyObject *, PyObject *object) {
  return guarded([&]() -> PyObject * {
    TORCH_CHECK(isTensor(object) && tensorIn(object).is_cpu(), "expects a tensor of the CPU");
    Tensor cpu = tensorIn(object).detach();
    bool isAligned = reinterpret_cast<uintptr_t>(cpu.const_data_ptr()) % 64 == 0;
    if (isStoredOtherwise(cpu) || !cpu.is_contiguous() || cpu.is_conj() || cpu.is_neg() || !isAligned || cpu.numel() == 0)
      return pythonOf(wrap(upload(cpu)));
    Shape shape{dtypeOf(cpu.scalar_type()), cpu.sizes().vec()};
    const runtime::MemorySpace &space = client()->devices()[0]->memories().front();
    void *data = const_cast<void *>(cpu.const_data_ptr());
    runtime::BufferPtr buffer =
        valueOrRaise(client()->viewOf(data, shape.dtype, shape.dims, /*isMutable=*/false, space, [cpu] {}));
    return pythonOf(wrap(tracing::leaf(std::move(buffer), std::move(shape))));
  });
}

} // namespace

PyMethodDef apiMethods[] = {
    {"_default_device_was_said", defaultDeviceWasSaid, METH_NOARGS, "Whether a tensor was made without PJRT_DEVICE, which a line said."},
    {"_device_type", deviceType, METH_NOARGS, "The device that PJRT_DEVICE asks for; an error if there is none."},
    {"_runtime_device_count", runtimeDeviceCount, METH_NOARGS, "Devices of the runtime's client."},
    {"_device_count", countDevices, METH_NOARGS, "Devices that tensors can be on."},
    {"_current_device", currentDeviceIndex, METH_NOARGS, "The index of the one on which this thread makes tensors."},
    {"_set_current_device", setCurrentDevice, METH_O, ""},
    {"_memory_stats", memoryStats, METH_NOARGS, "(bytes in use, largest number of bytes in use, bytes that may be, 0 for any number)"},
    {"_clear_memory_stats", clearMemoryStats, METH_NOARGS, "The largest number of bytes in use is that of now."},
    {"_gathered_bytes", gatheredBytes, METH_NOARGS, "Bytes of results of all_gather that are there at once at most, of all graphs' programs so far."},
    {"_check_tensor_need_materialization", needMaterialization, METH_O, "Whether each tensor still has to be computed."},
    {"_xla_get_tensor_view_alias_id", aliasId, METH_O, "A number that tensors over the same memory share."},
    {"_xla_optimization_barrier_", optimizationBarrier, METH_O, "Nothing that uses these tensors moves before all of them."},
    {"_behind_optimization_barrier", behindOptimizationBarrier, METH_O, "New tensors with the values of these, each computed after all of them."},
    {"_await_tensor", awaitTensor, METH_O, "Computes the tensor and waits for it."},
    {"_ready", readyCapsule, METH_O, "When what the tensor shows now is computed, for _await_ready()."},
    {"_await_ready", awaitReady, METH_O, "Waits for what _ready() gave."},
    {"_unsafe_buffer_pointer", bufferPointer, METH_O, "The address of a tensor's memory."},
    {"_replace_xla_tensor", replaceTensor, METH_VARARGS, "Gives a tensor the value of another."},
    {"_to_cpu_alias", toCpuAlias, METH_O, "A tensor of the CPU over the memory of a tensor of the device."},
    {"_from_cpu_alias", fromCpuAlias, METH_O, "A tensor of the device over the memory of a tensor of the CPU."},
    {nullptr, nullptr, 0, nullptr}};

} // namespace millrace::torch_shim
