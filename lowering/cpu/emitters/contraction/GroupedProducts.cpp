// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GroupedProducts.cpp - Instructions for products of narrow numbers --===//
// vpdpbusd multiplies unsigned by signed bytes. With signed bytes a and b it computes the sum of a * (b + 128), of which 128 times the sum of a's row
// is too much; that sum is computed once for all columns, and b + 128 is b with the other sign bit. Where both are unsigned, b - 128 is multiplied.
// So it is for instructions that multiply bytes of equal signs only, where the signs differ.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/contraction/GroupedProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace millrace::lowering {

bool isWidened(const Factor &factor, Type accType) {
  Operation *extend = factor.element.getDefiningOp();
  if (!extend || extend->getNumOperands() != 1 || !isa<BlockArgument>(extend->getOperand(0)))
    return false;
  Type type = factor.operand->elementType;
  return (isa<arith::ExtFOp>(extend) && type.isBF16() && accType.isF32()) ||
         (isa<arith::ExtSIOp, arith::ExtUIOp>(extend) && type.isInteger(8) && accType.isInteger(32));
}

bool isSigned(const Factor &factor) { return isa<arith::ExtSIOp>(factor.element.getDefiningOp()); }

GroupedProducts GroupedProducts::ofBytes(const Factor &a, const Factor &b, Type accType, const KernelTarget &target) {
  GroupedProducts products;
  if (!accType.isInteger(32) || !isWidened(a, accType) || !isWidened(b, accType))
    return products;
  switch (target.byteProducts) {
  case ByteProducts::None:
    return products;
  case ByteProducts::Pairs:
    products.instruction = Instruction::BytePairs;
    break;
  case ByteProducts::UnsignedBySigned:
    products.instruction = Instruction::UnsignedBySigned;
    break;
  case ByteProducts::EqualSigns:
    products.instruction = Instruction::EqualSigns;
    break;
  }
  products.signedA = isSigned(a);
  products.signedB = isSigned(b);
  return products;
}

int64_t GroupedProducts::group() const {
  switch (instruction) {
  case Instruction::None:
    return 1;
  case Instruction::Bf16Pairs:
  case Instruction::BytePairs:
    return 2;
  case Instruction::UnsignedBySigned:
  case Instruction::EqualSigns:
    return 4;
  }
  llvm_unreachable("all instructions are above");
}

bool GroupedProducts::flips() const {
  return (instruction == Instruction::UnsignedBySigned && signedA == signedB) || (instruction == Instruction::EqualSigns && signedA != signedB);
}

Value GroupedProducts::widen(PointEvaluator &at, Value bytes, Type type, bool isSigned) {
  if (auto vector = dyn_cast<VectorType>(bytes.getType()))
    type = vector.clone(type);
  OpBuilder builder = at.builder();
  if (isSigned)
    return arith::ExtSIOp::create(builder, at.loc(), type, bytes);
  return arith::ExtUIOp::create(builder, at.loc(), type, bytes);
}

Value GroupedProducts::addElements(PointEvaluator &at, Value bytesOfA, Value sum) const {
  Value elements = widen(at, bytesOfA, getElementTypeOrSelf(sum.getType()), signedA);
  OpBuilder builder = at.builder();
  return arith::AddIOp::create(builder, at.loc(), sum, elements);
}

Value GroupedProducts::flip(PointEvaluator &at, Value bytes) const {
  Value signs = at.number(DenseElementsAttr::get(cast<VectorType>(bytes.getType()), int8_t(-128)));
  OpBuilder builder = at.builder();
  return arith::XOrIOp::create(builder, at.loc(), bytes, signs);
}

Value GroupedProducts::broadcast(PointEvaluator &at, Value memory, Value index) const {
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  OpBuilder builder = at.builder();
  Value some = vector::LoadOp::create(builder, at.loc(), VectorType::get({group()}, element), memory, ValueRange{index});
  Value one = vector::BitCastOp::create(builder, at.loc(), VectorType::get({1}, builder.getI32Type()), some);
  Value number = vector::ExtractOp::create(builder, at.loc(), one, int64_t(0));
  Value all = vector::BroadcastOp::create(builder, at.loc(), at.vectorOf(builder.getI32Type()), number);
  return vector::BitCastOp::create(builder, at.loc(), VectorType::get({group() * at.lanes()}, element), all);
}

Value GroupedProducts::add(PointEvaluator &at, Value a, Value b, Value sum) const {
  int64_t bits = cast<VectorType>(sum.getType()).getNumElements() * 32;
  std::string name;
  SmallVector<Value> operands{sum, a, b};
  switch (instruction) {
  case Instruction::None:
    llvm_unreachable("there is an instruction");
  case Instruction::Bf16Pairs:
    name = "llvm.x86.avx512bf16.dpbf16ps." + std::to_string(bits);
    break;
  case Instruction::BytePairs:
    name = bits == 512 ? "llvm.x86.avx512.pmaddw.d.512" : bits == 256 ? "llvm.x86.avx2.pmadd.wd" : "llvm.x86.sse2.pmadd.wd";
    operands.erase(operands.begin());
    break;
  case Instruction::UnsignedBySigned:
    name = "llvm.x86.avx512.vpdpbusd." + std::to_string(bits);
    if (signedA)
      std::swap(operands[1], operands[2]);
    break;
  case Instruction::EqualSigns:
    name = signedA ? "llvm.aarch64.neon.sdot" : "llvm.aarch64.neon.udot";
    break;
  }
  OpBuilder builder = at.builder();
  Value result = LLVM::CallIntrinsicOp::create(builder, at.loc(), sum.getType(), builder.getStringAttr(name), operands).getResult(0);
  if (instruction != Instruction::BytePairs)
    return result;
  return arith::AddIOp::create(builder, at.loc(), sum, result);
}

} // namespace millrace::lowering
