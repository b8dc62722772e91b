// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Request.cpp - Settings of automatic sharding as text ----------------===//
#include "passes/autosharding/Request.h"

namespace millrace::autosharding {

/// Returns 16 * 2^30 for "16G"; 0 if the text is no size.
static int64_t parseBytes(llvm::StringRef text) {
  static constexpr llvm::StringLiteral units = "KMGT";
  size_t unit = text.empty() ? llvm::StringRef::npos : units.find(text.back());
  int shift = unit == llvm::StringRef::npos ? 0 : 10 * (int(unit) + 1);
  int64_t number = 0;
  if ((shift ? text.drop_back() : text).getAsInteger(10, number) || number <= 0 || number > (std::numeric_limits<int64_t>::max() >> shift) / 2)
    return 0;
  return number << shift;
}

llvm::Expected<AutoShardingOptions> Request::options(llvm::StringRef machineName, llvm::StringRef memoryName) const {
  AutoShardingOptions options;
  if (!machine.empty()) {
    llvm::Expected<Machine> read = Machine::find(machine);
    if (!read)
      return llvm::createStringError(machineName + ": " + llvm::toString(read.takeError()));
    options.machine = *read;
  }
  if (!memory.empty()) {
    options.memoryPerDevice = parseBytes(memory);
    if (options.memoryPerDevice == 0)
      return llvm::createStringError(memoryName + " expects a number of bytes, with K, M, G or T for powers of 1024, but got '" + memory + "'");
  }
  return options;
}

} // namespace millrace::autosharding
