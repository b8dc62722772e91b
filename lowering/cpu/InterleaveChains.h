// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InterleaveChains.h - Interleave independent dependence chains ------===//
#pragma once

namespace llvm {
class Function;
}

namespace millrace::lowering {

/// Reorders vector instructions within the blocks of `function` so that independent dependence chains alternate. No memory access moves across
/// another one that it may depend on. `registers` is the number of vector registers; a block whose live values would no longer fit keeps its order.
void interleaveChains(llvm::Function &function, unsigned registers);

} // namespace millrace::lowering
