// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramGraph.h - Steps of a program and what goes between them ------===//
#pragma once
#include "runtime/program/Program.h"

#include <string>

namespace millrace::runtime::profile {

/// {"nodes":[[name, emitter or kind, operations, place, depth, shape, sharding], ...], "edges":[from, to, bytes, ...]}: a node per argument, step and
/// result of the entry function, those of loops, branches and called functions (deeper) included, in the order of execution. An edge is a value:
/// from the step that wrote it last to one that reads it. At most `kMostGraphNodes` nodes; "left_out" counts the others.
std::string graphJson(const Program &program);
/// Larger graphs are cut; "left_out" counts the others. Unit: nodes. Source: judgement, not measured alone.
inline constexpr size_t kMostGraphNodes = 20000;

/// How many pieces the threads of the pool can run a kernel in: 1 = serial, 0 = its range is known at run time only.
uint64_t mostPieces(const KernelStep &step);

} // namespace millrace::runtime::profile
