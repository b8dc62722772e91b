// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InterleaveChains.cpp - Interleave independent dependence chains ----===//
// Input:   a block that computes a polynomial for one vector, then the same polynomial for the next one
// Output:  the first step of both, the second step of both, ...
//          A step waits some four cycles for the one before, and a core reorders only some hundred instructions: with chains of forty steps one
//          after the other it overlaps two or three of them and mostly waits.
//          Instructions are sorted by their distance to the end of the block, so that values are computed as late as possible.
// Leaves alone blocks of few instructions, blocks with calls, blocks whose values would not fit into the registers.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/InterleaveChains.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

#include <algorithm>

using namespace llvm;

namespace millrace::lowering {
namespace {

/// A core overlaps the chains of a shorter block itself. Unit: instructions of LLVM. Source: judgement, not measured alone: a core reorders some
/// hundred instructions; commit 45727cb has the figures of the whole change.
constexpr size_t kMinBlockInstructions = 24;
/// A longer block keeps its order: a bound of the time to compile. Unit: instructions of LLVM. Source: judgement, not measured alone; commit 45727cb
/// has the figures of the whole change.
constexpr size_t kMaxBlockInstructions = 4096;

bool isVector(const Value &value) { return value.getType()->isVectorTy(); }

/// Returns the largest number of vectors defined in the block that are live at the same time.
unsigned mostVectors(ArrayRef<Instruction *> order, const DenseMap<Instruction *, unsigned> &numberOf) {
  // `left` counts the remaining uses of every value; values used outside are live to the end.
  DenseMap<Instruction *, unsigned> left;
  unsigned live = 0, most = 0;
  for (Instruction *inst : order) {
    SmallPtrSet<Instruction *, 4> operands;
    for (Value *operand : inst->operands())
      if (auto *made = dyn_cast<Instruction>(operand); made && left.count(made))
        operands.insert(made);
    for (Instruction *made : operands)
      if (--left[made] == 0)
        --live;
    if (!isVector(*inst))
      continue;
    SmallPtrSet<User *, 4> users(inst->user_begin(), inst->user_end());
    bool isOutside = any_of(users, [&](User *user) { return !numberOf.count(cast<Instruction>(user)); });
    unsigned count = unsigned(users.size());
    if (count == 0)
      continue;
    left[inst] = count + (isOutside ? 1 : 0);
    ++live;
    most = std::max(most, live);
  }
  return most;
}

bool isPrefetch(const Instruction &inst) {
  auto *intrinsic = dyn_cast<IntrinsicInst>(&inst);
  return intrinsic && intrinsic->getIntrinsicID() == Intrinsic::prefetch;
}

void interleave(BasicBlock &block, unsigned registers) {
  SmallVector<Instruction *> before;
  for (Instruction &inst : block) {
    if (isa<PHINode>(inst) || inst.isTerminator())
      continue;
    // Intrinsics without side effects are like any other operation.
    if (!isa<LoadInst, StoreInst>(inst) && !isPrefetch(inst) && (inst.mayReadOrWriteMemory() || inst.mayHaveSideEffects()))
      return;
    if (auto *load = dyn_cast<LoadInst>(&inst); load && !load->isSimple())
      return;
    if (auto *store = dyn_cast<StoreInst>(&inst); store && !store->isSimple())
      return;
    before.push_back(&inst);
  }
  if (before.size() < kMinBlockInstructions || before.size() > kMaxBlockInstructions)
    return;
  DenseMap<Instruction *, unsigned> numberOf;
  for (auto [number, inst] : enumerate(before))
    numberOf[inst] = unsigned(number);
  // The height is the longest path to the end of the block, over all users and over later accesses of memory.
  SmallVector<unsigned> height(before.size(), 0);
  unsigned stores = 0, accesses = 0; // lower bounds for the heights of earlier loads and stores
  for (size_t i = before.size(); i-- > 0;) {
    Instruction *inst = before[i];
    for (User *user : inst->users())
      if (auto it = numberOf.find(cast<Instruction>(user)); it != numberOf.end() && it->second > i)
        height[i] = std::max(height[i], height[it->second] + 1);
    if (isa<StoreInst>(inst)) {
      height[i] = std::max(height[i], accesses);
      stores = std::max(stores, height[i] + 1);
      accesses = std::max(accesses, height[i] + 1);
    } else if (isa<LoadInst>(inst)) {
      height[i] = std::max(height[i], stores);
      accesses = std::max(accesses, height[i] + 1);
    }
  }
  SmallVector<Instruction *> after(before);
  std::stable_sort(after.begin(), after.end(), [&](Instruction *a, Instruction *b) { return height[numberOf[a]] > height[numberOf[b]]; });
  if (after == before)
    return;
  // Constants take one or two registers, too.
  unsigned needed = mostVectors(after, numberOf);
  if (needed + 2 > registers && needed > mostVectors(before, numberOf))
    return;
  Instruction *terminator = block.getTerminator();
  for (Instruction *inst : after)
    inst->moveBefore(terminator->getIterator());
}

} // namespace

void interleaveChains(Function &function, unsigned registers) {
  for (BasicBlock &block : function)
    interleave(block, registers);
}

} // namespace millrace::lowering
