// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Refusals.cpp - Numbers that PyTorch's kernels refuse -----------------===//
#include "python/torch_xla/csrc/Refusals.h"

#include <ATen/core/Tensor.h>
#include <ATen/native/TypeProperties.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

namespace millrace::torch_shim {
namespace {

using Args = c10::ArrayRef<c10::IValue>;

/// A number, or a tensor of the CPU without dims, whose value the host knows.
std::optional<at::Scalar> known(const c10::IValue &value) {
  if (value.isScalar())
    return value.toScalar();
  if (value.isTensor() && value.toTensor().defined() && value.toTensor().is_cpu() && value.toTensor().dim() == 0)
    return value.toTensor().item();
  return std::nullopt;
}

/// The type in which the operator computes with the first two arguments.
c10::ScalarType typeOf(Args args) {
  at::native::ResultTypeState state;
  for (const c10::IValue &value : args.slice(0, 2)) {
    if (value.isTensor())
      state = at::native::update_result_type_state(value.toTensor(), state);
    else
      state = at::native::update_result_type_state(value.toScalar(), state);
  }
  return at::native::result_type(state);
}

bool isInteger(const c10::IValue &tensor) { return c10::isIntegralType(tensor.toTensor().scalar_type(), true); }

/// Integers have no reciprocal.
bool power(Args args) {
  std::optional<at::Scalar> exponent = known(args[1]);
  return exponent && exponent->isIntegral(true) && exponent->toLong() < 0 && isInteger(args[0]);
}

/// A division of integers by zero.
bool division(Args args) {
  std::optional<at::Scalar> divisor = known(args[1]);
  return divisor && divisor->isIntegral(true) && divisor->toLong() == 0 && c10::isIntegralType(typeOf(args), true);
}
/// The same for a rounding mode; without one, integers are divided as floats.
bool roundingDivision(Args args) { return !args[2].isNone() && division(args); }

/// Numbers that integers have no room for: NaN, infinity.
bool factors(Args args) {
  return isInteger(args[0]) && std::any_of(args.begin(), args.end(), [](const c10::IValue &value) {
           return value.isDouble() && !(std::abs(value.toDouble()) < 0x1p63);
         });
}

/// input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
bool convolution(Args args) {
  if (!args[6].toBool())
    return false;
  std::vector<int64_t> outer = args[7].toIntVector(), stride = args[3].toIntVector(), dilation = args[5].toIntVector();
  for (size_t i = 0; i < outer.size(); ++i)
    if (outer[i] < 0 || outer[i] >= std::max(stride[i % stride.size()], dilation[i % dilation.size()]))
      return true;
  return false;
}

/// input, weight, bias, N, C, HxW, group
bool groups(Args args) {
  const at::Tensor &input = args[0].toTensor();
  const int64_t n = args[3].toInt(), c = args[4].toInt(), area = args[5].toInt(), group = args[6].toInt();
  if (n < 0 || c < 0 || area < 0 || group <= 0 || n * c * area != input.numel() || c % group)
    return true;
  for (const c10::IValue &value : args.slice(1, 2))
    if (value.isTensor() && value.toTensor().defined() && value.toTensor().numel() != c)
      return true;
  return false;
}

/// A dim of a tensor without dims.
bool cumulativeDim(Args args) {
  return args[0].toTensor().dim() == 0 && (args[1].toInt() < -1 || args[1].toInt() > 0);
}

/// self, src, dim, index
bool selectedIndex(Args args) {
  const at::Tensor &self = args[0].toTensor();
  const int64_t dim = args[2].toInt() < 0 ? args[2].toInt() + self.dim() : args[2].toInt(), index = args[3].toInt();
  return dim >= 0 && dim < self.dim() && (index < -self.size(dim) || index >= self.size(dim));
}

/// self, src, offset, dim1, dim2
bool diagonal(Args args) {
  at::Tensor shown = args[0].toTensor().diagonal(args[2].toInt(), args[3].toInt(), args[4].toInt());
  return shown.sizes() != args[1].toTensor().sizes();
}

/// self, src, size, stride, storage_offset
bool strided(Args args) {
  auto isNegative = [](int64_t value) { return value < 0; };
  std::vector<int64_t> strides = args[3].toIntVector();
  return std::any_of(strides.begin(), strides.end(), isNegative) || (args[4].isInt() && isNegative(args[4].toInt())) ||
         args[1].toTensor().sizes() != at::IntArrayRef(args[2].toIntVector());
}

/// Integers out of bounds among the indices of the CPU.
bool indices(Args args) {
  const at::Tensor &self = args[0].toTensor();
  int64_t dim = 0, place = 0; // the kernel calls the place among the indices a dimension
  for (const c10::IValue &item : args[1].toListRef()) {
    if (!item.isTensor() || !item.toTensor().defined()) {
      ++dim;
      continue;
    }
    const at::Tensor &index = item.toTensor();
    const bool isMask = index.scalar_type() == at::kBool || index.scalar_type() == at::kByte;
    if (index.is_cpu() && !isMask && index.numel() && dim < self.dim()) {
      const int64_t size = self.size(dim), low = index.min().item<int64_t>(), high = index.max().item<int64_t>();
      TORCH_CHECK_INDEX(low >= -size && high < size, "index ", low < -size ? low : high, " is out of bounds for dimension ", place,
                        " with size ", size);
    }
    dim += isMask ? index.dim() : 1;
    place += isMask ? index.dim() : 1;
  }
  return false;
}

} // namespace

Suspicion suspicionOf(const std::string &name) {
  static const auto *all = new std::unordered_map<std::string, Suspicion>{
      {"aten::pow.Tensor_Scalar", power},
      {"aten::floor_divide", division},
      {"aten::floor_divide.Scalar", division},
      {"aten::remainder.Tensor", division},
      {"aten::remainder.Scalar", division},
      {"aten::fmod.Tensor", division},
      {"aten::fmod.Scalar", division},
      {"aten::div.Tensor_mode", roundingDivision},
      {"aten::div.Scalar_mode", roundingDivision},
      {"aten::addmv", factors},
      {"aten::addbmm", factors},
      {"aten::baddbmm", factors},
      {"aten::convolution", convolution},
      {"aten::native_group_norm", groups},
      {"aten::cummax", cumulativeDim},
      {"aten::cummin", cumulativeDim},
      {"aten::select_scatter", selectedIndex},
      {"aten::diagonal_scatter", diagonal},
      {"aten::as_strided_scatter", strided},
      {"aten::index.Tensor", indices},
      {"aten::index_put", indices},
      {"aten::_index_put_impl", indices},
  };
  auto found = all->find(name);
  return found == all->end() ? nullptr : found->second;
}

} // namespace millrace::torch_shim
