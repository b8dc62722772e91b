// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TargetFlags.h - Flags of the target machine ------------------------===//
#pragma once

#include "lowering/cpu/CpuTarget.h"
#include "tools/support/flags/Flags.h"

namespace millrace::tools {

/// Adds --target, --target-threads and --target-caches.
void addTargetFlags(Flags &flags, lowering::CpuTargetOverrides &overrides);

} // namespace millrace::tools
