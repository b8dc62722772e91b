// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PatternKinds.h - Patterns of the kinds of a family ------------------===//
// Families of Patterns.h whose operations have little in common are split into kinds, one file per kind.
#pragma once

#include "mlir/Transforms/DialectConversion.h"

namespace millrace::lowering {

// Reduction family.
void populateReducePatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateReduceWindowPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateSelectAndScatterPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateMapPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateSortPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);

// Indexing family.
void populateGatherPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateScatterPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateDynamicSlicePatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);

// Contraction family.
void populateDotPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateConvolutionPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateFactorizationPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);

// Random family.
void populateFftPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateScalarLoopPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);
void populateRngPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns);

} // namespace millrace::lowering
