// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Contraction.cpp - The kinds of the contraction family --------------===//
// Input:   a pattern set
// Output:  with the patterns of dot, dot_general, einsum, convolution, dynamic_conv, cholesky and triangular_solve
// Leaves alone the other families.
#include "lowering/linalg/PatternKinds.h"
#include "lowering/linalg/Patterns.h"

namespace millrace::lowering {

void populateContractionPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns) {
  populateDotPatterns(converter, patterns);
  populateConvolutionPatterns(converter, patterns);
  populateFactorizationPatterns(converter, patterns);
}

} // namespace millrace::lowering
