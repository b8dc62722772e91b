// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmbeddedProgram.h - StableHLO text as an operation of a graph --------===//
#pragma once
#include "tracing/graph/Graph.h"

namespace millrace::tracing {

/// Records the function main of the StableHLO module `text`, applied to `operands`, as one operation named `name`. The operation is compiled as a
/// part of the surrounding program; equal texts are equal operations. `meetsOthers` says that other processes of the world take part in it.
/// Errors: InvalidArgument if the text is no such module, or if the operands do not have the types of main's arguments.
runtime::StatusOr<std::vector<Value>> embedProgram(const std::string &name, const std::string &text,
                                                   const std::vector<Value> &operands, bool meetsOthers = false);

} // namespace millrace::tracing
