// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AutoSharding.cpp - Choose the shardings of a program ---------------===//
// Input:   sdy.mesh @mesh = <["x"=4]>;  %0 = stablehlo.dot_general %a, %b : (8192x64, 64x64) -> 8192x64
// Output:  %a is sharded [{"x"}, {}], %b [{}, {}], %0 [{"x"}, {}]: nothing is communicated
// Leaves alone annotated values, and modules whose mesh has one device.
#include "passes/autosharding/Choose.h"
#include "passes/autosharding/Passes.h"
#include "passes/autosharding/Plan.h"
#include "passes/autosharding/Work.h"
#include "passes/autosharding/solver/ProblemReader.h"
#include "passes/sharding/Passes.h"
#include "passes/sharding/exchange/RoundTrip.h"
#include "passes/sharding/mesh/CommonMesh.h"
#include "passes/sharding/mesh/MeshText.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;

namespace millrace::autosharding {
#define GEN_PASS_DEF_AUTOSHARDINGPASS
#include "passes/autosharding/Passes.h.inc"

namespace {

/// Inserts the mesh before the module's own meshes, and expresses annotations over these in its axes.
LogicalResult addMesh(ModuleOp module, StringRef text) {
  auto partitions = module->getAttrOfType<IntegerAttr>("mhlo.num_partitions");
  llvm::Expected<sdy::MeshAttr> mesh = sharding::parseMesh(module.getContext(), text, "automatic sharding");
  if (!mesh)
    return emitError(module.getLoc(), llvm::toString(mesh.takeError()));
  if (partitions && partitions.getInt() != mesh->getTotalSize())
    return emitError(module.getLoc(), "automatic sharding expects a mesh of the program's ")
           << partitions.getInt() << " devices, but got '" << text << "'";
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  sdy::MeshOp::create(builder, module.getLoc(), kOwnMesh, *mesh);
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  pm.addPass(sharding::createDedupMeshesPass());
  return pm.run(module);
}

/// The string over the devices of the mesh, in its axes; the reason in `error` if they cannot say it. Null of a string that leaves everything open.
sdy::TensorShardingAttr sayString(sharding::HloShardings &strings, StringAttr text, Type type, sdy::MeshOp mesh, std::string &error) {
  using Kind = sdy::HloSharding::Kind;
  MLIRContext *context = text.getContext();
  const sdy::HloSharding *said = strings.read(text, &error);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!said || !tensor || said->kind == Kind::Unknown)
    return {};
  auto name = FlatSymbolRefAttr::get(mesh.getSymNameAttr());
  auto closed = sdy::DimensionShardingAttr::get(context, {}, /*is_closed=*/true, std::nullopt);
  SmallVector<sdy::DimensionShardingAttr> dims(size_t(tensor.getRank()), closed);
  auto whole = sdy::TensorShardingAttr::get(context, name, dims);
  if (said->kind == Kind::Replicated)
    return whole;
  SmallVector<sdy::AxisRefAttr> manual;
  sdy::TensorShardingAttr attr = sdy::toSdy(*said, tensor.getRank(), context, manual, error);
  if (!attr)
    return {};
  auto own = dyn_cast<sdy::MeshAttr>(attr.getMeshOrRef());
  if (!own || !manual.empty() || own.getTotalSize() != mesh.getMesh().getTotalSize() || own.getDeviceIds() != mesh.getMesh().getDeviceIds()) {
    error = "it is about other devices";
    return {};
  }
  sharding::Strides strides = sharding::stridesOf(attr, manual, own);
  strides.merge(sharding::stridesOf(whole, {}, mesh.getMesh()));
  if (!sharding::isChain(strides)) {
    error = "no axes, or parts of them, say it";
    return {};
  }
  return sharding::sayIn(attr, name, mesh.getMesh());
}

/// Strings beside an sdy.mesh are left alone by import, and would be forgotten here: those of arguments and results are said in axes of the mesh.
LogicalResult importStrings(ModuleOp module, sdy::MeshOp mesh) {
  sharding::HloShardings strings;
  auto name = StringAttr::get(module.getContext(), sharding::hloShardingName);
  auto read = [&](DictionaryAttr attributes, Type type, auto set) -> LogicalResult {
    auto text = attributes ? attributes.getAs<StringAttr>(name) : StringAttr();
    if (!text || attributes.contains(sdy::shardingAttrName))
      return success();
    std::string error;
    if (sdy::TensorShardingAttr attr = sayString(strings, text, type, mesh, error))
      set(attr);
    if (error.empty())
      return success();
    return emitError(module.getLoc(), "UNIMPLEMENTED: automatic sharding over ") << mesh.getMesh() << " with the sharding " << text << ": " << error;
  };
  for (auto function : module.getOps<func::FuncOp>()) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (failed(read(function.getArgAttrDict(i), function.getArgumentTypes()[i], [&](Attribute attr) {
            function.removeArgAttr(i, name);
            function.setArgAttr(i, sdy::shardingAttrName, attr);
          })))
        return failure();
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (failed(read(function.getResultAttrDict(i), function.getResultTypes()[i], [&](Attribute attr) {
            function.removeResultAttr(i, name);
            function.setResultAttr(i, sdy::shardingAttrName, attr);
          })))
        return failure();
  }
  return success();
}

sdy::DimensionShardingAttr closedDimension(MLIRContext *context) {
  return sdy::DimensionShardingAttr::get(context, {}, /*is_closed=*/true, std::nullopt);
}

bool isWritten(const std::string &path, StringRef text) {
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (error)
    return false;
  file << text;
  file.flush();
  bool isDone = !file.has_error();
  file.clear_error();
  return isDone;
}

/// The share by which a plan of so many seconds may be above the best one. Costs that the solver does not tell apart, because they exceed the largest
/// of its numbers, are beside its bound, but not in its gap.
double gapOf(double seconds, double bound, const Solution &solution) {
  const double known = double(solution.cost) / kTicksPerSecond;
  constexpr double rounding = 1e-3; // of ticks
  if (seconds <= known * (1 + rounding))
    return solution.gap;
  return bound > 0 ? seconds / bound - 1 : std::numeric_limits<double>::infinity();
}

/// The report of a solved plan, with these choices.
AutoShardingReport reportOf(const Plan &plan, ArrayRef<uint32_t> choices, const AutoShardingOptions &options) {
  AutoShardingReport report;
  if (options.explains)
    report.tensors = plan.program.explain(choices);
  ProgramProblem::Estimate estimate = plan.program.estimate(choices);
  report.computing = estimate.computing;
  report.communicating = estimate.communicating;
  report.bytes = estimate.bytes;
  report.peak = plan.program.peak(choices);
  report.notLowered = plan.notLowered;
  report.bound = double(plan.solution.bound) / kTicksPerSecond;
  report.gap = gapOf(estimate.computing + estimate.communicating, report.bound, plan.solution);
  report.isStored = plan.isStored;
  report.variables = plan.program.problem.nodes.size();
  report.edges = plan.program.problem.edges.size();
  return report;
}

/// Replicates the arguments and results of all functions.
void replicateSignatures(ModuleOp module, sdy::MeshOp mesh) {
  auto whole = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? sdy::TensorShardingAttr::get(module.getContext(), FlatSymbolRefAttr::get(mesh.getSymNameAttr()),
                                                 SmallVector<sdy::DimensionShardingAttr>(size_t(tensor.getRank()), closedDimension(module.getContext())))
                  : sdy::TensorShardingAttr();
  };
  for (auto function : module.getOps<func::FuncOp>()) {
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
      if (sdy::TensorShardingAttr sharding = whole(type))
        function.setArgAttr(i, sdy::shardingAttrName, sharding);
    for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
      if (sdy::TensorShardingAttr sharding = whole(type))
        function.setResultAttr(i, sdy::shardingAttrName, sharding);
  }
}

/// Returns true if partitioning leaves the module as it is where no value is split: no operation of sdy is work of its own.
bool isPlain(ModuleOp module) {
  return !module
              .walk([](Operation *op) {
                const bool isShardingOnly = !isa<sdy::SdyDialect>(op->getDialect()) || movesNothing(op) || isa<sdy::MeshOp>(op);
                return isShardingOnly ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

} // namespace

LogicalResult choose(ModuleOp module, const AutoShardingOptions &options, Choice &choice) {
  if (!options.mesh.empty() && failed(addMesh(module, options.mesh)))
    return failure();
  sdy::MeshOp mesh = meshOf(module);
  if (!mesh)
    return emitError(module.getLoc(), "automatic sharding expects a mesh (sdy.mesh, or --mesh), but the module has none");
  choice.devices = mesh.getMesh().getTotalSize();
  if (failed(importStrings(module, mesh)))
    return failure();
  if (options.candidate == Candidate::Annotations) {
    if (choice.isUnannotated)
      replicateSignatures(module, mesh);
    return success();
  }
  auto plan = std::make_unique<Plan>(module, options, mesh);
  if (failed(plan->build(mesh)))
    return failure();
  if (!plan->notLowered.empty() && options.memoryPerDevice > 0 && options.reserved == 0)
    emitWarning(module.getLoc(), "automatic sharding counts the memory of every value, because the program cannot be lowered: ") << plan->notLowered;
  // A plan for any memory is the best one if it fits.
  plan->solve(options, "");
  const bool hasPlan = plan->solution.found;
  const std::optional<std::vector<uint32_t>> whole = plan->program.wholeChoices();
  choice.isUnannotated = whole.has_value();
  if (whole && plan->solution.found && choice.devices > 1 && isPlain(module)) {
    choice.whole = reportOf(*plan, *whole, options);
    choice.wholeStep = simulate(module, options.machine, options.memoryPerDevice > 0 ? options.memoryOf : MemoryOf());
  }
  OwningOpRef<ModuleOp> copy;
  const bool isLimited = options.memoryPerDevice > 0;
  if (isLimited && plan->solution.found && plan->program.peak(plan->solution.choices) > limitOf(options)) {
    plan = planWithinMemory(std::move(plan), options, copy);
    if (!plan)
      return failure();
  } else if (isLimited && !options.problemFile.empty()) {
    plan->program.limitMemory(limitOf(options));
  }
  if (!options.problemFile.empty() && !isWritten(options.problemFile, writeProblem(plan->program.problem)))
    return emitError(module.getLoc(), "automatic sharding cannot write ") << options.problemFile;
  const Solution &solution = plan->solution;
  if (!solution.found) {
    choice.isTooLarge = isLimited && hasPlan;
    StringRef message = solution.message;
    std::string subject;
    // The solver knows nodes by their numbers.
    if (solution.impossibleNode >= 0 && message.consume_front("node " + std::to_string(solution.impossibleNode)))
      subject = plan->program.describe(size_t(solution.impossibleNode));
    const std::string groups = isLimited && solution.impossibleNode < 0 ? plan->program.largestGroups() : std::string();
    return emitError(module.getLoc(), "automatic sharding finds no plan: ")
           << subject << message << (groups.empty() ? "" : "; the largest values at the worst time, each split as far as possible: " + groups)
           << (options.reserved > 0 ? llvm::formatv(" (of {0} bytes per device, {1} are for copies of resharded values)", options.memoryPerDevice, options.reserved).str()
                                    : std::string());
  }
  choice.report = reportOf(*plan, solution.choices, options);
  choice.report.recomputedValues = plan->rematerialization.values;
  choice.report.recomputedOperations = plan->rematerialization.operations;
  choice.report.recomputing = plan->rematerialization.seconds;
  choice.report.sharedMessages = plan->program.doSumsShareMessages() ? plan->costs.secondsOfSharedMessages() : 0;
  plan->program.apply(solution.choices);
  if (plan->graph.getModule() != module) {
    plan.reset(); // knows operations of the copy, which become the module's
    module.getBodyRegion().takeBody(copy->getBodyRegion());
  }
  return success();
}

namespace {

struct AutoSharding : impl::AutoShardingPassBase<AutoSharding> {
  using AutoShardingPassBase::AutoShardingPassBase;
  AutoSharding() = default;
  explicit AutoSharding(MemoryOf memoryOf) : memoryOf(std::move(memoryOf)) {}
  void runOnOperation() override {
    AutoShardingOptions options;
    if (planMemory != "values" && planMemory != "compiled") {
      emitError(getOperation().getLoc(), "expects plan-memory=values or compiled, but got '") << planMemory << "'";
      return signalPassFailure();
    }
    if (memoryPerDevice < 0) {
      emitError(getOperation().getLoc(), "expects memory-per-device of at least 0, but got ") << memoryPerDevice.getValue();
      return signalPassFailure();
    }
    if (memoryPerDevice > 0 && planMemory == "compiled")
      options.memoryOf = memoryOf;
    options.memoryPerDevice = memoryPerDevice;
    options.iterations = iterations;
    options.problemFile = problemFile;
    llvm::Expected<Machine> read = Machine::find(machine);
    if (!read) {
      emitError(getOperation().getLoc(), llvm::toString(read.takeError()));
      return signalPassFailure();
    }
    options.machine = *read;
    AutoShardingReport found;
    if (failed(autoShard(getOperation(), options, &found)))
      return signalPassFailure();
    std::string compared = candidatesText(found);
    if (!compared.empty())
      compared = "; " + compared;
    if (report)
      emitRemark(getOperation().getLoc(), llvm::formatv("sharded for {0}: {1:f3} ms, of which {2:f3} ms communication ({3:f0} bytes); {4} bytes of values; no "
                                              "plan of these takes less than {5:f3} ms; {6} variables, {7} edges{8}{9}{10}",
                                              options.machine.name, (found.computing + found.communicating) * 1e3, found.communicating * 1e3,
                                              found.bytes, found.peak, found.bound * 1e3, found.variables, found.edges, recomputationText(found), uncheckedText(found), compared)
                                    .str());
  }

  MemoryOf memoryOf;
};

} // namespace

void registerPasses(const std::function<MemoryOf()> &memoryOf) {
  registerRematerializePass();
  registerPass([memoryOf] { return std::make_unique<AutoSharding>(memoryOf()); });
}

std::string gapText(const AutoShardingReport &report) {
  return std::isfinite(report.gap) ? llvm::formatv("; it is at most {0:f2} % above the best of its kind", 100 * report.gap).str() : std::string();
}

std::string recomputationText(const AutoShardingReport &report) {
  if (report.recomputedValues == 0)
    return {};
  return llvm::formatv("; {0} values are computed again instead of kept ({1} operations, {2:f3} ms)", report.recomputedValues,
                       report.recomputedOperations, report.recomputing * 1e3);
}

std::string uncheckedText(const AutoShardingReport &report) {
  if (report.notPartitioned.empty())
    return {};
  return (report.isLimited ? "; the limit holds for values of the plan alone, because the program cannot be partitioned: "
                           : "; it was compared with no other program, because none can be partitioned: ") +
         report.notPartitioned;
}

} // namespace millrace::autosharding
