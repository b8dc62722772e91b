// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AttentionCheck.h - What fusion asks the emitter of attention -------===//
#pragma once

#include "lowering/cpu/CpuTarget.h"
#include "passes/fusion/Passes.h"

namespace millrace::lowering {

/// Whether the emitter of attention takes a kernel: the same look at the same linalg that code generation takes later, so that no kernel is
/// fused for it in vain. Remembers what it was asked. For one thread; loadCompilerDialects() comes first.
fusion::KernelCheck attentionCheck(const CpuTarget &cpu);

} // namespace millrace::lowering
