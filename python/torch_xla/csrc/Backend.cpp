// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Backend.cpp - torch.distributed's backend "xla" ----------------------===//
#include "python/torch_xla/csrc/Backend.h"

#include "runtime/base/Hash.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <cctype>
#include <numeric>

namespace millrace::torch_shim {

using c10d::OpType;
using c10d::ReduceOp;
using Tensors = XlaBackend::Tensors;
using WorkPtr = XlaBackend::WorkPtr;

namespace {

/// Of messages that the backend sends for a collective of its own; those of users have no negative tags.
constexpr int64_t kPieces = -1;

/// Has the values of tensors of the device computed, and waits at most so long for them. `what` begins the error of who has waited in vain.
void awaitResults(const Tensors &results, double seconds, const char *what) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (const Tensor &result : results) {
    if (!isXla(result))
      continue;
    Value value = valueOf(result);
    if (runtime::Status status = tracing::Session::get().sync({value}); !status.ok())
      raise(status);
    const runtime::Event ready = valueOrRaise(tracing::Session::get().buffer(value))->ready();
    TORCH_CHECK_WITH(DistBackendError, ready.awaitFor(std::max(0.0, std::chrono::duration<double>(end - std::chrono::steady_clock::now()).count())),
                     what, " has not ended within its timeout of ", seconds, " s");
    if (runtime::Status status = ready.await(); !status.ok())
      raise(status);
  }
}

/// Work that was recorded: the device does it in order, nobody has to wait.
class RecordedWork final : public c10d::Work {
public:
  RecordedWork(int rank, OpType type, Tensors results, std::function<void()> onWait = nullptr)
      : Work(rank, type), results(std::move(results)), onWait(std::move(onWait)) {}
  bool isCompleted() override { return !onWait; }
  bool isSuccess() const override { return true; }
  Tensors result() override { return results; }
  void synchronize() override { wait(c10d::kUnsetTimeout); }
  /// With a timeout, the results are computed and waited for so long; else they stay recorded.
  bool wait(std::chrono::milliseconds timeout) override {
    if (std::function<void()> once = std::exchange(onWait, nullptr))
      once();
    if (timeout > std::chrono::milliseconds(0))
      awaitResults(results, std::chrono::duration<double>(timeout).count(), "Work.wait: the operation");
    return true;
  }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    wait(c10d::kUnsetTimeout);
    auto future = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
    future->markCompleted(c10::IValue(results));
    return future;
  }

private:
  Tensors results;
  std::function<void()> onWait;
};

/// What a collective needs around it: the other processes, and no autograd.
struct Recording {
  at::AutoDispatchBelowADInplaceOrView belowAutograd;
};

/// Of a tensor of the device, or a copy of a CPU tensor. What becomes of the latter is copied back, which waits for it.
Value contiguousValue(const Tensor &tensor) { return valueOf(isXla(tensor) ? tensor.contiguous() : tensor.to(xlaDevice())); }

/// Numbers that a reduction of torch.distributed is made of.
std::string nameOf(const ReduceOp &op, const Tensor &tensor) {
  const bool isBool = tensor.scalar_type() == at::kBool;
  switch (op.op_) {
  case ReduceOp::SUM:
    return isBool ? "or" : "add";
  case ReduceOp::AVG:
    TORCH_CHECK(!at::isIntegralType(tensor.scalar_type(), /*includeBool=*/true), "ReduceOp.AVG of integers: expects a tensor of a floating-point type, "
                "but got ", tensor.scalar_type(), "; use ReduceOp.SUM, and divide as you want the quotients rounded");
    return "add";
  case ReduceOp::PREMUL_SUM:
    return "add";
  case ReduceOp::PRODUCT:
    return isBool ? "and" : "multiply";
  case ReduceOp::MIN:
    return isBool ? "and" : "minimum";
  case ReduceOp::MAX:
    return isBool ? "or" : "maximum";
  case ReduceOp::BAND:
    return "and";
  case ReduceOp::BOR:
    return "or";
  case ReduceOp::BXOR:
    return "xor";
  default:
    TORCH_CHECK_VALUE(false, "the xla backend has no reduction number ", int(op.op_));
  }
}

void checkBitwise(const ReduceOp &op, const Tensor &tensor) {
  const bool isBitwise = op.op_ == ReduceOp::BAND || op.op_ == ReduceOp::BOR || op.op_ == ReduceOp::BXOR;
  TORCH_CHECK(!isBitwise || at::isIntegralType(tensor.scalar_type(), /*includeBool=*/true),
              "bitwise reductions (BAND, BOR, BXOR) expect a tensor of integers, but got ", tensor.scalar_type());
}

/// What is multiplied with before a PREMUL_SUM.
Tensor scaled(const ReduceOp &op, const Tensor &tensor) {
  if (op.op_ != ReduceOp::PREMUL_SUM)
    return tensor;
  const auto *supplement = dynamic_cast<const c10d::PreMulSumSupplement *>(op.supplement_.get());
  TORCH_CHECK(supplement, "ReduceOp.PREMUL_SUM without a factor");
  return supplement->tensor_factor.defined() ? tensor * supplement->tensor_factor : tensor * supplement->double_factor;
}

Tensors joined(const std::vector<Tensors> &lists) {
  Tensors all;
  for (const Tensors &list : lists)
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

/// The parts of a tensor along dim 0, of these sizes or all of one.
Tensors partsOf(const Tensor &tensor, const std::vector<int64_t> &sizes, size_t count, const char *name) {
  if (sizes.empty()) {
    TORCH_CHECK(tensor.dim() && tensor.size(0) % int64_t(count) == 0, name, ": expects a dim 0 that the ", count,
                " processes of the group divide, but got sizes ", tensor.sizes());
    return tensor.split(std::max<int64_t>(1, tensor.size(0) / int64_t(count)), 0);
  }
  TORCH_CHECK(sizes.size() == count && std::accumulate(sizes.begin(), sizes.end(), int64_t(0)) == tensor.size(0), name, ": expects ", count,
              " split sizes whose sum is ", tensor.size(0), ", but got ", sizes);
  return tensor.split_with_sizes(sizes, 0);
}

} // namespace

void XlaBackend::setTimeout(std::chrono::milliseconds timeout) {
  const double seconds = std::chrono::duration<double>(timeout).count();
  if (runtime::Status status = tracing::Session::get().setTimeout({ranks.begin(), ranks.end()}, groupName, groupNumber, seconds); !status.ok())
    raise(status);
}

/// Letters and digits that stand for the name; PyTorch's own are that already. The group of all processes, which is made first, needs none.
static std::string nameFor(const std::string &group) {
  if (group == "0")
    return "";
  const bool isPlain = std::all_of(group.begin(), group.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  return isPlain ? group : std::to_string(runtime::hash64(group.data(), group.size(), 0));
}

XlaBackend::XlaBackend(int rank, tracing::Ranks members, std::string group)
    : Backend(rank, int(members.size())), ranks(std::move(members)), groupName(nameFor(group)), groupNumber(uint32_t(runtime::hash64(group.data(), group.size(), 0)) >> 1) {}

int64_t XlaBackend::channelOf(int64_t tag) const { return int64_t(groupNumber) << 32 | int64_t(uint32_t(tag)); }

int64_t XlaBackend::member(int64_t position) const {
  TORCH_CHECK_VALUE(position >= 0 && position < int64_t(ranks.size()), "rank ", position, " is not in the group, which has ", ranks.size(), " processes");
  return ranks[size_t(position)];
}

WorkPtr XlaBackend::done(OpType type, Tensors results) {
  ++recorded;
  return c10::make_intrusive<RecordedWork>(getRank(), type, std::move(results));
}

WorkPtr XlaBackend::endCoalescing() {
  std::lock_guard lock(mutex);
  auto self = c10::intrusive_ptr<XlaBackend>::reclaim_copy(this);
  return c10::make_intrusive<RecordedWork>(getRank(), OpType::COALESCED, Tensors(), [self, last = receives] { self->takeReceives(last); });
}

//===-- Reductions ----------------------------------------------------------===//

void XlaBackend::reduceInPlace(Tensors &tensors, const ReduceOp &op) {
  Recording recording;
  if (!isAlone())
    connectWorld();
  // One operation per element type.
  std::vector<bool> isDone(tensors.size());
  for (size_t first = 0; first < tensors.size(); ++first) {
    if (isDone[first])
      continue;
    std::vector<size_t> alike;
    std::vector<Value> values;
    for (size_t i = first; i < tensors.size(); ++i) {
      if (isDone[i] || tensors[i].scalar_type() != tensors[first].scalar_type())
        continue;
      isDone[i] = true;
      checkBitwise(op, tensors[i]);
      if (tensors[i].numel() == 0)
        continue;
      alike.push_back(i);
      values.push_back(contiguousValue(scaled(op, tensors[i])));
    }
    if (alike.empty())
      continue;
    std::string reduction = nameOf(op, tensors[first]);
    if (!isAlone())
      values = valueOrRaise(tracing::allReduce(values, ranks, reduction, groupName));
    for (size_t k = 0; k < alike.size(); ++k) {
      Tensor made = wrap(std::move(values[k]));
      tensors[alike[k]].copy_(op.op_ == ReduceOp::AVG ? made.div_(int64_t(ranks.size())) : made);
    }
  }
}

WorkPtr XlaBackend::allreduce(Tensors &tensors, const c10d::AllreduceOptions &options) {
  reduceInPlace(tensors, options.reduceOp);
  return done(OpType::ALLREDUCE, tensors);
}

WorkPtr XlaBackend::allreduce_coalesced(Tensors &tensors, const c10d::AllreduceCoalescedOptions &options) {
  reduceInPlace(tensors, options.reduceOp);
  return done(OpType::ALLREDUCE_COALESCED, tensors);
}

WorkPtr XlaBackend::reduce(Tensors &tensors, const c10d::ReduceOptions &options) {
  member(options.rootRank);
  Recording recording;
  Tensors copies;
  for (const Tensor &tensor : tensors)
    copies.push_back(getRank() == options.rootRank ? tensor : tensor.clone());
  reduceInPlace(copies, options.reduceOp);
  return done(OpType::REDUCE, tensors);
}

void XlaBackend::reduceScatterInto(Tensor &output, const Tensor &input, const ReduceOp &op) {
  Recording recording;
  TORCH_CHECK(input.numel() == output.numel() * int64_t(ranks.size()), "reduce_scatter: expects an input of ", ranks.size(), " x ", output.numel(),
              " elements, but got ", input.numel());
  checkBitwise(op, input);
  if (output.numel() == 0)
    return;
  Tensor rows = scaled(op, input).reshape({int64_t(ranks.size()), -1});
  if (!isAlone()) {
    connectWorld();
    rows = wrap(valueOrRaise(tracing::reduceScatter(contiguousValue(rows), ranks, nameOf(op, input), groupName)));
  }
  if (op.op_ == ReduceOp::AVG)
    rows = rows / int64_t(ranks.size());
  output.copy_(rows.reshape(output.sizes()));
}

WorkPtr XlaBackend::reduce_scatter(Tensors &outputs, std::vector<Tensors> &inputs, const c10d::ReduceScatterOptions &options) {
  TORCH_CHECK(outputs.size() == inputs.size(), "reduce_scatter: expects as many lists of inputs as outputs");
  Recording recording;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (inputs[i].size() == 1 && ranks.size() > 1 && inputs[i][0].numel() == outputs[i].numel() * int64_t(ranks.size())) { // joined already
      reduceScatterInto(outputs[i], inputs[i][0], options.reduceOp);
      continue;
    }
    TORCH_CHECK(inputs[i].size() == ranks.size(), "reduce_scatter: expects ", ranks.size(), " inputs, one per process of the group, but got ", inputs[i].size());
    bool areEqual = std::all_of(inputs[i].begin(), inputs[i].end(), [&](const Tensor &each) { return each.sizes() == outputs[i].sizes(); });
    if (areEqual) {
      Tensors flat;
      for (const Tensor &each : inputs[i])
        flat.push_back(each.reshape({-1}));
      reduceScatterInto(outputs[i], at::cat(flat), options.reduceOp);
      continue;
    }
    // Parts of different sizes: each is reduced by all, and kept by its owner.
    Tensors parts;
    for (const Tensor &each : inputs[i])
      parts.push_back(each.clone());
    reduceInPlace(parts, options.reduceOp);
    outputs[i].copy_(parts[size_t(getRank())]);
  }
  return done(OpType::REDUCE_SCATTER, outputs);
}

WorkPtr XlaBackend::_reduce_scatter_base(Tensor &output, Tensor &input, const c10d::ReduceScatterOptions &options) {
  reduceScatterInto(output, input, options.reduceOp);
  return done(OpType::_REDUCE_SCATTER_BASE, {output});
}

WorkPtr XlaBackend::reduce_scatter_tensor_coalesced(Tensors &outputs, Tensors &inputs, const c10d::ReduceScatterOptions &options) {
  TORCH_CHECK(outputs.size() == inputs.size(), "reduce_scatter: expects as many inputs as outputs");
  for (size_t i = 0; i < outputs.size(); ++i)
    reduceScatterInto(outputs[i], inputs[i], options.reduceOp);
  return done(OpType::COALESCED, outputs);
}

//===-- Everybody's tensors -------------------------------------------------===//

WorkPtr XlaBackend::broadcast(Tensors &tensors, const c10d::BroadcastOptions &options) {
  const int64_t root = member(options.rootRank);
  Recording recording;
  if (!isAlone()) {
    connectWorld();
    for (Tensor &tensor : tensors)
      if (tensor.numel())
        tensor.copy_(wrap(valueOrRaise(tracing::broadcast(contiguousValue(tensor), ranks, root, groupName))));
  }
  return done(OpType::BROADCAST, tensors);
}

void XlaBackend::gatherInto(Tensor &output, const Tensor &input) {
  Recording recording;
  TORCH_CHECK(output.numel() == input.numel() * int64_t(ranks.size()), "all_gather: expects an output of ", ranks.size(), " x ", input.numel(),
              " elements, but got ", output.numel());
  TORCH_CHECK(output.scalar_type() == input.scalar_type(), "all_gather: expects an output of type ", input.scalar_type(), ", but got ", output.scalar_type());
  if (output.numel() == 0)
    return;
  Tensor rows = input.reshape({1, -1});
  if (!isAlone()) {
    connectWorld();
    rows = wrap(valueOrRaise(tracing::allGather(contiguousValue(rows), ranks, groupName)));
  }
  output.copy_(rows.reshape(output.sizes()));
}

WorkPtr XlaBackend::allgather(std::vector<Tensors> &outputs, Tensors &inputs, const c10d::AllgatherOptions &options) {
  TORCH_CHECK(outputs.size() == inputs.size(), "all_gather: expects as many lists of outputs as inputs");
  Recording recording;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TORCH_CHECK(outputs[i].size() == ranks.size(), "all_gather: expects ", ranks.size(), " outputs, one per process of the group, but got ", outputs[i].size());
    bool areEqual = std::all_of(outputs[i].begin(), outputs[i].end(), [&](const Tensor &each) { return each.numel() == inputs[i].numel(); });
    if (!areEqual) { // each process's own size: what it has is sent to everybody
      for (size_t position = 0; position < ranks.size(); ++position) {
        Tensor shown = position == size_t(getRank()) ? inputs[i].clone() : outputs[i][position].clone();
        Tensors one{shown};
        c10d::BroadcastOptions fromThere;
        fromThere.rootRank = int64_t(position);
        broadcast(one, fromThere);
        outputs[i][position].copy_(one[0].reshape(outputs[i][position].sizes()));
      }
      continue;
    }
    std::vector<int64_t> sizes = inputs[i].sizes().vec();
    sizes.insert(sizes.begin(), int64_t(ranks.size()));
    Tensor all = at::empty(sizes, inputs[i].options());
    gatherInto(all, inputs[i]);
    for (size_t position = 0; position < ranks.size(); ++position)
      outputs[i][position].copy_(all.select(0, int64_t(position)).reshape(outputs[i][position].sizes()));
  }
  return done(OpType::ALLGATHER, joined(outputs));
}

WorkPtr XlaBackend::allgather_coalesced(std::vector<Tensors> &outputs, Tensors &inputs, const c10d::AllgatherOptions &options) {
  // outputs[rank][i]
  std::vector<Tensors> byInput(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    for (const Tensors &ofRank : outputs) {
      TORCH_CHECK(ofRank.size() == inputs.size(), "all_gather_coalesced: expects ", inputs.size(), " outputs per process, but got ", ofRank.size());
      byInput[i].push_back(ofRank[i]);
    }
  return allgather(byInput, inputs, options);
}

WorkPtr XlaBackend::_allgather_base(Tensor &output, Tensor &input, const c10d::AllgatherOptions &) {
  gatherInto(output, input);
  return done(OpType::_ALLGATHER_BASE, {output});
}

WorkPtr XlaBackend::allgather_into_tensor_coalesced(Tensors &outputs, Tensors &inputs, const c10d::AllgatherOptions &) {
  TORCH_CHECK(outputs.size() == inputs.size(), "all_gather: expects as many outputs as inputs");
  for (size_t i = 0; i < inputs.size(); ++i)
    gatherInto(outputs[i], inputs[i]);
  return done(OpType::COALESCED, outputs);
}

//===-- Parts from one to another -------------------------------------------===//

void XlaBackend::sendPiece(const Tensor &piece, int64_t target, int64_t channel) {
  valueOrRaise(tracing::sendTo(contiguousValue(piece), target, channel));
}

void XlaBackend::receivePiece(Tensor target, int64_t source, int64_t channel) {
  target.copy_(wrap(valueOrRaise(tracing::receiveFrom(contiguousValue(target), source, channel))));
}

/// inputs[i] goes to member i, that of member i to outputs[i].
void XlaBackend::exchangePieces(const Tensors &outputs, const Tensors &inputs) {
  if (!isAlone())
    connectWorld();
  const size_t own = size_t(getRank());
  for (size_t i = 0; i < ranks.size(); ++i)
    if (i != own && inputs[i].numel())
      sendPiece(inputs[i], ranks[i], channelOf(kPieces));
  Tensor(outputs[own]).copy_(inputs[own]);
  for (size_t i = 0; i < ranks.size(); ++i)
    if (i != own && outputs[i].numel())
      receivePiece(outputs[i], ranks[i], channelOf(kPieces));
}

WorkPtr XlaBackend::alltoall(Tensors &outputs, Tensors &inputs, const c10d::AllToAllOptions &) {
  TORCH_CHECK(outputs.size() == ranks.size() && inputs.size() == ranks.size(), "all_to_all: expects ", ranks.size(),
              " inputs and outputs, one per process of the group, but got ", inputs.size(), " and ", outputs.size());
  Recording recording;
  exchangePieces(outputs, inputs);
  return done(OpType::ALLTOALL, outputs);
}

WorkPtr XlaBackend::alltoall_base(Tensor &output, Tensor &input, std::vector<int64_t> &outputSizes, std::vector<int64_t> &inputSizes,
                                  const c10d::AllToAllOptions &) {
  Recording recording;
  if (!outputSizes.empty() || !inputSizes.empty() || isAlone()) {
    exchangePieces(partsOf(output, outputSizes, ranks.size(), "all_to_all_single"), partsOf(input, inputSizes, ranks.size(), "all_to_all_single"));
    return done(OpType::ALLTOALL_BASE, {output});
  }
  TORCH_CHECK(output.numel() == input.numel() && input.dim() && input.size(0) % int64_t(ranks.size()) == 0,
              "all_to_all_single: expects an input whose dim 0 the ", ranks.size(), " processes of the group divide, and an output of as many elements, but got sizes ",
              input.sizes(), " and ", output.sizes());
  if (input.numel()) {
    connectWorld();
    output.copy_(wrap(valueOrRaise(tracing::allToAll(contiguousValue(input), ranks, groupName))).reshape(output.sizes()));
  }
  return done(OpType::ALLTOALL_BASE, {output});
}

WorkPtr XlaBackend::gather(std::vector<Tensors> &outputs, Tensors &inputs, const c10d::GatherOptions &options) {
  const int64_t root = member(options.rootRank);
  Recording recording;
  if (!isAlone())
    connectWorld();
  TORCH_CHECK(inputs.size() == 1, "gather: expects one tensor per process, but got ", inputs.size());
  if (getRank() != options.rootRank) {
    sendPiece(inputs[0], root, channelOf(kPieces));
    return done(OpType::GATHER, {});
  }
  TORCH_CHECK(outputs.size() == 1 && outputs[0].size() == ranks.size(), "gather: the root expects ", ranks.size(), " outputs, one per process of the group");
  for (size_t i = 0; i < ranks.size(); ++i)
    if (int64_t(i) == options.rootRank)
      outputs[0][i].copy_(inputs[0]);
    else
      receivePiece(outputs[0][i], ranks[i], channelOf(kPieces));
  return done(OpType::GATHER, outputs[0]);
}

WorkPtr XlaBackend::scatter(Tensors &outputs, std::vector<Tensors> &inputs, const c10d::ScatterOptions &options) {
  const int64_t root = member(options.rootRank);
  Recording recording;
  if (!isAlone())
    connectWorld();
  TORCH_CHECK(outputs.size() == 1, "scatter: expects one tensor per process, but got ", outputs.size());
  if (getRank() != options.rootRank) {
    receivePiece(outputs[0], root, channelOf(kPieces));
    return done(OpType::SCATTER, outputs);
  }
  TORCH_CHECK(inputs.size() == 1 && inputs[0].size() == ranks.size(), "scatter: the root expects ", ranks.size(), " inputs, one per process of the group");
  for (size_t i = 0; i < ranks.size(); ++i)
    if (int64_t(i) == options.rootRank)
      outputs[0].copy_(inputs[0][i]);
    else
      sendPiece(inputs[0][i], ranks[i], channelOf(kPieces));
  return done(OpType::SCATTER, outputs);
}

WorkPtr XlaBackend::send(Tensors &tensors, int target, int tag) {
  TORCH_CHECK(member(target) != ranks[size_t(getRank())], "send: process ", target, " of the group is this one");
  Recording recording;
  connectWorld();
  for (const Tensor &tensor : tensors)
    sendPiece(tensor, member(target), channelOf(tag));
  return done(OpType::SEND, tensors);
}

WorkPtr XlaBackend::recv(Tensors &tensors, int source, int tag) {
  TORCH_CHECK(member(source) != ranks[size_t(getRank())], "recv: process ", source, " of the group is this one");
  connectWorld();
  uint64_t last = 0;
  {
    std::lock_guard lock(mutex);
    for (const Tensor &tensor : tensors)
      pending.push_back({last = ++receives, tensor, member(source), channelOf(tag)});
  }
  ++recorded;
  auto self = c10::intrusive_ptr<XlaBackend>::reclaim_copy(this);
  return c10::make_intrusive<RecordedWork>(getRank(), OpType::RECV, tensors, [self, last] { self->takeReceives(last); });
}

void XlaBackend::takeReceives(uint64_t last) {
  Recording recording;
  while (true) {
    std::unique_lock lock(mutex);
    if (pending.empty() || pending.front().number > last)
      return;
    Receive next = std::move(pending.front());
    pending.pop_front();
    receivePiece(next.target, next.source, next.channel); // under the lock: messages of one sender come in order
  }
}

WorkPtr XlaBackend::recvAnysource(Tensors &, int) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "recv on the backend xla: expects the rank of the sender, recv(tensor, src=1) for instance, but got none: a program is "
                              "compiled for one sender. Messages of unknown senders need a group of the backend gloo and tensors of the CPU");
}

WorkPtr XlaBackend::barrier(const c10d::BarrierOptions &options) {
  Recording recording;
  if (!isAlone()) {
    Tensor met = at::zeros({1}, at::TensorOptions().dtype(at::kInt).device(xlaDevice()));
    Tensors tensors{met};
    reduceInPlace(tensors, ReduceOp::SUM);
    if (options.timeout > std::chrono::milliseconds(0)) // of this call: barrier(timeout=...)
      awaitResults(tensors, std::chrono::duration<double>(options.timeout).count(), "barrier: it");
    else
      (void)met.cpu(); // waits
  }
  return done(OpType::BARRIER, {});
}

} // namespace millrace::torch_shim
