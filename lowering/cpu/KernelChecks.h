// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelChecks.h - What passes ask the emitters about a kernel -------===//
// A check lowers the kernel to the same linalg from which code is generated later, so that its answer is what the emitter does then. Checks cache
// their answers. They are for one thread, that of the kernels' context; loadCompilerDialects() comes first.
#pragma once

#include "lowering/cpu/CpuTarget.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/operands/PrepareConstants.h"

namespace millrace::lowering {

/// Returns the check whether the attention emitter accepts a kernel, so that no attention is fused in vain.
fusion::KernelCheck attentionCheck(const CpuTarget &cpu);

/// Returns the query for the operand that a kernel's contraction packs on this processor.
fusion::PanelsOf panelsOf(const CpuTarget &cpu);

} // namespace millrace::lowering
