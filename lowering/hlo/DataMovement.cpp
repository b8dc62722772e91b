// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DataMovement.cpp - Constants, shapes and data movement as HLO ------===//
// Input:   %1 = stablehlo.broadcast_in_dim %0, dims = [1, 0] : (tensor<1x2xf32>) -> tensor<2x3xf32>
// Output:  reshape.1 = f32[2]{0} reshape(a)
//          broadcast.1 = f32[2,3]{1,0} broadcast(reshape.1), dimensions={0}
#include "lowering/hlo/Literals.h"
#include "lowering/hlo/Writer.h"

#include "dialects/stablehlo/Ops.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace shlo = millrace::stablehlo;

namespace millrace::hlo {

/// HLO's broadcast keeps sizes and the order of dimensions: dimensions of size 1 that grow are dropped before, and the
/// others put in order.
static LogicalResult broadcast(Operation *op, Value value, ArrayRef<int64_t> dims, Computation &to) {
  auto from = cast<RankedTensorType>(value.getType()), type = cast<RankedTensorType>(op->getResult(0).getType());
  std::string operand = to[value];
  SmallVector<int64_t> sizes, targets;
  for (auto [size, target] : llvm::zip(from.getShape(), dims)) {
    if (size == 1 && type.getDimSize(target) != 1)
      continue;
    sizes.push_back(size);
    targets.push_back(target);
  }
  if (sizes.size() != dims.size())
    operand = to.reshape(operand, sizes, from.getElementType());
  if (!llvm::is_sorted(targets)) {
    auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, targets.size()));
    llvm::sort(permutation, [&](int64_t a, int64_t b) { return targets[a] < targets[b]; });
    operand = to.transpose(operand, sizes, permutation, from.getElementType());
    llvm::sort(targets);
  }
  bool isIdentity = from == type && targets.size() == sizes.size() && sizes.size() == static_cast<size_t>(type.getRank());
  if (isIdentity && op->getDiscardableAttrs().empty()) {
    to.bind(op->getResult(0), operand);
    return success();
  }
  return to.result(op, "broadcast", operand, Attributes().list("dimensions", targets));
}

static LogicalResult slice(shlo::SliceOp op, Computation &to) {
  std::string text = "{";
  bool hasStrides = llvm::any_of(op.getStrides(), [](int64_t stride) { return stride != 1; });
  for (auto [start, limit, stride] : llvm::zip(op.getStartIndices(), op.getLimitIndices(), op.getStrides())) {
    text += (text.size() > 1 ? ", [" : "[") + std::to_string(start) + ":" + std::to_string(limit);
    text += hasStrides ? ":" + std::to_string(stride) + "]" : "]";
  }
  return to.result(op, "slice", Attributes().add("slice", text + "}"));
}

static LogicalResult pad(shlo::PadOp op, Computation &to) {
  std::string text;
  bool hasInterior = llvm::any_of(op.getInteriorPadding(), [](int64_t amount) { return amount != 0; });
  for (auto [low, high, interior] : llvm::zip(op.getEdgePaddingLow(), op.getEdgePaddingHigh(), op.getInteriorPadding())) {
    text += (text.empty() ? "" : "x") + std::to_string(low) + "_" + std::to_string(high);
    if (hasInterior)
      text += "_" + std::to_string(interior);
  }
  if (text.empty()) // a scalar has nothing to pad
    return to.result(op, "copy", to[op.getOperand()]);
  return to.result(op, "pad", Attributes().add("padding", text));
}

static LogicalResult constant(shlo::ConstantOp op, Computation &to) {
  DenseElementsAttr value = denseOf(op.getValue());
  if (!value)
    return op.emitOpError("has a value whose elements are not at hand");
  to.bind(op, to.constant(value));
  return success();
}

Visit visitDataMovement(Operation *op, Computation &to) {
  return llvm::TypeSwitch<Operation *, Visit>(op)
      .Case<shlo::ConstantOp>([&](auto op) { return constant(op, to); })
      .Case<shlo::IotaOp>([&](shlo::IotaOp op) {
        return to.result(op, "iota", Attributes().add("iota_dimension", Twine(op.getIotaDimension())));
      })
      .Case<shlo::BroadcastInDimOp>(
          [&](shlo::BroadcastInDimOp op) { return broadcast(op, op.getOperand(), op.getBroadcastDimensions(), to); })
      .Case<shlo::BroadcastOp>([&](shlo::BroadcastOp op) {
        int64_t rank = cast<RankedTensorType>(op.getType()).getRank();
        int64_t added = op.getBroadcastSizes().size();
        return broadcast(op, op.getOperand(), llvm::to_vector(llvm::seq<int64_t>(added, rank)), to);
      })
      .Case<shlo::ReshapeOp>([&](auto op) { return to.result(op, "reshape"); })
      .Case<shlo::TransposeOp>([&](shlo::TransposeOp op) {
        return to.result(op, "transpose", Attributes().list("dimensions", op.getPermutation()));
      })
      .Case<shlo::SliceOp>([&](auto op) { return slice(op, to); })
      .Case<shlo::PadOp>([&](auto op) { return pad(op, to); })
      .Case<shlo::ConcatenateOp>([&](shlo::ConcatenateOp op) {
        return to.result(op, "concatenate", Attributes().list("dimensions", op.getDimension()));
      })
      .Case<shlo::ReverseOp>([&](shlo::ReverseOp op) {
        return to.result(op, "reverse", Attributes().list("dimensions", op.getDimensions()));
      })
      .Default([](auto) { return std::nullopt; });
}

} // namespace millrace::hlo
