// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CpuTarget.cpp - The processor that code is generated for -----------===//
#include "lowering/cpu/CpuTarget.h"

#include "runtime/base/Cpu.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include <algorithm>

namespace millrace::lowering {

/// What this machine says about itself: each question leaves a virtual machine.
static CpuTarget askHost() {
  CpuTarget target;
  target.triple = llvm::sys::getProcessTriple();
  target.cpu = llvm::sys::getHostCPUName().str();
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (feature.second && (!feature.first().starts_with("amx-") || runtime::requestMatrixRegisters()))
      target.features.push_back(feature.first().str());
  std::sort(target.features.begin(), target.features.end());
  return target;
}

CpuTarget CpuTarget::host() {
  static const CpuTarget host = askHost();
  return host;
}

llvm::Expected<CpuTarget> CpuTarget::named(llvm::StringRef name) {
  if (name == "host")
    return host();
  // Every Armv8-A processor has what its base level asks for: nothing needs to be checked when a program is loaded.
  if (name == "aarch64")
    return CpuTarget{"aarch64-unknown-linux-gnu", "generic", {}};
  llvm::StringRef cpu = name == "avx2" ? "x86-64-v3" : name == "avx512" ? "x86-64-v4" : name;
  if (llvm::X86::parseArchX86(cpu, /*Only64Bit=*/true) == llvm::X86::CK_None) {
    llvm::SmallVector<llvm::StringRef> known;
    llvm::X86::fillValidCPUArchList(known, /*Only64Bit=*/true);
    return llvm::createStringError("expects host, avx2, avx512, aarch64 or one of " + llvm::join(known, " ") + ", but got '" + name + "'");
  }
  llvm::SmallVector<llvm::StringRef> named;
  llvm::X86::getFeaturesForCPU(cpu, named);
  llvm::StringMap<bool> enabled; // with those that others imply
  for (llvm::StringRef feature : named) {
    enabled[feature] = true;
    llvm::X86::updateImpliedFeatures(feature, true, enabled);
  }
  // Every 64-bit processor has it, but LLVM's list of "x86-64" does not: sums of f64 would be those of the x87 unit.
  enabled["sse2"] = true;
  CpuTarget target{"x86_64-unknown-linux-gnu", cpu.str(), {"64bit"}}; // implied too, but asked for by code generation
  for (const auto &feature : enabled)
    // Machines do not report these two, and the loader would miss them.
    if (feature.second && feature.first() != "x87" && feature.first() != "evex512")
      target.features.push_back(feature.first().str());
  std::sort(target.features.begin(), target.features.end());
  return target;
}

bool CpuTarget::has(llvm::StringRef feature) const { return std::binary_search(features.begin(), features.end(), feature); }

} // namespace millrace::lowering
