// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RunFile.h - What xla-run does --------------------------------------===//
#pragma once

#include "lowering/cpu/CpuTarget.h"
#include "tools/support/flags/DeviceFlags.h"

#include <cstdint>
#include <string>

namespace millrace::tools {

struct RunFileOptions {
  std::string path;
  std::string args;    ///< comma-separated .npy/.npz; empty: random values from `seed`
  std::string out;     ///< .npy or .npz for the results; empty: print them
  std::string entry;
  std::string constant; ///< arguments to prepare once (ConstantFlag.h)
  std::string cacheDir;
  DeviceFlags devices;
  lowering::CpuTargetOverrides target; ///< what to compile for instead of this machine, which must have all features
  uint64_t seed = 0;
  uint64_t rngSeed = 0; ///< of stablehlo.rng; 0: new numbers in every run
  uint64_t memoryLimit = 0; ///< bytes per device; 0: none
  unsigned repeat = 1; ///< executions; more than one prints times
  unsigned numDevices = 0; ///< 0: as many as the program wants
  unsigned threads = 0;
  bool interpreter = false; ///< the evaluator instead of machine code
  bool verify = false;      ///< compare machine code with the evaluator
  bool stats = false;       ///< print executed operations, cache and memory
  bool time = false;        ///< print time per stop of compilation and per execution
  bool generic = false;     ///< no emitters
  bool xlaSemantics = false; ///< passes/xla, for the evaluator too
  bool relaxed = false;      ///< CompileOptions::relaxed
  bool quick = false;        ///< CompileOptions::quick
  bool tiered = false;       ///< compileTiered()
  bool fuse = true;
  bool quiet = false;       ///< print no results
  std::string profile;      ///< where the time of a run goes: a JSON file, or - for a table
  unsigned pieces = 0;      ///< threads for which the profile cuts kernels into pieces; 0: kernels run as always
  std::string plantBug;     ///< test hook: spoil the first operation of this family (PlantBug.h)
};

/// Compiles (or loads) and runs the file; prints one clear error otherwise. Returns the exit status: 0 only if the
/// program ran and all its checks, and --verify, hold.
int runFile(const RunFileOptions &options);

} // namespace millrace::tools
