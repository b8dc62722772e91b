// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Request.h - Automatic sharding as users ask for it -----------------===//
// Flags of tools, compile options of JAX and variables of the environment are these texts.
#pragma once

#include "passes/autosharding/AutoSharding.h"

namespace millrace::autosharding {

struct Request {
  bool isOn = false;
  std::string machine; ///< name or file (Machine::find); empty: virtual devices of one process
  std::string memory;  ///< bytes that values may take on a device, "16G"; empty: any number

  /// What it means. The error begins with `prefix` and "machine" or "memory-per-device", the names of the settings.
  llvm::Expected<AutoShardingOptions> options(llvm::StringRef prefix) const;
};

} // namespace millrace::autosharding
