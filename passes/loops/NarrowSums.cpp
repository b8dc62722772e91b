// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NarrowSums.cpp - Replace sums with sparse arrays by updates --------===//
// Input:   while(%a) do { %f = dynamic_update_slice 0, %u, %i ; %r = add %a, %f ; return %r }
// Output:  while(%a) do { %w = dynamic_slice %a, %i ; %v = add %w, %u ; %r = dynamic_update_slice %a, %v, %i ; return %r }
// Input:   %f = scatter 0, %i, %u ; %r = add %a, %f      where no element is updated twice
// Output:  %r = scatter %a, %i, %u by add
// The same holds for other operations and their neutral elements. The gradient of a loop that reads elements of arrays adds such an array in every
// iteration. A sum with +0.0 maps -0.0 to +0.0. Where an array may hold -0.0 initially, the first iteration is peeled and left unchanged; from then
// on only windows that were written since the last sum can hold -0.0, and the next sum adds +0.0 to those.
// Input:   %f = case { return update 0 with %u at %i } { return update 0 with %v at %j } ; %r = add %a, %f
// Output:  %w, %k = case { return %u, %i } { return %v, %j } ; %f = update 0 with %w at %k ; %r = add %a, %f        and then as above
// Where a scatter adds several updates to one element, these are summed outside of the array first: the sum with the array comes last, as written.
// Leaves alone sums outside of loops, arrays that every iteration computes from scratch, and, where -0.0 is possible, loops of unknown trip count and
// sums in branches.
//===----------------------------------------------------------------------===//
#include "passes/loops/Passes.h"

#include "dialects/stablehlo/Box.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fusion/pieces/Combiners.h"
#include "passes/fusion/plan/ScalarLoopPolicy.h"
#include "passes/loops/ArrayUpdates.h"
#include "passes/loops/NegativeZeros.h"
#include "passes/loops/TripCount.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::loops {
#define GEN_PASS_DEF_NARROWSUMSPASS
#include "passes/loops/Passes.h.inc"

namespace {

bool hasPlainType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && !type.getEncoding();
}

/// Where the window is most of an array, as in stencils, one pass over the array that computes the window as it goes is faster than an update.
bool isSmallPart(RankedTensorType window, RankedTensorType array) { return 4 * window.getNumElements() <= array.getNumElements(); }

/// Returns true if the computation returns the update unchanged.
bool replaces(ScatterOp op) { return op.getUpdateComputation().front().getTerminator()->getOperand(0) == op.getUpdateComputation().front().getArgument(1); }

/// Returns true if every element is updated at most once.
bool isOnce(ScatterOp op) {
  auto numbers = op.getScatterDimensionNumbers();
  RankedTensorType indices = typeOf(op.getScatterIndices());
  for (int64_t d = 0; d < indices.getRank(); ++d)
    if (d != numbers.getIndexVectorDim() && indices.getDimSize(d) != 1 && !llvm::is_contained(numbers.getScatterIndicesBatchingDims(), d))
      return op.getUniqueIndices();
  return true;
}

/// An array that is a splat except for one window.
struct Sparse {
  Operation *update = nullptr; ///< dynamic_update_slice or scatter
  Attribute fill;

  static Sparse of(Value value, Operation *combine) {
    Operation *op = value.getDefiningOp();
    DenseElementsAttr fill;
    bool isUpdate = isa_and_nonnull<DynamicUpdateSliceOp, ScatterOp>(op) && op->getNumResults() == 1 && llvm::all_of(op->getOperands(), hasPlainType) &&
                    matchPattern(op->getOperand(0), m_Constant(&fill)) && fill.isSplat();
    if (!isUpdate)
      return {};
    auto scatter = dyn_cast<ScatterOp>(op);
    Value window = scatter ? scatter.getUpdates()[0] : cast<DynamicUpdateSliceOp>(op).getUpdate();
    Type element = typeOf(value).getElementType();
    if (!isSmallPart(typeOf(window), typeOf(value)) || typeOf(window).getElementType() != element)
      return {};
    if (scatter) {
      Block &body = scatter.getUpdateComputation().front();
      Operation *inner = combinerOf(scatter.getUpdateComputation());
      bool isKnown = replaces(scatter) || (inner && isa<AddOp>(inner) && isa<AddOp>(combine));
      if (!isKnown || !isOnce(scatter) || llvm::any_of(body.getArgumentTypes(), [&](Type type) { return getElementTypeOrSelf(type) != element; }))
        return {};
    }
    return {op, fill.getSplatValue<Attribute>()};
  }
};

/// Returns true if combining with `fill` changes no value; all but -0.0 if `isWithZero` is set.
bool isNeutral(Attribute fill, Operation *combine, bool isRight, bool &isWithZero) {
  isWithZero = false;
  Type type = getElementTypeOrSelf(combine->getResult(0));
  SmallVector<APFloat, 2> parts;
  if (auto number = dyn_cast<FloatAttr>(fill))
    parts.push_back(number.getValue());
  else if (auto pair = dyn_cast<ArrayAttr>(fill); pair && isa<ComplexType>(type))
    for (Attribute part : pair)
      parts.push_back(cast<FloatAttr>(part).getValue());
  bool isZero = !parts.empty() && llvm::all_of(parts, [](const APFloat &part) { return part.isZero(); });
  if (isa<AddOp>(combine) && isZero) {
    isWithZero = llvm::any_of(parts, [](const APFloat &part) { return !part.isNegative(); });
    return true;
  }
  if (isa<SubtractOp>(combine))
    return isRight && (parts.empty() ? matchPattern(fill, m_Zero()) : llvm::all_of(parts, [](const APFloat &part) { return part.isPosZero(); }));
  return isa<AddOp, MulOp, MaxOp, MinOp, AndOp, OrOp, XorOp>(combine) && fusion::neutralElement(*combine, type) == fill;
}

bool isPositiveZero(Value value) {
  DenseElementsAttr attr;
  return matchPattern(value, m_Constant(&attr)) && attr.isSplat() && isa<FloatType>(attr.getElementType()) && attr.getSplatValue<APFloat>().isPosZero();
}

/// Returns true if `value` is a version of an array that `block`, which is in a loop, does not compute from scratch.
bool livesOn(Value value, Block *block) {
  Value first = firstVersion(value, block);
  return first && (isa<BlockArgument>(first) ? first.getParentBlock() == block || !isa<WhileOp>(block->getParentOp()) : isa<IfOp, CaseOp>(block->getParentOp()));
}

/// Returns `array`, combined by `sum` with the window that `update` writes. The window is read before `prepare`, if given, computes the array to be
/// updated from `array`.
Value combineInWindow(Operation *sum, Value array, Operation *update, unsigned side, llvm::function_ref<Value(OpBuilder &, Value)> prepare = nullptr) {
  OpBuilder b(sum);
  Location loc = sum->getLoc();
  auto combine = [&](Value now, Value with) {
    IRMapping mapping;
    mapping.map(sum->getOperand(1 - side), now);
    mapping.map(sum->getOperand(side), with);
    Operation *clone = b.clone(*sum, mapping);
    clone->getResult(0).setType(now.getType());
    return clone->getResult(0);
  };
  if (auto slice = dyn_cast<DynamicUpdateSliceOp>(update)) {
    Value now = DynamicSliceOp::create(b, loc, slice.getUpdate().getType(), array, slice.getStartIndices(),
                                       b.getDenseI64ArrayAttr(typeOf(slice.getUpdate()).getShape()));
    Value written = combine(now, slice.getUpdate());
    return DynamicUpdateSliceOp::create(b, loc, array.getType(), prepare ? prepare(b, array) : array, written, slice.getStartIndices());
  }
  auto scatter = cast<ScatterOp>(update);
  if (prepare)
    array = prepare(b, array);
  auto made = ScatterOp::create(b, loc, TypeRange{array.getType()}, ValueRange{array}, scatter.getScatterIndices(), scatter.getUpdates(),
                                scatter.getScatterDimensionNumbersAttr(), scatter.getIndicesAreSortedAttr(), scatter.getUniqueIndicesAttr());
  Block &body = made.getUpdateComputation().emplaceBlock();
  auto scalar = RankedTensorType::get({}, typeOf(array).getElementType());
  body.addArguments({scalar, scalar}, {loc, loc});
  b.setInsertionPointToStart(&body);
  ReturnOp::create(b, loc, combine(body.getArgument(0), body.getArgument(1)));
  return made->getResult(0);
}

/// Replaces `sum` by `value`.
void replaceSum(Operation *sum, Operation *update, Value value) {
  sum->getResult(0).replaceAllUsesWith(value);
  sum->erase();
  if (update && update->use_empty())
    update->erase();
}

//===----------------------------------------------------------------------===//
// Arrays that may hold -0.0 initially
//===----------------------------------------------------------------------===//

/// Operations of a loop body that may be peeled: a bound of the time to compile. Unit: operations. Source: judgement, not measured alone.
constexpr unsigned kMaxPeeledOps = 512;

/// A window of an array.
struct Window {
  SmallVector<Value> starts;
  RankedTensorType type;

  explicit Window(DynamicUpdateSliceOp op) : starts(op.getStartIndices()), type(typeOf(op.getUpdate())) {}

  /// Returns `array` with +0.0 for each -0.0 in the window.
  Value withoutNegativeZeros(OpBuilder &b, Location loc, Value array) const {
    Value now = DynamicSliceOp::create(b, loc, type, array, starts, b.getDenseI64ArrayAttr(type.getShape()));
    Value zeros = ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(type)));
    return DynamicUpdateSliceOp::create(b, loc, array.getType(), array, AddOp::create(b, loc, now, zeros), starts);
  }
};

/// How the next value of a carried array is computed: by updates, and by sums with arrays that are zero except for an update.
struct SumChain {
  struct Link {
    Operation *op;             ///< update or sum
    Sparse sparse;             ///< of a sum
    unsigned side = 0;         ///< of a sum: the operand that is sparse
    bool isWithZero = false;   ///< a sum with +0.0
    std::optional<Window> left; ///< the window where it can write -0.0

    bool isSum() const { return isa<AddOp>(op); }
    /// Null for a sum with zeros only.
    Operation *write() const { return isSum() ? sparse.update : op; }
  };
  unsigned index; ///< of the carried array
  SmallVector<Link> links;
  SmallVector<Window> atEnd; ///< windows that may hold -0.0 when the next iteration begins

  /// Returns nothing if another operation is between, if no sum makes a difference, or if -0.0 can be written elsewhere than in a window.
  static std::optional<SumChain> of(BlockArgument array, Value next, const NegativeZeros &zeros) {
    SumChain chain{array.getArgNumber(), {}, {}};
    while (next != array) {
      Operation *op = next.getDefiningOp();
      if (!op || op->getBlock() != array.getOwner() || op->getNumResults() != 1 || !hasPlainType(next) || next.getType() != array.getType())
        return std::nullopt;
      Link link{op, {}, 0, false, std::nullopt};
      if (isa<AddOp>(op) && !findSparse(link))
        return std::nullopt;
      if (!isa<AddOp, DynamicUpdateSliceOp, ScatterOp>(op) || !describeWrite(link, zeros))
        return std::nullopt;
      next = link.isSum() ? op->getOperand(1 - link.side) : op->getOperand(0);
      chain.links.push_back(std::move(link));
    }
    std::reverse(chain.links.begin(), chain.links.end());
    for (Link &link : chain.links) {
      if (link.isWithZero)
        chain.atEnd.clear();
      if (link.left)
        chain.atEnd.push_back(*link.left);
    }
    bool isUseful = llvm::any_of(chain.links, [](const Link &link) { return link.isWithZero; });
    return isUseful ? std::optional(std::move(chain)) : std::nullopt;
  }

private:
  static bool findSparse(Link &link) {
    for (unsigned side : {1, 0}) {
      if (isPositiveZero(link.op->getOperand(side))) {
        link.isWithZero = true;
        link.side = side;
        return true;
      }
      Sparse sparse = Sparse::of(link.op->getOperand(side), link.op);
      if (!sparse.update || !isNeutral(sparse.fill, link.op, side == 1, link.isWithZero))
        continue;
      link.sparse = sparse;
      link.side = side;
      return true;
    }
    return false;
  }

  static bool describeWrite(Link &link, const NegativeZeros &zeros) {
    if (!link.write())
      return true;
    if (auto slice = dyn_cast<DynamicUpdateSliceOp>(link.write())) {
      if (zeros.isPossible(slice.getUpdate()))
        link.left.emplace(slice);
      return true;
    }
    // A sum creates no -0.0 that was not there; a replacing update does.
    auto scatter = cast<ScatterOp>(link.write());
    if (scatter->getNumResults() != 1)
      return false;
    Operation *combine = combinerOf(scatter.getUpdateComputation());
    return (combine && isa<AddOp>(combine)) || (replaces(scatter) && !zeros.isPossible(scatter.getUpdates()[0]));
  }
};

/// A loop with at least one iteration, and arrays that may hold -0.0 initially.
class Peeler {
public:
  Peeler(WhileOp loop, const NegativeZeros &zeros) : loop(loop), zeros(zeros) {}

  /// Returns false if nothing is gained.
  bool run() {
    auto counted = countedLoop(loop);
    if (!counted || counted->tripCount < 1)
      return false;
    Block &body = loop.getBody().front();
    for (BlockArgument argument : body.getArguments())
      if (hasPlainType(argument) && zeros.isPossible(argument) && !fusion::isFewScalars(argument.getType()))
        if (auto chain = SumChain::of(argument, body.getTerminator()->getOperand(argument.getArgNumber()), zeros))
          chains.push_back(std::move(*chain));
    unsigned count = 0;
    loop.getBody().walk([&](Operation *) { ++count; });
    if (chains.empty() || count > kMaxPeeledOps || !llvm::equal(loop->getOperandTypes(), loop->getResultTypes()) ||
        !llvm::equal(body.getTerminator()->getOperandTypes(), loop->getResultTypes()))
      return false;
    IRMapping first = makeFirstTurn();
    carryPlaces(first);
    for (SumChain &chain : chains)
      narrow(chain);
    return true;
  }

private:
  IRMapping makeFirstTurn() {
    OpBuilder b(loop);
    IRMapping mapping;
    Block &body = loop.getBody().front();
    mapping.map(body.getArguments(), loop->getOperands());
    for (Operation &op : body.without_terminator())
      b.clone(op, mapping);
    return mapping;
  }

  /// Makes the loop begin with the second iteration and carry the positions of the previous iteration's writes, which become the windows at the start
  /// of an iteration of `chains`.
  void carryPlaces(IRMapping &first) {
    Block &cond = loop.getCond().front(), &body = loop.getBody().front();
    Operation *yield = body.getTerminator();
    SmallVector<Value> next(yield->getOperands()), inits = llvm::map_to_vector(next, [&](Value value) { return first.lookupOrDefault(value); });
    for (SumChain &chain : chains)
      for (Window &window : chain.atEnd)
        for (Value &start : window.starts) {
          if (!loop.getBody().isAncestor(start.getParentRegion()))
            continue;
          inits.push_back(first.lookupOrDefault(start));
          next.push_back(start);
          cond.addArgument(start.getType(), start.getLoc());
          start = body.addArgument(start.getType(), start.getLoc());
        }
    yield->setOperands(next);
    OpBuilder b(loop);
    SmallVector<Type> types = llvm::map_to_vector(inits, [](Value value) { return value.getType(); });
    auto longer = WhileOp::create(b, loop.getLoc(), types, inits);
    longer.getCond().takeBody(loop.getCond());
    longer.getBody().takeBody(loop.getBody());
    loop->replaceAllUsesWith(longer->getResults().take_front(loop->getNumResults()));
    loop->erase();
    loop = longer;
  }

  static void narrow(SumChain &chain) {
    SmallVector<Window> windows = chain.atEnd;
    for (SumChain::Link &link : chain.links) {
      if (link.isSum()) {
        auto clean = [&](OpBuilder &b, Value array) {
          if (link.isWithZero)
            for (const Window &window : windows)
              array = window.withoutNegativeZeros(b, link.op->getLoc(), array);
          return array;
        };
        OpBuilder b(link.op);
        Value array = link.op->getOperand(1 - link.side), sum = link.write() ? combineInWindow(link.op, array, link.write(), link.side, clean) : clean(b, array);
        if (link.isWithZero)
          windows.clear();
        replaceSum(link.op, link.sparse.update, sum);
      }
      if (link.left)
        windows.push_back(*link.left);
    }
  }

  WhileOp loop;
  const NegativeZeros &zeros;
  SmallVector<SumChain> chains;
};

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// Replaces a pad with a window at constant positions, for a sum or for a branch, by an update: gradients of reads at such positions.
void padByUpdate(PadOp pad) {
  auto isZero = [](int64_t number) { return number == 0; };
  auto isNegative = [](int64_t number) { return number < 0; };
  DenseElementsAttr value;
  bool isWindow = hasPlainType(pad.getResult()) && hasPlainType(pad.getOperand()) && llvm::all_of(pad.getInteriorPadding(), isZero) &&
                  llvm::none_of(pad.getEdgePaddingLow(), isNegative) && llvm::none_of(pad.getEdgePaddingHigh(), isNegative) &&
                  matchPattern(pad.getPaddingValue(), m_Constant(&value)) && !fusion::isFewScalars(pad.getType()) &&
                  isSmallPart(typeOf(pad.getOperand()), typeOf(pad.getResult()));
  bool isForSums = llvm::all_of(pad->getUsers(), [](Operation *user) { return isa<AddOp, SubtractOp>(user) || isa<IfOp, CaseOp>(user->getParentOp()); });
  if (!isWindow || !isForSums)
    return;
  OpBuilder b(pad);
  Value fill = ConstantOp::create(b, pad.getLoc(), value.resizeSplat(typeOf(pad.getResult())));
  auto scalar = RankedTensorType::get({}, b.getI32Type());
  SmallVector<Value> starts;
  for (int64_t low : pad.getEdgePaddingLow()) {
    if (low != int32_t(low))
      return;
    starts.push_back(ConstantOp::create(b, pad.getLoc(), DenseElementsAttr::get(scalar, b.getI32IntegerAttr(int32_t(low)))));
  }
  pad.replaceAllUsesWith(DynamicUpdateSliceOp::create(b, pad.getLoc(), fill.getType(), fill, pad.getOperand(), starts).getResult());
  pad.erase();
}

/// A result of an if or case, each branch of which writes a window into a splat array, or returns the array unchanged.
class SparseBranches {
public:
  SparseBranches(Operation *op, unsigned index) : op(op), index(index) {}

  bool isGood() {
    Value result = op->getResult(index);
    if (!hasPlainType(result) || isa<ComplexType>(typeOf(result).getElementType()) || fusion::isFewScalars(result.getType()) || !result.hasOneUse() || !isa<AddOp, SubtractOp>(*result.user_begin()))
      return false;
    for (Region &region : op->getRegions()) {
      Value value = region.front().getTerminator()->getOperand(index);
      DenseElementsAttr constant;
      Sparse sparse;
      if (matchPattern(value, m_Constant(&constant)) && constant.isSplat())
        sparse.fill = constant.getSplatValue<Attribute>();
      else if (value.getParentBlock() == &region.front() && value.hasOneUse())
        sparse = Sparse::of(value, *result.user_begin());
      if (!sparse.fill || value.getType() != result.getType() || (!branches.empty() && sparse.fill != branches.front().fill))
        return false;
      if (sparse.update && !model)
        model = sparse.update;
      if (sparse.update && !isAlike(sparse.update))
        return false;
      branches.push_back(sparse);
    }
    return model;
  }

  /// Returns the if or case that replaces the old one.
  Operation *run() {
    OpBuilder b(op);
    Operation *update = model->clone(); // its operands are set when they are known
    model = update;
    SmallVector<Type> types(op->getResultTypes());
    auto windowTypes = ValueRange(model->getOperands().drop_front()).getTypes();
    types.append(windowTypes.begin(), windowTypes.end());
    types.erase(types.begin() + index);
    for (auto [region, sparse] : llvm::zip_equal(op->getRegions(), branches)) {
      Operation *yield = region.front().getTerminator();
      SmallVector<Value> values(yield->getOperands());
      if (sparse.update)
        values.append(sparse.update->operand_begin() + 1, sparse.update->operand_end());
      else
        appendNothing(values, yield, sparse.fill);
      values.erase(values.begin() + index);
      yield->setOperands(values);
      if (sparse.update)
        sparse.update->erase();
    }
    OperationState state(op->getLoc(), op->getName(), op->getOperands(), types, op->getAttrs());
    for (unsigned i = 0; i < op->getNumRegions(); ++i)
      state.addRegion();
    Operation *made = b.create(state);
    for (auto [to, from] : llvm::zip_equal(made->getRegions(), op->getRegions()))
      to.takeBody(from);
    unsigned kept = op->getNumResults() - 1;
    Value fill = ConstantOp::create(b, op->getLoc(), DenseElementsAttr::get(typeOf(op->getResult(index)), branches.front().fill));
    SmallVector<Value> operands{fill};
    llvm::append_range(operands, made->getResults().drop_front(kept));
    update->setOperands(operands);
    b.insert(update);
    for (unsigned from = 0, to = 0; from < op->getNumResults(); ++from)
      op->getResult(from).replaceAllUsesWith(from == index ? update->getResult(0) : made->getResult(to++));
    op->erase();
    return made;
  }

private:
  /// Returns true if `update` writes a window of the same form as `model`, at another position.
  bool isAlike(Operation *update) const {
    llvm::DenseMap<Value, Value> inner; // of regions
    auto check = [&](Value a, Value b) { return success(llvm::is_contained(update->getOperands(), a) || a == b || inner.lookup(a) == b); };
    auto mark = [&](Value a, Value b) { inner[a] = b; };
    return update->getOperandTypes() == model->getOperandTypes() &&
           OperationEquivalence::isEquivalentTo(update, model, check, mark, OperationEquivalence::IgnoreLocations);
  }

  /// Appends operands with which `model` changes nothing in an array of `fill`.
  void appendNothing(SmallVectorImpl<Value> &values, Operation *before, Attribute fill) const {
    OpBuilder b(before);
    auto scatter = dyn_cast<ScatterOp>(model);
    Type element = getElementTypeOrSelf(model->getResult(0));
    if (scatter && !replaces(scatter) && isa<FloatType>(element)) // adds
      fill = b.getFloatAttr(element, APFloat::getZero(cast<FloatType>(element).getFloatSemantics(), /*Negative=*/true));
    for (auto [place, operand] : llvm::enumerate(model->getOperands().drop_front())) {
      bool isWindow = place == (scatter ? 1 : 0);
      DenseElementsAttr numbers = DenseElementsAttr::get(typeOf(operand), isWindow ? fill : Attribute(b.getZeroAttr(getElementTypeOrSelf(operand))));
      values.push_back(ConstantOp::create(b, before->getLoc(), numbers));
    }
  }

  Operation *op;
  unsigned index;
  Operation *model = nullptr; ///< the update of the first branch that has one
  SmallVector<Sparse> branches;
};

//===----------------------------------------------------------------------===//
// Index vectors that are equal
//===----------------------------------------------------------------------===//

/// Index vectors that are compared pairwise, in quadratic time. Unit: index vectors. Source: judgement, not measured alone.
constexpr int64_t kMaxComparedIndices = 64;

/// Makes `%f = scatter 0, %i, %u by add`, for a sum, update every element at most once. Updates of one element are summed in the order of the scatter
/// and assigned to the first index vector; the others become out of bounds. Leaves alone scatters with batching dimensions or many index vectors.
void sumUpPlaces(ScatterOp scatter) {
  auto numbers = scatter.getScatterDimensionNumbers();
  Operation *combine = combinerOf(scatter.getUpdateComputation());
  bool isSum = scatter->getNumResults() == 1 && llvm::all_of(scatter->getOperands(), hasPlainType) && combine && isa<AddOp>(combine) && !isOnce(scatter) &&
               !fusion::isFewScalars(scatter->getResult(0).getType()) && scatter->hasOneUse() && isa<AddOp>(*scatter->user_begin());
  DenseElementsAttr fill;
  if (!isSum || !matchPattern(scatter.getInputs()[0], m_Constant(&fill)) || !fill.isSplat())
    return;
  Value indices = scatter.getScatterIndices(), updates = scatter.getUpdates()[0];
  RankedTensorType indexType = typeOf(indices), updateType = typeOf(updates);
  // The indices are [n, 1 or more], with the window dimensions after them.
  bool isList = indexType.getRank() == 2 && numbers.getIndexVectorDim() == 1 && numbers.getInputBatchingDims().empty() &&
                !llvm::is_contained(numbers.getUpdateWindowDims(), 0) && isa<IntegerType>(indexType.getElementType()) &&
                indexType.getDimSize(0) <= kMaxComparedIndices;
  bool isNarrow = std::max(updateType.getNumElements(), 4 * indexType.getDimSize(0) * indexType.getDimSize(0)) < typeOf(scatter->getResult(0)).getNumElements(); // comparing costs less than zeros
  // Two windows are equal or disjoint, because they have size one along indexed dimensions.
  bool isWhole = llvm::all_of(numbers.getScatterDimsToOperandDims(), [&](int64_t d) { return llvm::is_contained(numbers.getInsertedWindowDims(), d); });
  auto index = dyn_cast<IntegerType>(indexType.getElementType());
  if (!isList || !isNarrow || !isWhole || index.getWidth() < 32)
    return;
  for (int64_t d : numbers.getScatterDimsToOperandDims())
    if (typeOf(scatter->getResult(0)).getDimSize(d) >= std::numeric_limits<int32_t>::max())
      return;
  OpBuilder b(scatter);
  Location loc = scatter.getLoc();
  int64_t n = indexType.getDimSize(0), parts = indexType.getDimSize(1);
  auto i32 = b.getI32Type();
  auto broadcast = [&](Value value, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
    return BroadcastInDimOp::create(b, loc, typeOf(value).clone(shape), value, b.getDenseI64ArrayAttr(dims)).getResult();
  };
  // same[i, j] is true if index vectors i and j are equal.
  Value same;
  for (int64_t part = 0; part < parts; ++part) {
    Value column = boxOf(b, loc, indices, Box::along(indexType.getShape(), 1, part, part + 1));
    column = ReshapeOp::create(b, loc, indexType.clone({n}), column);
    Value equal = CompareOp::create(b, loc, broadcast(column, {n, n}, {0}), broadcast(column, {n, n}, {1}), ComparisonDirection::EQ);
    same = same ? AndOp::create(b, loc, same, equal).getResult() : equal;
  }
  // `first` is the first index vector that equals each one.
  auto square = RankedTensorType::get({n, n}, i32), line = RankedTensorType::get({n}, i32);
  Value numbersAlong = IotaOp::create(b, loc, square, 1);
  Value none = ConstantOp::create(b, loc, DenseElementsAttr::get(square, b.getI32IntegerAttr(int32_t(n))));
  Value candidates = SelectOp::create(b, loc, square, same, numbersAlong, none);
  Value most = ConstantOp::create(b, loc, DenseElementsAttr::get(RankedTensorType::get({}, i32), b.getI32IntegerAttr(int32_t(n))));
  auto reduce = ReduceOp::create(b, loc, TypeRange{line}, ValueRange{candidates}, ValueRange{most}, b.getDenseI64ArrayAttr({1}));
  {
    OpBuilder::InsertionGuard guard(b);
    Block &body = reduce.getBody().emplaceBlock();
    auto scalar = RankedTensorType::get({}, i32);
    body.addArguments({scalar, scalar}, {loc, loc});
    b.setInsertionPointToStart(&body);
    ReturnOp::create(b, loc, ValueRange{MinOp::create(b, loc, body.getArgument(0), body.getArgument(1))});
  }
  Value first = reduce->getResult(0);
  Value firstColumn = ReshapeOp::create(b, loc, RankedTensorType::get({n, 1}, i32), first);
  auto alongFirst = ScatterDimensionNumbersAttr::get(b.getContext(), numbers.getUpdateWindowDims(), {0}, {}, {}, {0}, 1);
  Value empty = ConstantOp::create(b, loc, fill.resizeSplat(updateType));
  auto sums = ScatterOp::create(b, loc, TypeRange{updateType}, ValueRange{empty}, firstColumn, ValueRange{updates}, alongFirst, b.getBoolAttr(false), b.getBoolAttr(false));
  IRMapping mapping;
  scatter.getUpdateComputation().cloneInto(&sums.getUpdateComputation(), mapping);
  Value isFirst = CompareOp::create(b, loc, first, IotaOp::create(b, loc, line, 0), ComparisonDirection::EQ);
  SmallVector<APInt> sizes;
  for (int64_t d : numbers.getScatterDimsToOperandDims())
    sizes.push_back(APInt(index.getWidth(), typeOf(scatter->getResult(0)).getDimSize(d)));
  Value outside = ConstantOp::create(b, loc, DenseElementsAttr::get(RankedTensorType::get({parts}, index), ArrayRef<APInt>(sizes)));
  Value places = SelectOp::create(b, loc, indexType, broadcast(isFirst, {n, parts}, {0}), indices, broadcast(outside, {n, parts}, {1}));
  auto once = ScatterOp::create(b, loc, TypeRange{scatter->getResult(0).getType()}, ValueRange{scatter.getInputs()[0]}, places, ValueRange{sums->getResult(0)},
                                scatter.getScatterDimensionNumbersAttr(), b.getBoolAttr(false), b.getBoolAttr(true));
  Block &body = once.getUpdateComputation().emplaceBlock();
  auto scalar = RankedTensorType::get({}, updateType.getElementType());
  body.addArguments({scalar, scalar}, {loc, loc});
  b.setInsertionPointToStart(&body);
  ReturnOp::create(b, loc, ValueRange{body.getArgument(1)});
  scatter->replaceAllUsesWith(once);
  scatter->erase();
}

struct NarrowSums : impl::NarrowSumsPassBase<NarrowSums> {
  void runOnOperation() override {
    SmallVector<Operation *> branches;
    getOperation().walk([&](Operation *op) {
      if (auto pad = dyn_cast<PadOp>(op); pad && op->getParentOfType<WhileOp>())
        return padByUpdate(pad);
      if (auto scatter = dyn_cast<ScatterOp>(op); scatter && op->getParentOfType<WhileOp>())
        return sumUpPlaces(scatter);
      if (isa<IfOp, CaseOp>(op) && op->getParentOfType<WhileOp>())
        branches.push_back(op);
    });
    for (Operation *op : branches) // inner ones come first
      takeOutOfBranches(op);
    SmallVector<Operation *> sums;
    getOperation().walk([&](Operation *op) {
      bool isSum = isa<AddOp, SubtractOp, MulOp, MaxOp, MinOp, AndOp, OrOp, XorOp>(op) && op->getParentOfType<WhileOp>() &&
                   isa<WhileOp, IfOp, CaseOp>(op->getParentOp()) && hasPlainType(op->getResult(0)) && !fusion::isFewScalars(op->getResult(0).getType()) &&
                   op->getOperand(0).getType() == op->getResult(0).getType() && op->getOperand(1).getType() == op->getResult(0).getType();
      if (isSum && llvm::any_of(op->getOperands(), [&](Value operand) { return Sparse::of(operand, op).update || (isa<AddOp>(op) && isPositiveZero(operand)); }))
        sums.push_back(op);
    });
    if (sums.empty())
      return;
    NegativeZeros zeros(getOperation());
    bool hasAll = true;
    for (Operation *sum : sums) // in order: the next one may add to what this one becomes
      hasAll &= narrow(sum, zeros);
    if (hasAll)
      return;
    zeros.compute();
    SmallVector<WhileOp> loops;
    getOperation().walk([&](WhileOp loop) { loops.push_back(loop); });
    for (WhileOp loop : loops) // inner ones come first
      if (Peeler(loop, zeros).run())
        zeros.compute();
    remarkOthers(zeros);
  }

  static void takeOutOfBranches(Operation *op) {
    for (unsigned i = 0; i < op->getNumResults();) {
      SparseBranches sparse(op, i);
      if (!sparse.isGood())
        ++i;
      else
        op = sparse.run();
    }
  }

  static bool narrow(Operation *sum, NegativeZeros &zeros) {
    for (unsigned side : {1, 0}) {
      Value array = sum->getOperand(1 - side);
      if (isa<AddOp>(sum) && isPositiveZero(sum->getOperand(side))) { // xla-narrow-selects leaves such sums
        if (zeros.isPossible(array))
          return false;
        replaceSum(sum, nullptr, array);
        return true;
      }
      Sparse sparse = Sparse::of(sum->getOperand(side), sum);
      bool isWithZero;
      if (!sparse.update || !isNeutral(sparse.fill, sum, side == 1, isWithZero) || !livesOn(array, sum->getBlock()))
        continue;
      if (isWithZero && zeros.isPossible(array))
        return false;
      Value updated = combineInWindow(sum, array, sparse.update, side);
      zeros.equals(updated, sum->getResult(0));
      replaceSum(sum, sparse.update, updated);
      return true;
    }
    return true;
  }

  void remarkOthers(const NegativeZeros &zeros) {
    getOperation().walk([&](AddOp sum) {
      for (unsigned side : {1, 0}) {
        Value array = sum->getOperand(1 - side);
        bool isWithZero, isInLoop = sum->getParentOfType<WhileOp>() && hasPlainType(array) && zeros.isPossible(array) && livesOn(array, sum->getBlock());
        Sparse sparse = isInLoop ? Sparse::of(sum->getOperand(side), sum) : Sparse();
        if (sparse.update && isNeutral(sparse.fill, sum, side == 1, isWithZero))
          remark::missed(sum->getLoc(), remark::RemarkOpts::name("not-narrowed").category("xla-narrow-sums"))
              << "the array can hold -0.0, of which the sum makes +0.0";
      }
    });
  }
};

} // namespace
} // namespace millrace::loops
