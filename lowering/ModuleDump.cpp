// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ModuleDump.cpp - XLA_FLAGS=--xla_dump_to=FOLDER ----------------------===//
#include "lowering/ModuleDump.h"
#include "lowering/ModuleGraph.h"

#include "passes/chlo/Passes.h"
#include "lowering/hlo/HloProto.h"
#include "lowering/hlo/HloText.h"
#include "runtime/base/HtmlPage.h"
#include "runtime/base/XlaFlags.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <chrono>
#include <cstdio>

using namespace mlir;

namespace millrace {
namespace {

thread_local ModuleDump *followed = nullptr;

/// Nothing chosen is everything.
bool matches(StringRef pattern, StringRef name) { return pattern.empty() || llvm::Regex(pattern).match(name); }

void warnOnce(const char *text) {
  static std::atomic_flag isTold;
  if (!isTold.test_and_set())
    std::fprintf(stderr, "millrace: XLA_FLAGS: %s\n", text);
}

/// Whole, with places, so that it can be compiled once more.
std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().enableDebugInfo());
  return text + "\n";
}

} // namespace

std::string hloTextOf(ModuleOp module) {
  std::string made;
  llvm::raw_string_ostream stream(made);
  auto isWritten = [&](ModuleOp from) {
    ScopedDiagnosticHandler quiet(from.getContext(), [](Diagnostic &) { return success(); });
    made.clear();
    return succeeded(hlo::exportHloText(from, stream));
  };
  if (isWritten(module))
    return made;
  // Operations of CHLO have no form in HLO.
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  pm.addNestedPass<func::FuncOp>(chlo::createChloLegalizeToStablehloPass());
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  return succeeded(pm.run(*copy)) && isWritten(*copy) ? made : std::string();
}

std::unique_ptr<ModuleDump> ModuleDump::next(StringRef name, StringRef process) {
  using runtime::isXlaFlagOn, runtime::xlaFlag;
  runtime::warnOfUnknownXlaFlags();
  const bool isText = isXlaFlagOn("xla_dump_hlo_as_text") || isXlaFlagOn("xla_dump_hlo_as_long_text"), isDot = isXlaFlagOn("xla_dump_hlo_as_dot");
  const bool isProto = isXlaFlagOn("xla_dump_hlo_as_proto"), isHtml = isXlaFlagOn("xla_dump_hlo_as_html");
  const std::string folder = xlaFlag("xla_dump_to"), passes = xlaFlag("xla_dump_hlo_pass_re");
  if (folder.empty() && !isText && !isDot && !isProto && !isHtml && passes.empty())
    return nullptr;
  const std::string modules = xlaFlag("xla_dump_hlo_module_re"), most = xlaFlag("xla_dump_max_hlo_modules");
  for (const std::string &pattern : {modules, passes})
    if (std::string problem; !pattern.empty() && !llvm::Regex(pattern).isValid(problem)) {
      warnOnce(("'" + pattern + "' is no regular expression: " + problem).c_str());
      return nullptr;
    }
  if (!matches(modules, name))
    return nullptr;
  static std::atomic<unsigned> count{0};
  const unsigned number = ++count;
  if (long limit = std::strtol(most.c_str(), nullptr, 10); limit > 0 && number > limit)
    return nullptr;
  std::unique_ptr<ModuleDump> made(new ModuleDump);
  made->folder = folder.empty() ? "-" : folder;
  if (made->folder == "-" && (isDot || isProto || isHtml)) {
    warnOnce("--xla_dump_hlo_as_dot, _html and _proto expect a folder in --xla_dump_to; standard output is for texts alone");
    return nullptr;
  }
  made->isDot = isDot;
  made->isProto = isProto;
  made->isHtml = isHtml;
  made->isText = isText || !(isDot || isProto || isHtml);
  made->passPattern = passes;
  char text[16];
  std::snprintf(text, sizeof text, "%04u", number);
  if (isXlaFlagOn("xla_dump_include_timestamp"))
    made->prefix = std::to_string(std::chrono::system_clock::now().time_since_epoch() / std::chrono::microseconds(1)) + ".";
  std::string safe = name.str();
  for (char &each : safe)
    if (each == '/' || each == '\0')
      each = '_';
  made->prefix += process.str() + "module_" + text + "." + safe.substr(0, 128) + ".";
  return made;
}

ModuleDump::~ModuleDump() {
  if (followed != this)
    return;
  followed = nullptr;
  if (!machineIr.empty())
    write("ir-with-opt.ll", machineIr);
  if (!assembly.empty())
    write("s", assembly);
}

void ModuleDump::write(StringRef suffix, StringRef text) const {
  if (folder == "-") {
    std::string whole = "*** Begin " + prefix + suffix.str() + " ***\n" + text.str() + "\n*** End " + prefix + suffix.str() + " ***\n";
    std::fwrite(whole.data(), 1, whole.size(), stdout);
    std::fflush(stdout);
    return;
  }
  std::error_code error = llvm::sys::fs::create_directories(folder);
  const std::string path = folder + "/" + prefix + suffix.str();
  if (!error) {
    llvm::raw_fd_ostream out(path, error);
    out << text;
    out.flush();
    if (out.has_error()) {
      error = out.error();
      out.clear_error();
    }
  }
  if (error)
    std::fprintf(stderr, "millrace: cannot write %s (XLA_FLAGS=--xla_dump_to): %s\n", path.c_str(), error.message().c_str());
}

void ModuleDump::writeModule(StringRef stage) {
  const std::string hlo = isText || isProto ? hloTextOf(module) : "";
  if (isText && !hlo.empty())
    write(stage.str() + ".txt", hlo);
  if (isText && stage != "after_optimizations") // kernels come later
    write(stage.str() + ".mlir", textOf(module));
  if (isProto && !hlo.empty()) {
    if (runtime::StatusOr<std::string> proto = hlo::moduleProto(hlo))
      write(stage.str() + ".hlo.pb", hlo::hloProto(*proto));
    else
      warnOnce(("no .hlo.pb of " + prefix + stage.str() + ": " + std::string(proto.status().message())).c_str());
  }
  if (isDot)
    write(stage.str() + ".dot", moduleDot(module));
  if (isHtml)
    write(stage.str() + ".html", runtime::graphPage(prefix + stage.str(), moduleGraphs(module)));
}

void ModuleDump::follow(ModuleOp given, CompileOptions &options) {
  module = given;
  followed = this;
  writeModule("before_optimizations");
  options.onStop = [this, outer = options.onStop](StringRef stop, StringRef kernel, StringRef text) {
    if (outer)
      outer(stop, kernel, text);
    if (stop == "simplified")
      writeModule("after_optimizations");
    else if (stop == "fused" && isText)
      write("after_optimizations.mlir", text);
    else if (stop == "llvm" && folder != "-")
      machineIr += ("; kernel " + kernel + "\n" + text + "\n").str();
    else if (stop == "asm" && folder != "-")
      assembly += ("# kernel " + kernel + "\n" + text + "\n").str();
  };
}

void ModuleDump::afterPass(StringRef pass, Operation *op) {
  if (!followed || followed->passPattern.empty() || !matches(followed->passPattern, pass))
    return;
  char number[16];
  std::snprintf(number, sizeof number, "%04u", followed->passes++);
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream, OpPrintingFlags().elideLargeElementsAttrs(16));
  followed->write(std::string(number) + ".after_" + pass.str() + ".mlir", text + "\n");
}

} // namespace millrace
