// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LinesPortable.cpp - Lines in vectors of 128 bits ---===//
#include "runtime/fft/LineKernels.h"

namespace millrace::runtime::fft {

Implementation<float> portableFloat() { return {4, Group<float, 4>::transformGroups}; }
Implementation<double> portableDouble() { return {2, Group<double, 2>::transformGroups}; }

} // namespace millrace::runtime::fft
