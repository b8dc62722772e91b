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
  std::vector<std::vector<Array>> results; ///< results of the last execution by [device][result]
  std::vector<double> milliseconds;        ///< per execution the time from enqueueing until all results are ready
  std::vector<double> processorMilliseconds; ///< per execution the processor time of all threads of the process
  std::vector<runtime::Profile> profiles;  ///< per execution the profile of device 0, if requested
  double loadMilliseconds = 0;
  uint64_t peakBytes = 0; ///< peak of device 0
};

/// Loads `program` and executes it `repeat` times on its devices, each with its shard of `arguments`, and waits for the results. `onRepeat` is called
/// with the number of the execution that begins. `rngSeed` is that of the client, 0 for a new one; `memoryLimit` is in bytes per device, 0 for none.
/// `profile` measures every step, with `piecesFor` as in Profile::piecesFor. The memory of `arguments` is freed as soon as devices have them, except
/// for donated ones.
runtime::StatusOr<RunOutcome> runProgram(std::shared_ptr<const runtime::Program> program,
                                         std::vector<Array> arguments, unsigned numDevices, unsigned repeat,
                                         uint64_t rngSeed, uint64_t memoryLimit, bool profile, unsigned piecesFor, const std::function<void(unsigned)> &onRepeat);

} // namespace millrace::tools
