// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dump.cpp - Write graphs and programs as text for debugging ----------===//
#include "tracing/reports/Dump.h"

#include "tracing/programs/Compile.h"
#include "tracing/graph/IrText.h"
#include "tracing/Session.h"
#include "runtime/base/Environment.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace millrace::tracing {

namespace environment = runtime::environment;

bool showsFailedPrograms() { return !environment::text("XLA_SAVE_HLO_FILE").empty() || environment::isOn("XLA_DUMP_HLO_GRAPH"); }

runtime::Status withProgram(runtime::Status error, const std::string &stablehlo) {
  const std::string wanted = environment::text("XLA_SAVE_HLO_FILE"), file = wanted.empty() ? "" : fileOfProcess(wanted);
  if (file.empty() && !environment::isOn("XLA_DUMP_HLO_GRAPH"))
    return error;
  runtime::StatusOr<std::string> hlo = hloText(stablehlo);
  const std::string &text = hlo ? *hlo : stablehlo;
  if (!file.empty()) {
    std::ofstream out(file, std::ios::app);
    out << "[" << error.message() << "]\n" << text << "\n";
    if (!out.flush())
      std::fprintf(stderr, "torch_xla: cannot write %s (XLA_SAVE_HLO_FILE)\n", file.c_str());
  }
  return environment::isOn("XLA_DUMP_HLO_GRAPH") ? error.withContext("the program\n" + text + "\ncaused") : error;
}

/// Returns the graph in the format that the user chose; a graph that the format cannot express becomes a comment.
static std::string formatted(const std::vector<Value> &roots) {
  std::string format = environment::text("XLA_SAVE_TENSORS_FMT");
  if (format == "dot")
    return graphDot(roots);
  if (format != "hlo" && format != "stablehlo")
    return graphText(roots);
  runtime::StatusOr<std::string> text = Session::get().programText(roots);
  if (text && format == "hlo")
    text = hloText(*text);
  return text ? *text : "# " + std::string(text.status().message()) + "\n";
}

std::string fileOfProcess(const std::string &file) {
  runtime::StatusOr<World> world = Session::world();
  return world && world->size > 1 ? file + "." + std::to_string(world->rank) : file;
}

static const std::string &saveFile() {
  static const std::string file = environment::text("XLA_SAVE_TENSORS_FILE");
  return file;
}

std::string savedForm(const std::vector<Value> &roots) {
  if (saveFile().empty())
    return "";
  return "[ScheduleSyncTensorsGraph]\n\nHashes: (" + schedule(roots).key.toString() + ")\n\n## BEGIN_GRAPH\n" + formatted(roots) +
         "\n## END_GRAPH\n\n";
}

void appendSaved(const std::string &text) {
  if (text.empty())
    return;
  const std::string file = saveFile() + "." + std::to_string(Session::world().ok() ? Session::world()->rank : 0);
  std::ofstream out(file, std::ios::app);
  out << text;
  if (!out)
    std::fprintf(stderr, "torch_xla: cannot write %s (XLA_SAVE_TENSORS_FILE)\n", file.c_str());
}

void saveShardings(const std::vector<Value> &roots) {
  if (saveFile().empty() || environment::text("XLA_SAVE_TENSORS_FMT") != "hlo")
    return;
  std::string text = "#OUTPUT_SHARDING_BEGIN\n\n";
  for (const Value &root : roots)
    if (const Shards *shards = shardsOf(root))
      text += root.shape().toString() + " " + shards->sharding->text + "\n";
  appendSaved(text + "\n#OUTPUT_SHARDING_END\n\n");
}

std::string dumpPrefix() {
  runtime::StatusOr<World> world = Session::world();
  return world && world->size > 1 ? "process_" + std::to_string(world->rank) + "." : "";
}

} // namespace millrace::tracing
