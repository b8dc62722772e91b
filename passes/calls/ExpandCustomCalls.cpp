// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandCustomCalls.cpp - Replace custom calls by operations ----------===//
// Input:   %0:2 = stablehlo.custom_call @ApproxTopK(%x, %iota, %init, %none) {called_computations = [@greater],
//                   mhlo.backend_config = {reduction_dim = 0 : i64, top_k = 5 : i64, ...}}
// Output:  %s:2 = stablehlo.sort(%x, %iota) with the body of @greater; %0#i = stablehlo.slice %s#i [0:5]
// Leaves alone calls whose target only the runtime knows.
//===----------------------------------------------------------------------===//
#include "dialects/stablehlo/Box.h"
#include "passes/Remarks.h"
#include "passes/calls/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::calls {
#define GEN_PASS_DEF_EXPANDCUSTOMCALLSPASS
#include "passes/calls/Passes.h.inc"

namespace {

/// Returns true for calls that only annotate placement, layout or sharding, which have no effect on one device with one kind of memory.
bool isAnnotation(StringRef target) {
  static constexpr StringLiteral targets[] = {"Sharding",      "SPMDFullToShardShape", "SPMDShardToFullShape",
                                              "MoveToDevice",  "MoveToHost",           "annotate_device_placement",
                                              "PinToDevice",   "LayoutConstraint",     "AssumeGatherIndicesInBound",
                                              "PinToDeviceSram"};
  return llvm::is_contained(targets, target);
}

/// Returns an integer of the configuration, which is a dictionary (typed calls) or JSON text (older ones).
FailureOr<int64_t> configInteger(CustomCallOp op, StringRef name) {
  auto dictionary = op->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
  if (!dictionary)
    dictionary = dyn_cast_or_null<DictionaryAttr>(op.getBackendConfigAttr());
  if (dictionary) {
    if (auto value = dictionary.getAs<IntegerAttr>(name))
      return value.getInt();
  } else if (auto text = dyn_cast_or_null<StringAttr>(op.getBackendConfigAttr())) {
    llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text.getValue());
    if (!parsed)
      llvm::consumeError(parsed.takeError());
    else if (const llvm::json::Object *object = parsed->getAsObject())
      if (std::optional<int64_t> value = object->getInteger(name))
        return *value;
  }
  return op.emitOpError("expects an integer '") << name << "' in its backend_config";
}

FailureOr<func::FuncOp> calledFunction(CustomCallOp op, SymbolTable &symbols, unsigned numArguments) {
  ArrayAttr called = op.getCalledComputations();
  auto function = called.size() == 1 ? symbols.lookup<func::FuncOp>(cast<FlatSymbolRefAttr>(called[0]).getValue())
                                     : func::FuncOp();
  if (!function || function.isExternal() || function.getNumArguments() != numArguments ||
      function.getBody().front().getTerminator()->getNumOperands() != 1)
    return op.emitOpError("expects one called computation with ") << numArguments << " arguments and one result";
  return function;
}

/// Sorts all elements: an exact result is a valid approximation.
LogicalResult expandApproxTopK(CustomCallOp op, SymbolTable &symbols) {
  unsigned count = op->getNumResults();
  if (op->getNumOperands() < 2 * count)
    return op.emitOpError("expects ") << 2 * count << " operands, but got " << op->getNumOperands();
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  FailureOr<int64_t> dim = configInteger(op, "reduction_dim");
  FailureOr<func::FuncOp> comparator = calledFunction(op, symbols, 2 * count);
  if (failed(dim) || failed(comparator))
    return failure();
  if (!type || !type.hasStaticShape() || *dim < -type.getRank() || *dim >= type.getRank())
    return op.emitOpError("expects a static operand with dimension ") << *dim << ", but got " << type;
  int64_t axis = *dim < 0 ? *dim + type.getRank() : *dim;
  OpBuilder builder(op);
  auto sort = SortOp::create(builder, op.getLoc(), op->getOperands().take_front(count), axis, /*is_stable=*/true);
  IRMapping mapping;
  comparator->getBody().cloneInto(&sort.getComparator(), mapping);
  Operation *terminator = sort.getComparator().front().getTerminator();
  builder.setInsertionPoint(terminator);
  stablehlo::ReturnOp::create(builder, terminator->getLoc(), terminator->getOperands());
  terminator->erase();
  builder.setInsertionPointAfter(sort);
  for (auto [sorted, result] : llvm::zip_equal(sort.getResults(), op->getResults())) {
    auto wanted = cast<RankedTensorType>(result.getType());
    if (!wanted.hasStaticShape() || wanted.getRank() != type.getRank() ||
        wanted.getDimSize(axis) > type.getDimSize(axis))
      return op.emitOpError("expects results no larger than ") << type << ", but got " << wanted;
    result.replaceAllUsesWith(boxOf(builder, op.getLoc(), sorted, Box::whole(wanted.getShape())));
  }
  op.erase();
  return success();
}

/// Expands `TopK` (k is the size of the result) and `mhlo.topk` (with mhlo.attributes).
LogicalResult expandTopK(CustomCallOp op) {
  auto result = op->getNumResults() == 2 ? dyn_cast<RankedTensorType>(op->getResult(0).getType()) : RankedTensorType();
  if (!result || op->getNumOperands() != 1 || result.getRank() == 0 || result.isDynamicDim(result.getRank() - 1))
    return op.emitOpError("expects one operand and two results whose last dimension is static");
  bool largest = true;
  if (auto attributes = op->getAttrOfType<DictionaryAttr>("mhlo.attributes"))
    if (auto value = attributes.getAs<BoolAttr>("largest"))
      largest = value.getValue();
  if (auto config = op->getAttrOfType<DictionaryAttr>("mhlo.backend_config"))
    if (auto value = config.getAs<BoolAttr>("largest"))
      largest = value.getValue();
  OpBuilder builder(op);
  OperationState state(op.getLoc(), chlo::TopKOp::getOperationName());
  state.addOperands(op->getOperands());
  state.addTypes(op->getResultTypes());
  state.addAttribute("k", builder.getI64IntegerAttr(result.getShape().back()));
  state.addAttribute("largest", builder.getBoolAttr(largest));
  op->replaceAllUsesWith(builder.create(state));
  op.erase();
  return success();
}

constexpr StringLiteral kPass = "xla-expand-custom-calls";

/// Replaces mhlo.erf and the like by the chlo operation of that name. Unknown names are left for the runtime to report.
LogicalResult expandUnary(CustomCallOp op) {
  std::string name = ("chlo." + op.getCallTargetName().drop_front(StringRef("mhlo.").size())).str();
  if (!RegisteredOperationName::lookup(name, op.getContext()) || op->getNumOperands() != 1 || op->getNumResults() != 1) {
    remarkMissed(op, kPass, "there is no operation " + name + " of one operand and one result");
    return success();
  }
  OpBuilder builder(op);
  OperationState state(op.getLoc(), name);
  state.addOperands(op->getOperands());
  state.addTypes(op->getResultTypes());
  op->replaceAllUsesWith(builder.create(state));
  op.erase();
  return success();
}

/// Returns "s", "d", "c" or "z"; the empty string for types that LAPACK does not have.
StringRef lapackPrefix(Type type) {
  bool isComplex = isa<ComplexType>(type);
  Type real = isComplex ? cast<ComplexType>(type).getElementType() : type;
  if (real.isF32())
    return isComplex ? "c" : "s";
  return real.isF64() ? (isComplex ? "z" : "d") : "";
}

/// Returns the layout of matrices in column-major order, as LAPACK expects them; values of lower rank are row-major.
Attribute lapackLayout(Builder &builder, Type type, int64_t matrixRank) {
  int64_t rank = cast<RankedTensorType>(type).getRank();
  SmallVector<int64_t> order;
  for (int64_t d = rank - 1; d >= 0; --d)
    order.push_back(d);
  if (rank == matrixRank)
    std::swap(order[0], order[1]);
  return DenseIntElementsAttr::get(RankedTensorType::get({rank}, builder.getIndexType()), order);
}

/// Expands Qr(a) -> packed, tau to geqrf, and ProductOfElementaryHouseholderReflectors(packed, tau) -> q to orgqr or ungqr.
LogicalResult expandQr(CustomCallOp op) {
  bool isProduct = op.getCallTargetName() != "Qr";
  unsigned operands = isProduct ? 2 : 1, results = isProduct ? 1 : 2;
  auto type = op->getNumOperands() ? dyn_cast<RankedTensorType>(op->getOperand(0).getType()) : RankedTensorType();
  if (op->getNumOperands() != operands || op->getNumResults() != results || !type || type.getRank() < 2 ||
      op->getResult(0).getType() != type)
    return op.emitOpError("expects ") << operands << " operand" << (isProduct ? "s" : "") << " and " << results
                                      << " result" << (isProduct ? "" : "s") << ", the first ones matrices of one type";
  StringRef prefix = lapackPrefix(type.getElementType());
  if (prefix.empty())
    return op.emitOpError("expects elements of type f32, f64, complex<f32> or complex<f64>, but got ")
           << type.getElementType();
  bool isComplex = isa<ComplexType>(type.getElementType());
  std::string target = ("lapack_" + prefix + (isProduct ? (isComplex ? "ungqr" : "orgqr") : "geqrf") + "_ffi").str();
  OpBuilder builder(op);
  SmallVector<Attribute> operandLayouts, resultLayouts;
  for (Type operand : op->getOperandTypes())
    operandLayouts.push_back(lapackLayout(builder, operand, type.getRank()));
  for (Type result : op->getResultTypes())
    resultLayouts.push_back(lapackLayout(builder, result, type.getRank()));
  SmallVector<int64_t> output;
  if (results > 1)
    output.push_back(0);
  Attribute alias = OutputOperandAliasAttr::get(op.getContext(), output, 0, {});
  SmallVector<NamedAttribute> attributes = {
      builder.getNamedAttr("call_target_name", builder.getStringAttr(target)),
      builder.getNamedAttr("has_side_effect", builder.getBoolAttr(false)),
      builder.getNamedAttr("mhlo.backend_config", builder.getDictionaryAttr({})),
      builder.getNamedAttr("operand_layouts", builder.getArrayAttr(operandLayouts)),
      builder.getNamedAttr("result_layouts", builder.getArrayAttr(resultLayouts)),
      builder.getNamedAttr("output_operand_aliases", builder.getArrayAttr(alias))};
  auto call = CustomCallOp::create(builder, op.getLoc(), op->getResultTypes(), op->getOperands(), attributes);
  op->replaceAllUsesWith(call);
  op.erase();
  return success();
}

bool isEmpty(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 0;
}

/// Returns true for a factorization of an empty matrix, whose results are empty except for a status: LAPACK refuses sizes of 0 when it is asked for
/// the size of its workspace.
bool isEmptyLapackCall(CustomCallOp op) {
  return op.getCallTargetName().starts_with("lapack_") && op->getNumOperands() > 0 && isEmpty(op->getOperand(0).getType()) &&
         llvm::all_of(op->getResultTypes(), [](Type type) {
           auto tensor = dyn_cast<RankedTensorType>(type);
           return isEmpty(type) || (tensor && tensor.getRank() == 0 && tensor.getElementType().isInteger(32));
         });
}

LogicalResult expandEmptyLapackCall(CustomCallOp op) {
  OpBuilder builder(op);
  SmallVector<Value> results;
  for (Type type : op->getResultTypes())
    // Empty results need no call; the status is 0, success.
    results.push_back(ConstantOp::create(
        builder, op.getLoc(), isEmpty(type) ? DenseElementsAttr::get(cast<ShapedType>(type), ArrayRef<Attribute>())
                                            : DenseElementsAttr::get(cast<ShapedType>(type), builder.getI32IntegerAttr(0))));
  op->replaceAllUsesWith(results);
  op.erase();
  return success();
}

struct ExpandCustomCalls : impl::ExpandCustomCallsPassBase<ExpandCustomCalls> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<CustomCallOp> calls;
    getOperation().walk([&](CustomCallOp op) { calls.push_back(op); });
    llvm::SetVector<func::FuncOp> comparators;
    for (CustomCallOp op : calls) {
      for (Attribute called : op.getCalledComputations())
        if (auto function = symbols.lookup<func::FuncOp>(cast<FlatSymbolRefAttr>(called).getValue()))
          comparators.insert(function);
      if (failed(expand(op, symbols)))
        return signalPassFailure();
    }
    // JAX makes comparators public although nothing else refers to them.
    for (func::FuncOp function : comparators)
      if (SymbolTable::symbolKnownUseEmpty(function, getOperation()))
        symbols.erase(function);
  }

  static LogicalResult expand(CustomCallOp op, SymbolTable &symbols) {
    StringRef target = op.getCallTargetName();
    if (isAnnotation(target)) {
      // With several partitions the types may differ; such a call is left to the partitioner.
      if (op->getNumOperands() == 1 && op->getResultTypes() == op->getOperandTypes()) {
        op->replaceAllUsesWith(op->getOperands());
        op.erase();
      } else {
        remarkMissed(op, kPass, "the annotation changes the type: partitioning replaces it");
      }
      return success();
    }
    if (target == "ApproxTopK" || target == "PartialReduce")
      return expandApproxTopK(op, symbols);
    if (target == "TopK" || target == "mhlo.topk")
      return expandTopK(op);
    if (target.starts_with("mhlo."))
      return expandUnary(op);
    if (target == "Qr" || target == "ProductOfElementaryHouseholderReflectors")
      return expandQr(op);
    if (isEmptyLapackCall(op))
      return expandEmptyLapackCall(op);
    // The textual form omits the attribute where it is false, and a call without it may have side effects: an unused Q would be computed.
    if (target.starts_with("lapack_") && !op.getHasSideEffectAttr())
      op.setHasSideEffect(false);
    remarkMissed(op, kPass, "no operations have the meaning of its target, which the runtime looks up");
    return success();
  }
};

} // namespace
} // namespace millrace::calls
