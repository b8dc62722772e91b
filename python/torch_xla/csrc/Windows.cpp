// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Windows.cpp - Views that move from step to step ---------------------===//
// `for t in timesteps`, `data[i * 32:(i + 1) * 32]`: every step shows another part of the same tensor. Where the view begins is a
// constant of the graph at first, which compiles to the best code (weights that lie in one flat tensor are read at the same places in
// every step). As soon as a later step reads or writes a view of the same geometry elsewhere, its position becomes a parameter of the
// program: two compilations instead of one per step.
#include "python/torch_xla/csrc/Shim.h"
#include "python/torch_xla/csrc/Trace.h"

#include <algorithm>
#include <utility>

namespace millrace::torch_shim {
namespace {

using tracing::Operand;
using tracing::Session;

constexpr size_t mostWindows = 16, mostOffsets = 256;

/// A view as a box: the flat base is an array of `extents`, and in each of its dims the view is a range.
struct Box {
  std::vector<int64_t> extents, start, sizes;
  std::vector<int64_t> order; ///< the view's dims with more than one element, as they follow each other in memory
};

/// Nothing unless the strides of the view divide each other and the base: with strides s0 > s1 > ... the flat index of an element is
/// a number with the digits (i0, i1, ...).
std::optional<Box> boxOf(int64_t count, at::IntArrayRef sizes, at::IntArrayRef strides, int64_t offset) {
  Box box;
  for (size_t dim = 0; dim < sizes.size(); ++dim)
    if (sizes[dim] != 1)
      box.order.push_back(int64_t(dim));
  std::stable_sort(box.order.begin(), box.order.end(), [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });
  int64_t above = count;
  auto digit = [&](int64_t stride, int64_t size) {
    box.extents.push_back(above / stride);
    box.start.push_back(offset / stride);
    box.sizes.push_back(size);
    offset %= stride;
    return above % std::exchange(above, stride) == 0 && box.start.back() + size <= box.extents.back();
  };
  for (int64_t dim : box.order)
    if (strides[dim] <= 0 || !digit(strides[dim], sizes[dim]))
      return std::nullopt;
  if (above > 1 && !digit(1, 1))
    return std::nullopt;
  return box;
}

/// Notes the use of a view; true if views like it have been elsewhere in an earlier step.
bool moves(Storage &storage, at::IntArrayRef sizes, at::IntArrayRef strides, int64_t offset) {
  uint64_t step = Session::get().barriers();
  auto seen = std::find_if(storage.windows.begin(), storage.windows.end(), [&](const SeenWindow &window) {
    return sizes == at::IntArrayRef(window.sizes) && strides == at::IntArrayRef(window.strides);
  });
  if (seen == storage.windows.end()) {
    if (storage.windows.size() < mostWindows)
      storage.windows.push_back({sizes.vec(), strides.vec(), step, {offset}});
    return false;
  }
  if (seen->moves || std::count(seen->offsets.begin(), seen->offsets.end(), offset))
    return seen->moves;
  if (seen->step == step) {
    if (seen->offsets.size() < mostOffsets)
      seen->offsets.push_back(offset);
    return false;
  }
  return seen->moves = seen->offsets.size() < mostOffsets;
}

/// The box of a view that moves, where that can be a parameter.
std::optional<Box> movingBox(Storage &storage, const Shape &shape, at::IntArrayRef strides, int64_t offset) {
  const Shape &base = storage.base.shape();
  if (base.dtype != shape.dtype || shape.count() == 0 || shape.count() >= base.count() || storage.isCaptured || capture ||
      !traceScopes().empty() || Session::get().partitions() || !moves(storage, shape.dims, strides, offset))
    return std::nullopt;
  return boxOf(base.count(), shape.dims, strides, offset);
}

/// What emission needs to know of the box (tracing/emit/Movement.cpp): where it starts, numbers behind `operands`, in which dims; the rest.
std::vector<tracing::Arg> argsOf(const Box &box, std::vector<Value> &operands) {
  std::vector<Operand> starts;
  std::vector<int64_t> dims;
  for (size_t dim = 0; dim < box.extents.size(); ++dim)
    if (box.sizes[dim] < box.extents[dim]) {
      starts.push_back({int32_t(operands.size())});
      dims.push_back(int64_t(dim));
      operands.push_back(tracing::number(box.start[dim]));
    }
  return {starts, dims, box.extents, box.sizes, box.order};
}

} // namespace

Value movingRead(Storage &storage, const Shape &shape, at::IntArrayRef strides, int64_t offset) {
  std::optional<Box> box = movingBox(storage, shape, strides, offset);
  if (!box)
    return {};
  std::vector<Value> operands{storage.base};
  std::vector<tracing::Arg> args = argsOf(*box, operands);
  args.insert(args.begin(), Operand{0});
  return node("millrace::window_read", std::move(operands), std::move(args), shape);
}

Value movingWrite(Storage &storage, const Value &value, at::IntArrayRef strides, int64_t offset) {
  std::optional<Box> box = movingBox(storage, value.shape(), strides, offset);
  if (!box)
    return {};
  std::vector<Value> operands{storage.base, value};
  std::vector<tracing::Arg> args = argsOf(*box, operands);
  args.insert(args.begin(), {Operand{0}, Operand{1}});
  Shape shape = storage.base.shape();
  return node("millrace::window_write", std::move(operands), std::move(args), std::move(shape));
}

} // namespace millrace::torch_shim
