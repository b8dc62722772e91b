// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CpuTarget.h - The processor that code is generated for -------------===//
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace millrace::lowering {

struct CpuTarget {
  std::string triple, cpu;
  std::vector<std::string> features; ///< LLVM names, enabled ones only, without sign; sorted

  /// This machine.
  static CpuTarget host();
  /// "host", a processor or level of x86-64 that LLVM knows ("x86-64-v3", "skylake-avx512", "znver4"), "avx2" and "avx512" for the levels 3
  /// and 4, or "aarch64" (Armv8-A without extensions). The error lists what there is.
  static llvm::Expected<CpuTarget> named(llvm::StringRef name);

  bool has(llvm::StringRef feature) const;
  bool operator==(const CpuTarget &) const = default;
};

} // namespace millrace::lowering
