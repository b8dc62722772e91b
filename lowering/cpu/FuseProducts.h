// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FuseProducts.h - Fuse multiplications with additions ----------------===//
#pragma once

namespace llvm {
class Function;
}

namespace millrace::lowering {

/// Fuses an addition with a multiplication of which it is the only user into one operation where both allow it (contract), for f32, f64 and f16.
/// LLVM's code generation would decide block by block, and otherwise without optimizations than with them; afterwards no operation has a flag by
/// which it would reassociate or fuse. `hasFma`: the processor has such an operation, else only the flags are removed; `hasHalfFma`: also for f16.
void fuseProducts(llvm::Function &function, bool hasFma, bool hasHalfFma);

} // namespace millrace::lowering
