// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RunProgram.h - Execute a program on host arrays --------------------===//
#pragma once

#include "runtime/client/Profile.h"
#include "runtime/program/Program.h"
#include "tools/support/run/Npy.h"

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace millrace::tools {

struct RunOutcome {
  std::vector<std::vector<Array>> results; ///< [device][result], of the last execution
  std::vector<double> milliseconds;        ///< per execution, from enqueueing to the last result being ready
  std::vector<double> processorMilliseconds; ///< per execution, of all threads of the process
  std::vector<runtime::Profile> profiles;  ///< per execution, of device 0, if asked for
  double loadMilliseconds = 0;
  uint64_t peakBytes = 0; ///< of device 0
};

/// Loads `program` and executes it `repeat` times on its devices, each with its part of `arguments`. `onRepeat` is told the number
/// of the execution that begins. Waits for the results. `rngSeed` is that of the client, 0 a new one, and `memoryLimit` too, in
/// bytes per device, 0 for none.
/// `profile`: measure every step; `piecesFor`: with it, see Profile::piecesFor. The memory of `arguments` is given back as soon as devices have them, but of those that are donated.
runtime::StatusOr<RunOutcome> runProgram(std::shared_ptr<const runtime::Program> program,
                                         std::vector<Array> arguments, unsigned numDevices, unsigned repeat,
                                         uint64_t rngSeed, uint64_t memoryLimit, bool profile, unsigned piecesFor, const std::function<void(unsigned)> &onRepeat);

} // namespace millrace::tools
