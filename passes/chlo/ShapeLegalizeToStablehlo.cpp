// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShapeLegalizeToStablehlo.cpp - Shape computations in StableHLO -----===//
// Input:   %1 = shape.shape_of %0 : tensor<?x4xf32> -> tensor<2xindex>
//          %2 = stablehlo.dynamic_broadcast_in_dim %c, %1, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x4xf32>
// Output:  get_dimension_size, reshape and concatenate give the shape as tensor<2xi32>
// Leaves alone cstr_broadcastable unless legalize-constraints is set; values of type index that come from elsewhere or go
// elsewhere are cast. What has no counterpart is an error.
// Sizes are index in the shape dialect and i32 in StableHLO: each converted value has a twin of i32, made in the order of the
// program, and only uses that nobody converts get a cast back.
#include "dialects/stablehlo/Ops.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"
#include "passes/chlo/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::chlo {

#define GEN_PASS_DEF_SHAPELEGALIZETOSTABLEHLOPASS
#include "passes/chlo/Passes.h.inc"

namespace {

bool isIndexLike(Type type) { return getElementTypeOrSelf(type).isIndex(); }

std::optional<int64_t> constantIndex(Value value) {
  APInt result;
  if (!value.getType().isIndex() || !matchPattern(value, m_ConstantInt(&result)))
    return std::nullopt;
  return result.getSExtValue();
}

class ShapeConverter {
public:
  ShapeConverter(func::FuncOp function, bool constraints)
      : function(function), builder(function.getContext()), constraints(constraints) {}

  LogicalResult run() {
    SmallVector<Operation *> operations;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) { operations.push_back(op); });
    for (Operation *op : operations) {
      builder.setInsertionPoint(op);
      if (failed(convert(op)))
        return failure();
    }
    for (Operation *op : llvm::reverse(converted)) {
      castRemainingUses(op);
      op->erase();
    }
    // Erases indices that only shape computations used.
    for (Operation *op : llvm::reverse(operations))
      if (!llvm::is_contained(converted, op) && isa<arith::ConstantOp>(op) && op->use_empty())
        op->erase();
    return success();
  }

private:
  LogicalResult convert(Operation *op) {
    if (isa<arith::ConstantOp, tensor::CastOp, UnrealizedConversionCastOp>(op))
      return success();
    if (constraints && isa<shape::AssumingOp, shape::AssumingYieldOp, shape::ConstWitnessOp>(op))
      return success();
    if (isa_and_present<StablehloDialect>(op->getDialect()))
      return useTwins(op);
    bool isShapeOp = isa_and_present<shape::ShapeDialect, tensor::TensorDialect>(op->getDialect());
    bool isSizeOp = isa<arith::IndexCastOp>(op) || (isa<arith::MulIOp, arith::AddIOp, arith::SubIOp>(op) &&
                                                    isIndexLike(op->getResult(0).getType()));
    if (!isShapeOp && !isSizeOp)
      return success();
    if (auto broadcastable = dyn_cast<shape::CstrBroadcastableOp>(op); broadcastable && constraints)
      return assertBroadcastable(broadcastable);
    Value twin = llvm::TypeSwitch<Operation *, Value>(op)
                     .Case([&](shape::ShapeOfOp shapeOf) { return sizesOf(shapeOf.getArg()); })
                     .Case([&](shape::ConstShapeOp constant) {
                       return sizes(llvm::to_vector(constant.getShape().getValues<int64_t>()));
                     })
                     .Case([&](shape::NumElementsOp count) { return product(count.getShape()); })
                     .Case([&](shape::BroadcastOp broadcast) { return broadcasted(broadcast.getShapes()); })
                     .Case([&](shape::ConcatOp concat) { return joined({concat.getLhs(), concat.getRhs()}); })
                     .Case([&](shape::ToExtentTensorOp same) { return twinOf(same.getInput()); })
                     .Case([&](shape::GetExtentOp extent) { return element(extent.getShape(), extent.getDim()); })
                     .Case([&](tensor::DimOp dim) { return dimension(dim.getSource(), dim.getIndex()); })
                     .Case([&](tensor::ExtractOp extract) {
                       return extract.getIndices().size() == 1 ? element(extract.getTensor(), extract.getIndices()[0])
                                                               : Value();
                     })
                     .Case([&](tensor::FromElementsOp elements) { return fromElements(elements); })
                     .Case([&](arith::IndexCastOp cast) { return indexCast(cast); })
                     .Case([&](arith::MulIOp) { return binary<MulOp>(op); })
                     .Case([&](arith::AddIOp) { return binary<AddOp>(op); })
                     .Case([&](arith::SubIOp) { return binary<SubtractOp>(op); })
                     .Default([](Operation *) { return Value(); });
    if (!twin)
      return op->emitOpError("has no counterpart in StableHLO here");
    twins[op->getResult(0)] = twin;
    converted.push_back(op);
    return success();
  }

  /// StableHLO operations take shapes of i32 as well as of index.
  LogicalResult useTwins(Operation *op) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isIndexLike(operand.get().getType()))
        continue;
      Value twin = twinOf(operand.get());
      if (!twin)
        return op->emitOpError("has an operand of dynamic size and type index");
      operand.set(twin);
    }
    return success();
  }

  /// Returns the i32 tensor that replaces an index, an integer or a tensor of indices; null if there is none.
  Value twinOf(Value value) {
    if (Value known = twins.lookup(value))
      return known;
    auto shaped = dyn_cast<RankedTensorType>(value.getType());
    Type element = getElementTypeOrSelf(value.getType());
    if ((shaped && !shaped.hasStaticShape()) || (!shaped && isa<ShapedType>(value.getType())))
      return {};
    if (shaped && element.isInteger(32))
      return value;
    if (std::optional<int64_t> constant = constantIndex(value))
      return scalar(*constant);
    if (!element.isIndex() && !element.isInteger(32))
      return {};
    auto type = RankedTensorType::get(shaped ? shaped.getShape() : ArrayRef<int64_t>(), builder.getI32Type());
    return UnrealizedConversionCastOp::create(builder, value.getLoc(), type, value).getResult(0);
  }

  Location loc() { return builder.getInsertionPoint()->getLoc(); }
  RankedTensorType i32(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, builder.getI32Type()); }
  Value constant(ArrayRef<int64_t> shape, ArrayRef<int64_t> values) {
    SmallVector<int32_t> narrow(values.begin(), values.end());
    return ConstantOp::create(builder, loc(), DenseIntElementsAttr::get(i32(shape), narrow));
  }
  Value scalar(int64_t value) { return constant({}, value); }
  Value sizes(ArrayRef<int64_t> values) { return constant(int64_t(values.size()), values); }
  Value reshape(Value value, ArrayRef<int64_t> shape) { return ReshapeOp::create(builder, loc(), i32(shape), value); }
  int64_t length(Value twin) { return cast<RankedTensorType>(twin.getType()).getNumElements(); }
  bool isVector(Value twin) { return twin && cast<RankedTensorType>(twin.getType()).getRank() == 1; }
  Value concatenate(ArrayRef<Value> parts, int64_t total) {
    return ConcatenateOp::create(builder, loc(), i32(total), parts, builder.getI64IntegerAttr(0));
  }
  Value sizeOf(Value tensor, int64_t dim) {
    return GetDimensionSizeOp::create(builder, loc(), i32({}), tensor, builder.getI64IntegerAttr(dim));
  }

  Value sizesOf(Value tensor) {
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    if (!type)
      return {};
    if (type.hasStaticShape() || type.getRank() == 0)
      return sizes(type.getShape());
    SmallVector<Value> parts;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      parts.push_back(reshape(sizeOf(tensor, dim), 1));
    return concatenate(parts, type.getRank());
  }

  /// Returns one element of a vector: elements that are constants then fold, which a reduce would not.
  Value elementAt(Value twin, int64_t i) {
    Value slice = SliceOp::create(builder, loc(), i32(1), twin, builder.getDenseI64ArrayAttr(i),
                                  builder.getDenseI64ArrayAttr(i + 1), builder.getDenseI64ArrayAttr(1));
    return reshape(slice, {});
  }
  Value element(Value shape, Value position) {
    Value twin = twinOf(shape);
    std::optional<int64_t> i = constantIndex(position);
    return isVector(twin) && i && *i >= 0 && *i < length(twin) ? elementAt(twin, *i) : Value();
  }
  Value dimension(Value tensor, Value position) {
    auto type = dyn_cast<RankedTensorType>(tensor.getType());
    std::optional<int64_t> i = constantIndex(position);
    return type && i && *i >= 0 && *i < type.getRank() ? sizeOf(tensor, *i) : Value();
  }
  Value product(Value shape) {
    Value twin = twinOf(shape);
    if (!isVector(twin))
      return {};
    Value result = scalar(1);
    for (int64_t i = 0, e = length(twin); i < e; ++i)
      result = MulOp::create(builder, loc(), result, elementAt(twin, i));
    return result;
  }

  /// Returns two shapes at the larger of their ranks, the shorter with leading ones; empty if one has no i32 tensor.
  SmallVector<Value> aligned(ValueRange shapes) {
    if (shapes.size() != 2)
      return {};
    SmallVector<Value> result = {twinOf(shapes[0]), twinOf(shapes[1])};
    if (!isVector(result[0]) || !isVector(result[1]))
      return {};
    int64_t rank = std::max(length(result[0]), length(result[1]));
    for (Value &twin : result)
      if (int64_t missing = rank - length(twin))
        twin = concatenate({sizes(SmallVector<int64_t>(missing, 1)), twin}, rank);
    return result;
  }
  /// Returns the larger size of each dimension: where sizes differ one of them is 1, else the result is undefined anyway.
  Value broadcasted(ValueRange shapes) {
    SmallVector<Value> both = aligned(shapes);
    return both.empty() ? Value() : MaxOp::create(builder, loc(), both[0], both[1]).getResult();
  }
  Value joined(ValueRange shapes) {
    SmallVector<Value> parts;
    int64_t total = 0;
    for (Value shape : shapes) {
      parts.push_back(twinOf(shape));
      if (!isVector(parts.back()))
        return {};
      total += length(parts.back());
    }
    return concatenate(parts, total);
  }

  Value fromElements(tensor::FromElementsOp op) {
    if (op.getType().getRank() > 1 || op.getElements().empty())
      return {};
    SmallVector<Value> parts;
    for (Value value : op.getElements()) {
      Value twin = twinOf(value);
      if (!twin)
        return {};
      if (op.getType().getRank() == 0)
        return twin;
      parts.push_back(reshape(twin, 1));
    }
    return concatenate(parts, parts.size());
  }

  /// Both sides have the same i32 tensor; other widths than 32 bits are converted.
  Value indexCast(arith::IndexCastOp op) {
    Type to = getElementTypeOrSelf(op.getType());
    Value twin = twinOf(op.getIn());
    if (!twin) {
      // The operand has another width.
      Type from = getElementTypeOrSelf(op.getIn().getType());
      auto shaped = dyn_cast<RankedTensorType>(op.getIn().getType());
      if (!isa<IntegerType>(from) || (shaped && !shaped.hasStaticShape()))
        return {};
      Value tensor = op.getIn();
      if (!shaped)
        tensor = UnrealizedConversionCastOp::create(builder, loc(), RankedTensorType::get({}, from), tensor).getResult(0);
      return ConvertOp::create(builder, loc(), tensor, builder.getI32Type());
    }
    return to.isIndex() || to.isInteger(32) ? twin : ConvertOp::create(builder, loc(), twin, to).getResult();
  }

  template <typename Op>
  Value binary(Operation *op) {
    Value lhs = twinOf(op->getOperand(0)), rhs = twinOf(op->getOperand(1));
    return lhs && rhs ? Op::create(builder, loc(), lhs, rhs).getResult() : Value();
  }

  /// Asserts at run time that sizes are equal or one of them is 1, after which the witness is a constant.
  LogicalResult assertBroadcastable(shape::CstrBroadcastableOp op) {
    SmallVector<Value> both = aligned(op.getShapes());
    if (both.empty())
      return op.emitOpError("has no counterpart in StableHLO here");
    int64_t rank = length(both[0]);
    auto flags = [&](Value a, Value b) -> Value {
      return CompareOp::create(builder, loc(), a, b, ComparisonDirection::EQ);
    };
    Value ones = sizes(SmallVector<int64_t>(rank, 1));
    Value fits = OrOp::create(builder, loc(), flags(both[0], both[1]),
                              OrOp::create(builder, loc(), flags(both[0], ones), flags(both[1], ones)));
    auto scalarBool = RankedTensorType::get({}, builder.getI1Type()), oneBool = RankedTensorType::get(1, builder.getI1Type());
    Value all = ConstantOp::create(builder, loc(), DenseElementsAttr::get(scalarBool, true));
    for (int64_t i = 0; i < rank; ++i) {
      Value one = SliceOp::create(builder, loc(), oneBool, fits, builder.getDenseI64ArrayAttr(i),
                                  builder.getDenseI64ArrayAttr(i + 1), builder.getDenseI64ArrayAttr(1));
      all = AndOp::create(builder, loc(), all, ReshapeOp::create(builder, loc(), scalarBool, one));
    }
    OperationState state(op.getLoc(), CustomCallOp::getOperationName());
    state.addOperands(all);
    state.addAttribute("call_target_name", builder.getStringAttr("shape_assertion"));
    state.addAttribute("has_side_effect", builder.getBoolAttr(true));
    state.addAttribute("error_message", builder.getStringAttr("Shape assertion failed"));
    builder.create(state);
    Value witness = shape::ConstWitnessOp::create(builder, op.getLoc(), true);
    op.replaceAllUsesWith(witness);
    converted.push_back(op);
    return success();
  }

  void castRemainingUses(Operation *op) {
    for (Value result : op->getResults()) {
      Value twin = twins.lookup(result);
      bool used = llvm::any_of(result.getUsers(), [&](Operation *user) { return !llvm::is_contained(converted, user); });
      if (!used)
        continue;
      builder.setInsertionPoint(op);
      if (twin.getType() != result.getType())
        twin = UnrealizedConversionCastOp::create(builder, op->getLoc(), result.getType(), twin).getResult(0);
      result.replaceAllUsesWith(twin);
    }
  }

  func::FuncOp function;
  OpBuilder builder;
  bool constraints;
  DenseMap<Value, Value> twins;
  SmallVector<Operation *> converted;
};

struct ShapeLegalizeToStablehlo : impl::ShapeLegalizeToStablehloPassBase<ShapeLegalizeToStablehlo> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(ShapeConverter(getOperation(), legalizeConstraints).run()))
      signalPassFailure();
  }
};

} // namespace

void registerChloPipelines() {
  PassPipelineRegistration<>(
      "chlo-pre-serialization-pipeline", "Replace CHLO and shape computations by StableHLO, before writing an artifact",
      [](OpPassManager &manager) {
        manager.addNestedPass<func::FuncOp>(createChloLegalizeToStablehloPass());
        manager.addNestedPass<func::FuncOp>(createShapeLegalizeToStablehloPass());
        manager.addPass(createReconcileUnrealizedCastsPass());
      });
}

} // namespace millrace::chlo
