// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelModel.cpp - Build the model from linalg on tensors -----------===//
// Input:   a function on static tensors of linalg operations, reshapes, slices and pads of arguments, constants.
// Output:  nodes, accesses and atoms (KernelModel.h).
// Not expressible: dynamic shapes, complex numbers, computed values read at computed indices or at two different index orders.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/KernelModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace millrace::lowering {

void LinearExpr::add(int atom, int64_t coefficient) {
  for (auto &term : terms)
    if (term.first == atom) {
      term.second += coefficient;
      return;
    }
  terms.push_back({atom, coefficient});
}

int64_t LinearExpr::coefficient(int atom) const {
  for (auto [a, c] : terms)
    if (a == atom)
      return c;
  return 0;
}

AtomSet LinearExpr::atoms() const {
  AtomSet set = 0;
  for (auto [a, c] : terms)
    if (c)
      set |= atomBit(a);
  return set;
}

AtomSet Access::atoms() const {
  AtomSet set = address.atoms();
  for (const Guard &guard : guards)
    set |= guard.index.atoms();
  return set;
}

SmallVector<int> members(AtomSet set) {
  SmallVector<int> out;
  for (int i = 0; i < kMaxAtoms; ++i)
    if (set & atomBit(i))
      out.push_back(i);
  return out;
}

AtomSet KernelModel::depends(const Operand &operand) const {
  switch (operand.kind) {
  case Operand::Intermediate:
    return nodeOf(operand).depends;
  case Operand::Buffer:
    return operand.access.atoms();
  default:
    return 0;
  }
}

int KernelModel::level(const Operand &operand) const {
  return operand.kind == Operand::Intermediate ? nodeOf(operand).level : 0;
}

int64_t KernelModel::product(AtomSet atoms) const {
  int64_t product = 1;
  for (int atom : members(atoms & allAtoms))
    product *= atomSizes[atom];
  return product;
}

void KernelModel::forEachAccess(llvm::function_ref<void(const Access &, bool)> visit) const {
  for (const Node &node : nodes) {
    for (const Operand &operand : node.inputs)
      if (operand.kind == Operand::Buffer)
        visit(operand.access, false);
    for (const Operand &operand : node.inits)
      if (operand.kind == Operand::Buffer)
        visit(operand.access, false);
    for (auto &[value, operand] : node.captured)
      if (operand.kind == Operand::Buffer)
        visit(operand.access, false);
    for (const Read &read : node.reads)
      visit(read.access, false);
  }
  for (const Output &output : outputs) {
    if (output.value.kind == Operand::Buffer)
      visit(output.value.access, false);
    visit(output.store, true);
  }
}

double KernelModel::totalOperations() const {
  double total = 0;
  for (const Node &node : nodes)
    total += node.cost * product(node.iteration);
  return total;
}

double KernelModel::totalBytes() const {
  // A large table of which few elements are gathered.
  DenseMap<int, double> gathered;
  for (const Node &node : nodes)
    for (const Read &read : node.reads)
      gathered[read.access.buffer] += product(node.iteration);
  double total = 0;
  for (auto [buffer, elements, type] : llvm::enumerate(bufferElements, bufferTypes)) {
    auto it = gathered.find(buffer);
    double touched = it == gathered.end() ? double(elements) : std::min(double(elements), it->second);
    total += touched * type.getIntOrFloatBitWidth() / 8;
  }
  return total;
}

bool KernelModel::hasComputedReads() const {
  return llvm::any_of(nodes, [](const Node &node) { return !node.reads.empty(); });
}

Operation *matchCombiner(Block *body, unsigned numInputs, Value &element) {
  auto yield = body->getTerminator();
  if (yield->getNumOperands() != 1 || body->getNumArguments() != numInputs + 1)
    return nullptr;
  BlockArgument acc = body->getArgument(numInputs);
  Operation *combine = yield->getOperand(0).getDefiningOp();
  if (!combine || combine->getNumOperands() != 2 || !acc.hasOneUse() || combine->getBlock() != body)
    return nullptr;
  if (combine->getOperand(0) == acc)
    element = combine->getOperand(1);
  else if (combine->getOperand(1) == acc)
    element = combine->getOperand(0);
  else
    return nullptr;
  return combine;
}

namespace {

/// A buffer seen as a tensor: element (i0, i1, ...) is at offset + sum of i * stride.
struct View {
  int buffer = -1;
  Type elementType;
  int64_t numElements = 1;
  SmallVector<int64_t> sizes, strides;
  int64_t offset = 0;
  struct Pad {
    int dim;
    int64_t low, size;
  };
  SmallVector<Pad> pads;
  TypedAttr padding;
};

SmallVector<int64_t> rowMajor(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> strides(sizes.size(), 1);
  for (int64_t d = static_cast<int64_t>(sizes.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * sizes[d + 1];
  return strides;
}

bool isSupportedNumber(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() && (integer.getWidth() == 1 || integer.getWidth() == 8 || integer.getWidth() == 16 ||
                                    integer.getWidth() == 32 || integer.getWidth() == 64);
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

double costOf(Operation &op) {
  if (isa<math::SqrtOp, math::RsqrtOp, arith::DivFOp, arith::RemFOp>(op))
    return 5;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return 15;
  if (isa<math::AbsFOp, math::FmaOp, math::CopySignOp, math::FloorOp, math::CeilOp>(op))
    return 1;
  if (isa_and_nonnull<math::MathDialect>(op.getDialect()))
    return 18;
  if (isa<arith::ConstantOp, linalg::YieldOp, linalg::IndexOp>(op))
    return 0;
  return 1;
}

class Builder {
public:
  Builder(func::FuncOp fn, std::string &why) : fn(fn), why(why) {}
  LogicalResult run();
  KernelModel model;

private:
  struct RawOperand {
    Operand operand; ///< final but for the access
    int view = -1;
    AffineMap map; ///< loops -> view dimensions
  };
  struct RawRead {
    Read read; ///< final but for the linear part of the address
    SmallVector<std::pair<unsigned, int64_t>> terms; ///< loop, stride
  };
  struct RawNode {
    SmallVector<RawRead, 0> reads;
    SmallVector<AtomList> loops;
    SmallVector<RawOperand, 4> inputs;
    SmallVector<RawOperand, 2> inits;
    SmallVector<std::pair<Value, RawOperand>, 1> captured;
    AtomList kept;
  };

  LogicalResult fail(const Twine &message) {
    why = message.str();
    return failure();
  }
  LogicalResult addOperation(Operation &op);
  TypedAttr constantOf(Value value);
  LogicalResult insertIntoFill(tensor::InsertSliceOp insert, bool &done);
  LogicalResult addLinalg(linalg::LinalgOp op);
  LogicalResult addReshape(Operation *op, Value source, Value result, ArrayRef<ReassociationIndices> groups,
                           bool expand);
  LogicalResult addView(Operation &op, bool &done);
  LogicalResult addOutput(Value value, int buffer);
  LogicalResult addPiece(Value value, AffineMap map, ArrayRef<AtomList> dims, ArrayRef<int64_t> offsets,
                         ArrayRef<int64_t> steps, RankedTensorType whole, int buffer);
  LogicalResult checkBody(Block *body, RawNode &raw);
  LogicalResult addExtracted(tensor::ExtractOp extract, RawNode &raw, bool &done);
  void decompose(Value index, int64_t scale, RawRead &out);
  void countWork(Block *body, RawNode &raw, Node &node);
  LogicalResult operandFor(Value value, AffineMap map, ArrayRef<AtomList> loops, RawOperand &out);
  LogicalResult scalarOperand(Value value, RawOperand &out);
  LogicalResult finish();
  void shareBufferIndices();
  bool hasDuplicates() const;
  LogicalResult access(const RawOperand &raw, ArrayRef<AtomList> loops, Access &out);
  LogicalResult linear(AffineExpr expr, ArrayRef<AtomList> loops, int64_t scale, LinearExpr &out);
  LogicalResult addDimension(ArrayRef<int> list, int64_t scale, LinearExpr &out);
  AtomSet toSet(ArrayRef<int> list, bool &duplicate);
  void coarsen();

  func::FuncOp fn;
  std::string &why;
  IndexAtoms atoms;
  SmallVector<View> views;
  DenseMap<Value, int> viewOf;
  DenseMap<Value, TypedAttr> scalarOf;
  DenseMap<Value, SmallVector<AtomList>> dimsOf; ///< intermediates
  std::vector<RawNode> raws;
  struct RawOutput {
    RawOperand value;
    SmallVector<AtomList> dims;
    SmallVector<int64_t> offsets, steps; ///< where index i of dimension d is stored: offset + i * step
    int buffer;
    RankedTensorType type;
  };
  std::vector<RawOutput> rawOutputs;
  DenseMap<int, int> dense; ///< atom of `atoms` -> atom of the model
};

LogicalResult Builder::run() {
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
    View view;
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

/// The number that a scalar of the kernel always has, null if it depends on an argument.
TypedAttr Builder::constantOf(Value value) {
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

/// A slice of a buffer inserted into a tensor that holds one number is the padded buffer.
LogicalResult Builder::insertIntoFill(tensor::InsertSliceOp insert, bool &done) {
  auto source = viewOf.find(insert.getSource());
  auto fill = scalarOf.find(insert.getDest());
  if (source == viewOf.end() || fill == scalarOf.end())
    return success();
  View view = views[source->second];
  if (!view.pads.empty() || !insert.hasUnitStride() ||
      insert.getSourceType().getRank() != insert.getResultType().getRank() ||
      llvm::any_of(insert.getStaticOffsets(), ShapedType::isDynamic))
    return success();
  view.padding = fill->second;
  for (auto [d, size] : llvm::enumerate(insert.getResultType().getShape())) {
    int64_t low = insert.getStaticOffset(d);
    if (size == view.sizes[d])
      continue;
    view.pads.push_back({static_cast<int>(d), low, view.sizes[d]});
    view.offset -= low * view.strides[d];
    view.sizes[d] = size;
  }
  viewOf[insert.getResult()] = views.size();
  views.push_back(view);
  done = true;
  return success();
}

LogicalResult Builder::addOperation(Operation &op) {
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
  // Scalars are looked at where they are used.
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

/// Slices, pads and reshapes of a buffer are the buffer at other addresses.
LogicalResult Builder::addView(Operation &op, bool &done) {
  if (op.getNumOperands() == 0 || op.getNumResults() != 1)
    return success();
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    if (failed(insertIntoFill(insert, done)))
      return failure();
    // Else a piece of an output (addOutput); as an operand it is refused.
    done = true;
    return success();
  }
  Value source = op.getOperand(0), result = op.getResult(0);
  if (auto it = scalarOf.find(source); it != scalarOf.end() &&
                                       isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
                                           tensor::ExtractSliceOp>(op)) {
    TypedAttr scalar = it->second;
    scalarOf[result] = scalar;
    done = true;
    return success();
  }
  auto it = viewOf.find(source);
  if (it == viewOf.end())
    return success();
  View view = views[it->second];
  if (isa<tensor::CastOp>(op)) {
    // Same view.
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    SmallVector<int64_t> strides;
    auto sizes = expand.getResultType().getShape();
    auto groups = expand.getReassociationIndices(); // by value: a loop over one of its elements would outlive the temporary
    for (View::Pad &pad : view.pads) {
      // A padded dimension cannot be split; it may get neighbours of size 1.
      int padded = -1;
      for (int64_t d : groups[pad.dim])
        if (sizes[d] == view.sizes[pad.dim])
          padded = d;
      if (padded < 0)
        return success();
      pad.dim = padded;
    }
    for (auto [dim, group] : llvm::enumerate(groups)) {
      int64_t stride = view.strides[dim];
      SmallVector<int64_t> reversed;
      for (int64_t d : llvm::reverse(group)) {
        reversed.push_back(stride);
        stride *= sizes[d];
      }
      strides.append(reversed.rbegin(), reversed.rend());
    }
    // A rank-0 source has no groups: every result dimension has size 1.
    strides.resize(sizes.size(), 1);
    view.sizes.assign(sizes.begin(), sizes.end());
    view.strides = strides;
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    SmallVector<int64_t> sizes, strides;
    if (!view.pads.empty() && collapse.getReassociationIndices().empty())
      return success(); // no dimension is left that could be padded
    for (auto [dim, group] : llvm::enumerate(collapse.getReassociationIndices()))
      for (View::Pad &pad : view.pads) {
        if (!llvm::is_contained(group, pad.dim))
          continue;
        for (int64_t d : group)
          if (d != pad.dim && view.sizes[d] != 1)
            return success();
      }
    for (View::Pad &pad : view.pads)
      for (auto [dim, group] : llvm::enumerate(collapse.getReassociationIndices()))
        if (llvm::is_contained(group, pad.dim)) {
          pad.dim = dim;
          break;
        }
    for (auto group : collapse.getReassociationIndices()) {
      int64_t size = 1, stride = 1;
      bool first = true;
      for (int64_t d : llvm::reverse(group)) {
        if (view.sizes[d] == 1)
          continue;
        if (first)
          stride = view.strides[d];
        else if (view.strides[d] != stride * size)
          return success(); // not one stride: an operation of its own
        first = false;
        size *= view.sizes[d];
      }
      sizes.push_back(size);
      strides.push_back(stride);
    }
    view.sizes = sizes;
    view.strides = strides;
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (!slice.hasUnitStride() && llvm::any_of(slice.getStaticStrides(), ShapedType::isDynamic))
      return fail("slice at run-time strides");
    if (llvm::any_of(slice.getStaticOffsets(), ShapedType::isDynamic) ||
        llvm::any_of(slice.getStaticSizes(), ShapedType::isDynamic) || !view.pads.empty())
      return fail("slice at run-time offsets or of padding");
    auto dropped = slice.getDroppedDims();
    SmallVector<int64_t> sizes, strides;
    for (int64_t d = 0; d < static_cast<int64_t>(view.sizes.size()); ++d) {
      view.offset += slice.getStaticOffset(d) * view.strides[d];
      if (dropped.test(d))
        continue;
      sizes.push_back(slice.getStaticSize(d));
      strides.push_back(view.strides[d] * slice.getStaticStride(d));
    }
    view.sizes = sizes;
    view.strides = strides;
  } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Value padding = pad.getConstantPaddingValue();
    Attribute attr;
    if (!padding || !matchPattern(padding, m_Constant(&attr)) || !view.pads.empty())
      return fail("padding that is not one constant");
    view.padding = cast<TypedAttr>(attr);
    auto low = pad.getStaticLow(), high = pad.getStaticHigh();
    for (int64_t d = 0; d < static_cast<int64_t>(view.sizes.size()); ++d) {
      if (ShapedType::isDynamic(low[d]) || ShapedType::isDynamic(high[d]))
        return fail("padding of run-time size");
      if (!low[d] && !high[d])
        continue;
      view.pads.push_back({static_cast<int>(d), low[d], view.sizes[d]});
      view.offset -= low[d] * view.strides[d];
      view.sizes[d] += low[d] + high[d];
    }
  } else {
    return success();
  }
  viewOf[result] = views.size();
  views.push_back(view);
  done = true;
  return success();
}

LogicalResult Builder::addReshape(Operation *op, Value source, Value result, ArrayRef<ReassociationIndices> groups,
                                  bool expand) {
  RawNode raw;
  RawOperand input;
  auto sourceType = cast<RankedTensorType>(source.getType()), resultType = cast<RankedTensorType>(result.getType());
  SmallVector<AtomList> sourceDims, resultDims;
  for (int64_t size : sourceType.getShape())
    sourceDims.push_back(atoms.dimension(size));
  if (failed(operandFor(source, AffineMap::getMultiDimIdentityMap(sourceDims.size(), fn.getContext()), sourceDims,
                        input)))
    return failure();
  for (int64_t size : resultType.getShape())
    resultDims.push_back(atoms.dimension(size));
  auto &wide = expand ? resultDims : sourceDims;
  auto &narrow = expand ? sourceDims : resultDims;
  for (auto [dim, group] : llvm::enumerate(groups)) {
    AtomList joined;
    for (int64_t d : group)
      joined.append(wide[d]);
    if (failed(atoms.unify(narrow[dim], joined)))
      return fail("reshape without a common refinement of its dimensions");
  }
  raw.loops = sourceDims;
  raw.inputs.push_back(input);
  for (const AtomList &list : resultDims)
    raw.kept.append(list);
  Node node;
  node.op = op;
  model.producer[result] = {static_cast<int>(model.nodes.size()), 0};
  model.nodes.push_back(node);
  raws.push_back(raw);
  dimsOf[result] = resultDims;
  return success();
}

LogicalResult Builder::checkBody(Block *body, RawNode &raw) {
  for (Operation &op : *body) {
    auto extract = dyn_cast<tensor::ExtractOp>(op);
    for (Value operand : op.getOperands()) {
      Attribute attr;
      if (operand.getParentBlock() == body || matchPattern(operand, m_Constant(&attr)) || (extract && operand == extract.getTensor()) ||
          llvm::any_of(raw.captured, [&](auto &known) { return known.first == operand; }))
        continue;
      RawOperand outside;
      if (failed(scalarOperand(operand, outside)))
        return failure();
      raw.captured.push_back({operand, outside});
    }
    if (isa<linalg::YieldOp, linalg::IndexOp>(op))
      continue;
    if (extract) {
      bool isOperand = false;
      if (failed(addExtracted(extract, raw, isOperand)))
        return failure();
      if (isOperand)
        continue;
      auto it = viewOf.find(extract.getTensor());
      if (it == viewOf.end() || !views[it->second].pads.empty())
        return fail("a computed or padded value read at computed indices");
      const View &view = views[it->second];
      RawRead read;
      read.read.op = extract;
      read.read.access.buffer = view.buffer;
      read.read.access.elementType = view.elementType;
      read.read.access.numElements = view.numElements;
      read.read.access.address.offset = view.offset;
      for (auto [index, stride] : llvm::zip(extract.getIndices(), view.strides))
        decompose(index, stride, read);
      raw.reads.push_back(read);
      continue;
    }
    if (op.getNumRegions() || !(isa<arith::ConstantOp>(op) || OpTrait::hasElementwiseMappableTraits(&op)))
      return fail("scalar operation '" + op.getName().getStringRef() + "'");
    for (Value result : op.getResults())
      if (!result.getType().isIntOrIndexOrFloat())
        return fail("scalar of a type without vectors");
  }
  return success();
}

/// An element at the body's own loops is an operand like others.
LogicalResult Builder::addExtracted(tensor::ExtractOp extract, RawNode &raw, bool &done) {
  SmallVector<AffineExpr> exprs;
  for (Value index : extract.getIndices()) {
    if (auto loop = index.getDefiningOp<linalg::IndexOp>())
      exprs.push_back(getAffineDimExpr(loop.getDim(), fn.getContext()));
    else if (TypedAttr constant = constantOf(index))
      exprs.push_back(getAffineConstantExpr(cast<IntegerAttr>(constant).getInt(), fn.getContext()));
    else
      return success();
  }
  RawOperand operand;
  if (failed(operandFor(extract.getTensor(), AffineMap::get(raw.loops.size(), 0, exprs, fn.getContext()), raw.loops, operand)))
    return failure();
  raw.captured.push_back({extract.getResult(), operand});
  done = true;
  return success();
}

/// Adds `scale` times `index`, a value of a body, to an address.
void Builder::decompose(Value index, int64_t scale, RawRead &out) {
  if (TypedAttr constant = constantOf(index)) {
    out.read.access.address.offset += scale * cast<IntegerAttr>(constant).getInt();
    return;
  }
  if (auto loop = index.getDefiningOp<linalg::IndexOp>()) {
    out.terms.push_back({static_cast<unsigned>(loop.getDim()), scale});
    return;
  }
  if (auto sum = index.getDefiningOp<arith::AddIOp>()) {
    decompose(sum.getLhs(), scale, out);
    decompose(sum.getRhs(), scale, out);
    return;
  }
  if (auto difference = index.getDefiningOp<arith::SubIOp>()) {
    decompose(difference.getLhs(), scale, out);
    decompose(difference.getRhs(), -scale, out);
    return;
  }
  out.read.computed.push_back({index, scale});
}

/// What of a body is computed for each element: its cost and widest number; what only makes indices is known further out or cheap.
void Builder::countWork(Block *body, RawNode &raw, Node &node) {
  SmallPtrSet<Operation *, 16> seen;
  SmallVector<Value> indices;
  bool isIndex = false;
  std::function<void(Value)> visit = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != body || !seen.insert(op).second)
      return;
    for (auto &[captured, operand] : raw.captured)
      if (captured == value) {
        if (isIndex && operand.view >= 0)
          node.indexBuffers.push_back(views[operand.view].buffer);
        return;
      }
    node.usesIndex |= isa<linalg::IndexOp>(op);
    if (!isIndex) {
      node.cost += costOf(*op);
      if (!value.getType().isIndex())
        model.maxElementBits = std::max<int>(model.maxElementBits, value.getType().getIntOrFloatBitWidth());
    }
    auto read = llvm::find_if(raw.reads, [&](const RawRead &known) { return known.read.op == op; });
    if (read == raw.reads.end()) {
      for (Value operand : op->getOperands())
        visit(operand);
      return;
    }
    read->read.isIndex = isIndex;
    for (auto [term, stride] : read->read.computed)
      indices.push_back(term);
  };
  for (Value yielded : body->getTerminator()->getOperands())
    visit(yielded);
  isIndex = true;
  while (!indices.empty())
    visit(indices.pop_back_val());
}

LogicalResult Builder::scalarOperand(Value value, RawOperand &out) {
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

LogicalResult Builder::operandFor(Value value, AffineMap map, ArrayRef<AtomList> loops, RawOperand &out) {
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
  // Never read: it gives loops their extents.
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

LogicalResult Builder::addLinalg(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op->getNumRegions() != 1)
    return fail("operation '" + op->getName().getStringRef() + "'");
  Block *body = op.getBlock();
  // One number everywhere.
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

LogicalResult Builder::addPiece(Value value, AffineMap map, ArrayRef<AtomList> dims, ArrayRef<int64_t> offsets,
                                ArrayRef<int64_t> steps, RankedTensorType whole, int buffer) {
  RawOutput out;
  out.buffer = buffer;
  out.type = whole;
  out.dims.assign(dims.begin(), dims.end());
  out.offsets.assign(offsets.begin(), offsets.end());
  out.steps.assign(steps.begin(), steps.end());
  if (failed(operandFor(value, map, out.dims, out.value)))
    return failure();
  rawOutputs.push_back(out);
  return success();
}

/// A result is one value, or slices inserted one after the other into a value (concatenation, update).
LogicalResult Builder::addOutput(Value value, int buffer) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<tensor::InsertSliceOp> pieces;
  while (!viewOf.count(value)) {
    auto insert = value.getDefiningOp<tensor::InsertSliceOp>();
    if (!insert)
      break;
    pieces.push_back(insert);
    value = insert.getDest();
  }
  SmallVector<AtomList> dims;
  for (int64_t size : type.getShape())
    dims.push_back(atoms.dimension(size));
  int64_t rank = type.getRank();
  MLIRContext *context = fn.getContext();
  if (pieces.empty() || !value.getDefiningOp<tensor::EmptyOp>())
    if (failed(addPiece(value, AffineMap::getMultiDimIdentityMap(rank, context), dims, SmallVector<int64_t>(rank, 0),
                        SmallVector<int64_t>(rank, 1), type, buffer)))
      return failure();
  for (tensor::InsertSliceOp insert : llvm::reverse(pieces)) {
    if (llvm::any_of(insert.getStaticOffsets(), ShapedType::isDynamic) ||
        llvm::any_of(insert.getStaticStrides(), ShapedType::isDynamic) ||
        llvm::any_of(insert.getStaticSizes(), ShapedType::isDynamic))
      return fail("insertion at run-time offsets");
    SmallVector<AtomList> piece;
    SmallVector<AffineExpr> exprs;
    llvm::SmallBitVector dropped = insert.getDroppedDims();
    for (int64_t d = 0; d < rank; ++d) {
      int64_t size = insert.getStaticSize(d);
      piece.push_back(size == type.getDimSize(d) ? dims[d] : atoms.dimension(size));
      if (!dropped.test(d))
        exprs.push_back(getAffineDimExpr(d, context));
    }
    if (failed(addPiece(insert.getSource(), AffineMap::get(rank, 0, exprs, context), piece, insert.getStaticOffsets(),
                        insert.getStaticStrides(), type, buffer)))
      return failure();
  }
  return success();
}

AtomSet Builder::toSet(ArrayRef<int> list, bool &duplicate) {
  AtomSet set = 0;
  for (int atom : atoms.resolve(list)) {
    AtomSet bit = atomBit(dense.find(atom)->second);
    duplicate |= (set & bit) != 0;
    set |= bit;
  }
  return set;
}

LogicalResult Builder::addDimension(ArrayRef<int> list, int64_t scale, LinearExpr &out) {
  for (int atom : llvm::reverse(atoms.resolve(list))) {
    out.add(dense.find(atom)->second, scale);
    scale *= atoms.size(atom);
  }
  return success();
}

LogicalResult Builder::linear(AffineExpr expr, ArrayRef<AtomList> loops, int64_t scale, LinearExpr &out) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return addDimension(loops[dim.getPosition()], scale, out);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    out.offset += scale * constant.getValue();
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && expr.getKind() == AffineExprKind::Add)
    return success(succeeded(linear(binary.getLHS(), loops, scale, out)) &&
                   succeeded(linear(binary.getRHS(), loops, scale, out)));
  if (binary && expr.getKind() == AffineExprKind::Mul) {
    if (auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS()))
      return linear(binary.getLHS(), loops, scale * factor.getValue(), out);
  }
  return fail("an index that is not linear");
}

LogicalResult Builder::access(const RawOperand &raw, ArrayRef<AtomList> loops, Access &out) {
  const View &view = views[raw.view];
  out.buffer = view.buffer;
  out.elementType = view.elementType;
  out.numElements = view.numElements;
  out.address.offset = view.offset;
  out.padding = view.padding;
  for (auto [dim, expr] : llvm::enumerate(raw.map.getResults()))
    if (failed(linear(expr, loops, view.strides[dim], out.address)))
      return failure();
  for (const View::Pad &pad : view.pads) {
    Guard guard;
    guard.size = pad.size;
    guard.index.offset = -pad.low;
    if (failed(linear(raw.map.getResult(pad.dim), loops, 1, guard.index)))
      return failure();
    out.guards.push_back(guard);
  }
  return success();
}

bool Builder::hasDuplicates() const {
  for (const RawNode &raw : raws) {
    SmallVector<int> seen;
    for (const AtomList &list : raw.loops)
      for (int atom : atoms.resolve(list)) {
        if (llvm::is_contained(seen, atom))
          return true;
        seen.push_back(atom);
      }
  }
  return false;
}

/// Two operations that read one view of a buffer get the same indices where that is consistent: the sweeps of a row
/// then share values. (x + transpose(x) is where it is not.)
void Builder::shareBufferIndices() {
  if (hasDuplicates())
    return;
  struct Use {
    const RawOperand *operand;
    ArrayRef<AtomList> loops;
  };
  DenseMap<int, SmallVector<Use>> uses;
  for (const RawNode &raw : raws)
    for (const RawOperand &input : raw.inputs)
      if (input.view >= 0)
        uses[input.view].push_back({&input, raw.loops});
  for (int view = 0; view < static_cast<int>(views.size()); ++view) {
    auto it = uses.find(view);
    if (it == uses.end())
      continue;
    const Use &first = it->second.front();
    for (const Use &other : ArrayRef<Use>(it->second).drop_front())
      for (auto [left, right] : llvm::zip(first.operand->map.getResults(), other.operand->map.getResults())) {
        auto x = dyn_cast<AffineDimExpr>(left), y = dyn_cast<AffineDimExpr>(right);
        if (!x || !y)
          continue;
        IndexAtoms before = atoms;
        if (failed(atoms.unify(first.loops[x.getPosition()], other.loops[y.getPosition()])) || hasDuplicates())
          atoms = before;
      }
  }
}

LogicalResult Builder::finish() {
  shareBufferIndices();
  // Number the atoms that remain.
  auto number = [&](ArrayRef<int> list) {
    for (int atom : atoms.resolve(list))
      if (dense.try_emplace(atom, model.atomSizes.size()).second)
        model.atomSizes.push_back(atoms.size(atom));
  };
  for (const RawOutput &out : rawOutputs)
    for (const AtomList &list : out.dims)
      number(list);
  for (const RawNode &raw : raws) {
    for (const AtomList &list : raw.loops)
      number(list);
    number(raw.kept);
  }
  if (model.atomSizes.size() > kMaxAtoms)
    return fail("too many loop indices");

  for (auto [node, raw] : llvm::zip(model.nodes, raws)) {
    AtomList all;
    for (const AtomList &list : raw.loops)
      all.append(list);
    bool duplicate = false;
    node.iteration = toSet(all, duplicate);
    node.kept = toSet(raw.kept, duplicate);
    if (duplicate)
      return fail("a value read at two index orders");
    for (RawOperand &input : raw.inputs) {
      if (input.view >= 0 && failed(access(input, raw.loops, input.operand.access)))
        return failure();
      node.inputs.push_back(input.operand);
    }
    for (RawOperand &init : raw.inits) {
      if (init.view >= 0 && failed(access(init, raw.loops, init.operand.access)))
        return failure();
      node.inits.push_back(init.operand);
    }
    for (auto &[value, operand] : raw.captured) {
      if (operand.view >= 0 && failed(access(operand, raw.loops, operand.operand.access)))
        return failure();
      node.captured.push_back({value, operand.operand});
    }
    for (RawRead &read : raw.reads) {
      for (auto [loop, stride] : read.terms)
        if (failed(addDimension(raw.loops[loop], stride, read.read.access.address)))
          return failure();
      node.reads.push_back(read.read);
    }
    if (node.usesIndex)
      for (const AtomList &list : raw.loops) {
        node.loops.emplace_back();
        if (failed(addDimension(list, 1, node.loops.back())))
          return failure();
      }
    for (Value result : node.op->getResults())
      model.maxElementBits =
          std::max<int>(model.maxElementBits, getElementTypeOrSelf(result.getType()).getIntOrFloatBitWidth());
  }
  for (RawOutput &raw : rawOutputs) {
    Output out;
    if (raw.value.view >= 0 && failed(access(raw.value, raw.dims, raw.value.operand.access)))
      return failure();
    out.value = raw.value.operand;
    out.store.buffer = raw.buffer;
    out.store.elementType = raw.type.getElementType();
    out.store.numElements = raw.type.getNumElements();
    SmallVector<int64_t> strides = rowMajor(raw.type.getShape());
    for (auto [list, stride, offset, step] : llvm::zip(raw.dims, strides, raw.offsets, raw.steps)) {
      out.store.address.offset += offset * stride;
      if (failed(addDimension(list, stride * step, out.store.address)))
        return failure();
    }
    if (out.value.kind == Operand::None)
      return fail("a result without a value");
    model.outputs.push_back(out);
  }
  // Buffers of indices do not make vectors shorter: they are mostly read one by one.
  DenseMap<int, int> uses, asIndex;
  model.forEachAccess([&](const Access &access, bool) { ++uses[access.buffer]; });
  for (const Node &node : model.nodes) {
    for (int buffer : node.indexBuffers)
      ++asIndex[buffer];
    for (const Read &read : node.reads)
      asIndex[read.access.buffer] += read.isIndex;
  }
  for (auto [buffer, type] : llvm::enumerate(model.bufferTypes))
    if (uses.lookup(buffer) != asIndex.lookup(buffer))
      model.maxElementBits = std::max<int>(model.maxElementBits, type.getIntOrFloatBitWidth());

  coarsen();

  model.allAtoms = model.atomSizes.empty() ? 0 : (AtomSet(1) << model.atomSizes.size()) - 1;
  for (Node &node : model.nodes) {
    for (const Operand &input : node.inputs)
      node.level = std::max(node.level, model.level(input));
    for (const Operand &init : node.inits)
      node.level = std::max(node.level, model.level(init));
    for (const auto &[value, operand] : node.captured)
      node.level = std::max(node.level, model.level(operand));
    node.level += node.reduction;
    node.depends = node.kept | (node.level ? kInsideTask : 0);
  }
  return success();
}

/// Joins an atom with the next inner one where no address and no value tells them apart.
void Builder::coarsen() {
  SmallVector<LinearExpr *> exprs;
  SmallVector<AtomSet *> sets;
  auto addAccess = [&](Access &access) {
    exprs.push_back(&access.address);
    for (Guard &guard : access.guards)
      exprs.push_back(&guard.index);
  };
  for (Node &node : model.nodes) {
    sets.push_back(&node.iteration);
    sets.push_back(&node.kept);
    for (Operand &operand : node.inputs)
      addAccess(operand.access);
    for (Operand &operand : node.inits)
      addAccess(operand.access);
    for (auto &[value, operand] : node.captured)
      addAccess(operand.access);
    for (Read &read : node.reads)
      addAccess(read.access);
    for (LinearExpr &loop : node.loops)
      exprs.push_back(&loop);
  }
  for (Output &out : model.outputs) {
    addAccess(out.value.access);
    addAccess(out.store);
  }

  int count = model.atomSizes.size();
  SmallVector<bool> dead(count, false);
  auto joinable = [&](int outer, int inner) {
    for (LinearExpr *expr : exprs)
      if (expr->coefficient(outer) != expr->coefficient(inner) * model.atomSizes[inner])
        return false;
    for (AtomSet *set : sets)
      if (!(*set & atomBit(outer)) != !(*set & atomBit(inner)))
        return false;
    return true;
  };
  bool changed = true;
  while (changed) {
    changed = false;
    for (int outer = 0; outer < count; ++outer)
      for (int inner = 0; inner < count; ++inner) {
        if (outer == inner || dead[outer] || dead[inner] || !joinable(outer, inner))
          continue;
        for (LinearExpr *expr : exprs)
          llvm::erase_if(expr->terms, [&](auto &term) { return term.first == outer; });
        for (AtomSet *set : sets)
          *set &= ~atomBit(outer);
        model.atomSizes[inner] *= model.atomSizes[outer];
        dead[outer] = true;
        changed = true;
      }
  }
  // Close the gaps.
  SmallVector<int> renumbered(count, -1);
  SmallVector<int64_t> sizes;
  for (int atom = 0; atom < count; ++atom)
    if (!dead[atom]) {
      renumbered[atom] = sizes.size();
      sizes.push_back(model.atomSizes[atom]);
    }
  for (LinearExpr *expr : exprs)
    for (auto &term : expr->terms)
      term.first = renumbered[term.first];
  for (AtomSet *set : sets) {
    AtomSet next = 0;
    for (int atom : members(*set))
      next |= atomBit(renumbered[atom]);
    *set = next;
  }
  model.atomSizes = sizes;
}

} // namespace

FailureOr<KernelModel> buildKernelModel(func::FuncOp fn, std::string &why) {
  Builder builder(fn, why);
  if (failed(builder.run()))
    return failure();
  return std::move(builder.model);
}

} // namespace millrace::lowering
