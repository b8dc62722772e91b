// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Elementwise.cpp - Elementwise operations as HLO --------------------===//
// Input:   %2 = stablehlo.compare LT, %0, %1, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
// Output:  compare.1 = pred[2]{0} compare(a, b), direction=LT, type=TOTALORDER
#include "lowering/hlo/Literals.h"
#include "lowering/hlo/Writer.h"

#include "dialects/stablehlo/Ops.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace shlo = millrace::stablehlo;

namespace millrace::hlo {

/// HLO derives the comparison from the element type unless told otherwise, and knows only one other: the total order.
static LogicalResult compare(shlo::CompareOp op, Computation &to) {
  if (op.getCompareType() == shlo::ComparisonType::WEAKORDER)
    return op.emitOpError("compares in weak order, which HLO cannot express");
  Attributes attributes;
  attributes.add("direction", shlo::stringifyComparisonDirection(op.getComparisonDirection()));
  if (op.getCompareType() == shlo::ComparisonType::TOTALORDER)
    attributes.add("type", "TOTALORDER");
  return to.result(op, "compare", attributes);
}

/// HLO converts between complex types only; StableHLO takes the real part.
static LogicalResult convert(shlo::ConvertOp op, Computation &to) {
  auto from = cast<RankedTensorType>(op.getOperand().getType());
  auto complex = dyn_cast<ComplexType>(from.getElementType());
  if (!complex || isa<ComplexType>(cast<RankedTensorType>(op.getType()).getElementType()))
    return to.result(op, "convert");
  auto realType = RankedTensorType::get(from.getShape(), complex.getElementType(), from.getEncoding());
  std::string real = to.add("real", shapeText(realType), to[op.getOperand()]);
  return to.result(op, "convert", real);
}

static LogicalResult withAccuracy(Operation *op, StringRef opcode, Computation &to) {
  Attributes attributes;
  auto accuracy = op->getAttrOfType<shlo::ResultAccuracyAttr>("result_accuracy");
  auto mode = accuracy ? accuracy.getMode().getValue() : shlo::ResultAccuracyMode::DEFAULT;
  if (mode == shlo::ResultAccuracyMode::HIGHEST)
    attributes.add("result_accuracy", "{mode=highest}");
  else if (mode == shlo::ResultAccuracyMode::TOLERANCE)
    attributes.add("result_accuracy", "{tolerance={atol=" + floatText(accuracy.getAtol()) + ",rtol=" +
                                          floatText(accuracy.getRtol()) + ",ulps=" + Twine(accuracy.getUlps()) + "}}");
  return to.result(op, opcode, attributes);
}

Visit visitElementwise(Operation *op, Computation &to) {
  return llvm::TypeSwitch<Operation *, Visit>(op)
      .Case<shlo::CompareOp>([&](auto op) { return compare(op, to); })
      .Case<shlo::ConvertOp>([&](auto op) { return convert(op, to); })
      .Case<shlo::ReducePrecisionOp>([&](shlo::ReducePrecisionOp op) {
        return to.result(op, "reduce-precision", Attributes().add("exponent_bits", Twine(op.getExponentBits()))
                                                     .add("mantissa_bits", Twine(op.getMantissaBits())));
      })
      .Case<shlo::SelectOp>([&](shlo::SelectOp op) {
        auto type = cast<RankedTensorType>(op.getType());
        return to.result(op, "select", {to.broadcastTo(op.getPred(), type), to[op.getOnTrue()], to[op.getOnFalse()]});
      })
      .Case<shlo::ClampOp>([&](shlo::ClampOp op) {
        auto type = cast<RankedTensorType>(op.getType());
        return to.result(op, "clamp", {to.broadcastTo(op.getMin(), type), to[op.getOperand()], to.broadcastTo(op.getMax(), type)});
      })
      .Case<shlo::BitcastConvertOp>([&](auto op) { return to.result(op, "bitcast-convert"); })
      .Case<shlo::UniformQuantizeOp, shlo::UniformDequantizeOp>([&](auto op) -> Visit { return std::nullopt; })
      .Default([&](Operation *op) -> Visit {
        if (!isa<shlo::StablehloDialect>(op->getDialect()) || !op->hasTrait<OpTrait::Elementwise>())
          return std::nullopt;
        // The names differ in nothing but `_` and `-`.
        std::string opcode = op->getName().stripDialect().str();
        std::replace(opcode.begin(), opcode.end(), '_', '-');
        return withAccuracy(op, opcode, to);
      });
}

} // namespace millrace::hlo
