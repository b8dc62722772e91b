// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PartitionMoved.cpp - Dimensions along which elements move ----------===//
// Slices, padding, reversal, concatenation and windows along a dimension that is split: every device computes its tile of the
// result from the range of the operand that it needs, which Resharder::window collects; what the operation itself would have
// taken from outside of the operand comes in as padding of that range.
#include "passes/spmd/Combiners.h"
#include "passes/spmd/Partitioner.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {
namespace {

/// Returns the list of an optional attribute, or `otherwise` for each entry.
SmallVector<int64_t> listOf(std::optional<ArrayRef<int64_t>> list, size_t size, int64_t otherwise) {
  return list ? SmallVector<int64_t>(*list) : SmallVector<int64_t>(size, otherwise);
}

/// Returns low and high padding per dimension.
SmallVector<int64_t> paddingOf(std::optional<DenseIntElementsAttr> padding, size_t dims) {
  return padding && *padding ? SmallVector<int64_t>(padding->getValues<int64_t>()) : SmallVector<int64_t>(2 * dims, 0);
}

Attribute paddingAttr(OpBuilder &builder, ArrayRef<int64_t> values) {
  return DenseIntElementsAttr::get(RankedTensorType::get({int64_t(values.size()) / 2, 2}, builder.getI64Type()), values);
}

/// Returns the lowest value, which a comparison for the largest never selects.
Value lowestOf(OpBuilder &builder, Location loc, RankedTensorType scalar) {
  const llvm::fltSemantics &semantics = cast<FloatType>(scalar.getElementType()).getFloatSemantics();
  return stablehlo::ConstantOp::create(builder, loc, DenseElementsAttr::get(scalar, APFloat::getInf(semantics, true)));
}

} // namespace

SmallVector<int64_t> Partitioner::perDevice(const Tiles &tiles, llvm::function_ref<int64_t(int64_t tile)> function) {
  SmallVector<int64_t> result;
  for (int64_t device = 0; device < numDevices; ++device)
    result.push_back(function(tiles.at(device)));
  return result;
}

/// Resharder::window of a value with `step - 1` elements of `fill` after each of its own.
Value Partitioner::spreadWindow(Location loc, const Shard &shard, size_t dim, ArrayRef<int64_t> starts, int64_t width, int64_t step,
                                Value fill) {
  if (step == 1)
    return resharder.window(builder, loc, shard, dim, starts, width, fill);
  SmallVector<int64_t> first, skipped;
  for (int64_t start : starts) {
    first.push_back(llvm::divideCeilSigned(start, step));
    skipped.push_back(step - 1 - (first.back() * step - start));
  }
  int64_t count = (width - 1) / step + 1;
  Value window = resharder.window(builder, loc, shard, dim, first, count, fill);
  auto type = cast<RankedTensorType>(window.getType());
  SmallVector<int64_t> low(type.getRank(), 0), high(low), interior(low), shape(type.getShape());
  low[dim] = interior[dim] = step - 1;
  int64_t length = step - 1 + (count - 1) * step + 1;
  high[dim] = std::max<int64_t>(0, step - 1 + width - length);
  shape[dim] = length + high[dim];
  Value spread = PadOp::create(builder, loc, type.clone(shape), window, fill, builder.getDenseI64ArrayAttr(low),
                               builder.getDenseI64ArrayAttr(high), builder.getDenseI64ArrayAttr(interior));
  return resharder.sliceAt(builder, loc, spread, dim, skipped, width);
}

/// Selects, for each position of the result's tile, the operand from which its element comes.
Value Partitioner::emitJoined(ConcatenateOp op, ArrayRef<Shard> operands, const Placement &result) {
  Location loc = op.getLoc();
  int64_t dim = op.getDimension(), begin = 0;
  const Tiles &tiles = result[dim];
  int64_t width = tileSize(sharding::shapeOf(op.getResult())[dim], tiles);
  Value joined;
  for (const Shard &shard : operands) {
    int64_t size = shard.shape[dim];
    if (size == 0)
      continue;
    SmallVector<int64_t> starts = perDevice(tiles, [&](int64_t tile) { return tile * width - begin; });
    Value here = resharder.window(builder, loc, shard, dim, starts, width);
    if (joined) {
      auto type = cast<RankedTensorType>(here.getType());
      auto line = RankedTensorType::get({width}, builder.getI32Type());
      Value position = IotaOp::create(builder, loc, line, uint64_t(0));
      // Later operands come after earlier ones.
      SmallVector<int64_t> from = llvm::map_to_vector(starts, [&](int64_t start) { return std::clamp<int64_t>(-start, 0, width); });
      Value bound = BroadcastInDimOp::create(builder, loc, line, resharder.own(builder, loc, from), builder.getDenseI64ArrayAttr({}));
      Value flags = CompareOp::create(builder, loc, position, bound, ComparisonDirection::GE);
      Value behind = BroadcastInDimOp::create(builder, loc, RankedTensorType::get(type.getShape(), builder.getI1Type()), flags,
                                              builder.getDenseI64ArrayAttr({dim}));
      here = SelectOp::create(builder, loc, type, behind, here, joined);
    }
    joined = here;
    begin += size;
  }
  return joined;
}

void Partitioner::moveConvolved(ConvolutionOp op, Shard &lhs, const Placement &result, MutableArrayRef<int64_t> padding,
                                MutableArrayRef<int64_t> dilation) {
  auto numbers = op.getDimensionNumbers();
  size_t count = numbers.getInputSpatialDimensions().size();
  SmallVector<int64_t> strides = listOf(op.getWindowStrides(), count, 1), holes = listOf(op.getRhsDilation(), count, 1);
  ArrayRef<int64_t> kernel = sharding::shapeOf(op.getRhs()), out = sharding::shapeOf(op.getResult());
  Value zero = zeroOf(builder, op.getLoc(), lhs.value);
  for (size_t i = 0; i < count; ++i) {
    const Tiles &tiles = result[numbers.getOutputSpatialDimensions()[i]];
    if (tiles.isWhole())
      continue;
    int64_t dim = numbers.getInputSpatialDimensions()[i], step = dilation[i];
    int64_t tile = tileSize(out[numbers.getOutputSpatialDimensions()[i]], tiles);
    int64_t width = (tile - 1) * strides[i] + (kernel[numbers.getKernelSpatialDimensions()[i]] - 1) * holes[i] + 1;
    SmallVector<int64_t> starts = perDevice(tiles, [&](int64_t each) { return each * tile * strides[i] - padding[2 * i]; });
    SmallVector<int64_t> first, phase;
    for (int64_t start : starts) {
      first.push_back(llvm::divideCeilSigned(start, step));
      phase.push_back(first.back() * step - start);
    }
    padding[2 * i] = padding[2 * i + 1] = 0;
    if (step > 1 && llvm::all_equal(phase) && phase.front() < width) {
      // The convolution dilates its input itself, on all devices in the same way.
      int64_t elements = (width - 1 - phase.front()) / step + 1;
      lhs.value = resharder.window(builder, op.getLoc(), lhs, dim, first, elements, zero);
      lhs.placement[dim] = tiles;
      padding[2 * i] = phase.front();
      padding[2 * i + 1] = width - phase.front() - ((elements - 1) * step + 1);
      continue;
    }
    lhs.value = spreadWindow(op.getLoc(), lhs, dim, starts, width, step, zero);
    lhs.placement[dim] = tiles;
    dilation[i] = 1;
  }
}

/// Every device computes all windows that overlap its tile, and keeps the elements of the tile. Positions out of the operand's bounds are never
/// selected: they are minus infinity, and the operand's own minus infinities are replaced by the lowest finite value (OpRules.cpp: floats only).
Value Partitioner::emitScattered(SelectAndScatterOp op, MutableArrayRef<Shard> operands, const Placement &result) {
  Location loc = op.getLoc();
  ArrayRef<int64_t> shape = sharding::shapeOf(op.getOperand());
  size_t rank = shape.size();
  SmallVector<int64_t> windows = listOf(op.getWindowDimensions(), rank, 1), strides = listOf(op.getWindowStrides(), rank, 1),
                       padding = paddingOf(op.getPadding(), rank);
  Shard &operand = operands[0], &source = operands[1];
  Value init = operands[2].value;
  SmallVector<SmallVector<int64_t>> offsets(rank);
  SmallVector<int64_t> tileSizes(rank);
  for (size_t dim = 0; dim < rank; ++dim) {
    const Tiles &tiles = result[dim];
    if (tiles.isWhole())
      continue;
    int64_t tile = tileSize(shape[dim], tiles), low = padding[2 * dim], window = windows[dim], stride = strides[dim], count = 1;
    SmallVector<int64_t> first = perDevice(tiles, [&](int64_t each) {
      int64_t from = llvm::divideCeilSigned(each * tile + low - window + 1, stride);
      count = std::max(count, llvm::divideFloorSigned((each + 1) * tile - 1 + low, stride) - from + 1);
      return from;
    });
    int64_t width = (count - 1) * stride + window;
    SmallVector<int64_t> starts = llvm::map_to_vector(first, [&](int64_t each) { return each * stride - low; });
    Value fill;
    if (padding[2 * dim] != 0 || padding[2 * dim + 1] != 0) {
      auto type = cast<RankedTensorType>(operand.value.getType());
      auto scalar = RankedTensorType::get({}, type.getElementType());
      const llvm::fltSemantics &semantics = cast<FloatType>(type.getElementType()).getFloatSemantics();
      fill = lowestOf(builder, loc, scalar);
      Value lowest = stablehlo::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, APFloat::getLargest(semantics, true)));
      Value infinite = BroadcastInDimOp::create(builder, loc, type, fill, builder.getDenseI64ArrayAttr({}));
      Value same = CompareOp::create(builder, loc, operand.value, infinite, ComparisonDirection::EQ);
      operand.value = SelectOp::create(builder, loc, type, same, lowest, operand.value);
    }
    operand.value = resharder.window(builder, loc, operand, dim, starts, width, fill);
    source.value = resharder.window(builder, loc, source, dim, first, count, init);
    operand.placement[dim] = source.placement[dim] = tiles;
    padding[2 * dim] = padding[2 * dim + 1] = 0;
    tileSizes[dim] = tile;
    offsets[dim] = perDevice(tiles, [&](int64_t each) { return each * tile; });
    for (auto [offset, start] : llvm::zip_equal(offsets[dim], starts))
      offset -= start;
  }
  Operation *local = emitLocal(*op, {operand.value, source.value, init}, {result});
  local->setAttr("padding", paddingAttr(builder, padding));
  local->getResult(0).setType(operand.value.getType());
  Value value = local->getResult(0);
  for (size_t dim = 0; dim < rank; ++dim) {
    if (offsets[dim].empty())
      continue;
    // A tile may contain elements outside of all windows.
    auto type = cast<RankedTensorType>(value.getType());
    int64_t before = std::max<int64_t>(0, -*llvm::min_element(offsets[dim]));
    int64_t after = std::max<int64_t>(0, *llvm::max_element(offsets[dim]) + tileSizes[dim] - type.getDimSize(dim));
    if (before > 0 || after > 0) {
      SmallVector<int64_t> low(rank, 0), high(low), none(low), padded(type.getShape());
      low[dim] = before;
      high[dim] = after;
      padded[dim] += before + after;
      value = PadOp::create(builder, loc, type.clone(padded), value, init, builder.getDenseI64ArrayAttr(low),
                            builder.getDenseI64ArrayAttr(high), builder.getDenseI64ArrayAttr(none));
    }
    for (int64_t &offset : offsets[dim])
      offset += before;
    value = resharder.sliceAt(builder, loc, value, dim, offsets[dim], tileSizes[dim]);
  }
  return value;
}

/// A replicated operand is different on the devices once its window is taken: exchanges along the next dimension must be among devices with the same
/// window, as `placement` then describes.
SmallVector<Value> Partitioner::emitMoved(Operation &op, MutableArrayRef<Shard> operands, ArrayRef<Placement> results) {
  Location loc = op.getLoc();
  const Placement &result = results[0];
  ArrayRef<int64_t> shape = sharding::shapeOf(op.getResult(0));
  SmallVector<int64_t> moving = movingDims(&op);
  llvm::erase_if(moving, [&](int64_t dim) { return !isa<ConvolutionOp>(op) && result[dim].isWhole(); });
  auto values = [&] { return llvm::map_to_vector(operands, [](const Shard &shard) { return shard.value; }); };
  auto i64s = [&](ArrayRef<int64_t> list) { return builder.getDenseI64ArrayAttr(list); };
  auto tileOf = [&](int64_t dim) { return tileSize(shape[dim], result[dim]); };
  return llvm::TypeSwitch<Operation *, SmallVector<Value>>(&op)
      .Case([&](ConcatenateOp each) { return SmallVector<Value>{emitJoined(each, operands, result)}; })
      .Case([&](SelectAndScatterOp each) { return SmallVector<Value>{emitScattered(each, operands, result)}; })
      .Case([&](SliceOp each) {
        for (int64_t dim : moving) {
          int64_t stride = each.getStrides()[dim], tile = tileOf(dim);
          operands[0].value = resharder.window(builder, loc, operands[0], dim, perDevice(result[dim], [&](int64_t number) {
                                                 return each.getStartIndices()[dim] + number * tile * stride;
                                               }),
                                               (tile - 1) * stride + 1);
          operands[0].placement[dim] = result[dim];
        }
        auto local = cast<SliceOp>(emitLocal(op, values(), results));
        SmallVector<int64_t> starts(local.getStartIndices()), limits(local.getLimitIndices());
        for (int64_t dim : moving) {
          starts[dim] = 0;
          limits[dim] = sharding::shapeOf(local.getOperand())[dim];
        }
        local.setStartIndicesAttr(i64s(starts));
        local.setLimitIndicesAttr(i64s(limits));
        return SmallVector<Value>{local.getResult()};
      })
      .Case([&](PadOp each) {
        SmallVector<int64_t> low(each.getEdgePaddingLow()), high(each.getEdgePaddingHigh()), interior(each.getInteriorPadding());
        for (int64_t dim : moving) {
          int64_t tile = tileOf(dim);
          operands[0].value =
              spreadWindow(loc, operands[0], dim,
                           perDevice(result[dim], [&](int64_t number) { return number * tile - low[dim]; }), tile,
                           interior[dim] + 1, operands[1].value);
          operands[0].placement[dim] = result[dim];
          low[dim] = high[dim] = interior[dim] = 0;
        }
        auto local = cast<PadOp>(emitLocal(op, values(), results));
        local.setEdgePaddingLowAttr(i64s(low));
        local.setEdgePaddingHighAttr(i64s(high));
        local.setInteriorPaddingAttr(i64s(interior));
        return SmallVector<Value>{local.getResult()};
      })
      .Case([&](ReverseOp) {
        for (int64_t dim : moving) {
          int64_t tile = tileOf(dim);
          operands[0].value = resharder.window(
              builder, loc, operands[0], dim,
              perDevice(result[dim], [&](int64_t number) { return shape[dim] - (number + 1) * tile; }), tile);
          operands[0].placement[dim] = result[dim];
        }
        return SmallVector<Value>(emitLocal(op, values(), results)->getResults());
      })
      .Case([&](ReduceWindowOp each) {
        size_t rank = shape.size(), inputs = each.getInputs().size();
        SmallVector<int64_t> windows = listOf(each.getWindowDimensions(), rank, 1), strides = listOf(each.getWindowStrides(), rank, 1),
                             base = listOf(each.getBaseDilations(), rank, 1), holes = listOf(each.getWindowDilations(), rank, 1),
                             padding = paddingOf(each.getPadding(), rank);
        for (int64_t dim : moving) {
          int64_t tile = tileOf(dim), width = (tile - 1) * strides[dim] + (windows[dim] - 1) * holes[dim] + 1;
          SmallVector<int64_t> starts =
              perDevice(result[dim], [&](int64_t number) { return number * tile * strides[dim] - padding[2 * dim]; });
          for (size_t i = 0; i < inputs; ++i) {
            operands[i].value = spreadWindow(loc, operands[i], dim, starts, width, base[dim], operands[inputs + i].value);
            operands[i].placement[dim] = result[dim];
          }
          padding[2 * dim] = padding[2 * dim + 1] = 0;
          base[dim] = 1;
        }
        auto local = cast<ReduceWindowOp>(emitLocal(op, values(), results));
        local->setAttr("padding", paddingAttr(builder, padding));
        local.setBaseDilationsAttr(i64s(base));
        return SmallVector<Value>(local->getResults());
      })
      .Case([&](ConvolutionOp each) {
        size_t count = each.getDimensionNumbers().getInputSpatialDimensions().size();
        SmallVector<int64_t> padding = paddingOf(each.getPadding(), count), dilation = listOf(each.getLhsDilation(), count, 1);
        moveConvolved(each, operands[0], result, padding, dilation);
        auto local = cast<ConvolutionOp>(emitLocal(op, values(), results));
        local->setAttr("padding", paddingAttr(builder, padding));
        local.setLhsDilationAttr(i64s(dilation));
        return SmallVector<Value>{local.getResult()};
      });
}

} // namespace millrace::spmd
