// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Gathers.cpp - Gathers and scatters that other families use ----------===//
#include "tracing/emit/Families.h"

namespace millrace::tracing {
namespace {

std::string listText(const char *name, const Ints &values) {
  std::string text = std::string(name) + " = [";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

} // namespace

Val gatherAt(Emitter &e, const Val &x, const Val &index, int64_t count) {
  if (!x || !index)
    return {};
  int64_t batch = index.rank() - 1;
  Ints sizes = x.dims(), dims(index.dims().begin(), index.dims().end() - 1);
  std::fill(sizes.begin(), sizes.begin() + count, 1);
  dims.insert(dims.end(), x.dims().begin() + count, x.dims().end());
  if (Shape{x.dtype(), dims}.count() == 0 || x.shape.count() == 0)
    return zeros(e, {x.dtype(), dims});
  std::string numbers = "#stablehlo.gather<" + listText("offset_dims", countFrom(batch, int64_t(dims.size()))) + ", " +
                        listText("collapsed_slice_dims", countFrom(0, count)) + ", " +
                        listText("start_index_map", countFrom(0, count)) + ", index_vector_dim = " + std::to_string(batch) + ">";
  return e.op("stablehlo.gather", {x, index}, {{"dimension_numbers", numbers}, {"slice_sizes", arrayText(sizes)}},
              Shape{x.dtype(), dims});
}

Val scatterAt(Emitter &e, const Val &x, const Val &index, const Val &updates, int64_t count, const std::string &combine,
              bool isUnique) {
  if (!x || !index || !updates)
    return {};
  if (updates.shape.count() == 0)
    return x;
  int64_t batch = index.rank() - 1;
  std::string numbers = "#stablehlo.scatter<" + listText("update_window_dims", countFrom(batch, updates.rank())) + ", " +
                        listText("inserted_window_dims", countFrom(0, count)) + ", " +
                        listText("scatter_dims_to_operand_dims", countFrom(0, count)) + ", index_vector_dim = " + std::to_string(batch) + ">";
  Shape scalar{x.dtype(), {}};
  return e.ops("stablehlo.scatter", {x, index, updates},
               {{"scatter_dimension_numbers", numbers}, {"unique_indices", isUnique ? "true" : "false"}}, {x.shape},
               {scalar, scalar},
               [&](const Vals &in) { return combine.empty() ? Vals{in[1]} : Vals{e.op(combine, in, {}, scalar)}; })[0];
}

Val takeAlong(Emitter &e, const Val &x, const Val &index, int64_t dim) {
  if (!x || !index)
    return {};
  Ints sizes = x.dims(), dims(x.dims().begin(), x.dims().begin() + dim), offset = countFrom(0, dim);
  sizes[dim] = 1;
  dims.insert(dims.end(), index.dims().begin(), index.dims().end());
  for (int64_t i = dim + 1; i < x.rank(); ++i) {
    offset.push_back(int64_t(dims.size()));
    dims.push_back(x.dims()[i]);
  }
  if (Shape{x.dtype(), dims}.count() == 0 || x.shape.count() == 0)
    return zeros(e, {x.dtype(), dims});
  std::string numbers = "#stablehlo.gather<" + listText("offset_dims", offset) + ", " +
                        listText("collapsed_slice_dims", {dim}) + ", " + listText("start_index_map", {dim}) +
                        ", index_vector_dim = " + std::to_string(index.rank()) + ">";
  return e.op("stablehlo.gather", {x, index}, {{"dimension_numbers", numbers}, {"slice_sizes", arrayText(sizes)}},
              Shape{x.dtype(), dims});
}

} // namespace millrace::tracing
