// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Origin.cpp - The user's line that recorded a node -------------------===//
#include "tracing/graph/Origin.h"

#include "runtime/profile/Recorder.h"
#include "tracing/graph/Scope.h"

namespace millrace::tracing {

static OriginSource source;

/// Returns the name under which the recorder attributes memory that this thread allocates.
static const runtime::profile::Name *currentPlaceName() {
  const std::string place = placeOf(currentOrigin()).toString();
  return place.empty() ? nullptr : runtime::profile::intern(place);
}

void setOriginSource(const OriginSource &given) {
  source = given;
  runtime::profile::setPlaceSource(currentPlaceName);
}
Origin currentOrigin() { return source.current ? source.current() : Origin(); }
Place placeOf(const Origin &origin) {
  const Origin plain = withoutScope(origin);
  return source.resolve && plain ? source.resolve(plain) : Place();
}
std::vector<Place> currentStack() { return source.stack ? source.stack() : std::vector<Place>(); }

} // namespace millrace::tracing
