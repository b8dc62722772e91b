// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SumOfProducts.cpp - A reduction as a sum of products of two operands ===//
#include "lowering/cpu/emitters/model/SumOfProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

LogicalResult matchFactor(const Node &node, Value value, Factor &factor, std::string &why) {
  factor.element = value;
  while (!isa<BlockArgument>(value)) {
    Operation *op = value.getDefiningOp();
    if (op->getNumOperands() != 1) {
      why = "a factor that is not an operand or a conversion of one";
      return failure();
    }
    value = op->getOperand(0);
    factor.converts = true;
  }
  factor.bodyArgument = cast<BlockArgument>(value).getArgNumber();
  if (factor.bodyArgument >= node.inputs.size()) {
    why = "a factor that is the accumulator";
    return failure();
  }
  factor.operand = &node.inputs[factor.bodyArgument];
  return success();
}

} // namespace

LogicalResult matchSumOfProducts(const Node &node, SumOfProducts &out, std::string &why) {
  Value element;
  out.node = &node;
  out.combine = matchCombiner(node.body, node.inputs.size(), element);
  out.multiply = out.combine ? element.getDefiningOp() : nullptr;
  bool floats = out.combine && isa<arith::AddFOp>(out.combine) && isa_and_nonnull<arith::MulFOp>(out.multiply);
  bool integers = out.combine && isa<arith::AddIOp>(out.combine) && isa_and_nonnull<arith::MulIOp>(out.multiply);
  if (!floats && !integers) {
    why = "the reduction is not a sum of products";
    return failure();
  }
  if (failed(matchFactor(node, out.multiply->getOperand(0), out.a, why)) ||
      failed(matchFactor(node, out.multiply->getOperand(1), out.b, why)))
    return failure();
  if (node.inputs.size() != 2 || out.a.bodyArgument == out.b.bodyArgument) {
    why = "the product is not of two operands";
    return failure();
  }
  out.accType = out.combine->getResult(0).getType();
  if (out.accType.isBF16() || out.accType.isF16())
    out.accType = Float32Type::get(out.accType.getContext());
  if (out.accType.isInteger(1)) {
    why = "sum of booleans";
    return failure();
  }
  return success();
}

Value factorAt(PointEvaluator &at, const SumOfProducts &sum, const Factor &factor) {
  const Node &node = *sum.node;
  SmallVector<Value> args(node.inputs.size() + node.inits.size());
  args[factor.bodyArgument] = at.evaluate(*factor.operand);
  Value value = at.evaluateInBody(node, factor.element, args);
  if (getElementTypeOrSelf(value.getType()) == sum.accType)
    return value;
  OpBuilder builder = at.builder();
  Type type = sum.accType;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(sum.accType);
  return arith::ExtFOp::create(builder, at.loc(), type, value);
}

Value finishSum(PointEvaluator &at, const SumOfProducts &products, Value sum) {
  Type resultType = products.combine->getResult(0).getType();
  const Operand &init = products.node->inits[0];
  bool zeroInit = init.kind == Operand::Scalar &&
                  (isa<FloatAttr>(init.scalar) ? cast<FloatAttr>(init.scalar).getValue().isZero()
                                               : cast<IntegerAttr>(init.scalar).getValue().isZero());
  OpBuilder builder = at.builder();
  if (products.accType != resultType)
    sum = arith::TruncFOp::create(builder, at.loc(), at.vectorOf(resultType), sum);
  if (!zeroInit)
    sum = at.cloneOn(products.combine, {at.evaluateVector(init), sum});
  return sum;
}

Value accumulateProduct(PointEvaluator &at, Value x, Value y, Value sum, bool fma) {
  OpBuilder builder = at.builder();
  if (isa<FloatType>(getElementTypeOrSelf(sum.getType()))) {
    if (fma)
      return vector::FMAOp::create(builder, at.loc(), x, y, sum);
    Value product = arith::MulFOp::create(builder, at.loc(), x, y);
    return arith::AddFOp::create(builder, at.loc(), sum, product);
  }
  Value product = arith::MulIOp::create(builder, at.loc(), x, y);
  return arith::AddIOp::create(builder, at.loc(), sum, product);
}

} // namespace millrace::lowering
