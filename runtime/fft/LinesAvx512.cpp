// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LinesAvx512.cpp - Lines in vectors of 512 bits ---===//
#include "runtime/fft/LineKernels.h"

namespace millrace::runtime::fft {

Implementation<float> avx512Float() { return {16, Group<float, 16>::transformGroups}; }
Implementation<double> avx512Double() { return {8, Group<double, 8>::transformGroups}; }

} // namespace millrace::runtime::fft
