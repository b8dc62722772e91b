// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PartitionFunction.cpp - Arguments, results and the pass ------------===//
// Input:   func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32>
// Output:  func.func @main(%a: tensor<4x4xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}"})
//              -> (tensor<4x4xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}"})
// Leaves alone modules in which nothing says how it is sharded.
#include "passes/spmd/KeepDimensions.h"
#include "passes/spmd/Partition.h"
#include "passes/spmd/Partitioner.h"
#include "passes/spmd/Passes.h"

#include "dialects/millrace/Attributes.h"
#include "dialects/sdy/Locations.h"
#include "passes/calls/Passes.h"
#include "passes/chlo/Passes.h"
#include "passes/sharding/explain/Explanation.h"
#include "passes/sharding/Passes.h"
#include "passes/sharding/ProgramPasses.h"
#include "passes/sharding/exchange/RoundTrip.h"
#include "passes/simplify/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::spmd {
#define GEN_PASS_DEF_SPMDPARTITIONPASS
#include "passes/spmd/Passes.h.inc"

namespace {
constexpr llvm::StringLiteral kHloSharding = "mhlo.sharding";
/// Removes the attributes with a value's sharding.
void dropShardings(NamedAttrList &attrs) {
  attrs.erase(sdy::shardingAttrName);
  attrs.erase(kHloSharding);
}
} // namespace

FailureOr<Target> Partitioner::signatureTarget(func::FuncOp function, DictionaryAttr attrs, Type type,
                                               EmitError emitError) {
  Target target{wholeOf(type), {}, {}};
  // Without an annotation, the partitioner chooses any placement.
  target.open.assign(target.placement.size(), true);
  FailureOr<Target> found = target;
  if (auto sharding = attrs.getAs<sdy::TensorShardingAttr>(sdy::shardingAttrName))
    found = targetOf(sharding, type, function, currentScope, emitError);
  else if (auto string = attrs.getAs<StringAttr>(kHloSharding))
    found = targetOf(string.getValue(), type, function, emitError);
  if (failed(found))
    return failure();
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    for (size_t dim = 0; dim < found->placement.size(); ++dim)
      if (tensor.isDynamicDim(dim)) {
        emitError() << "UNIMPLEMENTED: partitioning of dynamic shapes, but got " << type;
        return failure();
      }
  // Clients read strings, which can express pending sums only. Equal values are their own maximum.
  if (found->pending && found->pending->kind != sdy::ReductionOp::Sum)
    found->pending.reset();
  return found;
}

/// A donated argument's memory is reused by a result of the same local type: an unspecified result follows.
void Partitioner::keepAliases(func::FuncOp function, MutableArrayRef<FailureOr<Target>> results) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto alias = function.getArgAttrOfType<IntegerAttr>(i, kAlias);
    if (!alias || alias.getInt() < 0 || alias.getInt() >= int64_t(results.size()))
      continue;
    Target &target = *results[alias.getInt()];
    if (function.getArgument(i).getType() != function.getResultTypes()[alias.getInt()] || !isWhole(target.placement) ||
        !llvm::all_of(target.open, [](bool open) { return open; }))
      continue;
    target.placement = shards[function.getArgument(i)].placement;
    target.open.assign(target.open.size(), false);
  }
}

/// Describes a shard as a string. Summands are a further dimension, a group of devices that are not replicas.
static sdy::HloSharding describe(const Shard &shard, int64_t devices) {
  Placement placement = shard.placement;
  if (shard.pending)
    placement.push_back(shard.pending->parts);
  sdy::HloSharding result = describe(placement, devices);
  if (shard.pending)
    result.subgroups.insert(result.subgroups.begin(), sdy::HloSharding::Subgroup::Unreduced);
  return result;
}

void Partitioner::describeSignature(func::FuncOp function, ArrayRef<Shard> arguments, ArrayRef<Shard> results) {
  auto describeOne = [&](DictionaryAttr old, const Shard &shard) {
    NamedAttrList attrs(old);
    dropShardings(attrs);
    attrs.erase(kOpenAttr);
    if (isa<RankedTensorType>(shard.value.getType()))
      attrs.set(kHloSharding, builder.getStringAttr(toString(describe(shard, numDevices))));
    if (!llvm::all_of(llvm::zip_equal(shard.placement, shard.shape),
                      [](auto each) { return divides(std::get<0>(each), std::get<1>(each)); }))
      attrs.set(kWholeShapeAttr, builder.getDenseI64ArrayAttr(shard.shape));
    return attrs.getDictionary(module.getContext());
  };
  SmallVector<Attribute> argumentAttrs, resultAttrs;
  for (auto [i, shard] : llvm::enumerate(arguments)) {
    auto attrs = describeOne(function.getArgAttrDict(i) ? function.getArgAttrDict(i) : builder.getDictionaryAttr({}), shard);
    auto alias = attrs.getAs<IntegerAttr>(kAlias);
    if (alias && alias.getInt() >= 0 && alias.getInt() < int64_t(results.size()) &&
        results[alias.getInt()].value.getType() != shard.value.getType()) {
      function.emitRemark("argument ") << i << " cannot lend its memory to result " << alias.getInt()
                                       << ": what a device holds of them differs in shape";
      NamedAttrList kept(attrs);
      kept.erase(kAlias);
      attrs = kept.getDictionary(module.getContext());
    }
    argumentAttrs.push_back(attrs);
  }
  for (auto [i, shard] : llvm::enumerate(results))
    resultAttrs.push_back(
        describeOne(function.getResultAttrDict(i) ? function.getResultAttrDict(i) : builder.getDictionaryAttr({}), shard));
  SmallVector<Type> argumentTypes, resultTypes;
  for (const Shard &shard : arguments)
    argumentTypes.push_back(shard.value.getType());
  for (const Shard &shard : results)
    resultTypes.push_back(shard.value.getType());
  function.setType(builder.getFunctionType(argumentTypes, resultTypes));
  function.setAllArgAttrs(argumentAttrs);
  function.setAllResultAttrs(resultAttrs);
}

/// Returns true if the tiles are those of whole axes of the mesh, major to minor.
static bool areOfWholeAxes(const Tiles &tiles, sdy::MeshAttr mesh, SmallVectorImpl<sdy::AxisRefAttr> &axes) {
  if (tilesOfAxes(axes, mesh) == tiles)
    return true;
  for (sdy::MeshAxisAttr axis : mesh.getAxes()) {
    auto ref = sdy::AxisRefAttr::get(mesh.getContext(), axis.getName(), sdy::SubAxisInfoAttr());
    if (axis.getSize() == 1 || llvm::is_contained(axes, ref))
      continue;
    axes.push_back(ref);
    if (tilesOfAxes(axes, mesh).count <= tiles.count && areOfWholeAxes(tiles, mesh, axes))
      return true;
    axes.pop_back();
  }
  return false;
}

/// Returns as many of the tiles as a client can express by the axes of a mesh of the program; all of them if there is no mesh.
static Tiles alongWholeAxes(const Tiles &tiles, ModuleOp module, int64_t devices) {
  SmallVector<sdy::MeshAttr> meshes;
  for (auto mesh : module.getOps<sdy::MeshOp>())
    if (mesh.getMesh().getTotalSize() == devices && !mesh.getMesh().isMaximal())
      meshes.push_back(mesh.getMesh());
  for (int64_t count = tiles.count; count > 1 && !meshes.empty(); --count) {
    if (tiles.count % count != 0)
      continue;
    Tiles part{count, tiles.of};
    for (int32_t &tile : part.of)
      tile /= tiles.count / count;
    for (sdy::MeshAttr mesh : meshes)
      if (SmallVector<sdy::AxisRefAttr> axes; areOfWholeAxes(part, mesh, axes))
        return part;
  }
  return meshes.empty() ? tiles : Tiles();
}

LogicalResult Partitioner::run(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitError("UNIMPLEMENTED: partitioning of a function with several blocks");
  Block &old = function.getBody().front();
  Region fresh;
  Block *block = builder.createBlock(&fresh);
  SmallVector<Shard> arguments;
  for (auto [i, argument] : llvm::enumerate(old.getArguments())) {
    DictionaryAttr attrs = function.getArgAttrDict(i);
    auto target = signatureTarget(function, attrs ? attrs : builder.getDictionaryAttr({}), argument.getType(), [&, i = i] {
      return std::move(mlir::emitError(sdy::locationOfArgument(function, i)) << "argument " << i << ": ");
    });
    if (failed(target))
      return failure();
    Value local = block->addArgument(localType(argument.getType(), target->placement), argument.getLoc());
    bind(argument, local, target->placement, currentScope);
    shards[argument] = apart(shards[argument], target->pending);
    arguments.push_back(shards[argument]);
  }
  SmallVector<FailureOr<Target>, 0> targets;
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    DictionaryAttr attrs = function.getResultAttrDict(i);
    targets.push_back(
        signatureTarget(function, attrs ? attrs : builder.getDictionaryAttr({}), type, [&, i = i] {
          InFlightDiagnostic diagnostic = function.emitError("result ") << i << ": ";
          diagnostic.attachNote(old.getTerminator()->getOperand(i).getLoc()) << "the value that is returned";
          return diagnostic;
        }));
    if (failed(targets.back()))
      return failure();
  }
  keepAliases(function, targets);
  SmallVector<Shard> results;
  if (failed(emitBlock(old, results)))
    return failure();
  Operation *terminator = old.getTerminator();
  SmallVector<Value> values;
  for (auto [global, shard, target] : llvm::zip_equal(terminator->getOperands(), results, targets)) {
    bool wasApart = shard.pending && !shard.pending->isEqual;
    shard = mergeSum(shard, *target, terminator->getLoc());
    if (!shard.pending)
      shard.scope = currentScope;
    Placement chosen = choose(shard, *target, terminator);
    // Tiles of different sizes are used only where an annotation asks for them.
    for (auto [tiles, wanted, size] : llvm::zip_equal(chosen, target->placement, shard.shape))
      if (!divides(tiles, size) && divides(wanted, size))
        tiles = wanted;
    // Parts of axes are likewise used only where an annotation asks for them.
    for (auto [tiles, wanted] : llvm::zip_equal(chosen, target->placement))
      if (tiles != wanted)
        if (Tiles part = alongWholeAxes(tiles, module, numDevices); part != tiles)
          tiles = refines(part, wanted) ? part : wanted;
    bool isFresh = wasApart && !shard.pending;
    shard.value = resharder.reshard(builder, terminator->getLoc(), shard, chosen, isFresh || isUsedOnce(global));
    shard.placement = chosen;
    shard = splitSum(shard, *target, terminator->getLoc());
    values.push_back(shard.value);
  }
  func::ReturnOp::create(builder, terminator->getLoc(), values);
  describeSignature(function, arguments, results);
  function.getBody().takeBody(fresh);
  return success();
}

//===-- The pass ----------------------------------------------------------===//

static int64_t countOf(ModuleOp module, StringRef name) {
  auto attr = module->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getInt() : 1;
}

bool hasShardings(ModuleOp module) {
  // Strings on the signature of a program for one device have no meaning.
  bool several = countOf(module, "mhlo.num_partitions") > 1;
  auto saysSharding = [](DictionaryAttr attrs) {
    return attrs && (attrs.contains(sdy::shardingAttrName) || attrs.contains(kHloSharding));
  };
  auto result = module.walk([&](Operation *op) {
    if (isa<sdy::SdyDialect>(op->getDialect()) && !isa<sdy::MeshOp>(op))
      return WalkResult::interrupt();
    if (several && !isa<func::FuncOp, ModuleOp>(op) && saysSharding(op->getDiscardableAttrDictionary()))
      return WalkResult::interrupt();
    if (auto call = dyn_cast<stablehlo::CustomCallOp>(op)) {
      StringRef target = call.getCallTargetName();
      if (target == "Sharding" || target.starts_with("SPMD"))
        return WalkResult::interrupt();
    }
    if (auto function = dyn_cast<func::FuncOp>(op); function && several) {
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (saysSharding(function.getArgAttrDict(i)))
          return WalkResult::interrupt();
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        if (saysSharding(function.getResultAttrDict(i)))
          return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return result.wasInterrupted();
}

namespace {

/// Rebuilds every function.
LogicalResult rebuild(ModuleOp module, const PartitionOptions &options) {
  if (!hasShardings(module))
    return success();
  int64_t replicas = countOf(module, "mhlo.num_replicas"), partitions = countOf(module, "mhlo.num_partitions");
  if (replicas > 1 && partitions > 1)
    return module.emitError("UNIMPLEMENTED: partitioning of a program with ") << replicas << " replicas";
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && failed(Partitioner(module, partitions, options).run(function)))
      return failure();
  for (auto mesh : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>()))
    mesh.erase();
  return success();
}

struct SpmdPartition : impl::SpmdPartitionPassBase<SpmdPartition> {
  void runOnOperation() override {
    OpPassManager before(ModuleOp::getOperationName());
    if (sharding::hasRoundTripForm(getOperation()))
      sharding::addRoundTripImport(before, {.constants = false});
    if (failed(runPipeline(before, getOperation())) || failed(rebuild(getOperation(), {})))
      signalPassFailure();
  }
};

} // namespace

bool hasStaticShapes(ModuleOp module) {
  auto isStatic = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return !shaped || shaped.hasStaticShape();
  };
  return !module
              .walk([&](Operation *op) {
                auto function = dyn_cast<func::FuncOp>(op);
                bool all = llvm::all_of(op->getResultTypes(), isStatic) &&
                           (!function || llvm::all_of(function.getArgumentTypes(), isStatic));
                return all ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// The annotation of an argument or result.
struct GivenSharding {
  func::FuncOp function;
  bool isArgument;
  unsigned index;
  sdy::TensorShardingAttr sharding;
};

static std::vector<GivenSharding> givenShardings(ModuleOp module) {
  std::vector<GivenSharding> given;
  auto add = [&](func::FuncOp function, bool isArgument, unsigned index, DictionaryAttr attrs) {
    if (auto sharding = attrs ? attrs.getAs<sdy::TensorShardingAttr>(sdy::shardingAttrName) : sdy::TensorShardingAttr())
      given.push_back({function, isArgument, index, sharding});
  };
  for (auto function : module.getOps<func::FuncOp>()) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      add(function, true, i, function.getArgAttrDict(i));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      add(function, false, i, function.getResultAttrDict(i));
  }
  return given;
}

/// Restores the given shardings: propagation must not choose shards of different sizes, or parts of axes, for the signature unless an annotation asks
/// for them.
static void restoreGiven(ArrayRef<GivenSharding> given) {
  for (const GivenSharding &each : given) {
    func::FuncOp function = each.function;
    auto type = dyn_cast<RankedTensorType>(each.isArgument ? function.getArgument(each.index).getType()
                                                           : function.getResultTypes()[each.index]);
    DictionaryAttr attrs = each.isArgument ? function.getArgAttrDict(each.index) : function.getResultAttrDict(each.index);
    auto now = attrs ? attrs.getAs<sdy::TensorShardingAttr>(sdy::shardingAttrName) : sdy::TensorShardingAttr();
    sdy::MeshAttr mesh = each.sharding.getMesh(function);
    if (!type || !now || !mesh || now.getRank() != type.getRank() || each.sharding.getRank() != type.getRank())
      continue;
    SmallVector<sdy::DimensionShardingAttr> dims(now.getDimShardings());
    for (auto [dim, wanted, size] : llvm::zip_equal(dims, each.sharding.getDimShardings(), type.getShape()))
      if (!divides(tilesOfAxes(wanted.getAxes(), mesh), size) ||
          llvm::any_of(wanted.getAxes(), [](sdy::AxisRefAttr axis) { return bool(axis.getSubAxisInfo()); }))
        dim = sdy::DimensionShardingAttr::get(wanted.getContext(), wanted.getAxes(), true, std::nullopt);
    auto restored = sdy::TensorShardingAttr::get(now.getContext(), now.getMeshOrRef(), dims, now.getReplicatedAxes(),
                                                 now.getUnreducedAxes(), now.getReductionOp());
    if (each.isArgument)
      function.setArgAttr(each.index, sdy::shardingAttrName, restored);
    else
      function.setResultAttr(each.index, sdy::shardingAttrName, restored);
  }
}

LogicalResult propagate(ModuleOp module, llvm::raw_ostream *explain, llvm::function_ref<LogicalResult(ModuleOp)> choose) {
  // Manual computations of older exports are functions, so they are imported before calls are inlined.
  if (sharding::hasRoundTripForm(module)) {
    module.getContext()->loadDialect<stablehlo::StablehloDialect, sdy::SdyDialect>();
    PassManager import(module.getContext(), ModuleOp::getOperationName());
    import.addPass(calls::createFlattenTuplesPass());
    sharding::addRoundTripImport(import, {.constants = false});
    if (failed(import.run(module)))
      return failure();
  }
  if ((!choose && !hasShardings(module)) || module->hasAttr(kShardingsPropagatedAttr))
    return success();
  module->setAttr(kShardingsPropagatedAttr, UnitAttr::get(module.getContext()));
  module.getContext()->loadDialect<stablehlo::StablehloDialect, sdy::SdyDialect>();
  if (explain)
    sharding::Explanation::mark(module);
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  // The program becomes one function of operations that have rules.
  pm.addPass(calls::createFlattenTuplesPass());
  pm.addPass(simplify::createStablehloLegalizeCompositeToCallPass());
  calls::InlineCallsPassOptions inlineAll;
  inlineAll.keepFrom = ~0u;
  pm.addPass(calls::createInlineCallsPass(inlineAll));
  pm.addNestedPass<func::FuncOp>(chlo::createChloLegalizeToStablehloPass());
  pm.addNestedPass<func::FuncOp>(simplify::createStablehloLegalizeDeprecatedOpsPass());
  // Gathers of rows by an iota get batching dimensions, which are sharded without communication.
  pm.addNestedPass<func::FuncOp>(sharding::createExplicitGatherScatterBatchingPass());
  if (failed(pm.run(module)))
    return failure();
  if (!hasStaticShapes(module))
    return success(); // partitioning reports the operation that is at fault
  keepDimensions(module);
  // Callers choose the shardings of their arguments, unless they leave the choice to propagation, and accept any sharding of results.
  llvm::DenseSet<std::pair<Operation *, unsigned>> annotated;
  auto hasAnnotation = [&](func::FuncOp function, unsigned i) {
    return choose || function.getArgAttr(i, sdy::shardingAttrName) || function.getArgAttr(i, kHloSharding) || function.getArgAttr(i, kOpenAttr);
  };
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (hasAnnotation(function, i))
        annotated.insert({function, i});
  PassManager before(module.getContext(), ModuleOp::getOperationName());
  before.addPass(sharding::createImportHloShardingsPass());
  sharding::addImportPipeline(before);
  PassManager after(module.getContext(), ModuleOp::getOperationName());
  sharding::PipelineOptions pipeline;
  pipeline.dropRules = false; // partitioning has no other information about custom calls
  pipeline.wholeAxes = true;  // clients that did not ask for a sharding can express it by the axes of their mesh
  sharding::addExportPipeline(after, pipeline);
  if (failed(before.run(module)) || (choose && failed(choose(module))))
    return failure();
  std::vector<GivenSharding> given = givenShardings(module);
  sharding::Explanation explanation;
  if (failed(explain ? sharding::propagateShardings(module, {}, explanation) : sharding::propagateShardings(module, {})) ||
      failed(after.run(module)))
    return failure();
  restoreGiven(given);
  // With `choose` all arguments are chosen, of functions that may have taken the place of those that were there.
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned i = 0; !choose && i < function.getNumArguments(); ++i)
      if (!annotated.contains({function, i}))
        function.removeArgAttr(i, StringAttr::get(module.getContext(), sdy::shardingAttrName));
  if (explain) {
    explanation.settle(module);
    explanation.print(*explain);
  }
  PassManager verifying(module.getContext(), ModuleOp::getOperationName());
  verifying.enableVerifier(false); // the pass changes nothing
  verifying.addPass(sharding::createVerifyPropagationPass());
  return verifying.run(module);
}

/// Returns the highest channel that the program itself uses.
static int64_t highestChannel(ModuleOp module) {
  int64_t highest = 0;
  module.walk([&](Operation *op) {
    if (auto used = op->getAttrOfType<stablehlo::ChannelHandleAttr>("channel_handle"))
      highest = std::max<int64_t>(highest, used.getHandle());
  });
  return highest;
}

/// Limits of combined messages. Members of a message are live until the last one is, so a program that was planned for little memory gets smaller
/// messages.
static CombineCollectivesPassOptions combining(ModuleOp module) {
  // Share of a device's memory that one message may have. Unit: 1 / share. Source: `xla-compile --simulate` of a training step of GPT-2 on 4x4 devices:
  // with 64 a step took a third longer, and the peak was not lower.
  constexpr int64_t kMessagesPerMemory = 16;
  CombineCollectivesPassOptions options;
  if (auto memory = dyn_cast_or_null<IntegerAttr>(module->removeAttr(kMemoryPerDeviceAttr)))
    for (int64_t *most : {&options.maxBytes, &options.maxGatherBytes, &options.maxScatterBytes})
      *most = std::min(*most, memory.getInt() / kMessagesPerMemory);
  return options;
}

LogicalResult partition(ModuleOp module, const PartitionOptions &options) {
  if (!hasShardings(module))
    return success();
  if (failed(propagate(module)))
    return failure();
  module->removeAttr(kShardingsPropagatedAttr);
  VerifyPartitionPassOptions verifying;
  verifying.ownChannels = highestChannel(module) + 1;
  if (failed(rebuild(module, options)))
    return failure();
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  pm.addNestedPass<func::FuncOp>(createCombineCollectivesPass(combining(module)));
  pm.addNestedPass<func::FuncOp>(createWindowProductsPass());
  pm.addPass(createVerifyPartitionPass(verifying));
  if (failed(pm.run(module)))
    return failure();
  SmallVector<stablehlo::CustomCallOp> inspections;
  module.walk([&](stablehlo::CustomCallOp call) {
    if (call.getCallTargetName() == "InspectSharding")
      inspections.push_back(call);
  });
  for (stablehlo::CustomCallOp call : inspections) {
    auto config = dyn_cast_or_null<StringAttr>(call->getAttr("backend_config"));
    auto sharding = call->getAttrOfType<StringAttr>(kHloSharding);
    if (options.onInspect && config && sharding && failed(options.onInspect(call, config.getValue(), sharding.getValue())))
      return failure();
    call->replaceAllUsesWith(call->getOperands());
    call->erase();
  }
  return success();
}

} // namespace millrace::spmd
