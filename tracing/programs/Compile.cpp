// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compile.cpp - Compile a traced module through the cache -------------===//
#include "tracing/programs/Compile.h"

#include "lowering/CacheKey.h"
#include "lowering/CompilerSession.h"
#include "lowering/ModuleDump.h"
#include "lowering/ModuleLocations.h"
#include "lowering/PredictMemory.h"
#include "lowering/client/CompileThroughCache.h"
#include "lowering/hlo/HloProto.h"
#include "passes/autosharding/Request.h"
#include "passes/sharding/exchange/RoundTrip.h"
#include "passes/spmd/Placement.h"
#include "runtime/base/Cpu.h"
#include "runtime/base/Environment.h"
#include "runtime/base/Progress.h"
#include "runtime/base/XlaFlags.h"
#include "tracing/emit/TracedModuleImpl.h"
#include "tracing/reports/Dump.h"
#include "tracing/reports/Metrics.h"
#include "tracing/spmd/ShardOver.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>

namespace millrace::tracing {
namespace {

/// The cache that replaces the process's after useCacheFolder() was called.
std::unique_ptr<runtime::Cache> chosenCache;

/// Returns the cache of useCacheFolder(), else that of XLA_PERSISTENT_CACHE_PATH when the first program is compiled, else the process's.
runtime::StatusOr<runtime::Cache *> cacheInUse() {
  static const runtime::Status fromEnvironment = [] {
    const std::string folder = runtime::environment::text("XLA_PERSISTENT_CACHE_PATH");
    if (chosenCache || folder.empty())
      return runtime::Status();
    return useCacheFolder(folder, runtime::environment::isOn("XLA_PERSISTENT_CACHE_READ_ONLY"));
  }();
  MILLRACE_TRY(fromEnvironment);
  if (chosenCache)
    return chosenCache.get();
  return runtime::processCache();
}

} // namespace

runtime::Status useCacheFolder(const std::string &folder, bool readOnly) {
  runtime::StatusOr<runtime::CacheOptions> options = runtime::cacheOptionsFromEnvironment();
  if (!options)
    return options.status();
  options->folder = folder;
  options->mode = readOnly ? runtime::CacheMode::ReadOnly : runtime::CacheMode::ReadWrite;
  chosenCache = std::make_unique<runtime::Cache>(std::move(*options));
  return {};
}

runtime::Status clearCacheFolder() {
  MILLRACE_TRY(cacheInUse().status());
  return chosenCache ? chosenCache->clear() : runtime::Status();
}

/// Removes marks (python/torch_xla/_composites.py). They are calls that return their last operand, and serve readers of the program only.
static void removeMarks(mlir::ModuleOp module) {
  std::vector<mlir::Operation *> marks;
  module.walk([&](mlir::Operation *op) {
    auto target = op->getAttrOfType<mlir::StringAttr>("call_target_name");
    if (target && llvm::is_contained({"mark_tensor", "mark_quantized", "mark_debuginfo"}, target.getValue()) &&
        op->getNumOperands() && op->getNumResults() == 1)
      marks.push_back(op);
  });
  for (mlir::Operation *mark : marks) {
    mark->replaceAllUsesWith(mark->getOperands().take_back());
    mark->erase();
  }
}

/// Programs whose shardings were chosen by planArguments() and which have not been compiled yet. They are kept so that compileModule() does not plan
/// again with arguments that are sharded by then.
namespace {
class PlannedPrograms {
public:
  struct Planned {
    std::string program;                ///< bytecode
    std::vector<std::string> arguments; ///< their shardings
  };
  void add(const std::string &key, Planned planned) {
    constexpr size_t mostKept = 16; // most are compiled right after they were planned
    std::lock_guard lock(mutex);
    if (programs.size() >= mostKept)
      programs.clear();
    programs[key] = std::move(planned);
  }
  std::optional<Planned> take(const std::string &key) {
    std::lock_guard lock(mutex);
    auto found = programs.extract(key);
    return found ? std::optional<Planned>(std::move(found.mapped())) : std::nullopt;
  }

private:
  std::mutex mutex;
  std::map<std::string, Planned> programs; ///< guarded by mutex
};
} // namespace

static PlannedPrograms &plannedPrograms() {
  static auto *shared = new PlannedPrograms; // never destroyed, because threads may compile while the process ends
  return *shared;
}

/// Returns the argument's annotation in XLA's notation; empty if it is replicated.
static std::string annotationOf(mlir::func::FuncOp function, unsigned argument, mlir::ModuleOp module) {
  if (auto text = function.getArgAttrOfType<mlir::StringAttr>(argument, sharding::hloShardingName))
    return text.getValue() == "{replicated}" ? std::string() : text.str();
  auto sharding = function.getArgAttrOfType<sdy::TensorShardingAttr>(argument, sdy::shardingAttrName);
  if (!sharding)
    return {};
  spmd::Placement placement;
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
    placement.push_back(dim.getAxes().empty() ? spmd::Tiles() : spmd::tilesOfAxes(dim.getAxes(), sharding.getMesh(module)));
  return spmd::isWhole(placement) ? std::string() : sdy::toString(spmd::describe(placement, sharding.getMesh(module).getTotalSize()));
}

/// Returns what the environment says about plans.
static llvm::Expected<autosharding::AutoShardingOptions> planOptions() {
  autosharding::Request request;
  request.machine = runtime::environment::text("XLA_AUTO_SPMD_MACHINE");
  request.memory = runtime::environment::text("XLA_AUTO_SPMD_MEMORY");
  return request.options("XLA_AUTO_SPMD_MACHINE", "XLA_AUTO_SPMD_MEMORY");
}

std::string planSettingsText() {
  return runtime::environment::text("XLA_AUTO_SPMD_MACHINE") + '\n' + runtime::environment::text("XLA_AUTO_SPMD_MEMORY");
}

runtime::Status checkPlanSettings() {
  llvm::Expected<autosharding::AutoShardingOptions> options = planOptions();
  return options ? runtime::Status() : runtime::invalidArgument(llvm::toString(options.takeError()));
}

/// Returns a key of the mesh and of the program without the shardings of its arguments.
static std::string keyOfPlan(mlir::ModuleOp module, const std::string &mesh) {
  mlir::OwningOpRef<mlir::ModuleOp> bare = withoutLocations(module);
  if (auto function = bare->lookupSymbol<mlir::func::FuncOp>(findEntry(*bare)))
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      for (llvm::StringRef name : {llvm::StringRef(sharding::hloShardingName), llvm::StringRef(sdy::shardingAttrName)})
        function.removeArgAttr(i, name);
  runtime::CacheKey key;
  key.add("mesh", mesh);
  key.add("settings", planSettingsText());
  for (auto &[name, value] : cacheKeyParts(*bare, {}))
    key.add(name, value);
  return key.digest();
}

/// Returns the module with the shardings that planArguments() chose if the arguments have them; otherwise null.
static mlir::OwningOpRef<mlir::ModuleOp> alreadyPlanned(mlir::ModuleOp module, const std::string &mesh) {
  std::optional<PlannedPrograms::Planned> planned = plannedPrograms().take(keyOfPlan(module, mesh));
  auto function = module.lookupSymbol<mlir::func::FuncOp>(findEntry(module));
  if (!planned || !function || planned->arguments.size() != function.getNumArguments())
    return nullptr;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (annotationOf(function, i, module) != planned->arguments[i])
      return nullptr;
  return mlir::parseSourceString<mlir::ModuleOp>(planned->program, module.getContext());
}

mlir::LogicalResult shardOver(mlir::ModuleOp module, const std::string &mesh, int64_t smallest, autosharding::AutoShardingReport *report) {
  removeMarks(module);
  auto partitions = module->getAttrOfType<mlir::IntegerAttr>("mhlo.num_partitions");
  if (mesh.empty() || !partitions || partitions.getInt() < 2)
    return mlir::success();
  auto function = module.lookupSymbol<mlir::func::FuncOp>(findEntry(module));
  for (unsigned i = 0; function && i < function.getNumArguments(); ++i) {
    auto type = mlir::dyn_cast<mlir::RankedTensorType>(function.getArgumentTypes()[i]);
    mlir::DictionaryAttr attributes = function.getArgAttrDict(i);
    bool isAnnotated = attributes && (attributes.contains(sharding::hloShardingName) || attributes.contains(sdy::shardingAttrName));
    if (type && !isAnnotated && type.getNumElements() < smallest)
      function.setArgAttr(i, sharding::hloShardingName, mlir::StringAttr::get(module.getContext(), "{replicated}"));
  }
  llvm::Expected<autosharding::AutoShardingOptions> options = planOptions();
  if (!options)
    return mlir::emitError(module.getLoc(), llvm::toString(options.takeError()));
  options->mesh = mesh;
  options->threads = runtime::availableCpus();
  if (options->memoryPerDevice > 0)
    options->memoryOf = memoryPredictor(); // the limit is one of the compiled program
  runtime::Progress progress("automatic sharding");
  options->progress = [&](const std::string &what) { progress.show(what); };
  if (runtime::StatusOr<runtime::Cache *> cache = cacheInUse()) {
    runtime::ByteStore store = runtime::planStore(**cache);
    options->plans = {store.find, store.store};
  }
  options->explains = report != nullptr;
  autosharding::AutoShardingReport found;
  if (failed(autosharding::autoShard(module, *options, &found)))
    return mlir::failure();
  if (report)
    *report = std::move(found);
  else
    Metrics::get().count(found.isStored ? "AutoShardingPlanHit" : "AutoShardingPlanMiss");
  return mlir::success();
}

runtime::StatusOr<std::vector<std::string>> planArguments(TracedModule traced, const std::string &mesh, int64_t smallest) {
  mlir::OwningOpRef<mlir::ModuleOp> &module = traced.impl->module;
  const ErrorLog errors(traced.impl->session.context());
  removeMarks(*module);
  const std::string key = keyOfPlan(*module, mesh);
  if (failed(shardOver(*module, mesh, smallest)))
    return runtime::internalError("automatic sharding: " + errors.text());
  auto function = module->lookupSymbol<mlir::func::FuncOp>(findEntry(*module));
  PlannedPrograms::Planned planned;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    planned.arguments.push_back(annotationOf(function, i, *module));
  std::vector<std::string> texts = planned.arguments;
  llvm::raw_string_ostream stream(planned.program);
  if (succeeded(mlir::writeBytecodeToFile(*module, stream)))
    plannedPrograms().add(key, std::move(planned));
  return texts;
}

runtime::StatusOr<std::shared_ptr<const runtime::Program>> compileModule(TracedModule traced, const std::string &mesh) {
  runtime::StatusOr<runtime::Cache *> cache = cacheInUse();
  if (!cache)
    return cache.status();
  mlir::OwningOpRef<mlir::ModuleOp> &module = traced.impl->module;
  const ErrorLog errors(traced.impl->session.context());
  removeMarks(*module);
  // The caller may have sharded the arguments as planArguments() told it to.
  mlir::OwningOpRef<mlir::ModuleOp> planned = mesh.empty() ? nullptr : alreadyPlanned(*module, mesh);
  if (planned)
    module = std::move(planned);
  else if (failed(shardOver(*module, mesh, std::numeric_limits<int64_t>::max())))
    return runtime::internalError(errors.text());
  CompileRequest request;
  request.options.prepared = &traced.impl->session.passes();
  request.options.xlaSemantics = true;
  request.options.relaxed = runtime::isXlaFlagOn("xla_cpu_enable_fast_math");
  request.what = "a step";
  request.dumpName = "SyncTensorsGraph";
  request.dumpProcess = dumpPrefix();
  request.code = runtime::Code::Internal;
  runtime::StatusOr<CompiledProgram> found = compileThroughCache(*module, *cache, std::move(request), &errors);
  if (!found)
    return found.status();
  if (!found->hit) {
    const CompileReport &report = found->report;
    const size_t known = report.kernelsFromMemory + report.kernelsFromDisk;
    Metrics::get().count("KernelCacheHit", known);
    Metrics::get().count("KernelCacheMiss", report.kernels.size() - known);
  }
  Metrics::get().count(found->hit ? "PersistentCacheHit" : "PersistentCacheMiss");
  if (found->loadNs > 0)
    Metrics::get().sample("PersistentCacheLoad", found->loadNs);
  if (found->storeNs > 0)
    Metrics::get().sample("PersistentCacheStore", found->storeNs);
  return std::move(found->program);
}

runtime::StatusOr<std::string> hloText(const std::string &text) {
  CompilerSession session(text.size());
  mlir::MLIRContext &context = session.context();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (module && text.find("loc(") == std::string::npos)
    module = withoutLocations(*module); // the locations of the text are no lines of the user
  std::string made = module ? hloTextOf(*module) : std::string();
  if (made.empty())
    return runtime::unimplemented("the traced program has no HLO text; use its StableHLO text");
  return made;
}

runtime::StatusOr<std::string> hloModule(const std::string &text, const std::string &name) { return hlo::moduleProto(text, name); }
std::string hloModuleJson(const std::string &module) { return hlo::protoJson(module); }
std::string hloModuleText(const std::string &module) { return hlo::protoText(module); }

} // namespace millrace::tracing
