// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LinesPortable.cpp - Lines in vectors of 128 bits ---===//
#include "runtime/fft/PointKernels.h"

namespace millrace::runtime::fft {

Implementation<float> portableFloat() { return Points<float, 4>::implementation; }
Implementation<double> portableDouble() { return Points<double, 2>::implementation; }

} // namespace millrace::runtime::fft
