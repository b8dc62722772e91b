// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Emitter.h - Emit rank-1 vector code for kernels on tensors ---------===//
//
// An emitter takes a kernel whose body is linalg on tensors, or StableHLO for windows, and generates, next to it, a function that computes the
// iterations [begin, end) of the kernel's parallel range with rank-1 vectors, scf loops and memrefs:
//
//   func.func private @<name>_range(memref inputs..., memref outputs..., memref<?xi8> scratch, index begin, index end)
//
// * Every input and output buffer is a *flat* memref<Nx elem>, N = number of elements (1 for rank 0), row-major.
//   Booleans (i1) are bytes: memref<Nxi8> holding 0 or 1.
// * No two buffers of one call overlap.
// * scratch holds `scratchBytesPerTask` bytes, 64-byte aligned, private to the call.
// * Results do not depend on how [0, rangeEnd) is split into calls.
// * math.* operations on vectors are left in place; xla-expand-math rewrites them.
//
// An emitter that does not support a kernel reports the reason in a remark, returns failure and leaves the module unchanged.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "lowering/cpu/CpuTarget.h"
#include "runtime/program/KernelEntry.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>
#include <memory>
#include <string>

namespace mlir {
class Pass;
}

namespace millrace::lowering {

/// The instructions that a machine has for products of bytes with sums of 32 bits.
enum class ByteProducts {
  None,
  Pairs,            ///< pmaddwd: two numbers of 16 bits in each lane
  UnsignedBySigned, ///< vpdpbusd: four unsigned and four signed bytes in each lane
  EqualSigns,       ///< sdot and udot: four bytes in each lane, all signed or all unsigned
};

/// The properties of the machine from which tile shapes and units are derived; CpuTarget says where they come from.
struct KernelTarget {
  int vectorBits = 256;
  bool avx512 = false;
  bool fastBf16Pairs = false; ///< vdpbf16ps has the throughput of a multiply-add
  bool amxBf16 = false, amxInt8 = false;
  ByteProducts byteProducts = ByteProducts::None;
  bool fma = true;
  int vectorRegisters = 16, generalRegisters = 16;
  /// Lanes of 32 bits of the shortest vector whose elements one instruction permutes by indices in another vector; 0: there is no such instruction.
  int permutedLanes = 0;
  /// Multiply-adds of vectors that start per cycle, and cycles until the result of one is known; so far equal on all machines.
  int multiplyAddsPerCycle = 2, multiplyAddCycles = 4;
  int64_t l1Bytes = 0;
  int l1Ways = 0;         ///< 0 if not known
  int64_t lineBytes = 64; ///< of the level 1 cache
  int64_t l2Bytes = 0;
  int64_t pageBytes = 4096; ///< of memory; so far equal on all machines
  int64_t nearPages = 64;   ///< pages whose translations fit the first-level data TLB
  int threads = 1;        ///< parallel ranges should have a few times as many iterations
  double gigahertz = 0;   ///< for estimates only
  /// Bandwidth of one thread in bytes per nanosecond, for estimates only and so far equal on all machines: of contiguous rows, of data movement, and
  /// of operands from the last-level cache.
  double rowBytesPerNanosecond = 15, movedBytesPerNanosecond = 10, farBytesPerNanosecond = 20;

  /// Returns how many sums are added to in turns so that no multiply-add waits for the one before it.
  int sumsInFlight() const { return multiplyAddsPerCycle * multiplyAddCycles; }
  /// Rows at multiples of so many bytes share few sets of the level 1 cache: half of the bytes of one way. 2048 with 32 KB in 8 ways and with 48 KB
  /// in 12; if the ways are unknown, 8 are assumed.
  int64_t crowdedBytes() const { return std::max<int64_t>(l1Bytes / (l1Ways ? l1Ways : 8) / 2, lineBytes); }
  /// Bytes of one stream that stay in the level 1 cache while another stream of the same size passes through it: half of the cache.
  int64_t residentBytes() const { return l1Bytes / 2; }
  /// Returns the number of bytes from which on an emitter may gain by reordering its accesses for the memory system. Less data, a few times the
  /// level 1 cache, stays in the level 2 cache, which serves accesses in every order equally fast.
  int64_t minReorderedBytes() const { return 4 * l1Bytes; }
};

struct EmittedKernel {
  mlir::func::FuncOp fn;
  int64_t rangeEnd = 1;
  int64_t scratchBytesPerTask = 0;
  double nanosPerIteration = 0; ///< estimate
  runtime::RowRange rows;       ///< of a kernel for a run-time number of rows
  bool takesRows = false;       ///< `fn` has the number of rows as a last argument, index
  std::string emitter;          ///< "attention", "coded", "contraction", "row", "movement", "window_reduce", "window_scatter"
};

/// Kernels around one contraction: matrix products of any operand layout with batch dimensions, convolutions.
/// Elementwise producers are evaluated while packing, elementwise consumers on the accumulators.
mlir::FailureOr<EmittedKernel> emitContraction(mlir::func::FuncOp fn, const KernelTarget &target);

/// Products of rows of bytes with weights in codes of four or eight bits, with a scale for each group of them (kCodedProductAttr).
mlir::FailureOr<EmittedKernel> emitCodedProduct(mlir::func::FuncOp fn, const KernelTarget &target);

/// Attention, softmax(q k^T) v, and similar kernels: two contractions with row operations in between, of which a tile of rows is computed at a time.
/// Also its gradients: two such contractions, and up to four that use their results.
mlir::FailureOr<EmittedKernel> emitAttention(mlir::func::FuncOp fn, const KernelTarget &target);
/// Returns success if emitAttention() accepts the kernel; changes nothing.
mlir::LogicalResult canEmitAttention(mlir::func::FuncOp fn, const KernelTarget &target);

/// Elementwise operations, broadcasts and reductions.
mlir::FailureOr<EmittedKernel> emitRowKernel(mlir::func::FuncOp fn, const KernelTarget &target);

/// Concatenations and kernels with several results, each of which has its own iteration space.
mlir::FailureOr<EmittedKernel> emitIndependentParts(mlir::func::FuncOp fn, const KernelTarget &target);

/// Transposes, with elementwise operations on the values.
mlir::FailureOr<EmittedKernel> emitDataMovement(mlir::func::FuncOp fn, const KernelTarget &target);

/// Pooling and its gradients: kernels that are one operation on windows, before they are lowered to linalg.
mlir::FailureOr<EmittedKernel> emitWindows(mlir::func::FuncOp fn, const KernelTarget &target);

/// Tries all emitters of linalg in order of preference; forwards the remarks of all that refused.
mlir::FailureOr<EmittedKernel> emitKernel(mlir::func::FuncOp fn, const KernelTarget &target);

KernelTarget kernelTarget(const CpuTarget &cpu);
/// Returns the properties of the core that this process runs on.
KernelTarget hostKernelTarget();

/// Pass `xla-emit-kernels`: replaces every function with the attribute `millrace.kernel` that an emitter supports.
std::unique_ptr<mlir::Pass> createEmitKernelsPass();
void registerEmitKernelsPass();

} // namespace millrace::lowering
