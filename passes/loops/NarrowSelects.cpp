// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NarrowSelects.cpp - Replace selects of arrays by selects of windows ===//
// Input:   %b = dynamic_update_slice %a, %u, %i ; %r = select %p, %b, %a
// Output:  %w = dynamic_slice %a, %i ; %v = select %p, %u, %w ; %r = dynamic_update_slice %a, %v, %i
// Input:   %b = scatter %a, %i, %u by any computation ; %r = select %p, %b, %a      where %p is one element per index vector, or a scalar
// Output:  %j = select %p, %i, the first index out of bounds ; %r = scatter %a, %j, %u
// Both operands of the select may be chains of updates of one array, with selects between them: the result is that array, updated in place where
// its live range ends.
// Input:   in a loop, %b = dynamic_update_slice %a, %u, %i ; %x = dynamic_slice %b, %j ; %p computed of %x ; %r = select %p, %b, %a
// Output:  %w = dynamic_slice %a, %i ; %b as before ; %n = dynamic_slice %b, %i ; %v = select %p, %n, %w ; %r = dynamic_update_slice %b, %v, %i
// An update whose result is read before the predicate is known, or by the predicate itself, is done and then undone where it is not selected.
// Input:   in a loop, %x = select %p, %a, 0 ; %y = select %p, 0, %a ; %z = update %x ; %s = add %y, %z        as in gradients of selects
// Output:  %z = update %a ; %x = select %p, %z, %a ; %s = add %x, 0        and windows that are read of %x are selected where they are read
// Input:   in a loop, %b = while(%a) ; %r = select %p, %b, %a        where %p is a scalar
// Output:  %r = if %p { %b = while(%a) ; return %b } else { return %a }
// Leaves alone scatters of several arrays, windows that may be partly out of bounds where the predicate has several elements per window, and arrays
// that are kept in registers.
//===----------------------------------------------------------------------===//
#include "passes/loops/Passes.h"

#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fusion/pieces/Combiners.h"
#include "passes/fusion/plan/ScalarLoopPolicy.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::loops {
#define GEN_PASS_DEF_NARROWSELECTSPASS
#include "passes/loops/Passes.h.inc"

namespace {

bool hasPlainType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && !type.getEncoding();
}

/// Returns `type` with the dimensions `dims` only.
RankedTensorType onlyDims(RankedTensorType type, ArrayRef<int64_t> dims) {
  return RankedTensorType::get(llvm::map_to_vector(dims, [&](int64_t d) { return type.getDimSize(d); }), type.getElementType());
}

Value broadcast(OpBuilder &b, Location loc, Value value, RankedTensorType type, ArrayRef<int64_t> to) {
  if (value.getType() == type && llvm::equal(to, llvm::seq<int64_t>(0, type.getRank())))
    return value;
  return BroadcastInDimOp::create(b, loc, type, value, b.getDenseI64ArrayAttr(to));
}

//===----------------------------------------------------------------------===//
// Predicates
//===----------------------------------------------------------------------===//

/// Updates that may be undone for one select: each of them is read and written twice. Unit: updates. Source: judgement, not measured alone.
constexpr unsigned kMaxTakenBack = 8;

/// Operations through which a predicate is followed: jax.vmap creates broadcasts and comparisons of broadcasts. A bound of the search. Unit:
/// operations. Source: judgement, not measured alone.
constexpr unsigned kMaxPredicateDepth = 16;

bool isSplat(Value value) {
  DenseElementsAttr attr;
  return matchPattern(value, m_Constant(&attr)) && attr.isSplat();
}

/// Returns true for an elementwise operation.
bool isPointwise(Operation *op) {
  return op && op->getNumResults() == 1 && op->hasTrait<OpTrait::Elementwise>() && llvm::all_of(op->getOperands(), [&](Value operand) {
           return hasPlainType(operand) && typeOf(operand).getShape() == typeOf(op->getResult(0)).getShape();
         });
}

/// Returns the dimensions along which elements of `value` can differ.
llvm::SmallBitVector varyingDims(Value value, unsigned depth = 0) {
  RankedTensorType type = typeOf(value);
  llvm::SmallBitVector dims(type.getRank());
  Operation *op = value.getDefiningOp();
  if (isSplat(value))
    return dims;
  if (auto broadcast = value.getDefiningOp<BroadcastInDimOp>(); broadcast && depth < kMaxPredicateDepth && hasPlainType(broadcast.getOperand())) {
    llvm::SmallBitVector inner = varyingDims(broadcast.getOperand(), depth + 1);
    for (auto [from, to] : llvm::enumerate(broadcast.getBroadcastDimensions()))
      if (inner[from])
        dims.set(to);
    return dims;
  }
  if (depth < kMaxPredicateDepth && isPointwise(op)) {
    for (Value operand : op->getOperands())
      dims |= varyingDims(operand, depth + 1);
    return dims;
  }
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.getDimSize(d) != 1)
      dims.set(d);
  return dims;
}

/// Returns `value` reduced to the dimensions `dims`, which include all those of varyingDims().
Value alongDims(OpBuilder &b, Value value, ArrayRef<int64_t> dims) {
  RankedTensorType type = typeOf(value), narrow = onlyDims(type, dims);
  if (type == narrow)
    return value;
  Location loc = value.getLoc();
  DenseElementsAttr attr;
  if (matchPattern(value, m_Constant(&attr)) && attr.isSplat())
    return ConstantOp::create(b, loc, attr.resizeSplat(narrow));
  auto wide = value.getDefiningOp<BroadcastInDimOp>();
  if (wide && hasPlainType(wide.getOperand())) {
    SmallVector<int64_t> from, to;
    for (auto [inner, outer] : llvm::enumerate(wide.getBroadcastDimensions()))
      if (const int64_t *place = llvm::find(dims, outer); place != dims.end()) {
        from.push_back(inner);
        to.push_back(place - dims.begin());
      }
    llvm::SmallBitVector inner = varyingDims(wide.getOperand());
    if (llvm::all_of(inner.set_bits(), [&](unsigned d) { return llvm::is_contained(from, int64_t(d)); }))
      return broadcast(b, loc, alongDims(b, wide.getOperand(), from), narrow, to);
  }
  if (Operation *op = value.getDefiningOp(); isPointwise(op)) {
    llvm::SmallBitVector inner(type.getRank());
    for (Value operand : op->getOperands())
      inner |= varyingDims(operand);
    if (llvm::all_of(inner.set_bits(), [&](unsigned d) { return llvm::is_contained(dims, int64_t(d)); })) {
      IRMapping mapping;
      for (Value operand : op->getOperands())
        mapping.map(operand, alongDims(b, operand, dims));
      Operation *clone = b.clone(*op, mapping);
      clone->getResult(0).setType(narrow);
      return clone->getResult(0);
    }
  }
  return ReshapeOp::create(b, loc, narrow, value); // the other dimensions are unit dimensions
}

/// The predicate of a select.
struct Predicate {
  Value whole;               ///< in the array's shape, or a scalar
  SmallVector<int64_t> dims; ///< of the array along which it varies, ascending

  explicit Predicate(SelectOp op) : whole(op.getPred()) {
    for (unsigned d : varyingDims(whole).set_bits())
      dims.push_back(d);
  }
  bool isScalar() const { return dims.empty(); }
};

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// The role of one dimension of the array in a scatter.
struct ScatterDim {
  bool isIndexed = false;   ///< the index vector has a component for it
  int64_t inUpdates = -1;   ///< the dimension of the updates for it; -1 if windows have one index of it
  int64_t inIndices = -1;   ///< of a batching dimension: its dimension of the indices
};

SmallVector<ScatterDim> dimsOf(ScatterOp op) {
  auto numbers = op.getScatterDimensionNumbers();
  SmallVector<ScatterDim> dims(typeOf(op.getInputs()[0]).getRank());
  for (int64_t d : numbers.getScatterDimsToOperandDims())
    dims[d].isIndexed = true;
  SmallVector<int64_t> batch; // of the updates
  for (int64_t d = 0, rank = typeOf(op.getUpdates()[0]).getRank(); d < rank; ++d)
    if (!llvm::is_contained(numbers.getUpdateWindowDims(), d))
      batch.push_back(d);
  for (auto [d, inIndices] : llvm::zip_equal(numbers.getInputBatchingDims(), numbers.getScatterIndicesBatchingDims())) {
    dims[d].inIndices = inIndices;
    dims[d].inUpdates = batch[inIndices < numbers.getIndexVectorDim() ? inIndices : inIndices - 1];
  }
  const int64_t *window = numbers.getUpdateWindowDims().begin();
  for (int64_t d = 0; d < int64_t(dims.size()); ++d)
    if (!llvm::is_contained(numbers.getInsertedWindowDims(), d) && dims[d].inIndices < 0)
      dims[d].inUpdates = *window++;
  return dims;
}

/// Returns true if the computation returns the update unchanged.
bool replaces(ScatterOp op) {
  Block &body = op.getUpdateComputation().front();
  return llvm::hasSingleElement(body) && body.getTerminator()->getOperand(0) == body.getArgument(1);
}

TypedAttr neutralOf(ScatterOp op) {
  Operation *combine = combinerOf(op.getUpdateComputation());
  return combine ? fusion::neutralElement(*combine, typeOf(op.getInputs()[0]).getElementType()) : TypedAttr();
}

/// How an update is restricted to where a predicate holds.
enum class Way {
  None,
  Window,   ///< elsewhere, the array's own elements are written again
  Redirect, ///< elsewhere, indices are out of bounds
  Neutral,  ///< elsewhere, the neutral element is combined
};

/// Returns true if the indices' type can represent an index that is out of bounds in every indexed dimension.
bool canRedirect(ScatterOp op) {
  auto element = dyn_cast<IntegerType>(typeOf(op.getScatterIndices()).getElementType());
  auto indexed = op.getScatterDimensionNumbers().getScatterDimsToOperandDims();
  if (!element || indexed.empty())
    return false;
  unsigned bits = element.isUnsigned() ? element.getWidth() : element.getWidth() - 1;
  return llvm::all_of(indexed, [&](int64_t d) { return bits >= 63 || typeOf(op.getInputs()[0]).getDimSize(d) < int64_t(1) << bits; });
}

/// Returns true for an update of an array by a smaller window with a single user.
bool isNarrowUpdate(Operation *op) {
  if (!isa<DynamicUpdateSliceOp, ScatterOp>(op) || !llvm::all_of(op->getOperands(), hasPlainType) || op->getNumResults() != 1 || op->getResult(0).getType() != op->getOperand(0).getType())
    return false;
  Value updates;
  if (auto update = dyn_cast<DynamicUpdateSliceOp>(op))
    updates = update.getUpdate();
  else if (auto scatter = dyn_cast<ScatterOp>(op)) {
    updates = scatter.getUpdates()[0];
    if (!llvm::all_of(scatter.getUpdateComputation().getArgumentTypes(), [&](Type type) { return typeOf(op->getResult(0)).getElementType() == getElementTypeOrSelf(type); }))
      return false;
  }
  return updates && typeOf(updates).getElementType() == typeOf(op->getResult(0)).getElementType() &&
         typeOf(updates).getNumElements() < typeOf(op->getResult(0)).getNumElements();
}

/// A value that is computed from one array by updates and selects, each with the next one as its single user.
struct Tree {
  Value root;                    ///< the array
  SmallVector<Operation *> made; ///< updates and selects, each before its operands

  /// Returns false if the leaves of the tree above `value` are not one array.
  bool collect(Value value, Block *block) {
    Operation *op = value.getDefiningOp();
    bool isInner = op && op->getBlock() == block && value.hasOneUse();
    if (auto select = dyn_cast_or_null<SelectOp>(op); isInner && select && hasPlainType(select.getPred())) {
      made.push_back(op);
      return collect(select.getOnTrue(), block) && collect(select.getOnFalse(), block);
    }
    if (isInner && isNarrowUpdate(op)) {
      made.push_back(op);
      return collect(op->getOperand(0), block);
    }
    bool isSame = !root || root == value;
    root = value;
    return isSame;
  }
};

/// Returns the updates that compute `value` from `array`, the last one first; intermediate versions may have other users. Empty if another operation
/// is between.
SmallVector<Operation *> updatesFrom(Value array, Value value, Block *block) {
  SmallVector<Operation *> updates;
  while (value != array) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != block || !isNarrowUpdate(op) || updates.size() == kMaxTakenBack)
      return {};
    Value window = isa<ScatterOp>(op) ? cast<ScatterOp>(op).getUpdates()[0] : op->getOperand(1);
    if (4 * typeOf(window).getNumElements() > typeOf(array).getNumElements())
      return {}; // the window would be read and written twice, which costs as much as a select of the array
    updates.push_back(op);
    value = op->getOperand(0);
  }
  return updates;
}

/// A condition under which a write is done.
struct Guard {
  Predicate predicate;
  bool wanted;
};

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// Returns true if indices are clamped so that no window is partly out of bounds, as jax.vmap writes dynamic_update_slice.
bool areWindowsInside(ScatterOp op, ArrayRef<ScatterDim> dims) {
  auto clamp = op.getScatterIndices().getDefiningOp<ClampOp>();
  DenseIntElementsAttr least, most;
  if (!clamp || !matchPattern(clamp.getMin(), m_Constant(&least)) || !matchPattern(clamp.getMax(), m_Constant(&most)))
    return false;
  auto numbers = op.getScatterDimensionNumbers();
  RankedTensorType indices = typeOf(op.getScatterIndices());
  int64_t count = numbers.getScatterDimsToOperandDims().size(), inner = 1; // elements per index of the index vector's dimension
  for (int64_t i = numbers.getIndexVectorDim() + 1; i < indices.getRank(); ++i)
    inner *= indices.getDimSize(i);
  bool isUnsigned = indices.getElementType().isUnsignedInteger();
  for (auto [component, d] : llvm::enumerate(numbers.getScatterDimsToOperandDims())) {
    int64_t window = dims[d].inUpdates < 0 ? 1 : typeOf(op.getUpdates()[0]).getDimSize(dims[d].inUpdates);
    int64_t last = typeOf(op.getInputs()[0]).getDimSize(d) - window;
    auto isOfOther = [&](size_t place, DenseIntElementsAttr bound) { return !bound.isSplat() && int64_t(place) / inner % count != int64_t(component); };
    for (auto [place, number] : llvm::enumerate(least.getValues<APInt>()))
      if (!isOfOther(place, least) && !isUnsigned && number.isNegative())
        return false;
    for (auto [place, number] : llvm::enumerate(most.getValues<APInt>()))
      if (!isOfOther(place, most) && (number.getActiveBits() > 62 || int64_t(number.getZExtValue()) > last))
        return false;
  }
  return true;
}

/// Returns true if a window along an indexed dimension can be partly out of bounds: gather moves such a window, scatter drops it.
bool movesWindows(ScatterOp op) {
  SmallVector<ScatterDim> dims = dimsOf(op);
  bool hasLong = llvm::any_of(dims, [&](const ScatterDim &dim) {
    return dim.isIndexed && dim.inUpdates >= 0 && typeOf(op.getUpdates()[0]).getDimSize(dim.inUpdates) > 1;
  });
  return hasLong && !areWindowsInside(op, dims);
}

class Narrower {
public:
  Narrower(SelectOp select, const Tree &tree) : b(select), loc(select.getLoc()), tree(tree) {}

  /// Undoes `updates`, which computed `value` from an array, the last one first, where the predicate of `select` is not `wanted`.
  Value takeBack(SelectOp select, bool wanted, Value value, ArrayRef<Operation *> updates) {
    guards.push_back({Predicate(select), wanted});
    for (Operation *update : updates) {
      OpBuilder::InsertPoint here = b.saveInsertionPoint();
      b.setInsertionPoint(update);
      Value before = windowAt(update, update->getOperand(0));
      b.restoreInsertionPoint(here);
      Value now = windowAt(update, value);
      if (auto slice = dyn_cast<DynamicUpdateSliceOp>(update)) {
        Value chosen = choose(now, before, [&](const Predicate &predicate) { return inWindow(slice, predicate); });
        value = DynamicUpdateSliceOp::create(b, loc, value.getType(), value, chosen, slice.getStartIndices());
        continue;
      }
      auto scatter = cast<ScatterOp>(update);
      Value chosen = choose(now, before, [&](const Predicate &predicate) { return inWindow(scatter, predicate); });
      auto made = ScatterOp::create(b, loc, TypeRange{value.getType()}, ValueRange{value}, scatter.getScatterIndices(), ValueRange{chosen},
                                    scatter.getScatterDimensionNumbersAttr(), scatter.getIndicesAreSortedAttr(), scatter.getUniqueIndicesAttr());
      Block &body = made.getUpdateComputation().emplaceBlock();
      auto scalar = RankedTensorType::get({}, typeOf(value).getElementType());
      body.addArguments({scalar, scalar}, {loc, loc});
      OpBuilder inner = OpBuilder::atBlockEnd(&body);
      ReturnOp::create(inner, loc, ValueRange{body.getArgument(1)});
      value = made->getResult(0);
    }
    guards.pop_back();
    return value;
  }

  /// Returns true if every update of the tree can be restricted to where a condition holds.
  bool accepts(Value value) {
    if (value == tree.root)
      return true;
    if (auto select = value.getDefiningOp<SelectOp>()) {
      guards.push_back({Predicate(select), true});
      bool ok = accepts(select.getOnTrue()) && accepts(select.getOnFalse());
      guards.pop_back();
      return ok;
    }
    return wayOf(value.getDefiningOp()) != Way::None && accepts(value.getDefiningOp()->getOperand(0));
  }

  /// Updates `array` to `value` where the guards hold.
  Value make(Value array, Value value) {
    if (value == tree.root)
      return array;
    auto select = value.getDefiningOp<SelectOp>();
    if (!select)
      return write(make(array, value.getDefiningOp()->getOperand(0)), value.getDefiningOp());
    for (bool wanted : {false, true}) {
      guards.push_back({Predicate(select), wanted});
      array = make(array, wanted ? select.getOnTrue() : select.getOnFalse());
      guards.pop_back();
    }
    return array;
  }

private:
  Way wayOf(Operation *update) {
    auto scatter = dyn_cast<ScatterOp>(update);
    if (!scatter)
      return Way::Window;
    SmallVector<ScatterDim> dims = dimsOf(scatter);
    // The predicate has one element per index vector.
    bool isPerIndex = llvm::all_of(guards, [&](const Guard &guard) {
      return llvm::all_of(guard.predicate.dims, [&](int64_t d) { return dims[d].inIndices >= 0; });
    });
    if (isPerIndex && canRedirect(scatter))
      return Way::Redirect;
    if (movesWindows(scatter))
      return Way::None;
    if (replaces(scatter))
      return Way::Window;
    return neutralOf(scatter) ? Way::Neutral : Way::None;
  }

  /// Applies `update` to `array` instead of its own operand, where the guards hold.
  Value write(Value array, Operation *update) {
    if (auto slice = dyn_cast<DynamicUpdateSliceOp>(update)) {
      Value now = windowAt(slice, array);
      Value chosen = choose(slice.getUpdate(), now, [&](const Predicate &predicate) { return inWindow(slice, predicate); });
      return DynamicUpdateSliceOp::create(b, loc, array.getType(), array, chosen, slice.getStartIndices());
    }
    auto scatter = cast<ScatterOp>(update);
    Value indices = scatter.getScatterIndices(), updates = scatter.getUpdates()[0];
    bool isSorted = scatter.getIndicesAreSorted();
    auto inThisWindow = [&](const Predicate &predicate) { return inWindow(scatter, predicate); };
    switch (wayOf(update)) {
    case Way::Redirect:
      indices = choose(indices, outOfBounds(scatter), [&](const Predicate &predicate) { return perIndex(scatter, predicate); });
      isSorted &= llvm::all_of(guards, [](const Guard &guard) { return guard.predicate.isScalar(); });
      break;
    case Way::Window:
      updates = choose(updates, gather(scatter, array), inThisWindow);
      break;
    case Way::Neutral:
      updates = choose(updates, ConstantOp::create(b, loc, DenseElementsAttr::get(typeOf(updates), ArrayRef<Attribute>{neutralOf(scatter)})), inThisWindow);
      break;
    case Way::None:
      llvm_unreachable("an update that cannot be narrowed");
    }
    auto made = ScatterOp::create(b, loc, TypeRange{array.getType()}, ValueRange{array}, indices, ValueRange{updates},
                                  scatter.getScatterDimensionNumbersAttr(), b.getBoolAttr(isSorted), scatter.getUniqueIndicesAttr());
    IRMapping mapping;
    scatter.getUpdateComputation().cloneInto(&made.getUpdateComputation(), mapping);
    return made->getResult(0);
  }

  /// Selects `value` where all guards hold, each of them brought by `fit` into the shape of the select.
  Value choose(Value value, Value otherwise, llvm::function_ref<Value(const Predicate &)> fit) {
    for (const Guard &guard : guards)
      value = SelectOp::create(b, loc, value.getType(), fit(guard.predicate), guard.wanted ? value : otherwise, guard.wanted ? otherwise : value);
    return value;
  }

  /// Returns the predicate with the dimensions along which it varies.
  Value narrow(const Predicate &predicate) { return alongDims(b, predicate.whole, predicate.dims); }

  /// Broadcasts `value`: its dimension d is dimension `to[d]` of the result.
  Value spread(Value value, ArrayRef<int64_t> shape, ArrayRef<int64_t> to) {
    if (to.empty())
      return value; // a select takes a scalar predicate
    return broadcast(b, loc, value, typeOf(value).clone(shape), to);
  }

  /// Returns a window of `value` with shape `shape`; elementwise operations are computed on the windows of their operands.
  Value windowOf(Value value, ArrayRef<int64_t> shape, llvm::function_ref<Value(Value)> leaf, unsigned depth = 0) {
    Operation *op = value.getDefiningOp();
    DenseElementsAttr attr;
    if (matchPattern(value, m_Constant(&attr)) && attr.isSplat())
      return ConstantOp::create(b, loc, attr.resizeSplat(typeOf(value).clone(shape)));
    auto wide = value.getDefiningOp<BroadcastInDimOp>();
    if (wide && hasPlainType(wide.getOperand()) && typeOf(wide.getOperand()).getNumElements() == 1)
      return BroadcastInDimOp::create(b, loc, typeOf(value).clone(shape), wide.getOperand(), wide.getBroadcastDimensionsAttr());
    if (!isPointwise(op) || depth == kMaxPredicateDepth)
      return leaf(value);
    IRMapping mapping;
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand))
        mapping.map(operand, windowOf(operand, shape, leaf, depth + 1));
    Operation *clone = b.clone(*op, mapping);
    clone->getResult(0).setType(typeOf(value).clone(shape));
    return clone->getResult(0);
  }

  Value inWindow(DynamicUpdateSliceOp op, const Predicate &predicate) {
    ArrayRef<int64_t> shape = typeOf(op.getUpdate()).getShape();
    SmallVector<int64_t> sizes;
    SmallVector<Value> starts;
    for (int64_t d : predicate.dims) {
      sizes.push_back(shape[d]);
      starts.push_back(op.getStartIndices()[d]);
    }
    Value part = narrow(predicate);
    if (typeOf(part).getShape() != ArrayRef(sizes))
      part = windowOf(part, sizes, [&](Value value) -> Value {
        return DynamicSliceOp::create(b, loc, typeOf(value).clone(sizes), value, starts, b.getDenseI64ArrayAttr(sizes));
      });
    return spread(part, shape, predicate.dims);
  }

  Value inWindow(ScatterOp op, const Predicate &predicate) {
    ArrayRef<int64_t> shape = typeOf(op.getUpdates()[0]).getShape();
    if (predicate.isScalar())
      return narrow(predicate);
    return windowOf(predicate.whole, shape, [&](Value value) { return inWindow(op, value); });
  }

  /// Returns the window of `value`, which has the array's shape, where `op` writes.
  Value inWindow(ScatterOp op, Value value) {
    SmallVector<ScatterDim> dims = dimsOf(op);
    ArrayRef<int64_t> shape = typeOf(op.getUpdates()[0]).getShape();
    SmallVector<int64_t> varying = llvm::map_to_vector(varyingDims(value).set_bits(), [](unsigned d) { return int64_t(d); });
    if (llvm::any_of(varying, [&](int64_t d) { return dims[d].isIndexed || dims[d].inUpdates < 0; }))
      return gather(op, value);
    SmallVector<int64_t> sizes, to;
    for (int64_t d : varying) {
      to.push_back(dims[d].inUpdates);
      sizes.push_back(shape[to.back()]);
    }
    Value part = boxOf(b, loc, alongDims(b, value, varying), Box::whole(sizes)); // windows begin at index 0
    return broadcast(b, loc, part, typeOf(part).clone(shape), to);
  }

  Value perIndex(ScatterOp op, const Predicate &predicate) {
    SmallVector<ScatterDim> dims = dimsOf(op);
    SmallVector<int64_t> to = llvm::map_to_vector(predicate.dims, [&](int64_t d) { return dims[d].inIndices; });
    return spread(narrow(predicate), typeOf(op.getScatterIndices()).getShape(), to);
  }

  Value outOfBounds(ScatterOp op) {
    auto numbers = op.getScatterDimensionNumbers();
    RankedTensorType type = typeOf(op.getScatterIndices());
    SmallVector<APInt> sizes;
    for (int64_t d : numbers.getScatterDimsToOperandDims())
      sizes.push_back(APInt(type.getElementTypeBitWidth(), typeOf(op.getInputs()[0]).getDimSize(d)));
    if (llvm::all_equal(sizes))
      return ConstantOp::create(b, loc, DenseElementsAttr::get(type, sizes.front()));
    auto vector = RankedTensorType::get({int64_t(sizes.size())}, type.getElementType());
    Value constant = ConstantOp::create(b, loc, DenseElementsAttr::get(vector, ArrayRef<APInt>(sizes)));
    return BroadcastInDimOp::create(b, loc, type, constant, b.getDenseI64ArrayAttr({numbers.getIndexVectorDim()}));
  }

  /// Returns the window of `array` where `update` writes.
  Value windowAt(Operation *update, Value array) {
    auto slice = dyn_cast<DynamicUpdateSliceOp>(update);
    if (!slice)
      return gather(cast<ScatterOp>(update), array);
    return DynamicSliceOp::create(b, loc, slice.getUpdate().getType(), array, slice.getStartIndices(),
                                  b.getDenseI64ArrayAttr(typeOf(slice.getUpdate()).getShape()));
  }

  Value gather(ScatterOp op, Value array) {
    auto numbers = op.getScatterDimensionNumbers();
    RankedTensorType updates = typeOf(op.getUpdates()[0]);
    SmallVector<int64_t> sizes;
    for (auto [d, dim] : llvm::enumerate(dimsOf(op)))
      sizes.push_back(dim.inUpdates >= 0 && dim.inIndices < 0 ? updates.getDimSize(dim.inUpdates) : 1);
    auto sameNumbers = GatherDimensionNumbersAttr::get(b.getContext(), numbers.getUpdateWindowDims(), numbers.getInsertedWindowDims(), numbers.getInputBatchingDims(),
                                                       numbers.getScatterIndicesBatchingDims(), numbers.getScatterDimsToOperandDims(), numbers.getIndexVectorDim());
    return GatherOp::create(b, loc, updates.clone(typeOf(array).getElementType()), array, op.getScatterIndices(), sameNumbers, b.getDenseI64ArrayAttr(sizes),
                            b.getBoolAttr(op.getIndicesAreSorted()));
  }

  OpBuilder b;
  Location loc;
  const Tree &tree;
  SmallVector<Guard> guards;
};

//===----------------------------------------------------------------------===//
// Selects between an array and zeros
//===----------------------------------------------------------------------===//

/// Returns true if all elements are +0.0 or the integer 0.
bool isZero(Value value) {
  DenseElementsAttr attr;
  if (!matchPattern(value, m_Constant(&attr)) || !attr.isSplat())
    return false;
  if (isa<FloatType>(attr.getElementType()))
    return attr.getSplatValue<APFloat>().isPosZero();
  return isa<IntegerType>(attr.getElementType()) && attr.getSplatValue<APInt>().isZero();
}

/// Returns true for a select with a scalar predicate between two arrays, one of them zeros.
bool isArrayOrZeros(SelectOp select) {
  return hasPlainType(select.getPred()) && typeOf(select.getPred()).getRank() == 0 && hasPlainType(select.getResult()) && !fusion::isFewScalars(select.getType()) &&
         (isZero(select.getOnTrue()) || isZero(select.getOnFalse()));
}

/// A sum one operand of which is zeros, whether the predicate of such selects holds or not.
class SumOfChoices {
public:
  explicit SumOfChoices(AddOp sum) : sum(sum), b(sum) {}

  void run() {
    for (Value operand : sum->getOperands())
      findPredicate(operand);
    if (!predicate)
      return;
    Value chosen[2];
    for (bool holds : {false, true}) {
      bool isLeftZero = isZeroWhere(holds, sum.getLhs()), isRightZero = isZeroWhere(holds, sum.getRhs());
      if (isLeftZero == isRightZero)
        return;
      chosen[holds] = isLeftZero ? sum.getRhs() : sum.getLhs();
    }
    for (bool holds : {false, true})
      chosen[holds] = where(holds, chosen[holds]);
    Value choice = SelectOp::create(b, sum.getLoc(), sum.getType(), predicate, chosen[true], chosen[false]);
    if (!isa<IntegerType>(typeOf(choice).getElementType())) { // -0.0 becomes +0.0
      Value zeros = ConstantOp::create(b, sum.getLoc(), cast<TypedAttr>(b.getZeroAttr(sum.getType())));
      choice = AddOp::create(b, sum.getLoc(), choice, zeros);
    }
    sum.replaceAllUsesWith(choice);
    sum.erase();
  }

private:
  /// Returns the update of this block that computes `value`; null if there is none.
  Operation *updateOf(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && op->getBlock() == sum->getBlock() && isNarrowUpdate(op) ? op : nullptr;
  }

  void findPredicate(Value value) {
    while (Operation *update = updateOf(value))
      value = update->getOperand(0);
    if (auto select = value.getDefiningOp<SelectOp>(); select && isArrayOrZeros(select))
      predicate = select.getPred();
  }

  SelectOp choiceOf(Value value) const {
    auto select = value.getDefiningOp<SelectOp>();
    return select && select.getPred() == predicate ? select : SelectOp();
  }

  bool isZeroWhere(bool holds, Value value) const {
    if (SelectOp select = choiceOf(value))
      return isZeroWhere(holds, holds ? select.getOnTrue() : select.getOnFalse());
    Operation *update = updateOf(value);
    if (!update)
      return isZero(value);
    auto scatter = dyn_cast<ScatterOp>(update);
    bool writesZero = scatter ? replaces(scatter) && isZero(scatter.getUpdates()[0]) : isZero(update->getOperand(1));
    return writesZero && isZeroWhere(holds, update->getOperand(0));
  }

  /// Returns `value` under the condition that the predicate holds, or does not hold.
  Value where(bool holds, Value value) {
    if (SelectOp select = choiceOf(value))
      return where(holds, holds ? select.getOnTrue() : select.getOnFalse());
    Operation *update = updateOf(value);
    Value array = update ? where(holds, update->getOperand(0)) : Value();
    if (!update || array == update->getOperand(0))
      return value;
    Operation *clone = b.clone(*update);
    clone->setOperand(0, array);
    return clone->getResult(0);
  }

  AddOp sum;
  OpBuilder b;
  Value predicate;
};

/// Replaces windows that are read of a select by selects of windows.
void readSides(SelectOp select) {
  for (Operation *user : llvm::make_early_inc_range(select->getUsers())) {
    bool isRead = isa<DynamicSliceOp, GatherOp>(user) && user->getOperand(0) == select.getResult() && llvm::count(user->getOperands(), select.getResult()) == 1 &&
                  hasPlainType(user->getResult(0)) && typeOf(user->getResult(0)).getNumElements() < typeOf(select.getResult()).getNumElements();
    if (!isRead)
      continue;
    OpBuilder b(user);
    Value windows[2];
    for (bool holds : {false, true}) {
      Value side = holds ? select.getOnTrue() : select.getOnFalse();
      if (isZero(side)) {
        windows[holds] = ConstantOp::create(b, user->getLoc(), cast<TypedAttr>(b.getZeroAttr(user->getResult(0).getType())));
        continue;
      }
      Operation *clone = b.clone(*user);
      clone->setOperand(0, side);
      windows[holds] = clone->getResult(0);
    }
    user->getResult(0).replaceAllUsesWith(SelectOp::create(b, user->getLoc(), user->getResult(0).getType(), select.getPred(), windows[true], windows[false]).getResult());
    user->erase();
  }
}

//===----------------------------------------------------------------------===//
// Loops whose results are selected
//===----------------------------------------------------------------------===//

/// Moves `loop` into an if where one scalar predicate selects all its results.
void runWhereChosen(WhileOp loop) {
  SmallVector<SelectOp> selects;
  SmallVector<Value> results, others;
  bool wanted = true;
  for (Value result : loop->getResults())
    for (Operation *user : result.getUsers()) {
      auto select = dyn_cast<SelectOp>(user);
      bool isOnTrue = select && select.getOnTrue() == result;
      if (!select || select->getBlock() != loop->getBlock() || !hasPlainType(select.getResult()) || !hasPlainType(select.getPred()) || typeOf(select.getPred()).getRank() != 0 ||
          select.getPred() == result || select.getOnTrue() == select.getOnFalse() ||
          (!selects.empty() && (select.getPred() != selects.front().getPred() || isOnTrue != wanted)))
        return;
      wanted = isOnTrue;
      selects.push_back(select);
      results.push_back(result);
      others.push_back(isOnTrue ? select.getOnFalse() : select.getOnTrue());
    }
  if (llvm::none_of(selects, [](SelectOp select) { return !fusion::isFewScalars(select.getType()); }) || !isMemoryEffectFree(loop))
    return;
  SelectOp first = *llvm::min_element(selects, [](SelectOp a, SelectOp b) { return a->isBeforeInBlock(b); });
  auto isReady = [&](Value value) {
    Operation *maker = value.getDefiningOp();
    return !maker || maker->getBlock() != loop->getBlock() || (maker != loop && maker->isBeforeInBlock(first));
  };
  if (!isReady(first.getPred()) || !llvm::all_of(others, isReady))
    return;
  OpBuilder b(first);
  Location loc = loop.getLoc();
  SmallVector<Type> types = llvm::map_to_vector(results, [](Value result) { return result.getType(); });
  auto choice = IfOp::create(b, loc, types, first.getPred());
  Block &runs = (wanted ? choice.getTrueBranch() : choice.getFalseBranch()).emplaceBlock();
  Block &skips = (wanted ? choice.getFalseBranch() : choice.getTrueBranch()).emplaceBlock();
  loop->moveBefore(&runs, runs.end());
  b.setInsertionPointToEnd(&runs);
  ReturnOp::create(b, loc, results);
  b.setInsertionPointToEnd(&skips);
  ReturnOp::create(b, loc, others);
  for (auto [select, result] : llvm::zip_equal(selects, choice->getResults()))
    select.getResult().replaceAllUsesWith(result);
  for (SelectOp select : selects)
    select->erase();
}

struct NarrowSelects : impl::NarrowSelectsPassBase<NarrowSelects> {
  void runOnOperation() override {
    SmallVector<AddOp> sums;
    getOperation().walk([&](AddOp sum) {
      if (sum->getParentOfType<WhileOp>() && hasPlainType(sum.getResult()) && !fusion::isFewScalars(sum.getType()))
        sums.push_back(sum);
    });
    for (AddOp sum : sums)
      SumOfChoices(sum).run();
    SmallVector<SelectOp> selects;
    getOperation().walk([&](SelectOp select) { selects.push_back(select); });
    for (SelectOp select : selects)
      if (select->getParentOfType<WhileOp>() && isArrayOrZeros(select))
        readSides(select);
    // The last select comes first: earlier ones may be part of its operands.
    llvm::DenseSet<Operation *> erased;
    for (SelectOp select : llvm::reverse(selects))
      if (!erased.contains(select))
        narrow(select, erased);
    // The first select comes first: the update that replaces it is an operand of the next one.
    for (SelectOp select : selects)
      if (!erased.contains(select) && select->getParentOfType<WhileOp>())
        takeBack(select);
    SmallVector<WhileOp> loops;
    getOperation().walk([&](WhileOp loop) { loops.push_back(loop); });
    for (WhileOp loop : loops)
      if (loop->getParentOfType<WhileOp>())
        runWhereChosen(loop);
  }

  static bool isArrayChoice(SelectOp select) {
    return hasPlainType(select.getResult()) && hasPlainType(select.getPred()) && !fusion::isFewScalars(select.getType());
  }

  static void takeBack(SelectOp select) {
    if (!isArrayChoice(select))
      return;
    for (bool wanted : {true, false}) {
      Value value = wanted ? select.getOnTrue() : select.getOnFalse(), array = wanted ? select.getOnFalse() : select.getOnTrue();
      SmallVector<Operation *> updates = updatesFrom(array, value, select->getBlock());
      bool movesAny = llvm::any_of(updates, [](Operation *op) { return isa<ScatterOp>(op) && movesWindows(cast<ScatterOp>(op)); });
      if (updates.empty() || movesAny)
        continue;
      Tree none;
      select.getResult().replaceAllUsesWith(Narrower(select, none).takeBack(select, wanted, value, updates));
      select.erase();
      return;
    }
  }

  static void narrow(SelectOp select, llvm::DenseSet<Operation *> &erased) {
    if (!isArrayChoice(select))
      return;
    Tree tree;
    tree.made.push_back(select);
    Block *block = select->getBlock();
    if (!tree.collect(select.getOnTrue(), block) || !tree.collect(select.getOnFalse(), block) || select.getOnTrue() == select.getOnFalse())
      return;
    Narrower narrower(select, tree);
    if (!narrower.accepts(select.getResult())) {
      remark::missed(select.getLoc(), remark::RemarkOpts::name("not-narrowed").category("xla-narrow-selects"))
          << "one of the updates writes nothing that leaves the array as it is";
      return;
    }
    select.getResult().replaceAllUsesWith(narrower.make(tree.root, select.getResult()));
    for (Operation *op : tree.made) {
      erased.insert(op);
      op->erase();
    }
  }
};

} // namespace
} // namespace millrace::loops
