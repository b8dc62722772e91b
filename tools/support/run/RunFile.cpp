// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RunFile.cpp - The tool xla-run --------------------------------------===//
#include "tools/support/run/RunFile.h"

#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/eval/Evaluator.h"
#include "lowering/CacheKey.h"
#include "lowering/Compile.h"
#include "lowering/DropShardings.h"
#include "lowering/program/ProgramTypes.h"
#include "passes/calls/Passes.h"
#include "passes/spmd/Partition.h"
#include "passes/xla/Passes.h"
#include "runtime/base/Progress.h"
#include "runtime/program/KernelUpgrades.h"
#include "runtime/profile/Environment.h"
#include "tools/support/flags/ConstantFlag.h"
#include "tools/support/flags/MeshFlag.h"
#include "tools/support/programs/CompileCached.h"
#include "tools/support/programs/LegalizeChlo.h"
#include "tools/support/programs/Source.h"
#include "tools/support/reports/ProfileReport.h"
#include "tools/support/reports/Reports.h"
#include "tools/support/run/Arguments.h"
#include "tools/support/run/PlantBug.h"
#include "tools/support/run/RunProgram.h"
#include "tools/support/run/ShardedArrays.h"
#include "tools/support/run/Verify.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <chrono>

using namespace mlir;

namespace millrace::tools {
namespace {

constexpr llvm::StringLiteral kTool = "xla-run";

bool hasChecks(ModuleOp module) {
  auto result = module.walk([](stablehlo::CustomCallOp call) {
    return call.getCallTargetName().starts_with("check.") ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Returns the tensors among `values` as host arrays.
std::vector<Array> toArrays(ArrayRef<eval::Value> values) {
  std::vector<Array> arrays;
  for (const eval::Value &value : values) {
    if (!value.isTensor())
      continue;
    const eval::Tensor &tensor = value.tensor();
    Array &array = arrays.emplace_back();
    array.dtype = lowering::dtypeOf(tensor.getType().getElementType());
    array.dims.assign(tensor.getShape().begin(), tensor.getShape().end());
    array.bytes.assign(tensor.data(), tensor.numBytes());
  }
  return arrays;
}

/// Converts the program to global tensors without shardings, because the evaluator runs it on one device. Fails for manual computations.
LogicalResult makeGlobal(ModuleOp module) {
  auto partitions = module->getAttrOfType<IntegerAttr>("mhlo.num_partitions");
  if (!partitions || partitions.getInt() <= 1 || !spmd::hasShardings(module))
    return success();
  module->setAttr("mhlo.num_partitions", IntegerAttr::get(partitions.getType(), 1));
  return lowering::dropShardings(module);
}

int interpret(ModuleOp module, const RunFileOptions &options) {
  if (failed(makeGlobal(module)) || failed(legalizeChlo(module)))
    return 1;
  func::FuncOp entry = options.entry.empty() ? eval::entryFunction(module) : module.lookupSymbol<func::FuncOp>(options.entry);
  if (!entry)
    return options.entry.empty() ? 1 : fail(kTool, "the module has no function @" + options.entry);
  SmallVector<eval::Value> values;
  std::vector<runtime::Argument> specs = argumentSpecs(entry);
  if (specs.size() != entry.getNumArguments())
    return fail(kTool, "the evaluator is given tensors only, and @" + entry.getName().str() + " has other arguments");
  auto arrays = options.args.empty() ? runtime::StatusOr<std::vector<Array>>(randomArguments(specs, options.seed)) : loadArguments(options.args, specs);
  if (!arrays)
    return fail(kTool, arrays.status().message());
  if (runtime::Status status = checkArguments(*arrays, specs); !status.ok())
    return fail(kTool, status.message());
  for (auto [array, type] : llvm::zip_equal(*arrays, entry.getArgumentTypes())) {
    auto tensorType = RankedTensorType::get(array.dims, cast<RankedTensorType>(type).getElementType());
    values.push_back(eval::Tensor::fromBytes(tensorType, ArrayRef<char>(array.bytes.data(), array.bytes.size())));
  }
  auto results = eval::evaluate(entry, values);
  if (!results) {
    eval::emitDiagnostic(entry.getLoc(), results.takeError());
    return 1;
  }
  if (!options.out.empty()) {
    if (runtime::Status status = writeArrays(options.out, toArrays(*results)); !status.ok())
      return fail(kTool, status.message());
    return 0;
  }
  if (options.quiet || hasChecks(module))
    return 0;
  for (const eval::Value &result : *results) {
    if (result.isTensor())
      llvm::outs() << result.tensor().toAttr();
    else
      result.print(llvm::outs());
    llvm::outs() << "\n";
  }
  return 0;
}

/// Moves inputs that are constants in the program to arguments, so that machine code computes with them instead of the compiler.
LogicalResult makeInputsArguments(ModuleOp module) {
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  calls::InlineCallsPassOptions inlineAll;
  inlineAll.keepFrom = ~0u;
  pm.addPass(calls::createInlineCallsPass(inlineAll));
  pm.addPass(calls::createHoistConstantsPass());
  return pm.run(module);
}

/// `prepared` is the number of milliseconds from opening the file to the compiled (or loaded) program.
void printTimes(const RunOutcome &outcome, double prepared, bool each) {
  if (each) {
    llvm::outs() << llvm::format("ready: %.2f ms from the file to the executable\n", prepared + outcome.loadMilliseconds);
    for (auto [number, milliseconds] : llvm::enumerate(outcome.milliseconds))
      llvm::outs() << llvm::format("run %zu: %.4f ms\n", number + 1, milliseconds);
  }
  std::vector<double> sorted = outcome.milliseconds;
  std::sort(sorted.begin(), sorted.end());
  llvm::outs() << llvm::format("load: %.3f ms\nrun: min %.3f ms, median %.3f ms, max %.3f ms over %zu\n",
                               outcome.loadMilliseconds, sorted.front(), sorted[sorted.size() / 2], sorted.back(),
                               sorted.size());
  sorted = outcome.processorMilliseconds;
  std::sort(sorted.begin(), sorted.end());
  llvm::outs() << llvm::format("processor: min %.3f ms, median %.3f ms, max %.3f ms of all threads\n", sorted.front(), sorted[sorted.size() / 2], sorted.back());
}

void printResults(const std::vector<std::vector<Array>> &results, MLIRContext &context) {
  constexpr int64_t kMostElements = 1024;
  for (auto [device, arrays] : llvm::enumerate(results))
    for (const Array &array : arrays) {
      if (results.size() > 1)
        llvm::outs() << "device " << device << ": ";
      if (array.numElements() > kMostElements) {
        llvm::outs() << describe(array.dtype, array.dims) << ", too large to print: --out=FILE.npz writes it\n";
        continue;
      }
      Type element = parseElementType(array.dtype, context);
      auto type = RankedTensorType::get(array.dims, element);
      llvm::outs() << eval::Tensor::fromBytes(type, ArrayRef<char>(array.bytes.data(), array.bytes.size())).toAttr()
                   << "\n";
    }
}

bool isStatic(const std::vector<int64_t> &shape) { return !llvm::is_contained(shape, runtime::kDynamic); }

/// Returns the shapes of the tensors among `types` as written, because tiles with padding do not determine them.
std::vector<std::vector<int64_t>> shapesOf(TypeRange types) {
  std::vector<std::vector<int64_t>> shapes;
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      shapes.emplace_back(tensor.getShape().begin(), tensor.getShape().end());
  return shapes;
}

/// Returns the results of the whole program; `shapes` as written, empty if unknown.
runtime::StatusOr<std::vector<Array>> joinResults(const RunOutcome &outcome, const runtime::Program &program,
                                                  const std::vector<std::vector<int64_t>> &shapes) {
  std::vector<Array> whole;
  size_t devices = std::max<size_t>(1, size_t(program.numReplicas) * program.numPartitions);
  for (size_t i = 0; i < outcome.results.front().size(); ++i) {
    std::vector<const Array *> tiles;
    for (const auto &arrays : ArrayRef(outcome.results).take_front(devices))
      tiles.push_back(&arrays[i]);
    auto joined = joinTiles(tiles, program.results[i],
                            shapes.size() == program.results.size() && isStatic(shapes[i]) ? shapes[i] : std::vector<int64_t>());
    if (!joined)
      return joined.status();
    whole.push_back(std::move(*joined));
  }
  return whole;
}

/// Returns why the flags contradict each other or the file; empty if they do not.
std::string contradiction(const RunFileOptions &options, bool isCompiled) {
  StringRef out = options.out;
  if (!out.empty() && !out.ends_with(".npy") && !out.ends_with(".npz"))
    return "--out expects a name that ends in .npy or .npz, but got '" + options.out + "'";
  if (options.quick && options.tiered)
    return "expects --quick or --tiered, but got both";
  if (!isCompiled)
    return "";
  if (options.interpreter || options.verify)
    return "a compiled program cannot be evaluated: give the StableHLO file";
  const std::pair<bool, StringRef> late[] = {{!options.entry.empty(), "entry"}, {!options.devices.mesh.empty(), "mesh"}, {options.devices.planning.isOn, "auto-sharding"}, {!options.target.name.empty(), "target"}, {options.target.threads != 0, "target-threads"}, {!options.target.caches.empty(), "target-caches"}, {options.xlaSemantics, "xla-semantics"},
                                             {options.relaxed, "relaxed"}, {options.quick, "quick"}, {options.tiered, "tiered"},
                                             {options.generic, "generic"}, {!options.fuse, "no-fusion"}, {!options.plantBug.empty(), "plant-bug"}};
  for (auto [isSet, name] : late)
    if (isSet)
      return ("--" + name + " is for the compiler, and this program is compiled: give the StableHLO file").str();
  return "";
}

/// Applies XLA's semantics for both backends, so that --verify compares the same program.
LogicalResult giveXlaSemantics(ModuleOp module) {
  PassManager pm(module.getContext(), ModuleOp::getOperationName());
  pm.addNestedPass<func::FuncOp>(xla_semantics::createDropPartialScatterWindowsPass());
  return pm.run(module);
}

} // namespace

int runFile(const RunFileOptions &options) {
  auto opened = std::chrono::steady_clock::now();
  if (runtime::Status status = runtime::profile::startFromEnvironment(/*rank=*/0); !status.ok()) // recording starts before the compilation
    return fail("xla-run", std::string(status.message()));
  Session session;
  runtime::Progress progress;
  std::shared_ptr<const runtime::Program> program;
  std::vector<Array> hoisted;
  std::vector<std::vector<int64_t>> argumentShapes, resultShapes;
  OwningOpRef<ModuleOp> module, original;
  std::string entry;
  bool checks = false;

  bool isCompiled = isCompiledProgram(options.path);
  if (std::string message = contradiction(options, isCompiled); !message.empty())
    return fail(kTool, message);
  if (isCompiled) {
    auto loaded = runtime::readFile(options.path);
    if (!loaded)
      return fail(kTool, loaded.status().message());
    program = std::make_shared<runtime::Program>(std::move(*loaded));
  } else {
    module = session.load(options.path);
    if (!module)
      return 1;
    if (llvm::Error error = options.devices.applyMesh(*module))
      return fail(kTool, llvm::toString(std::move(error)));
    if (runtime::Status status = options.numDevices ? checkMeshes(*module, options.numDevices) : runtime::Status(); !status.ok())
      return fail(kTool, status.message());
    if (options.numDevices)
      adoptMesh(*module, options.numDevices);
    if (options.xlaSemantics && failed(giveXlaSemantics(*module)))
      return 1;
    if (options.interpreter)
      return interpret(*module, options);
    checks = hasChecks(*module);
    if ((checks || options.verify) && failed(makeInputsArguments(*module)))
      return 1;
    entry = options.entry.empty() ? findEntry(*module) : options.entry;
    hoisted = hoistedArguments(*module, entry);
    if (auto function = module->lookupSymbol<func::FuncOp>(entry)) {
      argumentShapes = shapesOf(function.getArgumentTypes());
      resultShapes = shapesOf(function.getResultTypes());
    }
    if (options.verify) {
      original = module->clone();
      if (failed(makeGlobal(*original)))
        return 1;
    }
    if (llvm::Error error = markConstants(*module, entry, options.constant))
      return fail(kTool, llvm::toString(std::move(error)));
    DeviceFlags devices = options.devices;
    const CacheSettings cache{options.cacheDir == "off" ? CacheUse::Off : CacheUse::On, options.cacheDir == "off" ? "" : options.cacheDir,
                              options.stats || options.time, options.tiered};
    if (auto planned = devices.applyPlan(*module, cache); !planned)
      return fail(kTool, llvm::toString(planned.takeError()));
    if (!options.plantBug.empty() && !plantBug(*module, options.plantBug))
      llvm::errs() << "warning: no operation of family '" << options.plantBug << "' to change, expected one of "
                   << kBugFamilies << "\n";
    CompileOptions compileOptions;
    compileOptions.entry = entry;
    compileOptions.fold = !checks && !options.verify;
    compileOptions.genericOnly = options.generic;
    compileOptions.fuse = options.fuse;
    compileOptions.xlaSemantics = options.xlaSemantics;
    compileOptions.relaxed = options.relaxed;
    compileOptions.quick = options.quick;
    compileOptions.threads = options.threads;
    if (llvm::Error error = applyOverrides(options.target, compileOptions.target))
      return fail(kTool, "--" + llvm::toString(std::move(error)));
    compileOptions.onProgress = [&](llvm::StringRef what) { progress.show(what.str()); };
    CompileReport report;
    auto compiled = compileCached(*module, compileOptions, cache, report);
    if (!compiled)
      return fail(kTool, llvm::toString(compiled.takeError()));
    program = *compiled;
    if (options.time)
      printCompileTimes(report, llvm::outs());
  }
  double prepared = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - opened).count();

  std::vector<Array> arguments;
  size_t own = program->arguments.size() - hoisted.size();
  std::vector<runtime::Argument> ownSpecs(program->arguments.begin(), program->arguments.begin() + own);
  // Arguments are given as whole tensors, whatever parts the devices get.
  int64_t devices = std::max<int64_t>(1, int64_t(program->numReplicas) * program->numPartitions);
  for (auto [i, spec] : llvm::enumerate(ownSpecs)) {
    auto dims = globalDims(spec, devices);
    if (!dims)
      return fail(kTool, dims.status().message());
    spec.dims = devices > 1 && argumentShapes.size() == program->arguments.size() && isStatic(argumentShapes[i]) ? argumentShapes[i] : *dims;
  }
  if (options.args.empty()) {
    arguments = randomArguments(ownSpecs, options.seed);
  } else {
    auto loaded = loadArguments(options.args, ownSpecs);
    if (!loaded)
      return fail(kTool, loaded.status().message());
    arguments = std::move(*loaded);
  }
  if (runtime::Status status = checkArguments(arguments, ownSpecs); !status.ok())
    return fail(kTool, status.message());
  for (Array &array : hoisted)
    arguments.push_back(std::move(array));

  auto outcome = runProgram(program, options.verify ? arguments : std::move(arguments), options.numDevices, options.repeat, options.rngSeed,
                            options.memoryLimit, !options.profile.empty(), options.pieces, [&](unsigned run) {
    progress.show("execution " + std::to_string(run + 1) + " of " + std::to_string(options.repeat));
  });
  if (!outcome)
    return fail(kTool, outcome.status().message());
  if (options.verify) {
    auto whole = joinResults(*outcome, *program, resultShapes);
    if (!whole)
      return fail(kTool, whole.status().message());
    if (runtime::Status status = verifyAgainstEvaluator(*original, entry, arguments, *whole); !status.ok())
      return fail(kTool, status.message());
  }
  if (options.stats && program->upgrades)
    llvm::outs() << "tiers: " << program->upgrades->published().size() << " of " << program->kernels.size() << " kernels have got better code\n";
  if (options.stats) {
    printExecutedOps(*program, llvm::outs());
    printMemory(*program, llvm::outs());
    llvm::outs() << llvm::format("%14llu  peak of the run\n", (unsigned long long)outcome->peakBytes);
  }
  if (!options.profile.empty())
    if (runtime::Status status = writeProfile(*program, *outcome, options.profile); !status.ok())
      return fail(kTool, status.message());
  if (options.repeat > 1 || options.time)
    printTimes(*outcome, prepared, options.time);
  if (!options.out.empty()) {
    auto whole = joinResults(*outcome, *program, resultShapes);
    if (!whole)
      return fail(kTool, whole.status().message());
    if (runtime::Status status = writeArrays(options.out, *whole); !status.ok())
      return fail(kTool, status.message());
  } else if (!options.quiet && !checks) {
    printResults(outcome->results, session.context());
  }
  return 0;
}

} // namespace millrace::tools
