// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compiler.cpp - From the bytes of a program to a Compiled ------------===//
#include "pjrt/Compiler.h"

#include "dialects/bytecode/Validate.h"
#include "dialects/millrace/Attributes.h"
#include "dialects/sdy/HloSharding.h"
#include "dialects/stablehlo/Ops.h"
#include "lowering/CompilerSession.h"
#include "lowering/DropShardings.h"
#include "lowering/PredictMemory.h"
#include "lowering/client/CompileThroughCache.h"
#include "lowering/client/ModuleDifference.h"
#include "pjrt/CustomPartitioner.h"
#include "pjrt/EntryLayouts.h"
#include "passes/autosharding/Request.h"
#include "passes/calls/Passes.h"
#include "passes/sharding/mesh/MeshText.h"
#include "passes/spmd/Partition.h"
#include "passes/vhlo/PortableArtifact.h"
#include "runtime/base/Cpu.h"
#include "runtime/base/Environment.h"
#include "runtime/base/Progress.h"
#include "runtime/base/FloatModes.h"
#include "runtime/base/Hash.h"
#include "runtime/cache/CachedProgram.h"
#include "runtime/profile/Recorder.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

using namespace mlir;

namespace millrace::pjrt {
namespace {

/// One compilation in an MLIR context of its own, which collects errors with the user's line.
class Session {
public:
  explicit Session(size_t programBytes) : session(programBytes), log(session.context()) {}
  OwningOpRef<ModuleOp> parse(StringRef code) {
    if (code.starts_with("ML\xefR"))
      return vhlo::readPortableArtifact(code, context());
    return bytecode::parseModule(code, ParserConfig(&context()), "program");
  }
  /// Returns the collected errors, followed by `summary`.
  rt::Status error(const std::string &summary, rt::Code code = rt::Code::InvalidArgument) const { return log.status(code, summary); }

  MLIRContext &context() { return session.context(); }
  PreparedPasses &passes() { return session.passes(); }
  const ErrorLog &errors() const { return log; }

private:
  CompilerSession session;
  ErrorLog log;
};

/// The options of millrace_auto_sharding.
struct AutoSharding : autosharding::Request {
  std::string mesh; ///< "data=2,model=4"; empty: the module's mesh
  bool hasDefault = false; ///< a module without a mesh gets one axis of all devices
};

/// Applies compiler_options of jax.jit. XLA's own (xla_*) are accepted, most without effect, because programs set them for other back ends.
rt::Status applyOverrides(const CompileOptionsProto &proto, CompileOptions &options, AutoSharding &autoSharding) {
  lowering::CpuTargetOverrides target;
  for (const auto &[name, value] : proto.overrides) {
    bool isTrue = value == "true" || value == "True" || value == "1";
    if (name == "millrace_fold")
      options.fold = isTrue;
    else if (name == "millrace_fuse")
      options.fuse = isTrue;
    else if (name == "millrace_generic")
      options.genericOnly = isTrue;
    else if (name == "millrace_relaxed" || name == "xla_cpu_enable_fast_math")
      options.relaxed = isTrue;
    else if (name == "millrace_target")
      target.name = value;
    else if (name == "millrace_target_caches")
      target.caches = value;
    else if (name == "millrace_target_threads") {
      if (StringRef(value).getAsInteger(10, target.threads))
        return rt::invalidArgument("millrace_target_threads expects a number, but got '" + value + "'");
    } else if (name == "millrace_auto_sharding") {
      const bool isMesh = StringRef(value).contains('=');
      if (!isTrue && !isMesh && value != "auto" && value != "false" && value != "False" && value != "0")
        return rt::invalidArgument("millrace_auto_sharding expects a mesh like data=4,model=2, auto, True or False, but got '" + value + "'");
      autoSharding.isOn = isTrue || isMesh || value == "auto";
      autoSharding.hasDefault = value == "auto";
      autoSharding.mesh = isMesh ? value : "";
    } else if (name == "millrace_machine")
      autoSharding.machine = value;
    else if (name == "millrace_memory_per_device")
      autoSharding.memory = value;
    else if (!StringRef(name).starts_with("xla_"))
      return rt::invalidArgument("No such compile option: '" + name +
                                 "'; the options are millrace_fold, millrace_fuse, millrace_generic, millrace_relaxed, millrace_target, "
                                 "millrace_target_threads, millrace_target_caches, millrace_auto_sharding, millrace_machine, millrace_memory_per_device");
  }
  for (auto [name, text] : {std::pair("millrace_machine", &autoSharding.machine), std::pair("millrace_memory_per_device", &autoSharding.memory)})
    if (!text->empty() && !autoSharding.isOn)
      return rt::invalidArgument(std::string(name) + " requires millrace_auto_sharding");
  if (llvm::Error error = lowering::applyOverrides(target, options.target)) {
    std::string message = "millrace_" + llvm::toString(std::move(error)); // the error begins with the name of the tools' flag
    std::replace(message.begin(), message.begin() + long(std::min(message.find(' '), message.size())), '-', '_');
    return rt::invalidArgument(message);
  }
  return {};
}

/// Checks that the counts of module and options agree; a module without counts gets those of the options.
rt::Status applyCounts(ModuleOp module, const CompileOptionsProto &proto) {
  auto apply = [&](StringRef name, uint32_t count) -> rt::Status {
    auto given = module->getAttrOfType<IntegerAttr>(name);
    if (!given)
      module->setAttr(name, Builder(module.getContext()).getI32IntegerAttr(int32_t(count)));
    else if (given.getInt() != int64_t(count))
      return rt::invalidArgument("the module has " + name.str() + " = " + std::to_string(given.getInt()) +
                                 ", but the compile options say " + std::to_string(count));
    return {};
  };
  MILLRACE_TRY(apply("mhlo.num_replicas", proto.numReplicas));
  return apply("mhlo.num_partitions", proto.numPartitions);
}

/// Marks arguments whose shardings the compiler may choose. Results are replicated unless the caller leaves their shardings open or the program
/// annotates them.
void applyOpenness(func::FuncOp function, const CompileOptionsProto &proto) {
  auto isAnnotated = [](DictionaryAttr attrs) { return attrs && (attrs.contains("sdy.sharding") || attrs.contains("mhlo.sharding")); };
  auto flagOf = [](const std::vector<bool> &flags, unsigned i, bool otherwise) {
    return flags.size() == 1 ? flags[0] : i < flags.size() ? flags[i] : otherwise;
  };
  MLIRContext *context = function.getContext();
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (flagOf(proto.openParameters, i, false) && !isAnnotated(function.getArgAttrDict(i)))
      function.setArgAttr(i, kOpenAttr, UnitAttr::get(context));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (!flagOf(proto.openResults, i, true) && !isAnnotated(function.getResultAttrDict(i)))
      function.setResultAttr(i, "mhlo.sharding", StringAttr::get(context, "{replicated}"));
}

/// Chooses the shardings of a module for several devices if that is requested.
rt::Status shardAutomatically(ModuleOp module, const AutoSharding &asked, Session &session) {
  auto partitions = module->getAttrOfType<IntegerAttr>("mhlo.num_partitions");
  if (!asked.isOn)
    return {};
  if (!partitions || partitions.getInt() < 2) {
    llvm::Expected<sdy::MeshAttr> mesh = sharding::parseMesh(module.getContext(), asked.mesh.empty() ? "x=1" : asked.mesh, "millrace_auto_sharding");
    if (!mesh)
      return rt::invalidArgument(llvm::toString(mesh.takeError()));
    if (mesh->getTotalSize() > 1)
      return rt::invalidArgument("millrace_auto_sharding expects a program of the " + std::to_string(mesh->getTotalSize()) + " devices of '" +
                                 asked.mesh + "', but got one of a single device: compile it within jax.set_mesh(mesh)");
    return {};
  }
  llvm::Expected<autosharding::AutoShardingOptions> options = asked.options("millrace_machine", "millrace_memory_per_device");
  if (!options)
    return rt::invalidArgument(llvm::toString(options.takeError()));
  options->threads = rt::availableCpus();
  rt::Progress progress("automatic sharding");
  options->progress = [&](const std::string &what) { progress.show(what); };
  if (rt::StatusOr<rt::Cache *> cache = rt::processCache()) {
    rt::ByteStore store = rt::planStore(**cache);
    options->plans = {store.find, store.store};
  }
  options->calls = &callPartitioner();
  if (options->memoryPerDevice > 0)
    options->memoryOf = memoryPredictor(); // the limit is one of the compiled program
  const bool needsDefault = asked.hasDefault && module.getOps<sdy::MeshOp>().empty();
  const std::string text = needsDefault ? "devices=" + std::to_string(partitions.getInt()) : asked.mesh;
  if (!text.empty()) {
    if (llvm::Error error = sharding::applyMesh(module, text, "millrace_auto_sharding"))
      return rt::invalidArgument(llvm::toString(std::move(error)));
    if (auto now = module->getAttrOfType<IntegerAttr>("mhlo.num_partitions"); now.getInt() != partitions.getInt())
      return rt::invalidArgument("millrace_auto_sharding expects a mesh of the program's " + std::to_string(partitions.getInt()) +
                                 " devices, but got '" + asked.mesh + "'");
  }
  if (failed(autosharding::autoShard(module, *options)))
    return session.error("the program cannot be sharded automatically");
  return {};
}

/// The shardings of arguments and results after partitioning, kept so that the program is not partitioned again.
struct PartShardings {
  std::vector<std::string> arguments, results;
  void restore(rt::Program &program) const {
    for (size_t i = 0; i < arguments.size() && i < program.arguments.size(); ++i)
      program.arguments[i].sharding = arguments[i];
    for (size_t i = 0; i < results.size() && i < program.results.size(); ++i)
      program.results[i].sharding = results[i];
  }
};

/// The struct that jaxlib copies into the backend_config of a custom call @InspectSharding: the callback of this process. The names and the layout
/// are those of its C interface (xla/python/inspect_sharding.h).
struct InspectArgs {
  const char *spec; ///< a serialized OpSharding
  size_t specSize;
  const char *error;
  void *errorScratch;
  void (*freeError)(InspectArgs *args);
};
struct InspectCallback {
  void (*call)(void *data, InspectArgs *args);
  void *data;
};

LogicalResult tellSharding(Operation *op, StringRef config, StringRef text) {
  InspectCallback callback;
  if (config.size() != sizeof(callback))
    return op->emitError("expects a backend_config of ") << sizeof(callback) << " bytes, but got " << config.size();
  std::memcpy(&callback, config.data(), sizeof(callback));
  std::string error;
  auto sharding = sdy::parseHloSharding(text, error);
  if (!sharding)
    return op->emitError("mhlo.sharding: ") << error;
  std::string proto = sdy::toOpShardingProto(*sharding);
  InspectArgs args{proto.data(), proto.size(), nullptr, nullptr, nullptr};
  callback.call(callback.data, &args);
  if (!args.error)
    return success();
  std::string message = args.error;
  if (args.freeError)
    args.freeError(&args);
  return op->emitError() << message;
}

/// Returns true if callbacks of this process take part in the compilation, which the cache cannot store.
bool needsClient(ModuleOp module) {
  return module
      .walk([](stablehlo::CustomCallOp call) {
        StringRef target = call.getCallTargetName();
        return target == "InspectSharding" || callPartitioner().knows(target) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Runs the passes of compile() that precede simplification: layouts refer to shards of arguments, which exist only after partitioning.
LogicalResult partitionFirst(ModuleOp module, PartShardings &shardings) {
  calls::prepareCollectives(module);
  if (failed(spmd::partition(module, {tellSharding, &callPartitioner()})))
    return failure();
  auto entry = module.lookupSymbol<func::FuncOp>(findEntry(module));
  auto take = [](DictionaryAttr attrs, std::vector<std::string> &list) {
    auto text = attrs ? attrs.getAs<StringAttr>("mhlo.sharding") : StringAttr();
    list.push_back(text ? text.getValue().str() : std::string());
  };
  auto *context = module.getContext();
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    take(entry.getArgAttrDict(i), shardings.arguments);
    entry.removeArgAttr(i, StringAttr::get(context, "mhlo.sharding"));
  }
  for (unsigned i = 0; i < entry.getNumResults(); ++i) {
    take(entry.getResultAttrDict(i), shardings.results);
    entry.removeResultAttr(i, StringAttr::get(context, "mhlo.sharding"));
  }
  return success();
}

/// Returns a fingerprint that is equal for equal programs. For a program for several devices it is equal on all hosts, whatever their processors and
/// the paths of the user's files: clients compute the launch id from it, by which processes check that they launch the same program. Empty for a
/// program for one device, whose fingerprint is that of its cache entry.
std::string sharedFingerprint(ModuleOp module, const CompileOptionsProto &options) {
  if (uint64_t(options.numReplicas) * uint64_t(options.numPartitions) <= 1)
    return "";
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, OpPrintingFlags().enableDebugInfo(false));
  stream << options.numReplicas << ' ' << options.numPartitions;
  return rt::Sha256::hex(text);
}

/// Returns true for MILLRACE_DEBUG=1, the counterpart of PT_XLA_DEBUG in PyTorch.
bool isDebugWished() { return rt::environment::isOn("MILLRACE_DEBUG"); }

/// Prints a line on standard error for a program that was compiled or found, and a line for each cause of overhead in every run.
void explain(const CompiledProgram &found, double seconds, const std::string &difference) {
  const CompileReport &report = found.report;
  const rt::Program &program = *found.program;
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "Compilation Analysis: " << program.name << ": " << llvm::format("%.3f", seconds) << " s, ";
  if (found.hit)
    out << "found in the cache\n";
  else
    out << "compiled (" << (found.whyNot.empty() ? "the cache is off" : found.whyNot) << "); "
        << report.kernelsFromMemory + report.kernelsFromDisk << " of " << report.kernels.size() << " kernels were compiled before\n";
  if (auto known = llvm::find_if(program.locations, [](const std::string &place) { return !place.empty(); }); known != program.locations.end())
    out << "Compilation Analysis:   begins at " << *known << "\n";
  if (!difference.empty())
    out << "Compilation Analysis:   differs from the program of this name that is most similar: " << difference << "\n";
  std::map<std::string, unsigned> calls;
  auto visit = [&](auto &&self, const rt::Steps &steps) -> void {
    for (const rt::Step &step : steps) {
      if (auto *call = std::get_if<rt::CustomCallStep>(&step.body)) {
        ++calls[call->target];
      } else if (auto *loop = std::get_if<rt::LoopStep>(&step.body)) {
        self(self, loop->cond);
        self(self, loop->body);
      } else if (auto *cond = std::get_if<rt::CondStep>(&step.body)) {
        for (const rt::Steps &branch : cond->branches)
          self(self, branch);
      }
    }
  };
  for (const rt::Function &function : program.functions)
    visit(visit, function.steps);
  for (const auto &[target, count] : calls)
    out << "Compilation Analysis:   leaves compiled code for " << target << " at " << count << (count == 1 ? " place\n" : " places\n");
  std::fwrite(text.data(), 1, text.size(), stderr);
}

} // namespace

rt::StatusOr<std::shared_ptr<const Compiled>> compileProgram(const ProgramCode &code, std::string_view optionBytes) {
  std::string_view format(code.format, code.format_size);
  if (format != "mlir")
    return rt::unimplemented("programs in the format '" + std::string(format) +
                             "'; only 'mlir' (StableHLO) is compiled");
  rt::StatusOr<CompileOptionsProto> proto = decodeCompileOptions(optionBytes);
  if (!proto)
    return proto.status();
  const rt::DefaultFloatModes modes; // set for the conversions that precede compile()
  if (proto->tupledArguments)
    return rt::unimplemented("arguments in a tuple (parameter_is_tupled_arguments)");
  CompileOptions options;
  AutoSharding autoSharding;
  options.xlaSemantics = true; // clients of this ABI expect XLA's semantics
  MILLRACE_TRY(applyOverrides(*proto, options, autoSharding));
  rt::StatusOr<rt::Cache *> cache = rt::processCache();
  if (!cache)
    return cache.status();

  Session session(code.code_size);
  options.prepared = &session.passes();
  OwningOpRef<ModuleOp> module = session.parse({code.code, code.code_size});
  if (!module)
    return session.error("the program cannot be read");
  MILLRACE_TRY(applyCounts(*module, *proto));
  auto compiled = std::make_shared<Compiled>();
  compiled->source.assign(code.code, code.code_size);
  compiled->optionBytes = optionBytes;
  compiled->options = std::move(*proto);

  std::string entry = findEntry(*module);
  if (entry.empty() || !module->lookupSymbol<func::FuncOp>(entry))
    return rt::invalidArgument("the module has neither @main nor a single function to run");
  PartShardings shardings;
  MILLRACE_TRY(shardAutomatically(*module, autoSharding, session));
  auto function = module->lookupSymbol<func::FuncOp>(entry); // the chosen plan replaces the module's functions
  if (compiled->options.numPartitions > 1 && spmd::hasShardings(*module))
    applyOpenness(function, compiled->options);
  if (compiled->options.numPartitions > 1 && (hasLayouts(function) || needsClient(*module))) {
    if (failed(partitionFirst(*module, shardings)))
      return session.error("the program cannot be partitioned");
    function = module->lookupSymbol<func::FuncOp>(entry);
  }
  FailureOr<EntryLayouts> layouts = applyLayouts(function);
  if (failed(layouts))
    return session.error("", rt::Code::Unimplemented);

  compiled->fingerprint = sharedFingerprint(*module, compiled->options);
  CompileRequest request;
  request.options = std::move(options);
  request.explain = isDebugWished();
  rt::profile::Scope scope(rt::profile::Kind::Cache, "new program");
  std::string difference;
  if (request.explain || scope.isRecorded()) {
    difference = ModuleHistory::ofProcess().add(summarize(*module));
    scope.setDetail("program=" + rt::profile::asDetail(module->getName().value_or("")) +
                    (difference.empty() ? "" : ", difference=" + rt::profile::asDetail(difference)));
  }
  request.keyParts.emplace_back(kLayoutsKey, layoutsToText(*layouts) + llvm::join(shardings.arguments, ";") + "|" +
                                                 llvm::join(shardings.results, ";"));
  request.complete = [&](rt::Program &program) {
    shardings.restore(program);
    program.metadata.emplace_back(kLayoutsKey, layoutsToText(*layouts));
  };
  const bool isExplained = request.explain;
  const auto start = std::chrono::steady_clock::now();
  rt::StatusOr<CompiledProgram> found = compileThroughCache(*module, *cache, std::move(request), &session.errors());
  if (!found)
    return found.status();
  if (isExplained)
    explain(*found, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), difference);
  if (compiled->fingerprint.empty())
    compiled->fingerprint = std::move(found->fingerprint);
  compiled->program = std::move(found->program);
  MILLRACE_TRY(compiled->finish());
  return std::shared_ptr<const Compiled>(std::move(compiled));
}

/// Adds the shardings of arguments and results in the form of the conversion to HLO: jaxlib before 0.9 reads them from the HLO module.
static void annotateShardings(ModuleOp module, const Compiled &compiled) {
  auto text = [](const TensorType &type) { return type.sharding.empty() ? std::string("{replicated}") : type.sharding; };
  MLIRContext *context = module.getContext();
  SmallVector<Attribute> arguments = llvm::map_to_vector(
      compiled.arguments, [&](const TensorType &type) -> Attribute { return StringAttr::get(context, text(type)); });
  std::string results = llvm::join(llvm::map_range(compiled.results, text), ", ");
  module->setAttr("mhlo.spmd_parameters_shardings", ArrayAttr::get(context, arguments));
  module->setAttr("mhlo.spmd_output_sharding", StringAttr::get(context, compiled.results.size() == 1 ? results : "{" + results + "}"));
}

/// Adds the layouts of arguments and results in the form of the conversion to HLO.
static void annotateLayouts(ModuleOp module, const Compiled &compiled) {
  Builder builder(module.getContext());
  auto minorToMajor = [&](const TensorType &type) -> Attribute {
    int64_t rank = int64_t(type.dims.size());
    Layout order = type.layout;
    for (int64_t dim = rank; order.size() < type.dims.size();)
      order.push_back(--dim);
    return DenseIntElementsAttr::get(RankedTensorType::get({rank}, builder.getIndexType()), order);
  };
  SmallVector<Attribute> arguments = llvm::map_to_vector(compiled.arguments, minorToMajor);
  SmallVector<Attribute> results = llvm::map_to_vector(compiled.results, minorToMajor);
  module->setAttr("mhlo.xla_entry_computation_parameter_layouts", builder.getArrayAttr(arguments));
  module->setAttr("mhlo.xla_entry_computation_result_layout", builder.getArrayAttr(results));
}

/// Splits all_to_all of several operands: HLO's all_to_all with one operand per group member is another operation, and its converter refuses several
/// arrays.
static void separateAllToAlls(ModuleOp module) {
  module.walk([](stablehlo::AllToAllOp op) {
    if (op->getNumOperands() == 1)
      return;
    OpBuilder builder(op);
    for (auto [operand, result] : llvm::zip(op->getOperands(), op->getResults())) {
      Operation *one = builder.create(op->getLoc(), op->getName().getIdentifier(), operand, result.getType(), op->getAttrs());
      result.replaceAllUsesWith(one->getResult(0));
    }
    op->erase();
  });
}

rt::StatusOr<std::string> optimizedModule(const Compiled &compiled) {
  const rt::DefaultFloatModes modes;
  Session session(compiled.source.size());
  OwningOpRef<ModuleOp> module = session.parse(compiled.source);
  if (!module)
    return session.error("the program cannot be read");
  CompileOptions ignored;
  AutoSharding autoSharding;
  MILLRACE_TRY(applyOverrides(compiled.options, ignored, autoSharding));
  MILLRACE_TRY(shardAutomatically(*module, autoSharding, session));
  if (failed(lowering::dropShardings(*module)) || failed(spmd::partition(*module, {{}, &callPartitioner()})))
    return session.error("the program cannot be simplified");
  if (failed(session.passes().simplification(PipelineOptions()).run(*module)))
    return session.error("the program cannot be simplified");
  separateAllToAlls(*module);
  if (compiled.program->numPartitions > 1)
    annotateShardings(*module, compiled);
  auto isOrdinary = [](const TensorType &type) { return isRowMajor(type.layout); };
  if (!llvm::all_of(compiled.arguments, isOrdinary) || !llvm::all_of(compiled.results, isOrdinary))
    annotateLayouts(*module, compiled);
  std::string text;
  llvm::raw_string_ostream stream(text);
  // Constants are printed in decimal, because readers disagree on how booleans are packed in hexadecimal.
  module->print(stream, OpPrintingFlags().enableDebugInfo().printLargeElementsAttrWithHex(-1));
  return text;
}

} // namespace millrace::pjrt
