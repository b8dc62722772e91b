// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reports.cpp - Tables for --time, --memory and --stats --------------===//
#include "tools/support/reports/Reports.h"

#include "lowering/program/MemoryPlan.h"
#include "lowering/program/OrderSteps.h"

#include "llvm/Support/Format.h"

#include <algorithm>
#include <map>

namespace millrace::tools {

void printCompileTimes(const CompileReport &report, llvm::raw_ostream &os) {
  os << "compile time per stop, ms\n";
  for (const auto &[stop, ms] : report.stops)
    os << llvm::format("%10.2f  %s\n", ms, stop.c_str());
  os << llvm::format("%10.2f  total\n", report.total);
  if (report.kernels.empty())
    return;
  os << "compile time per kernel, ms (threads overlap)\n";
  auto kernels = report.kernels;
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const auto &a, const auto &b) { return a.milliseconds > b.milliseconds; });
  for (const auto &kernel : kernels)
    os << llvm::format("%10.2f  %-12s %s\n", kernel.milliseconds, kernel.emitter.c_str(), kernel.name.c_str());
}

void printMemory(const runtime::Program &program, llvm::raw_ostream &os) {
  const runtime::MemoryStats &m = program.memory;
  os << "memory, bytes\n";
  for (auto [value, what] : {std::pair(m.arguments, "arguments"), std::pair(m.results, "outputs"),
                             std::pair(m.aliased, "aliases (outputs in argument memory)"),
                             std::pair(m.temporaries, "temporaries"), std::pair(m.constants, "constants"),
                             std::pair(m.code, "code"), std::pair(m.peak, "peak")})
    os << llvm::format("%14llu  %s\n", (unsigned long long)value, what);
  for (auto [wanted, what] : {std::pair(lowering::kLiveBytesKey, "largest sum of live temporaries"),
                              std::pair(lowering::kGivenLiveBytesKey, "the same with steps in the order of the program"),
                              std::pair(lowering::kLeastLiveBytesKey, "the same in no order less than"),
                              std::pair(lowering::kGatheredBytesKey, "largest sum of live results of all_gather")})
    for (const auto &[key, value] : program.metadata)
      if (key == wanted)
        os << llvm::format("%14s  %s\n", value.c_str(), what);
}

void printExecutedOps(const runtime::Program &program, llvm::raw_ostream &os) {
  std::map<std::string, unsigned> counts;
  for (const runtime::Kernel &kernel : program.kernels)
    for (const std::string &op : kernel.ops)
      ++counts[op];
  for (const std::string &op : program.stepOps)
    ++counts[op];
  for (const auto &[op, count] : counts)
    os << "executed: " << count << " x " << op << "\n";
}

} // namespace millrace::tools
