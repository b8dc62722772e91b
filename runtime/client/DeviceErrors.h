// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceErrors.h - Which device ran out of memory --------------------===//
#pragma once

#include "runtime/base/Status.h"

namespace millrace::runtime {

/// The same status; if memory was exhausted, with the device's name in front. What devices that meet this one were told has one already.
inline Status onDevice(uint32_t device, const Status &status) {
  constexpr std::string_view kName = "CpuDevice(id=";
  if (status.code() != Code::ResourceExhausted || status.message().substr(0, kName.size()) == kName)
    return status;
  return resourceExhausted(std::string(kName) + std::to_string(device) + "): " + std::string(status.message()));
}

} // namespace millrace::runtime
