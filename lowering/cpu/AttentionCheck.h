// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AttentionCheck.h - Check whether attention can be emitted ----------===//
#pragma once

#include "lowering/cpu/CpuTarget.h"
#include "passes/fusion/Passes.h"

namespace millrace::lowering {

/// Returns the check whether the attention emitter accepts a kernel. It lowers the kernel to the same linalg from which code is generated later, so
/// that no kernel is fused in vain. Caches its answers. For one thread; loadCompilerDialects() comes first.
fusion::KernelCheck attentionCheck(const CpuTarget &cpu);

} // namespace millrace::lowering
