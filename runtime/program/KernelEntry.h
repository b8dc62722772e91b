// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelEntry.h - A compiled kernel as a cache entry ------------------===//
#pragma once
#include "runtime/base/Status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace millrace::runtime {

/// How much of the range [0, end) a kernel for a run-time number of rows executes: ceil(rows * indices / indicesPerUnit) * units.
struct RowRange {
  int64_t indices = 0;         ///< indices of the outermost loop per row; 0 if all of the range is executed for any number of rows
  int64_t indicesPerUnit = 1;
  int64_t units = 1;           ///< iterations of the inner loops for each unit of the outermost one
  bool isExact = false;        ///< nothing of a row is read or written that does not exist: buffers may end with the last one
  bool operator==(const RowRange &) const = default;
};

/// The machine code of one kernel, and the properties that its callers need.
struct KernelEntry {
  std::string symbol;  ///< symbol of the entry point in `object`
  std::string object;  ///< a relocatable object
  std::string emitter; ///< name of the emitter that generated the code
  int64_t rangeEnd = 1;         ///< iterations of the parallel range
  int64_t granularity = 1;      ///< pieces of the range begin at multiples of this
  int64_t scratchBytes = 0;     ///< per call
  double picosPerIteration = 0; ///< estimate; 0 = unknown
  RowRange rows;
  bool takesRows = false; ///< the number of rows is its only run-time dim
};

std::string serializeKernel(const KernelEntry &entry);

/// Parses untrusted bytes. Errors: InvalidArgument for bytes that serializeKernel() did not write, or with values that no kernel has.
StatusOr<KernelEntry> parseKernel(std::string_view bytes);

} // namespace millrace::runtime
