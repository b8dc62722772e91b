// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BufferLives.cpp - When the temporaries of a program take memory -----===//
#include "lowering/program/BufferLives.h"

#include "dialects/stablehlo/Ops.h"
#include "lowering/program/BlockGraph.h"
#include "lowering/program/OrderSteps.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
namespace shlo = millrace::stablehlo;

namespace millrace::lowering {
namespace {

class Walk {
public:
  explicit Walk(ModuleOp module) : symbols(module), kernels(module) {}

  BufferLives result;

  bool visit(func::FuncOp function) {
    if (!inside.insert(function).second)
      return false;
    const bool isDone = visit(function.getBody().front(), {BlockTargets::Function, replacedArguments(function)});
    inside.erase(function);
    return isDone;
  }

private:
  bool visit(Block &block, const BlockTargets &targets) {
    GraphValues values;
    // What is inside of a step has lives of its own.
    std::optional<StepGraph> graph = graphOf(block, targets, kernels, [](Operation *) { return uint64_t(0); }, &values);
    if (!graph)
      return false;
    std::vector<int64_t> begins;
    for (Operation &op : block.without_terminator()) {
      begins.push_back(result.times);
      result.timeOf[&op] = result.times;
      if (!visitInside(&op))
        return false;
      result.times = std::max(result.times, begins.back() + 1);
    }
    begins.push_back(result.times);
    for (auto [buffer, life, value] : llvm::zip_equal(graph->buffers, livesOf(*graph), values.ofBuffers))
      if (life.begin < life.end)
        result.buffers.push_back({value, buffer.bytes, begins[life.begin], begins[life.end]});
      else
        result.elsewhere.push_back(value); // in the memory of an argument that it replaces
    llvm::append_range(result.elsewhere, values.elsewhere);
    for (const GraphValues::Extra &extra : values.extras)
      result.buffers.push_back({extra.value, extra.bytes, begins[extra.step], begins[extra.step + 1]});
    return true;
  }

  bool visitInside(Operation *op) {
    if (kernels.of(op))
      return true;
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      return !callee || callee.isExternal() || visit(callee);
    }
    if (!isa<shlo::WhileOp, shlo::CaseOp, shlo::IfOp>(op))
      return true;
    return llvm::all_of(op->getRegions(), [&](Region &region) {
      const bool isCondition = isa<shlo::WhileOp>(op) && region.getRegionNumber() == 0;
      return visit(region.front(), {isCondition ? BlockTargets::Elsewhere : BlockTargets::Inner, {}});
    });
  }

  SymbolTable symbols;
  KernelTraits kernels;
  llvm::SmallPtrSet<Operation *, 4> inside; ///< functions that are being visited
};

} // namespace

std::optional<BufferLives> livesOfBuffers(ModuleOp module, func::FuncOp function) {
  Walk walk(module);
  if (!walk.visit(function))
    return std::nullopt;
  return std::move(walk.result);
}

} // namespace millrace::lowering
