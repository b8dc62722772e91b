// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Scope.h - Regions of the user's program with names ------------------===//
// What a thread records in them carries "outer.1/inner.2", as a part of its origin. The number counts the regions beside each
// other since resetScopes().
#pragma once
#include "tracing/Graph.h"

namespace millrace::tracing {

void pushScope(const std::string &name);
void popScope();
/// The innermost one of this thread, or null.
const std::string *currentScope();
/// Counts from 1 again. False: this thread is in a region.
bool resetScopes();

/// The same place in a region. What it makes lives for ever: one for every place and name.
Origin inScope(const Origin &origin, const std::string &scope);
/// The region of a place, or null.
const std::string *scopeOf(const Origin &origin);
/// The place alone.
Origin withoutScope(const Origin &origin);

} // namespace millrace::tracing
