// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WindowPlan.h - Plan the exchange of windows of a sharded dimension --===//
// Plain data. Every device needs a window of a sharded dimension: elements [start, start + width), where `start` differs by device and may be
// anywhere, out of bounds, too.
#pragma once

#include "passes/spmd/Placement.h"

namespace millrace::spmd {

/// Elements [from, to) of one tile for every device; which tile differs by device.
struct Piece {
  int64_t from, to = 0;
  llvm::SmallVector<int64_t> source;      ///< tile by device, -1 for none
  llvm::SmallVector<ReplicaGroups> rounds; ///< permutations; devices that have the piece are in none

  int64_t size() const { return to - from; }
};

/// One permutation of `width` elements, which begin elsewhere in every source's tile and go elsewhere in every target's window.
struct Transfer {
  int64_t width = 0;
  ReplicaGroups pairs;              ///< (source, target), each once at most
  llvm::SmallVector<int64_t> froms; ///< by device: where what it sends begins in its tile; 0 for those that send nothing
  llvm::SmallVector<int64_t> places; ///< by device: where what arrives begins, seen from the start of its window; `width` of the window
                                    ///< for those that get nothing
};

struct WindowPlan {
  enum class Way {
    Gather,   ///< all devices receive all elements
    Pieces,   ///< each device has a piece at the same place of a buffer, as wide as the widest that is needed
    Transfers ///< what arrives is put over the own tile, at places that differ by device
  } way = Way::Gather;
  llvm::SmallVector<Piece> pieces;
  llvm::SmallVector<int64_t> begins; ///< Pieces: where the buffer begins in the dimension, by device
  std::vector<Transfer> transfers;
  int64_t received = 0; ///< elements that all messages together bring to a device that is in each of them
};

/// The way that brings the fewest elements to a device. `groups`: devices that hold the tiles, in their order; each device is in one.
WindowPlan planWindow(int64_t size, const Tiles &tiles, llvm::ArrayRef<int64_t> starts, int64_t width, const ReplicaGroups &groups);

} // namespace millrace::spmd
