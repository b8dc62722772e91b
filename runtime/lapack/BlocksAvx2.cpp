// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BlocksAvx2.cpp - Factorizations in vectors of 256 bits ---===//
#include "runtime/lapack/BlockKernels.h"

namespace millrace::runtime::lapack {

Blocks<float> avx2FloatBlocks() { return BlockKernels<float, 8>::blocks(); }
Blocks<double> avx2DoubleBlocks() { return BlockKernels<double, 4>::blocks(); }

} // namespace millrace::runtime::lapack
