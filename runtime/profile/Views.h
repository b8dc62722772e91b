// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Views.h - What to change, and what the pages show of it -------------===//
// Conclusions from a recording: where its time goes, what costs most of what could be saved, which graphs were compiled why, how devices wait for
// each other, who holds the memory. Everything is a pure function of the planes, so that files and live recordings say the same.
#pragma once
#include "runtime/profile/Summary.h"

namespace millrace::runtime::profile {

/// What the machine can do at most, measured (tools/support/reports/Roofs.h). Zero: not known.
struct Roofs {
  double gflops = 0; ///< multiply-adds of float32 in registers, all threads
  double bf16Gflops = 0; ///< the same of bfloat16
  struct Level {
    double bytes = 0, gbps = 0; ///< working set, and what can be read of it per second
  };
  std::vector<Level> levels; ///< by working set; the last one is memory
  uint32_t threads = 0;
};

/// Something that the user can change.
struct Finding {
  std::string kind; ///< "recompile", "read", "fallback", "imbalance", "serial", "leak", "cache", "kernel", "host"
  std::string title, source, evidence, advice; ///< one sentence; "train.py:12"; figures; what to do
  std::string page; ///< the view that shows it
  double ns = 0; ///< what it costs in this recording, of the time that passed; of a leak what it would count as beside others
  std::string cost = {}; ///< what else it costs, "1.8 MB"; empty: time
};

struct Compilation {
  std::string program, source, cause, difference, cache; ///< `cache`: "hit", "miss", or why it missed
  double at = 0, ns = 0; ///< since the first event
};

struct CollectiveUse {
  std::string name, source;
  uint64_t calls = 0, bytes = 0; ///< of all devices
  struct OfDevice {
    std::string device;
    double ns = 0, waitNs = 0;
  };
  std::vector<OfDevice> devices;
};

/// Memory that lives when a device holds the most.
struct MemoryOwner {
  std::string device, purpose, source;
  uint64_t bytes = 0, blocks = 0;
};

/// Bytes in use over time, by purpose: points.size() * (1 + purposes.size()) numbers, time since the first event first.
struct MemorySeries {
  std::string device;
  std::vector<std::string> purposes;
  std::vector<std::vector<double>> points;
};

struct Views {
  std::vector<Finding> findings; ///< by cost
  std::vector<std::pair<std::string, double>> split; ///< what the time is spent on, in nanoseconds; together the time that passed
  std::vector<Compilation> compilations; ///< in the order of time
  std::vector<CollectiveUse> collectives; ///< by waiting
  std::vector<MemoryOwner> owners; ///< by bytes
  std::vector<MemorySeries> memory;
  std::vector<std::pair<std::string, std::string>> programs; ///< by time: title, and graph (ProgramGraph.h)
};

/// The number of threads is that of the process that was recorded, if the recording has it: also where nothing was measured.
Roofs withThreads(Roofs roofs, const XSpace &space);

Views viewsOf(const XSpace &space, const Summary &summary, const Roofs &roofs = {});

std::string toJson(const Views &views);
std::string toJson(const Roofs &roofs);

/// The findings for a terminal, the most valuable `top` of them.
std::string toText(const Views &views, size_t top);

} // namespace millrace::runtime::profile
