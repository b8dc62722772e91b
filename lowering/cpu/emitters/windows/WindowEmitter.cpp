// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WindowEmitter.cpp - Base of the window emitters --------------------===//
#include "lowering/cpu/emitters/windows/WindowEmitter.h"
#include "lowering/cpu/emitters/model/KernelModelBuilder.h"

using namespace mlir;

namespace millrace::lowering {

/// The code of each element of a window is unrolled. Unit: elements of a window. Source: judgement, not measured alone; commit e3a723d has the
/// figures of the whole change.
constexpr int64_t kMaxWindowElements = 32;

bool WindowScatterBase::describe() {
  auto type = cast<RankedTensorType>(kernel.getArgument(0).getType());
  auto source = cast<RankedTensorType>(kernel.getArgument(1).getType());
  if (type.getRank() == 0 || type.getNumElements() == 0 || source.getNumElements() == 0) {
    why = "no elements";
    return false;
  }
  if (llvm::product_of(what.window) > kMaxWindowElements) {
    why = "a large window";
    return false;
  }
  shape = type.getShape();
  sourceShape = source.getShape();
  strides = rowMajor(shape);
  sourceStrides = rowMajor(sourceShape);
  element = type.getElementType();
  unsigned bits = element.getIntOrFloatBitWidth();
  lanes = target.vectorBits / bits;
  vectorType = VectorType::get({lanes}, element);
  indexType = VectorType::get({lanes}, IntegerType::get(kernel.getContext(), bits));
  return true;
}

void WindowScatterBase::makeShell() {
  KernelModel model; // only the buffers are set
  for (ArrayRef<int64_t> sizes : {shape, sourceShape, shape}) {
    model.bufferElements.push_back(llvm::product_of(sizes));
    model.bufferTypes.push_back(element);
  }
  shell = createShell(kernel, model);
}

Value WindowScatterBase::position(OpBuilder &b, int64_t value) {
  APInt number(indexType.getElementTypeBitWidth(), value, /*isSigned=*/true);
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(cast<ShapedType>(indexType), number));
}

Value WindowScatterBase::isBetter(OpBuilder &b, Value best, Value chosen, bool isFound, Value x) {
  Value take;
  if (isa<FloatType>(element)) {
    // The comparison is the negation of best >= x, so that a NaN is kept once it is selected.
    take = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ULT, best, x);
    if (what.keepsNan)
      take = arith::AndIOp::create(b, loc, take, arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, best, best));
  } else {
    take = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, best, x);
  }
  if (isFound)
    return take;
  Value none = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, chosen, position(b, 0));
  return arith::OrIOp::create(b, loc, take, none);
}

Value WindowScatterBase::sum(OpBuilder &b, Value x, Value y) {
  if (isa<FloatType>(element))
    return arith::AddFOp::create(b, loc, x, y);
  return arith::AddIOp::create(b, loc, x, y);
}

} // namespace millrace::lowering
