// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Relocate.cpp - A program for another module of the same meaning ----===//
// Modules that differ in locations alone have one entry in the cache. Before, compiled for a module whose line 12 is `y = x @ x`:
//   locations "train.py:12:3"   sources 7   kernel "dot_general_12_4f3a91c2"
// After, for one with two more lines above it, whose operation 7 is in line 14:
//   locations "train.py:14:3"   sources 7   kernel "dot_general_14_4f3a91c2"
// Symbols of kernels have no lines, so that machine code stays what it is.
#include "runtime/program/Program.h"

namespace millrace::runtime {

/// Returns 12 for "train.py:12:3" and for "train.py:12"; "0" if there is no line.
static std::string lineOf(std::string_view place) {
  auto isNumber = [](std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos; };
  std::string_view line;
  for (size_t colon = place.rfind(':'); colon != std::string_view::npos && isNumber(place.substr(colon + 1)); colon = place.rfind(':')) {
    const bool isColumn = line.empty();
    line = place.substr(colon + 1);
    place = place.substr(0, colon);
    if (!isColumn)
      break;
  }
  return line.empty() ? "0" : std::string(line);
}

std::string kernelName(std::string_view operation, std::string_view place, std::string_view fingerprint) {
  return std::string(operation) + "_" + lineOf(place) + "_" + std::string(fingerprint);
}

void relocate(Program &program, const std::function<std::string(uint32_t)> &textOf) {
  for (size_t i = 0; i < program.locationSources.size(); ++i)
    if (program.locationSources[i] != kNone)
      program.locations[i] = textOf(program.locationSources[i]);
  for (Kernel &kernel : program.kernels) {
    if (kernel.location == kNone)
      continue;
    const std::string_view name = kernel.name;
    const size_t fingerprint = name.rfind('_'), line = name.rfind('_', fingerprint - 1);
    kernel.name = kernelName(name.substr(0, line), locationOf(program, kernel.location), name.substr(fingerprint + 1));
  }
}

} // namespace millrace::runtime
