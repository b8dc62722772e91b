// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Thin.h - Fewer events, for viewers with limits -----------------------===//
#pragma once
#include "runtime/profile/EventRanges.h"

namespace millrace::runtime::profile {

/// What each event takes of the room that there is, bytes for example, by its plane and line. Lines of kMetadataPlane have none.
using Weights = std::vector<std::vector<std::vector<uint32_t>>>;

/// Weights of all events of a space: `weigh` returns that of an event, on any thread.
template <typename Weigh>
Weights weightsOf(const XSpace &space, Weigh weigh) {
  Weights weights(space.planes.size());
  std::vector<EventRange> ranges;
  for (size_t p = 0; p < space.planes.size(); ++p) {
    if (space.planes[p].name.starts_with(kMetadataPlane))
      continue;
    for (size_t l = 0; l < space.planes[p].lines.size(); ++l) {
      const size_t count = space.planes[p].lines[l].events.size();
      weights[p].emplace_back(count);
      appendRanges(ranges, p, l, count);
    }
  }
  forRanges(ranges, [&](size_t i) {
    const EventRange &range = ranges[i];
    for (size_t e = range.begin; e < range.end; ++e)
      weights[range.plane][range.line][e] = uint32_t(weigh(range, e));
  });
  return weights;
}

struct Room {
  uint64_t slices = 0, points = 0; ///< the sum of their weights that may stay
  const Weights *weights = nullptr; ///< each event weighs 1 without them
  /// `slices` is the room of both. A quarter of it is for points, and what slices do not need; what the points that stay leave of that is for slices.
  bool isShared = false;
};

/// Returns a copy of the space with the longest slices, and with the largest of so many neighbouring points of counters as leave room. A warning says how many
/// events are left out, followed by `consequence`.
XSpace thinned(const XSpace &space, const Room &room, std::string_view consequence);

/// The same for a page or a picture: at most `most` slices and as many points.
XSpace thinned(const XSpace &space, size_t most);

/// Removes kinds, texts and values that no event, kind or plane refers to.
void dropUnused(XSpace &space);

/// Returns encode(space) of at most `most` bytes. Where there would be more, the HLO of programs has at most half of them, that of the programs that ran
/// longest; of the events the longest stay. The space becomes what the bytes have, and its warnings say what is left out.
std::string encodeWithin(XSpace &space, uint64_t most);

} // namespace millrace::runtime::profile
