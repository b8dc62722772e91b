// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Selection.cpp - Operators whose results have a size that is a value -===//
// The device computes as much as there could be, and how much there is (tracing/emit/Selection.cpp). Reading that number cuts
// the graph; what follows has static shapes again. The beginning that counts is copied, without a program for each number. Nothing runs on the CPU.
#include "python/torch_xla/csrc/Devices.h"
#include "python/torch_xla/csrc/Selection.h"
#include "python/torch_xla/csrc/Shim.h"
#include "python/torch_xla/csrc/Trace.h"
#include "tracing/graph/Liveness.h"

#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <ATen/native/Resize.h>

namespace millrace::torch_shim {
namespace {

using runtime::DType;
using tracing::Arg;
using tracing::Operand;

std::vector<Tensor> nodes(const char *name, std::vector<Value> operands, std::vector<Arg> args, std::vector<Shape> results) {
  const tracing::Op *op = tracing::findOp(name);
  TORCH_INTERNAL_ASSERT(op, name);
  size_t count = results.size();
  Value made = tracing::record(op, std::move(operands), std::move(args), std::move(results));
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < count; ++i)
    tensors.push_back(wrap({made.node, uint32_t(i)}));
  return tensors;
}

Tensor onDevice(const Tensor &tensor) { return isXla(tensor) ? tensor : wrap(upload(tensor)); }

/// Larger coordinates of all elements there could be are not computed: those of the ones that there are have a program for each number.
constexpr int64_t kMostCoordinates = int64_t(1) << 24;

/// The values of `tensors`, which are computed together; in a function that is traced an error as for every value that is read.
std::vector<Value> computed(const std::vector<Tensor> &tensors) {
  tracing::Session &session = tracing::Session::get();
  noteStack();
  std::lock_guard lock(session.mutex);
  std::vector<Value> values;
  for (const Tensor &tensor : tensors)
    values.push_back(valueOf(tensor));
  if (std::any_of(values.begin(), values.end(), [](const Value &value) { return value.node->op || value.node->isParameter; }))
    abortCapture();
  refuseInTrace("a copy to the CPU");
  tracing::ForAValue kept;
  runtime::Status status = session.sync(values, tracing::Roots::Some);
  if (!status.ok())
    raise(status);
  return values;
}

/// The first `count` rows of a computed value.
Tensor beginning(const Value &value, int64_t count) {
  tracing::Session &session = tracing::Session::get();
  runtime::BufferPtr whole;
  {
    std::lock_guard lock(session.mutex);
    whole = valueOrRaise(session.buffer(value));
  }
  Shape shape = value.shape();
  shape.dims[0] = count;
  std::shared_ptr<runtime::Storage> memory = valueOrRaise(whole->acquire());
  return wrap(tracing::leaf(valueOrRaise(session.client()->bufferFromHost(memory->data(), whole->dtype(), shape.dims, {},
                                                                          runtime::HostSemantics::OnlyDuringCall, whole->memory())),
                            shape));
}

/// Of tensors with as many rows as there could be the first `count`.
std::vector<Tensor> beginnings(const std::vector<Tensor> &tensors, const Tensor &count) {
  std::vector<Tensor> made;
  if (tracing::Session::get().partitions()) { // parts of tensors have no beginning
    int64_t rows = count.item().toLong();
    for (const Tensor &tensor : tensors)
      made.push_back(tensor.narrow(0, 0, rows));
    return made;
  }
  std::vector<Tensor> all = tensors;
  all.push_back(count);
  std::vector<Value> values = computed(all);
  int64_t rows = count.item().toLong();
  for (size_t i = 0; i < tensors.size(); ++i)
    made.push_back(rows == tensors[i].size(0) ? tensors[i] : beginning(values[i], rows));
  return made;
}

/// The positions in the flat tensor of elements that are not zero, in front of as many as there are elements, and their number.
std::vector<Tensor> positionsAndCount(const Tensor &self) {
  return nodes("millrace::nonzero", {valueOf(self)}, {Operand{0}}, {{DType::I64, {self.numel()}}, {DType::I64, {}}});
}

Tensor coordinates(const Tensor &positions, at::IntArrayRef sizes) {
  return wrap(node("millrace::unravel", {valueOf(positions)}, {Operand{0}, sizes.vec()},
                   {DType::I64, {positions.size(0), int64_t(sizes.size())}}));
}

Tensor coordinatesOfNonzero(const Tensor &self) {
  std::vector<Tensor> found = positionsAndCount(self);
  if (self.numel() == 0 || self.dim() == 0 || self.numel() * self.dim() > kMostCoordinates)
    return coordinates(beginnings({found[0]}, found[1])[0], self.sizes());
  return beginnings({coordinates(found[0], self.sizes())}, found[1])[0];
}

Tensor maskedSelect(const Tensor &self, const Tensor &mask) {
  TORCH_CHECK(mask.scalar_type() == at::kBool, "masked_select: expected BoolTensor for mask");
  Tensor source = onDevice(self), marks = onDevice(mask);
  auto [values, flags] = at::expand_outplace(source, marks);
  return rowsOfMask(values->reshape(-1), flags->reshape(-1));
}

//===-- Equal elements and rows ---------------------------------------------===//

struct Groups {
  Tensor values;  ///< the first row of every group, in dim 0
  Tensor inverse; ///< group of every row
  Tensor counts;  ///< rows of every group
};

/// `rows` is [n, k], the rows of `source` for comparison. What is not wanted is not computed.
Groups groupsOf(const Tensor &rows, const Tensor &source, bool sorts, bool wantsInverse, bool wantsCounts) {
  int64_t n = rows.size(0);
  Shape each{DType::I64, {n}};
  std::vector<Tensor> made = nodes("millrace::groups", {valueOf(rows)}, {Operand{0}, sorts}, {each, each, each, {DType::I64, {}}});
  if (n == 0)
    return {source, made[1], made[2]};
  std::vector<Tensor> begin{source.index_select(0, made[0])};
  if (wantsCounts)
    begin.push_back(made[2]);
  Tensor inverse = wantsInverse ? made[1] : Tensor();
  begin = beginnings(begin, made[3]);
  return {begin[0], inverse, wantsCounts ? begin[1] : Tensor()};
}

using Three = std::tuple<Tensor, Tensor, Tensor>;

Tensor noNumbers(const Tensor &like) { return at::empty({0}, like.options().dtype(at::kLong)); }

Three uniqueValues(const Tensor &self, bool sorts, bool wantsInverse, bool wantsCounts) {
  Tensor flat = self.reshape(-1);
  Groups groups = groupsOf(flat.unsqueeze(-1), flat, sorts, wantsInverse, wantsCounts);
  return {groups.values, wantsInverse ? groups.inverse.view(self.sizes()) : noNumbers(self),
          wantsCounts ? groups.counts : noNumbers(self)};
}

/// Unsorted results are sorted too, as on the CPU.
Three unique(const Tensor &self, bool, bool wantsInverse, bool wantsCounts) {
  return uniqueValues(self, true, wantsInverse, wantsCounts);
}

std::tuple<Tensor, Tensor> uniqueWithInverse(const Tensor &self, bool, bool wantsInverse) {
  auto [values, inverse, counts] = uniqueValues(self, true, wantsInverse, false);
  return {values, inverse};
}

Three uniqueRows(const Tensor &self, int64_t dim, bool sorts, bool wantsInverse, bool wantsCounts, const char *name) {
  dim = at::maybe_wrap_dim(dim, self.dim());
  int64_t empty = 0;
  for (int64_t size : self.sizes())
    empty += size == 0;
  TORCH_CHECK(empty == 0 || (empty == 1 && self.size(dim) == 0), name,
              ": There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
  Tensor front = self.movedim(dim, 0);
  Groups groups = groupsOf(front.reshape({self.size(dim), empty ? 1 : self.numel() / self.size(dim)}), front, sorts, wantsInverse, wantsCounts);
  return {groups.values.movedim(0, dim).contiguous(), wantsInverse ? groups.inverse : noNumbers(self),
          wantsCounts ? groups.counts : noNumbers(self)};
}

Three uniqueOfDim(const Tensor &self, int64_t dim, bool, bool wantsInverse, bool wantsCounts) {
  dim = at::maybe_wrap_dim(dim, self.dim());
  if (self.size(dim) == 0)
    return {self.clone(), noNumbers(self), noNumbers(self)};
  return uniqueRows(self, dim, true, wantsInverse, wantsCounts, "unique_dim()");
}

Three uniqueConsecutive(const Tensor &self, bool wantsInverse, bool wantsCounts, std::optional<int64_t> dim) {
  if (!dim)
    return uniqueValues(self, false, wantsInverse, wantsCounts);
  return uniqueRows(self, *dim, false, wantsInverse, wantsCounts, "unique_consecutive()");
}

//===-- Counting ------------------------------------------------------------===//

Tensor countIntegers(const Tensor &self, const std::optional<Tensor> &weights, int64_t least) {
  TORCH_CHECK(least >= 0, "minlength should be >= 0");
  TORCH_CHECK(self.dim() == 1 && at::isIntegralType(self.scalar_type(), true), "bincount only supports 1-d non-negative integral inputs.");
  bool isWeighted = weights && weights->defined();
  TORCH_CHECK(!isWeighted || (weights->dim() == 1 && weights->size(0) == self.size(0)), "weights should be 1-d and have the same length as input");
  c10::ScalarType type = !isWeighted ? at::kLong : weights->scalar_type() == at::kFloat ? at::kFloat : at::kDouble;
  int64_t count = least;
  if (self.numel()) {
    Tensor both = at::stack({self.min().to(at::kLong), self.max().to(at::kLong)});
    Tensor ends = toCpu(both);
    TORCH_CHECK(ends[0].item().toLong() >= 0, "bincount only supports 1-d non-negative integral inputs.");
    count = std::max(count, ends[1].item().toLong() + 1);
  }
  std::vector<Value> operands = {valueOf(self)};
  std::vector<Arg> args = {Operand{0}};
  if (isWeighted) {
    operands.push_back(valueOf(onDevice(*weights)));
    args.push_back(Operand{1});
  }
  return wrap(node("millrace::count", std::move(operands), std::move(args), {dtypeOf(type), {count}}));
}

/// The elements of `self` with others in place of those that a view shows.
Tensor asStridedScatter(const Tensor &self, const Tensor &source, at::IntArrayRef sizes, at::IntArrayRef strides, std::optional<int64_t> offset) {
  Tensor made = self.clone();
  at::native::checkInBoundsForStorage(sizes, strides, offset.value_or(0), made.dtype(), made.storage());
  viewOf(made, sizes, strides, offset.value_or(0)).copy_(source);
  return made;
}

} // namespace

Tensor rowsOfMask(const Tensor &self, const Tensor &mask) {
  std::vector<int64_t> shape{mask.numel()};
  shape.insert(shape.end(), self.sizes().begin() + mask.dim(), self.sizes().end());
  Tensor rows = self.reshape(shape);
  if (mask.numel() == 0)
    return rows;
  std::vector<Tensor> found = positionsAndCount(mask);
  return beginnings({rows.index_select(0, found[0])}, found[1])[0];
}

std::vector<Tensor> positionsOf(const Tensor &mask) { return coordinatesOfNonzero(onDevice(mask)).unbind(1); }

TORCH_LIBRARY_IMPL(aten, XLA, m) {
  m.impl("nonzero", MILLRACE_KERNEL(coordinatesOfNonzero));
  m.impl("masked_select", MILLRACE_KERNEL(maskedSelect));
  m.impl("_unique", MILLRACE_KERNEL(uniqueWithInverse));
  m.impl("_unique2", MILLRACE_KERNEL(unique));
  m.impl("unique_dim", MILLRACE_KERNEL(uniqueOfDim));
  m.impl("unique_consecutive", MILLRACE_KERNEL(uniqueConsecutive));
  m.impl("bincount", MILLRACE_KERNEL(countIntegers));
  m.impl("as_strided_scatter", MILLRACE_KERNEL(asStridedScatter));
}

} // namespace millrace::torch_shim
