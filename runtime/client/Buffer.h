// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Buffer.h - The value behind a buffer (private) ----------------------===//
#pragma once
#include "runtime/client/Client.h"

namespace millrace::runtime {

/// Shared by the buffer, executions that read it and copies in flight. The last two release it before they signal, so
/// that a donated value held by nobody else can be overwritten.
struct Buffer::Value {
  DType dtype = DType::Invalid;
  bool shapeIsKnown = true;
  std::vector<int64_t> dims;        ///< if !shapeIsKnown: written before `ready` is set
  std::shared_ptr<Storage> storage; ///< written before `ready` is set
  bool hasMemory = false;           ///< storage is there from the beginning, only its content comes later
  bool comesByItself = false;       ///< of an execution that ends without its caller (Device::enqueue)
  Event ready;
};

} // namespace millrace::runtime
