// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ColumnParts.cpp - Readers of parts of a product's columns ----------===//
// Input:   %x = call @take(%all, %i)   with @take { reshape(dynamic_slice(%all, %i, 0, 0)) : 16x1024 }
//          %g = call @product(%h, %panels, %x)   with @product { add(%x, reshape(dot_general(%h, %panels))) : 16x1024 }
//          %c = call @gates(%g, %old)   with @gates { ... slice(%g, 0:256) ... slice(%g, 768:1024) ... }
// Output:  %c = call @gates(%h, %panels, %all, %i, %old): for each part of the columns a product with a part of the panels, and a part of %x
//          The sums of all gates of a few columns meet in one thread, which computes on while they are near.
// Leaves alone products of many rows, whose sums would not stay near, and readers of other parts than equal ones.
//===----------------------------------------------------------------------===//
#include "passes/fusion/operands/ColumnParts.h"

#include "passes/fusion/plan/FusionPolicy.h"
#include "passes/fusion/Passes.h"

#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

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

/// The call of a kernel that takes the matrix `value` out of a larger one, at an offset known at run time, for `product` alone; null if it is none.
func::CallOp takenFor(Value value, func::CallOp product, SymbolTable &symbols) {
  auto call = value.getDefiningOp<func::CallOp>();
  auto kernel = call ? symbols.lookup<func::FuncOp>(call.getCallee()) : func::FuncOp();
  if (!kernel || !kernel->hasAttr(kKernelAttr) || !value.hasOneUse() || call->getNumResults() != 1 || call->getBlock() != product->getBlock())
    return {};
  auto reshape = bodyOf(kernel).getTerminator()->getOperand(0).getDefiningOp<ReshapeOp>();
  auto slice = reshape ? reshape.getOperand().getDefiningOp<DynamicSliceOp>() : DynamicSliceOp();
  if (!slice || !isa<BlockArgument>(slice.getOperand()))
    return {};
  // The slices are of whole rows, whose parts are slices, too, and the value is not updated in between.
  ArrayRef<int64_t> from = typeOf(slice.getOperand()).getShape(), part = typeOf(slice).getShape(), to = typeOf(reshape).getShape();
  bool isWhole = to.size() == 2 && from.size() > 2 && part.take_back(2) == to && from.back() == part.back();
  auto last = slice.getStartIndices().back().getDefiningOp<ConstantOp>();
  Value source = call.getOperand(cast<BlockArgument>(slice.getOperand()).getArgNumber());
  if (!isWhole || !last || source.getParentBlock() == product->getBlock())
    return {};
  return llvm::all_of(bodyOf(kernel).without_terminator(), [&](Operation &op) { return &op == slice || &op == reshape || isa<ConstantOp>(op); })
             ? call
             : func::CallOp();
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

void joinColumnParts(const ColumnParts &parts, SymbolTable &symbols, llvm::SmallPtrSetImpl<Operation *> &erased) {
  func::CallOp product = parts.product, reader = parts.reader;
  auto readers = symbols.lookup<func::FuncOp>(reader.getCallee());
  Location loc = reader.getLoc();
  OpBuilder builder(reader);
  auto kernel = func::FuncOp::create(loc, readers.getName(), builder.getFunctionType({}, readers.getFunctionType().getResults()));
  kernel.setPrivate();
  kernel->setDiscardableAttrs(readers->getDiscardableAttrDictionary());
  Block &body = *kernel.addEntryBlock();
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  // The bodies of all kernels, one after the other.
  IRMapping made; // what the calls compute and read, and the values that stand for them here
  SmallVector<Value> operands;
  auto append = [&](func::CallOp call) {
    Block &from = bodyOf(symbols.lookup<func::FuncOp>(call.getCallee()));
    IRMapping values;
    for (auto [argument, operand] : llvm::zip_equal(from.getArguments(), call.getOperands())) {
      if (!made.contains(operand)) {
        operands.push_back(operand);
        made.map(operand, body.addArgument(operand.getType(), loc));
      }
      values.map(argument, made.lookup(operand));
    }
    for (Operation &op : from.without_terminator())
      inner.clone(op, values);
    for (auto [result, value] : llvm::zip_equal(call.getResults(), from.getTerminator()->getOperands()))
      made.map(result, values.lookup(value));
  };
  SmallVector<func::CallOp> calls;
  for (Value operand : product.getOperands())
    if (func::CallOp taken = takenFor(operand, product, symbols))
      calls.push_back(taken);
  calls.append({product, reader});
  llvm::for_each(calls, append);
  // Each part is computed of the parts of what it is computed from.
  Value whole = made.lookup(product.getResult(0));
  KnownBoxes known;
  for (Operation &op : llvm::make_early_inc_range(body))
    if (auto slice = dyn_cast<SliceOp>(op); slice && slice.getOperand() == whole) {
      inner.setInsertionPoint(slice);
      slice.getResult().replaceAllUsesWith(boxOf(inner, slice.getLoc(), whole, Box::of(slice), [](Operation *) { return true; }, &known));
    }
  SmallVector<Value> results = llvm::map_to_vector(reader.getResults(), [&](Value result) { return made.lookup(result); });
  inner.setInsertionPointToEnd(&body);
  func::ReturnOp::create(inner, loc, results);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  kernel.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), readers.getFunctionType().getResults()));

  symbols.erase(readers);
  symbols.insert(kernel);
  auto call = func::CallOp::create(builder, loc, kernel, operands);
  reader->replaceAllUsesWith(call);
  for (func::CallOp old : llvm::reverse(calls)) {
    auto unused = symbols.lookup<func::FuncOp>(old.getCallee());
    erased.insert(old);
    old->erase();
    if (SymbolTable::symbolKnownUseEmpty(unused, unused->getParentOp()))
      symbols.erase(unused);
  }
}

} // namespace millrace::fusion
