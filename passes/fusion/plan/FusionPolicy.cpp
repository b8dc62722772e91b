// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FusionPolicy.cpp - Legality and profit of fusing an operation ------===//
#include "passes/fusion/plan/FusionPolicy.h"
#include "passes/fusion/MatrixUnitShapes.h"
#include "passes/fusion/VectorShapes.h"

#include "dialects/millrace/Ops.h"
#include "dialects/stablehlo/Elementwise.h"
#include "dialects/stablehlo/IndexAtoms.h"
#include "dialects/stablehlo/Ops.h"
#include "passes/fusion/plan/ScalarLoopPolicy.h"
#include "passes/fusion/plan/ShapeRecipe.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
namespace {

/// Operations on no more elements are tiny: their kernel is a loop without vectors, and launching a kernel costs more than they do. Unit:
/// elements. Source: judgement, not measured alone; chosen in commit b289abf.
constexpr int64_t kTinyElements = 256;
/// More values of functions of dozens of operations (exponential, logarithm) are no part of a tiny kernel, whose loops have no vectors. Unit:
/// function values. Source: commit 63937ce: CTC loss of 200 steps and 20 labels 0.165 to 0.0186 ms.
constexpr int64_t kTinyFunctions = 16;
/// From so many values on, functions of one value per row are a kernel of their own: a kernel with rows computes them one by one. Unit: function
/// values. Source: commit 68d786a, two threads: 800 elements of f64 in log_plus_one 30 us one by one, 1.5 us as vectors.
constexpr int64_t kMinFunctionsOfRows = 512;
/// A reduction of more elements is not part of a tiny kernel, whose loops have no vectors. Unit: elements. Source: commit 29ba2d0: eight bodies 0.042 to 0.025
/// ms.
constexpr int64_t kMaxTinyReducedElements = 64;
/// A contraction of no more multiply-adds may be part of a tiny kernel. Unit: multiply-adds. Source: judgement, not measured alone; chosen
/// in commit b289abf.
constexpr int64_t kMaxTinyProducts = 32768;
/// The most operations of a kernel: more would take long to compile, and their values would not fit into registers. Unit: operations. Source:
/// judgement, not measured alone; chosen in commit b289abf.
constexpr unsigned kMaxClusterOps = 96;
/// The same for integer operations (random bits, searches), of which each is one instruction. Unit: operations. Source: commit 77dbba3: Threefry's
/// five rounds are one kernel, 1048576 uniform numbers 4.6 to 1.3 ms on two threads.
constexpr unsigned kMaxIntegerOps = 320;

RankedTensorType tensorType(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

bool hasTinyValues(Operation *op) {
  auto tiny = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() && tensor.getNumElements() <= kTinyElements;
  };
  return llvm::all_of(op->getOperandTypes(), tiny) && llvm::all_of(op->getResultTypes(), tiny);
}

/// Returns the multiply-adds of a contraction with static shapes: result elements times contracted elements.
int64_t contractionSteps(Operation *op) {
  int64_t result = tensorType(op->getResult(0)).getNumElements();
  int64_t lhs = std::max<int64_t>(1, tensorType(op->getOperand(0)).getNumElements());
  int64_t rhs = std::max<int64_t>(1, tensorType(op->getOperand(1)).getNumElements());
  return result * std::min(lhs, rhs);
}

/// Returns true for elementwise operations; quantized types have been lowered before.
bool isElementwise(Operation *op) { return stablehlo::isElementwise(op) && !isa<UniformDequantizeOp, UniformQuantizeOp>(op); }

/// Returns true if `dims` are the last dimensions of `shape`, apart from unit dimensions.
bool isTrailing(ArrayRef<int64_t> dims, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> sorted(dims);
  llvm::sort(sorted);
  int64_t next = shape.size();
  for (int64_t d : llvm::reverse(sorted)) {
    for (--next; next > d; --next)
      if (shape[next] != 1)
        return false;
  }
  return true;
}

/// Returns the number of leading dimensions that index rows if `dims`, the trailing ones, are reduced.
int64_t rowRankOf(ArrayRef<int64_t> dims) { return *llvm::min_element(dims); }

/// Returns true if `shape` has one element per row: it is the domain's outer dimensions, possibly followed by unit dimensions.
bool isRowShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> domain, int64_t rowRank) {
  if ((int64_t)shape.size() < rowRank)
    return false;
  return shape.take_front(rowRank) == domain.take_front(rowRank) &&
         llvm::all_of(shape.drop_front(rowRank), [](int64_t size) { return size == 1; });
}

/// Returns the smallest number of leading dimensions of `shape` that have `rows` elements; kNoRowDimensions if a row ends inside of a dimension.
int64_t rankOfRows(ArrayRef<int64_t> shape, int64_t rows) {
  int64_t rank = 0, elements = 1;
  while (elements < rows && rank < (int64_t)shape.size())
    elements *= shape[rank++];
  return elements == rows ? rank : Domain::kNoRowDimensions;
}

/// Returns the shape of the iteration space in which the operand of `view` is read if its result is read in `domain`, per point or per row; none if the
/// result is read in another way.
std::optional<SmallVector<int64_t>> shapeBehind(ReshapeOp view, const Domain &domain) {
  ArrayRef<int64_t> from = shapeOf(view.getResult()), to = shapeOf(view.getOperand()), shape = domain.shape;
  if (from == shape)
    return SmallVector<int64_t>(to);
  int64_t rank = domain.rowRank;
  if (!domain.hasRows())
    for (rank = std::min(from.size(), shape.size()); rank > 0 && !isRowShape(from, shape, rank); --rank)
      ;
  if (rank < 0 || !isRowShape(from, shape, rank))
    return std::nullopt;
  // Unit dimensions of both belong to the rows, so that a reshape and its inverse give the same shape again.
  while (rank < int64_t(std::min(from.size(), shape.size())) && shape[rank] == 1)
    ++rank;
  if (rank == 0)
    return std::nullopt;
  SmallVector<int64_t> behind(to);
  llvm::append_range(behind, shape.drop_front(rank));
  return behind;
}

/// Returns true for a reshape that splits dimensions and merges none.
bool isDivision(Operation *view) {
  std::optional<Refinement> both = refine(shapeOf(view->getOperand(0)), shapeOf(view->getResult(0)));
  return both && llvm::all_of(both->ofRight, [](ArrayRef<int64_t> group) { return group.size() <= 1; });
}

/// Returns the row rank of a reduction of values of shape `domain` from whose result `op` computes one value per row; -1 if no such reduction is within
/// `depth` operations.
int64_t rowRankBehind(Operation *op, ArrayRef<int64_t> domain, unsigned depth = 8) {
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    ArrayRef<int64_t> input = shapeOf(reduce.getInputs().front());
    if (input != domain || reduce.getDimensions().empty() || !isTrailing(reduce.getDimensions(), input))
      return -1;
    int64_t rank = rowRankOf(reduce.getDimensions());
    return rank == 0 ? -1 : rank; // One row only would give up all parallelism.
  }
  if (depth == 0)
    return -1;
  if (isView(op)) {
    auto view = cast<ReshapeOp>(op);
    Operation *producer = view.getOperand().getDefiningOp();
    std::optional<SmallVector<int64_t>> behind = shapeBehind(view, {SmallVector<int64_t>(domain)});
    if (!behind || !producer || producer->getBlock() != op->getBlock() || !refine(domain, *behind))
      return -1;
    int64_t rank = rowRankBehind(producer, *behind, depth - 1);
    rank = rank < 0 ? -1 : rankOfRows(domain, llvm::product_of(ArrayRef(*behind).take_front(rank)));
    return rank >= 0 && isRowShape(shapeOf(view.getResult()), domain, rank) ? rank : -1;
  }
  if (!isElementwise(op))
    return -1;
  for (Value operand : op->getOperands())
    if (Operation *producer = operand.getDefiningOp(); producer && producer->getBlock() == op->getBlock())
      if (int64_t rank = rowRankBehind(producer, domain, depth - 1); rank >= 0)
        return isRowShape(shapeOf(op->getResult(0)), domain, rank) ? rank : -1;
  return -1;
}

/// Returns true if the result is a complex tensor of static shape.
bool isComplex(Operation *op) {
  RankedTensorType type = tensorType(op->getResult(0));
  return type && type.hasStaticShape() && isa<ComplexType>(type.getElementType());
}

/// Returns true for an operand that a concatenation reads in place: a slice, possibly reversed or with elementwise operations on it, or a concatenation
/// of such operands. The operand has one user.
bool isPiece(Operation *op) {
  if (!op->hasOneUse() || !(hasVectorizableTypes(op) || (isa<SliceOp, ConcatenateOp>(op) && isComplex(op))))
    return false;
  if (isa<SliceOp>(op))
    return true;
  if (isa<ConcatenateOp>(op))
    return isa<ConcatenateOp>(*op->user_begin());
  return (isElementwise(op) || isa<ReverseOp, BroadcastInDimOp>(op)) && llvm::all_of(op->getOperands(), [](Value operand) {
           Operation *source = operand.getDefiningOp();
           return source && (classify(source) == OpRole::Duplicated || (isa<SliceOp>(source) && isPiece(source)));
         });
}

/// Returns true for x[i] as scans write it: a reshape that drops unit dimensions of a dynamic slice with no other user. It is part of the kernel that
/// reads it.
bool isReshapedSlice(Operation *op) {
  auto reshape = dyn_cast<ReshapeOp>(op);
  auto slice = reshape ? reshape.getOperand().getDefiningOp<DynamicSliceOp>() : DynamicSliceOp();
  return slice && slice->hasOneUse() && slice->getBlock() == op->getBlock() && hasVectorizableTypes(slice);
}

/// Returns true if `op`, whose only user is a transpose, computes elementwise from one large tensor and small ones: the transpose then reads the
/// tensor.
bool isOnTheWay(Operation *op, ArrayRef<int64_t> shape) {
  if (!op->hasOneUse() || !hasVectorizableTypes(op) || op->getNumResults() != 1 || shapeOf(op->getResult(0)) != shape)
    return false;
  int64_t few = tensorType(op->getResult(0)).getNumElements() / 16;
  if (isa<BroadcastInDimOp>(op))
    return tensorType(op->getOperand(0)).getNumElements() <= few;
  auto isSmall = [&](Value operand) {
    Operation *source = operand.getDefiningOp();
    return source && (classify(source) == OpRole::Duplicated || (isa<BroadcastInDimOp>(source) && isOnTheWay(source, shape)));
  };
  return isElementwise(op) && llvm::count_if(op->getOperands(), [&](Value operand) { return !isSmall(operand); }) <= 1;
}

} // namespace

bool hasVectorizableTypes(Operation *op) {
  auto plain = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    Type element = tensor ? tensor.getElementType() : Type();
    return tensor && tensor.hasStaticShape() &&
           (element.isF16() || element.isBF16() || element.isF32() || element.isF64() ||
            (isa<IntegerType>(element) && (element.isInteger(1) || element.getIntOrFloatBitWidth() >= 8)));
  };
  return llvm::all_of(op->getOperandTypes(), plain) && llvm::all_of(op->getResultTypes(), plain);
}

bool hasNumbers(Operation *op) {
  if (hasVectorizableTypes(op))
    return true;
  auto convert = dyn_cast<ConvertOp>(op);
  RankedTensorType from = convert ? tensorType(convert.getOperand()) : RankedTensorType(), to = convert ? tensorType(convert.getResult()) : RankedTensorType();
  return from && to && from.hasStaticShape() && isa<IntegerType>(from.getElementType()) && isa<FloatType>(to.getElementType());
}

std::optional<int64_t> bytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || !tensor.getElementType().isIntOrFloat())
    return std::nullopt;
  return tensor.getNumElements() * int64_t(llvm::divideCeil(tensor.getElementTypeBitWidth(), 8u));
}

void eraseUnused(Value value) {
  llvm::SetVector<Operation *> pending; // each once, however many of those that are erased use it
  if (Operation *source = value.getDefiningOp())
    pending.insert(source);
  while (!pending.empty()) {
    Operation *source = pending.pop_back_val();
    if (!isOpTriviallyDead(source))
      continue; // it comes again when its last user goes
    for (Value operand : source->getOperands())
      if (Operation *next = operand.getDefiningOp())
        pending.insert(next);
    source->erase();
  }
}

std::optional<int64_t> wholeRange(Operation *op) {
  auto slice = dyn_cast<SliceOp>(op);
  if (!slice)
    return std::nullopt;
  auto from = cast<RankedTensorType>(slice.getOperand().getType()), to = cast<RankedTensorType>(slice->getResult(0).getType());
  if (!from.hasStaticShape() || !to.hasStaticShape() || to.getNumElements() == 0)
    return std::nullopt;
  // From the last dimension on: whole ones, one that is cut, then single indices.
  int64_t offset = 0, stride = 1;
  bool isCut = false;
  for (int64_t d = from.getRank() - 1; d >= 0; --d) {
    int64_t size = to.getDimSize(d);
    if (size != 1 && (isCut || slice.getStrides()[d] != 1))
      return std::nullopt;
    offset += slice.getStartIndices()[d] * stride;
    stride *= from.getDimSize(d);
    isCut |= size != from.getDimSize(d);
  }
  return offset;
}

SelectAndScatterOp paddedScatterOf(Operation *op) {
  auto slice = dyn_cast<SliceOp>(op);
  auto scatter = slice ? slice.getOperand().getDefiningOp<SelectAndScatterOp>() : SelectAndScatterOp();
  auto pad = scatter ? scatter.getOperand().getDefiningOp<PadOp>() : PadOp();
  if (!pad || !pad->hasOneUse() || !scatter->hasOneUse() || pad->getBlock() != op->getBlock() || scatter->getBlock() != op->getBlock() ||
      !matchPattern(pad.getPaddingValue(), m_Constant()))
    return {};
  auto isZero = [](int64_t value) { return value == 0; };
  auto isNegative = [](int64_t value) { return value < 0; };
  RankedTensorType type = tensorType(pad.getOperand());
  if (!type || !type.hasStaticShape() || slice.getType() != type || (scatter.getPadding() && !llvm::all_of(scatter.getPadding()->getValues<int64_t>(), isZero)) ||
      !llvm::all_of(pad.getInteriorPadding(), isZero) || llvm::any_of(pad.getEdgePaddingLow(), isNegative) ||
      llvm::any_of(pad.getEdgePaddingHigh(), isNegative) || !llvm::all_of(slice.getStrides(), [](int64_t stride) { return stride == 1; }))
    return {};
  return slice.getStartIndices() == pad.getEdgePaddingLow() ? scatter : SelectAndScatterOp();
}

bool isAlias(Operation *op) {
  if (isa<OptimizationBarrierOp>(op))
    return true;
  if (isa<ReshapeOp>(op))
    return !isReshapedSlice(op) && tensorType(op->getOperand(0)).hasStaticShape() && tensorType(op->getResult(0)).hasStaticShape();
  return isa<AliasOp>(op); // complex numbers and their parts (SplitComplexDots)
}

bool isView(Operation *op) { return isa<ReshapeOp>(op) && isAlias(op) && hasVectorizableTypes(op); }

OpRole classify(Operation *op) {
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
    return value && value.isSplat() ? OpRole::Duplicated : OpRole::TopLevel;
  }
  // Tokens, tuples and buffers have no element loop.
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  if (!llvm::all_of(op->getOperandTypes(), isTensor) || !llvm::all_of(op->getResultTypes(), isTensor))
    return OpRole::TopLevel;
  if (isAlias(op))
    return OpRole::TopLevel;
  if (isElementwise(op))
    return OpRole::Elementwise;
  if (isa<IotaOp>(op))
    return OpRole::Duplicated;
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
    Operation *source = broadcast.getOperand().getDefiningOp();
    // A broadcast of a constant costs nothing in any kernel.
    if (source && classify(source) == OpRole::Duplicated && isa<ConstantOp>(source))
      return OpRole::Duplicated;
    return OpRole::Broadcast;
  }
  if (isa<ReduceOp>(op))
    return OpRole::Reduction;
  if (isa<DotOp, DotGeneralOp, ConvolutionOp>(op))
    return OpRole::Contraction;
  // Loops on tensors are steps of the runtime: bufferization cannot carry every set of tensors through scf.while.
  if (auto loop = dyn_cast<WhileOp>(op))
    return isScalarLoop(loop) ? OpRole::Alone : OpRole::TopLevel;
  if (isa<CaseOp, IfOp>(op))
    return isTiny(op) ? OpRole::Alone : OpRole::TopLevel;
  if (isa<CustomCallOp, CompositeOp, TupleOp, GetTupleElementOp, AllGatherOp, AllReduceOp, AllToAllOp, ReduceScatterOp,
          CollectiveBroadcastOp, CollectivePermuteOp, CrossReplicaSumOp, PartitionIdOp, ReplicaIdOp, AsyncStartOp,
          AsyncDoneOp, AfterAllOp, CreateTokenOp, SendOp, RecvOp, InfeedOp, OutfeedOp>(op))
    return OpRole::TopLevel;
  if (op->getName().getStringRef() == "stablehlo.collective_reduce" || op->hasTrait<mlir::OpTrait::IsTerminator>() ||
      op->getDialect() != op->getContext()->getLoadedDialect<StablehloDialect>())
    return OpRole::TopLevel;
  return OpRole::Alone;
}

/// Returns how often `op` evaluates a transcendental function, which takes dozens of instructions.
static int64_t longFunctions(Operation *op) {
  bool isLong = isa<ExpOp, Expm1Op, LogOp, Log1pOp, TanhOp, LogisticOp, SineOp, CosineOp, TanOp, PowOp, Atan2Op, CbrtOp>(op);
  RankedTensorType type = isLong ? tensorType(op->getResult(0)) : RankedTensorType();
  return type && type.hasStaticShape() ? type.getNumElements() : 0;
}

/// Returns true if `op` would cost more in a loop without vectors than in a kernel of its own.
static bool isLongFunction(Operation *op) { return longFunctions(op) > kTinyFunctions; }

bool isTiny(Operation *op) {
  if (!hasTinyValues(op) || isa<WhileOp>(op) || isLongFunction(op) || hasShapeOperand(op))
    return false;
  if (isa<DotOp, DotGeneralOp, ConvolutionOp>(op))
    return contractionSteps(op) <= kMaxTinyProducts;
  if (!isa<CaseOp, IfOp>(op))
    return true;
  // Branches are tiny if everything in them can be part of a kernel and is tiny itself.
  auto result = op->walk([&](Operation *inner) {
    if (inner == op || inner->hasTrait<mlir::OpTrait::IsTerminator>())
      return WalkResult::advance();
    if (inner->getParentRegion()->getParentOp() != op && !isa<CaseOp, IfOp>(inner->getParentOp()))
      return WalkResult::advance(); // the body of a reduce, sort, ...
    if (!hasTinyValues(inner))
      return WalkResult::interrupt();
    OpRole role = classify(inner);
    bool ok = role != OpRole::TopLevel || (isAlias(inner) && !isa<AliasOp>(inner)) || isa<ConstantOp>(inner);
    return ok && isTiny(inner) ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

/// Returns true for a reduction of so many elements that a loop without vectors costs more than another kernel.
static bool reducesMore(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  return reduce && tensorType(reduce.getInputs()[0]).hasStaticShape() && tensorType(reduce.getInputs()[0]).getNumElements() > kMaxTinyReducedElements;
}

/// Returns true for two such reductions along different dimensions: no emitter has rows for both (8 bodies, 100 steps: 0.042 to 0.024 ms).
static bool mixesReductions(Operation *op, Operation *other) {
  if (!other || !reducesMore(op))
    return false;
  auto a = cast<ReduceOp>(op), b = cast<ReduceOp>(other);
  return a.getDimensions() != b.getDimensions() || shapeOf(a.getInputs()[0]) != shapeOf(b.getInputs()[0]);
}

void ClusterSummary::start(Operation *root) {
  numOps = 1;
  functions = longFunctions(root);
  if (reducesMore(root))
    reduction = root;
  tiny = isTiny(root);
  OpRole role = classify(root);
  transpose = isa<TransposeOp>(root) ? root : nullptr;
  scatter = paddedScatterOf(root);
  isConcatenation = isa<ConcatenateOp>(root) && (hasVectorizableTypes(root) || isComplex(root));
  closed = role == OpRole::Alone && !isReshapedSlice(root) && !(isa<GatherOp, DynamicSliceOp>(root) && hasVectorizableTypes(root));
  if (role == OpRole::Contraction)
    contraction = root;
  domainOf[root] = 0;
  Domain &domain = domains.emplace_back();
  if (auto reduce = dyn_cast<ReduceOp>(root)) {
    domain.shape.assign(shapeOf(reduce.getInputs().front()));
    if (reduce.getDimensions().empty())
      return;
    columnReduction = !isTrailing(reduce.getDimensions(), domain.shape);
    if (!columnReduction)
      domain.rowRank = rowRankOf(reduce.getDimensions());
    return;
  }
  domain.shape.assign(shapeOf(transpose ? root->getOperand(0) : root->getResult(0)));
}

bool Domain::fits(ArrayRef<int64_t> value) const { return value == ArrayRef(shape) || (rowRank >= 0 && isRowShape(value, shape, rowRank)); }

std::optional<Domain> ClusterSummary::behind(ReshapeOp view, const Domain &domain) const {
  std::optional<SmallVector<int64_t>> shape = shapeBehind(view, domain);
  if (!shape || llvm::any_of(domain.shape, ShapedType::isDynamic))
    return std::nullopt;
  for (const Domain &known : domains)
    if (known.shape == *shape)
      return known;
  // Some loop nest iterates over all domains if their shapes have a common refinement.
  SmallVector<int64_t> indices = *shape;
  for (const Domain &known : domains) {
    std::optional<Refinement> refined = refine(indices, known.shape);
    if (!refined)
      return std::nullopt;
    indices = refined->sizes;
  }
  Domain result{*shape};
  if (domain.hasRows()) {
    auto whole = llvm::find_if(domains, [](const Domain &known) { return known.rowRank >= 0; });
    result.rowRank = rankOfRows(*shape, llvm::product_of(ArrayRef(whole->shape).take_front(whole->rowRank)));
  }
  return result;
}

unsigned ClusterSummary::indexOf(const Domain &domain) {
  for (auto [index, known] : llvm::enumerate(domains))
    if (known.shape == domain.shape)
      return index;
  domains.push_back(domain);
  return domains.size() - 1;
}

void ClusterSummary::setRows(unsigned domain, int64_t rowRank) {
  domains[domain].rowRank = rowRank;
  if (domains.size() == 1)
    return;
  int64_t rows = llvm::product_of(ArrayRef(domains[domain].shape).take_front(rowRank));
  for (auto [index, other] : llvm::enumerate(domains))
    if (index != domain)
      other.rowRank = rankOfRows(other.shape, rows);
}

void ClusterSummary::add(Operation *producer, const Domain &readIn) {
  ++numOps;
  unsigned index = indexOf(readIn);
  domainOf[producer] = index;
  bool hasRows = readIn.hasRows();
  if (!reduction && !contraction && !hasRows)
    functions += longFunctions(producer);
  tiny = tiny && isTiny(producer);
  if (!reduction && reducesMore(producer))
    reduction = producer;
  if (classify(producer) == OpRole::Contraction)
    contraction = producer;
  if (isElementwise(producer) && !hasRows && shapeOf(producer->getResult(0)) != ArrayRef(readIn.shape) && !tiny)
    if (int64_t rank = rowRankBehind(producer, readIn.shape); rank >= 0)
      setRows(index, rank);
  if (auto reduce = dyn_cast<ReduceOp>(producer)) {
    ArrayRef<int64_t> input = shapeOf(reduce.getInputs().front());
    if (reduce.getDimensions().empty() || !isTrailing(reduce.getDimensions(), input))
      return; // only in a tiny cluster, which has no row structure
    int64_t rowRank = rowRankOf(reduce.getDimensions());
    // The domain had one point per row so far, and gets the dimensions that are reduced.
    if (ArrayRef(readIn.shape) != input)
      for (auto [other, domain] : llvm::enumerate(domains))
        if (other != index)
          llvm::append_range(domain.shape, input.drop_front(rowRank));
    domains[index].shape.assign(input);
    setRows(index, rowRank);
  }
}

/// Returns true for an exact conversion to f32, which is one instruction.
static bool isWidening(Operation *op) {
  auto convert = dyn_cast<ConvertOp>(op);
  if (!convert || !hasVectorizableTypes(op))
    return false;
  Type from = getElementTypeOrSelf(convert.getOperand().getType());
  return getElementTypeOrSelf(convert.getType()).isF32() && (from.isBF16() || from.isF16() || from.isSignlessInteger(8) || from.isUnsignedInteger(8));
}

/// Returns true for a matrix-vector product, which computes one value per row, not a vector.
static bool isOfMatrixAndVector(Operation *op) {
  auto dot = dyn_cast<DotGeneralOp>(op);
  if (!dot)
    return false;
  auto numbers = dot.getDotDimensionNumbers();
  return tensorType(dot.getRhs()).getRank() == int64_t(numbers.getRhsContractingDimensions().size()) && numbers.getLhsContractingDimensions().size() == 1 &&
         numbers.getLhsContractingDimensions()[0] == tensorType(dot.getLhs()).getRank() - 1;
}

/// Returns true if the cluster evaluates so many functions of values per row that vectors of them are worth a kernel of their own: a kernel with rows
/// evaluates them one after the other (800 elements of f64: exponential 4 us, log_plus_one 30 us; as vectors 1.5 us together).
static bool hasManyFunctionsOfRows(const ClusterSummary &cluster) { return !cluster.rootDomain().hasRows() && cluster.functions >= kMinFunctionsOfRows; }

/// Returns true for a pad with zeros of the contracted dimension alone, up to a multiple of a row of an AMX tile.
static bool fillsRow(Operation *producer, Operation *contraction) {
  auto pad = dyn_cast<PadOp>(producer);
  auto dot = dyn_cast<DotGeneralOp>(contraction);
  if (!pad || !dot || !pad->hasOneUse() || *pad->user_begin() != contraction || !hasVectorizableTypes(pad) ||
      !(matchPattern(pad.getPaddingValue(), m_AnyZeroFloat()) || matchPattern(pad.getPaddingValue(), m_Zero())))
    return false;
  DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
  ArrayRef<int64_t> summed = pad.getResult() == dot.getLhs() ? numbers.getLhsContractingDimensions() : numbers.getRhsContractingDimensions();
  auto isZero = [](int64_t size) { return size == 0; };
  if (summed.size() != 1 || !llvm::all_of(pad.getEdgePaddingLow(), isZero) || !llvm::all_of(pad.getInteriorPadding(), isZero))
    return false;
  // Packing along the contracted dimension would test for each index whether it is in the padding.
  if (pad.getResult() == dot.getLhs() && summed[0] != tensorType(pad).getRank() - 1)
    return false;
  int64_t bits = getElementTypeOrSelf(pad.getType()).getIntOrFloatBitWidth();
  for (auto [dim, high] : llvm::enumerate(pad.getEdgePaddingHigh()))
    if (int64_t(dim) == summed[0] ? high < 0 || high * bits >= kMatrixUnitRowBits || shapeOf(pad.getResult())[dim] * bits % kMatrixUnitRowBits != 0 : high != 0)
      return false;
  return bits <= 16;
}

/// Returns true if the elements of `op` that are contiguous in its operand fill a vector, or if it is no slice. A slice with shorter rows is faster in a
/// kernel of its own than behind a reshape: 1000x1x2 of 1000x3x2 took three times as long there.
static bool hasLongRows(Operation *op) {
  if (!isa<SliceOp, DynamicSliceOp>(op))
    return true;
  ArrayRef<int64_t> from = shapeOf(op->getOperand(0)), to = shapeOf(op->getResult(0));
  if (auto slice = dyn_cast<SliceOp>(op); slice && !slice.getStrides().empty() && slice.getStrides().back() != 1)
    return false;
  int64_t row = 1;
  for (auto [size, whole] : llvm::zip_equal(llvm::reverse(to), llvm::reverse(from))) {
    row *= size;
    if (size != whole)
      break;
  }
  return row >= kLanesOfLongest;
}

/// Returns true if the first `rank` and the first `otherRank` dimensions of `shape` index the same rows.
static bool isSameRows(ArrayRef<int64_t> shape, int64_t rank, int64_t otherRank) {
  if (otherRank < 0)
    return false;
  auto [least, most] = std::minmax(rank, otherRank);
  return llvm::all_of(shape.slice(least, most - least), [](int64_t size) { return size == 1; });
}

bool shouldJoin(Operation *producer, const ClusterSummary &cluster, const Reading &reading, StringRef &why) {
  bool isOfIntegers = (isElementwise(producer) || isa<BroadcastInDimOp>(producer)) &&
                      isa<IntegerType>(getElementTypeOrSelf(producer->getResult(0).getType()));
  bool isOneInstruction = isOfIntegers || isa<SelectOp, GatherOp>(producer);
  if (cluster.numOps >= (isOneInstruction ? kMaxIntegerOps : kMaxClusterOps)) {
    why = "the kernel is large enough";
    return false;
  }
  if (paddedScatterOf(producer)) {
    why = "it is the result of a pooling gradient's kernel";
    return false;
  }
  bool isReadFromMemory = reading.isFromMemory, isDirect = !reading.isThroughView;
  // Launching a kernel costs more than any tiny operation. Through a reshape, only operations join that would be part of a larger kernel, too: a mix of
  // operations has loops without vectors, which take longer to compile (two kernels of random bits and their slices: 104 to 150 ms, no faster).
  if (isDirect && cluster.tiny && isTiny(producer) && !mixesReductions(producer, cluster.reduction))
    return true;
  SelectAndScatterOp scatter = cluster.scatter; // handles have no const accessors
  if (scatter && (producer == scatter || producer == scatter.getOperand().getDefiningOp()))
    return true;
  // The transpose is a copy, which writes the padding, too.
  if (isDirect && cluster.transpose && cluster.numOps == 1 && isa<PadOp>(producer) && producer->hasOneUse() && hasVectorizableTypes(producer) &&
      producer->getResult(0) == cluster.transpose->getOperand(0))
    return true;
  // A transpose reads a slice in place, also through a reshape that splits dimensions (the heads of attention).
  if (cluster.transpose && cluster.numOps == 1 && isa<SliceOp>(producer) && producer->hasOneUse() && hasVectorizableTypes(producer) &&
      (isDirect || isDivision(*producer->user_begin())))
    return true;
  if (isDirect && cluster.transpose && !isa<PadOp>(*producer->user_begin()) && isOnTheWay(producer, shapeOf(cluster.transpose->getOperand(0))))
    return true;
  if (isDirect && cluster.isConcatenation && isPiece(producer))
    return true;
  if (cluster.closed) {
    why = "the consumer has a kernel of its own";
    return false;
  }
  // The reshape, its only user, is in the cluster.
  if (isa<DynamicSliceOp>(producer) && producer->hasOneUse() && isReshapedSlice(*producer->user_begin()))
    return true;
  // The contraction converts narrow element types while it reads them, because they have fewer bytes.
  if (isReadFromMemory && cluster.contraction && isWidening(producer) && producer->hasOneUse() && *producer->user_begin() == cluster.contraction &&
      isa<DotGeneralOp>(cluster.contraction))
    return true;
  // Padding of the contracted dimension (PadContractions.cpp) is written while the operand is packed.
  if (isReadFromMemory && cluster.contraction && fillsRow(producer, cluster.contraction))
    return true;
  if (isReadFromMemory) {
    why = "contractions, gathers and slices read their operands from memory";
    return false;
  }
  OpRole role = classify(producer);
  const Domain &domain = reading.domain;
  switch (role) {
  case OpRole::Elementwise:
  case OpRole::Broadcast:
    if (!domain.fits(shapeOf(producer->getResult(0)))) {
      // It has one element per row (the deviation of a normalization): its reduction can join, too.
      if (!domain.hasRows() && !cluster.contraction && !cluster.columnReduction && rowRankBehind(producer, domain.shape) >= 0)
        return true;
      why = "its shape differs from the kernel's iteration space";
      return false;
    }
    return true;
  case OpRole::Reduction: {
    auto reduce = cast<ReduceOp>(producer);
    if (cluster.contraction || cluster.columnReduction) {
      why = "the kernel holds a contraction or a column reduction already";
      return false;
    }
    ArrayRef<int64_t> input = shapeOf(reduce.getInputs().front());
    if (reduce.getDimensions().empty() || !isTrailing(reduce.getDimensions(), input)) {
      why = "it reduces leading dimensions";
      return false;
    }
    int64_t rowRank = rowRankOf(reduce.getDimensions());
    // One row only would give up all parallelism of the consumer.
    if (rowRank == 0) {
      why = "it reduces everything";
      return false;
    }
    if (domain.hasRows()) {
      if (input != ArrayRef(domain.shape) || !isSameRows(input, rowRank, domain.rowRank)) {
        why = "its rows differ from the kernel's rows";
        return false;
      }
      return true;
    }
    if (input != ArrayRef(domain.shape) && !isRowShape(domain.shape, input, rowRank)) {
      why = "its rows differ from the kernel's iteration space";
      return false;
    }
    if (input != ArrayRef(domain.shape) && hasManyFunctionsOfRows(cluster)) {
      why = "the functions of its results are vectors in a kernel of their own";
      return false;
    }
    return true;
  }
  case OpRole::Contraction:
    if (cluster.contraction || domain.hasRows() || cluster.columnReduction) {
      why = "the kernel holds a contraction or a reduction already";
      return false;
    }
    if (shapeOf(producer->getResult(0)) != ArrayRef(domain.shape)) {
      why = "its shape differs from the kernel's iteration space";
      return false;
    }
    if (hasManyFunctionsOfRows(cluster) && isOfMatrixAndVector(producer)) {
      why = "the functions of its results are vectors in a kernel of their own";
      return false;
    }
    return true;
  case OpRole::Alone:
    // Users of the result of a gather or slice read its operand instead, so that its elements are not copied.
    if ((isDirect || (!reading.isRegrouped && hasLongRows(producer))) && (isa<GatherOp, SliceOp, DynamicSliceOp>(producer) || isReshapedSlice(producer)) && !cluster.contraction &&
        hasVectorizableTypes(producer) && domain.fits(shapeOf(producer->getResult(0))))
      return true;
    why = "it has a kernel of its own";
    return false;
  case OpRole::Duplicated:
  case OpRole::TopLevel:
    why = "it is not computed in kernels";
    return false;
  }
  llvm_unreachable("all roles are handled");
}

} // namespace millrace::fusion
