// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SparseProduct.cpp - Sparse matrix times dense matrix or vector ------===//
#include "runtime/kernels/SparseProduct.h"

#include <complex>

namespace millrace::runtime {
namespace {

template <typename T, typename Index>
Status multiply(const CustomCall &call) {
  const TensorView &values = call.arguments[0], &dense = call.arguments[3], &out = call.results[0];
  const auto *elements = static_cast<const T *>(values.data);
  const auto *starts = static_cast<const Index *>(call.arguments[1].data);
  const auto *columns = static_cast<const Index *>(call.arguments[2].data);
  const auto *from = static_cast<const T *>(dense.data);
  auto *to = static_cast<T *>(out.data);
  int64_t rows = out.dims[0], inner = dense.dims[0], width = dense.dims.size() == 2 ? dense.dims[1] : 1;
  int64_t count = values.dims[0];
  for (int64_t row = 0; row < rows; ++row) {
    T *line = to + row * width;
    std::fill_n(line, width, T(0));
    int64_t begin = starts[row], end = starts[row + 1];
    // JAX pads with elements behind the end of the last row. The elements between two starts belong to one row.
    if (begin < 0 || end > count || begin > end)
      return invalidArgument("row " + std::to_string(row) + " has the elements from " + std::to_string(begin) + " to " +
                             std::to_string(end) + ", but there are " + std::to_string(count));
    for (int64_t e = begin; e < end; ++e) {
      int64_t column = columns[e];
      if (column < 0 || column >= inner)
        return invalidArgument("element " + std::to_string(e) + " is in column " + std::to_string(column) +
                               ", but there are " + std::to_string(inner));
      for (int64_t k = 0; k < width; ++k)
        line[k] += elements[e] * from[column * width + k];
    }
  }
  return Status();
}

template <typename Index>
Status multiplyOf(const CustomCall &call) {
  switch (call.arguments[0].dtype) {
  case DType::F32: return multiply<float, Index>(call);
  case DType::F64: return multiply<double, Index>(call);
  case DType::C64: return multiply<std::complex<float>, Index>(call);
  case DType::C128: return multiply<std::complex<double>, Index>(call);
  case DType::I8: return multiply<int8_t, Index>(call);
  case DType::I16: return multiply<int16_t, Index>(call);
  case DType::I32: return multiply<int32_t, Index>(call);
  case DType::I64: return multiply<int64_t, Index>(call);
  case DType::U8: return multiply<uint8_t, Index>(call);
  case DType::U16: return multiply<uint16_t, Index>(call);
  case DType::U32: return multiply<uint32_t, Index>(call);
  case DType::U64: return multiply<uint64_t, Index>(call);
  default: break;
  }
  return unimplemented("sparse products of " + std::string(name(call.arguments[0].dtype)));
}

} // namespace

Status sparseProduct(const CustomCall &call) {
  if (call.arguments.size() != 4 || call.results.size() != 1)
    return invalidArgument("expects 4 operands and 1 result, but got " + std::to_string(call.arguments.size()) +
                           " and " + std::to_string(call.results.size()));
  const TensorView &values = call.arguments[0], &starts = call.arguments[1], &columns = call.arguments[2],
                   &dense = call.arguments[3], &out = call.results[0];
  size_t rank = dense.dims.size();
  bool fits = values.dims.size() == 1 && starts.dims.size() == 1 && columns.dims == values.dims && (rank == 1 || rank == 2) &&
              out.dims.size() == rank && starts.dims[0] == out.dims[0] + 1 && (rank == 1 || out.dims[1] == dense.dims[1]) &&
              dense.dtype == values.dtype && out.dtype == values.dtype && starts.dtype == columns.dtype;
  if (!fits)
    return invalidArgument("expects values [e], row starts [m + 1], columns [e] and dense [n] or [n, k] with a result of "
                           "[m] or [m, k], all of matching types");
  if (starts.dtype == DType::I32)
    return multiplyOf<int32_t>(call);
  if (starts.dtype == DType::I64)
    return multiplyOf<int64_t>(call);
  return unimplemented("indices of type " + std::string(name(starts.dtype)));
}

} // namespace millrace::runtime
