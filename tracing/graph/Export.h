// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Export.h - Export graphs as programs --------------------------------===//
#pragma once
#include "tracing/graph/Graph.h"

namespace millrace::tracing {

struct ExportedFunction {
  std::string text;             ///< StableHLO; its function is named main
  std::vector<Value> constants; ///< tensors of the graph, which are parameters after the arguments
  std::vector<uint32_t> order;  ///< for each of the first parameters the index of its argument
};
/// Exports `results` as a function of `arguments` (leaves). All arguments are parameters: first the used ones, in the order in which the graph's text
/// names them (PyTorch/XLA's order of parameters), then the unused ones. Numbers are constants.
runtime::StatusOr<ExportedFunction> exportFunction(const std::vector<Value> &arguments, const std::vector<Value> &results);

/// Converts StableHLO text to a portable artifact for readers of `version` ("1.0.0" or "current").
runtime::StatusOr<std::string> portableArtifact(const std::string &text, const std::string &version);
/// Converts a portable artifact of any version to StableHLO text.
runtime::StatusOr<std::string> artifactText(const std::string &bytes);

} // namespace millrace::tracing
