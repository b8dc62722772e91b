// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef MILLRACE_PASSES_SPMD_PASSES_TD
#define MILLRACE_PASSES_SPMD_PASSES_TD

include "mlir/Pass/PassBase.td"

def SpmdPartitionPass : Pass<"xla-spmd-partition", "::mlir::ModuleOp"> {
  let summary = "Turn a program over global tensors into the program of each device";
  let description = [{
    Reads sdy attributes and operations, `mhlo.sharding` strings with their custom calls, and the `xla.sdy.*` forms of old
    exports. Afterwards @main takes and returns what one of the `mhlo.num_partitions` devices holds; its arguments and
    results carry `mhlo.sharding` strings that say which part that is. Bodies of manual computations run as written.
    Elsewhere a value has the sharding that propagation found (passes/sharding); one without keeps that of its operands while
    operations allow, see passes/spmd/OpRules.h, and is gathered where not.
    A module without shardings is left alone. Shapes must be static.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::millrace::sdy::SdyDialect"];
}

def VerifyPartitionPass : Pass<"xla-verify-partition", "::mlir::ModuleOp"> {
  let summary = "Check that a module is the program of one device, whose collectives fit together";
  let description = [{
    Every partitioned program is checked. Nothing of sdy is left, no sharding string but on functions' arguments and results, where it
    fits the devices and the shape, and none of the partitioner's custom calls. Groups of a collective name every device once
    (collective_broadcast: at most once), and shapes go with their size. Channels from `own-channels` on belong to one collective each;
    none is that of a collective and of a transfer.
  }];
  let options = [Option<"ownChannels", "own-channels", "int64_t", "1", "the first channel that is not the program's own choice">];
}

def ConvertGlobalToLocalPass : Pass<"sdy-convert-global-to-local", "::mlir::ModuleOp"> {
  let summary = "Give every value the shape that a device holds, and turn sdy collectives into stablehlo's";
  let description = [{
    For programs whose operands and results go together already (sdy-insert-explicit-reshards) and whose changes of sharding
    are collectives (sdy-reshard-to-collectives): every operation is converted on its own. Where a split dimension is reduced,
    each device has a summand, and the all_reduce that follows is the program's. Parts must divide dimensions. Shardings stay.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::millrace::sdy::SdyDialect"];
  let options = [
    Option<"replicaCount", "replica-count", "int64_t", "0", "devices that are replicas">,
    Option<"partitionCount", "partition-count", "int64_t", "0", "devices that are partitions: all of them unless there are replicas only">,
    Option<"perDimAllGather", "per-dim-all-gather", "bool", "false",
           "one all_gather per dimension, instead of one whose parts are put in place afterwards">,
    Option<"perDimAllGatherOld", "per-dimension-all-gather", "bool", "false", "per-dim-all-gather under its older name">,
    Option<"combineReduceScatter", "combine-multi-dimensions-reduce-scatter", "bool", "false",
           "several dimensions are scattered by one reduce_scatter, instead of slices of an all_reduce">,
    Option<"combineReduceScatterOld", "combine-multi-dimension-reduce-scatter", "bool", "false",
           "combine-multi-dimensions-reduce-scatter under its older name">,
    Option<"meshAxesGroups", "enable-rgv3", "bool", "false", "groups are axes of a mesh instead of lists of devices">];
}

def ResolvePermutationFactorsPass : Pass<"sdy-resolve-permutation-factors", "::mlir::ModuleOp"> {
  let summary = "Let neighbours exchange what slices, pads, windows and the like need of each other's parts";
  let description = [{
    An operation with a split dimension of a permutation factor (shifted by slice, pad, reverse, windows, concatenate) becomes a
    manual computation in which devices send each other the elements that they lack. What parts do not divide is filled up before
    and cut off behind. Without the exchange, and where xla-spmd-partition has none, such dimensions are resharded to be whole
    before the operation, and split again behind it.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::millrace::sdy::SdyDialect"];
  let options = [
    Option<"haloExchange", "enable-halo-exchange", "bool", "true", "exchange instead of gathering">,
    Option<"replicaCount", "replica-count", "int64_t", "1", "devices that are replicas">,
    Option<"partitionCount", "partition-count", "int64_t", "1", "devices that are partitions: all of them unless there are replicas only">,
    Option<"unsafeRandom", "rng-bit-generator-unsafe", "bool", "false",
           "refused if true: devices would draw other bits than one device does">];
}

def PerInstructionPartitioningPass : Pass<"sdy-per-instruction-partitioning", "::mlir::ModuleOp"> {
  let summary = "Selected operations run on parts, each in a manual computation of its own";
  let description = [{
    To find out which operation is partitioned wrongly: the rest of the program stays as it is. Operations over several meshes, and
    those whose parts do not divide them, stay too.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::millrace::sdy::SdyDialect"];
  let options = [
    Option<"filter", "filter", "std::string", "", "`selectLow=N`, `selectHigh=N`, `func=NAME` and parts of operations' names; all if empty">,
    Option<"haloExchange", "enable-halo-exchange", "bool", "true", "as in sdy-resolve-permutation-factors">,
    Option<"replicaCount", "replica-count", "int64_t", "1", "devices that are replicas">,
    Option<"partitionCount", "partition-count", "int64_t", "1", "devices that are partitions">];
}

def PadForDivisibilityPass : Pass<"sdy-pad-for-divisibility", "::mlir::ModuleOp"> {
  let summary = "Make dimensions as long as their parts together";
  let description = [{
    A dimension that is cut into parts which do not divide it grows at its end; nobody looks at what stands there, and where
    it would be summed it is replaced by the neutral element. Collectives that take all cuts of a dimension away are followed
    by a slice. For programs whose operands and results go together (sdy-insert-explicit-reshards) and whose changes of
    sharding are collectives (sdy-reshard-to-collectives).
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::millrace::sdy::SdyDialect"];
}

def ResolveSingleDeviceShardingPass : Pass<"sdy-resolve-single-device-sharding", "::mlir::func::FuncOp"> {
  let summary = "Results of an operation on one device are sent to all";
  let description = [{
    Every device runs the operation; what the device of its maximal sharding computes is broadcast, and the results have no
    sharding then.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect", "::millrace::sdy::SdyDialect"];
  let options = [
    Option<"replicaCount", "replica-count", "int64_t", "1", "devices that are replicas">,
    Option<"partitionCount", "partition-count", "int64_t", "1", "devices that are partitions: all of them unless there are replicas only">];
}

def CombineCollectivesPass : Pass<"xla-combine-collectives", "::mlir::func::FuncOp"> {
  let summary = "Put small collectives of the same groups that do not need each other into one";
  let description = [{
    all_reduce, all_gather and all_to_all take many operands. Of reduce_scatter, which takes one, operands are laid side by side, which copies
    them; so far as rows of parts are a reshape. A message is as many bytes as go in or come out, whichever is more. Partitioned
    programs get this with the limits below, which are what pays on devices that share memory (docs/communication.md).
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", "kMostReduceBytes", "of one all_reduce; 0 leaves them apart">,
    Option<"maxGatherBytes", "max-gather-bytes", "int64_t", "1048576", "of one all_gather or all_to_all: what is gathered early is kept longer">,
    Option<"maxScatterBytes", "max-scatter-bytes", "int64_t", "65536", "of one reduce_scatter">];
}

def SplitCollectivesPass : Pass<"xla-split-collectives", "::mlir::func::FuncOp"> {
  let summary = "Make several messages of one that is large";
  let description = [{
    An all_reduce of all gradients waits for the last of them, and holds what goes in and what comes out at once. In parts it begins while the
    backward pass makes the others, and an optimizer takes a part when it is there.
  }];
  let options = [Option<"maxBytes", "max-bytes", "int64_t", "kMostReduceBytes", "of one all_reduce with several operands">];
}

def OverlapCollectivesPass : Pass<"xla-overlap-collectives", "::mlir::func::FuncOp"> {
  let summary = "Start collectives before, and wait for them behind, work that does not need them";
  let description = [{
    A collective becomes an async_start and an async_done: a device that arrives early goes on with other kernels instead of waiting
    for its partners. What comes between the two is work of at most `share` times the collective's bytes, counted in the bytes that it
    reads and writes: more would hide no more, but keep memory. A collective with nothing to put between stays one operation.
    Runs last, when kernels are fixed; xla-opt runs it on any program of one device.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
  let options = [Option<"share", "share", "double", "1", "bytes of work beside a collective per byte of its own; 0: no pairs">];
}

def WindowProductsPass : Pass<"xla-window-products", "::mlir::func::FuncOp"> {
  let summary = "Multiply gathered values part by part, while the next part travels";
  let description = [{
    On devices that share processors and memory a ring wins where a large gathered value meets few columns: parts are read from the caches
    (docs/communication.md). Partitioned programs get that; `overlap` adds what wins where transfers need no processor.
  }];
  let dependentDialects = ["::millrace::stablehlo::StablehloDialect"];
  let options = [
    Option<"overlap", "overlap", "double", "0", "share of a transfer that is hidden behind a product beside it">,
    Option<"gigaflops", "gigaflops", "double", "100", "how fast a device multiplies">];
}

#endif
