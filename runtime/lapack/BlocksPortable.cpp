// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BlocksPortable.cpp - Factorizations in vectors of 128 bits ---===//
#include "runtime/lapack/BlockKernels.h"

namespace millrace::runtime::lapack {

Blocks<float> portableFloatBlocks() { return BlockKernels<float, 4>::blocks(); }
Blocks<double> portableDoubleBlocks() { return BlockKernels<double, 2>::blocks(); }

} // namespace millrace::runtime::lapack
