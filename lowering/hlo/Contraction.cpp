// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Contraction.cpp - Products, convolutions, factorizations as HLO ----===//
// Input:   %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], precision = [HIGHEST, DEFAULT] : ...
// Output:  dot.1 = f32[2,4]{1,0} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0},
//          operand_precision={highest,default}
#include "lowering/hlo/Windows.h"
#include "lowering/hlo/Writer.h"

#include "dialects/stablehlo/Ops.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace shlo = millrace::stablehlo;

namespace millrace::hlo {

static void addPrecision(std::optional<ArrayAttr> config, Attributes &attributes) {
  if (!config)
    return;
  SmallVector<std::string> names;
  for (auto precision : config->getAsRange<shlo::PrecisionAttr>())
    names.push_back(shlo::stringifyPrecision(precision.getValue()).lower());
  if (llvm::any_of(names, [](StringRef name) { return name != "default"; }))
    attributes.add("operand_precision", "{" + llvm::join(names, ",") + "}");
}

/// XLA's algorithms have names, from the precision of the pieces and the number of their products; empty if none fits.
static std::string algorithmName(shlo::DotAlgorithmAttr algorithm) {
  Type lhs = algorithm.getLhsPrecisionType(), rhs = algorithm.getRhsPrecisionType();
  Type sum = algorithm.getAccumulationType();
  bool single = algorithm.getLhsComponentCount() == 1 && algorithm.getRhsComponentCount() == 1;
  int64_t products = algorithm.getNumPrimitiveOperations();
  auto isFloat8 = [](Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8; };
  if (isFloat8(lhs) && isFloat8(rhs) && sum.isF32() && single && products == 1)
    return algorithm.getAllowImpreciseAccumulation() ? "dot_any_f8_any_f8_f32_fast_accum" : "dot_any_f8_any_f8_f32";
  if (lhs != rhs || !single || algorithm.getAllowImpreciseAccumulation())
    return "";
  std::string piece = lhs.isTF32() ? "tf32" : elementText(lhs), name = "dot_" + piece + "_" + piece + "_" + elementText(sum);
  bool takesProducts = (lhs.isBF16() && sum.isF32() && (products == 3 || products == 6 || products == 9)) ||
                       (lhs.isTF32() && sum.isF32() && products == 3);
  if (takesProducts)
    return name + "_x" + std::to_string(products);
  bool known = (lhs == sum && (lhs.isF16() || lhs.isBF16() || lhs.isF32() || lhs.isF64())) ||
               (sum.isF32() && (lhs.isF16() || lhs.isBF16() || lhs.isTF32()));
  return products == 1 && known ? name : "";
}

/// HLO's dot takes operands of two types and computes in the wider one, so integers of 4 and 8 bits that a product alone widens to
/// its floats go into it as they are: weights that stay small, as in PyTorch/XLA's programs. At most one operand does.
static std::pair<Value, Value> unwidened(shlo::DotGeneralOp op) {
  auto narrow = [&](Value operand, Value other) -> Value {
    auto convert = operand.getDefiningOp<shlo::ConvertOp>();
    if (!convert || !operand.hasOneUse() || convert->getBlock() != op->getBlock())
      return operand;
    Type from = getElementTypeOrSelf(convert.getOperand().getType()), to = getElementTypeOrSelf(operand.getType());
    bool isSmall = isa<IntegerType>(from) && (from.getIntOrFloatBitWidth() == 4 || from.getIntOrFloatBitWidth() == 8);
    return isSmall && isa<FloatType>(to) && to == getElementTypeOrSelf(other.getType()) ? convert.getOperand() : operand;
  };
  Value lhs = narrow(op.getLhs(), op.getRhs());
  return {lhs, lhs == op.getLhs() ? narrow(op.getRhs(), lhs) : op.getRhs()};
}

/// Whether the one user of a conversion does without it.
static bool isAbsorbed(shlo::ConvertOp op) {
  auto dot = op->hasOneUse() ? llvm::dyn_cast<shlo::DotGeneralOp>(*op->user_begin()) : shlo::DotGeneralOp();
  if (!dot)
    return false;
  auto [lhs, rhs] = unwidened(dot);
  return (dot.getLhs() == op.getResult() && lhs != op.getResult()) || (dot.getRhs() == op.getResult() && rhs != op.getResult());
}

static LogicalResult dotGeneral(shlo::DotGeneralOp op, Computation &to) {
  shlo::DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
  Attributes attributes;
  if (!dims.getLhsBatchingDimensions().empty())
    attributes.list("lhs_batch_dims", dims.getLhsBatchingDimensions());
  attributes.list("lhs_contracting_dims", dims.getLhsContractingDimensions());
  if (!dims.getRhsBatchingDimensions().empty())
    attributes.list("rhs_batch_dims", dims.getRhsBatchingDimensions());
  attributes.list("rhs_contracting_dims", dims.getRhsContractingDimensions());
  addPrecision(op.getPrecisionConfig(), attributes);
  if (auto algorithm = op.getAlgorithm()) {
    std::string name = algorithmName(*algorithm);
    if (name.empty())
      return op.emitOpError("asks for an algorithm that HLO has no name for: ") << *algorithm;
    attributes.add("algorithm", name);
  }
  auto [lhs, rhs] = unwidened(op);
  return to.result(op, "dot", {to[lhs], to[rhs]}, attributes);
}

static LogicalResult dot(shlo::DotOp op, Computation &to) {
  int64_t last = cast<RankedTensorType>(op.getLhs().getType()).getRank() - 1;
  Attributes attributes;
  attributes.list("lhs_contracting_dims", last).list("rhs_contracting_dims", 0);
  addPrecision(op.getPrecisionConfig(), attributes);
  return to.result(op, "dot", attributes);
}

/// `b01f`: the role of each dimension, spatial ones by number.
static std::string labels(int64_t first, char firstLabel, int64_t second, char secondLabel, ArrayRef<int64_t> spatial) {
  std::string text(2 + spatial.size(), '?');
  text[first] = firstLabel;
  text[second] = secondLabel;
  for (auto [i, d] : llvm::enumerate(spatial))
    text[d] = static_cast<char>('0' + i);
  return text;
}

static LogicalResult convolution(shlo::ConvolutionOp op, Computation &to) {
  shlo::ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  if (dims.getInputSpatialDimensions().size() > 10)
    return op.emitOpError("has more than 10 spatial dimensions, which HLO text cannot number");
  auto kernel = cast<RankedTensorType>(op.getRhs().getType());
  Window window;
  for (int64_t d : dims.getKernelSpatialDimensions())
    window.sizes.push_back(kernel.getDimSize(d));
  window.strides = op.getWindowStrides();
  window.padding = op.getPadding();
  window.operandDilations = op.getLhsDilation();
  window.windowDilations = op.getRhsDilation();
  window.reversal = op.getWindowReversal();
  Attributes attributes;
  attributes.add("window", window.text());
  attributes.add("dim_labels",
                 labels(dims.getInputBatchDimension(), 'b', dims.getInputFeatureDimension(), 'f', dims.getInputSpatialDimensions()) + "_" +
                     labels(dims.getKernelInputFeatureDimension(), 'i', dims.getKernelOutputFeatureDimension(), 'o', dims.getKernelSpatialDimensions()) + "->" +
                     labels(dims.getOutputBatchDimension(), 'b', dims.getOutputFeatureDimension(), 'f', dims.getOutputSpatialDimensions()));
  if (op.getFeatureGroupCount() != 1)
    attributes.add("feature_group_count", Twine(op.getFeatureGroupCount()));
  if (op.getBatchGroupCount() != 1)
    attributes.add("batch_group_count", Twine(op.getBatchGroupCount()));
  addPrecision(op.getPrecisionConfig(), attributes);
  return to.result(op, "convolution", attributes);
}

Visit visitContraction(Operation *op, Computation &to) {
  return llvm::TypeSwitch<Operation *, Visit>(op)
      .Case<shlo::ConvertOp>([&](auto op) { return isAbsorbed(op) ? Visit(success()) : std::nullopt; })
      .Case<shlo::DotGeneralOp>([&](auto op) { return dotGeneral(op, to); })
      .Case<shlo::DotOp>([&](auto op) { return dot(op, to); })
      .Case<shlo::ConvolutionOp>([&](auto op) { return convolution(op, to); })
      .Case<shlo::CholeskyOp>(
          [&](shlo::CholeskyOp op) { return to.result(op, "cholesky", Attributes().flag("lower", op.getLower())); })
      .Case<shlo::TriangularSolveOp>([&](shlo::TriangularSolveOp op) {
        Attributes attributes;
        attributes.flag("left_side", op.getLeftSide()).flag("lower", op.getLower());
        attributes.flag("unit_diagonal", op.getUnitDiagonal());
        attributes.add("transpose_a", shlo::stringifyTranspose(op.getTransposeA()));
        return to.result(op, "triangular-solve", attributes);
      })
      .Default([](auto) { return std::nullopt; });
}

} // namespace millrace::hlo
