// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compile.cpp - StableHLO module to runtime program ------------------===//
#include "lowering/Compile.h"

#include "dialects/stablehlo/verify/TypeRules.h"
#include "lowering/CacheKey.h"
#include "lowering/CompilerSession.h"
#include "lowering/DropShardings.h"
#include "lowering/ProgramKernels.h"
#include "lowering/StopError.h"
#include "lowering/program/OpenRows.h"
#include "lowering/program/ProgramTypes.h"
#include "lowering/TensorSizes.h"
#include "passes/calls/Passes.h"
#include "passes/fusion/Passes.h"
#include "passes/spmd/Partition.h"
#include "runtime/base/Cpu.h"
#include "runtime/base/FloatModes.h"
#include "runtime/profile/Recorder.h"
#include "runtime/program/ResultLocations.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <optional>

using namespace mlir;

namespace millrace {
namespace {

class Stopwatch {
public:
  explicit Stopwatch(CompileReport *report) : report(report) {}
  void lap(StringRef stop) {
    auto now = std::chrono::steady_clock::now();
    double ms = std::chrono::duration<double, std::milli>(now - last).count();
    last = now;
    if (lapBegin) {
      runtime::profile::Record record;
      record.kind = runtime::profile::Kind::Compile;
      record.what = runtime::profile::intern("compile: " + stop.str());
      record.start = lapBegin;
      record.end = lapBegin = runtime::profile::ticks();
      runtime::profile::append(record);
    }
    if (!report)
      return;
    auto known = llvm::find_if(report->stops, [&](const auto &each) { return each.first == stop; });
    if (known == report->stops.end())
      report->stops.push_back({stop.str(), ms});
    else
      known->second += ms;
    report->total += ms;
  }

private:
  CompileReport *report;
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
  uint64_t lapBegin = runtime::profile::isOn() ? runtime::profile::ticks() : 0; ///< where somebody records
};

std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().elideLargeElementsAttrs(16));
  return text;
}

/// The location of the operation that makes a result of the program as the front end wrote it. An operation without a line of the user, such as the
/// transposition of a layout, passes on what it was given.
Location locationOfResult(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (op->getNumOperands() != 1 || !lowering::locationText(op->getLoc()).empty())
      return op->getLoc();
    value = op->getOperand(0);
  }
  return UnknownLoc::get(value.getContext());
}

/// The locations of the results, before passes fuse what makes them with other lines. Empty if the function has several blocks.
SmallVector<Location> locationsOfResults(func::FuncOp entry) {
  SmallVector<Location> locations;
  if (entry.getBody().hasOneBlock())
    for (Value value : entry.getBody().front().getTerminator()->getOperands())
      if (isa<RankedTensorType>(value.getType()))
        locations.push_back(locationOfResult(value));
  return locations;
}

/// Tells profiles which line makes each result: a kernel that makes it may have been fused from several.
void describeResults(ArrayRef<Location> results, runtime::Program &program) {
  if (results.size() != program.results.size())
    return;
  lowering::LocationTable locations(program);
  std::vector<uint32_t> indices;
  for (Location location : results)
    indices.push_back(locations.index(location));
  if (llvm::any_of(indices, [](uint32_t index) { return index != runtime::kNone; }))
    runtime::setResultLocations(program, indices);
}

} // namespace

std::string findEntry(ModuleOp module) {
  if (auto main = module.lookupSymbol<func::FuncOp>("main"))
    return "main";
  SmallVector<func::FuncOp> all, visible;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    all.push_back(function);
    if (!function.isPrivate())
      visible.push_back(function);
  }
  if (visible.size() == 1)
    return visible.front().getName().str();
  return all.size() == 1 ? all.front().getName().str() : std::string();
}

llvm::Expected<runtime::Program> compile(ModuleOp module, const CompileOptions &options, CompileReport *report) {
  const runtime::DefaultFloatModes modes; // what is folded is kept for other callers
  runtime::profile::Scope scope(runtime::profile::Kind::Compile, "Compile");
  if (scope.isRecorded())
    scope.setDetail("program=" + module.getName().value_or("").str());
  Stopwatch watch(report);
  std::string entry = options.entry.empty() ? findEntry(module) : options.entry;
  if (entry.empty() || !module.lookupSymbol<func::FuncOp>(entry))
    return llvm::createStringError(entry.empty() ? "the module has neither @main nor a single function to run"
                                                 : "the module has no function @" + entry);
  const SmallVector<Location> resultLocations = locationsOfResults(module.lookupSymbol<func::FuncOp>(entry));
  lowering::StopError errors(module.getContext());
  auto stopped = [&](StringRef stop) { return errors.at(stop, module.getLoc()); };
  auto dump = [&](StringRef stop) {
    if (options.onStop)
      options.onStop(stop, "", textOf(module));
  };

  auto tell = [&](StringRef what) {
    if (options.onProgress)
      options.onProgress(what);
  };
  std::optional<PreparedPasses> own;
  PreparedPasses &prepared = options.prepared ? *options.prepared : own.emplace(*module.getContext());
  auto run = [&](PassManager &pm, StringRef stop) -> llvm::Error {
    tell(stop == "fused" ? "fusion" : "simplification");
    // Between passes only where someone looks at the stops: a third of the time of simplification.
    pm.enableVerifier(bool(options.onStop));
    if (failed(pm.run(module)) || failed(verify(module)))
      return stopped(stop);
    watch.lap(stop);
    dump(stop);
    return llvm::Error::success();
  };
  if (!options.target.problem.empty())
    return llvm::createStringError(options.target.problem);
  if (failed(stablehlo::verifyTypes(module, /*onlyKnown=*/true)))
    return llvm::createStringError("the program has a type that StableHLO does not have");
  if (failed(lowering::checkCountableSizes(module)))
    return llvm::createStringError("the program needs more memory than there can be");
  tell("partitioning");
  calls::prepareCollectives(module);
  if (failed(lowering::dropShardings(module)))
    return stopped("partitioned");
  // Partitioning comes first, while every operation still says what the front end meant: simplification would not keep
  // shardings. Programs without any pass through unchanged.
  if (failed(spmd::propagate(module)))
    return stopped("sharded");
  watch.lap("sharded");
  dump("sharded");
  if (failed(spmd::partition(module)))
    return stopped("partitioned");
  watch.lap("partitioned");
  dump("partitioned");
  if (llvm::Error error = run(prepared.simplification(options), "simplified"))
    return std::move(error);
  // Not before: the canonicalizers of simplification would collect the patterns of all dialects that are there.
  loadCompilerDialects(*module.getContext());
  if (llvm::Error error = run(prepared.fusion(options), "fused"))
    return std::move(error);

  auto entryFunction = module.lookupSymbol<func::FuncOp>(entry);
  if (entryFunction)
    lowering::addKernelsForFewRows(entryFunction);

  lowering::KernelOptions kernelOptions;
  kernelOptions.target = options.target;
  kernelOptions.genericOnly = options.genericOnly;
  kernelOptions.contract = options.xlaSemantics;
  kernelOptions.relaxed = options.relaxed;
  kernelOptions.threads = options.threads ? options.threads : runtime::defaultThreadCount();
  kernelOptions.onStop = options.onStop;
  kernelOptions.onProgress = options.onProgress;
  kernelOptions.quick = options.quick;
  kernelOptions.onLateKernel = options.onLateKernel;
  kernelOptions.store = options.kernelStore;
  kernelOptions.versions = compilerVersions();
  kernelOptions.lowerings = &prepared.kernels;

  runtime::Program program;
  program.producer = "millrace 0.1.0 (LLVM " LLVM_VERSION_STRING ")";
  program.name = module.getName().value_or("").str();
  program.target = {options.target.triple, options.target.cpu, options.target.features};
  lowering::ProgramKernels kernels(module, entry, kernelOptions, program, report);
  if (llvm::Error error = kernels.compileFirst())
    return std::move(error);
  watch.lap("kernels");
  if (failed(lowering::buildProgram(module, entry, kernels.byName(), options.target.caches.back().bytes, program)))
    return stopped("program");
  watch.lap("program");
  if (llvm::Error error = kernels.compileCalled())
    return std::move(error);
  watch.lap("kernels");
  describeResults(resultLocations, program);
  if (llvm::all_of(program.locationSources, [](uint32_t source) { return source == runtime::kNone; }))
    program.locationSources.clear(); // a program that no cache gives out
  lowering::openRows(entryFunction, kernels.byName(), program);
  if (runtime::Status status = runtime::validate(program); !status.ok())
    return llvm::createStringError("the compiler made an invalid program: " + status.toString());
  if (options.onStop)
    options.onStop("program", "", runtime::toText(program));
  return program;
}

} // namespace millrace
