// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HexBools.h - Hexadecimal i1 elements of newer MLIR ------------------===//
#pragma once

#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace millrace::bytecode {

/// MLIR after version 22, and so JAX, prints an `i1` element of `dense<"0x...">` as a byte; this MLIR reads it as a bit. Returns a copy of the text
/// in which such attributes have this MLIR's form, with every other character at its position, for locations. Returns null if there are none.
std::unique_ptr<llvm::MemoryBuffer> packHexBools(llvm::MemoryBufferRef text);

} // namespace millrace::bytecode
