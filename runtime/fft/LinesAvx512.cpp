// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LinesAvx512.cpp - Lines in vectors of 512 bits ---===//
#include "runtime/fft/PointKernels.h"

namespace millrace::runtime::fft {

Implementation<float> avx512Float() { return Points<float, 16>::implementation; }
Implementation<double> avx512Double() { return Points<double, 8>::implementation; }

} // namespace millrace::runtime::fft
