// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HexBools.h - Hexadecimal i1 elements, as newer MLIR prints them ----===//
#pragma once

#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace millrace::bytecode {

/// MLIR after 22, and so JAX, prints an `i1` element of `dense<"0x...">` as a byte; this MLIR reads it as a bit. A copy of the
/// text with such attributes as this MLIR reads them, every other character at its place, for locations. Null if it has none.
std::unique_ptr<llvm::MemoryBuffer> packHexBools(llvm::MemoryBufferRef text);

} // namespace millrace::bytecode
