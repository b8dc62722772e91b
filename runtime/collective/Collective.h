// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Collective.h - Collective operations over a RunContext --------------===//
#pragma once
#include "runtime/collective/Rendezvous.h"
#include "runtime/kernels/CustomCall.h"
#include "runtime/loader/Loader.h"

namespace millrace::runtime {

struct CollectiveCall {
  const CollectiveStep &step;
  std::vector<TensorView> arguments, results;
  KernelFunction reducer = nullptr; ///< of step.reducer
  std::string_view location;
  uint32_t replica = 0, partition = 0;
};

/// Blocks until all members of this device's group take part; see RunContext for how a wait ends. Reductions combine
/// in group order on every device, so all get the same bits.
Status runCollective(RunContext &context, const CollectiveCall &call);

/// Members of the group that (replica, partition) belongs to, in group order; empty if it is in none. For
/// CollectivePermute: everybody who can be a source or target together with it.
std::vector<uint32_t> collectiveGroup(const CollectiveStep &step, uint32_t replica, uint32_t partition,
                                      uint32_t numReplicas, uint32_t numPartitions);

/// out[i] = lhs[i] op rhs[i] for elements of any type; out may be lhs. False if `type` has no such reduction.
bool reduceElements(CollectiveStep::Reduction reduction, DType type, const void *lhs, const void *rhs, void *out,
                    int64_t elements);

} // namespace millrace::runtime
