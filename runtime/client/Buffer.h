// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Buffer.h - The value of a buffer (private) --------------------------===//
#pragma once
#include "runtime/client/Client.h"

namespace millrace::runtime {

/// The value is shared by the buffer, executions that read it and copies in progress. Executions and copies release it before they signal, so that a
/// donated value without other holders can be overwritten.
struct Buffer::Value {
  DType dtype = DType::Invalid;
  bool shapeIsKnown = true;
  std::vector<int64_t> dims;        ///< written before `ready` is set if !shapeIsKnown
  std::shared_ptr<Storage> storage; ///< written before `ready` is set
  bool hasMemory = false;           ///< the storage exists from the beginning; only its content is computed later
  bool comesByItself = false;       ///< computed by an execution that does not wait for its caller (Device::enqueue)
  Event ready;
};

} // namespace millrace::runtime
