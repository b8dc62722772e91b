// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FuseProducts.cpp - Fuse multiplications with additions --------------===//
// Input:   %p = fmul contract %x, %y    %s = fadd contract %p, %z
// Output:  %s = llvm.fma(%x, %y, %z); likewise fsub, with a negated operand, which costs nothing
#include "lowering/cpu/FuseProducts.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace millrace::lowering {

/// Returns `value` as a multiplication that can be fused into its only user.
static BinaryOperator *productIn(Value *value) {
  auto *product = dyn_cast<BinaryOperator>(value);
  return product && product->getOpcode() == Instruction::FMul && product->hasAllowContract() && product->hasOneUse() ? product : nullptr;
}

static void fuse(BinaryOperator &sum) {
  Value *left = sum.getOperand(0), *right = sum.getOperand(1);
  BinaryOperator *product = productIn(left);
  bool isLeft = product;
  if (!product)
    product = productIn(right);
  if (!product)
    return;
  IRBuilder<> builder(&sum);
  FastMathFlags flags = sum.getFastMathFlags();
  flags.setAllowContract(false);
  flags.setAllowReassoc(false);
  builder.setFastMathFlags(flags);
  Value *x = product->getOperand(0), *y = product->getOperand(1), *rest = isLeft ? right : left;
  if (sum.getOpcode() == Instruction::FSub)
    (isLeft ? rest : x) = builder.CreateFNeg(isLeft ? rest : x);
  Value *fused = builder.CreateIntrinsic(Intrinsic::fma, {sum.getType()}, {x, y, rest});
  fused->takeName(&sum);
  sum.replaceAllUsesWith(fused);
  sum.eraseFromParent();
  product->eraseFromParent();
}

void fuseProducts(Function &function, bool hasFma, bool hasHalfFma) {
  SmallVector<BinaryOperator *> sums; // the multiplications are erased, wherever they are
  for (Instruction &instruction : instructions(function)) {
    auto *sum = dyn_cast<BinaryOperator>(&instruction);
    if (!hasFma || !sum || (sum->getOpcode() != Instruction::FAdd && sum->getOpcode() != Instruction::FSub) || !sum->hasAllowContract())
      continue;
    Type *type = sum->getType()->getScalarType();
    if (type->isFloatTy() || type->isDoubleTy() || (hasHalfFma && type->isHalfTy()))
      sums.push_back(sum);
  }
  for (BinaryOperator *sum : sums)
    fuse(*sum);
  for (Instruction &instruction : instructions(function))
    if (isa<BinaryOperator, UnaryOperator>(instruction) && isa<FPMathOperator>(instruction)) {
      FastMathFlags flags = instruction.getFastMathFlags();
      flags.setAllowContract(false);
      flags.setAllowReassoc(false);
      instruction.copyFastMathFlags(flags);
    }
}

} // namespace millrace::lowering
