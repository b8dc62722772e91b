// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Plan.cpp - A module, its problem, and a solution of it --------------===//
#include "passes/autosharding/Plan.h"
#include "passes/autosharding/StoredPlans.h"
#include "passes/autosharding/Work.h"

#include "passes/sharding/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace millrace::autosharding {

sdy::MeshOp meshOf(ModuleOp module) {
  if (auto own = module.lookupSymbol<sdy::MeshOp>(kOwnMesh))
    return own;
  sdy::MeshOp largest;
  for (auto op : module.getOps<sdy::MeshOp>())
    if (!op.getMesh().isMaximal() && (!largest || op.getMesh().getTotalSize() > largest.getMesh().getTotalSize()))
      largest = op;
  return largest;
}

/// Reports annotations over other meshes, which cannot be kept.
static LogicalResult checkMeshes(const sharding::ModuleGraph &graph, sdy::MeshAttr mesh) {
  for (size_t tensor = 0; tensor < graph.graph.tensors.size(); ++tensor) {
    const std::optional<sharding::TensorSharding> &sharding = graph.graph.tensors[tensor].sharding;
    sdy::TensorShardingAttr attr = sharding && !sharding->isEmpty() ? graph.attrOf(int(tensor)) : sdy::TensorShardingAttr();
    if (attr && attr.getMesh(graph.getModule()) != mesh)
      return emitError(graph.getModule().getLoc(), "UNIMPLEMENTED: automatic sharding over ")
             << mesh << " of a program with values that are annotated over another mesh: " << attr;
  }
  return success();
}

Plan::Plan(ModuleOp module, const AutoShardingOptions &options, sdy::MeshOp mesh)
    : memoryOf(options.memoryOf), graph(module), costs(options.machine, mesh.getMesh(), options.candidate == Candidate::SharedMessages),
      program(graph, costs, FlatSymbolRefAttr::get(mesh.getSymNameAttr()), mesh.getMesh()) {}

LogicalResult Plan::build(sdy::MeshOp mesh) {
  if (failed(graph.build(/*conservative=*/false)) || failed(checkMeshes(graph, mesh.getMesh())))
    return failure();
  if (memoryOf)
    if (std::optional<CompiledMemory> memory = memoryOf(graph.getModule(), mesh.getMesh().getTotalSize(), notLowered))
      program.setMemory(std::move(*memory));
  if (program.build())
    return success();
  return emitError(graph.getModule().getLoc(), "UNIMPLEMENTED: automatic sharding over ")
         << mesh.getMesh() << ": the program has too many choices: " << program.whyTooLarge() << "; expects a mesh of fewer axes";
}

void Plan::solve(const AutoShardingOptions &options, StringRef what) {
  Options solving;
  solving.iterations = options.iterations;
  solving.threads = options.threads;
  solving.cutoff = options.cutoff * kTicksPerSecond;
  if (options.progress)
    solving.progress = [&](const Progress &now) {
      std::string best;
      if (now.found && now.bound > 0)
        best = llvm::formatv(", {0:f3} ms, at most {1:f1} % above the best", now.cost / kTicksPerSecond * 1e3,
                             100 * std::max(0.0, now.cost / now.bound - 1))
                   .str();
      options.progress(llvm::formatv("choosing shardings of {0} values{1}, iteration {2}{3}", program.problem.nodes.size(), what, now.iteration + 1, best).str());
    };
  solution = solveStored(program.problem, solving, options.plans, &isStored);
}

int64_t limitOf(const AutoShardingOptions &options) { return std::max<int64_t>(1, options.memoryPerDevice - options.reserved); }

namespace {

/// A copy of a plan's module in which values are computed again until they fit with the shardings of the plan.
class Fitting {
public:
  /// `copies` maps the plan's values to the module's.
  Fitting(ModuleOp module, const Plan &plan, const AutoShardingOptions &options, const IRMapping &copies)
      : module(module), plan(plan), options(options), devices(plan.program.devices()), kept(plan.program.bytesKept(plan.solution.choices)) {
    for (auto [value, size] : plan.program.bytesOfValues(plan.solution.choices))
      bytes[copies.lookup(value)] = size;
  }

  Rematerialization run() {
    // How often the compiler is asked what the program takes with its copies. Unit: times. Source: judgement: each one lowers the program once.
    constexpr int kMostRounds = 4;
    Rematerialization sum;
    for (int round = 0; round < kMostRounds; ++round) {
      std::string whyNot;
      std::optional<CompiledMemory> memory = plan.program.isCompiled() ? plan.memoryOf(module, devices, whyNot) : std::nullopt;
      if (memory && round > 0 && peakOf(*memory) <= limitOf(options))
        break;
      const int64_t before = sum.values;
      for (auto function : module.getOps<func::FuncOp>())
        if (!function.isExternal() && !function.getBody().front().empty() && (!memory || function.isPublic()))
          fit(function, memory ? &*memory : nullptr, sum);
      if (!memory || sum.values == before)
        break;
    }
    return sum;
  }

private:
  /// Returns the bytes of a device in the compiled program.
  int64_t peakOf(const CompiledMemory &memory) {
    std::vector<int64_t> changes(memory.times + 1, 0);
    for (const CompiledMemory::Buffer &buffer : memory.buffers) {
      const int64_t own = int64_t(double(buffer.bytes) * shareOf(buffer.value));
      changes[buffer.begin] += own;
      changes[buffer.end] -= own;
    }
    int64_t now = kept, most = 0;
    for (auto function : module.getOps<func::FuncOp>())
      for (BlockArgument argument : function.isExternal() ? ArrayRef<BlockArgument>() : function.getArguments())
        now += bytes.lookup(argument);
    for (int64_t change : changes)
      most = std::max(most, now += change);
    return most;
  }

  /// The bytes of a value on all devices together.
  static double bytesOfAll(mlir::Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? double(type.getNumElements()) * double(elementBytes(type)) : 0.0;
  }
  /// The share of a value that a device has.
  double shareOf(mlir::Value value) const {
    auto found = value ? bytes.find(value) : bytes.end();
    const double all = found == bytes.end() ? 0 : bytesOfAll(value);
    return all > 0 ? double(found->second) / all : 1;
  }

  /// A device computes the same share of an operation that it has of the result.
  double secondsOf(Operation *op) const {
    auto own = [&](mlir::Value value) {
      auto found = bytes.find(value);
      return found == bytes.end() ? bytesOfAll(value) : double(found->second);
    };
    SmallVector<double> operands, results;
    for (mlir::Value operand : op->getOperands())
      operands.push_back(own(operand));
    for (mlir::Value result : op->getResults())
      results.push_back(own(result));
    const double whole = bytesOfAll(op->getResult(0)), share = whole > 0 ? results.front() / whole : 1;
    return secondsOfWork(options.machine, op, share * flopsOf(op), bytesMoved(op, operands, results));
  }

  void fit(func::FuncOp function, const CompiledMemory *memory, Rematerialization &sum) {
    llvm::DenseSet<mlir::Value> held, stored;
    CompiledOrder order;
    auto isStored = [&](mlir::Value value) { return stored.contains(value); };
    auto sizeOf = [&](mlir::Value value) { return bytes.lookup(value); };
    auto timeOf = [&](Operation *op) {
      auto found = memory->timeOf.find(op);
      return found == memory->timeOf.end() ? int64_t(-1) : found->second;
    };
    if (memory) {
      for (const CompiledMemory::Buffer &buffer : memory->buffers)
        if (buffer.value)
          held.insert(buffer.value);
      stored = held;
      stored.insert(memory->elsewhere.begin(), memory->elsewhere.end());
      order = {isStored, sizeOf, timeOf, peakOf(*memory), kept};
    }
    auto bytesOf = [&](mlir::Value value) { return !memory || isa<BlockArgument>(value) || held.contains(value) ? bytes.lookup(value) : 0; };
    auto seconds = [&](Operation *op) { return secondsOf(op); };
    const Rematerialization done = rematerialize(function, limitOf(options), {bytesOf, seconds, memory ? &order : nullptr});
    sum.values += done.values;
    sum.operations += done.operations;
    sum.seconds += done.seconds;
    // Copies take what their originals take, and barriers what is behind them.
    llvm::DenseMap<Operation *, Operation *> originals(done.copies.begin(), done.copies.end());
    for (Operation &op : function.getBody().front()) {
      Operation *original = originals.lookup(&op);
      if (!original && !isa<stablehlo::OptimizationBarrierOp>(op))
        continue;
      for (OpResult result : op.getResults()) {
        auto found = bytes.find(original ? mlir::Value(original->getResult(result.getResultNumber())) : op.getOperand(result.getResultNumber()));
        if (found != bytes.end())
          bytes[result] = int64_t(found->second);
      }
    }
  }

  ModuleOp module;
  const Plan &plan;
  const AutoShardingOptions &options;
  const int64_t devices, kept;
  llvm::DenseMap<mlir::Value, int64_t> bytes; ///< on a device
};

} // namespace

std::unique_ptr<Plan> planWithinMemory(std::unique_ptr<Plan> plain, const AutoShardingOptions &options, OwningOpRef<ModuleOp> &copy) {
  IRMapping copies;
  copy = cast<ModuleOp>(plain->graph.getModule()->clone(copies));
  std::unique_ptr<Plan> again;
  if (Rematerialization done = Fitting(*copy, *plain, options, copies).run(); done.values > 0) {
    PassManager edges(copy->getContext(), ModuleOp::getOperationName()); // of the barriers; the import has added the edges of the program's own
    edges.addPass(sharding::createAddDataFlowEdgesPass());
    if (failed(edges.run(*copy)))
      return nullptr;
    sdy::MeshOp mesh = meshOf(*copy);
    again = std::make_unique<Plan>(*copy, options, mesh);
    if (failed(again->build(mesh)))
      return nullptr;
    again->rematerialization = done;
    again->program.limitMemory(limitOf(options));
    again->solve(options, " with " + std::to_string(done.values) + " computed again");
  }
  plain->program.limitMemory(limitOf(options));
  plain->solve(options, " within the memory");
  const bool isBetter = again && again->solution.found && (!plain->solution.found || again->solution.cost < plain->solution.cost);
  if (isBetter)
    return again;
  // The message names the smaller need of both.
  if (!plain->solution.found && again && again->solution.smallestNeed >= 0 &&
      (plain->solution.smallestNeed < 0 || again->solution.smallestNeed < plain->solution.smallestNeed))
    plain->solution.message = again->solution.message + " (with " + std::to_string(again->rematerialization.values) + " values computed again)";
  return plain;
}

} // namespace millrace::autosharding
