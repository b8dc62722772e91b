// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dump.h - Write graphs and programs as text for debugging ------------===//
// XLA_SAVE_TENSORS_FILE=FILE appends every executed graph to FILE.0 (0 is the rank of the process), in the format XLA_SAVE_TENSORS_FMT: text
// (default), dot, hlo, stablehlo.
// XLA_SAVE_HLO_FILE=FILE appends every program whose compilation fails to FILE; XLA_DUMP_HLO_GRAPH=1 adds the program to the error.
// If there are several processes, each writes its own files, whose names contain its rank.
// XLA_IR_DEBUG=1 adds the user's lines to texts of graphs, XLA_HLO_DEBUG=1 to texts of programs.
#pragma once
#include "tracing/graph/Graph.h"

#include <string>

namespace millrace::tracing {

/// Returns `file` in a world of one process, and FILE.RANK in any other.
std::string fileOfProcess(const std::string &file);
/// Returns true if the environment asks for programs whose compilation fails.
bool showsFailedPrograms();
/// Returns `error`, after the program that caused it was saved or added to its message as the environment asks.
runtime::Status withProgram(runtime::Status error, const std::string &stablehlo);
/// Returns the text that saveGraph() appends; "" if the environment does not ask for it.
std::string savedForm(const std::vector<Value> &roots);
void appendSaved(const std::string &text);
/// Appends the shardings that a program for several devices gave to `roots`; in the format hlo only.
void saveShardings(const std::vector<Value> &roots);
/// Appends the graph of `roots` if the environment asks for it.
inline void saveGraph(const std::vector<Value> &roots) { appendSaved(savedForm(roots)); }

/// Returns the prefix of the file names of --xla_dump_to (lowering/ModuleDump.h): "process_1.", or "" in a world of one process.
std::string dumpPrefix();

} // namespace millrace::tracing
