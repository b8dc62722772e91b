// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FuseProducts.h - Which products and sums round once -----------------===//
#pragma once

namespace llvm {
class Function;
}

namespace millrace::lowering {

/// Sums whose operand is a product that nobody else uses become fused operations where both allow that (contract), of f32, f64 and f16. LLVM's code
/// generation would decide it block by block, otherwise without optimizations than with them: afterwards no operation has a flag by
/// which it would regroup or fuse. `hasFma`: the processor has such an operation, else only the flags go; `hasHalfFma`: also of f16.
void fuseProducts(llvm::Function &function, bool hasFma, bool hasHalfFma);

} // namespace millrace::lowering
