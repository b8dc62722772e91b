// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelEntry.h - One compiled kernel, as caches keep it --------------===//
#pragma once
#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::runtime {

/// How much of the range [0, end) a kernel for a run-time number of rows needs: ceil(rows * indices / indicesPerUnit) * units.
struct RowRange {
  int64_t indices = 0;         ///< of the outermost loop per row; 0: all of the range, whatever the number of rows
  int64_t indicesPerUnit = 1;
  int64_t units = 1;           ///< of the loops inside, for each unit of the outermost one
  bool operator==(const RowRange &) const = default;
};

/// Machine code of one kernel and what its callers must know.
struct KernelEntry {
  std::string symbol;  ///< of the entry point in `object`
  std::string object;  ///< relocatable
  std::string emitter; ///< who generated the code
  int64_t rangeEnd = 1;         ///< iterations of the parallel range
  int64_t granularity = 1;      ///< pieces of the range begin at multiples of this
  int64_t scratchBytes = 0;     ///< per call
  double picosPerIteration = 0; ///< estimate; 0 = unknown
  RowRange rows;
  bool takesRows = false; ///< the number of rows is its only run-time dim
};

std::string serializeKernel(const KernelEntry &entry);

/// Trusts nothing: InvalidArgument for bytes that serializeKernel() did not write, or whose values no kernel has.
StatusOr<KernelEntry> parseKernel(std::string_view bytes);

} // namespace millrace::runtime
