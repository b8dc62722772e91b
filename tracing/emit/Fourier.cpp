// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Fourier.cpp - Fourier transforms ------------------------------------===//
// One stablehlo.fft per dim. The inverse stablehlo.fft divides by the length; PyTorch's divides by what the normalization argument says.
#include "tracing/emit/Emit.h"

#include <cmath>
#include <numeric>

namespace millrace::tracing {
namespace {

using Vals = std::vector<Val>;

/// Transforms one dim. `type` is FFT, IFFT, RFFT or IRFFT; `length` is that of the real side.
Val transform(Emitter &e, const Val &x, int64_t dim, const std::string &type, int64_t length, DType result) {
  if (!x)
    return x;
  Ints order(x.rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[dim], order.back()); // the permutation is its own inverse
  Val last = e.transpose(x, order);
  Ints dims = last.dims();
  if (type == "RFFT")
    dims.back() = length / 2 + 1;
  if (type == "IRFFT") {
    dims.back() = length;
    last = e.sliceDim(last, last.rank() - 1, 0, length / 2 + 1);
  }
  Val made = e.op("stablehlo.fft", {last}, {{"fft_type", "#stablehlo<fft_type " + type + ">"}, {"fft_length", arrayText({length})}},
                  Shape{result, dims});
  return e.transpose(made, order);
}

/// Multiplies by the factor of the normalization (mode 0: 1, 1: 1 / sqrt(n), 2: 1 / n) and by `undo`, the divisor of the inverse transforms.
Val normalized(Emitter &e, const Val &x, int64_t mode, double n, double undo) {
  double factor = (mode == 2 ? 1 / n : mode == 1 ? 1 / std::sqrt(n) : 1) * undo;
  return !x || factor == 1 ? x : e.mul(x, e.like(x, factor));
}

Ints dimsOf(const Call &c, const Val &x) {
  Ints dims = c.ints(1);
  for (int64_t &dim : dims)
    dim = dim < 0 ? dim + x.rank() : dim;
  return dims;
}

/// Arguments: self, dim, normalization, forward.
Vals complexToComplex(const Call &c) {
  Val x = c.val(0);
  bool isForward = c.flag(3);
  double n = 1;
  for (int64_t dim : dimsOf(c, x)) {
    n *= double(x.dims()[dim]);
    x = transform(c.e, x, dim, isForward ? "FFT" : "IFFT", x.dims()[dim], x.dtype());
  }
  return {normalized(c.e, x, c.integer(2), n, isForward ? 1 : n)};
}

/// Arguments: self, dim, normalization, onesided.
Vals realToComplex(const Call &c) {
  Val x = c.val(0);
  Ints dims = dimsOf(c, x);
  double n = 1;
  for (int64_t dim : dims)
    n *= double(x.dims()[dim]);
  if (c.flag(3))
    x = transform(c.e, x, dims.back(), "RFFT", x.dims()[dims.back()], c.out().dtype);
  else // the two-sided spectrum
    x = transform(c.e, c.e.convert(x, c.out().dtype), dims.back(), "FFT", x.dims()[dims.back()], c.out().dtype);
  for (size_t i = 0; i + 1 < dims.size(); ++i)
    x = transform(c.e, x, dims[i], "FFT", x.dims()[dims[i]], c.out().dtype);
  return {normalized(c.e, x, c.integer(2), n, 1)};
}

/// Arguments: self, dim, normalization, last_dim_size.
Vals complexToReal(const Call &c) {
  Val x = c.val(0);
  Ints dims = dimsOf(c, x);
  double n = double(c.integer(3));
  for (size_t i = 0; i + 1 < dims.size(); ++i) {
    n *= double(x.dims()[dims[i]]);
    x = transform(c.e, x, dims[i], "IFFT", x.dims()[dims[i]], x.dtype());
  }
  x = transform(c.e, x, dims.back(), "IRFFT", c.integer(3), c.out().dtype);
  return {normalized(c.e, x, c.integer(2), n, n)};
}

} // namespace

void registerFourier(Registry &r) {
  r.add({"_fft_c2c"}, complexToComplex);
  r.add({"_fft_r2c"}, realToComplex);
  r.add({"_fft_c2r"}, complexToReal);
}

} // namespace millrace::tracing
