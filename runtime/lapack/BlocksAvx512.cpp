// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BlocksAvx512.cpp - Factorizations in vectors of 512 bits ---===//
#include "runtime/lapack/BlockKernels.h"

namespace millrace::runtime::lapack {

Blocks<float> avx512FloatBlocks() { return BlockKernels<float, 16>::blocks(); }
Blocks<double> avx512DoubleBlocks() { return BlockKernels<double, 8>::blocks(); }

} // namespace millrace::runtime::lapack
