// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LinesAvx512.cpp - Lines in vectors of 512 bits ---===//
#include "runtime/fft/RunKernels.h"

namespace millrace::runtime::fft {

Implementation<float> avx512Float() { return implementationOf<float, 16>; }
Implementation<double> avx512Double() { return implementationOf<double, 8>; }

} // namespace millrace::runtime::fft
