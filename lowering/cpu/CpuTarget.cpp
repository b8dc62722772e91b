// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CpuTarget.cpp - The machine that code is generated for -------------===//
#include "lowering/cpu/CpuTarget.h"

#include "runtime/base/Cpu.h"
#include "runtime/base/Environment.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include <algorithm>
#include <cstdlib>

namespace millrace::lowering {

/// Returns the smallest cache sizes of processors of this kind, for targets that are named: Intel's with AMX (Sapphire Rapids and later, Software
/// Optimization Reference Manual, "Cache hierarchy") and AMD's from Zen 5 on have a larger level 1.
static std::vector<runtime::CacheLevel> typicalCaches(const CpuTarget &target) {
  bool tiles = target.has("amx-tile");
  runtime::CacheLevel first = tiles || target.cpu == "znver5" ? runtime::CacheLevel{48 << 10, 12} : runtime::CacheLevel{32 << 10, 8};
  return {first, {(tiles ? 2 : 1) << 20, 16}, {32 << 20, 16}};
}

/// Asks the machine. CPUID is slow in a virtual machine, which it leaves.
static CpuTarget askHost() {
  CpuTarget target;
  target.triple = llvm::sys::getProcessTriple();
  target.cpu = llvm::sys::getHostCPUName().str();
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    if (feature.second && (!feature.first().starts_with("amx-") || runtime::requestMatrixRegisters()))
      target.features.push_back(feature.first().str());
  std::sort(target.features.begin(), target.features.end());
  const runtime::Machine &machine = runtime::Machine::host();
  // A machine that tells nothing of its caches (gVisor, some containers) is taken for a typical one.
  target.caches = machine.caches.size() >= 2 ? machine.caches : typicalCaches(target);
  // Cutting for more threads than can run at a time would only add packing.
  target.threads = std::min(runtime::defaultThreadCount(), runtime::availableCpus());
  if (machine.gigahertz > 0)
    target.gigahertz = machine.gigahertz;
  return target;
}

/// Applies the overrides in the environment.
static llvm::Error applyEnvironment(CpuTarget &target) {
  namespace environment = runtime::environment;
  CpuTargetOverrides overrides;
  // "host" is the target that is being changed.
  if (std::string name = environment::text("MILLRACE_TARGET"); name != "host")
    overrides.name = std::move(name);
  overrides.caches = environment::text("MILLRACE_TARGET_CACHES");
  if (const std::string threads = environment::text("MILLRACE_TARGET_THREADS");
      !threads.empty() && llvm::StringRef(threads).getAsInteger(10, overrides.threads))
    return llvm::createStringError("target-threads expects a number, but got '" + threads + "'");
  return applyOverrides(overrides, target);
}

CpuTarget CpuTarget::host() {
  static const CpuTarget host = [] {
    CpuTarget asked = askHost(), changed = asked;
    if (llvm::Error error = applyEnvironment(changed)) {
      asked.problem = "the environment's MILLRACE_TARGET variables: " + llvm::toString(std::move(error));
      return asked;
    }
    return changed;
  }();
  return host;
}

llvm::Expected<CpuTarget> CpuTarget::named(llvm::StringRef name) {
  if (name == "host")
    return host();
  // Every Armv8-A processor has the features of its base level: nothing needs to be checked when a program is loaded.
  if (name == "aarch64" || name == "aarch64-dotprod") {
    CpuTarget target{"aarch64-unknown-linux-gnu", "generic", {}};
    if (name == "aarch64-dotprod")
      target.features.push_back("dotprod");
    target.caches = typicalCaches(target);
    return target;
  }
  llvm::StringRef cpu = name == "avx2" ? "x86-64-v3" : name == "avx512" ? "x86-64-v4" : name;
  if (llvm::X86::parseArchX86(cpu, /*Only64Bit=*/true) == llvm::X86::CK_None) {
    llvm::SmallVector<llvm::StringRef> known;
    llvm::X86::fillValidCPUArchList(known, /*Only64Bit=*/true);
    return llvm::createStringError("expects host, avx2, avx512, aarch64, aarch64-dotprod or one of " + llvm::join(known, " ") + ", but got '" + name + "'");
  }
  llvm::SmallVector<llvm::StringRef> named;
  llvm::X86::getFeaturesForCPU(cpu, named);
  llvm::StringMap<bool> enabled; // including implied ones
  for (llvm::StringRef feature : named) {
    enabled[feature] = true;
    llvm::X86::updateImpliedFeatures(feature, true, enabled);
  }
  // Every 64-bit processor has SSE2, but LLVM's list of "x86-64" does not name it: sums of f64 would use the x87 unit.
  enabled["sse2"] = true;
  CpuTarget target{"x86_64-unknown-linux-gnu", cpu.str(), {"64bit"}}; // implied, too, but read by code generation
  for (const auto &feature : enabled)
    // Machines do not report these two features, so the loader would not find them.
    if (feature.second && feature.first() != "x87" && feature.first() != "evex512")
      target.features.push_back(feature.first().str());
  std::sort(target.features.begin(), target.features.end());
  target.caches = typicalCaches(target);
  return target;
}

bool CpuTarget::has(llvm::StringRef feature) const { return std::binary_search(features.begin(), features.end(), feature); }

int64_t CpuTarget::cacheBytes(unsigned level) const { return level <= caches.size() ? caches[level - 1].bytes : 0; }

bool CpuTarget::hasInstructionsOf(const CpuTarget &other) const {
  return triple == other.triple && cpu == other.cpu && features == other.features;
}

std::vector<std::pair<std::string, std::string>> CpuTarget::keyParts() const {
  std::vector<std::pair<std::string, std::string>> parts = {{"cpu", triple + " " + cpu},
                                                            {"cpu features", llvm::join(features, ",")},
                                                            {"cpu caches", cachesText()},
                                                            {"cpu cache line", std::to_string(caches.empty() ? 0 : caches.front().lineBytes)},
                                                            {"cpu threads", std::to_string(threads)},
                                                            {"cpu clock", llvm::formatv("{0:F2}", gigahertz).str()}};
  if (!problem.empty())
    parts.push_back({"cpu problem", problem});
  return parts;
}

llvm::Error CpuTarget::setCaches(llvm::StringRef text) {
  std::vector<runtime::CacheLevel> levels;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  for (llvm::StringRef part : parts) {
    auto [size, ways] = part.split('/');
    int shift = size.consume_back("K") ? 10 : size.consume_back("M") ? 20 : 0;
    runtime::CacheLevel level;
    // The bound prevents overflow in sums of a few sizes.
    if (size.getAsInteger(10, level.bytes) || level.bytes <= 0 || level.bytes > (int64_t(1) << 30) || ways.getAsInteger(10, level.ways) ||
        level.ways <= 0 || level.ways > 1024 || (level.bytes <<= shift) < int64_t(level.ways) * level.lineBytes ||
        level.bytes > (int64_t(1) << 40) || (!levels.empty() && level.bytes < levels.back().bytes))
      return llvm::createStringError("expects size/ways of each level from the first on, at least two, none smaller than the one before, "
                                     "for example 32K/8,1M/16,32M/16, but got '" + text + "'");
    levels.push_back(level);
  }
  if (levels.size() < 2 || levels.size() > 4)
    return llvm::createStringError("expects two to four levels, for example 32K/8,1M/16,32M/16, but got '" + text + "'");
  caches = std::move(levels);
  return llvm::Error::success();
}

std::string CpuTarget::cachesText() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::interleave(caches, out, [&](const runtime::CacheLevel &level) {
    bool mega = level.bytes % (1 << 20) == 0, kilo = level.bytes % (1 << 10) == 0;
    out << (mega ? level.bytes >> 20 : kilo ? level.bytes >> 10 : level.bytes) << (mega ? "M" : kilo ? "K" : "") << "/" << level.ways;
  }, ",");
  return text;
}

std::string CpuTarget::describe() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "triple: " << triple << "\nprocessor: " << cpu << "\nthreads: " << threads << "\nclock: " << llvm::format("%.2f GHz", gigahertz)
      << " (for estimates)\n";
  for (auto [index, level] : llvm::enumerate(caches)) {
    out << "level " << index + 1 << " cache: " << level.bytes / 1024 << " KiB, ";
    if (level.ways)
      out << level.ways << " ways, ";
    out << "lines of " << level.lineBytes << " bytes, shared by " << level.sharedBy << (level.sharedBy == 1 ? " processor\n" : " processors\n");
  }
  out << "as options: --target-threads=" << threads << " --target-caches=" << cachesText() << "\nfeatures: " << llvm::join(features, " ") << "\n";
  return text;
}

llvm::Error applyOverrides(const CpuTargetOverrides &overrides, CpuTarget &target) {
  if (!overrides.name.empty()) {
    llvm::Expected<CpuTarget> named = CpuTarget::named(overrides.name);
    if (!named)
      return llvm::createStringError("target " + llvm::toString(named.takeError()));
    target = std::move(*named);
  }
  if (overrides.threads > runtime::kMostThreads)
    return llvm::createStringError("target-threads expects a number from 1 to " + llvm::Twine(runtime::kMostThreads) + ", but got " +
                                   llvm::Twine(overrides.threads));
  if (overrides.threads)
    target.threads = overrides.threads;
  if (!overrides.caches.empty())
    if (llvm::Error error = target.setCaches(overrides.caches))
      return llvm::createStringError("target-caches " + llvm::toString(std::move(error)));
  return llvm::Error::success();
}

} // namespace millrace::lowering
