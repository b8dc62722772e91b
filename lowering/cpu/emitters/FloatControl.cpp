// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FloatControl.cpp - Stretches of code in which subnormal numbers are zeros ===//
// LLVM moves arithmetic freely across what sets the control word, but no memory access, and nothing across an empty piece of assembly that changes
// a value.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/FloatControl.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace millrace::lowering {

static void callControl(PointEvaluator &at, StringRef name, Value words, int64_t word) {
  // Fact: bytes of the control word.
  constexpr int64_t kWordBytes = 4;
  OpBuilder b = at.builder();
  Location loc = at.loc();
  Value begin = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, words);
  begin = arith::AddIOp::create(b, loc, begin, arith::ConstantIndexOp::create(b, loc, word * kWordBytes));
  Value number = arith::IndexCastOp::create(b, loc, b.getI64Type(), begin);
  Value pointer = LLVM::IntToPtrOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), number);
  LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr(name), ValueRange{pointer});
}

/// The same values, known only from here on, and needed here.
static SmallVector<Value> pin(PointEvaluator &at, ArrayRef<Value> values) {
  SmallVector<Value> pinned;
  OpBuilder b = at.builder();
  for (Value value : values)
    pinned.push_back(LLVM::InlineAsmOp::create(b, at.loc(), value.getType(), ValueRange{value}, /*asm_string=*/"", /*constraints=*/"=v,0",
                                               /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                               /*asm_dialect=*/LLVM::AsmDialectAttr(), /*operand_attrs=*/ArrayAttr())
                         .getRes());
  return pinned;
}

void saveFloatControl(PointEvaluator &at, Value words) {
  // Fact: bits of MXCSR: results and operands as zeros, and the marks of what happened so far: where they are set already, no operation has to.
  constexpr int32_t kFlush = 0x8040 | 0x3f;
  callControl(at, "llvm.x86.sse.stmxcsr", words, 0);
  OpBuilder b = at.builder();
  Location loc = at.loc();
  Value first = arith::ConstantIndexOp::create(b, loc, 0), second = arith::ConstantIndexOp::create(b, loc, 1);
  Value before = memref::LoadOp::create(b, loc, words, ValueRange{first});
  Value flush = arith::OrIOp::create(b, loc, before, arith::ConstantIntOp::create(b, loc, kFlush, 32));
  memref::StoreOp::create(b, loc, flush, words, ValueRange{second});
}

void flushSubnormals(PointEvaluator &at, Value words) { callControl(at, "llvm.x86.sse.ldmxcsr", words, 1); }

SmallVector<Value> keepSubnormals(PointEvaluator &at, Value words, ArrayRef<Value> values) {
  SmallVector<Value> computed = pin(at, values);
  callControl(at, "llvm.x86.sse.ldmxcsr", words, 0);
  return pin(at, computed);
}

} // namespace millrace::lowering
