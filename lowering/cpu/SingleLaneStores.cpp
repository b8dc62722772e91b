// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SingleLaneStores.cpp - Turn one-lane masked stores into scalar stores ===//
// Input:   masked.store(<16 x i8> %v, ptr %p, <true, false, ...>)
// Output:  store i8 (extractelement %v, 0), ptr %p
// Leaves alone masks with several lanes, with undefined ones, and masks that are not constant.
#include "lowering/cpu/SingleLaneStores.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <optional>

namespace millrace::lowering {

/// Returns the only lane of `mask`.
static std::optional<unsigned> singleLane(llvm::Value *mask) {
  auto *constant = llvm::dyn_cast<llvm::Constant>(mask);
  auto *type = llvm::dyn_cast<llvm::FixedVectorType>(mask->getType());
  std::optional<unsigned> lane;
  for (unsigned i = 0; constant && type && i < type->getNumElements(); ++i) {
    auto *bit = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(i));
    if (!bit || (bit->isOne() && lane))
      return std::nullopt;
    if (bit->isOne())
      lane = i;
  }
  return lane;
}

void storeSingleLanes(llvm::Function &function) {
  for (llvm::Instruction &instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto *store = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!store || store->getIntrinsicID() != llvm::Intrinsic::masked_store)
      continue;
    std::optional<unsigned> lane = singleLane(store->getArgOperand(store->arg_size() - 1));
    if (!lane)
      continue;
    llvm::IRBuilder<> builder(store);
    llvm::Value *element = builder.CreateExtractElement(store->getArgOperand(0), *lane);
    llvm::Value *place = builder.CreateConstInBoundsGEP1_64(element->getType(), store->getArgOperand(1), *lane);
    llvm::Align align = function.getParent()->getDataLayout().getABITypeAlign(element->getType());
    builder.CreateAlignedStore(element, place, align);
    store->eraseFromParent();
  }
}

} // namespace millrace::lowering
