// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Cumulative.cpp - Recognize cumulative operations -------------------===//
// Input:   reduce_window %x, %init: window = [4, 1], padding = [[3, 0], [0, 0]], {maximum}, %x: tensor<4x100xf32>
// Output:  dimension 0, not reversed, maximum
//===----------------------------------------------------------------------===//
#include "passes/calls/Cumulative.h"

#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/eval/Evaluator.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::calls {
namespace {

/// Returns the scalar constant that `value` is, or whose broadcast it is.
Attribute scalarConstant(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastInDimOp>())
    value = broadcast.getOperand();
  DenseElementsAttr attr;
  if (!matchPattern(value, m_Constant(&attr)) || !attr.isSplat())
    return {};
  return attr.getSplatValue<Attribute>();
}

bool isNumber(Attribute attr, int64_t number) {
  if (auto integer = dyn_cast_or_null<IntegerAttr>(attr))
    return integer.getValue() == APInt(integer.getValue().getBitWidth(), number, /*isSigned=*/true, /*implicitTrunc=*/true);
  if (auto real = dyn_cast_or_null<FloatAttr>(attr))
    return real.getValue().isExactlyValue(number) || (number == 0 && real.getValue().isZero());
  if (auto parts = dyn_cast_or_null<ArrayAttr>(attr))
    return parts.size() == 2 && isNumber(parts[0], number) && isNumber(parts[1], 0);
  return false;
}

/// Returns the single operation of the body if it combines the body's two arguments.
Operation *reducerOf(Region &body) {
  Operation *op = combinerOf(body);
  return isa_and_nonnull<AddOp, MulOp, MinOp, MaxOp, AndOp, OrOp>(op) ? op : nullptr;
}

/// Returns true if the body maps two copies of its initial value to the initial value, by evaluation.
bool keepsInit(ReduceWindowOp op) {
  Block &block = op.getBody().front();
  Value init = op.getInitValues()[0];
  while (auto broadcast = init.getDefiningOp<BroadcastInDimOp>())
    init = broadcast.getOperand();
  DenseElementsAttr start;
  if (!matchPattern(init, m_Constant(&start)) || block.getNumArguments() != 2 || block.getArgument(0).getType() != start.getType() ||
      block.getArgument(1).getType() != start.getType())
    return false;
  llvm::Expected<eval::Tensor> number = eval::Tensor::fromAttr(start);
  if (!number) {
    llvm::consumeError(number.takeError());
    return false;
  }
  llvm::DenseMap<Value, eval::Value> known;
  for (Value argument : block.getArguments())
    known.try_emplace(argument, *number);
  for (Operation &inner : block.without_terminator()) {
    SmallVector<eval::Value> operands;
    for (Value operand : inner.getOperands()) {
      DenseElementsAttr constant;
      if (auto it = known.find(operand); it != known.end()) {
        operands.push_back(it->second);
      } else if (matchPattern(operand, m_Constant(&constant))) {
        auto value = eval::Tensor::fromAttr(constant);
        if (!value) {
          llvm::consumeError(value.takeError());
          return false;
        }
        operands.push_back(*value);
      } else {
        return false; // a value from outside of the body
      }
    }
    if (inner.getNumRegions() != 0)
      return false;
    auto results = eval::evaluateOp(&inner, operands);
    if (!results) {
      llvm::consumeError(results.takeError());
      return false;
    }
    for (auto [result, value] : llvm::zip_equal(inner.getResults(), *results))
      known.try_emplace(result, value);
  }
  auto it = known.find(block.getTerminator()->getOperand(0));
  return it != known.end() && it->second.tensor().toAttr() == start;
}

} // namespace

std::optional<Cumulative> cumulativeOf(ReduceWindowOp op) {
  auto allOnes = [](std::optional<ArrayRef<int64_t>> values) {
    return !values || llvm::all_of(*values, [](int64_t v) { return v == 1; });
  };
  if (op.getInputs().size() != 1 || !allOnes(op.getWindowStrides()) || !allOnes(op.getBaseDilations()) ||
      !allOnes(op.getWindowDilations()))
    return std::nullopt;
  std::optional<Cumulative> found;
  auto type = cast<RankedTensorType>(op.getInputs()[0].getType());
  for (auto [d, window] : llvm::enumerate(op.getWindowDimensions())) {
    int64_t low = 0, high = 0;
    if (auto padding = op.getPadding()) {
      low = padding->getValues<int64_t>()[{uint64_t(d), 0}];
      high = padding->getValues<int64_t>()[{uint64_t(d), 1}];
    }
    if (window == 1 && low == 0 && high == 0)
      continue;
    bool forward = low == window - 1 && high == 0, backward = low == 0 && high == window - 1;
    // A window that does not reach the first element drops old elements, which a scan does not.
    if (found || window != type.getDimSize(d) || (!forward && !backward))
      return std::nullopt;
    found = Cumulative{int64_t(d), backward, nullptr};
  }
  if (!found)
    return std::nullopt;
  found->reducer = reducerOf(op.getBody());
  if (!found->reducer)
    return keepsInit(op) ? found : std::nullopt;
  // All other reducers are idempotent: init op init = init.
  if (isa<AddOp, MulOp>(found->reducer) && !isNumber(scalarConstant(op.getInitValues()[0]), isa<MulOp>(found->reducer)))
    return std::nullopt;
  return found;
}

} // namespace millrace::calls
