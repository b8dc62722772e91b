// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SingleLaneStores.h - Masked stores of one lane ----------------------===//
#pragma once

namespace llvm {
class Function;
}

namespace millrace::lowering {

/// Masked stores whose mask is known to have one lane become stores of that element. LLVM 22.1.8 does so as well, but on AVX-512 it forgets that a
/// value was truncated before: a lane of 8 bits is stored as 32, over what lies behind it.
void storeSingleLanes(llvm::Function &function);

} // namespace millrace::lowering
