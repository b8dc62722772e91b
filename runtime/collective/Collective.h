// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Collective.h - Collective operations over a RunContext --------------===//
#pragma once
#include "runtime/collective/Rendezvous.h"
#include "runtime/kernels/CustomCall.h"
#include "runtime/loader/Loader.h"

namespace millrace::runtime {

/// One of the processes of a group that divide the work of a collective.
struct ProcessPart {
  uint32_t index = 0; ///< index of the process in the order of ranks
  uint32_t count = 0; ///< number of processes
};

struct CollectiveCall {
  const CollectiveStep &step;
  std::vector<TensorView> arguments, results;
  KernelFunction reducer = nullptr; ///< the kernel of step.reducer
  std::string_view location;
  uint32_t replica = 0, partition = 0;
  bool isRemote = false; ///< the call is of another process, where its results are; arguments that this process does not read have no memory
  /// Of a remote call: the positions of the group whose parts of the arguments are available, concatenated along the dimension that is split among
  /// the group (reduce_scatter, all_to_all). `dims` are those of the whole arguments. Empty if all parts are available.
  std::vector<uint32_t> pieces = {};
  /// Of a remote call: whose part of the arguments is available (see partOfProcess()); of 0 processes if all of it is.
  ProcessPart part = {};
  /// "all_reduce (sum) of f32[4]", for messages between processes; see describeCall(). Empty if there is one process.
  std::string title = {};
};

/// Returns CollectiveCall::title for an operation with these arguments.
std::string describeCall(const CollectiveStep &step, const std::vector<TensorView> &arguments);

/// Returns the dimension of the arguments that is split among the members of the group, each of which reads one part; -1 if all members read
/// everything.
int64_t splitDimension(const CollectiveStep &step);

/// Returns true if each process of the group computes a part of the results for all processes, instead of all of its own results: that takes twice as
/// many messages, but each operand is sent once instead of to every process. `hosts` returns the host of each process of the group; it is called for
/// large calls.
bool isParted(const CollectiveCall &call, const std::function<std::vector<std::string>()> &hosts);

/// Returns the elements [begin, end) of argument `i` that are a process's part. The parts of all arguments together have equal sizes.
std::pair<int64_t, int64_t> partOfProcess(const std::vector<TensorView> &arguments, size_t i, ProcessPart part);

/// Executes the collective and blocks until all members of this device's group take part; RunContext describes how a wait ends. Reductions are
/// computed in the order of the group on every device, so that all get the same bits.
Status runCollective(RunContext &context, const CollectiveCall &call);

/// Starts the collective. Until its completion the device may do anything but write its arguments or access its results. `call` must live until the
/// completion, or leave(), has returned. Returns null if there is nothing to wait for.
StatusOr<std::shared_ptr<RunContext::Meeting>> startCollective(RunContext &context, const CollectiveCall &call);
Status finishCollective(RunContext &context, const CollectiveCall &call, RunContext::Meeting &meeting);

/// Returns the members of the group that contains (replica, partition), in group order; empty if it is in none. For CollectivePermute: all members
/// that can be a source or target together with it.
std::vector<uint32_t> collectiveGroup(const CollectiveStep &step, uint32_t replica, uint32_t partition,
                                      uint32_t numReplicas, uint32_t numPartitions);

/// Computes out[i] = lhs[i] op rhs[i] for elements of any type; `out` may be `lhs`. Returns false if `type` has no such reduction.
bool reduceElements(CollectiveStep::Reduction reduction, DType type, const void *lhs, const void *rhs, void *out,
                    int64_t elements);

/// Computes out[i] = ((operands[0][i] + operands[1][i]) + operands[2][i]) + ... in one pass over all operands, because memory serves several streams
/// at once. `out` is no operand. Types of 16 bits are accumulated in f32 and rounded once. Returns false if `type` is not supported, and for one
/// operand.
bool sumElements(DType type, const std::vector<const void *> &operands, void *out, int64_t elements);

} // namespace millrace::runtime
