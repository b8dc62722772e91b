// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProfileReport.h - The report of xla-run --profile -------------------===//
#pragma once

#include "tools/support/run/RunProgram.h"

#include <string>

namespace millrace::tools {

/// Writes the times of the executions, kernels with most time first, as JSON to the file `path`, or as a table to standard output if `path` is "-".
/// Each kernel has its calls, median and minimum of the time per execution, arithmetic and traffic by the compiler's count, emitter ("generic" if
/// none was used), and operations.
runtime::Status writeProfile(const runtime::Program &program, const RunOutcome &outcome, const std::string &path);

} // namespace millrace::tools
