// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ColumnParts.cpp - Readers of parts of a product's columns ----------===//
// Input:   %x = call @take(%all, %i)   with @take { reshape(dynamic_slice(%all, %i, 0, 0)) : 16x1024 }
//          %g = call @product(%h, %panels, %x)   with @product { add(%x, reshape(dot_general(%h, %panels))) : 16x1024 }
//          %c = call @gates(%g, %old)   with @gates { ... slice(%g, 0:256) ... slice(%g, 768:1024) ... }
// Output:  %c = call @gates(%h, %panels, %all, %i, %old): for each part of the columns a product with a part of the panels, and a part of %x
//          The sums of all gates of a few columns meet in one thread, which computes on while they are near.
// Leaves alone products of many rows, whose sums would not stay near, and readers of other parts than equal ones.
//===----------------------------------------------------------------------===//
#include "passes/fusion/ColumnParts.h"

#include "passes/fusion/FusionPolicy.h"
#include "passes/fusion/Passes.h"

#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
namespace {

/// The sums of more rows would not stay near the thread that goes on computing with them. Unit: rows. Source: judgement, not measured alone.
constexpr int64_t kMaxRowsOfParts = 64;
/// More parts would make each product too narrow for its kernel. Unit: parts. Source: judgement, not measured alone.
constexpr size_t kMaxColumnParts = 4;

Block &bodyOf(func::FuncOp kernel) { return kernel.getBody().front(); }

/// One value for each element of a matrix from those at the same place.
bool isPointwise(Operation &op) { return classify(&op) == OpRole::Elementwise && op.getNumResults() == 1; }

bool isSplat(Operation &op) { return isa<ConstantOp>(op) && classify(&op) == OpRole::Duplicated; }

/// The product, perhaps reshaped to `shape` after its panels were joined, pointwise operations, rows repeated.
bool isProduct(func::FuncOp kernel) {
  Operation *end = bodyOf(kernel).getTerminator();
  ArrayRef<int64_t> shape = typeOf(end->getOperand(0)).getShape();
  if (shape.size() != 2 || isa<BlockArgument>(end->getOperand(0)))
    return false;
  return llvm::all_of(bodyOf(kernel).without_terminator(), [&](Operation &op) {
    if (auto dot = dyn_cast<DotGeneralOp>(op))
      return typeOf(dot.getResult()).getShape() == shape && isa<BlockArgument>(dot.getLhs()) && typeOf(dot.getLhs()).getRank() == 2 &&
             dot.getDotDimensionNumbers().getLhsContractingDimensions() == ArrayRef<int64_t>{1};
    if (isSplat(op))
      return true;
    if (auto broadcast = dyn_cast<BroadcastInDimOp>(op))
      return typeOf(broadcast).getShape() == shape && isa<BlockArgument>(broadcast.getOperand()) &&
             broadcast.getBroadcastDimensions() == ArrayRef<int64_t>{1} && typeOf(broadcast.getOperand()).getDimSize(0) == shape.back();
    return isPointwise(op) && typeOf(op.getResult(0)).getShape() == shape &&
           llvm::all_of(op.getOperands(), [&](Value operand) { return typeOf(operand).getShape() == shape; });
  });
}

/// A matrix that a kernel takes out of a larger value, at an offset known at run time, for `product` alone.
struct Taken {
  func::CallOp call;
  DynamicSliceOp slice;
};
std::optional<Taken> takenFor(Value value, func::CallOp product, SymbolTable &symbols) {
  auto call = value.getDefiningOp<func::CallOp>();
  auto kernel = call ? symbols.lookup<func::FuncOp>(call.getCallee()) : func::FuncOp();
  if (!kernel || !kernel->hasAttr(kKernelAttr) || !value.hasOneUse() || call->getNumResults() != 1 || call->getBlock() != product->getBlock())
    return std::nullopt;
  auto reshape = bodyOf(kernel).getTerminator()->getOperand(0).getDefiningOp<ReshapeOp>();
  auto slice = reshape ? reshape.getOperand().getDefiningOp<DynamicSliceOp>() : DynamicSliceOp();
  if (!slice || !isa<BlockArgument>(slice.getOperand()))
    return std::nullopt;
  // The slices are of whole rows, whose parts are slices, too, and the value is not updated in between.
  ArrayRef<int64_t> from = typeOf(slice.getOperand()).getShape(), part = typeOf(slice).getShape(), to = typeOf(reshape).getShape();
  bool isWhole = to.size() == 2 && from.size() > 2 && part.take_back(2) == to && from.back() == part.back();
  auto last = slice.getStartIndices().back().getDefiningOp<ConstantOp>();
  Value source = call.getOperand(cast<BlockArgument>(slice.getOperand()).getArgNumber());
  if (!isWhole || !last || source.getParentBlock() == product->getBlock())
    return std::nullopt;
  return llvm::all_of(bodyOf(kernel).without_terminator(), [&](Operation &op) { return &op == slice || &op == reshape || isa<ConstantOp>(op); })
             ? std::optional(Taken{call, slice})
             : std::nullopt;
}

} // namespace

std::optional<ColumnParts> findColumnParts(func::CallOp product, SymbolTable &symbols) {
  auto kernel = symbols.lookup<func::FuncOp>(product.getCallee());
  if (product->getNumResults() != 1 || !product.getResult(0).hasOneUse() || !isProduct(kernel))
    return std::nullopt;
  OpOperand &use = *product.getResult(0).use_begin();
  auto reader = dyn_cast<func::CallOp>(use.getOwner());
  auto readers = reader && reader->getBlock() == product->getBlock() ? symbols.lookup<func::FuncOp>(reader.getCallee()) : func::FuncOp();
  if (!readers || !readers->hasAttr(kKernelAttr) || readers->hasAttr(kAttentionAttr) || readers->hasAttr(kCodedProductAttr))
    return std::nullopt;
  std::optional<SymbolTable::UseRange> known = SymbolTable::getSymbolUses(readers, readers->getParentOp());
  if (!known || std::distance(known->begin(), known->end()) != 1)
    return std::nullopt;
  ArrayRef<int64_t> shape = typeOf(product.getResult(0)).getShape();
  if (shape[0] > kMaxRowsOfParts)
    return std::nullopt;
  ColumnParts parts{product, reader, use.getOperandNumber(), 0, {}};
  for (Operation *user : bodyOf(readers).getArgument(parts.argument).getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice || slice.getStartIndices()[0] != 0 || slice.getLimitIndices()[0] != shape[0] || llvm::any_of(slice.getStrides(), [](int64_t stride) { return stride != 1; }))
      return std::nullopt;
    int64_t begin = slice.getStartIndices()[1], width = slice.getLimitIndices()[1] - begin;
    if ((parts.width && width != parts.width) || begin % width)
      return std::nullopt;
    parts.width = width;
    if (!llvm::is_contained(parts.begins, begin))
      parts.begins.push_back(begin);
  }
  llvm::sort(parts.begins);
  if (parts.begins.size() < 2 || parts.begins.size() > kMaxColumnParts)
    return std::nullopt;
  // All else happens to parts, element by element.
  SmallVector<int64_t> ofPart{shape[0], parts.width};
  bool isOfParts = llvm::all_of(bodyOf(readers).without_terminator(), [&](Operation &op) {
    bool isRow = isa<BroadcastInDimOp>(op) && isa<BlockArgument>(op.getOperand(0));
    return isSplat(op) || ((isa<SliceOp>(op) || isRow || isPointwise(op)) && typeOf(op.getResult(0)).getShape() == ArrayRef(ofPart));
  });
  return isOfParts ? std::optional(std::move(parts)) : std::nullopt;
}

void joinColumnParts(const ColumnParts &parts, unsigned weights, SymbolTable &symbols, llvm::SmallPtrSetImpl<Operation *> &erased) {
  func::CallOp product = parts.product, reader = parts.reader;
  auto source = symbols.lookup<func::FuncOp>(product.getCallee()), readers = symbols.lookup<func::FuncOp>(reader.getCallee());
  Location loc = reader.getLoc();
  OpBuilder builder(reader);
  auto kernel = func::FuncOp::create(loc, readers.getName(), builder.getFunctionType({}, readers.getFunctionType().getResults()));
  kernel.setPrivate();
  kernel->setDiscardableAttrs(readers->getDiscardableAttrDictionary());
  OpBuilder inner = OpBuilder::atBlockEnd(kernel.addEntryBlock());
  Block &body = bodyOf(kernel);
  SmallVector<Value> operands;
  auto argumentFor = [&](Value operand) -> Value {
    for (auto [known, argument] : llvm::zip(operands, body.getArguments()))
      if (known == operand)
        return argument;
    operands.push_back(operand);
    return body.addArgument(operand.getType(), loc);
  };

  SmallVector<Taken> taken;
  auto slicesOf = [&](Value argument, int64_t begin) -> Value {
    unsigned number = cast<BlockArgument>(argument).getArgNumber();
    Value operand = product.getOperand(number);
    RankedTensorType type = typeOf(operand);
    SmallVector<int64_t> shape(type.getShape());
    if (std::optional<Taken> from = takenFor(operand, product, symbols)) {
      if (llvm::none_of(taken, [&](const Taken &other) { return other.call == from->call; }))
        taken.push_back(*from);
      DynamicSliceOp slice = from->slice;
      RankedTensorType sliced = typeOf(slice);
      SmallVector<int64_t> sizes(sliced.getShape());
      sizes.back() = parts.width;
      SmallVector<Value> starts;
      for (Value start : slice.getStartIndices()) {
        if (auto outside = dyn_cast<BlockArgument>(start))
          starts.push_back(argumentFor(from->call.getOperand(outside.getArgNumber())));
        else
          starts.push_back(inner.clone(*start.getDefiningOp())->getResult(0));
      }
      auto scalar = cast<RankedTensorType>(starts.back().getType());
      starts.back() = ConstantOp::create(inner, loc, DenseElementsAttr::get(scalar, inner.getIntegerAttr(scalar.getElementType(), begin)));
      Value all = argumentFor(from->call.getOperand(cast<BlockArgument>(slice.getOperand()).getArgNumber()));
      Value part = DynamicSliceOp::create(inner, loc, sliced.clone(sizes), all, starts, inner.getDenseI64ArrayAttr(sizes));
      return ReshapeOp::create(inner, loc, type.clone({shape[0], parts.width}), part);
    }
    return boxOf(inner, loc, argumentFor(operand), Box::along(type.getShape(), type.getRank() - 1, begin, begin + parts.width));
  };

  // partOf(begin) is the value of the product's kernel for the columns from `begin`.
  auto partOf = [&](int64_t begin) {
    IRMapping values;
    auto ofOperand = [&](Value value) {
      if (Value known = values.lookupOrNull(value))
        return known;
      Value part = slicesOf(value, begin);
      values.map(value, part);
      return part;
    };
    for (Operation &op : bodyOf(source).without_terminator()) {
      if (auto dot = dyn_cast<DotGeneralOp>(op)) {
        RankedTensorType panels = typeOf(dot.getRhs()), type = typeOf(dot.getResult());
        int64_t first = begin / panels.getDimSize(2), count = parts.width / panels.getDimSize(2);
        Value some = boxOf(inner, loc, argumentFor(product.getOperand(weights)), Box::along(panels.getShape(), 0, first, first + count));
        SmallVector<int64_t> of(type.getShape());
        of[of.size() - 2] = count;
        Value left = argumentFor(product.getOperand(cast<BlockArgument>(dot.getLhs()).getArgNumber()));
        auto sum = DotGeneralOp::create(inner, dot.getLoc(), type.clone(of), left, some, dot.getDotDimensionNumbers(), dot.getPrecisionConfigAttr(),
                                        dot.getAlgorithmAttr());
        sum->setDiscardableAttrs(dot->getDiscardableAttrDictionary());
        values.map(dot.getResult(), sum.getResult());
        continue;
      }
      SmallVector<Value> inputs;
      for (Value operand : op.getOperands())
        inputs.push_back(ofOperand(operand));
      RankedTensorType type = typeOf(op.getResult(0));
      SmallVector<int64_t> shape(type.getShape());
      shape.back() = parts.width;
      Operation *copy = inner.clone(op);
      copy->setOperands(inputs);
      copy->getResult(0).setType(type.clone(shape));
      if (auto constant = dyn_cast<ConstantOp>(copy))
        constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).resizeSplat(type.clone(shape)));
      values.map(op.getResult(0), copy->getResult(0));
    }
    return values.lookup(bodyOf(source).getTerminator()->getOperand(0));
  };

  IRMapping values;
  DenseMap<int64_t, Value> made;
  for (int64_t begin : parts.begins)
    made[begin] = partOf(begin);
  for (Operation &op : bodyOf(readers).without_terminator()) {
    if (auto slice = dyn_cast<SliceOp>(op); slice && slice.getOperand() == bodyOf(readers).getArgument(parts.argument)) {
      values.map(slice.getResult(), made[slice.getStartIndices()[1]]);
      continue;
    }
    for (Value operand : op.getOperands())
      if (auto argument = dyn_cast<BlockArgument>(operand); argument && !values.contains(operand))
        values.map(operand, argumentFor(reader.getOperand(argument.getArgNumber())));
    inner.clone(op, values);
  }
  SmallVector<Value> results;
  for (Value result : bodyOf(readers).getTerminator()->getOperands()) {
    if (auto argument = dyn_cast<BlockArgument>(result); argument && !values.contains(result))
      values.map(result, argumentFor(reader.getOperand(argument.getArgNumber())));
    results.push_back(values.lookup(result));
  }
  func::ReturnOp::create(inner, loc, results);
  kernel.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), readers.getFunctionType().getResults()));

  symbols.erase(readers);
  symbols.insert(kernel);
  auto call = func::CallOp::create(builder, loc, kernel, operands);
  reader->replaceAllUsesWith(call);
  erased.insert({reader, product});
  reader->erase();
  product->erase();
  symbols.erase(source);
  for (Taken &from : taken) {
    auto unused = symbols.lookup<func::FuncOp>(from.call.getCallee());
    erased.insert(from.call);
    from.call->erase();
    if (SymbolTable::symbolKnownUseEmpty(unused, unused->getParentOp()))
      symbols.erase(unused);
  }
}

} // namespace millrace::fusion
