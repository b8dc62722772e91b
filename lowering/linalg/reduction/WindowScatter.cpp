// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WindowScatter.cpp - Kernels that are one select_and_scatter --------===//
// Input:   a kernel of constants and "stablehlo.select_and_scatter"(%arg0, %arg1, %constant) ({GE}, {add}), perhaps with a pad of %arg0
//          before it and the slice that removes the padding after it
// Output:  the attribute `millrace.window_scatter` of the kernel, for the emitter; the body is lowered like any other
// Leaves alone other selections and scatters, unknown sizes, numbers that are not f32, f64, or signed and as wide.
#include "lowering/linalg/reduction/WindowScatter.h"

#include "dialects/millrace/Attributes.h"
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/reduction/Windows.h"
#include "passes/fusion/plan/FusionPolicy.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

bool isComparison(Value value, stablehlo::ComparisonDirection direction, Value lhs, Value rhs) {
  auto compare = value.getDefiningOp<stablehlo::CompareOp>();
  return compare && compare.getComparisonDirection() == direction && compare.getLhs() == lhs && compare.getRhs() == rhs &&
         compare.getCompareType() != stablehlo::ComparisonType::TOTALORDER &&
         compare.getCompareType() != stablehlo::ComparisonType::WEAKORDER &&
         compare.getCompareType() != stablehlo::ComparisonType::UNSIGNED;
}

/// Matches `a >= b`, or `a >= b or a is NaN`.
bool matchSelect(Region &region, bool &keepsNan) {
  Value a = region.getArgument(0), b = region.getArgument(1), chosen = region.front().getTerminator()->getOperand(0);
  keepsNan = false;
  if (auto either = chosen.getDefiningOp<stablehlo::OrOp>()) {
    if (!isComparison(either.getRhs(), stablehlo::ComparisonDirection::NE, a, a))
      return false;
    keepsNan = true;
    chosen = either.getLhs();
  }
  return isComparison(chosen, stablehlo::ComparisonDirection::GE, a, b);
}

bool isSum(Region &region) {
  auto add = region.front().getTerminator()->getOperand(0).getDefiningOp<stablehlo::AddOp>();
  return add && add.getLhs() == region.getArgument(0) && add.getRhs() == region.getArgument(1);
}

bool isSupported(Type type) {
  return type.isF32() || type.isF64() || type.isSignlessInteger(32) || type.isSignlessInteger(64);
}

} // namespace

void noteWindowScatter(func::FuncOp kernel) {
  if (kernel.isExternal() || !kernel.getBody().hasOneBlock() || kernel.getNumArguments() != 2)
    return;
  stablehlo::SelectAndScatterOp op;
  stablehlo::PadOp pad;
  stablehlo::SliceOp slice;
  auto isOnly = [](auto &kept, Operation &inner) {
    auto one = dyn_cast<std::remove_reference_t<decltype(kept)>>(inner);
    bool isFirst = one && !kept;
    kept = one ? one : kept;
    return isFirst;
  };
  for (Operation &inner : kernel.getBody().front())
    if (!isa<stablehlo::ConstantOp, func::ReturnOp>(inner) && !isOnly(op, inner) && !isOnly(pad, inner) && !isOnly(slice, inner))
      return;
  WindowScatter found;
  DenseElementsAttr init, beyond;
  if (!op || (pad ? op.getOperand() != pad : op.getOperand() != kernel.getArgument(0)) || op.getSource() != kernel.getArgument(1) ||
      !matchPattern(op.getInitValue(), m_Constant(&init)) || !matchSelect(op.getSelect(), found.keepsNan) ||
      !isSum(op.getScatter()))
    return;
  if (!pad != !slice || (pad && (pad.getOperand() != kernel.getArgument(0) || fusion::paddedScatterOf(slice) != op ||
                                 !matchPattern(pad.getPaddingValue(), m_Constant(&beyond)))))
    return;
  auto type = cast<RankedTensorType>(kernel.getArgument(0).getType());
  auto source = cast<RankedTensorType>(op.getSource().getType());
  if (!type.hasStaticShape() || !source.hasStaticShape() || !isSupported(type.getElementType()) ||
      source.getElementType() != type.getElementType() || init.getElementType() != type.getElementType())
    return;
  int64_t rank = type.getRank();
  SmallVector<int64_t> low;
  for (auto [before, after] : paddingPairs(op.getPadding(), rank))
    low.push_back(before);
  if (pad)
    llvm::copy(pad.getEdgePaddingLow(), low.begin());
  Builder b(kernel.getContext());
  SmallVector<NamedAttribute> noted{b.getNamedAttr("init", init.getSplatValue<TypedAttr>()),
                                    b.getNamedAttr("keeps_nan", b.getBoolAttr(found.keepsNan)),
                                    b.getNamedAttr("low", b.getDenseI64ArrayAttr(low)),
                                    b.getNamedAttr("strides", b.getDenseI64ArrayAttr(orOnes(op.getWindowStrides(), rank))),
                                    b.getNamedAttr("window", b.getDenseI64ArrayAttr(orOnes(op.getWindowDimensions(), rank)))};
  if (pad)
    noted.push_back(b.getNamedAttr("beyond", beyond.getSplatValue<TypedAttr>()));
  kernel->setAttr(kWindowScatterAttr, b.getDictionaryAttr(noted));
}

std::optional<WindowScatter> windowScatterOf(func::FuncOp kernel) {
  auto noted = kernel->getAttrOfType<DictionaryAttr>(kWindowScatterAttr);
  if (!noted)
    return std::nullopt;
  auto numbers = [&](StringRef name) { return SmallVector<int64_t>(noted.getAs<DenseI64ArrayAttr>(name).asArrayRef()); };
  return WindowScatter{numbers("window"), numbers("strides"), numbers("low"), noted.getAs<TypedAttr>("beyond"),
                       noted.getAs<BoolAttr>("keeps_nan").getValue(), cast<TypedAttr>(noted.get("init"))};
}

} // namespace millrace::lowering
