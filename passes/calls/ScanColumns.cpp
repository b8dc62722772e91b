// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScanColumns.cpp - Compute scans with lanes across lines -------------===//
// Input:   reduce_window %x, %init: window = [1, 1000], padding = [[0, 0], [999, 0]], {several operations}, %x: tensor<64x1000xf32>
// Output:  transpose, reduce_window of tensor<1000x64xf32> along its first dimension, transpose: a step combines two rows, with vectors along them
//          A few lines are cut into blocks first, which become lines; then every block is combined with the results of those before it.
// Leaves alone scans along another dimension than the last, small ones, and bodies that call functions or contain regions.
//===----------------------------------------------------------------------===//
#include "dialects/stablehlo/Box.h"
#include "passes/calls/Cumulative.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <functional>
#include <numeric>

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::calls {
namespace {

/// Smaller scans stay a loop in a kernel. Unit: elements. Source: judgement, not measured alone; chosen in commit f7caa64.
constexpr int64_t kMinScanElements = 4096;
/// So many lines fill enough vectors to hide the latency of a step; fewer lines are cut into blocks. Unit: lines. Source: judgement, not measured
/// alone; chosen in commit f7caa64.
constexpr int64_t kMinLinesOfScan = 32;
/// Combining a shorter block costs as much as it saves. Unit: elements of a line. Source: judgement, not measured alone; chosen in commit f7caa64.
constexpr int64_t kMinScanBlock = 32;

class Scan {
public:
  Scan(OpBuilder &b, ReduceWindowOp op, bool reverse) : b(b), op(op), reverse(reverse) {}

  RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
  Value reshape(Value value, ArrayRef<int64_t> shape) {
    return ReshapeOp::create(b, op.getLoc(), typeOf(value).clone(shape), value);
  }
  Value transpose(Value value, ArrayRef<int64_t> order) {
    SmallVector<int64_t> shape;
    for (int64_t d : order)
      shape.push_back(typeOf(value).getDimSize(d));
    return TransposeOp::create(b, op.getLoc(), typeOf(value).clone(shape), value, b.getDenseI64ArrayAttr(order));
  }
  Value pad(Value value, ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
    SmallVector<int64_t> shape(typeOf(value).getShape());
    for (auto [size, before, after] : llvm::zip_equal(shape, low, high))
      size += before + after;
    return PadOp::create(b, op.getLoc(), typeOf(value).clone(shape), value, op.getInitValues()[0], b.getDenseI64ArrayAttr(low),
                         b.getDenseI64ArrayAttr(high), b.getDenseI64ArrayAttr(SmallVector<int64_t>(shape.size(), 0)));
  }
  Value slice(Value value, ArrayRef<int64_t> begin, ArrayRef<int64_t> end) {
    return boxOf(b, op.getLoc(), value, {SmallVector<int64_t>(begin), SmallVector<int64_t>(end), SmallVector<int64_t>(begin.size(), 1)});
  }
  Value turn(Value value, int64_t dimension) {
    return reverse ? Value(ReverseOp::create(b, op.getLoc(), value, b.getDenseI64ArrayAttr({dimension}))) : value;
  }

  /// Scans along the first of two dimensions. The earlier result is the body's first argument, with `reverse` its second.
  Value scanRows(Value value) {
    RankedTensorType type = typeOf(value);
    int64_t n = type.getDimSize(0), padding[4] = {n - 1, 0, 0, 0};
    auto ones = b.getDenseI64ArrayAttr({1, 1});
    auto edges = DenseIntElementsAttr::get(RankedTensorType::get({2, 2}, b.getI64Type()), padding);
    auto scan = ReduceWindowOp::create(b, op.getLoc(), TypeRange{type}, ValueRange{value}, ValueRange{op.getInitValues()[0]},
                                       b.getDenseI64ArrayAttr({n, 1}), ones, ones, ones, edges);
    IRMapping mapping;
    op.getBody().cloneInto(&scan.getBody(), mapping);
    if (reverse) {
      Block &body = scan.getBody().front();
      auto usesOf = [](Value value) { return llvm::map_to_vector(value.getUses(), [](OpOperand &use) { return &use; }); };
      auto ofFirst = usesOf(body.getArgument(0)), ofSecond = usesOf(body.getArgument(1));
      for (OpOperand *use : ofFirst)
        use->set(body.getArgument(1));
      for (OpOperand *use : ofSecond)
        use->set(body.getArgument(0));
    }
    return scan.getResult(0);
  }

  /// Applies the body elementwise.
  Value combine(Value before, Value value) {
    RankedTensorType type = typeOf(value);
    Block &body = op.getBody().front();
    IRMapping mapping;
    mapping.map(body.getArgument(reverse ? 1 : 0), before);
    mapping.map(body.getArgument(reverse ? 0 : 1), value);
    auto spread = [&](Value number) {
      auto attr = cast<DenseElementsAttr>(number.getDefiningOp<ConstantOp>().getValue());
      mapping.map(number, ConstantOp::create(b, op.getLoc(), attr.resizeSplat(type.clone(attr.getElementType()))).getResult());
    };
    for (Operation &inner : body.without_terminator()) {
      if (isa<ConstantOp>(inner)) {
        spread(inner.getResult(0));
        continue;
      }
      for (Value operand : inner.getOperands()) // constants may be defined outside of the body
        if (!mapping.contains(operand))
          spread(operand);
      Operation *whole = b.clone(inner, mapping);
      for (Value result : whole->getResults())
        result.setType(type.clone(typeOf(result).getElementType()));
    }
    return mapping.lookup(body.getTerminator()->getOperand(0));
  }

private:
  OpBuilder &b;
  ReduceWindowOp op;
  bool reverse;
};

/// Returns true for operations that have the same meaning for scalars and, elementwise, for tensors.
bool isElementByElement(Operation &op) {
  auto isScalar = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == 0;
  };
  // cumulativeOf() has checked that the body reads only constants from outside.
  return isa<ConstantOp, AbsOp, AddOp, AndOp, CompareOp, ConvertOp, DivOp, ExpOp, Expm1Op, LogOp, Log1pOp, LogisticOp, MaxOp, MinOp, MulOp, NegOp,
             NotOp, OrOp, PowOp, RemOp, SelectOp, SignOp, SqrtOp, SubtractOp, TanhOp, XorOp>(op) &&
         llvm::all_of(op.getOperandTypes(), isScalar) && llvm::all_of(op.getResultTypes(), isScalar);
}

} // namespace

void scanColumns(ReduceWindowOp op, const Cumulative &cumulative) {
  auto type = cast<RankedTensorType>(op.getInputs()[0].getType());
  ArrayRef<int64_t> shape = type.getShape();
  int64_t d = cumulative.dimension, n = shape[d];
  auto product = [](ArrayRef<int64_t> sizes) { return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<>()); };
  int64_t outer = product(shape.take_front(d)), inner = product(shape.drop_front(d + 1));
  if (type.getNumElements() <= kMinScanElements || inner >= kMinLinesOfScan ||
      cast<RankedTensorType>(op.getInitValues()[0].getType()).getElementType() != type.getElementType() || op.getResult(0).getType() != type ||
      !llvm::all_of(op.getBody().front().without_terminator(), isElementByElement))
    return;
  int64_t lines = outer * inner;
  int64_t blocks = lines >= kMinLinesOfScan ? 1 : std::max<int64_t>(1, std::min(2 * kMinLinesOfScan / lines, n / kMinScanBlock));
  int64_t length = (n + blocks - 1) / blocks, all = blocks * lines;

  OpBuilder b(op);
  Scan s(b, op, cumulative.reverse);
  Value x = s.turn(s.reshape(op.getInputs()[0], {outer, n, inner}), 1);
  if (length * blocks != n)
    x = s.pad(x, {0, 0, 0}, {0, length * blocks - n, 0});
  x = s.transpose(s.reshape(x, {outer, blocks, length, inner}), {2, 0, 1, 3});
  Value y = s.scanRows(s.reshape(x, {length, all}));
  if (blocks > 1) {
    Value totals = s.reshape(s.slice(y, {length - 1, 0}, {length, all}), {outer, blocks, inner});
    totals = s.scanRows(s.reshape(s.transpose(totals, {1, 0, 2}), {blocks, lines}));
    Value before = s.reshape(s.pad(totals, {1, 0}, {-1, 0}), {blocks, outer, inner});
    before = s.reshape(s.transpose(before, {1, 0, 2}), {all});
    before = BroadcastInDimOp::create(b, op.getLoc(), y.getType(), before, b.getDenseI64ArrayAttr({1}));
    y = s.combine(before, y);
  }
  y = s.reshape(s.transpose(s.reshape(y, {length, outer, blocks, inner}), {1, 2, 0, 3}), {outer, blocks * length, inner});
  if (length * blocks != n)
    y = s.slice(y, {0, 0, 0}, {outer, n, inner});
  op->replaceAllUsesWith(ValueRange{s.reshape(s.turn(y, 1), shape)});
  op.erase();
}

} // namespace millrace::calls
