// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LinesAvx2.cpp - Lines in vectors of 256 bits ---===//
#include "runtime/fft/PointKernels.h"

namespace millrace::runtime::fft {

Implementation<float> avx2Float() { return Points<float, 8>::implementation; }
Implementation<double> avx2Double() { return Points<double, 4>::implementation; }

} // namespace millrace::runtime::fft
