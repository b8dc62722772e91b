// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramHlo.h - A program as XProf's graph and memory viewer read it --===//
#pragma once
#include "runtime/program/Program.h"

#include <string>

namespace millrace::runtime::profile {

/// HloProto (XLA's hlo.proto) of the steps as they run: a custom call per kernel, named as its events are, with its operations and the user's line;
/// `while`, `conditional` and `call` for control flow. With the buffer assignment: arguments, results, constants, and the arena with the values
/// in it and when they live. Empty for programs with sizes that are known at run time only, for which these messages have no form.
std::string hloProto(const Program &program);

} // namespace millrace::runtime::profile
