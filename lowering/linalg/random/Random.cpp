// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Random.cpp - The kinds of the random family ------------------------===//
// Input:   a pattern set
// Output:  with the patterns of fft, rng and rng_bit_generator
// Leaves alone the other families.
#include "lowering/linalg/PatternKinds.h"
#include "lowering/linalg/Patterns.h"

namespace millrace::lowering {

void populateRandomPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns) {
  populateFftPatterns(converter, patterns);
  populateRngPatterns(converter, patterns);
}

} // namespace millrace::lowering
