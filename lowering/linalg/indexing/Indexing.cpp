// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Indexing.cpp - The kinds of the indexing family --------------------===//
// Input:   a pattern set
// Output:  with the patterns of gather, dynamic_gather, torch_index_select, scatter, dynamic_slice and dynamic_update_slice
// Leaves alone the other families.
#include "lowering/linalg/PatternKinds.h"
#include "lowering/linalg/Patterns.h"

namespace millrace::lowering {

void populateIndexingPatterns(const mlir::TypeConverter &converter, mlir::RewritePatternSet &patterns) {
  populateGatherPatterns(converter, patterns);
  populateScatterPatterns(converter, patterns);
  populateDynamicSlicePatterns(converter, patterns);
}

} // namespace millrace::lowering
