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

/// Rematerializes values of the module so that they fit with the shardings of `plan`. The module is a copy of the plan's; `copies` maps the values.
static Rematerialization fitByRematerialization(ModuleOp module, const Plan &plan, const AutoShardingOptions &options, const IRMapping &copies) {
  llvm::DenseMap<mlir::Value, int64_t> bytes, held;
  for (auto [value, size] : plan.program.bytesOfValues(plan.solution.choices)) {
    bytes[copies.lookup(value)] = size;
    if (plan.program.hasMemory(value))
      held[copies.lookup(value)] = size;
  }
  auto bytesOf = [&](mlir::Value value) { return held.lookup(value); };
  auto sizeOf = [&](mlir::Value value) { return bytes.lookup(value); };
  // Without the compiler's plan every value has memory, in the order of the program.
  RematerializationCosts costs{bytesOf, nullptr};
  if (plan.program.isCompiled()) {
    costs.sizeOf = sizeOf;
    costs.peak = plan.program.peak(plan.solution.choices);
  }
  // A device computes the same share of an operation that it has of the result.
  auto secondsOf = [&](Operation *op) {
    auto all = [](mlir::Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return type ? double(type.getNumElements()) * double(elementBytes(type)) : 0.0;
    };
    auto own = [&](mlir::Value value) {
      auto found = bytes.find(value);
      return found == bytes.end() ? all(value) : double(found->second);
    };
    SmallVector<double> operands, results;
    for (mlir::Value operand : op->getOperands())
      operands.push_back(own(operand));
    for (mlir::Value result : op->getResults())
      results.push_back(own(result));
    const double whole = all(op->getResult(0)), share = whole > 0 ? results.front() / whole : 1;
    return secondsOfWork(options.machine, op, share * flopsOf(op), bytesMoved(op, operands, results));
  };
  costs.secondsOf = secondsOf;
  Rematerialization sum;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && !function.getBody().front().empty()) {
      Rematerialization each = rematerialize(function, limitOf(options), costs);
      sum.values += each.values;
      sum.operations += each.operations;
      sum.seconds += each.seconds;
    }
  return sum;
}

std::unique_ptr<Plan> planWithinMemory(std::unique_ptr<Plan> plain, const AutoShardingOptions &options, OwningOpRef<ModuleOp> &copy) {
  IRMapping copies;
  copy = cast<ModuleOp>(plain->graph.getModule()->clone(copies));
  std::unique_ptr<Plan> again;
  if (Rematerialization done = fitByRematerialization(*copy, *plain, options, copies); done.values > 0) {
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
