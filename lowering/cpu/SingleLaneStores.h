// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SingleLaneStores.h - Turn one-lane masked stores into scalar stores ===//
#pragma once

namespace llvm {
class Function;
}

namespace millrace::lowering {

/// Replaces masked stores whose constant mask has one lane by stores of that element. LLVM 22.1.8 does so as well, but on AVX-512 it ignores a
/// preceding truncation: a lane of 8 bits is stored as 32, over the bytes after it.
void storeSingleLanes(llvm::Function &function);

} // namespace millrace::lowering
