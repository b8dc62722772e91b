// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Machine.h - What devices and the links between them can do ---------===//
// Plain data, read from JSON: machines/ has descriptions that are known by name, docs/auto-sharding.md says what the fields mean.
#pragma once

#include "passes/sharding/mesh/Axes.h"

#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace millrace::autosharding {

/// How devices exchange data within groups of consecutive device numbers. Levels go from the nearest devices to all of them.
struct Link {
  int64_t devices = 1;       ///< in a group that this level joins
  double bytesPerSecond = 0; ///< that one device receives while all of the group exchange
  double seconds = 0;        ///< latency of one message
};

struct Machine {
  std::string name;
  double flopsPerSecond = 0;       ///< of one device, in products of matrices of 4-byte elements
  double narrowFlopsPerSecond = 0; ///< the same with elements of at most 2 bytes
  double bytesPerSecond = 0;       ///< between a device and its memory
  int64_t memoryBytes = 0;         ///< of one device
  /// Any two devices of a level exchange at its speed (a switch, not a ring or torus): sums and gathers are made by halves, in as many steps as the
  /// devices' logarithm, with the bytes of a ring.
  bool isSwitched = false;
  std::vector<Link> links;         ///< not empty; groups grow from one level to the next

  /// The virtual devices of one process on a CPU: what a program is planned for if nothing else is said.
  static Machine virtualDevices();
  /// Reads a description. The error names the field, the expected and the actual value.
  static llvm::Expected<Machine> fromJson(llvm::StringRef text);
  /// One of machines/*.json by its name, "h100", or a file of one's own by its path.
  static llvm::Expected<Machine> find(llvm::StringRef nameOrPath);

  /// The level that joins devices which differ along `axes` of the mesh, whose last axis has the nearest devices. Beyond the last level the
  /// last one counts.
  const Link &linkOf(sharding::AxesRef axes, llvm::ArrayRef<int64_t> mesh) const;
};

/// Messages after one another in which each of so many devices hears of all others (a gather, or a sum of which each keeps a part); twice as many
/// for a sum that all keep.
int64_t messagesOf(const Machine &machine, int64_t devices);
/// Seconds until `bytes` have come to a device in `messages` messages.
double secondsOfTransfer(const Link &link, int64_t messages, double bytes);

} // namespace millrace::autosharding
