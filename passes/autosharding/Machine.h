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

/// The way in which a collective brings data to the devices that take part in it.
enum class Exchange {
  Ring,        ///< of neighbours: as many messages after one another as there are other devices
  Switch,      ///< any two devices at once: as many messages as the devices' logarithm, with the bytes of a ring
  SharedMemory ///< of one memory and its cores: every device reads the operands of the others where they stand, and writes its share of the results
};

/// How devices exchange data within groups of consecutive device numbers. Levels go from the nearest devices to all of them.
struct Link {
  int64_t devices = 1;       ///< in a group that this level joins
  double bytesPerSecond = 0; ///< that one device receives while all of the group exchange
  double seconds = 0;        ///< latency of one message
  double cacheBytesPerSecond = 0; ///< shared memory: the same rate of the first Machine::cacheBytes
};

/// What a collective moves for one device.
struct Traffic {
  int64_t messages = 0;              ///< after one another, where there are messages: Machine::messagesAmong
  double received = 0;               ///< bytes that come from other devices, if each takes the shortest way
  double operand = 0, result = 0;    ///< bytes of a device's operands and results
};

struct Machine {
  std::string name;
  double flopsPerSecond = 0;       ///< of one device, in products of matrices of 4-byte elements
  double narrowFlopsPerSecond = 0; ///< the same with elements of at most 2 bytes
  double bytesPerSecond = 0;       ///< between a device and its memory
  double cacheBytes = 0;           ///< of an operation that move at cacheBytesPerSecond, because caches hold them; the rest at bytesPerSecond
  double cacheBytesPerSecond = 0;
  int64_t memoryBytes = 0;         ///< of one device
  double kernelSeconds = 0;        ///< from the launch of a kernel until it computes; where devices share cores, of the launches of all of them
  Exchange exchange = Exchange::Ring;
  /// Shared memory: from the arrival of a device at a collective until all of its group have come and know of the end, beside the messages.
  double meetingSeconds = 0;
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

  /// Seconds in which an operation moves its bytes between memory and processor.
  double secondsOfMemory(double bytes) const;
  /// Messages after one another in which each of so many devices hears of all others: a gather, or a sum of which each keeps a part.
  int64_t messagesAmong(int64_t devices) const;
  /// The same of a sum that all keep.
  int64_t messagesOfSum(int64_t devices) const;
  /// Seconds of the messages of a collective, and of the meeting of those that take part; 0 if nothing is received.
  double latencyOf(const Link &link, const Traffic &traffic) const;
  /// Seconds in which the bytes of a collective are moved, beside its latency.
  double secondsOfBytes(const Link &link, const Traffic &traffic) const;
};

} // namespace millrace::autosharding
