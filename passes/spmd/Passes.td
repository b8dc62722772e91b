// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MILLRACE_PASSES_SPMD_PASSES_TD
#define MILLRACE_PASSES_SPMD_PASSES_TD

include "mlir/Pass/PassBase.td"

def SpmdPartitionPass : Pass<"xla-spmd-partition", "::mlir::ModuleOp"> {
  let summary = "Convert a program over global tensors to the program of one device";
  let description = [{
    Reads sdy attributes and operations, `mhlo.sharding` strings with their custom calls, and the `xla.sdy.*` forms of old exports. Afterwards @main
    takes and returns the shards of one of the `mhlo.num_partitions` devices; `mhlo.sharding` strings of its arguments and results say which shard
    each device holds. Bodies of manual computations run as written. Elsewhere a value has the sharding that propagation found (passes/sharding); a
    value without one keeps that of its operands where the operation allows it, see passes/spmd/OpRules.h, and is gathered where it does not. A module
    without shardings is not changed. Shapes must be static.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::millrace::sdy::SdyDialect"];
}

def VerifyPartitionPass : Pass<"xla-verify-partition", "::mlir::ModuleOp"> {
  let summary = "Verify that a module is the program of one device, and that its collectives are consistent";
  let description = [{
    Runs on every partitioned program. No sdy operations or attributes are left, no sharding strings except of functions' arguments and results, which
    fit the devices and the shapes, and none of the partitioner's custom calls. Groups of a collective contain every device once
    (collective_broadcast: at most once), and agree with the shapes. Channels from `own-channels` on belong to one collective each; no collective
    shares a channel with a transfer.
  }];
  let options = [Option<"ownChannels", "own-channels", "int64_t", "1", "first channel that the partitioner has assigned">];
}

def ConvertGlobalToLocalPass : Pass<"sdy-convert-global-to-local", "::mlir::ModuleOp"> {
  let summary = "Convert all values to the shapes of shards, and sdy collectives to StableHLO collectives";
  let description = [{
    Requires that operands and results are compatible (sdy-insert-explicit-reshards) and that changes of sharding are collectives
    (sdy-reshard-to-collectives), so that every operation is converted on its own. Where a sharded dimension is reduced, each device computes a
    summand, and the program contains the all_reduce. The number of shards must divide dimensions. Shardings stay.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::millrace::sdy::SdyDialect"];
  let options = [
    Option<"replicaCount", "replica-count", "int64_t", "0", "number of devices that are replicas">,
    Option<"partitionCount", "partition-count", "int64_t", "0", "number of devices that are partitions; default: all unless there are only replicas">,
    Option<"perDimAllGather", "per-dim-all-gather", "bool", "false",
           "emit one all_gather per dimension, instead of one whose parts are permuted afterwards">,
    Option<"perDimAllGatherOld", "per-dimension-all-gather", "bool", "false", "per-dim-all-gather under its older name">,
    Option<"combineReduceScatter", "combine-multi-dimensions-reduce-scatter", "bool", "false",
           "scatter several dimensions by one reduce_scatter, instead of slices of an all_reduce">,
    Option<"combineReduceScatterOld", "combine-multi-dimension-reduce-scatter", "bool", "false",
           "combine-multi-dimensions-reduce-scatter under its older name">,
    Option<"meshAxesGroups", "enable-rgv3", "bool", "false", "write groups as axes of a mesh instead of lists of devices">];
}

def ResolvePermutationFactorsPass : Pass<"sdy-resolve-permutation-factors", "::mlir::ModuleOp"> {
  let summary = "Exchange halos for sharded slices, pads, windows and the like";
  let description = [{
    An operation with a sharded dimension of a permutation factor (shifted by slice, pad, reverse, windows, concatenate) becomes a manual computation
    in which devices send each other the elements that they lack. Dimensions that the number of shards does not divide are padded before and sliced
    after it. Without the exchange, and where xla-spmd-partition has none, such dimensions are gathered before the operation, and sharded again after
    it.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::millrace::sdy::SdyDialect"];
  let options = [
    Option<"haloExchange", "enable-halo-exchange", "bool", "true", "exchange halos instead of gathering">,
    Option<"replicaCount", "replica-count", "int64_t", "1", "number of devices that are replicas">,
    Option<"partitionCount", "partition-count", "int64_t", "1", "number of devices that are partitions; default: all unless there are only replicas">,
    Option<"unsafeRandom", "rng-bit-generator-unsafe", "bool", "false",
           "refused if true: devices would draw other bits than one device does">];
}

def PerInstructionPartitioningPass : Pass<"sdy-per-instruction-partitioning", "::mlir::ModuleOp"> {
  let summary = "Run selected operations on shards, each in a manual computation of its own";
  let description = [{
    Finds out which operation is partitioned wrongly: the rest of the program is not changed, nor are operations over several meshes, and operations
    whose dimensions the number of shards does not divide.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::millrace::sdy::SdyDialect"];
  let options = [
    Option<"filter", "filter", "std::string", "",
           "`selectLow=N`, `selectHigh=N`, `func=NAME` and substrings of operations' names; all operations if empty">,
    Option<"haloExchange", "enable-halo-exchange", "bool", "true", "as in sdy-resolve-permutation-factors">,
    Option<"replicaCount", "replica-count", "int64_t", "1", "number of devices that are replicas">,
    Option<"partitionCount", "partition-count", "int64_t", "1", "number of devices that are partitions">];
}

def PadForDivisibilityPass : Pass<"sdy-pad-for-divisibility", "::mlir::ModuleOp"> {
  let summary = "Pad dimensions to a multiple of their number of shards";
  let description = [{
    A dimension that the number of shards does not divide is padded at its end. No operation reads the padding; where it would be reduced, it is
    replaced by the neutral element. Collectives that gather all shards of a dimension are followed by a slice. Requires that operands and results are
    compatible (sdy-insert-explicit-reshards) and that changes of sharding are collectives (sdy-reshard-to-collectives).
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::millrace::sdy::SdyDialect"];
}

def ResolveSingleDeviceShardingPass : Pass<"sdy-resolve-single-device-sharding", "::mlir::func::FuncOp"> {
  let summary = "Broadcast results of an operation on one device to all devices";
  let description = [{
    Every device executes the operation; the result of the device of its maximal sharding is broadcast, and the results then have no sharding.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::millrace::sdy::SdyDialect"];
  let options = [
    Option<"replicaCount", "replica-count", "int64_t", "1", "number of devices that are replicas">,
    Option<"partitionCount", "partition-count", "int64_t", "1",
           "number of devices that are partitions; default: all unless there are only replicas">];
}

def CombineCollectivesPass : Pass<"xla-combine-collectives", "::mlir::func::FuncOp"> {
  let summary = "Combine small independent collectives of the same groups";
  let description = [{
    all_reduce, all_gather and all_to_all take many operands. Operands of reduce_scatter, which takes only one, are concatenated (a copy) where rows
    of shards are a reshape. The size of a message is that of its operands or results, whichever is more. Partitioned programs use the limits below,
    which pay on devices that share memory (docs/communication.md).
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", "kMostReduceBytes", "largest size of one all_reduce; 0: combine none">,
    Option<"maxGatherBytes", "max-gather-bytes", "int64_t", "1048576",
           "largest size of one all_gather or all_to_all; a value that is gathered early is kept longer">,
    Option<"maxScatterBytes", "max-scatter-bytes", "int64_t", "65536", "largest size of one reduce_scatter">];
}

def SplitCollectivesPass : Pass<"xla-split-collectives", "::mlir::func::FuncOp"> {
  let summary = "Split large collectives into several messages";
  let description = [{
    An all_reduce of all gradients waits for the last of them, and keeps all operands and results alive together. In parts, it begins while the
    backward pass computes the other gradients, and an optimizer reads a part when it is ready.
  }];
  let options = [Option<"maxBytes", "max-bytes", "int64_t", "kMostReduceBytes", "largest size of one all_reduce with several operands">];
}

def OverlapCollectivesPass : Pass<"xla-overlap-collectives", "::mlir::func::FuncOp"> {
  let summary = "Start collectives before, and wait for them after, independent operations";
  let description = [{
    A collective becomes an async_start and an async_done: a device that arrives early executes other kernels instead of waiting for its partners. The
    operations between the two read and write at most `share` times the bytes of the collective: more would hide no more time, but keep memory alive.
    A collective with no operation to put between stays one operation. Runs last, when kernels are fixed; xla-opt runs it on any program of one
    device.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
  let options = [Option<"share", "share", "double", "1", "bytes of overlapped work per byte of a collective; 0: no pairs">];
}

def WindowProductsPass : Pass<"xla-window-products", "::mlir::func::FuncOp"> {
  let summary = "Multiply gathered values shard by shard, while the next shard is transferred";
  let description = [{
    On devices that share processors and memory, a ring is faster where a large gathered value is multiplied with few columns, because the shards are
    read from the caches (docs/communication.md). Partitioned programs use this; `overlap` adds the contractions that are faster where transfers need
    no processor.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
  let options = [
    Option<"overlap", "overlap", "double", "0", "fraction of a transfer that a concurrent contraction hides">,
    Option<"gigaflops", "gigaflops", "double", "100", "rate at which a device multiplies, in GFLOP/s">];
}

#endif
