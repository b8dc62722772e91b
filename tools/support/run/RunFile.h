// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RunFile.h - The tool xla-run ----------------------------------------===//
#pragma once

#include "lowering/cpu/CpuTarget.h"
#include "tools/support/flags/DeviceFlags.h"

#include <cstdint>
#include <string>

namespace millrace::tools {

struct RunFileOptions {
  std::string path;
  std::string args;    ///< comma-separated .npy/.npz files; empty for random values from `seed`
  std::string out;     ///< .npy or .npz file for the results; empty to print them
  std::string entry;
  std::string constant; ///< arguments to prepare once (ConstantFlag.h)
  std::string cacheDir;
  DeviceFlags devices;
  lowering::CpuTargetOverrides target; ///< target instead of this machine, which must have all its features
  uint64_t seed = 0;
  uint64_t rngSeed = 0; ///< seed of stablehlo.rng; 0 for new numbers in every run
  uint64_t memoryLimit = 0; ///< limit of bytes per device; 0 for none
  unsigned repeat = 1; ///< number of executions; more than one prints times
  unsigned numDevices = 0; ///< 0 for the number of the program
  unsigned threads = 0;
  bool interpreter = false; ///< use the evaluator instead of machine code
  bool verify = false;      ///< compare machine code with the evaluator
  bool stats = false;       ///< print executed operations, cache and memory
  bool time = false;        ///< print time per stop of compilation and per execution
  bool generic = false;     ///< use no emitters
  bool xlaSemantics = false; ///< apply passes/xla, for the evaluator, too
  bool relaxed = false;      ///< CompileOptions::relaxed
  bool quick = false;        ///< CompileOptions::quick
  bool tiered = false;       ///< compileTiered()
  bool fuse = true;
  bool quiet = false;       ///< print no results
  std::string profile;      ///< output of the profile: a JSON file, or - for a table
  unsigned pieces = 0;      ///< threads for which the profile cuts kernels into pieces; 0 to run kernels as usual
  std::string plantBug;     ///< test hook: miscompile the first operation of this family (PlantBug.h)
};

/// Compiles (or loads) and runs the file; otherwise prints one error. Returns the exit status: 0 only if the program ran and all its checks, and
/// --verify, hold.
int runFile(const RunFileOptions &options);

} // namespace millrace::tools
