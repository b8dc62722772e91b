// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Request.h - Settings of automatic sharding as text ------------------===//
// Flags of tools, compile options of JAX and environment variables are these texts.
#pragma once

#include "passes/autosharding/AutoSharding.h"

namespace millrace::autosharding {

struct Request {
  bool isOn = false;
  std::string machine; ///< name or file (Machine::find); empty for virtual devices of one process
  std::string memory;  ///< limit of the bytes on a device, "16G"; empty for none

  /// Converts the texts. Errors begin with the name of the setting, which is `machineName` or `memoryName`.
  llvm::Expected<AutoShardingOptions> options(llvm::StringRef machineName, llvm::StringRef memoryName) const;
};

} // namespace millrace::autosharding
