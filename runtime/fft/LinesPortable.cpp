// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LinesPortable.cpp - Lines in vectors of 128 bits ---===//
#include "runtime/fft/LineKernels.h"

namespace millrace::runtime::fft {

Implementation<float> portableFloat() { return Group<float, 4>::implementation; }
Implementation<double> portableDouble() { return Group<double, 2>::implementation; }

} // namespace millrace::runtime::fft
