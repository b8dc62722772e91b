// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FloatControl.cpp - Code regions in which subnormals are flushed to zero ===//
// LLVM moves arithmetic freely across instructions that set the control word, but no memory access, and nothing across an empty inline assembly that
// has the value as operand and result.
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

/// Returns the same values from an inline assembly, before which they must be computed and after which they are available.
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
  // Fact: bits of MXCSR: flush results and operands to zero, and the exception flags: operations need not set flags that are set already.
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
