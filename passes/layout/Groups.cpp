// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Groups.cpp - Reshapes as dimensions that are merged and split -------===//
#include "passes/layout/Groups.h"

#include "dialects/stablehlo/Combiner.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::layout {

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

RankedTensorType withShape(Type type, ArrayRef<int64_t> shape) { return cast<RankedTensorType>(type).clone(shape); }

Value reshaped(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return value;
  return ReshapeOp::create(b, loc, withShape(value.getType(), shape), value);
}

Value computedOn(OpBuilder &b, Operation *op, ValueRange operands, ArrayRef<int64_t> shape) {
  Operation *copy = b.clone(*op);
  copy->setOperands(operands);
  copy->getResult(0).setType(withShape(op->getResult(0).getType(), shape));
  return copy->getResult(0);
}

std::optional<Groups> groupsOf(ArrayRef<int64_t> merged, ArrayRef<int64_t> split) {
  Groups groups;
  size_t next = 0;
  for (int64_t size : merged) {
    auto &group = groups.emplace_back();
    if (size <= 0 || ShapedType::isDynamic(size))
      return std::nullopt;
    int64_t product = 1;
    if (size == 1 && next < split.size() && split[next] == 1)
      group.push_back(next++);
    while (product < size && next < split.size()) {
      product *= split[next];
      group.push_back(next++);
    }
    if (product != size)
      return std::nullopt;
  }
  for (; next < split.size() && !groups.empty(); ++next) {
    if (split[next] != 1)
      return std::nullopt;
    groups.back().push_back(next);
  }
  return groups;
}

std::optional<SmallVector<int64_t>> commonRefinement(ArrayRef<int64_t> left, ArrayRef<int64_t> right) {
  SmallVector<int64_t> refined;
  size_t nextLeft = 0, nextRight = 0;
  int64_t ofLeft = 1, ofRight = 1; // sizes of the current dimensions that are not matched yet
  while (true) {
    if (ofLeft == 1 && ofRight == 1 && nextLeft < left.size() && nextRight < right.size() && left[nextLeft] == 1 && right[nextRight] == 1) {
      refined.push_back(1);
      ++nextLeft, ++nextRight;
      continue;
    }
    if (ofLeft == 1 && nextLeft < left.size()) {
      if ((ofLeft = left[nextLeft++]) == 1)
        refined.push_back(1);
    } else if (ofRight == 1 && nextRight < right.size()) {
      if ((ofRight = right[nextRight++]) == 1)
        refined.push_back(1);
    } else if (ofLeft == 1 && ofRight == 1) {
      return refined;
    } else {
      int64_t part = std::min(ofLeft, ofRight);
      if (part <= 1 || ofLeft % part || ofRight % part) // also sizes that are 0 or unknown
        return std::nullopt;
      refined.push_back(part);
      ofLeft /= part;
      ofRight /= part;
    }
  }
}

std::optional<Stages> stagesOf(ArrayRef<int64_t> reduced, ArrayRef<int64_t> split, ArrayRef<int64_t> merged) {
  std::optional<Groups> groups = groupsOf(merged, split);
  if (!groups)
    return std::nullopt;
  Stages stages;
  int64_t factor = 1;
  for (auto [dim, group] : llvm::enumerate(*groups)) {
    SmallVector<int64_t> here = llvm::filter_to_vector(group, [&](int64_t d) { return llvm::is_contained(reduced, d); });
    bool isWhole = llvm::all_of(group, [&](int64_t d) { return split[d] == 1 || llvm::is_contained(here, d); });
    if (!here.empty() && isWhole && merged[dim] > 1) {
      stages.whole.push_back(dim);
      factor *= merged[dim];
    } else {
      llvm::append_range(stages.partial, here);
    }
  }
  bool isAnyPartial = llvm::any_of(stages.partial, [&](int64_t d) { return split[d] > 1; });
  if (!isAnyPartial || factor < 16)
    return std::nullopt;
  return stages;
}

StringRef whyIndivisible(ReduceOp op) {
  if (op.getInputs().size() != 1)
    return "it has several results";
  Type element = getElementTypeOrSelf(op.getInputs()[0].getType());
  if (!element.isF32() && !element.isF64() && !element.isInteger(32) && !element.isInteger(64))
    return "results between two steps would be rounded";
  constexpr StringLiteral kBody = "its body is no sum, minimum or maximum of its arguments", kInit = "its initial value is not known to be neutral";
  DenseElementsAttr init;
  if (!matchPattern(op.getInitValues()[0], m_Constant(&init)))
    return kInit;
  Operation *step = combinerOf(op.getBody());
  if (isa_and_nonnull<MaxOp, MinOp>(step))
    return "";
  if (!isa_and_nonnull<AddOp>(step))
    return kBody;
  bool isZero = matchPattern(op.getInitValues()[0], m_Zero()) || matchPattern(op.getInitValues()[0], m_AnyZeroFloat());
  return isZero ? StringRef() : StringRef(kInit);
}

} // namespace millrace::layout
