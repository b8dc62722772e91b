// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WindowReduce.cpp - Kernels that are one reduce_window --------------===//
// Input:   a kernel of constants and "stablehlo.reduce_window"(%arg0, %constant) ({maximum})
// Output:  the attribute `millrace.window_reduce` of the kernel, for the emitter; the body is lowered like any other
// Leaves alone other reducers, sums that do not start from zero, several operands, cumulative forms, unknown sizes,
// booleans and types that are stored as others.
#include "lowering/linalg/reduction/WindowReduce.h"

#include "dialects/millrace/Attributes.h"
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/Loops.h"
#include "lowering/linalg/storage/StorageTypes.h"
#include "lowering/linalg/reduction/Windows.h"
#include "passes/calls/Cumulative.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

bool isSupported(Type type) {
  if (type.isF16() || type.isBF16() || type.isF32() || type.isF64())
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && integer.getWidth() >= 8;
}

stablehlo::ReduceWindowOp onlyWindow(func::FuncOp kernel) {
  stablehlo::ReduceWindowOp op;
  for (Operation &inner : kernel.getBody().front()) {
    if (isa<stablehlo::ConstantOp>(inner))
      continue;
    if (auto result = dyn_cast<func::ReturnOp>(inner))
      return op && result.getNumOperands() == 1 && result.getOperand(0) == op.getResult(0) ? op : nullptr;
    if (op || !isa<stablehlo::ReduceWindowOp>(inner))
      return nullptr;
    op = cast<stablehlo::ReduceWindowOp>(inner);
  }
  return nullptr;
}

} // namespace

void noteWindowReduce(func::FuncOp kernel) {
  if (kernel.isExternal() || !kernel.getBody().hasOneBlock() || kernel.getNumArguments() != 1)
    return;
  stablehlo::ReduceWindowOp op = onlyWindow(kernel);
  DenseElementsAttr init;
  if (!op || op.getInputs().size() != 1 || op.getInputs()[0] != kernel.getArgument(0) ||
      !matchPattern(op.getInitValues()[0], m_Constant(&init)) || calls::cumulativeOf(op))
    return;
  auto type = cast<RankedTensorType>(op.getInputs()[0].getType()), result = cast<RankedTensorType>(op.getResult(0).getType());
  Type element = type.getElementType();
  if (!type.hasStaticShape() || !result.hasStaticShape() || !isSupported(element) || result.getElementType() != element ||
      init.getElementType() != element || getElementTypeOrSelf(op.getBody().getArgument(0).getType()) != element)
    return;
  int64_t rank = type.getRank();
  StringRef kind;
  switch (classifyReducer(op.getBody())) {
  case Reducer::Add: {
    // Zeros of both signs are accepted, because the sum begins with the zero anyway.
    auto number = dyn_cast<FloatAttr>(init.getSplatValue<Attribute>());
    if (number ? !number.getValue().isZero() : !init.getSplatValue<APInt>().isZero())
      return;
    kind = "sum";
    break;
  }
  case Reducer::Minimum:
    kind = "minimum";
    break;
  case Reducer::Maximum:
    kind = "maximum";
    break;
  default:
    return;
  }
  SmallVector<int64_t> low;
  for (auto [before, after] : paddingPairs(op.getPadding(), rank))
    low.push_back(before);
  Builder b(kernel.getContext());
  auto start = init.getSplatValue<TypedAttr>();
  if (auto integer = dyn_cast<IntegerAttr>(start))
    start = b.getIntegerAttr(storageElementType(element), integer.getValue());
  kernel->setAttr(kWindowReduceAttr, b.getDictionaryAttr({b.getNamedAttr("dilation", b.getDenseI64ArrayAttr(orOnes(op.getWindowDilations(), rank))),
                                              b.getNamedAttr("init", start), b.getNamedAttr("kind", b.getStringAttr(kind)),
                                              b.getNamedAttr("low", b.getDenseI64ArrayAttr(low)),
                                              b.getNamedAttr("spread", b.getDenseI64ArrayAttr(orOnes(op.getBaseDilations(), rank))),
                                              b.getNamedAttr("strides", b.getDenseI64ArrayAttr(orOnes(op.getWindowStrides(), rank))),
                                              b.getNamedAttr("unsigned", b.getBoolAttr(isUnsignedElement(element))),
                                              b.getNamedAttr("window", b.getDenseI64ArrayAttr(op.getWindowDimensions()))}));
}

std::optional<WindowReduce> windowReduceOf(func::FuncOp kernel) {
  auto noted = kernel->getAttrOfType<DictionaryAttr>(kWindowReduceAttr);
  if (!noted)
    return std::nullopt;
  auto numbers = [&](StringRef name) { return SmallVector<int64_t>(noted.getAs<DenseI64ArrayAttr>(name).asArrayRef()); };
  StringRef kind = noted.getAs<StringAttr>("kind").getValue();
  return WindowReduce{kind == "sum" ? WindowReduce::Sum : kind == "minimum" ? WindowReduce::Minimum : WindowReduce::Maximum,
                      noted.getAs<BoolAttr>("unsigned").getValue(),
                      numbers("window"),
                      numbers("strides"),
                      numbers("dilation"),
                      numbers("low"),
                      numbers("spread"),
                      cast<TypedAttr>(noted.get("init"))};
}

Value combineElements(OpBuilder &b, Location loc, const WindowReduce &what, Value x, Value y) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(x.getType()));
  switch (what.kind) {
  case WindowReduce::Sum:
    return isFloat ? arith::AddFOp::create(b, loc, x, y).getResult() : arith::AddIOp::create(b, loc, x, y).getResult();
  case WindowReduce::Minimum:
    return isFloat           ? arith::MinimumFOp::create(b, loc, x, y).getResult()
           : what.isUnsigned ? arith::MinUIOp::create(b, loc, x, y).getResult()
                             : arith::MinSIOp::create(b, loc, x, y).getResult();
  case WindowReduce::Maximum:
    return isFloat           ? arith::MaximumFOp::create(b, loc, x, y).getResult()
           : what.isUnsigned ? arith::MaxUIOp::create(b, loc, x, y).getResult()
                             : arith::MaxSIOp::create(b, loc, x, y).getResult();
  }
  llvm_unreachable("all kinds are handled");
}

} // namespace millrace::lowering
