// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Scope.h - Named regions of the user's program ----------------------===//
// Nodes that a thread records in a region have "outer.1/inner.2" as a part of their origin. The number counts the regions of one parent since
// resetScopes().
#pragma once
#include "tracing/graph/Graph.h"

namespace millrace::tracing {

void pushScope(const std::string &name);
void popScope();
/// Returns the innermost region of this thread, or null.
const std::string *currentScope();
/// Restarts the numbers at 1. Returns false if this thread is in a region.
bool resetScopes();

/// Returns the place with a region. The objects behind it are never freed: there is one for every place and region.
Origin inScope(const Origin &origin, const std::string &scope);
/// Returns the region of a place, or null.
const std::string *scopeOf(const Origin &origin);
/// Returns the place without its region.
Origin withoutScope(const Origin &origin);

} // namespace millrace::tracing
