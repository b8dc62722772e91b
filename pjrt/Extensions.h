// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Extensions.h - Optional parts of the interface ----------------------===//
#pragma once
#include "pjrt/PjrtTypes.h"

namespace millrace::pjrt {

/// Returns the first of the chain of extensions, for Api::extension_start: the profiler (1), partitioners of custom calls (2), layouts (4) and
/// shardings (19).
Extension *extensions();

} // namespace millrace::pjrt
