// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelCompiler.cpp - Kernel functions to object code ---------------===//
#include "lowering/cpu/KernelCompiler.h"

#include "lowering/cpu/EmitterPool.h"
#include "lowering/cpu/KernelForm.h"
#include "lowering/cpu/LowerToLLVM.h"
#include "lowering/cpu/emitters/Emitter.h"
#include "lowering/cpu/emitters/SliceUpdate.h"
#include "lowering/cpu/math/Passes.h"
#include "lowering/linalg/Passes.h"
#include "passes/fusion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/ADT/StringExtras.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <thread>

using namespace mlir;

namespace millrace::lowering {
namespace {

template <typename OpT> std::string textOf(OpT op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream, OpPrintingFlags().useLocalScope());
  return text;
}

/// The emitters that write vector code; they say why not in remarks.
FailureOr<BufferKernel> tryEmitters(func::FuncOp fn, const KernelTarget &target) {
  // An operand's buffer as output is the generic path's business, but for slices that are only copied there.
  FailureOr<EmittedKernel> emitted = fn->hasAttr(fusion::kInPlaceAttr) ? emitSliceUpdate(fn, target) : emitKernel(fn, target);
  if (failed(emitted))
    return failure();
  BufferKernel kernel;
  kernel.body = emitted->fn;
  kernel.numInputs = fn.getNumArguments();
  kernel.numOutputs = fn.getNumResults();
  kernel.rangeEnd = emitted->rangeEnd;
  kernel.scratchBytes = emitted->scratchBytesPerTask;
  kernel.picosPerIteration = emitted->nanosPerIteration * 1000;
  kernel.emitter = emitted->emitter;
  fn.erase();
  return kernel;
}

/// Compiles the kernels that one thread takes.
class Worker {
public:
  Worker(const KernelOptions &options, std::mutex &dumpMutex, std::mutex &lateMutex)
      : options(options), dumpMutex(dumpMutex), lateMutex(lateMutex) {}
  ~Worker() {
    if (emitter)
      EmitterPool::ofProcess().give(std::move(emitter));
  }

  /// From memory, else from the store, else anew.
  llvm::Expected<CompiledKernel> obtain(const KernelRequest &request) {
    auto start = std::chrono::steady_clock::now();
    CompiledKernel result;
    runtime::ByteStore::Key key = keyOf(request);
    std::string text = textOfKey(key);
    bool reuse = !options.onStop;
    KernelCache &cache = KernelCache::ofProcess();
    if (std::shared_ptr<const runtime::KernelEntry> known = reuse ? cache.findOrClaim(text) : nullptr) {
      static_cast<runtime::KernelEntry &>(result) = *known;
      result.source = KernelSource::Memory;
    } else {
      llvm::Error error = make(request, key, result);
      // Code for the time being is nothing to keep: who asks meanwhile makes its own.
      if (reuse && (error || result.isLate))
        cache.abandon(text);
      if (error)
        return std::move(error);
      if (reuse && !result.isLate)
        cache.insert(text, std::make_shared<const runtime::KernelEntry>(result));
    }
    func::FuncOp(request.function).walk([&](Operation *op) {
      if (op->getDialect() && op->getDialect()->getNamespace() == "stablehlo" && !op->hasTrait<OpTrait::IsTerminator>())
        result.ops.push_back(op->getName().getStringRef().str());
    });
    result.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return result;
  }

private:
  /// From the store, else anew.
  llvm::Error make(const KernelRequest &request, const runtime::ByteStore::Key &key, CompiledKernel &result) {
    if (std::optional<runtime::KernelEntry> stored = options.onStop ? std::nullopt : readStored(request, key)) {
      static_cast<runtime::KernelEntry &>(result) = std::move(*stored);
      result.source = KernelSource::Disk;
      return llvm::Error::success();
    }
    auto compiled = compile(request.function, request.symbol);
    if (!compiled)
      return compiled.takeError();
    static_cast<runtime::KernelEntry &>(result) = compiled->entry;
    if (options.onLateKernel) {
      result.isLate = true;
      std::lock_guard<std::mutex> lock(lateMutex);
      options.onLateKernel(lateKernel(std::move(*compiled), key));
    } else if (options.store.store) {
      options.store.store(key, runtime::serializeKernel(result));
    }
    return llvm::Error::success();
  }

  /// What compile() makes.
  struct Compiled {
    runtime::KernelEntry entry;
    ObjectOptions options;
    std::string bitcode; ///< if unfinished
  };

  LateKernel lateKernel(Compiled compiled, const runtime::ByteStore::Key &key) const {
    compiled.entry.object.clear();
    return {[compiled = std::move(compiled), key, target = options.target, store = options.store]() -> llvm::Expected<runtime::KernelEntry> {
              std::string text = textOfKey(key);
              if (std::shared_ptr<const runtime::KernelEntry> known = KernelCache::ofProcess().find(text)) // finished for another program
                return *known;
              auto emitter = EmitterPool::ofProcess().take(target);
              if (!emitter)
                return emitter.takeError();
              auto object = (*emitter)->finish(compiled.bitcode, compiled.options);
              EmitterPool::ofProcess().give(std::move(*emitter));
              if (!object)
                return object.takeError();
              runtime::KernelEntry entry = compiled.entry;
              entry.object = std::move(*object);
              KernelCache::ofProcess().insert(text, std::make_shared<const runtime::KernelEntry>(entry));
              if (store.store)
                store.store(key, runtime::serializeKernel(entry));
              return entry;
            }};
  }

  runtime::ByteStore::Key keyOf(const KernelRequest &request) const {
    runtime::ByteStore::Key key = options.versions;
    key.push_back({"kernel", request.fingerprint});
    key.push_back({"symbol", request.symbol});
    key.push_back({"options", std::string(options.genericOnly ? "generic " : "") + (options.contract ? "contract " : "") +
                                 (options.relaxed ? "relaxed " : "") + (options.quick ? "quick" : "")});
    key.push_back({"cpu", options.target.triple + " " + options.target.cpu});
    key.push_back({"cpu features", llvm::join(options.target.features, ",")});
    return key;
  }

  static std::string textOfKey(const runtime::ByteStore::Key &key) {
    llvm::SHA256 hash;
    for (const auto &[name, value] : key)
      hash.update(name + "=" + std::to_string(value.size()) + ":" + value + ";");
    return llvm::toHex(hash.final());
  }

  std::optional<runtime::KernelEntry> readStored(const KernelRequest &request, const runtime::ByteStore::Key &key) const {
    std::optional<std::string> bytes = options.store.find ? options.store.find(key) : std::nullopt;
    if (!bytes)
      return std::nullopt;
    runtime::StatusOr<runtime::KernelEntry> entry = runtime::parseKernel(*bytes);
    // Another symbol would not be found by the loader: such an entry is not from this compiler.
    if (!entry || entry->symbol != request.symbol)
      return std::nullopt;
    return std::move(*entry);
  }

  llvm::Expected<Compiled> compile(func::FuncOp kernel, StringRef symbol) {
    Compiled result;
    result.entry.symbol = symbol.str();
    // Between passes only where someone looks at the stops: it takes a quarter of the time.
    bool verifyEach = bool(options.onStop);

    OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
    OpBuilder builder(module->getBodyRegion());
    auto fn = cast<func::FuncOp>(builder.clone(*kernel.getOperation()));
    fn.setName(symbol);
    auto fail = [&](StringRef stage) {
      return llvm::createStringError("kernel " + symbol + " could not be compiled (" + stage + ")");
    };
    auto dump = [&](StringRef stop) {
      if (!options.onStop)
        return;
      std::string text = textOf(module->getOperation());
      std::lock_guard<std::mutex> lock(dumpMutex);
      options.onStop(stop, symbol, text);
    };

    if (!lowerings)
      lowerings = std::make_unique<Lowerings>(module->getContext(), verifyEach, kernelTarget(options.target).avx512);
    if (failed(lowerings->toLinalg.run(*module)))
      return fail("stop linalg");
    dump("linalg");
    fn = module->lookupSymbol<func::FuncOp>(symbol);
    FailureOr<BufferKernel> buffered = failure();
    if (!options.genericOnly)
      buffered = tryEmitters(fn, kernelTarget(options.target));
    if (failed(buffered)) {
      // Correct, but far slower than the kernels it was made of: attentionCheck() promised otherwise.
      if (fn->hasAttr(fusion::kAttentionAttr) && !options.genericOnly)
        fn.emitWarning("attention was fused, but has no emitter: it will be slow");
      buffered = lowerings->generic.run(fn);
    }
    if (failed(buffered) || failed(verify(*module)))
      return fail("stop vector");
    dump("vector");
    addEntryPoint(*buffered, symbol);
    allowRounding(*module);
    // What comes out is verified as LLVM's IR, in emit().
    if (failed(lowerings->expandMath.run(*module)) || failed(lowerings->toLLVM.run(*module, verifyEach)))
      return fail("stop llvm");
    if (buffered->emitter == "generic")
      promiseDistinctBuffers(*module, (symbol + "_body").str());
    ObjectOptions &objectOptions = result.options;
    objectOptions.vectorizeLoops = buffered->heavyLoops;
    objectOptions.quick = buffered->emitter != "generic";
    objectOptions.inOrder = buffered->emitter == "contraction";
    objectOptions.interleave = buffered->emitter == "row";
    objectOptions.unfinished = options.quick || options.onLateKernel;
    if (!emitter) {
      auto taken = EmitterPool::ofProcess().take(options.target);
      if (!taken)
        return taken.takeError();
      emitter = std::move(*taken);
    }
    auto object = emitter->emit(*module, objectOptions, bool(options.onStop));
    if (!object)
      return object.takeError();
    if (options.onStop) {
      std::lock_guard<std::mutex> lock(dumpMutex);
      options.onStop("llvm", symbol, object->llvmIr);
      options.onStop("asm", symbol, object->assembly);
    }
    result.bitcode = std::move(object->bitcode);
    result.entry.object = std::move(object->object);
    result.entry.emitter = buffered->emitter;
    result.entry.rangeEnd = buffered->rangeEnd;
    result.entry.granularity = buffered->granularity;
    result.entry.scratchBytes = buffered->scratchBytes;
    result.entry.picosPerIteration = buffered->picosPerIteration;
    return result;
  }

  /// Buffers of a call do not overlap (one that is updated in place is one argument), which lets LLVM move loads out of loops. The
  /// lowering of memrefs drops the attribute. Kernels of the row emitter may get a donated operand as their output.
  static void promiseDistinctBuffers(ModuleOp module, StringRef name) {
    auto body = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
    for (unsigned i = 0, count = body ? body.getNumArguments() : 0; i < count; ++i)
      if (isa<LLVM::LLVMPointerType>(body.getArgument(i).getType()))
        body.setArgAttr(i, "llvm.noalias", UnitAttr::get(module.getContext()));
  }

  /// Of the program's own operations: the expansions of functions come later, and some of them count on every rounding.
  void allowRounding(ModuleOp module) const {
    using arith::FastMathFlags;
    FastMathFlags allowed = FastMathFlags::none;
    if (options.contract || options.relaxed)
      allowed = FastMathFlags::contract;
    if (options.relaxed)
      allowed = allowed | FastMathFlags::reassoc | FastMathFlags::arcp | FastMathFlags::nsz;
    if (allowed == FastMathFlags::none)
      return;
    module.walk([&](Operation *op) {
      if (!isa<arith::MulFOp, arith::AddFOp, arith::SubFOp>(op) && !(options.relaxed && isa<arith::DivFOp>(op)))
        return;
      auto flags = cast<arith::ArithFastMathInterface>(op);
      FastMathFlags set = flags.getFastMathFlagsAttr().getValue() | allowed;
      op->setAttr(flags.getFastMathAttrName(), arith::FastMathFlagsAttr::get(op->getContext(), set));
    });
  }

  /// What is the same for all kernels, made with the first: without kept patterns half of the time goes into collecting them.
  struct Lowerings {
    Lowerings(MLIRContext *context, bool verifyEach, bool avx512)
        : toLinalg(context, ModuleOp::getOperationName()), expandMath(context, ModuleOp::getOperationName()),
          generic(context, verifyEach), toLLVM(context) {
      toLinalg.enableVerifier(verifyEach);
      addLinalgPasses(toLinalg);
      expandMath.enableVerifier(verifyEach);
      expandMath.addPass(createExpandMathPass({avx512}));
    }
    PassManager toLinalg, expandMath;
    GenericLowering generic;
    LlvmLowering toLLVM;
  };

  const KernelOptions &options;
  std::mutex &dumpMutex, &lateMutex;
  std::unique_ptr<Lowerings> lowerings;
  std::unique_ptr<ObjectEmitter> emitter;
};

} // namespace

void addLinalgPasses(OpPassManager &pm) {
  pm.addPass(createLowerToLinalgPass());
  addKernelCanonicalizer(pm);
  pm.addPass(createCSEPass());
}

std::string fingerprintKernel(func::FuncOp kernel) {
  // The text after the name: signature and body. Local scope spells aliases out; locations are not printed.
  std::string text = textOf(kernel.getOperation());
  StringRef meaning = StringRef(text).substr(StringRef(text).find('('));
  llvm::SHA256 hash;
  hash.update(meaning);
  // The text only names what is kept outside of the program.
  kernel.walk([&](Operation *op) {
    op->getAttrDictionary().walk([&](DenseResourceElementsAttr resource) {
      if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
        hash.update(ArrayRef(reinterpret_cast<const uint8_t *>(blob->getData().data()), blob->getData().size()));
    });
  });
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}

namespace {

/// Contexts of clients are for one thread, which costs no locks; while this lives, they are for several.
class ManyThreads {
public:
  explicit ManyThreads(MLIRContext &context) : context(context), wasForMany(context.isMultithreadingEnabled()) {
    if (!wasForMany)
      context.enableMultithreading();
  }
  ~ManyThreads() {
    if (!wasForMany)
      context.disableMultithreading();
  }

private:
  MLIRContext &context;
  bool wasForMany;
};

} // namespace

/// A guess at how long a kernel takes to compile, for the order: contractions are ten times a row of operations.
static size_t compileWeight(func::FuncOp kernel) {
  size_t weight = 0;
  kernel.walk([&](Operation *op) {
    StringRef name = op->getName().stripDialect();
    weight += name == "dot_general" || name == "convolution" ? 20 : name == "reduce" ? 4 : 1;
  });
  return weight;
}

llvm::Expected<std::vector<CompiledKernel>> compileKernels(ArrayRef<KernelRequest> kernels, const KernelOptions &options) {
  std::vector<CompiledKernel> results(kernels.size());
  std::mutex dumpMutex, lateMutex, errorMutex, progressMutex;
  std::string firstError;
  std::atomic<size_t> next{0};
  // The longest first: none is left for one thread in the end.
  std::vector<size_t> order(kernels.size()), weights;
  std::iota(order.begin(), order.end(), 0);
  for (const KernelRequest &kernel : kernels)
    weights.push_back(compileWeight(kernel.function));
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return weights[a] > weights[b]; });
  auto work = [&] {
    Worker worker(options, dumpMutex, lateMutex);
    for (size_t i; (i = next.fetch_add(1)) < kernels.size();) {
      if (options.onProgress) {
        std::lock_guard<std::mutex> lock(progressMutex);
        options.onProgress("kernel " + std::to_string(i + 1) + " of " + std::to_string(kernels.size()));
      }
      auto compiled = worker.obtain(kernels[order[i]]);
      if (compiled) {
        results[order[i]] = std::move(*compiled);
        continue;
      }
      std::lock_guard<std::mutex> lock(errorMutex);
      std::string message = llvm::toString(compiled.takeError());
      if (firstError.empty())
        firstError = message;
      next = kernels.size();
    }
  };
  unsigned threads = std::min<size_t>(options.threads, kernels.size());
  if (threads > 1) {
    ManyThreads allowed(*func::FuncOp(kernels.front().function).getContext());
    std::vector<std::thread> helpers;
    for (unsigned t = 1; t < threads; ++t)
      helpers.emplace_back(work);
    work();
    for (std::thread &helper : helpers)
      helper.join();
  } else {
    work();
  }
  if (!firstError.empty())
    return llvm::createStringError(firstError);
  return results;
}

} // namespace millrace::lowering
