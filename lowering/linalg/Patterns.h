// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Patterns.h - stablehlo to linalg, one function per op family -------===//
// Each function adds the conversion patterns of one family. Patterns expect a StorageTypeConverter (StorageTypes.h), and
// leave operations in the dialects linalg, tensor, scf, arith, math, complex and func.
#pragma once

#include "mlir/Transforms/DialectConversion.h"

namespace millrace::lowering {

/// With `keepsAttributes` the linalg.generic gets the discardable attributes of the operation.
void populateElementwisePatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns, bool keepsAttributes);
void populateDataMovementPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateDynamismPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateControlFlowPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateIndexingPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateContractionPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateReductionPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateRandomPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);

} // namespace millrace::lowering
