// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Backend.h - torch.distributed's backend "xla" ------------------------===//
#pragma once
#include "python/torch_xla/csrc/Shim.h"
#include "tracing/graph/Collectives.h"

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <deque>
#include <memory>
#include <mutex>

namespace millrace::torch_shim {

/// Collectives among the processes of a group, on tensors of the device (and on CPU tensors, which are copied). They are recorded, and run in the order of recording at the next step
/// barrier or when a value is read: Work is complete when it is made. Receives are recorded when somebody waits for them, because those who send
/// and receive at once (batch_isend_irecv) may name the receives first.
class XlaBackend final : public c10d::Backend {
public:
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;
  using Tensors = std::vector<Tensor>;

  /// `ranks`: the members' ranks in the world, of which that at position `rank` is this process.
  XlaBackend(int rank, tracing::Ranks ranks, std::string group);

  const std::string getBackendName() const override { return "xla"; }
  bool supportsCoalescing() const override { return true; }
  void startCoalescing() override {}
  WorkPtr endCoalescing() override;
  void setSequenceNumberForGroup() override {}
  uint64_t getSequenceNumberForGroup() override { return recorded; }
  /// Of all collectives of these processes. The timeouts of options are without effect: a collective is recorded, and may run much later.
  void setTimeout(std::chrono::milliseconds timeout) override;

  WorkPtr broadcast(Tensors &tensors, const c10d::BroadcastOptions &options) override;
  WorkPtr allreduce(Tensors &tensors, const c10d::AllreduceOptions &options) override;
  WorkPtr allreduce_coalesced(Tensors &tensors, const c10d::AllreduceCoalescedOptions &options) override;
  WorkPtr reduce(Tensors &tensors, const c10d::ReduceOptions &options) override;
  WorkPtr allgather(std::vector<Tensors> &outputs, Tensors &inputs, const c10d::AllgatherOptions &options) override;
  WorkPtr allgather_coalesced(std::vector<Tensors> &outputs, Tensors &inputs, const c10d::AllgatherOptions &options) override;
  WorkPtr _allgather_base(Tensor &output, Tensor &input, const c10d::AllgatherOptions &options) override;
  WorkPtr allgather_into_tensor_coalesced(Tensors &outputs, Tensors &inputs, const c10d::AllgatherOptions &options) override;
  WorkPtr gather(std::vector<Tensors> &outputs, Tensors &inputs, const c10d::GatherOptions &options) override;
  WorkPtr scatter(Tensors &outputs, std::vector<Tensors> &inputs, const c10d::ScatterOptions &options) override;
  WorkPtr reduce_scatter(Tensors &outputs, std::vector<Tensors> &inputs, const c10d::ReduceScatterOptions &options) override;
  WorkPtr _reduce_scatter_base(Tensor &output, Tensor &input, const c10d::ReduceScatterOptions &options) override;
  WorkPtr reduce_scatter_tensor_coalesced(Tensors &outputs, Tensors &inputs, const c10d::ReduceScatterOptions &options) override;
  WorkPtr alltoall(Tensors &outputs, Tensors &inputs, const c10d::AllToAllOptions &options) override;
  WorkPtr alltoall_base(Tensor &output, Tensor &input, std::vector<int64_t> &outputSizes, std::vector<int64_t> &inputSizes,
                        const c10d::AllToAllOptions &options) override;
  WorkPtr send(Tensors &tensors, int target, int tag) override;
  WorkPtr recv(Tensors &tensors, int source, int tag) override;
  WorkPtr recvAnysource(Tensors &tensors, int tag) override;
  WorkPtr barrier(const c10d::BarrierOptions &options) override;

  /// Records the receives that were begun up to number `last`.
  void takeReceives(uint64_t last);

private:
  struct Receive {
    uint64_t number;
    Tensor target;
    int64_t source, channel;
  };
  bool isAlone() const { return ranks.size() == 1; }
  WorkPtr done(c10d::OpType type, Tensors results);
  void reduceInPlace(Tensors &tensors, const c10d::ReduceOp &reduction);
  void gatherInto(Tensor &output, const Tensor &input);
  void reduceScatterInto(Tensor &output, const Tensor &input, const c10d::ReduceOp &reduction);
  void sendPiece(const Tensor &piece, int64_t target, int64_t channel);
  void receivePiece(Tensor target, int64_t source, int64_t channel);
  void exchangePieces(const Tensors &outputs, const Tensors &inputs);
  int64_t channelOf(int64_t tag) const;
  int64_t member(int64_t position) const;

  const tracing::Ranks ranks;
  const std::string groupName; ///< of operations, in letters and digits
  const uint32_t groupNumber; ///< of messages: equal in all members, and another one for another group of the same processes
  std::atomic<uint64_t> recorded{0};
  std::mutex mutex;
  uint64_t receives = 0;       ///< guarded by mutex
  std::deque<Receive> pending; ///< guarded by mutex
};

/// Waits until the other processes of the world are connected. Not to be called under the session's mutex. World.cpp
void connectWorld();

} // namespace millrace::torch_shim
