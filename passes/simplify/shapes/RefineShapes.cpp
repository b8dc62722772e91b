// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RefineShapes.cpp - Static shapes from argument types and constants -===//
// Input:   func.func @main(%arg0: tensor<16xf32>) -> tensor<?xf32> { %0 = stablehlo.dynamic_reshape %arg0, %shape .. }
// Output:  func.func @main(%arg0: tensor<16xf32>) -> tensor<4x4xf32>   where %shape evaluates to [4, 4]
// Types only become more specific. Small integer computations on constants are evaluated, since they make the shapes.
// A called function is copied once per combination of argument types and constant integer arguments.
// Leaves alone functions that @main does not reach.
#include "passes/simplify/shapes/DynamicCalls.h"
#include "passes/simplify/Passes.h"

#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/eval/Evaluator.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {

#define GEN_PASS_DEF_STABLEHLOREFINESHAPESPASS
#include "passes/simplify/Passes.h.inc"

namespace {

/// Largest shape computation that is evaluated. Unit: elements. Source: judgement, not measured alone: a shape has as many elements as a tensor has
/// dimensions, a pad's sizes three times as many.
constexpr int64_t kMaxShapeElements = 256;

class Refiner {
public:
  explicit Refiner(ModuleOp module) : symbols(module) {}

  LogicalResult refine(func::FuncOp function) {
    if (function.isExternal())
      return success();
    if (!function.getBody().hasOneBlock())
      return function.emitOpError("must have exactly one block");
    if (llvm::is_contained(active, function))
      return function.emitError("expects no recursion among functions that refinement reaches");
    active.push_back(function);
    LogicalResult refined = refineBlock(function.front());
    active.pop_back();
    if (failed(refined))
      return failure();
    function.setFunctionType(FunctionType::get(function.getContext(), function.front().getArgumentTypes(),
                                               function.front().getTerminator()->getOperandTypes()));
    return success();
  }

  /// Erases functions of which only copies are called.
  void eraseReplaced(ModuleOp module) {
    for (func::FuncOp function : replaced)
      if (function.isPrivate() && SymbolTable::symbolKnownUseEmpty(function, module))
        symbols.erase(function);
  }

private:
  LogicalResult refineBlock(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block))
      if (failed(refineOp(op)))
        return failure();
    return success();
  }

  LogicalResult refineOp(Operation &op) {
    if (op.hasTrait<mlir::OpTrait::IsTerminator>())
      return success();
    if (foldShapeComputation(op))
      return success();
    return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
        .Case([&](func::CallOp call) { return refineCall(call); })
        .Case([&](WhileOp loop) { return refineWhile(loop); })
        .Case<IfOp, CaseOp>([&](auto branch) {
          for (Region &region : branch->getRegions())
            if (failed(refineBlock(region.front())))
              return failure();
          return refineByInference(*branch);
        })
        .Case([&](CustomCallOp call) { return refineCustomCall(call); })
        .Case([&](DynamicBroadcastInDimOp dynamic) { return refineByShape(op, dynamic.getOutputDimensions()); })
        .Case([&](DynamicIotaOp dynamic) { return refineByShape(op, dynamic.getOutputShape()); })
        .Case([&](DynamicReshapeOp dynamic) { return refineByShape(op, dynamic.getOutputShape()); })
        .Case([&](RngOp rng) { return refineByShape(op, rng.getShape()); })
        .Case([&](DynamicPadOp pad) { return refinePad(pad); })
        .Case([&](RealDynamicSliceOp slice) { return refineSlice(slice); })
        .Case([&](UniformQuantizeOp quantize) { return refineLikeOperand(op); })
        .Case([&](ConvertOp convert) {
          LogicalResult refined = refineLikeOperand(op);
          if (succeeded(refined))
            foldShapeComputation(op); // only now has the result a size
          return refined;
        })
        .Default([&](Operation *) { return refineByInference(op); });
  }

  /// Replaces an integer computation on constants by its value; true if `op` is gone.
  bool foldShapeComputation(Operation &op) {
    if (!isa_and_present<StablehloDialect>(op.getDialect()) || op.getNumRegions() != 0 || op.getNumResults() != 1 ||
        isa<ConstantOp, CustomCallOp, OptimizationBarrierOp, RngOp>(op) || !isMemoryEffectFree(&op))
      return false;
    auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
    if (!type || !isa<IntegerType>(type.getElementType()))
      return false;
    // Shapes are computed in integers only; a conversion from a float type computes data.
    if (auto convert = dyn_cast<ConvertOp>(op); convert && !isa<IntegerType>(getElementTypeOrSelf(convert.getOperand().getType())))
      return false;
    OpBuilder builder(&op);
    // The size of a static dimension needs no operand.
    if (auto size = dyn_cast<GetDimensionSizeOp>(op)) {
      auto operand = cast<RankedTensorType>(size.getOperand().getType());
      if (operand.isDynamicDim(size.getDimension()))
        return false;
      replaceByConstant(builder, op, DenseIntElementsAttr::get(type, int32_t(operand.getDimSize(size.getDimension()))));
      return true;
    }
    if (op.getNumOperands() == 0)
      return false;
    SmallVector<eval::Value> operands;
    for (Value operand : op.getOperands()) {
      DenseElementsAttr value;
      if (!matchPattern(operand, m_Constant(&value)) || value.getNumElements() > kMaxShapeElements)
        return false;
      auto tensor = eval::Tensor::fromAttr(value);
      if (!tensor) {
        llvm::consumeError(tensor.takeError());
        return false;
      }
      operands.push_back(std::move(*tensor));
    }
    if (!type.hasStaticShape()) {
      // A dynamic operation on constants has a static result once its shape is known.
      if (failed(refineByInference(op)) || !cast<RankedTensorType>(op.getResult(0).getType()).hasStaticShape())
        return false;
      type = cast<RankedTensorType>(op.getResult(0).getType());
    }
    if (type.getNumElements() > kMaxShapeElements)
      return false;
    auto results = eval::evaluateOp(&op, operands);
    if (!results) {
      llvm::consumeError(results.takeError());
      return false;
    }
    DenseElementsAttr value = results->front().tensor().toAttr();
    if (value.getType() != type)
      return false;
    replaceByConstant(builder, op, value);
    return true;
  }

  static void replaceByConstant(OpBuilder &builder, Operation &op, DenseElementsAttr value) {
    op.getResult(0).replaceAllUsesWith(ConstantOp::create(builder, op.getLoc(), value).getResult());
    op.erase();
  }

  /// `value` becomes as specific as both its type and `type` say.
  LogicalResult refineValue(Operation &op, Value value, Type type) {
    Type current = value.getType();
    if (current == type || !isa<RankedTensorType>(current) || !isa<RankedTensorType>(type))
      return success();
    // Inference may not know the element type that the program chose.
    type = cast<ShapedType>(type).clone(getElementTypeOrSelf(current));
    FailureOr<Type> merged = inferMostSpecificType(op.getLoc(), {current, type});
    if (failed(merged))
      return op.emitError("refinement of ") << current << " to " << type << " contradicts the program";
    if (*merged == current)
      return success();
    // Other dialects may need the exact type.
    for (Operation *user : value.getUsers())
      if (!isa_and_present<StablehloDialect, func::FuncDialect>(user->getDialect()))
        return success();
    value.setType(*merged);
    return success();
  }

  LogicalResult refineByInference(Operation &op) {
    auto inference = dyn_cast<InferTypeOpInterface>(op);
    if (!inference)
      return success();
    SmallVector<Type> types;
    auto infer = [&](std::optional<Location> loc) {
      types.clear();
      return inference.inferReturnTypes(op.getContext(), loc, op.getOperands(), op.getAttrDictionary(),
                                        op.getPropertiesStorage(), op.getRegions(), types);
    };
    // The verifier of the operation gives a more specific diagnostic than type inference.
    if (failed(infer(std::nullopt)) && (failed(mlir::verify(&op)) || failed(infer(op.getLoc()))))
      return failure();
    for (auto [result, type] : llvm::zip_equal(op.getResults(), types))
      if (failed(refineValue(op, result, type)))
        return failure();
    return success();
  }

  LogicalResult refineLikeOperand(Operation &op) {
    auto operand = cast<ShapedType>(op.getOperand(0).getType());
    return refineValue(op, op.getResult(0), operand.clone(getElementTypeOrSelf(op.getResult(0).getType())));
  }

  LogicalResult refineTo(Operation &op, ArrayRef<int64_t> shape) {
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    return refineValue(op, op.getResult(0), RankedTensorType::get(shape, type.getElementType()));
  }

  LogicalResult refineByShape(Operation &op, Value shape) {
    SmallVector<int64_t> sizes;
    return succeeded(matchInts(shape, sizes)) ? refineTo(op, sizes) : success();
  }

  LogicalResult refinePad(DynamicPadOp op) {
    SmallVector<int64_t> low, high, interior, sizes;
    if (failed(matchInts(op.getEdgePaddingLow(), low)) || failed(matchInts(op.getEdgePaddingHigh(), high)) ||
        failed(matchInts(op.getInteriorPadding(), interior)))
      return success();
    for (auto [i, size] : llvm::enumerate(cast<RankedTensorType>(op.getOperand().getType()).getShape()))
      sizes.push_back(isDynamicDimSize(size) ? size
                                             : size + low[i] + high[i] + std::max<int64_t>(size - 1, 0) * interior[i]);
    return refineTo(*op, sizes);
  }

  LogicalResult refineSlice(RealDynamicSliceOp op) {
    SmallVector<int64_t> start, limit, strides, sizes;
    if (failed(matchInts(op.getStartIndices(), start)) || failed(matchInts(op.getLimitIndices(), limit)) ||
        failed(matchInts(op.getStrides(), strides)))
      return success();
    for (auto [first, last, stride] : llvm::zip_equal(start, limit, strides)) {
      if (first > last || stride <= 0)
        return op.emitError("expects start <= limit and a positive stride, but got ")
               << first << ", " << last << ", " << stride;
      sizes.push_back(llvm::divideCeil(last - first, stride));
    }
    return refineTo(*op, sizes);
  }

  LogicalResult refineWhile(WhileOp op) {
    for (Region *region : {&op.getCond(), &op.getBody()}) {
      for (auto [argument, operand] : llvm::zip_equal(region->getArguments(), op.getOperands()))
        if (failed(refineValue(*op, argument, operand.getType())))
          return failure();
      if (failed(refineBlock(region->front())))
        return failure();
    }
    return refineByInference(*op);
  }

  /// Calls whose results have shapes that operands name: `indices_of_shape_operands`, one per result.
  LogicalResult refineCustomCall(CustomCallOp op) {
    for (auto [result, shape] : llvm::zip(op->getResults(), dynamicCallShapes(op)))
      if (auto type = dyn_cast<RankedTensorType>(result.getType()))
        if (failed(refineValue(*op, result, RankedTensorType::get(shape, type.getElementType()))))
          return failure();
    auto indices = op->getAttrOfType<DenseIntElementsAttr>("indices_of_shape_operands");
    if (!indices)
      return success();
    if (indices.getNumElements() != int64_t(op->getNumResults()))
      return op.emitError("indices_of_shape_operands: number of elements (")
             << indices.getNumElements() << ") must be equal to the number of operation results ("
             << op->getNumResults() << ")";
    llvm::BitVector shapeOperands(op->getNumOperands());
    SmallVector<SmallVector<int64_t>> shapes;
    for (int64_t index : indices.getValues<int64_t>()) {
      if (index < 0 || index >= int64_t(op->getNumOperands()))
        return op.emitError("indices_of_shape_operands: index ") << index << " must be within bounds for operands";
      SmallVector<int64_t> shape;
      if (failed(matchInts(op->getOperand(index), shape)))
        return success();
      shapes.push_back(shape);
      shapeOperands.set(index);
    }
    for (auto [result, shape] : llvm::zip_equal(op->getResults(), shapes)) {
      auto type = cast<RankedTensorType>(result.getType());
      if (int64_t(shape.size()) != type.getRank())
        return op.emitError("expects the shape operand to have ") << type.getRank() << " elements, but got "
                                                                  << shape.size();
      if (failed(refineValue(*op, result, RankedTensorType::get(shape, type.getElementType()))))
        return failure();
    }
    if (op.getCallTargetName() == "stablehlo.shape_refinement_operand_wrapper") {
      if (op->getNumResults() == 1 && op->getOperand(0).getType() == op->getResult(0).getType()) {
        op->getResult(0).replaceAllUsesWith(op->getOperand(0));
        op->erase();
      }
      return success();
    }
    op->eraseOperands(shapeOperands);
    op->removeAttr("indices_of_shape_operands");
    return success();
  }

  LogicalResult refineCall(func::CallOp call) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal())
      return success();
    // The key of a copy consists of the callee, the argument types and the integer arguments that are constants at this call.
    std::string key = call.getCallee().str();
    llvm::raw_string_ostream os(key);
    bool differs = false;
    SmallVector<DenseElementsAttr> constants;
    for (auto [operand, type] : llvm::zip_equal(call.getOperands(), callee.getArgumentTypes())) {
      DenseElementsAttr value;
      auto tensor = dyn_cast<RankedTensorType>(operand.getType());
      if (tensor && isa<IntegerType>(tensor.getElementType()) && matchPattern(operand, m_Constant(&value)) &&
          value.getNumElements() <= kMaxShapeElements) {
        os << '|' << value;
        differs = true;
      } else {
        os << '|' << operand.getType();
        value = {};
      }
      constants.push_back(value);
      differs |= operand.getType() != type;
    }
    auto [entry, isNew] = specialized.try_emplace(key);
    if (isNew) {
      func::FuncOp copy = callee;
      // Other calls may pass other types, so this call gets a copy and the function itself is not changed.
      if (differs) {
        copy = callee.clone();
        copy.setPrivate();
        symbols.insert(copy);
        replaced.insert(callee);
      }
      OpBuilder builder = OpBuilder::atBlockBegin(&copy.front());
      for (auto [argument, operand, constant] : llvm::zip_equal(copy.getArguments(), call.getOperands(), constants)) {
        argument.setType(operand.getType());
        if (constant)
          argument.replaceAllUsesWith(ConstantOp::create(builder, argument.getLoc(), constant));
      }
      entry->second = copy;
      if (failed(refine(copy)))
        return failure();
      entry = specialized.find(key);
    }
    func::FuncOp target = entry->second;
    call.setCallee(target.getSymName());
    for (auto [result, type] : llvm::zip_equal(call.getResults(), target.getFunctionType().getResults()))
      result.setType(type);
    return success();
  }

  SymbolTable symbols;
  SmallVector<func::FuncOp> active;
  llvm::SmallSetVector<func::FuncOp, 4> replaced;
  std::map<std::string, func::FuncOp> specialized;
};

struct RefineShapes : impl::StablehloRefineShapesPassBase<RefineShapes> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto function = module.lookupSymbol<func::FuncOp>("main");
    if (!function && llvm::hasSingleElement(module.getOps<func::FuncOp>()))
      function = *module.getOps<func::FuncOp>().begin();
    if (!function) {
      // The module does not say which function's argument types are those of the program.
      module.emitError("must have no more than one function or a `main` function to clearly identify which function "
                       "will be refined");
      return signalPassFailure();
    }
    Refiner refiner(module);
    if (failed(refiner.refine(function)))
      return signalPassFailure();
    refiner.eraseReplaced(module);
  }
};

} // namespace
} // namespace millrace::simplify
