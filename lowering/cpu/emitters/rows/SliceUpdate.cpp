// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SliceUpdate.cpp - Emit in-place slice updates ----------------------===//
// Input:   func.func private @k(%a: tensor<64x1024xf32>, %u: tensor<1x1024xf32>, %i: tensor<i32>) {millrace.in_place = [array<i64: 0, 0>]}
//            %0 = tensor.insert_slice %u into %a[clamp(%i), 0] [1, 1024] [1, 1] ; return %0
// Output:  the elements of %u copied to their place in the buffer of %a: an iteration is a piece of the range that is contiguous in both
// Leaves alone updates that are computed in the kernel, strides, dynamic sizes.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/rows/SliceUpdate.h"

#include "lowering/cpu/emitters/EmitterShell.h"
#include "lowering/cpu/emitters/model/KernelModelBuilder.h"
#include "passes/fusion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// A longer slice is divided for threads. Unit: elements of an iteration. Source: judgement, not measured alone; chosen in commit f7caa64.
constexpr int64_t kMaxPieceElements = 4096;

class UpdateEmitter {
public:
  UpdateEmitter(func::FuncOp kernel, const KernelTarget &target) : kernel(kernel), target(target) {}
  FailureOr<EmittedKernel> run();

private:
  LogicalResult match();
  void emit();
  Value offsetOf(OpBuilder &b, OpFoldResult offset);
  Value scalar(OpBuilder &b, Value value);
  bool isScalar(Value value) const;
  void copy(PointEvaluator &at, Value from, Value to, Value count);

  func::FuncOp kernel;
  const KernelTarget &target;
  std::string why;
  KernelModel model; ///< only its buffers are set
  func::FuncOp shell;
  tensor::InsertSliceOp insert;
  unsigned destination = 0, source = 0; ///< arguments
  SmallVector<int64_t> rows;            ///< outer dimensions of the update, and their strides in the destination
  SmallVector<int64_t> rowStrides;
  int64_t length = 1;                   ///< elements that are contiguous in both
  int64_t width = 1;
  DenseMap<Value, Value> scalars;
};

/// Returns true for arithmetic on elements of one-element arguments.
bool UpdateEmitter::isScalar(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return isa<BlockArgument>(extract.getTensor()) && extract.getTensor().getType().hasStaticShape() &&
           extract.getTensor().getType().getNumElements() == 1;
  return isa_and_nonnull<arith::ArithDialect>(op->getDialect()) && op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isScalar(operand); });
}

LogicalResult UpdateEmitter::match() {
  auto pairs = fusion::inPlacePairs(kernel);
  Block &block = kernel.getBody().front();
  Operation *ret = block.getTerminator();
  insert = ret->getNumOperands() == 1 ? ret->getOperand(0).getDefiningOp<tensor::InsertSliceOp>() : tensor::InsertSliceOp();
  if (pairs.size() != 1 || !insert) {
    why = "not one slice written into an operand's buffer";
    return failure();
  }
  auto into = dyn_cast<BlockArgument>(insert.getDest()), from = dyn_cast<BlockArgument>(insert.getSource());
  if (!into || !from || into == from || into.getArgNumber() != pairs[0].first || !into.hasOneUse()) {
    why = "the update is computed here, or what is updated is read";
    return failure();
  }
  destination = into.getArgNumber();
  source = from.getArgNumber();
  if (!insert.getSourceType().hasStaticShape() || !insert.getDestType().hasStaticShape() || !insert.hasUnitStride() ||
      insert.getSourceType().getRank() != insert.getDestType().getRank() || insert.getSourceType().getNumElements() == 0 ||
      !insert.getSourceType().getElementType().isIntOrFloat() || insert.getSourceType().getElementTypeBitWidth() % 8) {
    why = "dynamic sizes, strides, fewer dimensions or elements that are not whole bytes";
    return failure();
  }
  for (OpFoldResult offset : insert.getMixedOffsets())
    if (auto value = dyn_cast<Value>(offset); value && !isScalar(value)) {
      why = "an offset that is more than arithmetic on scalars";
      return failure();
    }
  for (Type type : llvm::concat<const Type>(kernel.getArgumentTypes(), kernel.getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape()) {
      why = "a buffer of unknown size";
      return failure();
    }
    model.bufferElements.push_back(tensor.getNumElements());
    model.bufferTypes.push_back(storageType(tensor.getElementType()));
  }
  // Dimensions are contiguous in both from the last one on, up to the first one that is not written as a whole.
  ArrayRef<int64_t> sizes = insert.getSourceType().getShape(), whole = insert.getDestType().getShape();
  SmallVector<int64_t> strides = rowMajor(whole);
  int64_t d = sizes.size();
  while (d > 0) {
    --d;
    length *= sizes[d];
    if (sizes[d] != whole[d])
      break;
  }
  for (int64_t outer = 0; outer < d; ++outer)
    if (sizes[outer] != 1) {
      rows.push_back(sizes[outer]);
      rowStrides.push_back(strides[outer]);
    }
  width = std::max<int64_t>(1, target.vectorBits / insert.getSourceType().getElementTypeBitWidth());
  return success();
}

Value UpdateEmitter::scalar(OpBuilder &b, Value value) {
  Value &known = scalars[value];
  if (known)
    return known;
  Operation *op = value.getDefiningOp();
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    unsigned argument = cast<BlockArgument>(extract.getTensor()).getArgNumber();
    Value zero = arith::ConstantIndexOp::create(b, kernel.getLoc(), 0);
    Value loaded = memref::LoadOp::create(b, kernel.getLoc(), shell.getArgument(argument), ValueRange{zero});
    if (loaded.getType() != value.getType()) // a boolean is a byte
      loaded = arith::TruncIOp::create(b, kernel.getLoc(), value.getType(), loaded);
    return scalars[value] = loaded;
  }
  IRMapping map;
  for (Value operand : op->getOperands())
    map.map(operand, scalar(b, operand));
  return scalars[value] = b.clone(*op, map)->getResult(0);
}

Value UpdateEmitter::offsetOf(OpBuilder &b, OpFoldResult offset) {
  if (auto value = dyn_cast<Value>(offset))
    return scalar(b, value);
  return arith::ConstantIndexOp::create(b, kernel.getLoc(), *getConstantIntValue(offset));
}

/// Copies `count` elements: four vectors at a time, then vectors, then single elements.
void UpdateEmitter::copy(PointEvaluator &at, Value from, Value to, Value count) {
  Value input = at.buffer(source), output = at.buffer(destination);
  auto piece = [&](Value begin, int64_t vectors, bool isVector) {
    int64_t step = isVector ? vectors * width : 1;
    OpBuilder b = at.builder();
    Value all = arith::SubIOp::create(b, at.loc(), count, begin);
    Value end = at.add(begin, step == 1 ? all : at.mulConstant(arith::DivUIOp::create(b, at.loc(), all, at.constant(step)), step));
    scf::ForOp loop = openLoop(at, begin, end, step);
    at.enterLoop(loop);
    for (int64_t vector = 0; vector < vectors; ++vector) {
      Value index = at.addConstant(loop.getInductionVar(), vector * width);
      Value left = at.add(from, index), right = at.add(to, index);
      OpBuilder inner = at.builder();
      if (isVector) {
        auto type = at.vectorOf(cast<MemRefType>(input.getType()).getElementType());
        Value loaded = vector::LoadOp::create(inner, at.loc(), type, input, ValueRange{left});
        vector::StoreOp::create(inner, at.loc(), loaded, output, ValueRange{right});
      } else {
        Value loaded = memref::LoadOp::create(inner, at.loc(), input, ValueRange{left});
        memref::StoreOp::create(inner, at.loc(), loaded, output, ValueRange{right});
      }
    }
    at.leave();
    return end;
  };
  Value done = at.constant(0);
  if (length >= 4 * width)
    done = piece(done, 4, true);
  if (length >= width && length % (4 * width))
    done = piece(done, 1, true);
  if (length % width)
    piece(done, 1, false);
}

void UpdateEmitter::emit() {
  shell = createShell(kernel, model);
  OpBuilder entry(shell.getBody().front().getTerminator());
  Value base = arith::ConstantIndexOp::create(entry, kernel.getLoc(), 0);
  for (auto [offset, stride] : llvm::zip(insert.getMixedOffsets(), rowMajor(insert.getDestType().getShape()))) {
    Value scale = arith::ConstantIndexOp::create(entry, kernel.getLoc(), stride);
    Value term = arith::MulIOp::create(entry, kernel.getLoc(), offsetOf(entry, offset), scale);
    base = arith::AddIOp::create(entry, kernel.getLoc(), base, term);
  }
  PointEvaluator at(model, target, shell, width);
  scf::ForOp loop = openLoop(at, rangeBegin(shell), rangeEndArg(shell), 1);
  at.enterLoop(loop);
  int64_t pieces = llvm::divideCeil(length, kMaxPieceElements);
  auto split = [&](Value linear, int64_t size) -> std::pair<Value, Value> {
    OpBuilder b = at.builder();
    Value by = at.constant(size);
    return {arith::DivUIOp::create(b, at.loc(), linear, by), arith::RemUIOp::create(b, at.loc(), linear, by)};
  };
  Value row = loop.getInductionVar(), first = at.constant(0), count = at.constant(length);
  if (pieces > 1) {
    Value piece;
    std::tie(row, piece) = split(row, pieces);
    first = at.mulConstant(piece, kMaxPieceElements);
    OpBuilder b = at.builder();
    Value left = arith::SubIOp::create(b, at.loc(), count, first);
    count = arith::MinUIOp::create(b, at.loc(), left, at.constant(kMaxPieceElements));
  }
  Value from = at.add(at.mulConstant(row, length), first), to = at.add(base, first);
  for (size_t d = rows.size(); d-- > 0;) {
    Value index = row;
    if (d > 0)
      std::tie(row, index) = split(row, rows[d]);
    to = at.add(to, at.mulConstant(index, rowStrides[d]));
  }
  copy(at, from, to, count);
}

FailureOr<EmittedKernel> UpdateEmitter::run() {
  if (failed(match()))
    return refuse(kernel, "movement", why);
  emit();
  EmittedKernel out;
  out.fn = shell;
  out.emitter = "movement";
  out.rangeEnd = llvm::divideCeil(length, kMaxPieceElements);
  for (int64_t size : rows)
    out.rangeEnd *= size;
  double bytes = 2.0 * insert.getSourceType().getNumElements() * insert.getSourceType().getElementTypeBitWidth() / 8;
  out.nanosPerIteration = bytes / target.movedBytesPerNanosecond / double(out.rangeEnd);
  return out;
}

} // namespace

FailureOr<EmittedKernel> emitSliceUpdate(func::FuncOp fn, const KernelTarget &target) { return UpdateEmitter(fn, target).run(); }

} // namespace millrace::lowering
