// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Emitter.cpp - Try the emitters in order of preference --------------===//
// Input:   private functions with the attribute `millrace.kernel`, bodies in linalg on tensors; for the emitter "window", in StableHLO.
// Output:  for those that an emitter supports: @<name>_range in vector code with the attributes `millrace.emitter`, `millrace.range_end`,
//          `millrace.scratch_bytes`; the kernel itself is removed if it has no callers.
// Leaves alone all others, with one remark per emitter that gives the reason.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/Emitter.h"

#include "dialects/millrace/Attributes.h"

#include "lowering/cpu/emitters/EmitterShell.h"
#include "lowering/cpu/emitters/rows/SplitComplex.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;

namespace millrace::lowering {

FailureOr<EmittedKernel> emitKernel(func::FuncOp fn, const KernelTarget &target) {
  if (usesComplex(fn)) {
    std::string why;
    FailureOr<func::FuncOp> parts = splitComplex(fn, why);
    if (failed(parts))
      return refuse(fn, "complex", why);
    FailureOr<EmittedKernel> kernel = emitKernel(*parts, target);
    parts->erase();
    return kernel;
  }
  for (auto emitter : {emitCodedProduct, emitAttention, emitContraction, emitDataMovement, emitIndependentParts, emitRowKernel}) {
    FailureOr<EmittedKernel> kernel = emitter(fn, target);
    if (succeeded(kernel))
      return kernel;
  }
  return failure();
}

/// Returns the instructions for products of bytes: vectors of 512 bits have their own feature.
static ByteProducts byteProductsOf(const CpuTarget &cpu, bool avx512) {
  if (llvm::Triple(cpu.triple).isAArch64())
    return cpu.has("dotprod") ? ByteProducts::EqualSigns : ByteProducts::None;
  if (avx512 ? cpu.has("avx512vnni") : cpu.has("avxvnni") && cpu.has("avx2"))
    return ByteProducts::UnsignedBySigned;
  return ByteProducts::Pairs;
}

KernelTarget kernelTarget(const CpuTarget &cpu) {
  bool arm = llvm::Triple(cpu.triple).isAArch64();
  KernelTarget target;
  target.avx512 = cpu.has("avx512f") && cpu.has("avx512bw") && cpu.has("avx512vl") && cpu.has("avx512dq");
  // Processors with AMX start a vdpbf16ps every other cycle only, but two multiply-adds in each.
  bool tiles = target.avx512 && cpu.has("amx-tile");
  target.fastBf16Pairs = target.avx512 && cpu.has("avx512bf16") && !tiles;
  target.amxBf16 = tiles && cpu.has("amx-bf16");
  target.amxInt8 = tiles && cpu.has("amx-int8");
  target.byteProducts = byteProductsOf(cpu, target.avx512);
  target.vectorBits = target.avx512 ? 512 : cpu.has("avx2") ? 256 : 128;
  target.fma = arm || cpu.has("fma");
  target.vectorRegisters = arm || target.avx512 ? 32 : 16;
  target.generalRegisters = arm ? 31 : 16;
  // Entries of the first buffer of translations for data: 64 and more from Haswell and Zen on, 48 in Cortex-A72, Cortex-A76 and Neoverse N1.
  target.nearPages = arm ? 48 : 64;
  target.permutedLanes = target.avx512 || cpu.has("avx2") ? 8 : 0;
  target.l1Bytes = cpu.cacheBytes(1);
  target.l1Ways = cpu.caches.empty() ? 0 : cpu.caches.front().ways;
  target.lineBytes = cpu.caches.empty() ? target.lineBytes : cpu.caches.front().lineBytes;
  target.l2Bytes = cpu.cacheBytes(2);
  target.threads = int(cpu.threads);
  target.gigahertz = cpu.gigahertz;
  return target;
}

KernelTarget hostKernelTarget() { return kernelTarget(CpuTarget::host()); }

namespace {

struct EmitKernelsPass : PassWrapper<EmitKernelsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EmitKernelsPass)
  EmitKernelsPass() = default;
  EmitKernelsPass(const EmitKernelsPass &other) : PassWrapper(other) {}

  Option<std::string> only{*this, "emitter", llvm::cl::desc("attention, contraction, movement, row, window (before the lowering to linalg), or all but the last if empty")};
  Option<std::string> cpu{*this, "target", llvm::cl::desc("host, or a fixed target for reproducible output: avx512, avx2, aarch64, …"),
                          llvm::cl::init("host")};
  Option<unsigned> threads{*this, "threads", llvm::cl::desc("threads to cut kernels for; 0: as the target says"), llvm::cl::init(0)};
  Option<std::string> caches{*this, "caches", llvm::cl::desc("size and ways of each level, for example 32K/8,1M/16; empty: as the target says")};

  StringRef getArgument() const override { return "xla-emit-kernels"; }
  StringRef getDescription() const override { return "Turn kernels on tensors into vector code over an index range"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, memref::MemRefDialect, scf::SCFDialect, vector::VectorDialect,
                    LLVM::LLVMDialect>();
  }

  void runOnOperation() override {
    CpuTarget machine;
    if (llvm::Error error = applyOverrides({cpu, threads, caches}, machine)) {
      getOperation().emitError() << llvm::toString(std::move(error));
      return signalPassFailure();
    }
    KernelTarget target = kernelTarget(machine);
    SmallVector<func::FuncOp> kernels;
    getOperation().walk([&](func::FuncOp fn) {
      if (fn->hasAttr(kKernelAttr) && !fn.isExternal())
        kernels.push_back(fn);
    });
    for (func::FuncOp fn : kernels) {
      FailureOr<EmittedKernel> kernel = failure();
      if (only == "contraction")
        kernel = emitContraction(fn, target);
      else if (only == "attention")
        kernel = emitAttention(fn, target);
      else if (only == "movement")
        kernel = emitDataMovement(fn, target);
      else if (only == "row")
        kernel = emitRowKernel(fn, target);
      else if (only == "window")
        kernel = emitWindows(fn, target);
      else
        kernel = emitKernel(fn, target);
      if (failed(kernel))
        continue;
      Builder b(&getContext());
      kernel->fn->setAttr(kEmitterAttr, b.getStringAttr(kernel->emitter));
      kernel->fn->setAttr(kRangeEndAttr, b.getI64IntegerAttr(kernel->rangeEnd));
      kernel->fn->setAttr(kScratchBytesAttr, b.getI64IntegerAttr(kernel->scratchBytesPerTask));
      if (fn.symbolKnownUseEmpty(getOperation()))
        fn.erase();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createEmitKernelsPass() { return std::make_unique<EmitKernelsPass>(); }
void registerEmitKernelsPass() { PassRegistration<EmitKernelsPass>(); }

} // namespace millrace::lowering
