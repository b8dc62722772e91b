// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DynamicCalls.cpp - Custom calls of JAX for dynamic shapes ----------===//
// Input:   %2:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%0, %c4) : (tensor<9xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
// Output:  %2:2 = chlo.top_k(%0, k = 4)
// Leaves alone calls with an amount that is no constant or a result of dynamic shape.
#include "passes/simplify/shapes/DynamicCalls.h"

#include "dialects/chlo/Ops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::simplify {
namespace {

constexpr StringLiteral kTopK = "stablehlo.dynamic_top_k", kApproxTopK = "stablehlo.dynamic_approx_top_k",
                        kRng = "stablehlo.dynamic_rng_bit_generator", kReduceWindow = "stablehlo.dynamic_reduce_window";

/// What dynamic_reduce_window says with operands; false if it is malformed or an amount is no constant.
struct Windows {
  size_t numInputs = 0;
  SmallVector<int64_t> dimensions, strides, baseDilations, dilations, padding;

  static std::optional<Windows> of(CustomCallOp call) {
    constexpr size_t numAmounts = 5;
    Windows windows;
    size_t operands = call.getInputs().size();
    if (operands < numAmounts + 2 || (operands - numAmounts) % 2 != 0)
      return std::nullopt;
    windows.numInputs = (operands - numAmounts) / 2;
    auto type = dyn_cast<RankedTensorType>(call.getInputs()[0].getType());
    size_t at = operands - numAmounts;
    for (SmallVector<int64_t> *amount : {&windows.dimensions, &windows.strides, &windows.baseDilations,
                                         &windows.dilations, &windows.padding})
      if (failed(matchInts(call.getInputs()[at++], *amount)))
        return std::nullopt;
    size_t rank = type ? type.getRank() : 0;
    for (SmallVector<int64_t> *amount : {&windows.dimensions, &windows.strides, &windows.baseDilations, &windows.dilations})
      if (!type || amount->size() != rank || llvm::any_of(*amount, [](int64_t size) { return size < 1; }))
        return std::nullopt;
    return windows.padding.size() == 2 * rank ? std::optional(windows) : std::nullopt;
  }

  SmallVector<int64_t> resultShape(ArrayRef<int64_t> input) const {
    SmallVector<int64_t> shape;
    for (auto [i, size] : llvm::enumerate(input)) {
      if (isDynamicDimSize(size)) {
        shape.push_back(size);
        continue;
      }
      int64_t dilated = size == 0 ? 0 : (size - 1) * baseDilations[i] + 1;
      int64_t padded = padding[2 * i] + dilated + padding[2 * i + 1];
      int64_t window = (dimensions[i] - 1) * dilations[i] + 1;
      shape.push_back(padded < window ? 0 : (padded - window) / strides[i] + 1);
    }
    return shape;
  }
};

std::optional<int64_t> amount(CustomCallOp call, size_t operand) {
  SmallVector<int64_t> values;
  if (operand >= call.getInputs().size() || failed(matchInts(call.getInputs()[operand], values)) || values.size() != 1)
    return std::nullopt;
  return values[0];
}

bool isStatic(CustomCallOp call) {
  return llvm::all_of(call->getResultTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  });
}

struct StaticCall : OpRewritePattern<CustomCallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CustomCallOp call, PatternRewriter &rewriter) const override {
    StringRef target = call.getCallTargetName();
    if (target != kTopK && target != kApproxTopK && target != kRng && target != kReduceWindow)
      return rewriter.notifyMatchFailure(call, "another call");
    if (!isStatic(call))
      return rewriter.notifyMatchFailure(call, "a result of dynamic shape");
    if (target == kTopK)
      return topK(call, rewriter);
    if (target == kApproxTopK)
      return approxTopK(call, rewriter);
    return target == kRng ? rng(call, rewriter) : reduceWindow(call, rewriter);
  }

private:
  static LogicalResult topK(CustomCallOp call, PatternRewriter &rewriter) {
    std::optional<int64_t> k = amount(call, 1);
    if (!k || call.getInputs().size() != 2 || call.getNumResults() != 2)
      return rewriter.notifyMatchFailure(call, "expects an operand and a constant");
    rewriter.replaceOpWithNewOp<chlo::TopKOp>(call, call->getResultTypes(), call.getInputs()[0],
                                              rewriter.getI64IntegerAttr(*k), BoolAttr());
    return success();
  }

  static LogicalResult approxTopK(CustomCallOp call, PatternRewriter &rewriter) {
    // Operands and initial values in pairs, then k.
    size_t last = call.getInputs().size() - 1;
    std::optional<int64_t> k = amount(call, last);
    auto config = call->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
    if (call.getInputs().size() % 2 == 0 || !k || !config)
      return rewriter.notifyMatchFailure(call, "expects pairs of operands, a constant, and a configuration");
    NamedAttrList entries(config);
    entries.set("top_k", rewriter.getI64IntegerAttr(*k));
    rewriter.modifyOpInPlace(call, [&] {
      call->eraseOperand(last);
      call.setCallTargetName("ApproxTopK");
      call->setAttr("mhlo.backend_config", entries.getDictionary(call.getContext()));
    });
    return success();
  }

  static LogicalResult rng(CustomCallOp call, PatternRewriter &rewriter) {
    auto algorithm = call->getAttrOfType<RngAlgorithmAttr>("rng_algorithm");
    if (!algorithm || call.getInputs().size() != 2 || call.getNumResults() != 2)
      return rewriter.notifyMatchFailure(call, "expects a state, a shape and an algorithm");
    rewriter.replaceOpWithNewOp<RngBitGeneratorOp>(call, call->getResultTypes(), algorithm, call.getInputs()[0]);
    return success();
  }

  static LogicalResult reduceWindow(CustomCallOp call, PatternRewriter &rewriter) {
    std::optional<Windows> windows = Windows::of(call);
    if (!windows || windows->numInputs != call.getNumResults())
      return rewriter.notifyMatchFailure(call, "expects constant windows");
    ArrayAttr bodies = call.getCalledComputations();
    auto name = bodies && bodies.size() == 1 ? dyn_cast<FlatSymbolRefAttr>(bodies[0]) : FlatSymbolRefAttr();
    auto body = name ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, name) : func::FuncOp();
    if (!body || !body.getBody().hasOneBlock())
      return rewriter.notifyMatchFailure(call, "expects a function as body");
    ValueRange inputs = call.getInputs().take_front(windows->numInputs);
    ValueRange initial = call.getInputs().slice(windows->numInputs, windows->numInputs);
    int64_t rank = windows->dimensions.size();
    auto paddingType = RankedTensorType::get({rank, 2}, rewriter.getI64Type());
    auto op = ReduceWindowOp::create(
        rewriter, call.getLoc(), call->getResultTypes(), inputs, initial,
        rewriter.getDenseI64ArrayAttr(windows->dimensions), rewriter.getDenseI64ArrayAttr(windows->strides),
        rewriter.getDenseI64ArrayAttr(windows->baseDilations), rewriter.getDenseI64ArrayAttr(windows->dilations),
        DenseIntElementsAttr::get(paddingType, windows->padding));
    IRMapping mapping;
    body.getBody().cloneInto(&op.getBody(), mapping);
    // JAX ends the function with the terminator of a body, other producers with the terminator of a function.
    Operation *end = op.getBody().front().getTerminator();
    if (!isa<stablehlo::ReturnOp>(end)) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPoint(end);
      rewriter.replaceOpWithNewOp<stablehlo::ReturnOp>(end, end->getOperands());
    }
    rewriter.replaceOp(call, op);
    return success();
  }
};

} // namespace

SmallVector<SmallVector<int64_t>> dynamicCallShapes(CustomCallOp call) {
  StringRef target = call.getCallTargetName();
  if (call.getInputs().empty())
    return {};
  auto first = dyn_cast<RankedTensorType>(call.getInputs()[0].getType());
  if (!first)
    return {};
  SmallVector<int64_t> shape(first.getShape());
  if (target == kTopK) {
    std::optional<int64_t> k = amount(call, 1);
    if (!k || shape.empty() || call.getNumResults() != 2)
      return {};
    shape.back() = *k;
    return {shape, shape};
  }
  if (target == kRng) {
    SmallVector<int64_t> output;
    if (call.getInputs().size() != 2 || call.getNumResults() != 2 || failed(matchInts(call.getInputs()[1], output)))
      return {};
    return {shape, output};
  }
  if (target == kReduceWindow)
    if (std::optional<Windows> windows = Windows::of(call); windows && windows->numInputs == call.getNumResults())
      return SmallVector<SmallVector<int64_t>>(windows->numInputs, windows->resultShape(shape));
  return {};
}

void populateDynamicCallPatterns(RewritePatternSet &patterns) { patterns.add<StaticCall>(patterns.getContext()); }

} // namespace millrace::simplify
