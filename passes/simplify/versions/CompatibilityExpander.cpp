// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompatibilityExpander.cpp - Newer features in terms of older ones --===//
// Input:   %1 = stablehlo.tan %0 : tensor<4xf32>            with target=1.3.0
// Output:  %1 = stablehlo.sine %0   %2 = stablehlo.cosine %0   %3 = stablehlo.divide %1, %2
// Leaves alone what the target version has, and newer features without an older form: writing the artifact refuses those.
#include "passes/simplify/Passes.h"

#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/verify/MeshGroups.h"
#include "dialects/vhlo/Version.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {

#define GEN_PASS_DEF_STABLEHLOCOMPATIBILITYEXPANDERPASS
#include "passes/simplify/Passes.h.inc"

namespace {

/// Fact: the version of StableHLO that brought batching dimensions of gather and scatter.
constexpr vhlo::Version kBatchingDims(1, 1);
/// Fact: the version that brought tan.
constexpr vhlo::Version kTan(1, 4);
/// Fact: the version that brought ranges of source locations.
constexpr vhlo::Version kLocationRanges(1, 9);
/// Fact: the version that brought replica groups of a mesh.
constexpr vhlo::Version kMeshGroups(1, 16);

SmallVector<int64_t> merged(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> result(a);
  result.append(b.begin(), b.end());
  llvm::sort(result);
  return result;
}
SmallVector<int64_t> joined(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> result(a);
  result.append(b.begin(), b.end());
  return result;
}

/// `indices` with the position along each batching dimension in front of each index vector; null if a shape is dynamic.
Value withBatchPositions(Value indices, int64_t vectorDim, ArrayRef<int64_t> batchingDims, PatternRewriter &rewriter) {
  Location loc = indices.getLoc();
  auto type = cast<RankedTensorType>(indices.getType());
  if (!type.hasStaticShape())
    return {};
  // The positions must fit the element type of the indices.
  Type element = type.getElementType();
  for (int64_t dim : batchingDims)
    if (auto integer = dyn_cast<IntegerType>(element);
        integer && integer.getWidth() < 64 && type.getDimSize(dim) > int64_t(1) << (integer.getWidth() - 1))
      element = rewriter.getI64Type();
  if (element != type.getElementType())
    indices = ConvertOp::create(rewriter, loc, indices, element);
  SmallVector<int64_t> shape(type.getShape());
  if (vectorDim == type.getRank())
    shape.push_back(1);
  auto vectorType = RankedTensorType::get(shape, element);
  if (vectorDim == type.getRank())
    indices = ReshapeOp::create(rewriter, loc, vectorType, indices);
  shape[vectorDim] = 1;
  auto positionType = RankedTensorType::get(shape, element);
  SmallVector<Value> parts;
  for (int64_t dim : batchingDims)
    parts.push_back(IotaOp::create(rewriter, loc, positionType, rewriter.getI64IntegerAttr(dim)));
  parts.push_back(indices);
  shape[vectorDim] = vectorType.getDimSize(vectorDim) + batchingDims.size();
  return ConcatenateOp::create(rewriter, loc, RankedTensorType::get(shape, element), parts,
                               rewriter.getI64IntegerAttr(vectorDim));
}

/// Input:  gather with batching dimensions      Output: their positions are part of the start indices, slices of size 1
struct ExpandGather : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    GatherDimensionNumbersAttr dims = op.getDimensionNumbers();
    if (dims.getOperandBatchingDims().empty())
      return rewriter.notifyMatchFailure(op, "no batching dimensions");
    Value indices = withBatchPositions(op.getStartIndices(), dims.getIndexVectorDim(), dims.getStartIndicesBatchingDims(),
                                       rewriter);
    if (!indices)
      return rewriter.notifyMatchFailure(op, "indices of dynamic shape");
    auto expanded = GatherDimensionNumbersAttr::get(
        op.getContext(), dims.getOffsetDims(), merged(dims.getOperandBatchingDims(), dims.getCollapsedSliceDims()), {}, {},
        joined(dims.getOperandBatchingDims(), dims.getStartIndexMap()), dims.getIndexVectorDim());
    // The positions in front of the index vectors change their order, so the indices are no longer claimed to be sorted.
    rewriter.replaceOpWithNewOp<GatherOp>(op, op.getType(), op.getOperand(), indices, expanded, op.getSliceSizesAttr(),
                                          rewriter.getBoolAttr(false));
    return success();
  }
};

/// Input:  scatter with batching dimensions      Output: their positions are part of the scatter indices
struct ExpandScatter : OpRewritePattern<ScatterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScatterOp op, PatternRewriter &rewriter) const override {
    ScatterDimensionNumbersAttr dims = op.getScatterDimensionNumbers();
    if (dims.getInputBatchingDims().empty())
      return rewriter.notifyMatchFailure(op, "no batching dimensions");
    Value indices = withBatchPositions(op.getScatterIndices(), dims.getIndexVectorDim(),
                                       dims.getScatterIndicesBatchingDims(), rewriter);
    if (!indices)
      return rewriter.notifyMatchFailure(op, "indices of dynamic shape");
    auto expanded = ScatterDimensionNumbersAttr::get(
        op.getContext(), dims.getUpdateWindowDims(), merged(dims.getInputBatchingDims(), dims.getInsertedWindowDims()), {},
        {}, joined(dims.getInputBatchingDims(), dims.getScatterDimsToOperandDims()), dims.getIndexVectorDim());
    rewriter.modifyOpInPlace(op, [&] {
      op.getScatterIndicesMutable().assign(indices);
      op.setScatterDimensionNumbersAttr(expanded);
      op.setIndicesAreSortedAttr(rewriter.getBoolAttr(false));
    });
    return success();
  }
};

/// Input:  tan x      Output: sin x / cos x. Complex: (tan a + i tanh b) / (1 - i tan a tanh b) with x = a + i b
struct ExpandTan : OpRewritePattern<TanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TanOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value x = op.getOperand();
    auto type = dyn_cast<RankedTensorType>(x.getType());
    auto quotient = [&](Value of) -> Value {
      return DivOp::create(rewriter, loc, SineOp::create(rewriter, loc, of), CosineOp::create(rewriter, loc, of));
    };
    if (!isa<ComplexType>(getElementTypeOrSelf(x.getType()))) {
      rewriter.replaceOp(op, quotient(x));
      return success();
    }
    if (!type || !type.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "complex of dynamic shape");
    Value re = quotient(RealOp::create(rewriter, loc, x));
    Value im = TanhOp::create(rewriter, loc, ImagOp::create(rewriter, loc, x));
    auto part = cast<RankedTensorType>(re.getType());
    Value one = ConstantOp::create(rewriter, loc, DenseElementsAttr::get(part, rewriter.getFloatAttr(part.getElementType(), 1)));
    Value product = NegOp::create(rewriter, loc, MulOp::create(rewriter, loc, re, im));
    rewriter.replaceOpWithNewOp<DivOp>(op, ComplexOp::create(rewriter, loc, re, im),
                                       ComplexOp::create(rewriter, loc, one, product));
    return success();
  }
};

/// The mesh that the operation `name` carries, as {axes = [{name = "x", size = 2 : i64}], device_ids = dense<..>}; null without one.
MeshAttr meshCarriedBy(Operation *op, FlatSymbolRefAttr name) {
  MLIRContext *context = op->getContext();
  Operation *symbol = SymbolTable::lookupNearestSymbolFrom(op, name);
  auto mesh = symbol ? symbol->getAttrOfType<DictionaryAttr>("stablehlo.mesh") : DictionaryAttr();
  auto axes = mesh ? mesh.getAs<ArrayAttr>("axes") : ArrayAttr();
  if (!axes)
    return {};
  SmallVector<Attribute> converted;
  for (Attribute each : axes) {
    auto axis = dyn_cast<DictionaryAttr>(each);
    auto axisName = axis ? axis.getAs<StringAttr>("name") : StringAttr();
    auto size = axis ? axis.getAs<IntegerAttr>("size") : IntegerAttr();
    if (!axisName || !size || !size.getType().isSignlessInteger(64))
      return {};
    converted.push_back(MeshAxisAttr::get(context, axisName, size.getInt()));
  }
  return MeshAttr::get(context, ArrayAttr::get(context, converted), mesh.getAs<DenseIntElementsAttr>("device_ids"));
}

/// Replaces replica groups that are given as axes of a mesh by lists of device ids.
LogicalResult expandMeshGroups(Operation *op) {
  auto axes = op->getAttrOfType<ReplicaGroupMeshAxesAttr>("replica_groups");
  if (!axes)
    return success();
  if (auto name = dyn_cast<FlatSymbolRefAttr>(axes.getMesh())) {
    MeshAttr mesh = meshCarriedBy(op, name);
    if (!mesh)
      return op->emitOpError("expects its mesh to be the attribute stablehlo.mesh of ") << name;
    axes = ReplicaGroupMeshAxesAttr::get(op->getContext(), mesh, axes.getAxes());
  }
  SmallVector<SmallVector<int64_t>> groups;
  std::string why;
  if (failed(groupsOfMesh(axes, groups, why)))
    return op->emitOpError(why);
  SmallVector<int64_t> ids;
  for (ArrayRef<int64_t> group : groups)
    ids.append(group.begin(), group.end());
  int64_t rows = groups.size(), columns = rows ? groups[0].size() : 0;
  auto type = RankedTensorType::get({rows, columns}, IntegerType::get(op->getContext(), 64));
  op->setAttr("replica_groups", DenseIntElementsAttr::get(type, ids));
  return success();
}

/// Returns `loc` with every range of a file replaced by the start of the range.
Location withoutRanges(Location loc) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](FileLineColRange range) -> Attribute {
    return FileLineColLoc::get(range.getFilename(), range.getStartLine(), range.getStartColumn());
  });
  return cast<LocationAttr>(replacer.replace(loc));
}

struct CompatibilityExpander : impl::StablehloCompatibilityExpanderPassBase<CompatibilityExpander> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    auto error = [&](const Twine &message) { return emitError(UnknownLoc::get(context), message); };
    std::optional<vhlo::Version> parsed = vhlo::Version::parse(targetVersionOption);
    if (!parsed)
      return error("Invalid target version argument '" + targetVersionOption +
                   "'. Target version must be of the form #.#.#.");
    version = *parsed;
    if (version < vhlo::minimumVersion)
      return error("target version " + version.str() + " is less than minimum supported " + vhlo::minimumVersion.str());
    if (vhlo::currentVersion < version.withoutPatch())
      return error("target version " + version.str() + " is greater than current version " + vhlo::currentVersion.str());
    RewritePatternSet owned(context);
    if (version < kBatchingDims)
      owned.add<ExpandGather, ExpandScatter>(context);
    if (version < kTan)
      owned.add<ExpandTan>(context);
    patterns = std::move(owned);
    return success();
  }

  void runOnOperation() override {
    if (failed(applyPatternsGreedily(getOperation(), patterns)))
      return signalPassFailure();
    WalkResult result = getOperation()->walk([&](Operation *op) {
      if (version < kMeshGroups && failed(expandMeshGroups(op)))
        return WalkResult::interrupt();
      if (version < kLocationRanges) {
        op->setLoc(withoutRanges(op->getLoc()));
        for (Region &region : op->getRegions())
          for (Block &block : region)
            for (BlockArgument argument : block.getArguments())
              argument.setLoc(withoutRanges(argument.getLoc()));
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  vhlo::Version version;
  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace millrace::simplify
