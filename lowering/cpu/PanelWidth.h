// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PanelWidth.h - What packing of weights asks the emitter ------------===//
#pragma once

#include "lowering/cpu/CpuTarget.h"
#include "passes/fusion/Passes.h"

namespace millrace::lowering {

/// The panels that contractions read in place on this processor. For any thread.
fusion::PanelWidth panelWidth(const CpuTarget &cpu);

} // namespace millrace::lowering
