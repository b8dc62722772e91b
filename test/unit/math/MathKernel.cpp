// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MathKernel.cpp - One math operation as machine code ----------------===//
#include "test/unit/math/MathKernel.h"

#include "lowering/cpu/KernelForm.h"
#include "lowering/cpu/LowerToLLVM.h"
#include "lowering/cpu/ObjectEmitter.h"
#include "lowering/cpu/math/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdlib>

using namespace mlir;

namespace millrace::test {

using Entry = int32_t (*)(void **, const int64_t *, int64_t, int64_t);

struct MathKernel::Impl {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  Entry entry = nullptr;
  unsigned operands;
};

/// MILLRACE_TEST_TARGET, or this machine. scripts/check runs the tests for every level of x86-64 that the machine has.
static lowering::CpuTarget testTarget() {
  const char *name = std::getenv("MILLRACE_TEST_TARGET");
  return llvm::cantFail(lowering::CpuTarget::named(name && *name ? name : "host"));
}

static std::string kernelText(const std::string &op, const std::string &element, unsigned operands, unsigned lanes, bool oneNumber) {
  std::string buffer = llvm::formatv("memref<{0}x{1}>", MathKernel::kCount, element);
  std::string lane = lanes ? llvm::formatv("vector<{0}x{1}>", lanes, element).str() : element;
  std::string load = lanes ? "vector.load" : "memref.load", store = lanes ? "vector.store" : "memref.store";
  std::string type = lanes ? buffer + ", " + lane : buffer;
  std::string arguments = "%in0: " + buffer, values = "%v0";
  std::string before, loads = "    %v0 = " + load + " %in0[%i] : " + type + "\n";
  if (oneNumber) {
    arguments += ", %in1: " + buffer;
    values += ", %v1";
    before = "    %s = memref.load %in1[%zero] : " + buffer + "\n    %v1 = vector.broadcast %s : " + element + " to " + lane + "\n";
  } else if (operands == 2) {
    arguments += ", %in1: " + buffer;
    values += ", %v1";
    loads += "    %v1 = " + load + " %in1[%i] : " + type + "\n";
  }
  return llvm::formatv(R"(
func.func private @k_body({0}, %out: {1}, %scratch: memref<?xi8>, %begin: index, %end: index) {{
  %zero = arith.constant 0 : index
  %step = arith.constant {2} : index
  %count = arith.constant {3} : index
{10}  scf.for %i = %zero to %count step %step {{
{4}    %r = {5} {6} : {7}
    {8} %r, %out[%i] : {9}
  }
  return
})",
                       arguments, buffer, lanes ? lanes : 1, MathKernel::kCount, loads, op, values, lane, store, type, before);
}

MathKernel::MathKernel(const std::string &op, const std::string &element, unsigned operands, unsigned lanes, bool oneNumber)
    : impl(std::make_unique<Impl>()) {
  compile(op, element, operands, lanes, oneNumber);
}

void MathKernel::compile(const std::string &op, const std::string &element, unsigned operands, unsigned lanes, bool oneNumber) {
  impl->operands = operands;
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                  memref::MemRefDialect, scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error += diagnostic.str() + "\n";
    return success();
  });
  auto module = parseSourceString<ModuleOp>(kernelText(op, element, operands, lanes, oneNumber), &context);
  if (!module)
    return;
  lowering::BufferKernel form;
  form.body = module->lookupSymbol<func::FuncOp>("k_body");
  form.numInputs = operands;
  form.numOutputs = 1;
  lowering::addEntryPoint(form, "entry");
  PassManager pm(&context, ModuleOp::getOperationName());
  const lowering::CpuTarget target = testTarget();
  pm.addPass(lowering::createExpandMathPass({target.has("avx512f")}));
  lowering::addLowerToLLVMPasses(pm);
  if (failed(pm.run(*module))) {
    error += "not lowered";
    return;
  }
  auto fail = [&](llvm::Error e) { error += llvm::toString(std::move(e)); };
  auto emitter = lowering::ObjectEmitter::create(target);
  if (!emitter)
    return fail(emitter.takeError());
  auto object = (*emitter)->emit(*module, lowering::ObjectOptions());
  if (!object)
    return fail(object.takeError());
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return fail(jit.takeError());
  impl->jit = std::move(*jit);
  if (llvm::Error e = impl->jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object->object, "math")))
    return fail(std::move(e));
  auto address = impl->jit->lookup("entry");
  if (!address)
    return fail(address.takeError());
  impl->entry = address->toPtr<Entry>();
}

MathKernel::~MathKernel() = default;

void MathKernel::run(const void *a, const void *b, void *out) {
  char scratch[64];
  std::vector<void *> buffers = {const_cast<void *>(a)};
  if (impl->operands == 2)
    buffers.push_back(const_cast<void *>(b));
  buffers.push_back(out);
  buffers.push_back(scratch);
  int64_t dims = 0;
  impl->entry(buffers.data(), &dims, 0, 1);
}

} // namespace millrace::test
