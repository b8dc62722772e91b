// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WinogradConvolutions.cpp - Convolutions of 3x3 by fewer products ---===//
// Input:   stablehlo.convolution(%x, %k) of f32, channels last, windows of 3x3 with strides of one
// Output:  per tile of 2x2 results, 16 sums of 4x4 elements of %x; a product of batch 16 of these with 16 sums of the weights; results that are sums
//          of those products: 16 products per channel instead of 36 (F(2x2, 3x3) of Winograd's minimal filtering; Lavin and Gray, 2016). What depends
//          on the weights alone is computed once where they are constant arguments (PrepareConstants.cpp).
// Leaves alone: other windows, strides, dilations, groups, types; convolutions whose precision is not the default; those with so few channels or tiles
//          that the sums move more than the products save.
// Not for programs whose operations have to round as they are written: the sums round differently, and NaN and infinities reach all results of a tile.
//===----------------------------------------------------------------------===//
#include "dialects/millrace/Arguments.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/Remarks.h"
#include "passes/layout/Layout.h"
#include "passes/layout/Passes.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::layout {

#define GEN_PASS_DEF_WINOGRADCONVOLUTIONSPASS
#include "passes/layout/Passes.h.inc"

namespace {

/// A tile has kStep x kStep results. Unit: elements along a dimension. Source: F(2x2, 3x3); larger tiles need factors other than 1/2, whose rounding
/// errors grow with them.
constexpr int64_t kStep = 2;
/// A tile reads kSpan x kSpan elements: its results and a window around each. Unit: elements along a dimension. Source: arithmetic, kStep + 3 - 1.
constexpr int64_t kSpan = kStep + 2;
/// The products of a tile and a pair of channels. Unit: products. Source: arithmetic, one for each element.
constexpr int64_t kPoints = kSpan * kSpan;
/// What reading an element from memory costs, in moves of an element between two kernels. Unit: moves. Source: xla-run --repeat=60 of 7x7x512, whose
/// sums of weights take 16.8 MB: 1.59 to 2.16 ms on an AMD Zen 3, where 2 would still take it. It depends on the
/// machine's memory, which the target does not describe.
constexpr double kMovesPerFarRead = 3;

/// Returns true if the value is computed from constant arguments of the function alone: its computation is prepared once.
bool isPrepared(Value value) {
  SmallVector<Value> pending{value};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (isa<BlockArgument>(next)) {
      if (!isConstantArgument(next))
        return false;
      continue;
    }
    Operation *op = next.getDefiningOp();
    if (op->getNumRegions() != 0 || op->getNumOperands() == 0)
      return false;
    if (seen.insert(op).second)
      llvm::append_range(pending, op->getOperands());
  }
  return true;
}

struct Sizes {
  int64_t batch, height, width, channels, results; ///< of the result, but `channels`
  int64_t rows() const { return (height + kStep - 1) / kStep; }
  int64_t columns() const { return (width + kStep - 1) / kStep; }
  int64_t tiles() const { return batch * rows() * columns(); }
};

Sizes sizesOf(ConvolutionOp op) {
  RankedTensorType image = typeOf(op.getLhs()), result = typeOf(op.getResult());
  return {result.getDimSize(0), result.getDimSize(1), result.getDimSize(2), image.getDimSize(3), result.getDimSize(3)};
}

/// Returns the multiply-adds that Winograd's form saves, per element that its sums move between kernels; what comes from memory counts as several.
double savedPerElement(const Sizes &sizes, bool isPrepared, int64_t nearBytes) {
  const double weights = double(sizes.channels) * double(sizes.results), tiles = double(sizes.tiles());
  const double saved = 9 * double(sizes.batch * sizes.height * sizes.width) * weights - kPoints * tiles * weights;
  // Sums are written once and read once; the 16 sums of weights replace 9 weights, and are written and read in each call unless they are prepared.
  const double far = kPoints * weights * sizeof(float) > double(nearBytes) ? kMovesPerFarRead : 1;
  const double moved = 2 * kPoints * tiles * double(sizes.channels + sizes.results) + (isPrepared ? far * (kPoints - 9) : 9 + 2 * kPoints) * weights;
  return saved / moved;
}

bool areOnes(std::optional<ArrayRef<int64_t>> values) {
  return !values || llvm::all_of(*values, [](int64_t value) { return value == 1; });
}

/// Why the convolution stays as it is; empty if Winograd's form takes its place, which has to save `minSaved` multiply-adds per element that is moved.
StringRef whyNot(ConvolutionOp op, double minSaved, int64_t nearBytes) {
  RankedTensorType image = typeOf(op.getLhs()), kernel = typeOf(op.getRhs()), result = typeOf(op.getResult());
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  if (image.getRank() != 4 || !hasLayout(op.getLhs()) || !hasLayout(op.getRhs()) || !hasLayout(op.getResult()) ||
      llvm::any_of(dims.getKernelSpatialDimensions(), [&](int64_t dim) { return kernel.getDimSize(dim) != kSpan - kStep + 1; }))
    return "its window is not 3x3 with static sizes";
  if (!image.getElementType().isF32() || !kernel.getElementType().isF32() || !result.getElementType().isF32())
    return "its elements are not f32";
  if (!areOnes(op.getWindowStrides()) || !areOnes(op.getLhsDilation()) || !areOnes(op.getRhsDilation()) || op.getFeatureGroupCount() != 1 ||
      op.getBatchGroupCount() != 1 || (op.getWindowReversal() && llvm::is_contained(*op.getWindowReversal(), true)))
    return "it has strides, dilations, groups or a reversed window";
  auto isLast = [](int64_t batch, ArrayRef<int64_t> spatial, int64_t feature) {
    return batch == 0 && spatial[0] == 1 && spatial[1] == 2 && feature == 3;
  };
  if (!isLast(dims.getInputBatchDimension(), dims.getInputSpatialDimensions(), dims.getInputFeatureDimension()) ||
      !isLast(dims.getOutputBatchDimension(), dims.getOutputSpatialDimensions(), dims.getOutputFeatureDimension()))
    return "channels are not the last dimension of its input and its result";
  if (op.getPrecisionConfigAttr() && llvm::any_of(op.getPrecisionConfigAttr(), [](Attribute precision) {
        return cast<PrecisionAttr>(precision).getValue() != Precision::DEFAULT;
      }))
    return "its precision is not the default";
  if (op.getPaddingAttr() && llvm::any_of(op.getPaddingAttr().getValues<APInt>(), [](const APInt &amount) { return amount.isNegative(); }))
    return "negative padding cuts elements off";
  if (savedPerElement(sizesOf(op), isPrepared(op.getRhs()), nearBytes) < minSaved)
    return "its sums would move more than its products save";
  return "";
}

/// The program that takes a convolution's place.
class Winograd {
public:
  explicit Winograd(ConvolutionOp op) : op(op), builder(op), loc(op.getLoc()), sizes(sizesOf(op)) {}
  Value build() { return results(products(imageSums(), weightSums())); }

private:
  using Grid = SmallVector<SmallVector<Value>>;

  Value add(Value a, Value b) { return AddOp::create(builder, loc, a, b); }
  Value subtract(Value a, Value b) { return SubtractOp::create(builder, loc, a, b); }
  Value reshape(Value value, ArrayRef<int64_t> shape) { return ReshapeOp::create(builder, loc, typeOf(value).clone(shape), value); }
  Value slice(Value value, ArrayRef<int64_t> starts, ArrayRef<int64_t> limits, ArrayRef<int64_t> strides) {
    SmallVector<int64_t> shape;
    for (auto [start, limit, stride] : llvm::zip(starts, limits, strides))
      shape.push_back((limit - start + stride - 1) / stride);
    return SliceOp::create(builder, loc, typeOf(value).clone(shape), value, builder.getDenseI64ArrayAttr(starts), builder.getDenseI64ArrayAttr(limits),
                           builder.getDenseI64ArrayAttr(strides));
  }
  /// Joins values of one shape along a new first dimension.
  Value stack(ArrayRef<Value> values) {
    SmallVector<Value> pieces;
    SmallVector<int64_t> shape{1};
    llvm::append_range(shape, typeOf(values.front()).getShape());
    for (Value value : values)
      pieces.push_back(reshape(value, shape));
    shape.front() = int64_t(values.size());
    return ConcatenateOp::create(builder, loc, typeOf(values.front()).clone(shape), pieces, 0);
  }

  /// Applies a one-dimensional transform along the rows of a grid of values, then along the columns of what it gives.
  template <typename F> Grid alongBoth(const Grid &grid, F &&transform) {
    Grid rows, columns;
    for (ArrayRef<Value> row : grid)
      rows.push_back(transform(row));
    for (size_t j = 0; j < rows.front().size(); ++j)
      columns.push_back(transform(SmallVector<Value>(llvm::map_range(rows, [&](ArrayRef<Value> row) { return row[j]; }))));
    return columns; // transposed: columns[j][i]
  }

  /// The image with its border and what completes the last tiles.
  Value padded() {
    RankedTensorType type = typeOf(op.getLhs());
    SmallVector<int64_t> low(4, 0), high(4, 0), interior(4, 0), shape(type.getShape());
    if (op.getPaddingAttr()) {
      auto amounts = llvm::to_vector(op.getPaddingAttr().getValues<APInt>());
      for (int64_t i : {0, 1}) {
        low[i + 1] = amounts[2 * i].getSExtValue();
        high[i + 1] = amounts[2 * i + 1].getSExtValue();
      }
    }
    high[1] += kStep * sizes.rows() - sizes.height;
    high[2] += kStep * sizes.columns() - sizes.width;
    if (llvm::all_of(low, [](int64_t amount) { return amount == 0; }) && llvm::all_of(high, [](int64_t amount) { return amount == 0; }))
      return op.getLhs();
    for (int64_t i = 0; i < 4; ++i)
      shape[i] += low[i] + high[i];
    Value zero = ConstantOp::create(builder, loc, cast<ElementsAttr>(builder.getZeroAttr(type.clone(ArrayRef<int64_t>()))));
    return PadOp::create(builder, loc, type.clone(shape), op.getLhs(), zero, builder.getDenseI64ArrayAttr(low), builder.getDenseI64ArrayAttr(high),
                         builder.getDenseI64ArrayAttr(interior));
  }

  /// Returns 16 x tiles x channels: B^T d B for the elements d of each tile.
  Value imageSums() {
    Value image = padded();
    Grid elements(kSpan);
    for (int64_t i = 0; i < kSpan; ++i)
      for (int64_t j = 0; j < kSpan; ++j)
        elements[i].push_back(slice(image, {0, i, j, 0}, {sizes.batch, i + kStep * (sizes.rows() - 1) + 1, j + kStep * (sizes.columns() - 1) + 1, sizes.channels},
                                    {1, kStep, kStep, 1}));
    Grid sums = alongBoth(elements, [&](ArrayRef<Value> d) {
      return SmallVector<Value>{subtract(d[0], d[2]), add(d[1], d[2]), subtract(d[2], d[1]), subtract(d[1], d[3])};
    });
    return joined(sums, {sizes.tiles(), sizes.channels});
  }

  /// Returns 16 x channels x results: G g G^T for the weights g of each pair of channels.
  Value weightSums() {
    ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
    Value weights = transpose(builder, loc, op.getRhs(), {dims.getKernelSpatialDimensions()[0], dims.getKernelSpatialDimensions()[1],
                                                          dims.getKernelInputFeatureDimension(), dims.getKernelOutputFeatureDimension()});
    Grid elements(3);
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 3; ++j)
        elements[i].push_back(slice(weights, {i, j, 0, 0}, {i + 1, j + 1, sizes.channels, sizes.results}, {1, 1, 1, 1}));
    RankedTensorType type = typeOf(elements[0][0]);
    Value half = ConstantOp::create(builder, loc, DenseElementsAttr::get(type, builder.getF32FloatAttr(0.5F)));
    Grid sums = alongBoth(elements, [&](ArrayRef<Value> g) {
      Value ends = add(g[0], g[2]);
      return SmallVector<Value>{g[0], MulOp::create(builder, loc, add(ends, g[1]), half), MulOp::create(builder, loc, subtract(ends, g[1]), half), g[2]};
    });
    return joined(sums, {sizes.channels, sizes.results});
  }

  Value joined(const Grid &grid, ArrayRef<int64_t> shape) {
    SmallVector<Value> values;
    for (ArrayRef<Value> row : grid)
      for (Value value : row)
        values.push_back(reshape(value, shape));
    return stack(values);
  }

  Value products(Value image, Value weights) {
    auto numbers = DotDimensionNumbersAttr::get(builder.getContext(), {0}, {0}, {2}, {1});
    return DotGeneralOp::create(builder, loc, typeOf(image).clone({kPoints, sizes.tiles(), sizes.results}), image, weights, numbers,
                                op.getPrecisionConfigAttr(), DotAlgorithmAttr());
  }

  /// A^T m A for the products m of each tile, as an image.
  Value results(Value products) {
    Grid elements(kSpan);
    for (int64_t i = 0; i < kSpan; ++i)
      for (int64_t j = 0; j < kSpan; ++j) {
        const int64_t point = kSpan * i + j;
        elements[i].push_back(reshape(slice(products, {point, 0, 0}, {point + 1, sizes.tiles(), sizes.results}, {1, 1, 1}), {sizes.tiles(), sizes.results}));
      }
    // Sums of the image and of the weights are transposed alike, and this transposition is undone here.
    Grid sums = alongBoth(elements, [&](ArrayRef<Value> m) {
      return SmallVector<Value>{add(add(m[0], m[1]), m[2]), subtract(subtract(m[1], m[2]), m[3])};
    });
    SmallVector<Value> values;
    for (ArrayRef<Value> row : sums)
      llvm::append_range(values, row);
    const int64_t rows = sizes.rows(), columns = sizes.columns();
    Value image = reshape(stack(values), {kStep, kStep, sizes.batch, rows, columns, sizes.results});
    image = transpose(builder, loc, image, {2, 3, 0, 4, 1, 5});
    image = reshape(image, {sizes.batch, kStep * rows, kStep * columns, sizes.results});
    if (kStep * rows == sizes.height && kStep * columns == sizes.width)
      return image;
    return slice(image, {0, 0, 0, 0}, {sizes.batch, sizes.height, sizes.width, sizes.results}, {1, 1, 1, 1});
  }

  ConvolutionOp op;
  OpBuilder builder;
  Location loc;
  Sizes sizes;
};

struct WinogradConvolutions : impl::WinogradConvolutionsPassBase<WinogradConvolutions> {
  using WinogradConvolutionsPassBase::WinogradConvolutionsPassBase;
  void runOnOperation() override {
    SmallVector<ConvolutionOp> convolutions;
    getOperation().walk([&](ConvolutionOp op) { convolutions.push_back(op); });
    for (ConvolutionOp op : convolutions) {
      if (StringRef why = whyNot(op, minSaved, nearBytes); !why.empty()) {
        remarkMissed(op, "xla-winograd-convolutions", why);
        continue;
      }
      op.getResult().replaceAllUsesWith(Winograd(op).build());
      op.erase();
    }
  }
};

} // namespace
} // namespace millrace::layout
