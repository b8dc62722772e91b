// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Collective.h - Collective operations over a RunContext --------------===//
#pragma once
#include "runtime/collective/Rendezvous.h"
#include "runtime/kernels/CustomCall.h"
#include "runtime/loader/Loader.h"

namespace millrace::runtime {

/// One of the processes of a group, which divide work among each other.
struct ProcessPart {
  uint32_t index = 0; ///< of the process, in the order of ranks
  uint32_t count = 0; ///< processes
};

struct CollectiveCall {
  const CollectiveStep &step;
  std::vector<TensorView> arguments, results;
  KernelFunction reducer = nullptr; ///< of step.reducer
  std::string_view location;
  uint32_t replica = 0, partition = 0;
  bool isRemote = false; ///< of another process, which has its results; arguments that nobody here reads have no memory
  /// Of a remote call: positions of the group whose parts of the arguments are there, one after the other along the dimension that is
  /// split among the group (reduce_scatter, all_to_all). `dims` are those of the whole arguments. Empty: all are there.
  std::vector<uint32_t> pieces = {};
  /// Of a remote call: whose part of the arguments is there (see partOfProcess()); of 0 processes: all of it.
  ProcessPart part = {};
  /// "all_reduce (sum) of f32[4]", for messages between processes; see describeCall(). Empty where there is one.
  std::string title = {};
};

/// What CollectiveCall::title says of an operation with these arguments.
std::string describeCall(const CollectiveStep &step, const std::vector<TensorView> &arguments);

/// The dimension of arguments that is split among the members of the group, each of which reads one part; -1 if all read everything.
int64_t splitDimension(const CollectiveStep &step);

/// Whether each process of the group works out a part of the results for all, instead of all of its own: twice as many messages, but each
/// operand is sent once instead of to everybody. `hosts`: of each process that has members of the group; asked for large calls.
bool isParted(const CollectiveCall &call, const std::function<std::vector<std::string>()> &hosts);

/// The elements [begin, end) of argument `i` that are a process's part. The parts of all arguments together have equal sizes.
std::pair<int64_t, int64_t> partOfProcess(const std::vector<TensorView> &arguments, size_t i, ProcessPart part);

/// Blocks until all members of this device's group take part; see RunContext for how a wait ends. Reductions combine
/// in group order on every device, so all get the same bits.
Status runCollective(RunContext &context, const CollectiveCall &call);

/// The same in two halves, between which the device may do anything but write its arguments or look at its results. `call` lives until
/// the second one, or leave(), has returned. Null: there is nothing to wait for.
StatusOr<std::shared_ptr<RunContext::Meeting>> startCollective(RunContext &context, const CollectiveCall &call);
Status finishCollective(RunContext &context, const CollectiveCall &call, RunContext::Meeting &meeting);

/// Members of the group that (replica, partition) belongs to, in group order; empty if it is in none. For
/// CollectivePermute: everybody who can be a source or target together with it.
std::vector<uint32_t> collectiveGroup(const CollectiveStep &step, uint32_t replica, uint32_t partition,
                                      uint32_t numReplicas, uint32_t numPartitions);

/// out[i] = lhs[i] op rhs[i] for elements of any type; out may be lhs. False if `type` has no such reduction.
bool reduceElements(CollectiveStep::Reduction reduction, DType type, const void *lhs, const void *rhs, void *out,
                    int64_t elements);

/// out[i] = ((operands[0][i] + operands[1][i]) + operands[2][i]) + ..., all read side by side: memory delivers several streams at once.
/// `out` is none of them. Types of 16 bits are added up as f32 and rounded once. False if that is not made for `type`, or for one operand.
bool sumElements(DType type, const std::vector<const void *> &operands, void *out, int64_t elements);

} // namespace millrace::runtime
