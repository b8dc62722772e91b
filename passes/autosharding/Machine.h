// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Machine.h - Performance of devices and links ------------------------===//
// Plain data, read from JSON. machines/ has descriptions with a name; docs/auto-sharding.md explains the fields.
#pragma once

#include "passes/sharding/mesh/Axes.h"

#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace millrace::autosharding {

/// The way in which a collective transfers data between its devices.
enum class Exchange {
  Ring,        ///< a ring of neighbours: as many consecutive messages as there are other devices
  Switch,      ///< links between any two devices: as many consecutive messages as the logarithm of the number of devices, with the bytes of a ring
  SharedMemory ///< cores of one memory: every device reads the operands of the others in place, and writes its part of the results
};

/// The links within groups of consecutive device numbers. Levels go from the nearest devices to all of them.
struct Link {
  int64_t devices = 1;       ///< devices of a group that this level connects
  double bytesPerSecond = 0; ///< rate at which one device receives while all of the group do
  double seconds = 0;        ///< latency of one message
  double cacheBytesPerSecond = 0; ///< of shared memory: the rate for the first Machine::cacheBytes
};

/// The data that a collective moves for one device.
struct Traffic {
  int64_t messages = 0;              ///< consecutive messages, unless memory is shared: Machine::messagesAmong
  double received = 0;               ///< bytes that the device receives if each takes the shortest path
  double operand = 0, result = 0;    ///< bytes of a device's operands and results
};

struct Machine {
  std::string name;
  double flopsPerSecond = 0;       ///< of one device, in contractions of 4-byte elements
  double narrowFlopsPerSecond = 0; ///< the same with elements of at most 2 bytes
  double bytesPerSecond = 0;       ///< between a device and its memory
  double cacheBytes = 0;           ///< bytes of an operation that caches hold, which move at cacheBytesPerSecond; all others move at bytesPerSecond
  double cacheBytesPerSecond = 0;
  int64_t memoryBytes = 0;         ///< memory of one device
  double kernelSeconds = 0;        ///< time from the launch of a kernel until it computes; of all launches together if devices share cores
  Exchange exchange = Exchange::Ring;
  /// Of shared memory: the time from a device's arrival at a collective until all devices of its group have arrived and have noticed the end, in
  /// addition to the messages.
  double meetingSeconds = 0;
  std::vector<Link> links;         ///< at least one; groups grow from one level to the next

  /// Returns the virtual devices of one process on a CPU, the default machine.
  static Machine virtualDevices();
  /// Reads a description. The error names the field, the expected and the actual value.
  static llvm::Expected<Machine> fromJson(llvm::StringRef text);
  /// Returns one of machines/*.json by its name ("h100"), or reads the file with this path.
  static llvm::Expected<Machine> find(llvm::StringRef nameOrPath);

  /// Returns the level that connects devices which differ along `axes` of the mesh, whose last axis has the nearest devices. Beyond the last level,
  /// returns the last one.
  const Link &linkOf(sharding::AxesRef axes, llvm::ArrayRef<int64_t> mesh) const;

  /// Returns the seconds in which an operation moves its bytes between memory and processor.
  double secondsOfMemory(double bytes) const;
  /// Returns the number of consecutive messages in which every device receives from all others: of a gather, or of a sum of which each keeps a part.
  int64_t messagesAmong(int64_t devices) const;
  /// Returns the same for a sum that all devices keep.
  int64_t messagesOfSum(int64_t devices) const;
  /// Returns the seconds of the messages of a collective and of the meeting of its devices; 0 if nothing is received.
  double latencyOf(const Link &link, const Traffic &traffic) const;
  /// Returns the seconds in which the bytes of a collective are moved, without its latency.
  double secondsOfBytes(const Link &link, const Traffic &traffic) const;
};

} // namespace millrace::autosharding
