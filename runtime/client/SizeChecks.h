// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SizeChecks.h - Sizes that only a run knows have to agree (private) --===//
#pragma once
#include "runtime/program/Program.h"

namespace millrace::runtime {

/// The first check that does not hold. Its location is not part of the message.
struct FailedCheck {
  Status status;
  uint32_t location = kNone; ///< index into Program::locations
};

/// Evaluates the checks for run-time dims `dims` of `function`. The message of an error names argument and dimension, the expected and the actual size.
FailedCheck evaluateChecks(const Program &program, const Function &function, const std::vector<SizeCheck> &checks, const int64_t *dims);

/// The error of an argument whose size in dimension `axis` is not that of its slot.
Status wrongSize(const Program &program, const Function &function, size_t argument, size_t axis, int64_t expected, int64_t actual);

} // namespace millrace::runtime
