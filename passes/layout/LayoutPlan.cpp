// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LayoutPlan.cpp - Which values of a block have which order ----------===//
#include "passes/layout/LayoutPlan.h"

#include "passes/fusion/plan/FusionPolicy.h"

#include "llvm/ADT/SetVector.h"

#include <map>

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::layout {
namespace {

bool isScalar(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 0;
}

/// Returns true if all values are scalars or tensors that have an order to choose.
bool areMovable(ValueRange values) {
  return llvm::all_of(values, [](Value value) { return hasLayout(value) || isScalar(value); });
}

/// Returns the bytes that a transpose of `value` from one order to the other moves.
int64_t bytesMoved(Value value, ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  auto type = cast<RankedTensorType>(value.getType());
  auto withoutOnes = [&](ArrayRef<int64_t> layout) {
    SmallVector<int64_t> dims;
    for (int64_t dim : layout)
      if (type.getDimSize(dim) != 1)
        dims.push_back(dim);
    return dims;
  };
  return withoutOnes(from) == withoutOnes(to) ? 0 : bytesOf(value);
}

/// Returns true if the channels of a depthwise convolution are last in the operand or the result, but not in both and in the weights, so that vectors of
/// channels or steps have gaps in one of them.
bool hasMixedLanes(ConvolutionOp op) {
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  int64_t last = cast<RankedTensorType>(op.getType()).getRank() - 1;
  bool isOperand = dims.getInputFeatureDimension() == last, isResult = dims.getOutputFeatureDimension() == last;
  return isOperand != isResult || (isResult && dims.getKernelOutputFeatureDimension() != last);
}

} // namespace

bool isNumber(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isSplat();
}

Freedom freedomOf(Operation *op) {
  if (op->getNumResults() == 0 || !llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>))
    return Freedom::None;
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return llvm::all_of(reduce.getInputs(), hasLayout) ? Freedom::Reduction : Freedom::None;
  if (!llvm::all_of(op->getResults(), hasLayout))
    return Freedom::None;
  if (isa<IotaOp, BroadcastInDimOp>(op) || isNumber(op->getResult(0)))
    return Freedom::Source;
  if (isa<TransposeOp>(op))
    return hasLayout(op->getOperand(0)) ? Freedom::Transpose : Freedom::None;
  if (isa<ConvolutionOp>(op))
    return llvm::all_of(op->getOperands(), hasLayout) ? Freedom::Convolution : Freedom::None;
  bool isTied = isa<PadOp, SliceOp, ReverseOp, ConcatenateOp, ReduceWindowOp, SelectAndScatterOp>(op) ||
                fusion::classify(op) == fusion::OpRole::Elementwise;
  return isTied && areMovable(op->getOperands()) ? Freedom::Tied : Freedom::None;
}

SmallVector<Value> tiedValues(Operation *op) {
  SmallVector<Value> values;
  for (Value operand : op->getOperands())
    if (hasLayout(operand) && !isNumber(operand))
      values.push_back(operand);
  if (!isa<ReduceOp>(op))
    llvm::append_range(values, op->getResults());
  return values;
}

LayoutPlan::LayoutPlan(Block &block) {
  collectPreferences(block);
  if (!hasMoves())
    return;
  tie(block);
  choose(block);
}

void LayoutPlan::collectPreferences(Block &block) {
  // Pointwise, depthwise and short convolutions are fast in any order, so that they ask for no order of their own but follow the others. A depthwise
  // one needs one order for all it reads and writes: lanes are channels, or steps.
  bool isAnyWindow = false, isAnyProduct = false;
  for (auto op : block.getOps<ConvolutionOp>())
    if (auto layouts = preferredLayouts(op)) {
      preferred[op] = *layouts;
      isAnyWindow |= !isPointwise(op);
      // Strided windows leave gaps between the lanes along a row.
      if (wantsChannelsFirst(op))
        isAnyProduct |= !isIdentity(layouts->lhs) || !isIdentity(layouts->result);
      else
        isAnyProduct |= !isDepthwise(op) ? !isShort(op)
                                         : hasMixedLanes(op) || (op.getWindowStrides() && llvm::any_of(*op.getWindowStrides(), [](int64_t s) { return s != 1; }));
    }
  if (!isAnyWindow || !isAnyProduct)
    preferred.clear();
}

void LayoutPlan::tie(Block &block) {
  for (Operation &op : block) {
    Freedom freedom = freedomOf(&op);
    if (freedom != Freedom::Tied && freedom != Freedom::Reduction)
      continue;
    SmallVector<Value> values = tiedValues(&op);
    for (Value value : values)
      groups.unionSets(values.front().getAsOpaquePointer(), value.getAsOpaquePointer());
  }
}

void LayoutPlan::choose(Block &block) {
  struct Wish {
    Value value;
    Layout layout;
  };
  struct Group {
    SmallVector<Wish> wishes;
    SmallVector<Value> fixed;
  };
  std::map<void *, Group> found;
  SmallVector<void *> order;
  auto groupOf = [&](Value value) -> Group & {
    void *leader = groups.getOrInsertLeaderValue(value.getAsOpaquePointer());
    auto [it, isNew] = found.try_emplace(leader);
    if (isNew)
      order.push_back(leader);
    return it->second;
  };
  llvm::SetVector<Value> fixed;
  for (Operation &op : block) {
    Freedom freedom = freedomOf(&op);
    if (freedom == Freedom::None)
      for (Value result : op.getResults())
        if (hasLayout(result))
          fixed.insert(result);
    for (Value operand : op.getOperands())
      if (hasLayout(operand) && (freedom == Freedom::None || operand.getParentBlock() != &block || isa<BlockArgument>(operand)))
        fixed.insert(operand);
    // Values that nested regions read are uses of this operation, too.
    for (Region &region : op.getRegions())
      region.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (operand.getParentBlock() == &block && hasLayout(operand))
            fixed.insert(operand);
      });
    auto convolution = dyn_cast<ConvolutionOp>(op);
    auto it = preferred.find(&op);
    if (!convolution || it == preferred.end())
      continue;
    auto wish = [&](Value value, const Layout &layout) {
      auto &wishes = groupOf(value).wishes;
      if (llvm::none_of(wishes, [&](const Wish &other) { return other.value == value && other.layout == layout; }))
        wishes.push_back({value, layout});
    };
    wish(convolution.getLhs(), it->second.lhs);
    wish(convolution.getRhs(), it->second.rhs);
    wish(convolution.getResult(), it->second.result);
  }
  for (Value value : fixed)
    if (found.count(groups.getOrInsertLeaderValue(value.getAsOpaquePointer())))
      groupOf(value).fixed.push_back(value);

  for (void *leader : order) {
    const Group &group = found[leader];
    auto cost = [&](const Layout &layout) {
      int64_t bytes = 0;
      for (Value value : group.fixed)
        bytes += bytesMoved(value, identityLayout(layout.size()), layout);
      for (const Wish &wish : group.wishes)
        bytes += bytesMoved(wish.value, wish.layout, layout);
      return bytes;
    };
    Layout best = identityLayout(group.wishes.front().layout.size());
    int64_t least = cost(best);
    for (const Wish &wish : group.wishes)
      if (int64_t bytes = cost(wish.layout); bytes <= least) {
        least = bytes;
        best = wish.layout;
      }
    if (!isIdentity(best))
      chosen[leader] = best;
  }
}

Layout LayoutPlan::layoutOf(Value value) const {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  auto leader = groups.findLeader(value.getAsOpaquePointer());
  auto it = leader == groups.member_end() ? chosen.end() : chosen.find(*leader);
  return it == chosen.end() ? identityLayout(rank) : it->second;
}

ConvolutionLayouts LayoutPlan::layoutsOf(ConvolutionOp op) const {
  auto it = preferred.find(op);
  if (it != preferred.end())
    return it->second;
  return {layoutOf(op.getLhs()), layoutOf(op.getRhs()), layoutOf(op.getResult())};
}

} // namespace millrace::layout
