// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Kernels.cpp - Operators that deal with storages, and registration ---===//
#include "python/torch_xla/csrc/Devices.h"
#include "python/torch_xla/csrc/Trace.h"

#include <ATen/Dispatch.h>
#include <ATen/ExpandUtils.h>
#include <ATen/InferSize.h>
#include <ATen/NativeFunctions.h>
#include <ATen/Operators.h>
#include <ATen/TensorUtils.h>
#include <ATen/native/Resize.h>
#include <c10/util/bit_cast.h>
#include <c10/util/strides.h>

namespace millrace::torch_shim {
namespace {

using tracing::Operand;
using Type = std::optional<at::ScalarType>;
using Where = std::optional<at::Device>;

void checkDevice(Where device) {
  if (device && device->type() == c10::kXLA)
    indexOf(*device);
}

Tensor zeros(at::IntArrayRef sizes, c10::ScalarType type) {
  for (int64_t size : sizes)
    TORCH_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size, ": ", sizes);
  return wrap(node("millrace::zero", {}, {}, {dtypeOf(type), sizes.vec()}));
}

Tensor empty(at::IntArrayRef sizes, Type type, std::optional<at::Layout>, Where device, std::optional<bool>,
             std::optional<at::MemoryFormat> format) {
  checkDevice(device);
  Tensor made = zeros(sizes, type.value_or(at::get_default_dtype_as_scalartype()));
  if (format && *format != at::MemoryFormat::Contiguous)
    made.unsafeGetTensorImpl()->empty_tensor_restride(*format); // zeros do not care how they lie in memory
  return made;
}

/// Zeros that no gradient needs: dense ones, which the compiler folds.
Tensor efficientZeros(at::IntArrayRef sizes, Type type, std::optional<at::Layout>, Where, std::optional<bool>) {
  return zeros(sizes, type.value_or(at::get_default_dtype_as_scalartype()));
}

Tensor emptyStrided(at::IntArrayRef sizes, at::IntArrayRef strides, Type type, std::optional<at::Layout>, Where device,
                    std::optional<bool>) {
  checkDevice(device);
  c10::ScalarType dtype = type.value_or(at::get_default_dtype_as_scalartype());
  Tensor dense = zeros(sizes, dtype);
  if (dense.strides() == strides)
    return dense;
  int64_t extent = c10::multiply_integers(sizes) ? 1 : 0;
  for (size_t i = 0; i < sizes.size() && extent; ++i)
    extent += (sizes[i] - 1) * strides[i];
  Tensor made = zeros({extent}, dtype);
  made.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return made;
}

/// What a copy of a tensor of the device holds. In a function that is traced, its arguments are told by their leaves.
Value valueForCopy(const Tensor &self) {
  Value value = shownValue(self);
  return capture || !traceScopes().empty() ? value : tracing::copyOf(value);
}

/// The strides of a copy: those of the format, or as near to the original's as a dense tensor can have.
std::vector<int64_t> stridesOfCopy(const Tensor &self, std::optional<at::MemoryFormat> format) {
  switch (format.value_or(at::MemoryFormat::Preserve)) {
  case at::MemoryFormat::ChannelsLast:
    TORCH_CHECK(self.dim() == 4, "required rank 4 tensor to use channels_last format");
    return c10::get_channels_last_strides_2d(self.sizes());
  case at::MemoryFormat::ChannelsLast3d:
    TORCH_CHECK(self.dim() == 5, "required rank 5 tensor to use channels_last_3d format");
    return c10::get_channels_last_strides_3d(self.sizes());
  case at::MemoryFormat::Preserve:
    if (!self.is_contiguous())
      return self.is_non_overlapping_and_dense() ? self.strides().vec() : at::infer_dense_strides(self.sizes(), self.strides());
    [[fallthrough]];
  default:
    return at::IntArrayRef(c10::contiguous_strides(self.sizes())).vec();
  }
}

/// A copy on the device, as `dtype`.
Tensor copied(const Tensor &self, c10::ScalarType dtype, std::optional<at::MemoryFormat> format) {
  std::vector<int64_t> strides = stridesOfCopy(self, format);
  if (!isXla(self) && self.strides() == at::IntArrayRef(strides)) {
    Tensor moved = uploaded(self);
    return self.scalar_type() == dtype ? moved : copied(moved, dtype, format);
  }
  if (isXla(self) && !self.is_contiguous() && self.strides() == at::IntArrayRef(strides) && !self.is_conj() && !self.is_neg())
    if (Value memory = memoryOf(self))
      return wrapMemory(convertTo(std::move(memory), dtype), self.sizes(), strides);
  return wrap(convertTo(isXla(self) ? valueForCopy(self) : shownValue(self), dtype), strides);
}

Tensor toCopy(const Tensor &self, Type type, std::optional<at::Layout>, Where device, std::optional<bool>, bool,
              std::optional<at::MemoryFormat> format) {
  checkDevice(device);
  c10::Device target = device.value_or(self.device());
  c10::ScalarType dtype = type.value_or(self.scalar_type());
  if (target.type() == c10::kXLA)
    return copied(self, dtype, format);
  // Converted there: the device rounds as it computes.
  Tensor cpu = toCpu(dtype != self.scalar_type() ? copied(self, dtype, format) : self);
  if (format && *format != at::MemoryFormat::Preserve)
    cpu = cpu.contiguous(*format);
  return target.is_cpu() ? cpu : cpu.to(target);
}

Tensor &copyInPlace(Tensor &self, const Tensor &source, bool) {
  if (!isXla(self)) {
    self.copy_(toCpu(source));
    return self;
  }
  std::vector<int64_t> sizes = at::infer_size(self.sizes(), source.sizes());
  TORCH_CHECK(self.sizes() == at::IntArrayRef(sizes), "The size of tensor a (", self.sizes(),
              ") must match the size of tensor b (", source.sizes(), ")");
  setValue(self, resolved(self, expandTo(convertTo(shownValue(source), self.scalar_type()), self.sizes())));
  return self;
}

Tensor copyFrom(const Tensor &self, const Tensor &target, bool nonBlocking) {
  Tensor mutableTarget = target;
  return copyInPlace(mutableTarget, self, nonBlocking);
}
Tensor copyFromAndResize(const Tensor &self, const Tensor &target) {
  if (isXla(target))
    resizeTo(target, self.sizes());
  else
    target.resize_(self.sizes());
  return copyFrom(self, target, false);
}

Tensor clone(const Tensor &self, std::optional<at::MemoryFormat> format) { return copied(self, self.scalar_type(), format); }
Tensor aliasOf(const Tensor &self) { return viewOf(self, self.sizes(), self.strides(), self.storage_offset()); }
Tensor asStrided(const Tensor &self, at::IntArrayRef sizes, at::IntArrayRef strides, std::optional<int64_t> offset) {
  for (int64_t stride : strides)
    TORCH_CHECK(stride >= 0, "as_strided: Negative strides are not supported at the moment, got strides: ", strides);
  TORCH_CHECK(offset.value_or(0) >= 0, "Tensor: invalid storage offset ", *offset);
  at::native::checkInBoundsForStorage(sizes, strides, offset.value_or(self.storage_offset()), self.dtype(), self.storage());
  return viewOf(self, sizes, strides, offset.value_or(self.storage_offset()));
}
const Tensor &asStridedInPlace(const Tensor &self, at::IntArrayRef sizes, at::IntArrayRef strides,
                               std::optional<int64_t> offset) {
  self.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, offset.value_or(self.storage_offset()));
  return self;
}
Tensor reshapeAlias(const Tensor &self, at::IntArrayRef sizes, at::IntArrayRef strides) {
  return viewOf(self, sizes, strides, self.storage_offset());
}
Tensor view(const Tensor &self, at::IntArrayRef sizes) {
  at::DimVector inferred = at::infer_size_dv(sizes, self.numel());
  auto strides = at::detail::computeStride(self.sizes(), self.strides(), inferred);
  TORCH_CHECK(strides.has_value(), "view size is not compatible with input tensor's size and stride (at least one "
                                   "dimension spans across two contiguous subspaces). Use .reshape(...) instead.");
  return viewOf(self, inferred, *strides, self.storage_offset());
}
Tensor unfold(const Tensor &self, int64_t dim, int64_t size, int64_t step) {
  dim = at::maybe_wrap_dim(dim, self.dim(), true);
  std::vector<int64_t> sizes = self.sizes().vec(), strides = self.strides().vec();
  int64_t extent = self.dim() ? sizes[dim] : 1, stride = self.dim() ? strides[dim] : 1;
  TORCH_CHECK(step > 0, "step is ", step, " but must be > 0");
  TORCH_CHECK(size <= extent, "maximum size for tensor at dimension ", dim, " is ", extent, " but size is ", size);
  if (self.dim()) {
    sizes[dim] = (extent - size) / step + 1;
    strides[dim] *= step;
  }
  sizes.push_back(size);
  strides.push_back(stride);
  return viewOf(self, sizes, strides, self.storage_offset());
}
/// A view of another type: `sizes` and so on count elements of that type.
Tensor retyped(const Tensor &self, at::ScalarType type, at::IntArrayRef sizes, at::IntArrayRef strides, int64_t offset) {
  Tensor made = at::detail::make_tensor<c10::TensorImpl>(c10::TensorImpl::VIEW, c10::Storage(self.storage()),
                                                         self.key_set(), c10::scalarTypeToTypeMeta(type));
  made.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, offset);
  return made;
}
Tensor viewDtype(const Tensor &self, at::ScalarType type) {
  if (self.scalar_type() == type)
    return aliasOf(self);
  const int64_t from = int64_t(self.element_size()), to = int64_t(c10::elementSize(type));
  if (from == to)
    return retyped(self, type, self.sizes(), self.strides(), self.storage_offset());
  auto what = [&] { return c10::str("to view ", self.scalar_type(), " as ", type, " (different element sizes)"); };
  TORCH_CHECK(self.dim(), "self.dim() cannot be 0 ", what());
  TORCH_CHECK(self.stride(-1) == 1, "self.stride(-1) must be 1 ", what(), ", but got ", self.stride(-1));
  std::vector<int64_t> sizes = self.sizes().vec(), strides = self.strides().vec();
  int64_t offset = self.storage_offset();
  if (from > to) {
    int64_t ratio = from / to;
    sizes.back() *= ratio;
    offset *= ratio;
    for (size_t i = 0; i + 1 < strides.size(); ++i)
      strides[i] *= ratio;
    return retyped(self, type, sizes, strides, offset);
  }
  int64_t ratio = to / from;
  TORCH_CHECK(sizes.back() % ratio == 0, "self.size(-1) must be divisible by ", ratio, " ", what(), ", but got ",
              sizes.back());
  TORCH_CHECK(offset % ratio == 0, "self.storage_offset() must be divisible by ", ratio, " ", what(), ", but got ", offset);
  sizes.back() /= ratio;
  for (size_t i = 0; i + 1 < strides.size(); ++i) {
    TORCH_CHECK(strides[i] % ratio == 0, "self.stride(", i, ") must be divisible by ", ratio, " ", what(), ", but got ",
                strides[i]);
    strides[i] /= ratio;
  }
  return retyped(self, type, sizes, strides, offset / ratio);
}

Tensor viewAsReal(const Tensor &self) {
  TORCH_CHECK(self.is_complex(), "view_as_real is only supported for complex tensors");
  std::vector<int64_t> sizes = self.sizes().vec(), strides = self.strides().vec();
  for (int64_t &stride : strides)
    stride *= 2;
  sizes.push_back(2);
  strides.push_back(1);
  return retyped(self, c10::toRealValueType(self.scalar_type()), sizes, strides, self.storage_offset() * 2);
}
Tensor viewAsComplex(const Tensor &self) {
  TORCH_CHECK(self.dim() && self.size(-1) == 2, "Tensor must have a last dimension of size 2");
  TORCH_CHECK(self.stride(-1) == 1, "Tensor must have a last dimension with stride 1");
  std::vector<int64_t> sizes = self.sizes().vec(), strides = self.strides().vec();
  sizes.pop_back();
  strides.pop_back();
  for (int64_t &stride : strides) {
    TORCH_CHECK(stride % 2 == 0, "Tensor must have a stride divisible by 2 for all but last dimension");
    stride /= 2;
  }
  TORCH_CHECK(self.storage_offset() % 2 == 0, "Tensor must have a storage_offset divisible by 2");
  return retyped(self, c10::toComplexType(self.scalar_type()), sizes, strides, self.storage_offset() / 2);
}
bool equal(const Tensor &a, const Tensor &b) {
  if (a.sizes() != b.sizes())
    return false;
  return at::_ops::all::call(at::_ops::eq_Tensor::call(a, b)).item().toBool();
}

const Tensor &resize(const Tensor &self, at::IntArrayRef sizes, std::optional<at::MemoryFormat>) {
  resizeTo(self, sizes);
  return self;
}

Tensor &setStorage(Tensor &self, at::Storage source, int64_t offset, at::IntArrayRef sizes, at::IntArrayRef strides) {
  TORCH_CHECK(source.device().type() == c10::kXLA, "Expects a storage of the xla device, but got one of ", source.device());
  at::TensorImpl *impl = self.unsafeGetTensorImpl();
  impl->set_storage_keep_dtype(std::move(source));
  std::vector<int64_t> dense(sizes.size(), 1);
  for (int64_t i = int64_t(sizes.size()) - 2; i >= 0; --i)
    dense[i] = dense[i + 1] * std::max<int64_t>(sizes[i + 1], 1);
  impl->set_sizes_and_strides(sizes, strides.size() == sizes.size() ? strides : at::IntArrayRef(dense), offset);
  return self;
}
Tensor &setWholeStorage(Tensor &self, at::Storage source) {
  int64_t count = int64_t(source.nbytes() / self.element_size());
  return setStorage(self, std::move(source), 0, {count}, {});
}
Tensor &setTensor(Tensor &self, const Tensor &source) {
  return setStorage(self, source.storage(), source.storage_offset(), source.sizes(), source.strides());
}

at::Scalar localScalar(const Tensor &self) {
  static std::atomic<int64_t> &calls = tracing::Metrics::get().counter("aten::_local_scalar_dense");
  ++calls;
  return toCpu(self).item();
}
bool isPinned(const Tensor &, std::optional<at::Device>) { return false; }

/// A number as a tensor of the sizes and type of `like`.
Value filled(const Tensor &like, const at::Scalar &value) {
  Value number;
  if (value.isComplex())
    return expandTo(convertTo(upload(at::scalar_tensor(value, at::TensorOptions().dtype(at::kComplexDouble))), like.scalar_type()), like.sizes());
  // By its bits: a thread that flushes subnormal numbers takes them for 0.
  if (value.isFloatingPoint() ? c10::bit_cast<uint64_t>(value.toDouble()) << 1 == 0 : value.toLong() == 0)
    return node("millrace::zero", {}, {}, {dtypeOf(like.scalar_type()), like.sizes().vec()});
  if (value.isFloatingPoint() ? value.toDouble() == 1 : value.toLong() == 1)
    return node("millrace::one", {}, {}, {dtypeOf(like.scalar_type()), like.sizes().vec()});
  number = value.isFloatingPoint() ? tracing::number(value.toDouble(), false) : tracing::number(int64_t(value.toLong()), false);
  return expandTo(convertTo(number, like.scalar_type()), like.sizes());
}
/// Every element in memory once: what is the same for all of them may be written to an expanded tensor.
Tensor withoutRepeats(const Tensor &self) {
  std::vector<int64_t> sizes = self.sizes().vec();
  for (int64_t dim = 0; dim < self.dim(); ++dim)
    if (self.stride(dim) == 0 && sizes[dim] > 1)
      sizes[dim] = 1;
  return self.sizes() == at::IntArrayRef(sizes) ? self : viewOf(self, sizes, self.strides(), self.storage_offset());
}
/// PyTorch's error for a number that the type of `self` has no room for.
void checkRange(const Tensor &self, const at::Scalar &value) {
  AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(at::kHalf, at::kBFloat16, at::kBool, self.scalar_type(), "fill_",
                                         [&] { (void)value.to<scalar_t>(); });
}
Tensor &fill(Tensor &self, const at::Scalar &value) {
  if (self.dim() && (self.element_size() < 4 || self.scalar_type() == at::kInt)) // operators make tensors without dims of numbers
    checkRange(self, value);
  Tensor target = withoutRepeats(self);
  setValue(target, filled(target, value));
  return self;
}
Tensor &fillTensor(Tensor &self, const Tensor &value) {
  TORCH_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ", value.dim(), " dimensions.");
  setValue(self, expandTo(convertTo(shownValue(value), self.scalar_type()), self.sizes()));
  return self;
}
Tensor &zero(Tensor &self) { return fill(self, 0); }

Tensor &arangeOut(const at::Scalar &start, const at::Scalar &end, const at::Scalar &step, Tensor &out) {
  TORCH_CHECK(std::isfinite(start.toDouble()) && std::isfinite(end.toDouble()), "unsupported range: ", start.toDouble(), " -> ",
              end.toDouble());
  Tensor meta = at::_ops::arange_start_step::call(start, end, step, out.scalar_type(), {}, c10::Device(c10::kMeta), {});
  resizeTo(out, meta.sizes());
  Shape shape{dtypeOf(out.scalar_type()), out.sizes().vec()};
  auto arg = [](const at::Scalar &s) { return s.isFloatingPoint() ? tracing::Arg(s.toDouble()) : tracing::Arg(int64_t(s.toLong())); };
  setValue(out, node("millrace::arange", {}, {arg(start), arg(step)}, shape));
  return out;
}

//===-- Random numbers ------------------------------------------------------===//

using Gen = std::optional<at::Generator>;

/// A random tensor like `self`, before its conversion to the type of `self`.
Value random(const Tensor &self, const char *name, std::vector<tracing::Arg> args, runtime::DType type) {
  args.insert(args.begin(), Operand{0});
  return node(name, {nextRandomKey()}, std::move(args), {type, self.sizes().vec()});
}
runtime::DType floatFor(const Tensor &self) {
  return self.scalar_type() == at::kDouble ? runtime::DType::F64 : runtime::DType::F32;
}
Tensor &uniform(Tensor &self, double from, double to, Gen generator) {
  DrawFrom scope(generator, self);
  TORCH_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from, " > to=", to);
  setValue(self, convertTo(random(self, "millrace::uniform", {from, to}, floatFor(self)), self.scalar_type()));
  return self;
}
Tensor &normal(Tensor &self, double mean, double deviation, Gen generator) {
  DrawFrom scope(generator, self);
  TORCH_CHECK(deviation >= 0, "normal expects std >= 0.0, but found std ", deviation);
  setValue(self, convertTo(random(self, "millrace::normal", {mean, deviation}, floatFor(self)), self.scalar_type()));
  return self;
}
Tensor &bernoulliFloat(Tensor &self, double p, Gen generator) {
  DrawFrom scope(generator, self);
  TORCH_CHECK(0 <= p && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  setValue(self, convertTo(random(self, "millrace::bernoulli", {p}, runtime::DType::I1), self.scalar_type()));
  return self;
}
Tensor &bernoulliTensor(Tensor &self, const Tensor &p, Gen generator) {
  DrawFrom scope(generator, self);
  Value probability = expandTo(convertTo(shownValue(p), at::kDouble == p.scalar_type() ? at::kDouble : at::kFloat), self.sizes());
  Value drawn = node("millrace::bernoulli_tensor", {nextRandomKey(), probability}, {Operand{0}, Operand{1}},
                     {runtime::DType::I1, self.sizes().vec()});
  setValue(self, convertTo(drawn, self.scalar_type()));
  return self;
}
Tensor bernoulli(const Tensor &self, Gen generator) {
  DrawFrom scope(generator, self);
  Tensor made = zeros(self.sizes(), self.scalar_type());
  return bernoulliTensor(made, self, generator);
}
Tensor &exponential(Tensor &self, double rate, Gen generator) {
  DrawFrom scope(generator, self);
  TORCH_CHECK(rate > 0, "exponential_ expects lambda > 0.0, but found lambda=", rate);
  setValue(self, convertTo(random(self, "millrace::exponential", {rate}, floatFor(self)), self.scalar_type()));
  return self;
}
Tensor &randomFrom(Tensor &self, int64_t from, std::optional<int64_t> to, Gen generator) {
  DrawFrom scope(generator, self);
  int64_t end = to.value_or(self.scalar_type() == at::kFloat ? 1 << 24 : std::numeric_limits<int64_t>::max());
  Tensor none = at::empty({0}, self.scalar_type());
  at::_ops::random__from::call(none, from, to, {}); // PyTorch's errors for bounds, also of the type
  setValue(self, convertTo(random(self, "millrace::randint", {from, end}, runtime::DType::I64), self.scalar_type()));
  return self;
}
int64_t randomLimit(const Tensor &self) {
  switch (self.scalar_type()) {
  case at::kBool: return 2;
  case at::kByte: return 256;
  case at::kChar: return 128;
  case at::kShort: return 1 << 15;
  case at::kInt: return int64_t(1) << 31;
  case at::kHalf: return 1 << 11;
  case at::kBFloat16: return 1 << 8;
  case at::kFloat: return 1 << 24;
  case at::kDouble: return int64_t(1) << 53;
  default: return std::numeric_limits<int64_t>::max();
  }
}
Tensor &randomTo(Tensor &self, int64_t to, Gen generator) { return randomFrom(self, 0, to, generator); }
Tensor &randomAny(Tensor &self, Gen generator) { return randomFrom(self, 0, randomLimit(self), generator); }
Tensor &randpermOut(int64_t n, Gen generator, Tensor &out) {
  DrawFrom scope(generator, out);
  resizeTo(out, {n});
  setValue(out, convertTo(node("millrace::randperm", {nextRandomKey()}, {Operand{0}}, {runtime::DType::I64, {n}}), out.scalar_type()));
  return out;
}

} // namespace

TORCH_LIBRARY_IMPL(_, XLA, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&record>()); }

TORCH_LIBRARY_IMPL(aten, XLA, m) {
  m.impl("empty.memory_format", MILLRACE_KERNEL(empty));
  m.impl("empty_strided", MILLRACE_KERNEL(emptyStrided));
  m.impl("_efficientzerotensor", MILLRACE_KERNEL(efficientZeros));
  m.impl("_to_copy", MILLRACE_KERNEL(toCopy));
  m.impl("copy_", MILLRACE_KERNEL(copyInPlace));
  m.impl("_copy_from", MILLRACE_KERNEL(copyFrom));
  m.impl("_copy_from_and_resize", MILLRACE_KERNEL(copyFromAndResize));
  m.impl("clone", MILLRACE_KERNEL(clone));
  m.impl("alias", MILLRACE_KERNEL(aliasOf));
  m.impl("as_strided", MILLRACE_KERNEL(asStrided));
  m.impl("as_strided_", MILLRACE_KERNEL(asStridedInPlace));
  m.impl("_reshape_alias", MILLRACE_KERNEL(reshapeAlias));
  m.impl("view", MILLRACE_KERNEL(view));
  m.impl("_unsafe_view", MILLRACE_KERNEL(view));
  m.impl("unfold", MILLRACE_KERNEL(unfold));
  m.impl("view.dtype", MILLRACE_KERNEL(viewDtype));
  m.impl("view_as_real", MILLRACE_KERNEL(viewAsReal));
  m.impl("view_as_complex", MILLRACE_KERNEL(viewAsComplex));
  m.impl("equal", MILLRACE_KERNEL(equal));
  m.impl("resize_", MILLRACE_KERNEL(resize));
  m.impl("set_.source_Tensor", MILLRACE_KERNEL(setTensor));
  m.impl("set_.source_Storage", MILLRACE_KERNEL(setWholeStorage));
  m.impl("set_.source_Storage_storage_offset", MILLRACE_KERNEL(setStorage));
  m.impl("_local_scalar_dense", MILLRACE_KERNEL(localScalar));
  m.impl("is_pinned", MILLRACE_KERNEL(isPinned));
  m.impl("fill_.Scalar", MILLRACE_KERNEL(fill));
  m.impl("fill_.Tensor", MILLRACE_KERNEL(fillTensor));
  m.impl("zero_", MILLRACE_KERNEL(zero));
  m.impl("arange.start_out", MILLRACE_KERNEL(arangeOut));
  m.impl("uniform_", MILLRACE_KERNEL(uniform));
  m.impl("normal_", MILLRACE_KERNEL(normal));
  m.impl("bernoulli_.float", MILLRACE_KERNEL(bernoulliFloat));
  m.impl("bernoulli_.Tensor", MILLRACE_KERNEL(bernoulliTensor));
  m.impl("bernoulli", MILLRACE_KERNEL(bernoulli));
  m.impl("exponential_", MILLRACE_KERNEL(exponential));
  m.impl("random_.from", MILLRACE_KERNEL(randomFrom));
  m.impl("random_.to", MILLRACE_KERNEL(randomTo));
  m.impl("random_", MILLRACE_KERNEL(randomAny));
  m.impl("randperm.generator_out", MILLRACE_KERNEL(randpermOut));
  // PyTorch would decompose these into operators with out= arguments or raise; tracing knows them whole.
  auto isTaken = [](const std::string &name) { return name == "aten::convolution"; };
  for (const std::string &full : tracing::opNames()) {
    if (full.rfind("aten::", 0) != 0)
      continue;
    size_t dot = full.find('.');
    auto handle = c10::Dispatcher::singleton().findSchema(
        {full.substr(0, dot), dot == std::string::npos ? "" : full.substr(dot + 1)});
    if (handle && (isTaken(full) || handle->hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd)))
      m.impl(full.c_str() + 6, torch::CppFunction::makeFromBoxedFunction<&record>());
  }
}

} // namespace millrace::torch_shim
