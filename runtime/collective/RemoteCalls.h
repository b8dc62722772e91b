// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RemoteCalls.h - Encode calls of collectives for messages ------------===//
#pragma once
#include "runtime/collective/Collective.h"

#include <memory>
#include <sys/uio.h>

namespace millrace::runtime {

/// A call as it is sent to another process: a description, and the bytes of the arguments, which are not copied.
struct EncodedCall {
  std::string head;
  std::vector<iovec> payload;
  bool isWhole = false; ///< every process that reads a payload gets this one
  std::vector<std::unique_ptr<char[]>> packed; ///< parts of arguments that are not contiguous
};

/// Encodes the call of the device at position `own` of a group of `size` for a process whose devices are at `positions`: the parts of the arguments
/// that these devices read. `part`: the index of the process among those of the group if it computes a part, see isParted().
EncodedCall encodeCall(const CollectiveCall &call, size_t own, size_t size, const std::vector<size_t> &positions, ProcessPart part = {});

/// Decodes the call of a device of another process, without results. Its arguments point into `payload`, which it keeps; arguments that are not read
/// here have no memory. `size` is that of its group. DataLoss if the bytes are inconsistent.
StatusOr<std::shared_ptr<const CollectiveCall>> decodeCall(std::string_view head, size_t size, std::shared_ptr<char> payload,
                                                           uint64_t payloadBytes);

/// Returns a hash of the fields that must be equal on all devices that execute a step, in every process.
uint64_t signatureOf(const CollectiveStep &step);

} // namespace millrace::runtime
