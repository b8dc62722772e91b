// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelModelBuilder.cpp - Add operations, operands and results -------===//
#include "lowering/cpu/emitters/model/KernelModelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace millrace::lowering {

SmallVector<int64_t> rowMajor(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> strides(sizes.size(), 1);
  for (int64_t d = static_cast<int64_t>(sizes.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * sizes[d + 1];
  return strides;
}

static bool isSupportedNumber(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() && (integer.getWidth() == 1 || integer.getWidth() == 8 || integer.getWidth() == 16 ||
                                    integer.getWidth() == 32 || integer.getWidth() == 64);
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

LogicalResult KernelModelBuilder::run() {
  if (!fn.getBody().hasOneBlock())
    return fail("more than one block");
  auto addBuffer = [&](Type type) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return fail("argument or result without static shape");
    if (!isSupportedNumber(tensor.getElementType()))
      return fail("element type without vectors");
    if (tensor.getNumElements() == 0)
      return fail("empty tensor");
    model.bufferElements.push_back(tensor.getNumElements());
    Type element = tensor.getElementType();
    model.bufferTypes.push_back(element.isInteger(1) ? IntegerType::get(fn.getContext(), 8) : element);
    return success();
  };
  for (BlockArgument arg : fn.getArguments()) {
    if (failed(addBuffer(arg.getType())))
      return failure();
    auto tensor = cast<RankedTensorType>(arg.getType());
    KernelView view;
    view.buffer = arg.getArgNumber();
    view.elementType = tensor.getElementType();
    view.numElements = tensor.getNumElements();
    view.sizes.assign(tensor.getShape().begin(), tensor.getShape().end());
    view.strides = rowMajor(view.sizes);
    viewOf[arg] = views.size();
    views.push_back(view);
  }
  for (Type type : fn.getResultTypes())
    if (failed(addBuffer(type)))
      return failure();
  if (fn.getNumResults() == 0)
    return fail("no results");
  Block &block = fn.getBody().front();
  for (Operation &op : block)
    if (failed(addOperation(op)))
      return failure();
  return finish();
}

/// Returns the constant value of a scalar of the kernel, null if it depends on an argument.
TypedAttr KernelModelBuilder::constantOf(Value value) {
  Attribute attr;
  if (matchPattern(value, m_Constant(&attr)))
    return dyn_cast<TypedAttr>(attr);
  Operation *op = value.getDefiningOp();
  if (!op || isa<RankedTensorType>(value.getType()))
    return {};
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    auto it = scalarOf.find(extract.getTensor());
    return it == scalarOf.end() ? TypedAttr() : it->second;
  }
  if (op->getNumRegions() || op->getNumResults() != 1 || !isa_and_nonnull<arith::ArithDialect>(op->getDialect()))
    return {};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(constantOf(operand));
    if (!operands.back())
      return {};
  }
  SmallVector<OpFoldResult> folded;
  if (failed(op->fold(operands, folded)) || folded.size() != 1)
    return {};
  if (auto result = dyn_cast<Attribute>(folded[0]))
    return dyn_cast<TypedAttr>(result);
  return constantOf(cast<Value>(folded[0]));
}

LogicalResult KernelModelBuilder::addOperation(Operation &op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense)
      return success();
    if (!dense.isSplat() && dense.getNumElements() != 1)
      return fail("constant of more than one element");
    if (!isSupportedNumber(dense.getElementType()))
      return fail("element type without vectors");
    scalarOf[constant] = cast<TypedAttr>(*dense.value_begin<Attribute>());
    return success();
  }
  if (isa<tensor::EmptyOp, tensor::ExtractOp>(op))
    return success();
  if (auto ret = dyn_cast<func::ReturnOp>(op)) {
    for (auto [index, value] : llvm::enumerate(ret.getOperands()))
      if (failed(addOutput(value, fn.getNumArguments() + index)))
        return failure();
    return success();
  }
  // Scalars are visited at their uses.
  if (op.getNumResults() == 1 && isa_and_nonnull<arith::ArithDialect>(op.getDialect()) &&
      !isa<ShapedType>(op.getResult(0).getType()))
    return success();
  for (Value result : op.getResults()) {
    auto tensor = dyn_cast<RankedTensorType>(result.getType());
    if (!tensor || !tensor.hasStaticShape())
      return fail("result of '" + op.getName().getStringRef() + "' without static shape");
    if (tensor.getNumElements() == 0)
      return fail("empty tensor");
    if (!isSupportedNumber(tensor.getElementType()))
      return fail("element type without vectors");
  }
  if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    if (TypedAttr attr = constantOf(fill.getInputs()[0])) {
      scalarOf[fill.getResult(0)] = attr;
      return success();
    }
  }
  if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    TypedAttr attr = constantOf(splat.getInput());
    if (!attr)
      return fail("splat of a value that is not constant");
    scalarOf[splat.getResult()] = attr;
    return success();
  }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return addLinalg(linalgOp);
  bool done = false;
  if (failed(addView(op, done)))
    return failure();
  if (done)
    return success();
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return addReshape(expand, expand.getSrc(), expand.getResult(), expand.getReassociationIndices(), true);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return addReshape(collapse, collapse.getSrc(), collapse.getResult(), collapse.getReassociationIndices(), false);
  return fail("operation '" + op.getName().getStringRef() + "'");
}

LogicalResult KernelModelBuilder::scalarOperand(Value value, RawOperand &out) {
  out.operand.elementType = value.getType();
  if (TypedAttr attr = constantOf(value)) {
    out.operand.kind = Operand::Scalar;
    out.operand.scalar = attr;
    return success();
  }
  auto extract = value.getDefiningOp<tensor::ExtractOp>();
  if (!extract || llvm::any_of(extract.getTensor().getType().getShape(), [](int64_t size) { return size != 1; }))
    return fail("scalar operand that is not a constant or the element of a tensor of one");
  SmallVector<AffineExpr> zeros(extract.getTensor().getType().getRank(), getAffineConstantExpr(0, fn.getContext()));
  return operandFor(extract.getTensor(), AffineMap::get(0, 0, zeros, fn.getContext()), {}, out);
}

LogicalResult KernelModelBuilder::operandFor(Value value, AffineMap map, ArrayRef<AtomList> loops, RawOperand &out) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor)
    return scalarOperand(value, out);
  out.map = map;
  out.operand.elementType = tensor.getElementType();
  if (auto it = scalarOf.find(value); it != scalarOf.end()) {
    out.operand.kind = Operand::Scalar;
    out.operand.scalar = it->second;
    return success();
  }
  if (auto it = viewOf.find(value); it != viewOf.end()) {
    out.operand.kind = Operand::Buffer;
    out.view = it->second;
    return success();
  }
  // An empty tensor is never read; it gives loops their extents.
  if (value.getDefiningOp<tensor::EmptyOp>()) {
    out.operand.kind = Operand::Scalar;
    out.operand.scalar = cast<TypedAttr>(mlir::Builder(fn.getContext()).getZeroAttr(tensor.getElementType()));
    return success();
  }
  auto it = dimsOf.find(value);
  if (it == dimsOf.end())
    return fail("operand that no operation of the kernel computes");
  out.operand.kind = Operand::Intermediate;
  out.operand.value = value;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (auto d = dyn_cast<AffineDimExpr>(expr)) {
      if (failed(atoms.unify(it->second[dim], loops[d.getPosition()])))
        return fail("dimensions without a common refinement");
    } else if (tensor.getDimSize(dim) != 1) {
      return fail("an intermediate read at an index that is not one loop");
    }
  }
  return success();
}

LogicalResult KernelModelBuilder::addLinalg(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op->getNumRegions() != 1)
    return fail("operation '" + op->getName().getStringRef() + "'");
  Block *body = op.getBlock();
  // The result is a splat.
  if (op.getNumDpsInputs() == 0 && op.getNumReductionLoops() == 0 && op->getNumResults() == 1)
    if (TypedAttr attr = constantOf(body->getTerminator()->getOperand(0))) {
      scalarOf[op->getResult(0)] = attr;
      return success();
    }
  RawNode raw;
  Node node;
  node.op = op;
  node.body = body;
  auto iterators = op.getIteratorTypesArray();
  // If every element of a window is read at a sum of two loops, no operand gives the extents of the loops over the window.
  if (!op.getShapesToLoopsMap())
    return fail("a loop whose length no operand has");
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (int64_t size : ranges) {
    if (ShapedType::isDynamic(size))
      return fail("loop without static size");
    raw.loops.push_back(atoms.dimension(size));
  }
  if (failed(checkBody(body, raw)))
    return failure();
  node.reduction = op.getNumReductionLoops() > 0;
  for (OpOperand *input : op.getDpsInputOperands()) {
    raw.inputs.emplace_back();
    if (failed(operandFor(input->get(), op.getMatchingIndexingMap(input), raw.loops, raw.inputs.back())))
      return failure();
  }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    raw.inits.emplace_back();
    if (node.reduction || op.payloadUsesValueFromOperand(&init))
      if (failed(operandFor(init.get(), op.getMatchingIndexingMap(&init), raw.loops, raw.inits.back())))
        return failure();
  }
  for (auto [number, result] : llvm::enumerate(op->getResults())) {
    SmallVector<AtomList> dims;
    AffineMap map = op.getIndexingMapMatchingResult(cast<OpResult>(result));
    AtomList kept;
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      if (auto d = dyn_cast<AffineDimExpr>(expr))
        dims.push_back(raw.loops[d.getPosition()]);
      else if (cast<RankedTensorType>(result.getType()).getDimSize(dim) == 1)
        dims.push_back({});
      else
        return fail("a result that is not written at one loop per dimension");
      kept.append(dims.back());
    }
    if (number && kept != raw.kept)
      return fail("results with different indices");
    raw.kept = kept;
    dimsOf[result] = dims;
    model.producer[result] = {static_cast<int>(model.nodes.size()), static_cast<int>(number)};
  }
  countWork(body, raw, node);
  model.nodes.push_back(node);
  raws.push_back(raw);
  return success();
}

/// Adds a result, which is one value, or slices inserted one after the other into a value (concatenation, update); an inserted slice may be a
/// concatenation itself.
LogicalResult KernelModelBuilder::addOutput(Value value, int buffer) {
  auto type = cast<RankedTensorType>(value.getType());
  RawOutput out;
  out.buffer = buffer;
  out.type = type;
  for (int64_t size : type.getShape())
    out.dims.push_back(atoms.dimension(size));
  out.offsets.assign(type.getRank(), 0);
  out.steps.assign(type.getRank(), 1);
  selections.clear();
  return addPieces(value, out, llvm::to_vector(llvm::seq<unsigned>(0, type.getRank())), /*isWhole=*/true);
}

/// Adds the pieces of `value`, which is stored at the dimensions `dims` of the result as `out` says.
LogicalResult KernelModelBuilder::addPieces(Value value, const RawOutput &out, ArrayRef<unsigned> dims, bool isWhole) {
  SmallVector<tensor::InsertSliceOp> pieces;
  Value base = value;
  while (!viewOf.count(base)) {
    auto insert = base.getDefiningOp<tensor::InsertSliceOp>();
    if (!insert)
      break;
    pieces.push_back(insert);
    base = insert.getDest();
  }
  bool isJoined = !pieces.empty() && base.getDefiningOp<tensor::EmptyOp>();
  if (!isJoined && !isWhole)
    pieces.clear(), base = value;
  if (!isJoined) {
    SmallVector<AffineExpr> exprs;
    for (unsigned dim : dims)
      exprs.push_back(getAffineDimExpr(dim, fn.getContext()));
    RawOutput piece = out;
    if (failed(operandFor(base, AffineMap::get(out.dims.size(), 0, exprs, fn.getContext()), piece.dims, piece.value)))
      return failure();
    rawOutputs.push_back(piece);
  }
  for (tensor::InsertSliceOp insert : llvm::reverse(pieces)) {
    if (llvm::any_of(insert.getStaticOffsets(), ShapedType::isDynamic) ||
        llvm::any_of(insert.getStaticStrides(), ShapedType::isDynamic) ||
        llvm::any_of(insert.getStaticSizes(), ShapedType::isDynamic))
      return fail("insertion at run-time offsets");
    RawOutput piece = out;
    SmallVector<unsigned> kept;
    llvm::SmallBitVector dropped = insert.getDroppedDims();
    for (auto [d, dim] : llvm::enumerate(dims)) {
      int64_t size = insert.getStaticSize(d);
      piece.offsets[dim] += piece.steps[dim] * insert.getStaticOffset(d);
      piece.steps[dim] *= insert.getStaticStride(d);
      // Pieces that are stored at the same positions of a dimension share its index.
      if (size != insert.getDestType().getDimSize(d)) {
        auto [known, isNew] = selections.try_emplace({int64_t(dim), piece.offsets[dim], piece.steps[dim], size});
        if (isNew)
          known->second = atoms.dimension(size);
        piece.dims[dim] = known->second;
      }
      if (!dropped.test(d))
        kept.push_back(dim);
    }
    if (failed(addPieces(insert.getSource(), piece, kept, /*isWhole=*/false)))
      return failure();
  }
  return success();
}

FailureOr<KernelModel> buildKernelModel(func::FuncOp fn, std::string &why) {
  KernelModelBuilder builder(fn, why);
  if (failed(builder.run()))
    return failure();
  return std::move(builder.model);
}

} // namespace millrace::lowering
