// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PanelWidth.h - Width of packed panels of a contraction -------------===//
#pragma once

#include "lowering/cpu/CpuTarget.h"
#include "passes/fusion/Passes.h"

namespace millrace::lowering {

/// Returns the query for the panels that contractions read in place on this processor. For any thread.
fusion::PanelWidth panelWidth(const CpuTarget &cpu);

} // namespace millrace::lowering
