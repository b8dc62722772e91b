// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProfileOptions.h - What the reader of a profile wants to see ---------===//
#pragma once
#include <cstdint>
#include <string_view>

namespace millrace::runtime::profile {

/// What of a recording becomes planes. The levels are those of XLA's message ProfileOptions.
struct Wanted {
  /// 0: nothing of the host. 1: the regions of the user's program. From 2 on: also launches, transfers, compilations, threads of the pool and memory.
  uint64_t hostLevel = 2;
  /// 0: nothing of the devices. From 1 on: executions, their steps, and memory.
  uint64_t deviceLevel = 1;
  bool hasPrograms = true; ///< also the HLO of the programs that ran (ProgramHlo.h)
};

/// Reads a serialized ProfileOptions. A message without a version is one that nobody has filled in: the defaults apply. A field that a message with a
/// version lacks is zero, as protobuf says. python_tracer_level is not read: who records Python's calls is not this recorder.
/// Returns false for bytes that are no such message.
bool readProfileOptions(std::string_view bytes, Wanted &wanted);

} // namespace millrace::runtime::profile
