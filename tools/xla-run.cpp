// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- xla-run.cpp - Compile (or load) and run a program ------------------===//
#include "tools/Mains.h"
#include "tools/support/flags/Flags.h"
#include "tools/support/run/RunFile.h"
#include "tools/support/flags/TargetFlags.h"
#include "tools/support/programs/Source.h"

int millrace::tools::xlaRun(int argc, char **argv) {
  millrace::tools::RunFileOptions options;
  std::string backend = "compiled";
  bool noFusion = false;
  millrace::tools::Flags flags("xla-run", "Compiles (or loads) a StableHLO program and runs it on this CPU");
  flags.positional(&options.path, "FILE.mlir|FILE.mr");
  flags.add("args", &options.args, "argument values: .npy and .npz files, separated by commas");
  flags.add("seed", &options.seed, "of random arguments, used without --args");
  flags.add("rng-seed", &options.rngSeed, "of stablehlo.rng, for the same numbers in every run (default: new ones)");
  flags.add("out", &options.out, "write the results to this .npy or .npz");
  flags.add("repeat", &options.repeat, "executions; prints times");
  flags.add("num-devices", &options.numDevices, "virtual devices");
  flags.add("memory-limit", &options.memoryLimit, "largest number of bytes of a device's memory, beyond which the program fails (default: no limit)");
  options.devices.addTo(flags, /*reports=*/false);
  millrace::tools::addTargetFlags(flags, options.target); // this machine must be able to run it
  flags.add("entry", &options.entry, "function to run (default: @main, else the only one)");
  flags.add("constant", &options.constant, "arguments that every execution gets alike, all or 1,3-5: what depends on them alone is computed once");
  flags.add("backend", &backend, "compiled (default) or interpreter");
  flags.add("verify", &options.verify, "compare machine code with the evaluator");
  flags.add("stats", &options.stats, "print executed operations, cache use, memory");
  flags.add("time", &options.time, "print time per stop of compilation and per execution");
  flags.add("profile", &options.profile, "where the time of an execution goes, per kernel: to this JSON file, or - for a table");
  flags.add("pieces", &options.pieces, "with --profile: cut kernels as for so many threads, run their pieces one after the other and time each");
  flags.add("cache-dir", &options.cacheDir, "folder of the compilation cache, or off");
  flags.add("compile-threads", &options.threads, "threads of the compiler (default: all)");
  flags.add("generic", &options.generic, "code generation without emitters (the reference path)");
  flags.add("no-fusion", &noFusion, "one kernel per operation");
  flags.add("plant-bug", &options.plantBug, "for testing the fuzzer: miscompile the first operation of this family");
  flags.add("xla-semantics", &options.xlaSemantics, "what XLA means where StableHLO's specification says otherwise (passes/xla)");
  flags.add("relaxed", &options.relaxed, "regroup sums and products of floats where that is faster; the default keeps the specification's order");
  flags.add("tiered", &options.tiered, "begin with machine code that is made quickly, kernel by kernel replaced by better code while the program runs");
  flags.add("quick", &options.quick, "for tests: only the machine code that --tiered begins with");
  flags.add("quiet", &options.quiet, "print no results");
  int status;
  if (!flags.parse(argc, argv, status))
    return status;
  if (backend != "compiled" && backend != "interpreter")
    return millrace::tools::fail("xla-run", "--backend expects compiled or interpreter, but got '" + backend + "'");
  if (options.pieces && options.profile.empty())
    return millrace::tools::fail("xla-run", "--pieces requires --profile");
  options.interpreter = backend == "interpreter";
  options.fuse = !noFusion;
  return millrace::tools::runFile(options);
}
