// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StablehloToLinalg.cpp - The pass xla-lower-to-linalg ---------------===//
// Input:   func.func private @k(%a: tensor<4xui8>) -> tensor<4xui8> attributes {millrace.kernel} { stablehlo ... }
// Output:  func.func private @k(%a: tensor<4xi8>) -> tensor<4xi8> attributes {millrace.kernel} { linalg ... }
// Leaves alone functions that no kernel calls, unless all-functions is set.
#include "lowering/linalg/Passes.h"

#include "dialects/millrace/Attributes.h"
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/Patterns.h"
#include "lowering/linalg/storage/StorageTypes.h"
#include "passes/fusion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace millrace::lowering {
#define GEN_PASS_DEF_LOWERTOLINALGPASS
#include "lowering/linalg/Passes.h.inc"
} // namespace millrace::lowering

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Returns the kernels and the functions that they call, directly or indirectly.
SetVector<func::FuncOp> functionsToConvert(ModuleOp module, bool all) {
  SetVector<func::FuncOp> result;
  for (auto function : module.getOps<func::FuncOp>())
    if (all || function->hasAttr(kKernelAttr))
      result.insert(function);
  SymbolTable symbols(module);
  for (size_t i = 0; i < result.size(); ++i)
    func::FuncOp(result[i]).walk([&](func::CallOp call) {
      if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
        result.insert(callee);
    });
  return result;
}

/// Casts operands and results of calls from functions that are not converted.
void adaptCalls(ModuleOp module, const SetVector<func::FuncOp> &converted) {
  SymbolTable symbols(module);
  module.walk([&](func::CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || !converted.contains(callee) || call.getCalleeType() == callee.getFunctionType() ||
        call.getNumOperands() != callee.getNumArguments() || call.getNumResults() != callee.getNumResults())
      return;
    OpBuilder builder(call);
    auto cast = [&](Value value, Type type) -> Value {
      if (value.getType() == type)
        return value;
      return UnrealizedConversionCastOp::create(builder, call.getLoc(), type, value).getResult(0);
    };
    SmallVector<Value> operands;
    for (auto [operand, type] : llvm::zip_equal(call.getOperands(), callee.getArgumentTypes()))
      operands.push_back(cast(operand, type));
    auto newCall = func::CallOp::create(builder, call.getLoc(), callee, operands);
    newCall->setDiscardableAttrs(call->getDiscardableAttrDictionary());
    for (auto [before, after] : llvm::zip_equal(call.getResults(), newCall.getResults()))
      before.replaceAllUsesWith(cast(after, before.getType()));
    call.erase();
  });
}

struct LowerToLinalg : impl::LowerToLinalgPassBase<LowerToLinalg> {
  using LowerToLinalgPassBase::LowerToLinalgPassBase;

  /// Collects the patterns once for all runs, because that takes longer than the conversion of a kernel.
  LogicalResult initialize(MLIRContext *context) override {
    types = std::make_shared<StorageTypeConverter>(context);
    StorageTypeConverter &converter = *types;
    RewritePatternSet patterns(context);
    // Attributes are kept only in modules that are converted as a whole, whose user may read them, as after upstream's pass.
    populateElementwisePatterns(converter, patterns, /*keepsAttributes=*/allFunctions);
    populateDataMovementPatterns(converter, patterns);
    populateDynamismPatterns(converter, patterns);
    populateControlFlowPatterns(converter, patterns);
    populateIndexingPatterns(converter, patterns);
    populateContractionPatterns(converter, patterns);
    populateReductionPatterns(converter, patterns);
    populateRandomPatterns(converter, patterns);
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns, converter);
    populateReturnOpTypeConversionPattern(patterns, converter);
    populateCallOpTypeConversionPattern(patterns, converter);
    frozen = std::move(patterns);
    return success();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    StorageTypeConverter &converter = *types;
    ConversionTarget target(*context);
    target.addIllegalDialect<stablehlo::StablehloDialect>();
    target.addLegalDialect<arith::ArithDialect, bufferization::BufferizationDialect, complex::ComplexDialect,
                           linalg::LinalgDialect, math::MathDialect, scf::SCFDialect, tensor::TensorDialect, vector::VectorDialect>();
    target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp function) {
      return converter.isSignatureLegal(function.getFunctionType()) && converter.isLegal(&function.getBody());
    });
    // A bitcast to or from a quantized type has no lowering here. A kernel must not keep one. A whole module may, because upstream's pass
    // stablehlo-legalize-to-linalg leaves it to other passes.
    target.addDynamicallyLegalOp<stablehlo::BitcastConvertOp>([&](stablehlo::BitcastConvertOp op) {
      Type from = getElementTypeOrSelf(op.getOperand().getType()), to = getElementTypeOrSelf(op.getResult().getType());
      return allFunctions && from != to && (isa<quant::QuantizedType>(from) || isa<quant::QuantizedType>(to));
    });
    target.addDynamicallyLegalOp<func::CallOp>(
        [&](func::CallOp call) { return converter.isSignatureLegal(call.getCalleeType()); });
    target.addDynamicallyLegalOp<func::ReturnOp>([&](func::ReturnOp op) { return converter.isLegal(op); });

    SetVector<func::FuncOp> functions = functionsToConvert(module, allFunctions);
    SmallVector<Operation *> roots(functions.begin(), functions.end());
    if (failed(applyPartialConversion(roots, target, frozen)))
      return signalPassFailure();
    adaptCalls(module, functions);

    SmallVector<UnrealizedConversionCastOp> casts;
    module.walk([&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
    reconcileUnrealizedCasts(casts);
  }

  std::shared_ptr<StorageTypeConverter> types; ///< the converter that the patterns refer to
  FrozenRewritePatternSet frozen;
};

} // namespace
} // namespace millrace::lowering
