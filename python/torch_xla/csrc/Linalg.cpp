// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Linalg.cpp - Operators of torch.linalg that consist of others -------===//
// PyTorch's derivatives of det and slogdet expect the factors of the transposed matrix where the matrix is contiguous
// and real. Only here the strides are known that decide about it; emissions see values.
#include "python/torch_xla/csrc/Devices.h"
#include "python/torch_xla/csrc/Shim.h"
#include "python/torch_xla/csrc/TorchVersions.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

namespace millrace::torch_shim {
namespace {

bool factorsTransposed(const Tensor &a) { return a.is_contiguous() && !a.is_complex(); }

/// A tensor of the same sizes and type without values, for PyTorch's own checks.
Tensor without(const Tensor &like, c10::DeviceType device) {
  return at::zeros(like.sizes(), at::TensorOptions().dtype(like.scalar_type()).device(device));
}

/// b is one vector (per matrix), not a matrix.
bool isVector(const Tensor &a, const Tensor &b) {
  return b.dim() == 1 || (a.dim() - 1 == b.dim() && b.sizes() == a.sizes().slice(0, a.dim() - 1));
}

std::tuple<Tensor, Tensor, Tensor, Tensor> solve(const Tensor &a, const Tensor &b, bool left, bool checkErrors) {
  at::_linalg_solve_ex(without(a, c10::kMeta), without(b, c10::kMeta), left, false);
  auto [factors, pivots, info] = at::linalg_lu_factor_ex(a, true, false);
  if (checkErrors)
    at::_linalg_check_errors(info, "torch.linalg.solve_ex", a.dim() == 2);
  bool vector = isVector(a, b);
  Tensor x = at::linalg_lu_solve(factors, pivots, vector ? b.unsqueeze(-1) : b, left, false);
  return {vector ? x.squeeze(-1) : x, factors, pivots, info};
}

/// 1 or -1 per matrix: whether the row exchanges are even.
Tensor signOf(const Tensor &pivots, c10::ScalarType type) {
  Tensor untouched = at::arange(1, pivots.size(-1) + 1, pivots.options());
  Tensor odd = pivots.ne(untouched).sum(-1, false, at::kLong).remainder(2);
  return (1 - odd * 2).to(type);
}

std::tuple<Tensor, Tensor, Tensor> det(const Tensor &a) {
  at::_linalg_det(without(a, c10::kMeta));
  auto [factors, pivots, info] = at::linalg_lu_factor_ex(factorsTransposed(a) ? a.mT() : a, true, false);
  Tensor result = factors.diagonal(0, -2, -1).prod(-1) * signOf(pivots, a.scalar_type());
  return {result, factors, pivots};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> slogdet(const Tensor &a) {
  at::_linalg_slogdet(without(a, c10::kMeta));
  auto [factors, pivots, info] = at::linalg_lu_factor_ex(factorsTransposed(a) ? a.mT() : a, true, false);
  Tensor diagonal = factors.diagonal(0, -2, -1);
  Tensor sign = diagonal.sgn().prod(-1) * signOf(pivots, a.scalar_type());
  return {sign, diagonal.abs().log().sum(-1), factors, pivots};
}

#if MILLRACE_TORCH_HAS_OLD_FACTORS
Tensor cholesky(const Tensor &a, bool upper) {
  at::cholesky(without(a, c10::kMeta), upper);
  if (!a.numel())
    return at::empty_like(a);
  auto [factor, info] = at::linalg_cholesky_ex(a, upper, false);
  at::_linalg_check_errors(info, "cholesky", a.dim() == 2);
  return factor;
}
#endif

/// By singular values, whatever the driver: they all give the solution of least norm (gels: of matrices of full rank).
std::tuple<Tensor, Tensor, Tensor, Tensor> lstsq(const Tensor &a, const Tensor &b, std::optional<double> rcond,
                                                 std::optional<std::string_view> driver) {
  at::linalg_lstsq(without(a, c10::kCPU), without(b, c10::kCPU), rcond, driver);
  std::string name(driver.value_or("gelsy"));
  int64_t m = a.size(-2), n = a.size(-1);
  bool vector = isVector(a, b);
  Tensor right = vector ? b.unsqueeze(-1) : b;
  double limit = rcond.value_or((c10::toRealValueType(a.scalar_type()) == at::kDouble ? 0x1p-52 : 0x1p-23) * double(std::max(m, n)));
  auto [u, s, vh] = at::_linalg_svd(a, false, true, std::nullopt);
  Tensor keep = s.numel() ? s.gt(s.amax(-1, true) * limit) : s.gt(0);
  Tensor inverse = at::where(keep, s.reciprocal(), 0.0).unsqueeze(-1);
  Tensor x = at::matmul(vh.mH(), at::matmul(u.mH(), right) * inverse);
  Tensor rank = keep.sum(-1, false, at::kLong);
  bool hasResiduals = m > n && name != "gelsy";
  if (hasResiduals && (name == "gelss" || name == "gelsd")) // none if a matrix is not of full rank: cuts the graph
    hasResiduals = rank.eq(n).all().item().toBool();
  Tensor none = at::empty({0}, s.options());
  Tensor residuals = none;
  if (hasResiduals) {
    Tensor rest = (right - at::matmul(a, x)).abs();
    residuals = (rest * rest).sum(-2);
    if (vector)
      residuals = residuals.squeeze(-1);
  }
  return {vector ? x.squeeze(-1) : x, residuals, name == "gels" ? at::empty({0}, rank.options()) : rank,
          name == "gelss" || name == "gelsd" ? s : none};
}

Tensor pseudoInverse(const Tensor &a, const std::optional<Tensor> &atol, const std::optional<Tensor> &rtol, bool hermitian) {
  at::linalg_pinv(without(a, c10::kCPU), std::optional<double>(), std::optional<double>(), hermitian); // for its errors
  int64_t m = a.size(-2), n = a.size(-1);
  if (!a.numel()) {
    std::vector<int64_t> sizes = a.sizes().vec();
    std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
    return at::empty(sizes, a.options());
  }
  at::TensorOptions real = a.options().dtype(c10::toRealValueType(a.scalar_type()));
  Tensor absolute = atol ? *atol : at::zeros({}, real), relative;
  double usual = (real.dtype() == at::kDouble ? 0x1p-52 : 0x1p-23) * double(std::max(m, n));
  if (rtol)
    relative = *rtol;
  else if (atol)
    relative = at::where(absolute.gt(0), 0.0, usual);
  else
    relative = at::full({}, usual, real);
  auto inverted = [&](const Tensor &values) {
    Tensor size = values.abs(), limit = at::maximum(absolute.unsqueeze(-1), relative.unsqueeze(-1) * size.amax(-1, true));
    return at::where(size.gt(limit), values.reciprocal(), 0.0).to(a.scalar_type()).unsqueeze(-2);
  };
  if (hermitian) {
    auto [values, vectors] = at::_linalg_eigh(a, "L", true);
    return at::matmul(vectors * inverted(values), vectors.mH());
  }
  auto [u, s, vh] = at::_linalg_svd(a, false, true, std::nullopt);
  return at::matmul(vh.mH() * inverted(s), u.mH());
}

} // namespace

TORCH_LIBRARY_IMPL(aten, XLA, m) {
  m.impl("_linalg_solve_ex", MILLRACE_KERNEL(solve));
  m.impl("_linalg_det", MILLRACE_KERNEL(det));
  m.impl("_linalg_slogdet", MILLRACE_KERNEL(slogdet));
#if MILLRACE_TORCH_HAS_OLD_FACTORS
  m.impl("cholesky", MILLRACE_KERNEL(cholesky));
#endif
  m.impl("linalg_lstsq", MILLRACE_KERNEL(lstsq));
  m.impl("linalg_pinv.atol_rtol_tensor", MILLRACE_KERNEL(pseudoInverse));
}

} // namespace millrace::torch_shim
