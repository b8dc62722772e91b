// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Summary.h - What takes the time, as tables ---------------------------===//
#pragma once
#include "runtime/profile/XSpace.h"

namespace millrace::runtime::profile {

/// Times are nanoseconds. Of nested events (a loop and its steps) each counts its own time without that of those inside.
struct Summary {
  struct Row {
    std::string name, module, source, category; ///< kernel or step; program; "train.py:12"; emitter, "collective", "step"
    std::string operations; ///< of a kernel: "dot_general, add"
    size_t otherLines = 0; ///< beside `source`: layers of a model share a kernel
    uint64_t calls = 0;
    double ns = 0, waitNs = 0; ///< of which the devices waited for each other
    double flops = 0, bytes = 0; ///< of all calls
    uint64_t pieces = 0; ///< that the pool can run it in: 1 = one thread runs it, 0 = not known
    double threads = 1;  ///< that took part in a call, on average
  };
  struct Device {
    std::string name;
    uint64_t executions = 0;
    double busyNs = 0, queueNs = 0; ///< executions ran; they had been launched and did not run
    uint64_t peakBytes = 0;
  };
  double wallNs = 0; ///< from the first event to the end of the last one
  double compileNs = 0, transferNs = 0, launchNs = 0; ///< of all threads of the host
  /// Of the time that passed, at most 1: while any thread of a process does it, on average over the processes.
  double compileShare = 0, transferShare = 0;
  bool isCompiledAgain = false; ///< programs are compiled often for those that run, and the same ones again and again
  uint64_t compilations = 0, cacheHits = 0, cacheMisses = 0, launches = 0, transferredBytes = 0;
  std::vector<Row> steps, lines, programs, host; ///< by time
  std::vector<Device> devices;
  std::vector<std::string> warnings;
};

Summary summarize(const XSpace &space);

/// One sentence that says where the time goes, and what to change if something stands out.
std::string verdict(const Summary &summary);

/// Tables for a terminal, `top` rows each; `advice` stands between the first sentence and them.
std::string toText(const Summary &summary, size_t top, const std::string &advice = {});

/// The same, whole, as a JSON object.
std::string toJson(const Summary &summary);

/// Planes of several files side by side: `labels` (one per space, such as the names of the files) stand behind the names of planes.
XSpace merge(std::vector<XSpace> spaces, const std::vector<std::string> &labels);

} // namespace millrace::runtime::profile
