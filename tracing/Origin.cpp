// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Origin.cpp - Which line of the user's program recorded a node -------===//
#include "tracing/Origin.h"

#include "tracing/Scope.h"

namespace millrace::tracing {

static OriginSource source;

void setOriginSource(const OriginSource &given) { source = given; }
Origin currentOrigin() { return source.current ? source.current() : Origin(); }
Place placeOf(const Origin &origin) {
  const Origin plain = withoutScope(origin);
  return source.resolve && plain ? source.resolve(plain) : Place();
}
std::vector<Place> currentStack() { return source.stack ? source.stack() : std::vector<Place>(); }

} // namespace millrace::tracing
