// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - CHLO to StableHLO ---------------------------------------===//
#pragma once
#include "dialects/millrace/Attributes.h"
#include "dialects/stablehlo/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class RewritePatternSet;
}

namespace millrace::chlo {

#define GEN_PASS_DECL
#include "passes/chlo/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/chlo/Passes.h.inc"

/// Registers the pipeline `chlo-pre-serialization-pipeline`, which leaves no CHLO and no shape computations.
void registerChloPipelines();

void populateBroadcastPatterns(mlir::RewritePatternSet &patterns);
void populateTrigonometricPatterns(mlir::RewritePatternSet &patterns);
void populateSpecialFunctionPatterns(mlir::RewritePatternSet &patterns);
void populateStructuralPatterns(mlir::RewritePatternSet &patterns);
/// Adds all patterns above.
void populateChloToStablehloPatterns(mlir::RewritePatternSet &patterns);

} // namespace millrace::chlo
