// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InterleaveChains.h - Independent computations side by side ---------===//
#pragma once

namespace llvm {
class Function;
}

namespace millrace::lowering {

/// Reorders vector instructions inside of the blocks of `function` so that chains that do not depend on each other take turns. No
/// memory access moves across another one that it might depend on. `registers`: how many vectors a core holds; a block whose values
/// would no longer fit keeps its order.
void interleaveChains(llvm::Function &function, unsigned registers);

} // namespace millrace::lowering
