// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Export.h - Graphs as programs for others ----------------------------===//
#pragma once
#include "tracing/Graph.h"

namespace millrace::tracing {

struct ExportedFunction {
  std::string text;             ///< StableHLO; its function is called main
  std::vector<Value> constants; ///< tensors that the graph holds: parameters after the arguments
  std::vector<uint32_t> order;  ///< which argument each of the first parameters is
};
/// `results` as a function of `arguments` (leaves), all of which are parameters: first those that are used, in the order in which the
/// graph's text names them, as PyTorch/XLA orders parameters, then the others. Numbers are constants.
runtime::StatusOr<ExportedFunction> exportFunction(const std::vector<Value> &arguments, const std::vector<Value> &results);

/// The portable artifact of StableHLO text for readers of `version` ("1.0.0" or "current").
runtime::StatusOr<std::string> portableArtifact(const std::string &text, const std::string &version);
/// StableHLO text of a portable artifact of any version.
runtime::StatusOr<std::string> artifactText(const std::string &bytes);

} // namespace millrace::tracing
