// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LinesAvx2.cpp - Lines in vectors of 256 bits ---===//
#include "runtime/fft/LineKernels.h"

namespace millrace::runtime::fft {

Implementation<float> avx2Float() { return {8, Group<float, 8>::transformGroups}; }
Implementation<double> avx2Double() { return {4, Group<double, 4>::transformGroups}; }

} // namespace millrace::runtime::fft
