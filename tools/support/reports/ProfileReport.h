// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProfileReport.h - xla-run --profile ---------------------------------===//
#pragma once

#include "tools/support/run/RunProgram.h"

#include <string>

namespace millrace::tools {

/// Writes where the time of the executions went, kernels with most time first, as JSON to the file `path`, or as a table to
/// standard output if `path` is "-". Per kernel: calls, median and minimum of the time per execution, arithmetic and traffic
/// as the compiler counts them, emitter ("generic": no emitter took it), operations.
runtime::Status writeProfile(const runtime::Program &program, const RunOutcome &outcome, const std::string &path);

} // namespace millrace::tools
