// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RemoteCalls.h - Calls of collectives, on their way to processes -----===//
#pragma once
#include "runtime/collective/Collective.h"

#include <memory>
#include <sys/uio.h>

namespace millrace::runtime {

/// A call as another process is told of it: a description, and the bytes of the arguments, which stay where they are.
struct EncodedCall {
  std::string head;
  std::vector<iovec> payload;
};

/// What a process has to know of the call of the device at position `own` of a group, if its devices are at `positions`: without the
/// arguments where none of them reads these.
EncodedCall encodeCall(const CollectiveCall &call, size_t own, const std::vector<size_t> &positions);

/// The call of a device of another process, without results. Its arguments point into `payload`, which it keeps; arguments that nobody here
/// reads have no memory. DataLoss if the bytes do not fit together.
StatusOr<std::shared_ptr<const CollectiveCall>> decodeCall(std::string_view head, std::shared_ptr<char> payload, uint64_t payloadBytes);

/// Of what has to be equal on all devices that execute a step, in whatever process.
uint64_t signatureOf(const CollectiveStep &step);

} // namespace millrace::runtime
