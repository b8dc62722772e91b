// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LinesAvx2.cpp - Lines in vectors of 256 bits ---===//
#include "runtime/fft/RunKernels.h"

namespace millrace::runtime::fft {

Implementation<float> avx2Float() { return implementationOf<float, 8>; }
Implementation<double> avx2Double() { return implementationOf<double, 4>; }

} // namespace millrace::runtime::fft
