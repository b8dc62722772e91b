// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dump.h - Graphs and programs for people, as the environment asks ----===//
// XLA_SAVE_TENSORS_FILE=FILE appends every graph that is run to FILE.0 (the rank of the process), as XLA_SAVE_TENSORS_FMT says: text (default),
// dot, hlo, stablehlo.
// XLA_SAVE_HLO_FILE=FILE appends every program that cannot be compiled to FILE, XLA_DUMP_HLO_GRAPH=1 adds it to the error.
// Of several processes each has files of its own, whose names have its rank.
// XLA_IR_DEBUG=1 puts the user's lines into texts of graphs, XLA_HLO_DEBUG=1 into texts of programs.
#pragma once
#include "tracing/Graph.h"

#include <string>

namespace millrace::tracing {

/// `file` in a world of one; FILE.RANK in any other.
std::string fileOfProcess(const std::string &file);
/// The environment asks for programs that cannot be compiled.
bool showsFailedPrograms();
/// `error`, after what the environment wants to be done with the program that caused it.
runtime::Status withProgram(runtime::Status error, const std::string &stablehlo);
/// What saveGraph() appends; "" if the environment does not ask for it.
std::string savedForm(const std::vector<Value> &roots);
void appendSaved(const std::string &text);
/// Appends the shardings of `roots` where a program for several devices has put them, in the format hlo only.
void saveShardings(const std::vector<Value> &roots);
/// Appends the graph of `roots` if the environment asks for it.
inline void saveGraph(const std::vector<Value> &roots) { appendSaved(savedForm(roots)); }

/// What stands before the names of files of --xla_dump_to (lowering/ModuleDump.h): "process_1.", or "" in a world of one.
std::string dumpPrefix();

} // namespace millrace::tracing
