// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Profiler.h - Our planes in the profiles of JAX -----------------------===//
#pragma once
#include "pjrt/PjrtTypes.h"

namespace millrace::pjrt {

/// Returns the extension by which jaxlib requests planes, before `next` in the chain.
Extension *profilerExtension(Extension *next);

} // namespace millrace::pjrt
