// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compile.cpp - StableHLO module to runtime program ------------------===//
#include "lowering/Compile.h"

#include "lowering/CacheKey.h"
#include "lowering/DropShardings.h"
#include "lowering/Pipeline.h"
#include "lowering/cpu/KernelCompiler.h"
#include "lowering/program/BuildProgram.h"
#include "lowering/program/KernelCost.h"
#include "lowering/program/Parts.h"
#include "lowering/program/PointwisePairs.h"
#include "lowering/program/OutlineReducers.h"
#include "passes/calls/Passes.h"
#include "passes/fusion/Passes.h"
#include "passes/spmd/Partition.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <thread>

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
    if (!report)
      return;
    report->stops.push_back({stop.str(), ms});
    report->total += ms;
  }

private:
  CompileReport *report;
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().elideLargeElementsAttrs(16));
  return text;
}

/// Kernels with the same meaning share machine code: keeps the first of each fingerprint and retargets the calls.
std::vector<lowering::KernelRequest> shareEqualKernels(ModuleOp module) {
  std::vector<lowering::KernelRequest> kernels;
  llvm::StringMap<func::FuncOp> byFingerprint;
  llvm::DenseMap<StringAttr, StringAttr> renamed;
  SmallVector<func::FuncOp> duplicates;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr(fusion::kKernelAttr))
      continue;
    std::string fingerprint = lowering::fingerprintKernel(function);
    auto [it, inserted] = byFingerprint.try_emplace(fingerprint, function);
    if (inserted) {
      // Without the number that the program gave it: the symbol is the same in every program.
      StringRef name = function.getName();
      name = name.substr(0, name.find_last_not_of("0123456789") + 1);
      kernels.push_back({function, fingerprint, (name + (name.ends_with("_") ? "" : "_") + fingerprint.substr(0, 16)).str()});
    } else {
      renamed[function.getNameAttr()] = it->second.getNameAttr();
      duplicates.push_back(function);
    }
  }
  module.walk([&](func::CallOp call) {
    auto it = renamed.find(call.getCalleeAttr().getAttr());
    if (it != renamed.end())
      call.setCalleeAttr(FlatSymbolRefAttr::get(it->second));
  });
  module.walk([&](Operation *collective) {
    auto reducer = collective->getAttrOfType<FlatSymbolRefAttr>(lowering::kReducerAttr);
    auto it = reducer ? renamed.find(reducer.getAttr()) : renamed.end();
    if (it != renamed.end())
      collective->setAttr(lowering::kReducerAttr, FlatSymbolRefAttr::get(it->second));
  });
  for (func::FuncOp function : duplicates)
    function.erase();
  return kernels;
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
  Stopwatch watch(report);
  loadCompilerDialects(*module.getContext());
  std::string entry = options.entry.empty() ? findEntry(module) : options.entry;
  if (entry.empty() || !module.lookupSymbol<func::FuncOp>(entry))
    return llvm::createStringError(entry.empty() ? "the module has neither @main nor a single function to run"
                                                 : "the module has no function @" + entry);
  auto dump = [&](StringRef stop) {
    if (options.onStop)
      options.onStop(stop, "", textOf(module));
  };

  auto run = [&](auto addPasses, StringRef stop) -> llvm::Error {
    PassManager pm(module.getContext(), ModuleOp::getOperationName());
    // Between passes only where someone looks at the stops: a third of the time of simplification.
    pm.enableVerifier(bool(options.onStop));
    addPasses(pm, options);
    if (failed(pm.run(module)) || failed(verify(module)))
      return llvm::createStringError("compilation stopped at '" + stop + "'");
    watch.lap(stop);
    dump(stop);
    return llvm::Error::success();
  };
  calls::prepareCollectives(module);
  if (failed(lowering::dropShardings(module)))
    return llvm::createStringError("compilation stopped at 'partitioned'");
  // Partitioning comes first, while every operation still says what the front end meant: simplification would not keep
  // shardings. Programs without any pass through unchanged.
  if (failed(spmd::propagate(module)))
    return llvm::createStringError("compilation stopped at 'sharded'");
  watch.lap("sharded");
  dump("sharded");
  if (failed(spmd::partition(module)))
    return llvm::createStringError("compilation stopped at 'partitioned'");
  watch.lap("partitioned");
  dump("partitioned");
  if (llvm::Error error = run(lowering::addSimplifyPasses, "simplified"))
    return std::move(error);
  if (llvm::Error error = run(lowering::addFusionPasses, "fused"))
    return std::move(error);

  std::vector<lowering::KernelRequest> kernels = shareEqualKernels(module);
  lowering::KernelOptions kernelOptions;
  kernelOptions.target = options.target;
  kernelOptions.genericOnly = options.genericOnly;
  kernelOptions.contract = options.xlaSemantics;
  kernelOptions.relaxed = options.relaxed;
  kernelOptions.threads = options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  kernelOptions.onStop = options.onStop;
  kernelOptions.onProgress = options.onProgress;
  kernelOptions.store = options.kernelStore;
  kernelOptions.versions = compilerVersions();
  auto compiled = lowering::compileKernels(kernels, kernelOptions);
  if (!compiled)
    return compiled.takeError();
  watch.lap("kernels");

  runtime::Program program;
  program.producer = "millrace 0.1.0 (LLVM " LLVM_VERSION_STRING ")";
  program.name = module.getName().value_or("").str();
  program.target = {options.target.triple, options.target.cpu, options.target.features};
  llvm::StringMap<lowering::KernelSummary> summaries;
  for (auto [request, kernel] : llvm::zip_equal(kernels, *compiled)) {
    func::FuncOp function = request.function;
    summaries[function.getName()] = {(uint32_t)program.kernels.size(), kernel.rangeEnd, kernel.granularity,
                                     kernel.scratchBytes, kernel.picosPerIteration, {}, {},
                                     lowering::partOf(function), lowering::partsOf(function)};
    auto pairs = fusion::inPlacePairs(function);
    summaries[function.getName()].inPlace.assign(pairs.begin(), pairs.end());
    if (kernel.emitter == "row") // the emitter that handles a vector of elements at a time
      summaries[function.getName()].pointwise = lowering::pointwisePairs(function);
    runtime::Kernel described;
    described.symbol = kernel.symbol;
    described.name = (function.getName() + "_" + StringRef(request.fingerprint).substr(0, 8)).str();
    described.ops = kernel.ops;
    lowering::KernelCost cost = lowering::kernelCost(function);
    described.flops = cost.flops;
    described.bytesAccessed = cost.bytes;
    program.memory.code += kernel.object.size();
    program.objects.push_back(runtime::Constant::copy(kernel.object.data(), kernel.object.size()));
    program.metadata.emplace_back("emitter " + kernel.symbol, kernel.emitter);
    if (report) {
      report->kernels.push_back({described.name, kernel.emitter, kernel.milliseconds});
      report->kernelsFromMemory += kernel.source == lowering::KernelSource::Memory;
      report->kernelsFromDisk += kernel.source == lowering::KernelSource::Disk;
    }
    program.kernels.push_back(std::move(described));
  }
  if (failed(lowering::buildProgram(module, entry, summaries, program)))
    return llvm::createStringError("compilation stopped at 'program'");
  if (runtime::Status status = runtime::validate(program); !status.ok())
    return llvm::createStringError("the compiler made an invalid program: " + status.toString());
  watch.lap("program");
  if (options.onStop)
    options.onStop("program", "", runtime::toText(program));
  return program;
}

} // namespace millrace
