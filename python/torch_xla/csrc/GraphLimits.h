// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GraphLimits.h - The functions whose graphs are counted --------------===//
#pragma once
#include "python/torch_xla/csrc/Shim.h"

namespace millrace::torch_shim {

/// Raises what an operation that was just recorded has done to a function whose graphs are counted (torch_xla.compile), if it has.
void checkGraphLimits();

} // namespace millrace::torch_shim
