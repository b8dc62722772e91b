// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceErrors.h - Name the device that ran out of memory ------------===//
#pragma once

#include "runtime/base/Status.h"

namespace millrace::runtime {

/// Returns the status; if memory was exhausted, with the device's name in front, unless the error is that of another device and names it already.
inline Status onDevice(uint32_t device, const Status &status) {
  constexpr std::string_view kName = "CpuDevice(id=";
  if (status.code() != Code::ResourceExhausted || status.message().substr(0, kName.size()) == kName)
    return status;
  return resourceExhausted(std::string(kName) + std::to_string(device) + "): " + std::string(status.message()));
}

} // namespace millrace::runtime
