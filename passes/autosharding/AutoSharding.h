// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AutoSharding.h - Choose the shardings of a program -----------------===//
#pragma once

#include "passes/autosharding/Machine.h"
#include "passes/autosharding/Memory.h"
#include "passes/autosharding/PlanStore.h"

#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace millrace::spmd {
class CallPartitioner;
}

namespace millrace::autosharding {

/// The programs of which autoShard() takes the one whose simulated step is the shortest.
enum class Candidate {
  SharedMessages,   ///< planned; sums that no contraction waits for share messages
  SeparateMessages, ///< planned; every sum has a message of its own
  Annotations       ///< not planned: annotations are propagated, and all other values are replicated
};
/// Returns "a plan whose sums share messages", "a plan with a message for each sum" or "the program as annotated".
llvm::StringRef name(Candidate candidate);

struct AutoShardingOptions {
  std::string mesh; ///< a mesh such as "data=2,model=4", in whose axes annotations over other meshes are expressed; empty for the module's mesh
  Machine machine = Machine::virtualDevices();
  int64_t memoryPerDevice = 0; ///< limit of the bytes of values on a device; 0 for none
  int64_t reserved = 0;        ///< bytes of the limit for copies of resharded values; autoShard() determines them
  int64_t iterations = 0;      ///< iterations of the solver; 0 for its default
  Candidate candidate = Candidate::SharedMessages; ///< what is made; autoShard() tries all of them
  unsigned threads = 1;        ///< threads of the solver, without influence on the plan
  double cutoff = 0;           ///< seconds: a plan is not improved any more when no plan takes less; 0 for none. autoShard() determines them
  bool explains = false;       ///< collect AutoShardingReport::tensors
  std::string problemFile;     ///< file to which the problem is written, in the format of solver/ProblemReader.h; empty for none
  PlanStore plans;             ///< where plans are looked up and stored
  /// What memory the compiled program takes; may be empty: then every value has memory from its operation to its last reader.
  MemoryOf memoryOf;
  spmd::CallPartitioner *calls = nullptr; ///< partitions custom calls of a client, for the bytes of the partitioned program; may be null
  std::function<void(const std::string &)> progress; ///< called with the solver's progress, in the calling thread; may be empty
};

/// The reason of a tensor's sharding.
struct PlannedTensor {
  std::string name, line; ///< `argument 0 of @main "x" : tensor<8x8xf32>`, `file:line`
  std::string sharding;   ///< "[{"data"}, {}]"
  double seconds = 0;     ///< time of the operation that determines it, with its communication and the reshards of its readers
  int64_t bytes = 0;      ///< bytes on a device
  /// Another sharding of the tensor. Everything else stays as planned, except for values that must have equal shardings (values of a loop, results
  /// that alias arguments).
  struct Alternative {
    std::string sharding;
    double more = 0; ///< additional seconds per step; infinite if the alternative is impossible
  };
  std::vector<Alternative> alternatives; ///< the cheapest first
  bool isAnnotated = false;              ///< an annotation decides the sharding, or a part of it
};

/// One of the programs that autoShard() compared.
struct ComparedCandidate {
  Candidate candidate;
  bool isTaken = false;
  std::optional<double> seconds; ///< of the simulated step of its partitioned program; nothing if it could not be simulated
  int64_t peak = 0;              ///< peak bytes of values of the partitioned program
  std::string whyNot;            ///< the reason why it could not be taken, whatever its step takes; empty if it could
};

/// The predicted cost of the plan, or of the annotations alone where those were taken.
struct AutoShardingReport {
  double computing = 0, communicating = 0; ///< seconds per device
  double bytes = 0;                        ///< bytes that a device receives
  int64_t peak = 0;                        ///< peak bytes of values on a device
  std::string notLowered;                  ///< why AutoShardingOptions::memoryOf had no answer, so that `peak` counts every value
  int64_t partitionedPeak = 0;             ///< peak bytes of values of the partitioned program; 0 if it is unknown
  std::string notPartitioned;              ///< why no candidate was simulated, so that none was compared, and a limit holds for `peak` alone
  bool isLimited = false;                  ///< AutoShardingOptions::memoryPerDevice was set
  std::vector<ComparedCandidate> candidates; ///< in the order in which they were tried; one is taken
  double bound = 0;                        ///< lower bound of the seconds for every choice of these strategies
  double gap = 0;                          ///< upper bound of (cost - best cost) / best cost, for these strategies
  size_t variables = 0, edges = 0;
  std::vector<PlannedTensor> tensors;      ///< set if AutoShardingOptions::explains
  int64_t recomputedValues = 0, recomputedOperations = 0; ///< rematerialized values, and operations that were cloned for them
  double recomputing = 0;                                 ///< predicted seconds of the clones, part of `computing`
  double sharedMessages = 0; ///< the most seconds of a step that the plan lacks if too few sums share messages; 0 if none can
  bool isStored = false; ///< the plan was found in AutoShardingOptions::plans

  /// Returns the seconds of the simulated step; if it was not simulated, those that the plan is expected to take.
  double seconds() const;
  /// Returns true if the program as annotated was taken.
  bool isAsAnnotated() const;
};

/// "; it is at most 0.10 % above the best of its kind", or nothing if no plan is known with which it could be compared.
std::string gapText(const AutoShardingReport &report);

/// "; 12 values are computed again instead of kept (30 operations, 0.120 ms)", or nothing.
std::string recomputationText(const AutoShardingReport &report);

/// "; the limit holds for values of the plan alone, because …", or without a limit "; it was compared with no other, because …", or nothing.
std::string uncheckedText(const AutoShardingReport &report);

/// "a plan with a message for each sum was taken: 1.200 ms in the simulated step; the program as annotated: 1.500 ms", or nothing if none was simulated.
std::string candidatesText(const AutoShardingReport &report);

/// Gives every value of the module an explicit sharding; annotations are kept. The chosen plan's functions replace those of the module: handles of
/// operations from before are invalid. The module must have a mesh and static shapes. Errors are reported at
/// the operation that cannot be planned, or at the module, which is then unchanged. Of the candidates (above) the one with the shortest simulated step is
/// taken: what a shared message takes depends on all sums together, and a plan's reshards may take longer than all that it saves. Plans with separate
/// messages are made where shared ones are a share of the step. Where the best plan exceeds AutoShardingOptions::memoryPerDevice, values are computed
/// again in front of late readers (Rematerialize.h) if a step of that program takes less time than a plan that splits the values further. The limit holds
/// for the partitioned program, which has copies of resharded values besides: as long as it takes more, the plan gets less. A candidate that cannot be
/// partitioned is taken if all others cannot either; the report then says why, and with a limit a warning does.
llvm::LogicalResult autoShard(mlir::ModuleOp module, const AutoShardingOptions &options, AutoShardingReport *report = nullptr);

} // namespace millrace::autosharding
