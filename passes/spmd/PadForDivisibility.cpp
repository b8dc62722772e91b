// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PadForDivisibility.cpp - Dimensions as long as their parts together -===//
// Input:   %1 = stablehlo.abs %0 {[{"x"}]} : tensor<3xf32>                       // "x" has 4 devices
//          %2 = sdy.all_gather [{"x"}] %1 out_sharding=<@mesh, [{}]> : tensor<3xf32>
// Output:  %1 = stablehlo.abs %0 {[{"x"}]} : tensor<4xf32>
//          %2 = sdy.all_gather [{"x"}] %1 out_sharding=<@mesh, [{}]> : tensor<4xf32>
//          %3 = stablehlo.slice %2 [0:3]
// Leaves alone functions in which parts divide every dimension.
#include "passes/sharding/rules/StrictRules.h"
#include "passes/spmd/Combiners.h"
#include "passes/spmd/FunctionValues.h"
#include "passes/spmd/GlobalToLocal.h"
#include "passes/spmd/Passes.h"
#include "passes/spmd/Reshard.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {
#define GEN_PASS_DEF_PADFORDIVISIBILITYPASS
#include "passes/spmd/Passes.h.inc"

namespace {

class Padder {
public:
  explicit Padder(func::FuncOp function) : function(function), builder(function.getContext()) {}
  LogicalResult run();

private:
  /// The original and the padded type of a value.
  struct Info {
    RankedTensorType before, after; ///< null for values without a static shape
    sdy::TensorShardingAttr sharding;
    bool grows() const { return before != after; }
  };
  struct Work {
    Operation *op;
    std::optional<sharding::Rule> rule;
  };

  Info infoOf(Type type, sdy::TensorShardingAttr sharding);
  LogicalResult pad(const Work &work);
  LogicalResult padByRule(Operation *op, const sharding::Rule &rule);
  LogicalResult padCollective(Operation *op);
  LogicalResult padWhole(Operation *op);
  LogicalResult padPad(PadOp op, const Work &work);
  LogicalResult padSlice(SliceOp op, const Work &work);
  void padAttributes(Operation *op);
  LogicalResult maskSummed(Operation *op, OpOperand &operand, int64_t dim);
  void maskIndices(OpOperand &indices, int64_t dim);
  void clampGather(GatherOp op);
  void clampUpdate(DynamicUpdateSliceOp op);

  static int64_t partsOf(sdy::TensorShardingAttr sharding, Operation *user, int64_t dim) {
    sdy::MeshAttr mesh = sharding ? sharding.getMesh(user) : sdy::MeshAttr();
    return mesh && !mesh.isMaximal() ? sharding.getDimShardings()[dim].getShardedSize(mesh) : 1;
  }
  Info &info(Value value) { return infos[value]; }
  /// Creates an operation on values with the given sharding.
  template <typename OpTy, typename... Args> Value make(Location loc, sdy::TensorShardingAttr sharding, Args &&...args) {
    auto op = OpTy::create(builder, loc, std::forward<Args>(args)...);
    if (sharding)
      op->setAttr(sdy::shardingAttrName, sdy::TensorShardingPerValueAttr::get(builder.getContext(), {sharding}));
    return op->getResult(0);
  }
  Value constant(Location loc, sdy::TensorShardingAttr sharding, DenseElementsAttr value) {
    return make<ConstantOp>(loc, sharding, value);
  }
  static DenseElementsAttr splat(RankedTensorType type, int64_t value) {
    return DenseElementsAttr::get(type, APInt(type.getElementType().getIntOrFloatBitWidth(), uint64_t(value), true, true));
  }
  /// Pads or slices the value to the sizes of `type` along every dimension that differs; those dimensions are replicated.
  Value resize(Location loc, Value value, RankedTensorType type, sdy::TensorShardingAttr sharding);
  /// Returns a mask that is true where the index along `dim` is less than `size`.
  Value isBelow(Location loc, RankedTensorType type, int64_t dim, int64_t size, sdy::TensorShardingAttr sharding);
  sdy::TensorShardingAttr wholeLike(sdy::TensorShardingAttr sharding);

  func::FuncOp function;
  OpBuilder builder;
  llvm::DenseMap<Value, Info> infos;
};

Padder::Info Padder::infoOf(Type type, sdy::TensorShardingAttr sharding) {
  auto ranked = dyn_cast<RankedTensorType>(type);
  Info info{ranked, ranked, sharding};
  if (!ranked || !ranked.hasStaticShape() || !sharding || sharding.getRank() != ranked.getRank())
    return info;
  SmallVector<int64_t> shape(ranked.getShape());
  for (auto [dim, size] : llvm::enumerate(shape))
    size = llvm::alignTo(size, partsOf(sharding, function, dim));
  info.after = ranked.clone(shape);
  return info;
}

sdy::TensorShardingAttr Padder::wholeLike(sdy::TensorShardingAttr sharding) {
  auto closed = sdy::DimensionShardingAttr::get(builder.getContext(), {}, true, std::nullopt);
  return sdy::TensorShardingAttr::get(builder.getContext(), sharding.getMeshOrRef(),
                                      SmallVector<sdy::DimensionShardingAttr>(sharding.getRank(), closed), {},
                                      sharding.getUnreducedAxes(), sharding.getReductionOp());
}

Value Padder::resize(Location loc, Value value, RankedTensorType type, sdy::TensorShardingAttr sharding) {
  auto now = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> none(type.getRank(), 0), ones(type.getRank(), 1), more, both;
  for (auto [from, to] : llvm::zip_equal(now.getShape(), type.getShape())) {
    more.push_back(std::max<int64_t>(to - from, 0));
    both.push_back(std::min(from, to));
  }
  if (now.getShape() != ArrayRef(both))
    value = make<SliceOp>(loc, sharding, now.clone(both), value, none, both, ones);
  if (type.getShape() == ArrayRef(both))
    return value;
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value zero = constant(loc, {}, cast<DenseElementsAttr>(zerosOf(scalar)));
  return make<PadOp>(loc, sharding, type, value, zero, none, more, none);
}

Value Padder::isBelow(Location loc, RankedTensorType type, int64_t dim, int64_t size, sdy::TensorShardingAttr sharding) {
  auto positions = type.clone(builder.getI32Type());
  Value position = make<IotaOp>(loc, sharding, positions, uint64_t(dim));
  return make<CompareOp>(loc, sharding, type.clone(builder.getI1Type()), position, constant(loc, sharding, splat(positions, size)),
                         ComparisonDirectionAttr::get(builder.getContext(), ComparisonDirection::LT),
                         ComparisonTypeAttr::get(builder.getContext(), ComparisonType::SIGNED));
}

//===-- Operations --------------------------------------------------------===//

/// Fills the padding of an operand that is reduced along the dimension with the neutral element.
LogicalResult Padder::maskSummed(Operation *op, OpOperand &operand, int64_t dim) {
  Info here = info(operand.get());
  DenseElementsAttr neutral;
  if (isa<DotOp, DotGeneralOp, ConvolutionOp>(op))
    neutral = dyn_cast<DenseElementsAttr>(zerosOf(here.after));
  else if (auto reduce = dyn_cast<ReduceOp>(op))
    if (Operation *combine = combinerOf(reduce))
      neutral = neutralElement(combine, here.after);
  if (!neutral)
    return op->emitOpError("sums parts of dimension ") << dim << " of " << here.before
                                                       << " that do not divide it, and has no neutral element";
  Location loc = op->getLoc();
  Value inside = isBelow(loc, here.after, dim, here.before.getDimSize(dim), here.sharding);
  Value masked = make<SelectOp>(loc, here.sharding, here.after, inside, operand.get(), constant(loc, here.sharding, neutral));
  infos[masked] = here;
  operand.set(masked);
  return success();
}

/// Moves the indices of padding updates out of bounds, so that the scatter drops them.
void Padder::maskIndices(OpOperand &indices, int64_t dim) {
  Info here = info(indices.get());
  Location loc = indices.getOwner()->getLoc();
  auto element = cast<IntegerType>(here.after.getElementType());
  // The index is far out of bounds, but a window from there does not wrap around.
  int64_t far = int64_t(1) << (std::min(element.getWidth(), 63u) - 2);
  Value inside = isBelow(loc, here.after, dim, here.before.getDimSize(dim), here.sharding);
  Value masked = make<SelectOp>(loc, here.sharding, here.after, inside, indices.get(),
                                constant(loc, here.sharding, splat(here.after, far)));
  infos[masked] = here;
  indices.set(masked);
}

/// Clamps indices to the original bounds instead of the padded ones.
void Padder::clampGather(GatherOp op) {
  Info operand = info(op.getOperand()), indices = info(op.getStartIndices());
  auto numbers = op.getDimensionNumbers();
  SmallVector<int64_t> most;
  bool grows = false;
  for (int64_t dim : numbers.getStartIndexMap()) {
    most.push_back(operand.before.getDimSize(dim) - op.getSliceSizes()[dim]);
    grows |= operand.before.getDimSize(dim) != operand.after.getDimSize(dim);
  }
  if (!grows)
    return;
  Location loc = op.getLoc();
  auto element = cast<IntegerType>(indices.after.getElementType());
  int64_t vectorDim = numbers.getIndexVectorDim();
  bool hasVector = vectorDim < indices.after.getRank();
  SmallVector<int64_t> shape(hasVector ? 1 : 0, most.size()), dims(hasVector ? 1 : 0, vectorDim);
  auto row = RankedTensorType::get(shape, element);
  SmallVector<APInt> values;
  for (int64_t value : most) // a bound that the type cannot represent clamps nothing
    values.push_back(element.getWidth() < 64 ? APInt(element.getWidth(), std::min<int64_t>(value, (int64_t(1) << (element.getWidth() - 1)) - 1))
                                             : APInt(64, value));
  Value bound = make<BroadcastInDimOp>(loc, indices.sharding, indices.after, constant(loc, {}, DenseElementsAttr::get(row, values)), dims);
  Value zero = constant(loc, indices.sharding, splat(indices.after, 0));
  Value clamped = make<ClampOp>(loc, indices.sharding, indices.after, zero, op.getStartIndices(), bound);
  infos[clamped] = indices;
  op->setOperand(1, clamped);
}

void Padder::clampUpdate(DynamicUpdateSliceOp op) {
  Info operand = info(op.getOperand()), update = info(op.getUpdate());
  for (int64_t dim = 0; dim < operand.before.getRank(); ++dim) {
    int64_t size = operand.before.getDimSize(dim), width = update.before.getDimSize(dim);
    if (size == operand.after.getDimSize(dim) || size == width)
      continue;
    Value start = op.getStartIndices()[dim];
    auto type = cast<RankedTensorType>(start.getType());
    Value bound = constant(op.getLoc(), {}, splat(type, size - width)), zero = constant(op.getLoc(), {}, splat(type, 0));
    Value clamped = make<ClampOp>(op.getLoc(), {}, type, zero, start, bound);
    infos[clamped] = info(start);
    op->setOperand(2 + dim, clamped);
  }
}

/// Adapts attributes that repeat a size.
void Padder::padAttributes(Operation *op) {
  auto sized = [&](ArrayRef<int64_t> sizes, const Info &like) {
    SmallVector<int64_t> result(sizes);
    for (auto [dim, size] : llvm::enumerate(result))
      if (size == like.before.getDimSize(dim))
        size = like.after.getDimSize(dim);
    return result;
  };
  if (auto slice = dyn_cast<SliceOp>(op)) {
    // A dimension that grows is not sliced, and a unit dimension may have any stride.
    const Info &from = info(slice.getOperand());
    SmallVector<int64_t> strides(slice.getStrides());
    for (auto [dim, stride] : llvm::enumerate(strides))
      if (from.before.getDimSize(dim) != from.after.getDimSize(dim))
        stride = 1;
    slice.setLimitIndices(sized(slice.getLimitIndices(), from));
    slice.setStrides(strides);
  }
  if (auto slice = dyn_cast<DynamicSliceOp>(op))
    slice.setSliceSizes(sized(slice.getSliceSizes(), info(slice.getOperand())));
  if (auto gather = dyn_cast<GatherOp>(op)) {
    clampGather(gather);
    // Single elements are gathered, also along a unit dimension.
    auto numbers = gather.getDimensionNumbers();
    SmallVector<int64_t> sizes = sized(gather.getSliceSizes(), info(gather.getOperand()));
    for (auto [dim, size] : llvm::enumerate(sizes))
      if (llvm::is_contained(numbers.getCollapsedSliceDims(), dim) || llvm::is_contained(numbers.getOperandBatchingDims(), dim))
        size = gather.getSliceSizes()[dim];
    gather.setSliceSizes(sizes);
  }
  if (auto update = dyn_cast<DynamicUpdateSliceOp>(op))
    clampUpdate(update);
  if (auto convolution = dyn_cast<ConvolutionOp>(op)) {
    auto numbers = convolution.getDimensionNumbers();
    // The convolution has as many groups as output features or inputs.
    const Info &lhs = info(convolution.getLhs()), &rhs = info(convolution.getRhs());
    int64_t feature = numbers.getInputFeatureDimension(), batch = numbers.getInputBatchDimension();
    if (int64_t(convolution.getFeatureGroupCount()) > 1)
      convolution.setFeatureGroupCount(lhs.after.getDimSize(feature) / rhs.after.getDimSize(numbers.getKernelInputFeatureDimension()));
    if (int64_t groups = convolution.getBatchGroupCount(); groups > 1)
      convolution.setBatchGroupCount(lhs.after.getDimSize(batch) / (lhs.before.getDimSize(batch) / groups));
  }
}

/// Every device computes the unpadded operation and then keeps its shard.
LogicalResult Padder::padWhole(Operation *op) {
  SmallVector<sdy::TensorShardingAttr> shardings;
  builder.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    Info here = info(result);
    shardings.push_back(here.sharding ? wholeLike(here.sharding) : sdy::TensorShardingAttr());
    if (!here.grows()) {
      shardings.back() = here.sharding;
      continue;
    }
    result.setType(here.before);
    infos[result] = {here.before, here.before, shardings.back()};
    Value value = resize(op->getLoc(), result, here.after, shardings.back());
    Operation *first = value.getDefiningOp();
    SmallVector<sdy::AxisRefListAttr> axes;
    for (sdy::DimensionShardingAttr dim : here.sharding.getDimShardings())
      axes.push_back(sdy::AxisRefListAttr::get(op->getContext(), dim.getAxes()));
    Value part = sdy::AllSliceOp::create(builder, op->getLoc(), here.after, value,
                                         sdy::ListOfAxisRefListsAttr::get(op->getContext(), axes), here.sharding);
    result.replaceAllUsesExcept(part, first);
    infos[part] = here;
  }
  // A list has a sharding for every result.
  if (llvm::all_of(shardings, [](auto each) { return bool(each); }))
    op->setAttr(sdy::shardingAttrName, sdy::TensorShardingPerValueAttr::get(op->getContext(), shardings));
  return success();
}

LogicalResult Padder::padByRule(Operation *op, const sharding::Rule &rule) {
  // The number of shards of every factor whose dimension is padded.
  SmallVector<int64_t> grown(rule.factors.size(), 0);
  auto visit = [&](Value value, const sharding::TensorFactors &dims, auto &&callback) -> LogicalResult {
    const Info &here = info(value);
    for (auto [dim, factors] : llvm::enumerate(dims)) {
      if (!here.before || here.before.getRank() != int64_t(dims.size()))
        continue;
      SmallVector<int> large;
      for (int factor : factors)
        if (rule.factors[factor].size > 1)
          large.push_back(factor);
      if (large.empty() && !factors.empty())
        large.push_back(factors.back());
      if (failed(callback(here, int64_t(dim), large)))
        return failure();
    }
    return success();
  };
  auto collect = [&](const Info &here, int64_t dim, ArrayRef<int> factors) -> LogicalResult {
    int64_t after = here.after.getDimSize(dim);
    if (after == here.before.getDimSize(dim))
      return success();
    if (factors.size() != 1 || (grown[factors[0]] && grown[factors[0]] != after))
      return op->emitOpError("has parts of dimension ") << dim << " of " << here.before
                                                        << " that do not divide it; sdy-insert-explicit-reshards comes first";
    sharding::FactorKind kind = rule.factors[factors[0]].kind;
    if (kind == sharding::FactorKind::NeedReplication || kind == sharding::FactorKind::Permutation)
      return op->emitOpError("runs on parts of dimension ") << dim << " of " << here.before
                                                            << ", which must be whole; sdy-resolve-permutation-factors comes first";
    grown[factors[0]] = after;
    return success();
  };
  auto agrees = [&](const Info &here, int64_t dim, ArrayRef<int> factors) -> LogicalResult {
    for (int factor : factors)
      if (grown[factor] && here.after.getDimSize(dim) != grown[factor])
        return op->emitOpError("has operands and results that are cut differently, in parts that do not divide dimensions; "
                               "sdy-insert-explicit-reshards comes first");
    return success();
  };
  auto all = [&](auto &&callback) -> LogicalResult {
    for (auto [value, dims] : llvm::zip_equal(op->getOperands(), rule.operands))
      if (failed(visit(value, dims, callback)))
        return failure();
    for (auto [value, dims] : llvm::zip_equal(op->getResults(), rule.results))
      if (failed(visit(value, dims, callback)))
        return failure();
    return success();
  };
  if (failed(all(collect)) || failed(all(agrees)))
    return failure();
  builder.setInsertionPoint(op);
  auto scatter = dyn_cast<ScatterOp>(op);
  for (auto [operand, dims] : llvm::zip_equal(op->getOpOperands(), rule.operands))
    for (auto [dim, factors] : llvm::enumerate(dims))
      for (int factor : factors) {
        if (!grown[factor] || rule.factors[factor].kind != sharding::FactorKind::Reduction || isa<GatherOp>(op))
          continue;
        if (scatter) {
          if (operand.getOperandNumber() == scatter.getInputs().size())
            maskIndices(operand, dim);
        } else if (failed(maskSummed(op, operand, dim))) {
          return failure();
        }
      }
  padAttributes(op);
  return success();
}

/// Adapts a collective. One that adds the first axes to a dimension gets a padded operand; one that removes the last axes is followed by a slice.
LogicalResult Padder::padCollective(Operation *op) {
  Info from = info(op->getOperand(0)), to = info(op->getResult(0));
  Location loc = op->getLoc();
  builder.setInsertionPoint(op);
  Value value = op->getOperand(0);
  SmallVector<int64_t> shape;
  bool fits = true;
  for (int64_t dim = 0; dim < from.before.getRank(); ++dim) {
    int64_t in = from.after.getDimSize(dim), out = to.after.getDimSize(dim);
    bool wholeBefore = partsOf(from.sharding, op, dim) == 1, wholeAfter = partsOf(to.sharding, op, dim) == 1;
    fits &= in == out || wholeBefore || wholeAfter;
    shape.push_back(std::max(in, out));
  }
  if (fits) {
    auto between = from.before.clone(shape);
    op->setOperand(0, resize(loc, value, between, from.sharding));
    op->getResult(0).setType(between);
    builder.setInsertionPointAfter(op);
    Value trimmed = resize(loc, op->getResult(0), to.after, to.sharding);
    if (trimmed != op->getResult(0))
      op->getResult(0).replaceAllUsesExcept(trimmed, trimmed.getDefiningOp());
    infos[trimmed] = to;
    return success();
  }
  // The shards begin at other elements, so the value is gathered and sharded again.
  if (!isa<sdy::AllGatherOp, sdy::AllSliceOp, sdy::AllToAllOp, sdy::ReduceScatterOp>(op))
    return op->emitOpError("changes parts that do not divide ") << from.before;
  auto listOf = [&](sdy::TensorShardingAttr sharding) {
    SmallVector<sdy::AxisRefListAttr> lists;
    for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
      lists.push_back(sdy::AxisRefListAttr::get(op->getContext(), dim.getAxes()));
    return sdy::ListOfAxisRefListsAttr::get(op->getContext(), lists);
  };
  if (auto reduce = dyn_cast<sdy::ReduceScatterOp>(op)) {
    SmallVector<sdy::AxisRefAttr> axes;
    for (sdy::AxisRefListAttr list : reduce.getReduceScatterAxes())
      llvm::append_range(axes, list.getValue());
    auto reduced = sdy::TensorShardingAttr::get(op->getContext(), to.sharding.getMeshOrRef(),
                                                from.sharding ? from.sharding.getDimShardings() : wholeLike(to.sharding).getDimShardings(),
                                                {}, to.sharding.getUnreducedAxes(), to.sharding.getReductionOp());
    value = sdy::AllReduceOp::create(builder, loc, value.getType(), value, sdy::AxisRefListAttr::get(op->getContext(), axes),
                                     reduce.getKind(), reduced);
    from.sharding = reduced;
  }
  if (from.sharding)
    value = sdy::AllGatherOp::create(builder, loc, value.getType(), value, listOf(from.sharding), wholeLike(from.sharding));
  sdy::TensorShardingAttr whole = wholeLike(to.sharding);
  value = resize(loc, resize(loc, value, to.before, whole), to.after, whole);
  value = sdy::AllSliceOp::create(builder, loc, to.after, value, listOf(to.sharding), to.sharding);
  infos[value] = to;
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
  return success();
}

/// Adapts a pad whose elements at the end fill up the shards, or a part of them: the shards stay, and the padding gets the pad's value.
LogicalResult Padder::padPad(PadOp op, const Work &work) {
  Info from = info(op.getOperand()), to = info(op.getResult());
  auto isZero = [](ArrayRef<int64_t> values) { return llvm::all_of(values, [](int64_t value) { return value == 0; }); };
  auto axesOf = [](const Info &info) {
    return llvm::map_to_vector(info.sharding.getDimShardings(), [](sdy::DimensionShardingAttr dim) { return dim.getAxes(); });
  };
  if (from.after != to.after || !isZero(op.getEdgePaddingLow()) || !isZero(op.getInteriorPadding()) || !from.sharding ||
      !to.sharding || axesOf(from) != axesOf(to))
    return padByRule(op, *work.rule);
  builder.setInsertionPoint(op);
  Value value = op.getOperand();
  Value other = make<BroadcastInDimOp>(op.getLoc(), to.sharding, to.after, op.getPaddingValue(), ArrayRef<int64_t>());
  for (auto [dim, size] : llvm::enumerate(from.before.getShape()))
    if (size != to.before.getDimSize(dim))
      value = make<SelectOp>(op.getLoc(), to.sharding, to.after, isBelow(op.getLoc(), to.after, dim, size, to.sharding), value, other);
  infos[value] = to;
  op.replaceAllUsesWith(value);
  op.erase();
  return success();
}

/// Adapts a slice: elements at the end that only fill up shards are not removed.
LogicalResult Padder::padSlice(SliceOp op, const Work &work) {
  const Info &from = info(op.getOperand()), &to = info(op.getResult());
  bool fromStart = llvm::all_of(op.getStartIndices(), [](int64_t start) { return start == 0; }) &&
                   llvm::all_of(op.getStrides(), [](int64_t stride) { return stride == 1; });
  if (from.after != to.after || !fromStart)
    return padByRule(op, *work.rule);
  op.setLimitIndices(SmallVector<int64_t>(from.after.getShape()));
  return success();
}

LogicalResult Padder::pad(const Work &work) {
  Operation *op = work.op;
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<sdy::AllGatherOp, sdy::AllSliceOp, sdy::AllToAllOp, sdy::CollectivePermuteOp, sdy::AllReduceOp, sdy::ReduceScatterOp,
            sdy::ReplicatedToUnreducedOp, sdy::ShardedToUnreducedOp>([&](auto each) { return padCollective(each); })
      // A longer list would contain other random numbers.
      .Case<ConstantOp, sdy::ConstantOp, RngOp, RngBitGeneratorOp>([&](auto each) -> LogicalResult {
        auto value = dyn_cast_or_null<SplatElementsAttr>(each->getAttr("value"));
        if (!value)
          return padWhole(each);
        each->setAttr("value", value.resizeSplat(info(each->getResult(0)).after));
        return success();
      })
      .Case([&](PadOp each) { return padPad(each, work); })
      .Case([&](SliceOp each) { return padSlice(each, work); })
      .Case<sdy::ManualComputationOp>([&](auto manual) -> LogicalResult {
        for (Value value : llvm::concat<Value>(SmallVector<Value>(manual->getOperands()), SmallVector<Value>(manual->getResults())))
          if (info(value).grows())
            return manual.emitOpError("UNIMPLEMENTED: parts that do not divide ") << info(value).before;
        return success();
      })
      .Case<IotaOp, sdy::ShardingConstraintOp, sdy::DataFlowEdgeOp, sdy::FuncDataFlowEdgeOp, sdy::PropagationBarrierOp, sdy::ShardingGroupOp,
            sdy::NamedComputationOp, WhileOp, CaseOp, IfOp, OptimizationBarrierOp, func::CallOp>([](Operation *) { return success(); })
      .Default([&](Operation *) -> LogicalResult {
        if (op->hasTrait<OpTrait::IsTerminator>())
          return success();
        if (!work.rule)
          return op->emitOpError("runs on parts that do not divide dimensions, and has no sharding rule");
        return padByRule(op, *work.rule);
      });
}

LogicalResult Padder::run() {
  FunctionValues all(function);
  bool grows = false;
  for (Value value : all.values) {
    Info here = infoOf(value.getType(), shardingInRegion(value));
    grows |= here.grows();
    infos[value] = here;
  }
  auto typeOf = [&](Type type, sdy::TensorShardingAttr sharding) {
    Info here = infoOf(type, sharding);
    grows |= here.grows();
    return here.after ? Type(here.after) : type;
  };
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    typeOf(type, function.getResultAttrOfType<sdy::TensorShardingAttr>(i, sdy::shardingAttrName));
  if (!grows)
    return success();
  // The rules are those of the original sizes.
  std::vector<Work> work;
  auto changes = [&](Value value) { return info(value).grows(); };
  for (Operation *op : all.ops)
    if (llvm::any_of(op->getOperands(), changes) || llvm::any_of(op->getResults(), changes))
      work.push_back({op, sharding::strictRuleOf(op)});
  for (Value value : all.values)
    if (info(value).grows())
      value.setType(info(value).after);
  SmallVector<Type> results = retypeSignature(function, typeOf);
  for (const Work &each : work)
    if (failed(pad(each)))
      return failure();
  return checkReturned(function, results, "with all of its parts");
}

struct PadForDivisibility : impl::PadForDivisibilityPassBase<PadForDivisibility> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(Padder(function).run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace millrace::spmd
