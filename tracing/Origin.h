// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Origin.h - Which line of the user's program recorded a node ---------===//
// A front end that knows registers a source. Asking where the program is happens once per node and must be cheap; what a
// place is called is worked out when a message or a compilation needs it.
#pragma once
#include "tracing/Graph.h"

namespace millrace::tracing {

struct Place {
  std::string function, file;
  int line = 0;
  /// "file:line", or "" if nothing is known.
  std::string toString() const { return file.empty() ? std::string() : file + ":" + std::to_string(line); }
};

struct OriginSource {
  Origin (*current)() = nullptr;
  Place (*resolve)(const Origin &) = nullptr;
  /// Functions that are active on this thread, the innermost first.
  std::vector<Place> (*stack)() = nullptr;
};

/// Before anything is recorded.
void setOriginSource(const OriginSource &source);
Origin currentOrigin();
Place placeOf(const Origin &origin);
std::vector<Place> currentStack();

} // namespace millrace::tracing
