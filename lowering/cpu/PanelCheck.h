// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PanelCheck.h - What preparation asks the emitter of contractions ---===//
#pragma once

#include "lowering/cpu/CpuTarget.h"
#include "passes/fusion/PrepareConstants.h"

namespace millrace::lowering {

/// The operands that contractions pack on this processor. For the thread that uses the kernels' context.
fusion::PanelsOf panelsOf(const CpuTarget &cpu);

} // namespace millrace::lowering
