// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryPeak.h - Who owns the memory where most is in use --------------===//
#pragma once
#include "runtime/profile/XSpace.h"

namespace millrace::runtime::profile {

/// What a device has in use when it has most.
struct MemoryPeak {
  struct Owner {
    std::string purpose, source; ///< "result" (Recorder.h, Purpose); "train.py:12" or "program jit_step"; both empty: had before the recording
    uint64_t bytes = 0, blocks = 0;
  };
  std::string device; ///< name of its plane
  uint64_t bytes = 0;
  int64_t offset = 0;        ///< picoseconds since the begin of its line
  std::vector<Owner> owners; ///< the largest first
};

/// Of every device whose memory changed.
std::vector<MemoryPeak> memoryPeaks(const XSpace &space);

/// A table for a terminal, `top` rows per device; empty if there is nothing to say.
std::string toText(const std::vector<MemoryPeak> &peaks, size_t top);

} // namespace millrace::runtime::profile
