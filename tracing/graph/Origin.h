// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Origin.h - The user's line that recorded a node ---------------------===//
// A front end registers an OriginSource. The current place is queried once per node and must be cheap; the place is resolved to a file and line only
// when a message or a compilation needs it.
#pragma once
#include "tracing/graph/Graph.h"

namespace millrace::tracing {

struct Place {
  std::string function, file;
  int line = 0;
  /// Returns "file:line", or "" if the place is unknown.
  std::string toString() const { return file.empty() ? std::string() : file + ":" + std::to_string(line); }
};

struct OriginSource {
  Origin (*current)() = nullptr;
  Place (*resolve)(const Origin &) = nullptr;
  /// Returns the active functions of this thread, the innermost first.
  std::vector<Place> (*stack)() = nullptr;
};

/// Registers the source. Must be called before anything is recorded.
void setOriginSource(const OriginSource &source);
Origin currentOrigin();
Place placeOf(const Origin &origin);
std::vector<Place> currentStack();

} // namespace millrace::tracing
