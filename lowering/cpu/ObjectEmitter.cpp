// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ObjectEmitter.cpp - Compile the LLVM dialect to object code --------===//
#include "lowering/cpu/ObjectEmitter.h"

#include "lowering/cpu/FuseProducts.h"
#include "lowering/cpu/KernelForm.h"
#include "lowering/cpu/InterleaveChains.h"
#include "lowering/cpu/SingleLaneStores.h"

#include "mlir/Target/LLVMIR/ModuleTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Pass.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <mutex>

namespace millrace::lowering {

/// Returns features such as "-avx512f,-avx512bw" that LLVM expects of the model `target.cpu` but the target lacks. Hypervisors hide features: a Zen 4
/// without AVX-512 still reports its model.
static std::string missingFeatures(const llvm::Target &description, const llvm::Triple &triple, const CpuTarget &target) {
  std::unique_ptr<llvm::MCSubtargetInfo> model(description.createMCSubtargetInfo(triple, target.cpu, ""));
  std::string features;
  // Only this machine's feature names are known; another architecture's model keeps its features.
  if (!model || triple.getArch() != llvm::Triple(llvm::sys::getProcessTriple()).getArch())
    return features;
  // Only features that CPUID reports count: the model has others, which only tune. CPUID is slow in virtual machines.
  static const llvm::StringMap<bool> askable = llvm::sys::getHostCPUFeatures();
  for (const llvm::SubtargetFeatureKV &feature : model->getEnabledProcessorFeatures())
    if (askable.contains(feature.Key) && !target.has(feature.Key))
      features += (features.empty() ? "-" : ",-") + std::string(feature.Key);
  return features;
}

/// Registers the code generator for this machine, or for another one.
static void initializeGenerator(const llvm::Triple &triple) {
  static std::once_flag native, aarch64;
  std::call_once(native, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
  if (triple.isAArch64())
    std::call_once(aarch64, [] {
      LLVMInitializeAArch64TargetInfo();
      LLVMInitializeAArch64Target();
      LLVMInitializeAArch64TargetMC();
      LLVMInitializeAArch64AsmPrinter();
    });
}

llvm::Expected<std::unique_ptr<ObjectEmitter>> ObjectEmitter::create(const CpuTarget &target) {
  llvm::Triple triple(target.triple);
  initializeGenerator(triple);
  std::string error;
  const llvm::Target *description = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!description)
    return llvm::createStringError("no code generator for " + target.triple + ": " + error);
  std::string features = missingFeatures(*description, triple, target);
  for (const std::string &feature : target.features)
    features += (features.empty() ? "+" : ",+") + feature;
  // A hypervisor may name an older model, on which gathers are slow; no processor with AMX is one of those.
  if (triple.isX86() && target.has("amx-tile"))
    features += ",-prefer-no-gather,-prefer-no-scatter";
  auto emitter = std::unique_ptr<ObjectEmitter>(new ObjectEmitter());
  emitter->target = target;
  llvm::TargetOptions options;
  emitter->machine.reset(description->createTargetMachine(triple, target.cpu, features, options, llvm::Reloc::PIC_,
                                                          llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  if (!emitter->machine)
    return llvm::createStringError("no code generator for " + target.cpu);
  return emitter;
}

/// The clean-up pipeline for the emitters' vector code, on which LLVM's default pipeline would spend most of its time without improving it (measured:
/// docs/design/code-generation.md).
static constexpr llvm::StringLiteral kShortPipeline =
    "function(early-cse),always-inline,function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),early-cse)";

namespace {

/// LLVM's analyses for one pipeline.
struct Optimizer {
  Optimizer(llvm::TargetMachine &machine, bool vectorizeLoops) : builder(&machine, tuning(vectorizeLoops)) {
    builder.registerModuleAnalyses(mam);
    builder.registerCGSCCAnalyses(cgam);
    builder.registerFunctionAnalyses(fam);
    builder.registerLoopAnalyses(lam);
    builder.crossRegisterProxies(lam, fam, cgam, mam);
  }
  static llvm::PipelineTuningOptions tuning(bool vectorizeLoops) {
    llvm::PipelineTuningOptions options;
    options.LoopVectorization = vectorizeLoops;
    options.SLPVectorization = false;
    return options;
  }

  llvm::LoopAnalysisManager lam;
  llvm::FunctionAnalysisManager fam;
  llvm::CGSCCAnalysisManager cgam;
  llvm::ModuleAnalysisManager mam;
  llvm::PassBuilder builder;
};

} // namespace

/// The short pipeline, for many modules in turn.
struct ObjectEmitter::CleanUp {
  explicit CleanUp(llvm::TargetMachine &machine) : optimizer(machine, /*vectorizeLoops=*/false) {
    llvm::cantFail(optimizer.builder.parsePassPipeline(passes, kShortPipeline));
  }
  void run(llvm::Module &module) {
    passes.run(module, optimizer.mam);
    // The next module may have the same address.
    optimizer.lam.clear();
    optimizer.fam.clear();
    optimizer.cgam.clear();
    optimizer.mam.clear();
  }
  Optimizer optimizer;
  llvm::ModulePassManager passes;
};

ObjectEmitter::ObjectEmitter() = default;
ObjectEmitter::~ObjectEmitter() = default;

/// Code generation without loop strength reduction, if `quick`, and without scheduling, if `inOrder`. LLVM has switches for that, but per process
/// only. The pass that prepares loops for strength reduction would analyze every induction variable in vain: a fifth of code generation.
class CodegenPasses : public llvm::legacy::PassManager {
public:
  explicit CodegenPasses(const ObjectOptions &options) : options(options) {}
  void add(llvm::Pass *pass) override {
    llvm::StringRef name = pass->getPassName();
    bool forReduction = name == "Loop Strength Reduction" || name == "Canonicalize Freeze Instructions in Loops";
    if ((options.quick && forReduction) || (options.inOrder && name == "Machine Instruction Scheduler"))
      delete pass;
    else
      llvm::legacy::PassManager::add(pass);
  }

private:
  const ObjectOptions &options;
};

/// The entry is what nobody calls, or what several kernels' entries call. What it calls is its own: internal, inlined if that is the only call. The
/// buffers of the kernel's body do not overlap (KernelForm.h), which descriptors, (allocated, aligned, offset, ..), cannot say.
static void hideBodies(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (function.isDeclaration() || function.use_empty())
      continue;
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    auto *call = function.hasOneUse() ? llvm::dyn_cast<llvm::CallInst>(*function.user_begin()) : nullptr;
    if (!call)
      continue;
    function.addFnAttr(llvm::Attribute::AlwaysInline);
    if (!call->getFunction()->use_empty() && !call->getFunction()->hasFnAttribute(kSharedAttr))
      continue;
    for (unsigned i = 0; i + 1 < function.arg_size(); ++i)
      if (function.getArg(i)->getType()->isPointerTy() && function.getArg(i + 1)->getType()->isPointerTy())
        function.addParamAttr(++i, llvm::Attribute::NoAlias);
  }
}

llvm::Expected<ObjectResult> ObjectEmitter::emit(mlir::ModuleOp module, const ObjectOptions &options, bool wantTexts) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir = mlir::translateModuleToLLVMIR(module, context);
  if (!ir)
    return llvm::createStringError("the kernel could not be translated to LLVM IR");
  ir->setDataLayout(machine->createDataLayout());
  ir->setTargetTriple(machine->getTargetTriple());
  // The full pipeline runs without this, because it makes convolution's scalar loops 6 % slower (benchmarks/model conv_train).
  if (!options.vectorizeLoops)
    hideBodies(*ir);
  bool wide = target.has("avx512f");
  for (llvm::Function &function : *ir) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", target.cpu);
    function.addFnAttr("target-features", machine->getTargetFeatureString());
    // Without it, the alignment of spilled vectors depends on the caller's stack: they may cross cache lines, or a page, which made a softmax four
    // times slower in one build and not in the next.
    function.addFnAttr("stackrealign");
    if (wide)
      function.addFnAttr("prefer-vector-width", "512");
  }

  if (options.vectorizeLoops) {
    Optimizer optimizer(*machine, /*vectorizeLoops=*/true);
    optimizer.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(*ir, optimizer.mam);
  } else {
    if (!cleanUp)
      cleanUp = std::make_unique<CleanUp>(*machine);
    cleanUp->run(*ir);
  }
  bool hasFma = wide || target.has("fma") || machine->getTargetTriple().isAArch64(), hasHalfFma = target.has("avx512fp16") || target.has("fullfp16");
  for (llvm::Function &function : *ir) {
    storeSingleLanes(function);
    fuseProducts(function, hasFma, hasHalfFma);
  }
  if (options.interleave)
    for (llvm::Function &function : *ir)
      interleaveChains(function, wide || machine->getTargetTriple().isAArch64() ? 32 : 16);

  ObjectResult result;
  if (wantTexts) {
    llvm::raw_string_ostream stream(result.llvmIr);
    ir->print(stream, nullptr);
  }
  if (options.keepBitcode) {
    llvm::raw_string_ostream stream(result.bitcode);
    llvm::WriteBitcodeToFile(*ir, stream, /*ShouldPreserveUseListOrder=*/true);
  }
  if (wantTexts) {
    // Code generation changes the module, so assembly is printed from a copy.
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*ir);
    if (llvm::Error error = generate(*copy, options, /*asText=*/true, result.assembly))
      return std::move(error);
  }
  if (llvm::Error error = generate(*ir, options, /*asText=*/false, result.object))
    return std::move(error);
  return result;
}

llvm::Expected<std::string> ObjectEmitter::finish(llvm::StringRef bitcode, ObjectOptions options) {
  options.unfinished = false;
  llvm::LLVMContext context;
  auto ir = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "kernel"), context);
  if (!ir)
    return ir.takeError();
  std::string object;
  if (llvm::Error error = generate(**ir, options, /*asText=*/false, object))
    return std::move(error);
  return object;
}

llvm::Error ObjectEmitter::generate(llvm::Module &ir, const ObjectOptions &options, bool asText, std::string &output) {
  using Level = llvm::CodeGenOptLevel;
  machine->setOptLevel(options.unfinished ? Level::None : options.quick ? Level::Less : Level::Default);
  // Without optimizations, too, the instruction selector that fuses multiply-adds is used.
  machine->setO0WantsFastISel(false);
  machine->setFastISel(false);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  CodegenPasses codegen(options);
  if (machine->addPassesToEmitFile(codegen, stream, nullptr, asText ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("this target emits no object files");
  codegen.run(ir);
  output.assign(bytes.begin(), bytes.end());
  return llvm::Error::success();
}

} // namespace millrace::lowering
