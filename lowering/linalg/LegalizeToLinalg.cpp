// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LegalizeToLinalg.cpp - The pass stablehlo-legalize-to-linalg -------===//
// Input:   %0 = stablehlo.add %a, %b : tensor<2x3xf32>
// Output:  %1 = linalg.generic {...} ins(%a, %b) outs(%0) {arith.addf}, or linalg.map with enable-primitive-ops
// Leaves alone generic operations that are none of linalg's primitive ones.
//===----------------------------------------------------------------------===//
#include "lowering/linalg/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"

namespace millrace::lowering {
#define GEN_PASS_DEF_STABLEHLOLEGALIZETOLINALGPASS
#include "lowering/linalg/Passes.h.inc"
} // namespace millrace::lowering

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Replaces inputs of rank 0 by scalars that the body captures.
void captureScalars(IRRewriter &rewriter, linalg::GenericOp op) {
  SmallVector<int64_t> scalars;
  for (auto [i, input] : llvm::enumerate(op.getInputs()))
    if (auto type = dyn_cast<RankedTensorType>(input.getType()); type && type.getRank() == 0 && op.getNumLoops() > 0)
      scalars.push_back(i);
  if (scalars.empty())
    return;
  rewriter.setInsertionPoint(op);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  Block *body = op.getBody();
  for (int64_t i : llvm::reverse(scalars)) {
    Value scalar = tensor::ExtractOp::create(rewriter, op.getLoc(), op.getInputs()[i], ValueRange());
    rewriter.modifyOpInPlace(op, [&] {
      body->getArgument(i).replaceAllUsesWith(scalar);
      body->eraseArgument(i);
      maps.erase(maps.begin() + i);
      op.getInputsMutable().erase(i);
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
  }
}

bool uses(Block &block, int64_t argument) { return !block.getArgument(argument).use_empty(); }

/// Returns true if all maps are identities, so that linalg.map can express the operation.
bool isMap(linalg::GenericOp op, ArrayRef<AffineMap> maps) {
  return op.getNumParallelLoops() == op.getNumLoops() && llvm::all_of(maps, [](AffineMap m) { return m.isIdentity(); }) &&
         !uses(*op.getBody(), op.getInputs().size());
}

/// Returns true if the body yields the only input's element unchanged.
bool onlyYieldsInput(linalg::GenericOp op) {
  Operation *yield = op.getBody()->getTerminator();
  return op.getInputs().size() == 1 && llvm::hasSingleElement(op.getBody()->getOperations()) &&
         yield->getOperand(0) == op.getBody()->getArgument(0);
}

/// Returns the loops that are the results of `map`, if it is a projection of the loops.
std::optional<SmallVector<int64_t>> loopsOf(AffineMap map) {
  if (!map.isProjectedPermutation())
    return std::nullopt;
  SmallVector<int64_t> loops;
  for (AffineExpr expr : map.getResults())
    loops.push_back(cast<AffineDimExpr>(expr).getPosition());
  return loops;
}

void toPrimitive(IRRewriter &rewriter, linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumResults() != 1 || op.getInputs().empty())
    return;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  Value init = op.getOutputs()[0];
  rewriter.setInsertionPoint(op);
  if (onlyYieldsInput(op) && maps[1].isIdentity() && op.getNumParallelLoops() == op.getNumLoops()) {
    auto from = loopsOf(maps[0]);
    if (!from)
      return;
    if (maps[0].isPermutation() && !maps[0].isIdentity()) {
      // Result dimension d is loop d. In the input it is the dimension whose entry in the list is d.
      SmallVector<int64_t> permutation;
      for (int64_t d = 0, e = op.getNumLoops(); d != e; ++d)
        permutation.push_back(std::distance(from->begin(), llvm::find(*from, d)));
      auto transpose = linalg::TransposeOp::create(rewriter, op.getLoc(), op.getInputs()[0], init, permutation);
      return rewriter.replaceOp(op, transpose->getResults());
    }
    if (from->size() < op.getNumLoops() && llvm::is_sorted(*from)) {
      SmallVector<int64_t> added;
      for (int64_t d = 0, e = op.getNumLoops(); d != e; ++d)
        if (!llvm::is_contained(*from, d))
          added.push_back(d);
      auto broadcast = linalg::BroadcastOp::create(rewriter, op.getLoc(), op.getInputs()[0], init, added);
      return rewriter.replaceOp(op, broadcast->getResults());
    }
  }
  if (isMap(op, maps)) {
    auto map = linalg::MapOp::create(rewriter, op.getLoc(), op.getInputs(), init,
                                     [&](OpBuilder &builder, Location loc, ValueRange arguments) {
                                       IRMapping mapping;
                                       mapping.map(op.getBody()->getArguments().drop_back(), arguments.take_front(op.getInputs().size()));
                                       for (Operation &inner : op.getBody()->without_terminator())
                                         builder.clone(inner, mapping);
                                       linalg::YieldOp::create(builder, loc,
                                                               mapping.lookupOrDefault(op.getBody()->getTerminator()->getOperand(0)));
                                     });
    map->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    return rewriter.replaceOp(op, map->getResults());
  }
  if (op.getInputs().size() == 1 && maps[0].isIdentity() && op.getNumReductionLoops() > 0 && uses(*op.getBody(), 1)) {
    auto kept = loopsOf(maps[1]);
    if (!kept || !llvm::is_sorted(*kept))
      return;
    SmallVector<int64_t> reduced;
    for (int64_t d = 0, e = op.getNumLoops(); d != e; ++d)
      if (!llvm::is_contained(*kept, d))
        reduced.push_back(d);
    auto reduce = linalg::ReduceOp::create(rewriter, op.getLoc(), op.getInputs(), op.getOutputs(), reduced,
                                           [&](OpBuilder &builder, Location loc, ValueRange arguments) {
                                             IRMapping mapping;
                                             mapping.map(op.getBody()->getArguments(), arguments);
                                             for (Operation &inner : op.getBody()->without_terminator())
                                               builder.clone(inner, mapping);
                                             linalg::YieldOp::create(
                                                 builder, loc, mapping.lookupOrDefault(op.getBody()->getTerminator()->getOperand(0)));
                                           });
    rewriter.replaceOp(op, reduce->getResults());
  }
}

struct StablehloLegalizeToLinalg : impl::StablehloLegalizeToLinalgPassBase<StablehloLegalizeToLinalg> {
  using StablehloLegalizeToLinalgPassBase::StablehloLegalizeToLinalgPassBase;

  void runOnOperation() override {
    if (enableSparseOps) {
      getOperation().emitError("sparse tensors are not supported: leave enable-sparse-ops out and use dense tensors");
      return signalPassFailure();
    }
    OpPassManager lowering(ModuleOp::getOperationName());
    LowerToLinalgPassOptions all;
    all.allFunctions = true;
    lowering.addPass(createLowerToLinalgPass(all));
    if (failed(runPipeline(lowering, getOperation())))
      return signalPassFailure();
    SmallVector<linalg::GenericOp> generics;
    getOperation().walk([&](linalg::GenericOp op) { generics.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : generics) {
      if (captureScalarInputs)
        captureScalars(rewriter, op);
      if (enablePrimitiveOps)
        toPrimitive(rewriter, op);
    }
  }
};

} // namespace
} // namespace millrace::lowering
