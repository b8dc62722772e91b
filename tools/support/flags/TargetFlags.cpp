// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TargetFlags.cpp - Flags of the target machine ----------------------===//
#include "tools/support/flags/TargetFlags.h"

namespace millrace::tools {

void addTargetFlags(Flags &flags, lowering::CpuTargetOverrides &overrides) {
  flags.add("target", &overrides.name, "processor: host (default), avx2, avx512, aarch64, aarch64-dotprod, or one of x86-64 that LLVM knows, for example znver4");
  flags.add("target-threads", &overrides.threads, "threads to cut kernels for (default: of this machine, 2 where --target names another)");
  flags.add("target-caches", &overrides.caches, "size and ways of each level of caches to compile for: 32K/8,1M/16,32M/16");
}

} // namespace millrace::tools
