// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- xla-compile.cpp - Compile StableHLO to a program or any stop -------===//
#include "lowering/Compile.h"
#include "runtime/base/Progress.h"
#include "tools/Mains.h"
#include "tools/support/flags/ConstantFlag.h"
#include "tools/support/flags/DeviceFlags.h"
#include "tools/support/flags/Flags.h"
#include "tools/support/flags/MeshFlag.h"
#include "tools/support/flags/Stops.h"
#include "tools/support/flags/TargetFlags.h"
#include "tools/support/programs/CompileCached.h"
#include "tools/support/programs/Source.h"
#include "tools/support/programs/TextOutput.h"
#include "tools/support/reports/PassesPage.h"
#include "tools/support/reports/Reports.h"
#include "llvm/ADT/StringExtras.h"
using namespace millrace;

int millrace::tools::xlaCompile(int argc, char **argv) {
  std::string input, output, emit = "object", entry, cacheDir, constant;
  bool showTime = false, showMemory = false, noFusion = false, noFold = false, printTarget = false;
  lowering::CpuTargetOverrides target;
  tools::DeviceFlags devices;
  CompileOptions options;
  tools::Flags flags("xla-compile", "Compiles StableHLO for this CPU, or for another one");
  flags.positional(&input, "FILE.mlir", &printTarget);
  flags.add("o", &output, "write the program (or the stop) to this file");
  flags.add("emit", &emit, "stop: stablehlo sharded partitioned simplified fused linalg vector llvm asm object program; or passes: a page of all");
  tools::addTargetFlags(flags, target);
  flags.add("print-target", &printTarget, "print what is known of the machine that code is generated for, and end; no FILE");
  flags.add("entry", &entry, "function to compile (default: @main, else the only one)");
  flags.add("constant", &constant, "arguments that every execution gets alike, all or 1,3-5: what depends on them alone is computed once"), flags.add("time", &showTime, "print time per stop and kernel");
  flags.add("memory", &showMemory, "print bytes of arguments, outputs, temporaries, ...");
  flags.add("cache-dir", &cacheDir, "folder of the compilation cache, or off; programs are used where no stop is printed");
  flags.add("compile-threads", &options.threads, "threads of the compiler (default: all)");
  flags.add("xla-semantics", &options.xlaSemantics, "what XLA means where StableHLO's specification says otherwise (passes/xla)");
  flags.add("relaxed", &options.relaxed, "regroup sums and products of floats where that is faster; the default keeps the specification's order");
  devices.addTo(flags, /*reports=*/true);
  flags.add("generic", &options.genericOnly, "code generation without emitters (the reference path)");
  flags.add("no-fusion", &noFusion, "one kernel per operation"), flags.add("no-fold", &noFold, "machine code also for what the compiler could compute itself");
  int status;
  if (!flags.parse(argc, argv, status))
    return status;
  if (llvm::Error error = applyOverrides(target, options.target))
    return tools::fail("xla-compile", "--" + llvm::toString(std::move(error)));
  if (printTarget)
    return tools::writeText("xla-compile", output, options.target.describe());
  if (llvm::Error error = tools::checkStop(emit))
    return tools::fail("xla-compile", llvm::toString(std::move(error)));
  tools::Session session;
  auto module = session.load(input);
  if (!module)
    return 1;
  if (llvm::Error error = llvm::joinErrors(devices.applyMesh(*module), tools::markConstants(*module, entry.empty() ? findEntry(*module) : entry, constant)))
    return tools::fail("xla-compile", llvm::toString(std::move(error)));
  tools::adoptMesh(*module, ~0u);
  tools::CacheSettings cache{cacheDir == "off" ? tools::CacheUse::Off : tools::CacheUse::On, cacheDir == "off" ? "" : cacheDir};
  auto planned = devices.applyPlan(*module, cache);
  if (!planned)
    return tools::fail("xla-compile", llvm::toString(planned.takeError()));
  if (std::optional<int> reported = devices.report(*module, *planned, input, output))
    return *reported;
  std::string text; llvm::raw_string_ostream stream(text);
  runtime::Progress progress;
  if (emit == "stablehlo")
    stream << *module << "\n";
  options.entry = entry.empty() ? findEntry(*module) : entry, options.fuse = !noFusion, options.fold = !noFold; // as in xla-run: same cache entries
  options.onProgress = [&](llvm::StringRef what) { progress.show(what.str()); };
  if (emit == "passes")
    return tools::writePassesPage(*module, options, input, output);
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
    if (emit != "object" || showTime) // stops, and times of passes, exist only in a compilation
      cache.use = tools::CacheUse::Off;
    auto compiled = tools::compileCached(*module, options, cache, report);
    if (!compiled)
      return tools::fail("xla-compile", llvm::toString(compiled.takeError()));
    const runtime::Program &program = **compiled;
    if (showMemory)
      tools::printMemory(program, llvm::outs());
    if (emit == "object" && !output.empty()) {
      if (runtime::Status written = runtime::writeFile(program, output); !written.ok())
        return tools::fail("xla-compile", written.message());
    } else if (emit == "object" && !showTime && !showMemory)
      stream << runtime::toText(program); // nothing else was requested, so that the program is printed
  }
  if (showTime)
    tools::printCompileTimes(report, llvm::outs());
  return text.empty() ? 0 : tools::writeText("xla-compile", output, text);
}
