// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatrixUnit.cpp - Emit AMX instructions ------------------------------===//
#include "lowering/cpu/emitters/contraction/MatrixUnit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace millrace::lowering::matrix {
namespace {

/// Fact: tile registers of AMX.
constexpr int kRegisters = 8;

void callUnit(OpBuilder &builder, Location loc, StringRef name, ValueRange operands) {
  LLVM::CallIntrinsicOp::create(builder, loc, builder.getStringAttr("llvm.x86." + name.str()), operands);
}

Value registerName(OpBuilder &builder, Location loc, int64_t number) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI8Type(), builder.getI8IntegerAttr(int8_t(number)));
}

/// Returns the address of element `index` of a flat buffer.
Value pointerTo(PointEvaluator &at, Value memory, Value index) {
  int64_t bytes = cast<MemRefType>(memory.getType()).getElementTypeBitWidth() / 8;
  Value offset = at.mulConstant(index, bytes);
  OpBuilder builder = at.builder();
  Value begin = memref::ExtractAlignedPointerAsIndexOp::create(builder, at.loc(), memory);
  Value address = arith::AddIOp::create(builder, at.loc(), begin, offset);
  Value number = arith::IndexCastOp::create(builder, at.loc(), builder.getI64Type(), address);
  return LLVM::IntToPtrOp::create(builder, at.loc(), LLVM::LLVMPointerType::get(builder.getContext()), number);
}

} // namespace

void configure(PointEvaluator &at, Value memory) {
  SmallVector<int8_t> bytes(kRowBytes);
  bytes[0] = 1; // palette 1, the only one
  for (int number = 0; number < kRegisters; ++number) {
    bytes[16 + 2 * number] = kRowBytes;
    bytes[48 + number] = kRows;
  }
  OpBuilder builder = at.builder();
  auto type = VectorType::get({kRowBytes}, builder.getI8Type());
  Value format = at.number(DenseElementsAttr::get(type, ArrayRef<int8_t>(bytes)));
  builder = at.builder();
  vector::StoreOp::create(builder, at.loc(), format, memory, ValueRange{at.constant(0)});
  Value pointer = pointerTo(at, memory, at.constant(0));
  builder = at.builder();
  callUnit(builder, at.loc(), "ldtilecfg", {pointer});
}

void release(func::FuncOp shell) {
  OpBuilder builder(shell.getBody().front().getTerminator());
  callUnit(builder, shell.getLoc(), "tilerelease", {});
}

void move(PointEvaluator &at, Move move, int64_t number, Value memory, Value index, int64_t stride) {
  int64_t bytes = cast<MemRefType>(memory.getType()).getElementTypeBitWidth() / 8;
  Value pointer = pointerTo(at, memory, index);
  OpBuilder builder = at.builder();
  Value distance = LLVM::ConstantOp::create(builder, at.loc(), builder.getI64Type(), builder.getI64IntegerAttr(stride * bytes));
  callUnit(builder, at.loc(), move == Move::Store ? "tilestored64" : move == Move::Load ? "tileloadd64" : "tileloaddt164", {registerName(builder, at.loc(), number), pointer, distance});
}

void clear(PointEvaluator &at, int64_t number) {
  OpBuilder builder = at.builder();
  callUnit(builder, at.loc(), "tilezero", {registerName(builder, at.loc(), number)});
}

void multiply(PointEvaluator &at, StringRef instruction, int64_t sums, int64_t rows, int64_t columns) {
  OpBuilder builder = at.builder();
  callUnit(builder, at.loc(), instruction,
           {registerName(builder, at.loc(), sums), registerName(builder, at.loc(), rows), registerName(builder, at.loc(), columns)});
}

} // namespace millrace::lowering::matrix
