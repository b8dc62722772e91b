// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reduction.cpp - The kinds of the reduction family ------------------===//
// Input:   a pattern set
// Output:  with the patterns of reduce, reduce_window, select_and_scatter, map and sort
// Leaves alone the other families.
#include "lowering/linalg/PatternKinds.h"
#include "lowering/linalg/Patterns.h"

namespace millrace::lowering {

void populateReductionPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns) {
  populateReducePatterns(converter, patterns);
  populateReduceWindowPatterns(converter, patterns);
  populateSelectAndScatterPatterns(converter, patterns);
  populateMapPatterns(converter, patterns);
  populateSortPatterns(converter, patterns);
}

} // namespace millrace::lowering
