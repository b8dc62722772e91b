// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmbeddedProgram.h - StableHLO text as an operation of a graph --------===//
#pragma once
#include "tracing/Graph.h"

namespace millrace::tracing {

/// main of the StableHLO module `text` applied to `operands`, as one operation called `name`. It becomes part of the program that
/// is compiled; equal texts are equal operations. Errors: InvalidArgument if the text is no such module, or if the operands are not
/// of the types of main's arguments. `meetsOthers`: other processes of the world take part in it.
runtime::StatusOr<std::vector<Value>> embedProgram(const std::string &name, const std::string &text,
                                                   const std::vector<Value> &operands, bool meetsOthers = false);

} // namespace millrace::tracing
