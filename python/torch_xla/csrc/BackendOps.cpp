// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BackendOps.cpp - torch.distributed's operators on tensors of the device ===//
// PyTorch has kernels of c10d::* for its own devices only. Each asks the group for the backend of the device and calls the function of that name.
// And _XLAC._make_backend, the one function that needs PyTorch's headers for Python to return an object of a class of PyTorch.
#include "python/torch_xla/csrc/Backend.h"
#include "python/torch_xla/csrc/Functions.h"

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/reducer_timer.hpp>
#include <torch/csrc/utils/pybind.h>

namespace millrace::torch_shim {
namespace {

using Group = c10::intrusive_ptr<c10d::ProcessGroup>;
using Reduction = c10::intrusive_ptr<c10d::ReduceOp>;
using Work = c10::intrusive_ptr<c10d::Work>;
using Tensors = XlaBackend::Tensors;

c10::intrusive_ptr<c10d::Backend> backendOf(const Group &group) { return group->getBackend(c10::DeviceType::XLA); }

/// Options that have a timeout.
template <typename Options>
Options within(int64_t timeout, bool isAsync) {
  Options options;
  options.timeout = std::chrono::milliseconds(timeout);
  options.asyncOp = isAsync;
  return options;
}

template <typename Options>
Options reducing(const Reduction &reduction, int64_t timeout, bool isAsync) {
  Options options = within<Options>(timeout, isAsync);
  options.reduceOp = *reduction;
  return options;
}

std::tuple<Tensors, Work> broadcast(at::TensorList tensors, const Group &group, int64_t root, int64_t rootTensor, bool isAsync, int64_t timeout) {
  Tensors list = tensors.vec();
  auto options = within<c10d::BroadcastOptions>(timeout, isAsync);
  options.rootRank = root, options.rootTensor = rootTensor;
  Work work = backendOf(group)->broadcast(list, options);
  return {std::move(list), std::move(work)};
}

std::tuple<Tensors, Work> allreduce(at::TensorList tensors, const Group &group, const Reduction &reduction, const std::optional<Tensor> &sparse, bool isAsync,
                                    int64_t timeout) {
  TORCH_CHECK_NOT_IMPLEMENTED(!sparse, "all_reduce of sparse tensors on the backend xla");
  Tensors list = tensors.vec();
  Work work = backendOf(group)->allreduce(list, reducing<c10d::AllreduceOptions>(reduction, timeout, isAsync));
  return {std::move(list), std::move(work)};
}

Work allreduceCoalesced(at::TensorList tensors, const Group &group, const Reduction &reduction, bool isAsync, int64_t timeout) {
  Tensors list = tensors.vec();
  return backendOf(group)->allreduce_coalesced(list, reducing<c10d::AllreduceCoalescedOptions>(reduction, timeout, isAsync));
}

Work reduce(at::TensorList tensors, const Group &group, const Reduction &reduction, int64_t root, int64_t rootTensor, bool isAsync, int64_t timeout) {
  Tensors list = tensors.vec();
  auto options = reducing<c10d::ReduceOptions>(reduction, timeout, isAsync);
  options.rootRank = root, options.rootTensor = rootTensor;
  return backendOf(group)->reduce(list, options);
}

std::tuple<std::vector<Tensors>, Work> allgather(const std::vector<Tensors> &outputs, at::TensorList inputs, const Group &group, bool isAsync, int64_t timeout) {
  std::vector<Tensors> lists = outputs;
  Tensors list = inputs.vec();
  Work work = backendOf(group)->allgather(lists, list, within<c10d::AllgatherOptions>(timeout, isAsync));
  return {std::move(lists), std::move(work)};
}

std::tuple<Tensor, Work> allgatherBase(Tensor &output, Tensor &input, const Group &group, bool isAsync, int64_t timeout) {
  Work work = backendOf(group)->_allgather_base(output, input, within<c10d::AllgatherOptions>(timeout, isAsync));
  return {output, std::move(work)};
}

Work allgatherCoalesced(const std::vector<Tensors> &outputs, const at::TensorList &inputs, const Group &group, bool) {
  std::vector<Tensors> lists = outputs;
  Tensors list = inputs.vec();
  return backendOf(group)->allgather_coalesced(lists, list);
}

Work allgatherIntoCoalesced(at::TensorList outputs, at::TensorList inputs, const Group &group, bool) {
  Tensors to = outputs.vec(), from = inputs.vec();
  return backendOf(group)->allgather_into_tensor_coalesced(to, from);
}

std::tuple<Tensors, Work> reduceScatter(const at::TensorList &outputs, const std::vector<Tensors> &inputs, const Group &group, const Reduction &reduction,
                                        bool isAsync, int64_t timeout) {
  Tensors to = outputs.vec();
  std::vector<Tensors> from = inputs;
  Work work = backendOf(group)->reduce_scatter(to, from, reducing<c10d::ReduceScatterOptions>(reduction, timeout, isAsync));
  return {std::move(to), std::move(work)};
}

std::tuple<Tensor, Work> reduceScatterBase(Tensor &output, Tensor &input, const Group &group, const Reduction &reduction, bool isAsync, int64_t timeout) {
  Work work = backendOf(group)->_reduce_scatter_base(output, input, reducing<c10d::ReduceScatterOptions>(reduction, timeout, isAsync));
  return {output, std::move(work)};
}

Work reduceScatterCoalesced(at::TensorList outputs, at::TensorList inputs, const Group &group, const Reduction &reduction, bool isAsync, int64_t timeout) {
  Tensors to = outputs.vec(), from = inputs.vec();
  return backendOf(group)->reduce_scatter_tensor_coalesced(to, from, reducing<c10d::ReduceScatterOptions>(reduction, timeout, isAsync));
}

Work gather(const std::vector<Tensors> &outputs, const at::TensorList &inputs, const Group &group, int64_t root, bool isAsync, int64_t timeout) {
  std::vector<Tensors> to = outputs;
  Tensors from = inputs.vec();
  auto options = within<c10d::GatherOptions>(timeout, isAsync);
  options.rootRank = root;
  return backendOf(group)->gather(to, from, options);
}

std::tuple<Tensors, Work> scatter(const at::TensorList &outputs, const std::vector<Tensors> &inputs, const Group &group, int64_t root, bool isAsync,
                                  int64_t timeout) {
  Tensors to = outputs.vec();
  std::vector<Tensors> from = inputs;
  auto options = within<c10d::ScatterOptions>(timeout, isAsync);
  options.rootRank = root;
  Work work = backendOf(group)->scatter(to, from, options);
  return {std::move(to), std::move(work)};
}

std::tuple<Tensors, Work> alltoall(const at::TensorList &outputs, const at::TensorList &inputs, const Group &group, bool isAsync, int64_t timeout) {
  Tensors to = outputs.vec(), from = inputs.vec();
  Work work = backendOf(group)->alltoall(to, from, within<c10d::AllToAllOptions>(timeout, isAsync));
  return {std::move(to), std::move(work)};
}

Work alltoallBase(Tensor &output, Tensor &input, const Group &group, std::vector<int64_t> outputSizes, std::vector<int64_t> inputSizes, bool isAsync,
                  int64_t timeout) {
  return backendOf(group)->alltoall_base(output, input, outputSizes, inputSizes, within<c10d::AllToAllOptions>(timeout, isAsync));
}

Work barrier(Tensor, const Group &group, const std::vector<int64_t> &devices, bool isAsync, int64_t timeout) {
  auto options = within<c10d::BarrierOptions>(timeout, isAsync);
  options.device_ids = devices;
  return backendOf(group)->barrier(options);
}

Work send(at::TensorList tensors, const Group &group, int64_t target, int64_t tag) {
  Tensors list = tensors.vec();
  return backendOf(group)->send(list, int(target), int(tag));
}

Work receive(at::TensorList tensors, const Group &group, int64_t source, int64_t tag) {
  Tensors list = tensors.vec();
  return backendOf(group)->recv(list, int(source), int(tag));
}

Work receiveFromAny(at::TensorList tensors, const Group &group, int64_t tag) {
  Tensors list = tensors.vec();
  return backendOf(group)->recvAnysource(list, int(tag));
}

/// What DistributedDataParallel's log says of times on the device: those of recording, as everywhere on this side.
class RecordingTimer final : public c10d::Timer {
public:
  explicit RecordingTimer(c10::Device) {}
  std::optional<int64_t> measureDifference(Event start, Event end) override {
    std::optional<int64_t> from = getTimestamp(start), to = getTimestamp(end);
    return from && to ? std::optional<int64_t>(*to - *from) : std::nullopt;
  }
};

/// _make_backend(rank, ranks of the members in the world, name of the group, timeout in seconds or 0 for the world's) -> torch.distributed Backend
PyObject *makeBackend(PyObject *, PyObject *args) {
  return guarded([&]() -> PyObject * {
    int rank;
    PyObject *list;
    const char *name;
    double timeout;
    if (!PyArg_ParseTuple(args, "iO!sd", &rank, &PyList_Type, &list, &name, &timeout))
      return nullptr;
    tracing::Ranks ranks;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i)
      ranks.push_back(PyLong_AsLongLong(PyList_GET_ITEM(list, i)));
    if (PyErr_Occurred())
      return nullptr;
    c10::intrusive_ptr<c10d::Backend> made = c10::make_intrusive<XlaBackend>(rank, std::move(ranks), name);
    if (timeout > 0) {
      WithoutGil released;
      made->setTimeout(std::chrono::milliseconds(int64_t(timeout * 1000)));
    }
    return py::cast(made).release().ptr();
  });
}

} // namespace

PyMethodDef backendMethods[] = {{"_make_backend", makeBackend, METH_VARARGS, "torch.distributed's backend for a group of the world's processes."},
                                {nullptr, nullptr, 0, nullptr}};

} // namespace millrace::torch_shim

namespace c10d {
using millrace::torch_shim::RecordingTimer;
C10_REGISTER_TYPED_CLASS(TimerRegistry, c10::kXLA, RecordingTimer)
} // namespace c10d

TORCH_LIBRARY_IMPL(c10d, XLA, m) {
  using namespace millrace::torch_shim;
  m.impl("broadcast_", broadcast);
  m.impl("allreduce_", allreduce);
  m.impl("allreduce_coalesced_", allreduceCoalesced);
  m.impl("reduce_", millrace::torch_shim::reduce);
  m.impl("allgather_", allgather);
  m.impl("_allgather_base_", allgatherBase);
  m.impl("allgather_coalesced_", allgatherCoalesced);
  m.impl("allgather_into_tensor_coalesced_", allgatherIntoCoalesced);
  m.impl("reduce_scatter_", reduceScatter);
  m.impl("_reduce_scatter_base_", reduceScatterBase);
  m.impl("reduce_scatter_tensor_coalesced_", reduceScatterCoalesced);
  m.impl("gather_", gather);
  m.impl("scatter_", scatter);
  m.impl("alltoall_", alltoall);
  m.impl("alltoall_base_", alltoallBase);
  m.impl("barrier", barrier);
  m.impl("send", millrace::torch_shim::send);
  m.impl("recv_", receive);
  m.impl("recv_any_source_", receiveFromAny);
}
