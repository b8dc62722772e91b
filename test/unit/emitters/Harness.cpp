// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Harness.cpp - Run a kernel through an emitter and the generic path -===//
#include "test/unit/emitters/Harness.h"

#include "lowering/cpu/KernelForm.h"
#include "lowering/cpu/LowerToLLVM.h"
#include "lowering/cpu/ObjectEmitter.h"
#include "runtime/kernels/Symbols.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace mlir;

namespace millrace::test {

using Entry = int32_t (*)(void **, const int64_t *, int64_t, int64_t);

struct CompiledKernel::Impl {
  std::unique_ptr<MLIRContext> context;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  Entry emitted = nullptr, reference = nullptr;
  int64_t referenceRange = 0, referenceScratch = 0;
  std::vector<char *> aligned;
  std::vector<void *> buffers;
  void *scratch = nullptr;

  ~Impl() {
    for (char *p : aligned)
      std::free(p);
  }
  char *allocate(int64_t bytes) {
    char *p = static_cast<char *>(std::aligned_alloc(64, (bytes + 127) / 64 * 64));
    aligned.push_back(p);
    return p;
  }
};

static std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, bufferization::BufferizationDialect, cf::ControlFlowDialect,
                  complex::ComplexDialect, func::FuncDialect, linalg::LinalgDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect, tensor::TensorDialect, ub::UBDialect,
                  vector::VectorDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerInferTypeOpInterfaceExternalModels(registry);
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

static CompiledKernel::Buffer bufferOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  CompiledKernel::Buffer buffer;
  llvm::raw_string_ostream stream(buffer.element);
  tensor.getElementType().print(stream);
  buffer.count = tensor.getNumElements();
  int64_t bits = tensor.getElementType().getIntOrFloatBitWidth();
  buffer.bytes.resize(buffer.count * std::max<int64_t>(1, bits / 8));
  return buffer;
}

template <typename T> static T read(const char *p) {
  T v;
  std::memcpy(&v, p, sizeof(T));
  return v;
}
template <typename T> static void write(char *p, T v) { std::memcpy(p, &v, sizeof(T)); }

double CompiledKernel::Buffer::get(int64_t i) const {
  const char *p = bytes.data();
  if (element == "f32")
    return read<float>(p + 4 * i);
  if (element == "f64")
    return read<double>(p + 8 * i);
  if (element == "bf16")
    return std::bit_cast<float>(uint32_t(read<uint16_t>(p + 2 * i)) << 16);
  if (element == "f16")
    return llvm::APFloat(llvm::APFloat::IEEEhalf(), llvm::APInt(16, read<uint16_t>(p + 2 * i))).convertToDouble();
  if (element == "i64")
    return double(read<int64_t>(p + 8 * i));
  if (element == "i32")
    return read<int32_t>(p + 4 * i);
  if (element == "i16")
    return read<int16_t>(p + 2 * i);
  return read<int8_t>(p + i);
}

void CompiledKernel::Buffer::set(int64_t i, double value) {
  char *p = bytes.data();
  auto rounded = [&](const llvm::fltSemantics &semantics) {
    llvm::APFloat v(value);
    bool lost;
    v.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
    return uint16_t(v.bitcastToAPInt().getZExtValue());
  };
  if (element == "f32")
    write<float>(p + 4 * i, float(value));
  else if (element == "f64")
    write<double>(p + 8 * i, value);
  else if (element == "bf16")
    write<uint16_t>(p + 2 * i, rounded(llvm::APFloat::BFloat()));
  else if (element == "f16")
    write<uint16_t>(p + 2 * i, rounded(llvm::APFloat::IEEEhalf()));
  else if (element == "i64")
    write<int64_t>(p + 8 * i, int64_t(value));
  else if (element == "i32")
    write<int32_t>(p + 4 * i, int32_t(value));
  else if (element == "i16")
    write<int16_t>(p + 2 * i, int16_t(value));
  else
    write<int8_t>(p + i, element == "i1" ? int8_t(value > 0) : int8_t(value));
}

lowering::CpuTarget testTarget() {
  const char *name = std::getenv("MILLRACE_TEST_TARGET");
  return llvm::cantFail(lowering::CpuTarget::named(name && *name ? name : "host"));
}

CompiledKernel::CompiledKernel(const std::string &text, Path path, bool withReference, lowering::KernelTarget target)
    : impl(std::make_unique<Impl>()) {
  impl->context = makeContext();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, impl->context.get());
  if (!module) {
    error = "does not parse";
    return;
  }
  auto kernel = module->lookupSymbol<func::FuncOp>("k");
  for (Type type : kernel.getArgumentTypes())
    inputs.push_back(bufferOf(type));
  for (Type type : kernel.getResultTypes())
    outputs.push_back(bufferOf(type));
  expected = outputs;
  unsigned numInputs = inputs.size(), numOutputs = outputs.size();

  // A module of its own for the reference, so that compile times are the emitters'.
  OwningOpRef<ModuleOp> referenceModule = cast<ModuleOp>(module->clone());
  std::string remarks;
  ScopedDiagnosticHandler handler(impl->context.get(), [&](Diagnostic &diagnostic) {
    remarks += diagnostic.str() + "\n";
    return success();
  });

  auto started = std::chrono::steady_clock::now();
  FailureOr<lowering::EmittedKernel> emitted = failure();
  switch (path) {
  case Path::Contraction:
    emitted = lowering::emitContraction(kernel, target);
    break;
  case Path::Row:
    emitted = lowering::emitRowKernel(kernel, target);
    break;
  case Path::Movement:
    emitted = lowering::emitDataMovement(kernel, target);
    break;
  case Path::Any:
    emitted = lowering::emitKernel(kernel, target);
    break;
  }
  if (failed(emitted)) {
    error = "not emitted";
    return;
  }
  kernel.erase();
  rangeEnd = emitted->rangeEnd;
  scratchBytes = emitted->scratchBytesPerTask;
  emitter = emitted->emitter;
  if (std::getenv("EMITTERS_PRINT"))
    module->print(llvm::outs());
  if (failed(verify(*module))) {
    error = "invalid code: " + remarks;
    return;
  }

  auto emitter = lowering::ObjectEmitter::create(testTarget());
  if (!emitter) {
    error = llvm::toString(emitter.takeError());
    return;
  }
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit) {
    error = llvm::toString(jit.takeError());
    return;
  }
  impl->jit = std::move(*jit);
  // What machine code of programs may call; without AVX512-BF16 the rounding to bf16 is one of these.
  llvm::orc::SymbolMap symbols;
  for (const runtime::RuntimeSymbol &symbol : runtime::runtimeSymbols())
    symbols[impl->jit->mangleAndIntern(symbol.name)] = {llvm::orc::ExecutorAddr::fromPtr(symbol.address),
                                                        llvm::JITSymbolFlags::Exported};
  llvm::cantFail(impl->jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))));
  auto compile = [&](ModuleOp code, const lowering::BufferKernel &form, const char *symbol) -> Entry {
    lowering::addEntryPoint(form, symbol);
    PassManager pm(impl->context.get(), ModuleOp::getOperationName());
    pm.enableVerifier(false);
    lowering::addLowerToLLVMPasses(pm);
    if (failed(pm.run(code))) {
      error = "not lowered: " + remarks;
      return nullptr;
    }
    bool wantText = std::getenv("EMITTERS_ASM") != nullptr;
    lowering::ObjectOptions options;
    auto object = (*emitter)->emit(code, options, wantText);
    if (!object) {
      error = llvm::toString(object.takeError());
      return nullptr;
    }
    if (wantText && symbol[0] == 'e')
      assembly = object->assembly;
    auto memory = llvm::MemoryBuffer::getMemBufferCopy(object->object, symbol);
    if (llvm::Error e = impl->jit->addObjectFile(std::move(memory))) {
      error = llvm::toString(std::move(e));
      return nullptr;
    }
    auto address = impl->jit->lookup(symbol);
    if (!address) {
      error = llvm::toString(address.takeError());
      return nullptr;
    }
    return address->toPtr<Entry>();
  };
  lowering::BufferKernel form;
  form.body = emitted->fn;
  form.numInputs = numInputs;
  form.numOutputs = numOutputs;
  form.scratchBytes = scratchBytes;
  impl->emitted = compile(*module, form, "emitted");
  compileMillis =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
  if (!impl->emitted)
    return;
  if (withReference) {
    auto generic = lowering::GenericLowering(impl->context.get(), /*verifyEach=*/true).run(referenceModule->lookupSymbol<func::FuncOp>("k"));
    if (failed(generic)) {
      error = "no generic form: " + remarks;
      return;
    }
    impl->referenceRange = generic->rangeEnd;
    impl->referenceScratch = generic->scratchBytes;
    impl->reference = compile(*referenceModule, *generic, "reference");
  }
}

CompiledKernel::~CompiledKernel() = default;

void CompiledKernel::fill() {
  uint32_t state = 12345;
  for (Buffer &buffer : inputs)
    for (int64_t i = 0; i < buffer.count; ++i) {
      state = state * 1664525u + 1013904223u;
      double unit = (state >> 8) / double(1 << 23) - 1;
      // Bytes have all values, so that an instruction that saturates would be noticed.
      buffer.set(i, buffer.element == "i8" ? std::floor(unit * 128) : buffer.element[0] == 'i' ? std::floor(unit * 9) : unit);
    }
  for (Buffer &buffer : inputs) {
    char *p = impl->allocate(buffer.bytes.size());
    std::memcpy(p, buffer.bytes.data(), buffer.bytes.size());
    impl->buffers.push_back(p);
  }
  for (Buffer &buffer : outputs)
    impl->buffers.push_back(impl->allocate(buffer.bytes.size()));
  impl->buffers.push_back(impl->allocate(std::max(scratchBytes, impl->referenceScratch)));
}

void CompiledKernel::runReference() {
  impl->reference(impl->buffers.data(), nullptr, 0, impl->referenceRange);
  for (auto [i, buffer] : llvm::enumerate(expected))
    std::memcpy(buffer.bytes.data(), impl->buffers[inputs.size() + i], buffer.bytes.size());
}

void CompiledKernel::run(int64_t piece) {
  for (auto [i, buffer] : llvm::enumerate(outputs))
    std::memset(impl->buffers[inputs.size() + i], 0x7b, buffer.bytes.size());
  std::memset(impl->buffers.back(), 0x5f, std::max(scratchBytes, impl->referenceScratch));
  if (!piece) {
    call();
  } else {
    for (int64_t begin = 0; begin < rangeEnd; begin += piece)
      impl->emitted(impl->buffers.data(), nullptr, begin, std::min(begin + piece, rangeEnd));
  }
  for (auto [i, buffer] : llvm::enumerate(outputs))
    std::memcpy(buffer.bytes.data(), impl->buffers[inputs.size() + i], buffer.bytes.size());
}

void CompiledKernel::call() { impl->emitted(impl->buffers.data(), nullptr, 0, rangeEnd); }

double CompiledKernel::worstError() const {
  double worst = 0;
  for (auto [have, want] : llvm::zip(outputs, expected))
    for (int64_t i = 0; i < have.count; ++i) {
      double a = have.get(i), b = want.get(i);
      if (a == b || (std::isnan(a) && std::isnan(b)))
        continue;
      double difference = std::abs(a - b) / std::max(1.0, std::abs(b));
      if (std::isnan(difference))
        return INFINITY;
      worst = std::max(worst, difference);
    }
  return worst;
}

std::string check(const std::string &text, Path path, double tolerance, lowering::KernelTarget target) {
  CompiledKernel kernel(text, path, /*withReference=*/true, target);
  if (!kernel.ok())
    return kernel.error;
  kernel.fill();
  kernel.runReference();
  kernel.run();
  double worst = kernel.worstError();
  if (!(worst <= tolerance))
    return "differs from the generic path by " + std::to_string(worst);
  auto whole = kernel.outputs;
  kernel.run(1);
  for (auto [a, b] : llvm::zip(whole, kernel.outputs))
    if (a.bytes != b.bytes)
      return "depends on how the range is split";
  return "";
}

} // namespace millrace::test
