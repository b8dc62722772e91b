// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Movement.cpp - Views, copies, creation ------------------------------===//
// A view is a slice of a reshaped buffer: with strides s0 >= s1 >= ... that divide each other, the flat index of an element is a number with the
// digits (i0, i1, ...), so that the buffer is reshaped to a dim per digit and sliced. Steps along dims that they do not divide are slices with steps.
// Any other view (overlapping windows) is a gather.
#include "tracing/emit/Emit.h"

#include <algorithm>
#include <numeric>

namespace millrace::tracing {
namespace {

using Vals = std::vector<Val>;

/// The slice of the reshaped buffer that a view is.
struct Digits {
  bool fits = false;
  Ints extents;          ///< shape of the buffer: one digit per dim of `order`, and a last one for offsets below the smallest stride
  Ints start;            ///< start of the slice in each digit
  Ints order;            ///< dims of the view with more than one element and a stride, by descending stride
  Ints sizes;            ///< sizes of those dims
  int64_t padded = 0;    ///< elements of the reshaped buffer with padding, at least those of the buffer
};

Digits digitsOf(int64_t count, const Ints &sizes, const Ints &strides, int64_t offset) {
  Digits d;
  for (int64_t i = 0; i < int64_t(sizes.size()); ++i)
    if (sizes[i] != 1 && strides[i] != 0)
      d.order.push_back(i);
  std::stable_sort(d.order.begin(), d.order.end(), [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });
  int64_t rest = offset, previous = 0;
  for (size_t k = 0; k < d.order.size(); ++k) {
    int64_t stride = strides[d.order[k]], size = sizes[d.order[k]];
    if (k == 0)
      d.extents.push_back(std::max((count + stride - 1) / stride, offset / stride + size));
    else if (previous % stride)
      return d;
    else
      d.extents.push_back(previous / stride);
    d.start.push_back(rest / stride);
    d.sizes.push_back(size);
    rest %= stride;
    if (d.start.back() + size > d.extents.back())
      return d;
    previous = stride;
  }
  if (d.order.empty()) {
    d.extents = {count};
    d.start = {offset};
    d.sizes = {1};
  } else {
    d.extents.push_back(previous);
    d.start.push_back(rest);
    d.sizes.push_back(1);
  }
  d.padded = std::accumulate(d.extents.begin(), d.extents.end(), int64_t(1), std::multiplies<>());
  d.fits = true;
  return d;
}

/// A view with steps along the dims of its base, x[1:, ::2], which do not divide the dims.
struct Steps {
  bool fits = false;
  Ints start, limit, step; ///< per dim of the base
  Ints order;              ///< per dim of the base the view's dim, or -1
};

Steps stepsOf(const Ints &dims, const Ints &sizes, const Ints &strides, int64_t offset) {
  Steps s;
  const size_t rank = dims.size();
  Ints inner(rank, 1);
  for (size_t d = rank; d-- > 1;)
    inner[d - 1] = inner[d] * dims[d];
  s.order.assign(rank, -1);
  for (size_t d = 0; d < rank; ++d) {
    s.start.push_back(d ? offset / inner[d] % dims[d] : offset / inner[d]);
    s.limit.push_back(s.start[d] + 1);
    s.step.push_back(1);
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1 || strides[i] == 0)
      continue;
    size_t d = 0; // the outermost dim of the base with a step
    while (d < rank && (s.order[d] >= 0 || dims[d] == 1 || strides[i] % inner[d]))
      ++d;
    if (d == rank)
      return s;
    s.order[d] = int64_t(i);
    s.step[d] = strides[i] / inner[d];
    s.limit[d] = s.start[d] + (sizes[i] - 1) * s.step[d] + 1;
  }
  for (size_t d = 0; d < rank; ++d)
    if (s.limit[d] > dims[d])
      return s;
  s.fits = true;
  return s;
}

Val padTo(Emitter &e, const Val &flat, int64_t count) {
  if (!flat || flat.dim(0) == count)
    return flat;
  if (flat.dim(0) > count)
    return e.slice(flat, {0}, {count});
  return e.pad(flat, e.constant(int64_t(0), {flat.dtype(), {}}), {0}, {count - flat.dim(0)});
}

Ints plus(const Ints &a, const Ints &b) {
  Ints sum = a;
  for (size_t i = 0; i < sum.size(); ++i)
    sum[i] += b[i];
  return sum;
}

/// Computes the flat positions of the elements of a view, i64 of the view's shape.
Val positions(Emitter &e, const Ints &sizes, const Ints &strides, int64_t offset) {
  Shape shape{DType::I64, sizes};
  Val sum = e.constant(offset, shape);
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1 && strides[i] != 0)
      sum = e.add(sum, e.mul(e.iota(shape, int64_t(i)), e.constant(strides[i], shape)));
  return sum;
}

/// Returns the dims of a view whose elements are contiguous in some order of its dims, outermost first; nothing for another view. A gradient's place
/// in a bucket of DistributedDataParallel is such a view, at any offset.
std::optional<Ints> orderInMemory(const Ints &sizes, const Ints &strides) {
  Ints order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return (sizes[a] == 1) != (sizes[b] == 1) ? sizes[a] == 1 : sizes[a] != 1 && strides[a] > strides[b];
  });
  int64_t expected = 1;
  for (size_t k = order.size(); k-- > 0; expected *= sizes[order[k]])
    if (sizes[order[k]] != 1 && strides[order[k]] != expected)
      return std::nullopt;
  return order;
}

Ints permuted(const Ints &values, const Ints &order) {
  Ints made;
  for (int64_t i : order)
    made.push_back(values[i]);
  return made;
}

Ints inverse(const Ints &order) {
  Ints made(order.size());
  for (size_t k = 0; k < order.size(); ++k)
    made[order[k]] = int64_t(k);
  return made;
}

/// Arguments: base, sizes, strides, offset.
Vals stridedRead(const Call &c) {
  Emitter &e = c.e;
  Val base = c.val(0);
  Ints sizes = c.ints(1), strides = c.ints(2);
  int64_t offset = c.integer(3);
  if (!base)
    return {base};
  if (c.out().count() == 0)
    return {e.constant(int64_t(0), Shape{base.dtype(), sizes})};
  // Transposed and broadcast bases keep their dims, which contractions and fusion can use, unlike digits.
  if (offset == 0) {
    Ints contiguous(base.rank(), 1);
    for (int64_t i = base.rank() - 2; i >= 0; --i)
      contiguous[i] = contiguous[i + 1] * std::max<int64_t>(base.dims()[i + 1], 1);
    Ints permutation(base.rank());
    std::iota(permutation.begin(), permutation.end(), 0);
    if (int64_t(sizes.size()) == base.rank() && base.rank() <= 4) {
      do {
        bool same = true;
        for (size_t i = 0; i < sizes.size() && same; ++i)
          same = sizes[i] == base.dims()[permutation[i]] && (sizes[i] == 1 || strides[i] == contiguous[permutation[i]]);
        if (same)
          return {e.transpose(base, permutation)};
      } while (std::next_permutation(permutation.begin(), permutation.end()));
    }
  }
  int64_t count = base.shape.count();
  Digits d = digitsOf(count, sizes, strides, offset);
  Val flat = e.reshape(base, {count});
  if (Steps s; !d.fits && (s = stepsOf(base.dims(), sizes, strides, offset)).fits) {
    Ints kept, mapping; // the view's dims in the order of the base's dims, and their sizes
    for (int64_t i : s.order)
      if (i >= 0) {
        mapping.push_back(i);
        kept.push_back(sizes[i]);
      }
    Ints sorted(mapping.size());
    std::iota(sorted.begin(), sorted.end(), 0);
    std::sort(sorted.begin(), sorted.end(), [&](int64_t a, int64_t b) { return mapping[a] < mapping[b]; });
    std::sort(mapping.begin(), mapping.end());
    Val value = e.transpose(e.reshape(e.slice(base, s.start, s.limit, s.step), kept), sorted);
    return {e.broadcastInDim(value, sizes, mapping)};
  }
  if (std::optional<Ints> order = orderInMemory(sizes, strides); !d.fits && order) {
    Val run = e.sliceDim(flat, 0, offset, offset + c.out().count());
    return {e.transpose(e.reshape(run, permuted(sizes, *order)), inverse(*order))};
  }
  if (!d.fits) {
    Val index = e.reshape(positions(e, sizes, strides, offset), {c.out().count(), 1});
    Val taken = e.op("stablehlo.gather", {flat, index},
                     {{"dimension_numbers", "#stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>"},
                      {"slice_sizes", "array<i64: 1>"}},
                     Shape{flat.dtype(), {c.out().count()}});
    return {e.reshape(taken, sizes)};
  }
  Val window = e.slice(e.reshape(padTo(e, flat, d.padded), d.extents), d.start, plus(d.start, d.sizes));
  Ints kept = d.order.empty() ? Ints() : Ints(d.sizes.begin(), d.sizes.end() - 1);
  Val value = e.reshape(window, kept);
  // The slice is transposed to the order of the view's dims; dims of stride zero and of one element are broadcast.
  Ints sortedOrder(d.order.size());
  std::iota(sortedOrder.begin(), sortedOrder.end(), 0);
  std::sort(sortedOrder.begin(), sortedOrder.end(), [&](int64_t a, int64_t b) { return d.order[a] < d.order[b]; });
  value = e.transpose(value, sortedOrder);
  Ints mapping = d.order, broadcastDims = sizes;
  std::sort(mapping.begin(), mapping.end());
  bool expands = false;
  for (size_t i = 0; i < sizes.size(); ++i)
    expands |= sizes[i] != 1 && strides[i] == 0;
  return {expands ? e.broadcastInDim(value, sizes, mapping) : e.reshape(value, sizes)};
}

/// Arguments: base, source, sizes, strides, offset. Returns the base with the view's elements replaced by those of source.
Vals stridedWrite(const Call &c) {
  Emitter &e = c.e;
  Val base = c.val(0), source = c.val(1);
  Ints sizes = c.ints(2), strides = c.ints(3);
  int64_t offset = c.integer(4);
  if (!base || !source || source.shape.count() == 0)
    return {base};
  int64_t count = base.shape.count();
  Val flat = e.reshape(base, {count});
  Digits d = digitsOf(count, sizes, strides, offset);
  bool repeats = false;
  for (size_t i = 0; i < sizes.size(); ++i)
    repeats |= sizes[i] != 1 && strides[i] == 0;
  if (repeats)
    return {e.fail("writing to a view whose elements alias each other is not supported")};
  if (Steps s; !d.fits && (s = stepsOf(base.dims(), sizes, strides, offset)).fits) {
    Ints permutation, window, low, high, interior;
    for (size_t k = 0; k < s.order.size(); ++k) {
      int64_t i = s.order[k];
      if (i >= 0)
        permutation.push_back(i);
      window.push_back(i >= 0 ? sizes[i] : 1);
      low.push_back(s.start[k]);
      high.push_back(base.dims()[k] - s.limit[k]);
      interior.push_back(s.step[k] - 1);
    }
    for (int64_t i = 0; i < int64_t(sizes.size()); ++i)
      if (std::find(s.order.begin(), s.order.end(), i) == s.order.end())
        permutation.push_back(i);
    Val update = e.reshape(e.transpose(source, permutation), window);
    Shape bit{DType::I1, {}};
    Val mask = e.pad(e.constant(int64_t(1), {DType::I1, window}), e.constant(int64_t(0), bit), low, high, interior);
    Val spread = e.pad(update, e.constant(int64_t(0), {base.dtype(), {}}), low, high, interior);
    return {e.select(mask, spread, base)};
  }
  if (std::optional<Ints> order = orderInMemory(sizes, strides); !d.fits && order) {
    Val run = e.reshape(e.transpose(source, *order), {source.shape.count()});
    Val made = e.op("stablehlo.dynamic_update_slice", {flat, run, e.constant(offset, {DType::I64, {}})});
    return {e.reshape(made, base.dims())};
  }
  if (!d.fits) {
    int64_t n = source.shape.count();
    Val index = e.reshape(positions(e, sizes, strides, offset), {n, 1});
    Shape scalar{base.dtype(), {}};
    Val made = e.ops("stablehlo.scatter", {flat, index, e.reshape(source, {n})},
                     {{"scatter_dimension_numbers", "#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>"},
                      {"unique_indices", "true"}},
                     {flat.shape}, {scalar, scalar}, [](const Vals &in) { return Vals{in[1]}; })[0];
    return {e.reshape(made, base.dims())};
  }
  Ints permutation = d.order;
  for (int64_t i = 0; i < int64_t(sizes.size()); ++i)
    if (std::find(d.order.begin(), d.order.end(), i) == d.order.end())
      permutation.push_back(i);
  Val update = e.reshape(e.transpose(source, permutation), d.sizes);
  Val digits = e.reshape(padTo(e, flat, d.padded), d.extents);
  if (d.sizes == d.extents) {
    digits = update;
  } else {
    Vals operands = {digits, update};
    for (int64_t start : d.start)
      operands.push_back(e.constant(start, {DType::I64, {}}));
    digits = e.op("stablehlo.dynamic_update_slice", operands);
  }
  return {e.reshape(padTo(e, e.reshape(digits, {d.padded}), count), base.dims())};
}

Vals cat(const Call &c) {
  Vals values;
  for (const std::optional<Val> &value : c.vals(0))
    if (value && !(value->dims() == Ints{0} && c.out().dims.size() != 1))
      values.push_back(c.e.convert(*value, c.out().dtype));
  int64_t dim = c.integer(1);
  if (values.empty())
    return {c.e.constant(int64_t(0), c.out())};
  return {c.e.concatenate(values, dim < 0 ? dim + int64_t(c.out().dims.size()) : dim)};
}

Vals constantPad(const Call &c) {
  Emitter &e = c.e;
  Val x = c.val(0);
  Ints pads = c.ints(1), low(x.rank(), 0), high(x.rank(), 0);
  for (size_t i = 0; i * 2 < pads.size(); ++i) {
    low[x.rank() - 1 - i] = pads[2 * i];
    high[x.rank() - 1 - i] = pads[2 * i + 1];
  }
  Val with = c.has(2) ? e.convert(c.val(2), x.dtype()) : e.constant(int64_t(0), {x.dtype(), {}});
  return {e.pad(x, with, low, high)};
}

Vals arange(const Call &c) {
  // millrace::arange(start, step): the length is that of the result.
  DType type = c.out().dtype, math = mathType(type);
  bool isInt = runtime::isInteger(type);
  Shape shape{isInt ? type : math == DType::F32 ? DType::F64 : math, c.out().dims};
  Val start = c.e.broadcast(c.e.convert(c.val(0), shape.dtype), shape.dims), step = c.e.broadcast(c.e.convert(c.val(1), shape.dtype), shape.dims);
  return {c.e.convert(c.e.add(start, c.e.mul(c.e.iota(shape, 0), step)), type)};
}

Vals triangle(const Call &c, bool lower) {
  Emitter &e = c.e;
  Val x = c.val(0);
  int64_t diagonal = c.integer(1);
  Shape index{DType::I64, {x.dim(-2), x.dim(-1)}};
  Val row = e.add(e.iota(index, 0), e.constant(diagonal, index)), column = e.iota(index, 1);
  Val keep = e.compare(column, row, lower ? "LE" : "GE");
  return {e.select(e.broadcast(keep, x.dims()), x, e.constant(int64_t(0), x.shape))};
}

Vals bitcast(const Call &c) {
  Val x = c.val(0);
  if (x.dtype() == c.out().dtype)
    return {c.e.reshape(x, c.out().dims)};
  bool fromComplex = runtime::isComplex(x.dtype()), toComplex = runtime::isComplex(c.out().dtype);
  if (fromComplex != toComplex) { // real and imaginary parts alternate
    Emitter &e = c.e;
    int64_t n = fromComplex ? x.shape.count() : x.shape.count() / 2;
    if (fromComplex) {
      Val flat = e.reshape(x, {n, 1});
      return {e.reshape(e.concatenate({e.op("stablehlo.real", {flat}), e.op("stablehlo.imag", {flat})}, 1), c.out().dims)};
    }
    Val pairs = e.reshape(x, {n, 2});
    Val parts[2] = {e.sliceDim(pairs, 1, 0, 1), e.sliceDim(pairs, 1, 1, 2)};
    return {e.reshape(e.op("stablehlo.complex", {parts[0], parts[1]}), c.out().dims)};
  }
  int64_t from = int64_t(runtime::byteSize(x.dtype())), to = int64_t(runtime::byteSize(c.out().dtype));
  Val flat = c.e.reshape(x, {x.shape.count()});
  if (from == to)
    flat = c.e.op("stablehlo.bitcast_convert", {flat}, {}, Shape{c.out().dtype, flat.dims()});
  else if (from > to)
    flat = c.e.op("stablehlo.bitcast_convert", {flat}, {}, Shape{c.out().dtype, {x.shape.count(), from / to}});
  else
    flat = c.e.op("stablehlo.bitcast_convert", {c.e.reshape(flat, {x.shape.count() * from / to, to / from})}, {},
                  Shape{c.out().dtype, {x.shape.count() * from / to}});
  return {c.e.reshape(flat, c.out().dims)};
}

/// A contiguous window of a flat array as a slice of several dims, at an offset that is known at run time. The arguments from `first` on are the
/// starts, the dims that they belong to (other dims start at 0), the extents of all dims, those of the window, and the view's dims in their order in
/// memory.
struct Window {
  Vals starts;
  Ints extents, sizes, order;
  Window(const Call &c, size_t first) : extents(c.ints(first + 2)), sizes(c.ints(first + 3)), order(c.ints(first + 4)) {
    starts.assign(extents.size(), c.e.constant(int64_t(0), {DType::I64, {}}));
    std::vector<std::optional<Val>> numbers = c.vals(first);
    Ints dims = c.ints(first + 1);
    for (size_t i = 0; i < dims.size(); ++i)
      starts[dims[i]] = c.e.convert(*numbers[i], DType::I64);
  }
  Vals with(Vals operands) const {
    operands.insert(operands.end(), starts.begin(), starts.end());
    return operands;
  }
  /// Returns the permutation from the order in memory to the order of the view.
  Ints toView() const {
    Ints permutation(order.size());
    std::iota(permutation.begin(), permutation.end(), 0);
    std::sort(permutation.begin(), permutation.end(), [&](int64_t a, int64_t b) { return order[a] < order[b]; });
    return permutation;
  }
  Ints inMemory(const Ints &view) const {
    Ints made;
    for (int64_t dim : order)
      made.push_back(view[dim]);
    return made;
  }
};

Vals windowRead(const Call &c) {
  Window window(c, 1);
  Val base = c.e.reshape(c.val(0), window.extents);
  Val read = c.e.op("stablehlo.dynamic_slice", window.with({base}), {{"slice_sizes", arrayText(window.sizes)}},
                    Shape{base.dtype(), window.sizes});
  Val view = c.e.transpose(c.e.reshape(read, window.inMemory(c.out().dims)), window.toView());
  return {c.e.reshape(view, c.out().dims)};
}

Vals windowWrite(const Call &c) {
  Window window(c, 2);
  Val base = c.e.reshape(c.val(0), window.extents), value = c.val(1);
  Ints dims = window.inMemory(value.dims()), sorted = window.order, toMemory;
  std::sort(sorted.begin(), sorted.end());
  Ints inView;
  for (int64_t dim : sorted)
    inView.push_back(value.dim(dim));
  for (int64_t dim : window.order)
    toMemory.push_back(std::find(sorted.begin(), sorted.end(), dim) - sorted.begin());
  Val memory = c.e.transpose(c.e.reshape(value, inView), toMemory);
  Val written = c.e.op("stablehlo.dynamic_update_slice", window.with({base, c.e.reshape(memory, window.sizes)}), {}, base.shape);
  return {c.e.reshape(written, c.out().dims)};
}

} // namespace

void registerMovement(Registry &r) {
  r.add({"millrace::strided_read"}, stridedRead);
  r.add({"millrace::strided_write"}, stridedWrite);
  r.add({"millrace::window_read"}, windowRead);
  r.add({"millrace::window_write"}, windowWrite);
  r.add({"millrace::bitcast"}, bitcast);
  r.add({"millrace::reshape"}, [](const Call &c) -> Vals { return {c.e.reshape(c.val(0), c.out().dims)}; });
  r.add({"millrace::expand"}, [](const Call &c) -> Vals {
    return {c.e.broadcast(c.e.convert(c.val(0), c.out().dtype), c.out().dims)};
  });
  r.add({"millrace::arange"}, arange, /*numbersAreStatic=*/true);
  r.add({"millrace::zero"}, [](const Call &c) -> Vals { return {c.e.constant(int64_t(0), c.out())}; });
  r.add({"millrace::one"}, [](const Call &c) -> Vals { return {c.e.constant(int64_t(1), c.out())}; });
  r.add({"cat"}, cat);
  r.add({"constant_pad_nd"}, constantPad);
  r.add({"tril"}, [](const Call &c) { return triangle(c, true); });
  r.add({"triu"}, [](const Call &c) { return triangle(c, false); });
  r.add({"flip"}, [](const Call &c) -> Vals {
    Val x = c.val(0);
    Ints dims = c.ints(1);
    for (int64_t &dim : dims)
      dim = dim < 0 ? dim + x.rank() : dim;
    std::sort(dims.begin(), dims.end());
    return {dims.empty() ? x : c.e.op("stablehlo.reverse", {x}, {{"dimensions", arrayText(dims)}})};
  });
}

} // namespace millrace::tracing
