// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelCompiler.cpp - Compile kernel functions to object code -------===//
#include "lowering/cpu/KernelCompiler.h"

#include "dialects/millrace/Attributes.h"
#include "dialects/stablehlo/Ops.h"
#include "lowering/StopError.h"
#include "lowering/cpu/EmitterPool.h"
#include "lowering/cpu/KernelForm.h"
#include "lowering/cpu/KernelLowerings.h"
#include "lowering/cpu/SharedCode.h"
#include "lowering/cpu/emitters/Emitter.h"
#include "lowering/cpu/emitters/rows/SliceUpdate.h"
#include "lowering/cpu/math/Passes.h"
#include "lowering/linalg/Passes.h"
#include "passes/fusion/Passes.h"
#include "runtime/base/Hash.h"
#include "runtime/profile/Recorder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <barrier>
#include <chrono>
#include <map>
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

/// Tries an emitter of vector code, which reports a refusal as a remark. Its code replaces `fn`.
FailureOr<BufferKernel> tryEmitter(FailureOr<EmittedKernel> (*emitter)(func::FuncOp, const KernelTarget &), func::FuncOp fn, const KernelTarget &target) {
  FailureOr<EmittedKernel> emitted = emitter(fn, target);
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
  kernel.rows = emitted->rows;
  kernel.takesRows = emitted->takesRows;
  fn.erase();
  return kernel;
}

/// Products of short sums are rounded one by one unless relaxed: up to so many products, the specification's order of sums is kept, too. So few
/// values of similar size cancel often enough for another rounding to be visible, and the additional operations cost nothing next to loads and
/// stores. Unit: products of a sum. Source: commit 88468aa: an error of 4 ULP in one of 30 sums of three products.
constexpr int64_t kRoundedProducts = 8;

/// Returns true if `kernel` has contractions, and all of them are sums of few products.
bool sumsFewProducts(func::FuncOp kernel) {
  int64_t most = 0;
  kernel.walk([&](Operation *op) {
    int64_t products = 0;
    if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(op)) {
      products = 1;
      for (int64_t dim : dot.getDotDimensionNumbers().getLhsContractingDimensions())
        products *= cast<ShapedType>(dot.getLhs().getType()).getDimSize(dim);
    } else if (auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op)) {
      auto window = cast<ShapedType>(convolution.getRhs().getType());
      products = window.getDimSize(convolution.getDimensionNumbers().getKernelInputFeatureDimension());
      for (int64_t dim : convolution.getDimensionNumbers().getKernelSpatialDimensions())
        products *= window.getDimSize(dim);
    }
    most = std::max(most, products < 0 ? kRoundedProducts + 1 : products); // a dynamic size is negative
  });
  return most > 0 && most <= kRoundedProducts;
}

/// A kernel in buffer form, in its own module.
struct Prepared {
  OwningOpRef<ModuleOp> module;
  BufferKernel kernel;
};

/// Compiles the kernels that one thread takes.
class Worker {
public:
  Worker(MLIRContext *context, const KernelOptions &options, std::mutex &dumpMutex, std::mutex &lateMutex)
      : options(options), dumpMutex(dumpMutex), lateMutex(lateMutex), errors(context) {}
  ~Worker() {
    if (emitter)
      EmitterPool::ofProcess().give(std::move(emitter));
    if (lowerings && isShared())
      options.lowerings->give(std::move(lowerings));
  }

  /// Returns the kernel from the cache in memory, else from the store, else compiles it.
  llvm::Expected<CompiledKernel> obtain(const KernelRequest &request) {
    Watch watch;
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
      // Quick code is not cached: threads that ask for the kernel meanwhile compile their own.
      if (reuse && (error || result.isLate))
        cache.abandon(text);
      if (error)
        return std::move(error);
      if (reuse && !result.isLate)
        cache.insert(text, std::make_shared<const runtime::KernelEntry>(result));
    }
    result.ops = opsOf(request);
    result.milliseconds = watch.milliseconds();
    return result;
  }

  /// A kernel that may share machine code with others. `result` is set last; the other members are used until then.
  struct Pending {
    CompiledKernel result;
    runtime::ByteStore::Key key;
    std::string text; ///< of the key
    Prepared prepared; ///< has a module if the kernel has to be compiled
    std::optional<KernelSkeleton> skeleton;
  };

  /// Takes the kernel from the cache in memory, else from the store, else lowers it to the buffer form.
  llvm::Error look(const KernelRequest &request, Pending &out) {
    Watch watch;
    out.key = keyOf(request);
    out.text = textOfKey(out.key);
    out.result.ops = opsOf(request);
    if (std::shared_ptr<const runtime::KernelEntry> known = KernelCache::ofProcess().find(out.text)) {
      take(out, *known, KernelSource::Memory);
    } else if (std::optional<runtime::KernelEntry> stored = readStored(request, out.key)) {
      take(out, *stored, KernelSource::Disk);
      KernelCache::ofProcess().insert(out.text, std::make_shared<const runtime::KernelEntry>(out.result));
    } else {
      auto prepared = prepare(request.function, request.symbol);
      if (!prepared)
        return prepared.takeError();
      out.prepared = std::move(*prepared);
      if (!out.prepared.kernel.takesRows)
        out.skeleton = skeletonOf(out.prepared.kernel);
    }
    out.result.milliseconds = watch.milliseconds();
    return llvm::Error::success();
  }

  /// Generates the machine code of kernels whose skeletons have equal forms, or of one kernel.
  llvm::Error make(ArrayRef<KernelRequest> kernels, ArrayRef<size_t> alike, std::vector<Pending> &pending) {
    Watch watch;
    KernelCache &cache = KernelCache::ofProcess();
    Pending &first = pending[alike.front()];
    std::vector<std::string> keys;
    for (size_t i : alike)
      keys.push_back(pending[i].text);
    cache.claim(keys);
    llvm::Error error = makeClaimed(kernels, alike, pending);
    for (size_t i : alike) {
      if (error) {
        cache.abandon(pending[i].text);
        continue;
      }
      cache.insert(pending[i].text, std::make_shared<const runtime::KernelEntry>(pending[i].result));
      if (options.store.store)
        options.store.store(pending[i].key, runtime::serializeKernel(pending[i].result));
    }
    first.result.milliseconds += watch.milliseconds();
    return error;
  }

private:
  class Watch {
  public:
    double milliseconds() const { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count(); }

  private:
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  };

  static void take(Pending &out, const runtime::KernelEntry &entry, KernelSource source) {
    static_cast<runtime::KernelEntry &>(out.result) = entry;
    out.result.source = source;
  }

  llvm::Error makeClaimed(ArrayRef<KernelRequest> kernels, ArrayRef<size_t> alike, std::vector<Pending> &pending) {
    // Another program may have compiled some of them meanwhile.
    size_t found = 0;
    for (size_t i : alike)
      if (std::shared_ptr<const runtime::KernelEntry> known = KernelCache::ofProcess().find(pending[i].text)) {
        take(pending[i], *known, KernelSource::Memory);
        ++found;
      }
    if (found == alike.size())
      return llvm::Error::success();
    Pending &first = pending[alike.front()];
    std::vector<SharedEntry> shared;
    if (alike.size() > 1) {
      SmallVector<const KernelSkeleton *> skeletons;
      for (size_t i : alike)
        skeletons.push_back(&*pending[i].skeleton);
      std::vector<std::vector<int64_t>> numbers = shareCode(first.prepared.kernel, skeletons);
      for (auto [i, list] : llvm::zip_equal(alike, numbers))
        shared.push_back({kernels[i].symbol, std::move(list)});
    }
    auto compiled = finish(first.prepared, kernels[alike.front()].symbol, shared);
    if (!compiled)
      return compiled.takeError();
    for (size_t i : alike) {
      static_cast<runtime::KernelEntry &>(pending[i].result) = entryOf(pending[i].prepared.kernel, kernels[i].symbol);
      pending[i].result.source = KernelSource::Compiled;
      pending[i].result.object = compiled->entry.object;
      pending[i].prepared.module = nullptr;
    }
    return llvm::Error::success();
  }

  static std::vector<std::string> opsOf(const KernelRequest &request) {
    std::vector<std::string> ops;
    func::FuncOp(request.function).walk([&](Operation *op) {
      if (op->getDialect() && op->getDialect()->getNamespace() == "stablehlo" && !op->hasTrait<OpTrait::IsTerminator>())
        ops.push_back(op->getName().getStringRef().str());
    });
    return ops;
  }

  /// Takes the kernel from the store, else compiles it.
  llvm::Error make(const KernelRequest &request, const runtime::ByteStore::Key &key, CompiledKernel &result) {
    if (std::optional<runtime::KernelEntry> stored = options.onStop ? std::nullopt : readStored(request, key)) {
      static_cast<runtime::KernelEntry &>(result) = std::move(*stored);
      result.source = KernelSource::Disk;
      return llvm::Error::success();
    }
    auto compiled = compile(request);
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

  /// The result of compile().
  struct Compiled {
    runtime::KernelEntry entry;
    ObjectOptions options;
    std::string bitcode; ///< for onLateKernel
  };

  LateKernel lateKernel(Compiled compiled, const runtime::ByteStore::Key &key) const {
    compiled.entry.object.clear();
    return {[compiled = std::move(compiled), key, target = options.target, store = options.store]() -> llvm::Expected<runtime::KernelEntry> {
              std::string text = textOfKey(key);
              if (std::shared_ptr<const runtime::KernelEntry> known = KernelCache::ofProcess().find(text)) // finished by another program
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
    llvm::append_range(key, options.target.keyParts());
    return key;
  }

  static std::string textOfKey(const runtime::ByteStore::Key &key) {
    std::string text;
    for (const auto &[name, value] : key)
      text += name + "=" + std::to_string(value.size()) + ":" + value + ";";
    return runtime::Sha256::hex(text);
  }

  std::optional<runtime::KernelEntry> readStored(const KernelRequest &request, const runtime::ByteStore::Key &key) const {
    std::optional<std::string> bytes = options.store.find ? options.store.find(key) : std::nullopt;
    if (!bytes)
      return std::nullopt;
    runtime::StatusOr<runtime::KernelEntry> entry = runtime::parseKernel(*bytes);
    // The loader would not find another symbol: such an entry was not written by this compiler.
    if (!entry || entry->symbol != request.symbol)
      return std::nullopt;
    return std::move(*entry);
  }

  /// `module` holds the kernel alone and has its location.
  llvm::Error failure(StringRef symbol, StringRef stop, ModuleOp module) const { return errors.at(stop, module.getLoc(), symbol); }

  void dump(ModuleOp module, StringRef symbol, StringRef stop) const {
    if (!options.onStop)
      return;
    std::string text = textOf(module.getOperation());
    std::lock_guard<std::mutex> lock(dumpMutex);
    options.onStop(stop, symbol, text);
  }

  llvm::Expected<Prepared> prepare(func::FuncOp kernel, StringRef symbol) {
    errors.restart();
    Prepared result;
    result.module = ModuleOp::create(kernel.getLoc());
    ModuleOp module = *result.module;
    OpBuilder builder(module.getBodyRegion());
    auto fn = cast<func::FuncOp>(builder.clone(*kernel.getOperation()));
    fn.setName(symbol);
    KernelTarget target = kernelTarget(options.target);
    target.fma &= options.contract || options.relaxed || !sumsFewProducts(kernel);
    FailureOr<BufferKernel> buffered = mlir::failure();
    if (!options.genericOnly)
      buffered = tryEmitter(emitWindows, fn, target);
    if (failed(buffered)) {
      takeLowerings(module.getContext());
      if (failed(lowerings->toLinalg.run(module)))
        return failure(symbol, "linalg", module);
      dump(module, symbol, "linalg");
      fn = module.lookupSymbol<func::FuncOp>(symbol);
      // A kernel that updates an operand in place takes the generic path, except for slices that are copied.
      if (!options.genericOnly)
        buffered = tryEmitter(fn->hasAttr(kInPlaceAttr) ? emitSliceUpdate : emitKernel, fn, target);
    }
    if (failed(buffered)) {
      // The generic path would be correct, but far slower than the kernels before fusion: attentionCheck() has accepted the kernel.
      if (fn->hasAttr(kAttentionAttr) && !options.genericOnly)
        fn.emitWarning("attention was fused, but has no emitter: it will be slow");
      buffered = lowerings->generic.run(fn);
    }
    if (failed(buffered) || failed(verify(module)))
      return failure(symbol, "vector", module);
    dump(module, symbol, "vector");
    result.kernel = std::move(*buffered);
    return result;
  }

  /// Compiles the buffer form to machine code. `shared`: the entry points, if several kernels share this code.
  llvm::Expected<Compiled> finish(Prepared &prepared, StringRef symbol, ArrayRef<SharedEntry> shared = {}) {
    runtime::profile::Scope scope(runtime::profile::Kind::Compile, "compile kernel");
    if (scope.isRecorded())
      scope.setDetail("kernel=" + symbol.str());
    errors.restart();
    ModuleOp module = *prepared.module;
    const BufferKernel &kernel = prepared.kernel;
    Compiled result;
    result.entry = entryOf(kernel, symbol);
    takeLowerings(module.getContext());
    if (shared.empty())
      addEntryPoint(kernel, symbol);
    else
      addSharedEntryPoints(kernel, shared);
    allowRounding(module);
    // The result is verified as LLVM IR in emit().
    if (failed(lowerings->expandMath.run(module)) || failed(lowerings->toLLVM.run(module, verifyEach())))
      return failure(symbol, "llvm", module);
    if (kernel.emitter == "generic")
      promiseDistinctBuffers(module, (symbol + "_body").str());
    ObjectOptions &objectOptions = result.options;
    objectOptions.vectorizeLoops = kernel.heavyLoops;
    objectOptions.quick = kernel.emitter != "generic";
    objectOptions.inOrder = kernel.emitter == "contraction";
    objectOptions.interleave = kernel.emitter == "row";
    objectOptions.keepBitcode = bool(options.onLateKernel);
    objectOptions.unfinished = options.quick || objectOptions.keepBitcode;
    if (!emitter) {
      auto taken = EmitterPool::ofProcess().take(options.target);
      if (!taken)
        return taken.takeError();
      emitter = std::move(*taken);
    }
    auto object = emitter->emit(module, objectOptions, bool(options.onStop));
    if (!object)
      return llvm::createStringError(llvm::toString(failure(symbol, "object", module)) + ": " + llvm::toString(object.takeError()));
    if (options.onStop) {
      std::lock_guard<std::mutex> lock(dumpMutex);
      options.onStop("llvm", symbol, object->llvmIr);
      options.onStop("asm", symbol, object->assembly);
    }
    result.bitcode = std::move(object->bitcode);
    result.entry.object = std::move(object->object);
    return result;
  }

  llvm::Expected<Compiled> compile(const KernelRequest &request) {
    auto prepared = prepare(request.function, request.symbol);
    if (!prepared)
      return prepared.takeError();
    return finish(*prepared, request.symbol);
  }

  /// Returns the entry without the object.
  static runtime::KernelEntry entryOf(const BufferKernel &kernel, StringRef symbol) {
    runtime::KernelEntry entry;
    entry.symbol = symbol.str();
    entry.emitter = kernel.emitter;
    entry.rangeEnd = kernel.rangeEnd;
    entry.granularity = kernel.granularity;
    entry.scratchBytes = kernel.scratchBytes;
    entry.picosPerIteration = kernel.picosPerIteration;
    entry.rows = kernel.rows;
    entry.takesRows = kernel.takesRows;
    return entry;
  }

  /// Returns true only if the stops are read, because the verifier takes a quarter of the time.
  bool verifyEach() const { return bool(options.onStop); }

  /// Marks buffers of a call as not overlapping (one that is updated in place is one argument), which lets LLVM hoist loads out of loops. The
  /// lowering of memrefs drops the attribute. Kernels of the row emitter may get a donated operand as their output.
  static void promiseDistinctBuffers(ModuleOp module, StringRef name) {
    auto body = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
    for (unsigned i = 0, count = body ? body.getNumArguments() : 0; i < count; ++i)
      if (isa<LLVM::LLVMPointerType>(body.getArgument(i).getType()))
        body.setArgAttr(i, "llvm.noalias", UnitAttr::get(module.getContext()));
  }

  /// Allows contraction for the program's own operations only: the expansions of math functions, which follow, may rely on every rounding.
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

  /// Returns true if the lowerings come from the context's pool and return there: those do not verify between passes.
  bool isShared() const { return options.lowerings && !verifyEach(); }

  void takeLowerings(MLIRContext *context) {
    if (lowerings)
      return;
    bool avx512 = kernelTarget(options.target).avx512;
    lowerings = isShared() ? options.lowerings->take(context, avx512) : std::make_unique<KernelLowerings>(context, verifyEach(), avx512);
  }

  const KernelOptions &options;
  std::mutex &dumpMutex, &lateMutex;
  StopError errors;
  std::unique_ptr<KernelLowerings> lowerings;
  std::unique_ptr<ObjectEmitter> emitter;
};

} // namespace

void addLinalgPasses(OpPassManager &pm) {
  pm.addPass(createLowerToLinalgPass());
  addKernelCanonicalizer(pm);
  pm.addPass(createCSEPass());
}

std::string fingerprintKernel(func::FuncOp kernel) {
  // The text after the name is the signature and the body. Local scope prints aliases in full; locations are not printed.
  std::string text = textOf(kernel.getOperation());
  StringRef meaning = StringRef(text).substr(StringRef(text).find('('));
  runtime::Sha256 hash;
  hash.update(meaning);
  // The text only names resources, whose data is outside of the program.
  kernel.walk([&](Operation *op) {
    op->getAttrDictionary().walk([&](DenseResourceElementsAttr resource) {
      if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
        hash.update(blob->getData().data(), blob->getData().size());
    });
  });
  const std::array<uint8_t, 32> digest = hash.finish();
  return runtime::toHex(digest.data(), digest.size());
}

namespace {

/// Clients' contexts are single-threaded, which saves locks; while this object lives, the context is multi-threaded.
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

/// Estimates how long a kernel takes to compile, for the order: a contraction takes ten times as long as an elementwise kernel.
static size_t compileWeight(func::FuncOp kernel) {
  size_t weight = 0;
  kernel.walk([&](Operation *op) {
    StringRef name = op->getName().stripDialect();
    weight += name == "dot_general" || name == "convolution" ? 20 : name == "reduce" ? 4 : 1;
  });
  return weight;
}

namespace {

/// The state that the threads compiling one program's kernels share.
class Compilation {
public:
  Compilation(ArrayRef<KernelRequest> kernels, const KernelOptions &options) : kernels(kernels), options(options), results(kernels.size()) {}

  llvm::Expected<std::vector<CompiledKernel>> run() {
    // Kernels that take longest come first, so that no thread is left with one at the end.
    std::vector<size_t> weights;
    order.resize(kernels.size());
    std::iota(order.begin(), order.end(), 0);
    for (const KernelRequest &kernel : kernels)
      weights.push_back(compileWeight(kernel.function));
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return weights[a] > weights[b]; });
    // Quick code is replaced kernel by kernel, and the stops are reported kernel by kernel.
    if (options.onStop || options.onLateKernel || options.quick || options.genericOnly) {
      inThreads([&](Worker &worker) { takeOneByOne(worker); });
    } else {
      pending.resize(kernels.size());
      std::barrier together(static_cast<std::ptrdiff_t>(threads()), [&]() noexcept { findAlike(); });
      inThreads([&](Worker &worker) {
        look(worker);
        together.arrive_and_wait();
        makeAlike(worker);
      });
      for (auto [result, done] : llvm::zip_equal(results, pending))
        result = std::move(done.result);
    }
    if (!firstError.empty())
      return llvm::createStringError(firstError);
    return std::move(results);
  }

private:
  unsigned threads() const { return std::max<size_t>(1, std::min<size_t>(options.threads, kernels.size())); }

  void inThreads(llvm::function_ref<void(Worker &)> work) {
    auto begin = [&] {
      Worker worker(func::FuncOp(kernels.front().function).getContext(), options, dumpMutex, lateMutex);
      work(worker);
    };
    if (threads() == 1)
      return begin();
    ManyThreads allowed(*func::FuncOp(kernels.front().function).getContext());
    std::vector<std::thread> helpers;
    for (unsigned t = 1; t < threads(); ++t)
      helpers.emplace_back(begin);
    begin();
    for (std::thread &helper : helpers)
      helper.join();
  }

  void takeOneByOne(Worker &worker) {
    for (size_t i; (i = next.fetch_add(1)) < kernels.size();) {
      tell(1);
      auto compiled = worker.obtain(kernels[order[i]]);
      if (compiled)
        results[order[i]] = std::move(*compiled);
      else
        fail(compiled.takeError());
    }
  }

  /// Lowers kernels to the buffer form.
  void look(Worker &worker) {
    for (size_t i; (i = next.fetch_add(1)) < kernels.size();) {
      Worker::Pending &kernel = pending[order[i]];
      if (llvm::Error error = worker.look(kernels[order[i]], kernel))
        fail(std::move(error));
      else if (!kernel.prepared.module)
        tell(1);
    }
  }

  /// Groups the remaining kernels by shared code; those that take longest come first.
  void findAlike() {
    std::map<std::vector<uint64_t>, size_t> byForm;
    std::vector<size_t> sizes;
    for (size_t i : order) {
      Worker::Pending &kernel = pending[i];
      if (!kernel.prepared.module)
        continue;
      bool isNew = true;
      size_t group = groups.size();
      if (kernel.skeleton) {
        auto [known, added] = byForm.try_emplace(std::move(kernel.skeleton->form), group);
        isNew = added;
        group = known->second;
      }
      if (isNew) {
        groups.emplace_back();
        size_t operations = 0;
        kernel.prepared.module->walk([&](Operation *) { ++operations; });
        sizes.push_back(operations);
      }
      groups[group].push_back(i);
    }
    std::vector<size_t> longest(groups.size());
    std::iota(longest.begin(), longest.end(), 0);
    std::stable_sort(longest.begin(), longest.end(), [&](size_t a, size_t b) { return sizes[a] > sizes[b]; });
    std::vector<std::vector<size_t>> sorted;
    for (size_t group : longest)
      sorted.push_back(std::move(groups[group]));
    groups = std::move(sorted);
    bool failed = !firstError.empty();
    next = failed ? groups.size() : 0;
  }

  void makeAlike(Worker &worker) {
    for (size_t i; (i = next.fetch_add(1)) < groups.size();) {
      tell(groups[i].size());
      // Kernels of a group are in program order: machine code does not depend on the order of arrival.
      llvm::sort(groups[i]);
      if (llvm::Error error = worker.make(kernels, groups[i], pending))
        fail(std::move(error));
    }
  }

  void tell(size_t count) {
    if (!options.onProgress)
      return;
    std::lock_guard<std::mutex> lock(progressMutex);
    told += count;
    options.onProgress("kernel " + std::to_string(told) + " of " + std::to_string(kernels.size()));
  }

  void fail(llvm::Error error) {
    std::lock_guard<std::mutex> lock(errorMutex);
    std::string message = llvm::toString(std::move(error));
    if (firstError.empty())
      firstError = message;
    next = kernels.size();
  }

  ArrayRef<KernelRequest> kernels;
  const KernelOptions &options;
  std::vector<CompiledKernel> results;
  std::mutex dumpMutex, lateMutex, errorMutex, progressMutex;
  std::string firstError;
  std::atomic<size_t> next{0};
  size_t told = 0;
  std::vector<size_t> order;
  std::vector<Worker::Pending> pending;
  std::vector<std::vector<size_t>> groups;
};

} // namespace

llvm::Expected<std::vector<CompiledKernel>> compileKernels(ArrayRef<KernelRequest> kernels, const KernelOptions &options) {
  if (kernels.empty())
    return std::vector<CompiledKernel>();
  return Compilation(kernels, options).run();
}

} // namespace millrace::lowering
