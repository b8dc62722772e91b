// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramKernels.cpp - The kernels of one program ---------------------===//
#include "lowering/ProgramKernels.h"

#include "dialects/millrace/Attributes.h"

#include "lowering/program/KernelCost.h"
#include "lowering/program/OutlineReducers.h"
#include "lowering/program/ContiguousBytes.h"
#include "lowering/program/PointwisePairs.h"
#include "lowering/program/ProgramTypes.h"
#include "passes/fusion/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Attributes that name a function.
constexpr StringRef kCalls[] = {"callee", kReducerAttr, kPrepareAttr, kFewRowsKernelAttr};

/// What `entry` calls, itself and through others, kernels or not.
llvm::DenseSet<StringAttr> namesCalledFrom(StringAttr entry, ModuleOp module) {
  SymbolTable symbols(module);
  llvm::DenseSet<StringAttr> called{entry};
  SmallVector<StringAttr> open{entry};
  while (!open.empty())
    symbols.lookup(open.pop_back_val())->walk([&](Operation *op) {
      for (StringRef attr : kCalls)
        if (auto symbol = op->getAttrOfType<FlatSymbolRefAttr>(attr); symbol && symbols.lookup(symbol.getAttr()) && called.insert(symbol.getAttr()).second)
          open.push_back(symbol.getAttr());
    });
  return called;
}

/// "dot_general" of "dot_general_12" and "dot_general_12_0": the name without the numbers that the program gave it, its line and one that makes it
/// unique. Symbols are the same in every program.
StringRef stemOf(StringRef name) {
  for (size_t end = name.rfind('_'); end != StringRef::npos && end + 1 < name.size(); end = name.rfind('_')) {
    if (name.find_first_not_of("0123456789", end + 1) != StringRef::npos)
      break;
    name = name.substr(0, end);
  }
  return name;
}

/// Keeps the first kernel of each fingerprint and retargets the calls of the others.
std::vector<KernelRequest> shareEqualKernels(ModuleOp module, StringRef entry) {
  std::vector<KernelRequest> kernels;
  llvm::DenseSet<StringAttr> called = namesCalledFrom(StringAttr::get(module.getContext(), entry), module);
  llvm::StringMap<func::FuncOp> byFingerprint;
  llvm::DenseMap<StringAttr, StringAttr> renamed;
  SmallVector<func::FuncOp> duplicates;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr(kKernelAttr) || !called.contains(function.getNameAttr()))
      continue;
    std::string fingerprint = fingerprintKernel(function);
    auto [it, inserted] = byFingerprint.try_emplace(fingerprint, function);
    if (inserted) {
      kernels.push_back({function, fingerprint, (stemOf(function.getName()) + "_" + fingerprint.substr(0, 16)).str()});
    } else {
      renamed[function.getNameAttr()] = it->second.getNameAttr();
      duplicates.push_back(function);
    }
  }
  module.walk([&](Operation *op) {
    for (StringRef attr : kCalls) {
      auto symbol = op->getAttrOfType<FlatSymbolRefAttr>(attr);
      if (auto it = symbol ? renamed.find(symbol.getAttr()) : renamed.end(); it != renamed.end())
        op->setAttr(attr, FlatSymbolRefAttr::get(it->second));
    }
  });
  for (func::FuncOp function : duplicates)
    function.erase();
  return kernels;
}

void forEachKernelStep(runtime::Steps &steps, llvm::function_ref<void(runtime::KernelStep &)> visit) {
  for (runtime::Step &step : steps) {
    if (auto *kernel = std::get_if<runtime::KernelStep>(&step.body))
      visit(*kernel);
    if (auto *loop = std::get_if<runtime::LoopStep>(&step.body)) {
      forEachKernelStep(loop->cond, visit);
      forEachKernelStep(loop->body, visit);
    }
    if (auto *cond = std::get_if<runtime::CondStep>(&step.body))
      for (runtime::Steps &branch : cond->branches)
        forEachKernelStep(branch, visit);
  }
}

} // namespace

ProgramKernels::ProgramKernels(ModuleOp module, StringRef entry, const KernelOptions &options, runtime::Program &program, CompileReport *report)
    : options(options), program(program), report(report) {
  for (KernelRequest &request : shareEqualKernels(module, entry)) {
    KernelSummary &summary = summaries[request.function.getName()];
    summary.part = contiguousSliceOffset(request.function);
    summary.joined = contiguousOperandOffsets(request.function);
    (summary.part || !summary.joined.empty() ? later : first).push_back(std::move(request));
  }
}

llvm::Error ProgramKernels::compile(ArrayRef<KernelRequest> requests) {
  auto compiled = compileKernels(requests, options);
  if (!compiled)
    return compiled.takeError();
  LocationTable locations(program);
  for (auto [request, kernel] : llvm::zip_equal(requests, *compiled)) {
    func::FuncOp function = request.function;
    KernelSummary &summary = summaries[function.getName()];
    summary.index = program.kernels.size();
    summary.rangeEnd = kernel.rangeEnd;
    summary.granularity = kernel.granularity;
    summary.scratchBytes = kernel.scratchBytes;
    summary.picosPerIteration = kernel.picosPerIteration;
    summary.rows = kernel.rows;
    summary.takesRows = kernel.takesRows;
    summary.isForFewRows = function->hasAttr(kFewRowsAttr);
    auto pairs = fusion::inPlacePairs(function);
    summary.inPlace.assign(pairs.begin(), pairs.end());
    // These emitters read everything that belongs to a vector of elements before they store it, and store it once.
    if (kernel.emitter == "row" || kernel.emitter == "contraction")
      summary.pointwise = pointwisePairs(function);
    runtime::Kernel described;
    described.symbol = kernel.symbol;
    const std::string shortFingerprint = request.fingerprint.substr(0, 8);
    const StringRef stem = stemOf(function.getName());
    if (stem != function.getName()) {
      described.location = locations.index(function.getLoc());
      described.name = runtime::kernelName(stem.str(), locationOf(program, described.location), shortFingerprint);
    } else {
      described.name = (stem + "_" + shortFingerprint).str();
    }
    described.ops = kernel.ops;
    KernelCost cost = kernelCost(function);
    described.flops = cost.flops;
    described.bytesAccessed = cost.bytes;
    // Kernels that share code come with the same object. Where code is replaced later, objects are in the order of kernels.
    if (options.onLateKernel || objects.insert(kernel.object).second) {
      program.memory.code += kernel.object.size();
      program.objects.push_back(runtime::Constant::copy(kernel.object.data(), kernel.object.size()));
    }
    program.metadata.emplace_back("emitter " + kernel.symbol, kernel.emitter);
    if (report) {
      report->kernels.push_back({described.name, kernel.emitter, kernel.milliseconds});
      report->kernelsFromMemory += kernel.source == KernelSource::Memory;
      report->kernelsFromDisk += kernel.source == KernelSource::Disk;
    }
    program.kernels.push_back(std::move(described));
  }
  return llvm::Error::success();
}

llvm::Error ProgramKernels::compileFirst() {
  if (llvm::Error error = compile(first))
    return error;
  for (auto [i, request] : llvm::enumerate(later)) // numbers that no kernel has yet
    summaries[request.function.getName()].index = first.size() + i;
  return llvm::Error::success();
}

llvm::Error ProgramKernels::compileCalled() {
  auto forEachCall = [&](llvm::function_ref<void(runtime::KernelStep &)> visit) {
    for (runtime::Function &function : program.functions)
      forEachKernelStep(function.steps, [&](runtime::KernelStep &step) {
        if (step.kernel >= first.size())
          visit(step);
      });
  };
  llvm::SetVector<uint32_t> called;
  forEachCall([&](runtime::KernelStep &step) { called.insert(step.kernel - first.size()); });
  std::vector<KernelRequest> needed;
  for (uint32_t i : called)
    needed.push_back(later[i]);
  if (llvm::Error error = compile(needed))
    return error;
  forEachCall([&](runtime::KernelStep &step) {
    func::FuncOp function = later[step.kernel - first.size()].function;
    setKernel(step, summaries[function.getName()]);
  });
  return llvm::Error::success();
}

} // namespace millrace::lowering
