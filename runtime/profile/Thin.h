// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Thin.h - Fewer events, for viewers with limits -----------------------===//
#pragma once
#include "runtime/profile/XSpace.h"

#include <functional>

namespace millrace::runtime::profile {

/// What an event takes of the room that there is: bytes, for example.
using Weight = std::function<uint64_t(const Plane &plane, const Plane::Line &line, const Plane::Event &event)>;

struct Room {
  uint64_t slices = 0, points = 0; ///< the sum of their weights that may stay
  Weight weight;                   ///< each event weighs 1 without it
  /// `slices` is the room of both. A quarter of it is for points, and what slices do not need; what the points that stay leave of that is for slices.
  bool isShared = false;
};

/// Returns the space with the longest slices, and with the largest of so many neighbouring points of counters as leave room. A warning says how many
/// events are left out, followed by `consequence`.
XSpace thinned(XSpace space, const Room &room, std::string_view consequence);

/// The same for a page or a picture: at most `most` slices and as many points.
XSpace thinned(XSpace space, size_t most);

/// Removes kinds, texts and values that no event, kind or plane refers to.
void dropUnused(XSpace &space);

/// Returns encode(space) of at most `most` bytes. Where there would be more, the HLO of programs has at most half of them, that of the programs that ran
/// longest; of the events the longest stay. The space becomes what the bytes have, and its warnings say what is left out.
std::string encodeWithin(XSpace &space, uint64_t most);

} // namespace millrace::runtime::profile
