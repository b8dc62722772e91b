// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LinesPortable.cpp - Lines in vectors of 128 bits ---===//
#include "runtime/fft/RunKernels.h"

namespace millrace::runtime::fft {

Implementation<float> portableFloat() { return implementationOf<float, 4>; }
Implementation<double> portableDouble() { return implementationOf<double, 2>; }

} // namespace millrace::runtime::fft
