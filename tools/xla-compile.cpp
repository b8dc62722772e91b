// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- xla-compile.cpp - StableHLO in, program or any stop out ------------===//
#include "lowering/Compile.h"
#include "tools/support/Progress.h"
#include "tools/support/Reports.h"
#include "tools/support/Source.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace millrace;
namespace cl = llvm::cl;

static cl::OptionCategory category("xla-compile options");
static cl::opt<std::string> input(cl::Positional, cl::desc("FILE.mlir"), cl::init("-"), cl::cat(category));
static cl::opt<std::string> output("o", cl::desc("write the program (or the stop) to this file"), cl::cat(category));
static cl::opt<std::string> emit("emit", cl::init("object"), cl::cat(category),
                                 cl::desc("stop: stablehlo simplified sharded partitioned fused linalg vector llvm asm "
                                          "object program"));
static cl::opt<std::string> entry("entry", cl::desc("function to compile (default: @main)"), cl::cat(category));
static cl::opt<bool> showTime("time", cl::desc("print time per stop and kernel"), cl::cat(category));
static cl::opt<bool> showMemory("memory", cl::desc("print bytes of arguments, outputs, temporaries, ..."), cl::cat(category));
static cl::opt<bool> generic("generic", cl::desc("code generation without emitters (the reference path)"), cl::cat(category));
static cl::opt<bool> noFusion("no-fusion", cl::desc("one kernel per operation"), cl::cat(category));
static cl::opt<unsigned> threads("threads", cl::desc("compiler threads (default: all)"), cl::cat(category));

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Compiles StableHLO for this CPU\n");
  static const std::vector<llvm::StringRef> stops = {"stablehlo", "simplified", "sharded", "partitioned", "fused", "linalg",
                                                     "vector", "llvm", "asm", "object", "program"};
  if (!llvm::is_contained(stops, emit))
    return tools::fail("xla-compile", "--emit expects one of " + llvm::join(stops, " ") + ", but got '" + emit + "'");

  tools::Session session;
  auto module = session.load(input);
  if (!module)
    return 1;
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (emit == "stablehlo")
    stream << *module << "\n";

  tools::Progress progress;
  CompileOptions options;
  options.entry = entry;
  options.genericOnly = generic;
  options.fuse = !noFusion;
  options.threads = threads;
  options.onProgress = [&](llvm::StringRef what) { progress.show(what); };
  if (emit != "object" && emit != "stablehlo")
    options.onStop = [&](llvm::StringRef stop, llvm::StringRef kernel, llvm::StringRef content) {
      if (stop != emit)
        return;
      if (!kernel.empty())
        stream << (stop == "asm" ? "# " : stop == "llvm" ? "; " : "// ") << "kernel " << kernel << "\n";
      stream << content << "\n";
    };
  CompileReport report;
  if (emit != "stablehlo") {
    auto program = compile(*module, options, &report);
    if (!program)
      return tools::fail("xla-compile", llvm::toString(program.takeError()));
    if (showMemory)
      tools::printMemory(*program, llvm::outs());
    if (emit == "object" && !output.empty()) {
      if (runtime::Status status = runtime::writeFile(*program, output); !status.ok())
        return tools::fail("xla-compile", status.message());
    } else if (emit == "object" && !showTime && !showMemory) {
      stream << runtime::toText(*program); // nothing else was asked for: show what was made
    }
  }
  if (showTime)
    tools::printCompileTimes(report, llvm::outs());
  if (text.empty())
    return 0;
  if (output.empty() || output == "-") {
    llvm::outs() << text;
    return 0;
  }
  std::error_code error;
  llvm::ToolOutputFile file(output, error, llvm::sys::fs::OpenFlags::OF_Text);
  if (error)
    return tools::fail("xla-compile", "cannot write '" + output + "': " + error.message());
  file.os() << text;
  file.keep();
  return 0;
}
