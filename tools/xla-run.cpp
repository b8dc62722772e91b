// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- xla-run.cpp - Compile (or load) and run a program ------------------===//
#include "tools/support/RunFile.h"
#include "tools/support/Source.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

namespace cl = llvm::cl;
using millrace::tools::RunFileOptions;

static RunFileOptions options;
static cl::OptionCategory category("xla-run options");

template <typename T> using Flag = cl::opt<T, true>;
static Flag<std::string> path(cl::Positional, cl::Required, cl::desc("FILE.mlir|FILE.mr"), cl::location(options.path), cl::cat(category));
static Flag<std::string> args("args", cl::desc("argument values: .npy and .npz files, separated by commas"), cl::location(options.args), cl::cat(category));
static Flag<uint64_t> seed("seed", cl::desc("of random arguments, used without --args"), cl::location(options.seed), cl::cat(category));
static Flag<std::string> out("out", cl::desc("write the results to this .npy or .npz"), cl::location(options.out), cl::cat(category));
static Flag<unsigned> repeat("repeat", cl::desc("executions; prints times"), cl::location(options.repeat), cl::init(1), cl::cat(category));
static Flag<unsigned> numDevices("num-devices", cl::desc("virtual devices"), cl::location(options.numDevices), cl::cat(category));
static Flag<unsigned> threads("threads", cl::desc("of the compiler"), cl::location(options.threads), cl::cat(category));
static Flag<std::string> entry("entry", cl::desc("function to run (default: @main, else the only one)"), cl::location(options.entry), cl::cat(category));
static Flag<std::string> cacheDir("cache-dir", cl::desc("folder of the compilation cache, or 'off'"), cl::location(options.cacheDir), cl::cat(category));
static Flag<bool> verify("verify", cl::desc("compare machine code with the evaluator"), cl::location(options.verify), cl::cat(category));
static Flag<bool> stats("stats", cl::desc("print executed operations, cache use, memory"), cl::location(options.stats), cl::cat(category));
static Flag<bool> timeFlag("time", cl::desc("print time per stop of compilation and per execution"), cl::location(options.time), cl::cat(category));
static Flag<bool> generic("generic", cl::desc("code generation without emitters (the reference path)"), cl::location(options.generic), cl::cat(category));
static Flag<bool> quiet("quiet", cl::desc("print no results"), cl::location(options.quiet), cl::cat(category));
static cl::opt<bool> noFusion("no-fusion", cl::desc("one kernel per operation"), cl::cat(category));
static cl::opt<std::string> backend("backend", cl::desc("compiled or interpreter"), cl::init("compiled"), cl::cat(category));

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Compiles (or loads) a StableHLO program and runs it on this CPU\n");
  if (backend != "compiled" && backend != "interpreter")
    return millrace::tools::fail("xla-run", "--backend expects compiled or interpreter, but got '" + backend + "'");
  options.interpreter = backend == "interpreter";
  options.fuse = !noFusion;
  return millrace::tools::runFile(options);
}
