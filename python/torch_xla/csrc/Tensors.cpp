// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Tensors.cpp - Storages, views and transfers -------------------------===//
#include "python/torch_xla/csrc/Ending.h"
#include "python/torch_xla/csrc/Kineto.h"
#include "python/torch_xla/csrc/Sharding.h"
#include "python/torch_xla/csrc/Trace.h"
#include "tracing/graph/Liveness.h"
#include "tracing/reports/Places.h"

#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/native/Resize.h>
#include <c10/util/strides.h>

#include <algorithm>
#include <numeric>

namespace millrace::torch_shim {
namespace {

using tracing::Arg;
using tracing::Operand;
using tracing::Session;

Storage *firstStorage = nullptr, *lastStorage = nullptr; // guarded by Session::mutex

Storage *storageOf(at::TensorImpl *impl) {
  TORCH_CHECK(impl->device_type() == c10::kXLA, "expects a tensor of the xla device, but got one of ", impl->device());
  return static_cast<Storage *>(impl->storage().unsafeGetStorageImpl());
}

size_t bytesOf(const Shape &shape) { return size_t(shape.count()) * runtime::byteSize(shape.dtype); }

bool coversStorage(at::TensorImpl *impl, const Storage &storage) {
  const Shape &shape = storage.base.shape();
  return impl->storage_offset() == 0 && impl->sizes() == at::IntArrayRef(shape.dims) && impl->is_contiguous() &&
         dtypeOf(c10::typeMetaToScalarType(impl->dtype())) == shape.dtype;
}

/// The base as a flat array of `dtype`, for views of another type.
Value baseAs(const Value &base, runtime::DType dtype) {
  if (base.shape().dtype == dtype)
    return base;
  int64_t count = int64_t(bytesOf(base.shape()) / runtime::byteSize(dtype));
  return node("millrace::bitcast", {base}, {Operand{0}}, {dtype, {count}});
}

} // namespace

void raise(const runtime::Status &status) {
  tracing::Session::setTold(); // who has interrupted a wait has given up what it was for, too
  raiseInterrupt(status);
  TORCH_CHECK(false, std::string(status.message()));
}

runtime::DType dtypeOf(c10::ScalarType type) {
  using runtime::DType;
  switch (type) {
  case c10::ScalarType::Bool: return DType::I1;
  case c10::ScalarType::Byte: return DType::U8;
  case c10::ScalarType::Char: return DType::I8;
  case c10::ScalarType::Short: return DType::I16;
  case c10::ScalarType::Int: return DType::I32;
  case c10::ScalarType::Long: return DType::I64;
  case c10::ScalarType::UInt16: return DType::U16;
  case c10::ScalarType::UInt32: return DType::U32;
  case c10::ScalarType::UInt64: return DType::U64;
  case c10::ScalarType::Half: return DType::F16;
  case c10::ScalarType::BFloat16: return DType::BF16;
  case c10::ScalarType::Float: return DType::F32;
  case c10::ScalarType::Double: return DType::F64;
  case c10::ScalarType::ComplexFloat: return DType::C64;
  case c10::ScalarType::ComplexDouble: return DType::C128;
  case c10::ScalarType::Float8_e4m3fn: return DType::F8E4M3FN;
  case c10::ScalarType::Float8_e5m2: return DType::F8E5M2;
  case c10::ScalarType::Float8_e4m3fnuz: return DType::F8E4M3FNUZ;
  case c10::ScalarType::Float8_e5m2fnuz: return DType::F8E5M2FNUZ;
  default: TORCH_CHECK(false, "the xla device has no tensors of type ", type);
  }
}

c10::ScalarType scalarTypeOf(runtime::DType type) {
  using runtime::DType;
  switch (type) {
  case DType::I1: return c10::ScalarType::Bool;
  case DType::U8: return c10::ScalarType::Byte;
  case DType::I8: return c10::ScalarType::Char;
  case DType::I16: return c10::ScalarType::Short;
  case DType::I32: return c10::ScalarType::Int;
  case DType::I64: return c10::ScalarType::Long;
  case DType::U16: return c10::ScalarType::UInt16;
  case DType::U32: return c10::ScalarType::UInt32;
  case DType::U64: return c10::ScalarType::UInt64;
  case DType::F16: return c10::ScalarType::Half;
  case DType::BF16: return c10::ScalarType::BFloat16;
  case DType::F32: return c10::ScalarType::Float;
  case DType::F64: return c10::ScalarType::Double;
  case DType::C64: return c10::ScalarType::ComplexFloat;
  case DType::C128: return c10::ScalarType::ComplexDouble;
  case DType::F8E4M3FN: return c10::ScalarType::Float8_e4m3fn;
  case DType::F8E5M2: return c10::ScalarType::Float8_e5m2;
  case DType::F8E4M3FNUZ: return c10::ScalarType::Float8_e4m3fnuz;
  case DType::F8E5M2FNUZ: return c10::ScalarType::Float8_e5m2fnuz;
  default: TORCH_CHECK(false, "PyTorch has no type ", std::string(runtime::name(type)));
  }
}

//===-- Storages ------------------------------------------------------------===//

uint64_t nextSerial() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

// The pointer is no memory of the tensor's: programs tell storages apart by it (safetensors, which saves shared ones once).
Storage::Storage(Value value, size_t bytes)
    : StorageImpl(use_byte_size_t(), bytes, c10::DataPtr(this, xlaDevice()), nullptr, /*resizable=*/false),
      base(std::move(value)), serial(nextSerial()), isCaptured(capture != nullptr) {
  static const std::string device = chooseDevice(); // of the process, at its first tensor
  std::lock_guard lock(Session::get().mutex);
  previous = lastStorage;
  next = nullptr;
  (lastStorage ? lastStorage->next : firstStorage) = this;
  lastStorage = this;
  static std::atomic<int64_t> &created = tracing::Metrics::get().counter("CreateXlaTensor");
  ++created;
}

Storage::~Storage() {
  static std::atomic<int64_t> &destroyed = tracing::Metrics::get().counter("DestroyXlaTensor");
  ++destroyed;
  std::lock_guard lock(Session::get().mutex);
  (previous ? previous->next : firstStorage) = next;
  (next ? next->previous : lastStorage) = previous;
  views.clear();
  base = {};
}

std::vector<Value> pendingValues() {
  std::lock_guard lock(Session::get().mutex);
  std::vector<Value> values;
  std::vector<Storage *> storages;
  for (Storage *storage = firstStorage; storage; storage = storage->next) {
    if (storage->isCaptured)
      continue;
    storage->views.clear();
    if (!storage->base.node || !storage->base.node->op)
      continue;
    storages.push_back(storage);
  }
  keepHeldShardings(storages);
  for (Storage *storage : storages)
    values.push_back(storage->base);
  return values;
}

std::vector<std::pair<uint64_t, Value>> liveValues() {
  std::lock_guard lock(Session::get().mutex);
  std::vector<std::pair<uint64_t, Value>> values;
  for (Storage *storage = firstStorage; storage; storage = storage->next) {
    storage->views.clear();
    values.emplace_back(storage->serial, storage->base);
  }
  return values;
}

std::vector<c10::intrusive_ptr<c10::StorageImpl>> liveStorages() {
  std::lock_guard lock(Session::get().mutex);
  std::vector<c10::intrusive_ptr<c10::StorageImpl>> storages;
  for (Storage *storage = firstStorage; storage; storage = storage->next) // one that is being destroyed waits for the mutex
    if (c10::raw::intrusive_ptr::use_count(storage) > 0)
      storages.push_back(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(storage));
  return storages;
}

std::unordered_set<const tracing::Node *> dependents(const tracing::Schedule &plan, std::unordered_set<const tracing::Node *> unknown) {
  for (const tracing::Node *node : plan.nodes)
    for (const Value &operand : node->operands)
      if (unknown.count(operand.node.get()))
        unknown.insert(node);
  return unknown;
}

/// What does not depend on stand-ins: other threads trace functions meanwhile.
static std::vector<Value> withoutTraced(std::vector<Value> values) {
  tracing::Schedule plan = tracing::schedule(values);
  std::unordered_set<const tracing::Node *> unknown;
  for (const Value &leaf : plan.leaves)
    if (!leaf.node->isNumber() && !Session::hasMemory(leaf))
      unknown.insert(leaf.node.get());
  if (unknown.empty())
    return values;
  unknown = dependents(plan, std::move(unknown));
  std::erase_if(values, [&](const Value &value) { return unknown.count(value.node.get()); });
  return values;
}

void forgetTraced(const std::vector<Value> &inputs, uint64_t firstSerial) {
  std::lock_guard lock(Session::get().mutex);
  std::vector<Storage *> suspects;
  for (Storage *storage = lastStorage; storage && storage->serial > firstSerial; storage = storage->previous) {
    storage->views.clear();
    if (storage->base.node && storage->base.node->op)
      suspects.push_back(storage);
  }
  if (suspects.empty())
    return;
  std::vector<Value> roots;
  for (Storage *storage : suspects)
    roots.push_back(storage->base);
  std::unordered_set<const tracing::Node *> traced;
  for (const Value &input : inputs)
    traced.insert(input.node.get());
  traced = dependents(tracing::schedule(roots), std::move(traced));
  for (Storage *storage : suspects)
    if (traced.count(storage->base.node.get()))
      storage->base = tracing::leaf(nullptr, storage->base.shape());
}

void noteStack() {
  if (tracing::debugLevel())
    tracing::currentStack();
}

void syncAll() {
  refuseInTrace("a step barrier");
  noteStack();
  std::unique_lock lock(Session::get().mutex, std::defer_lock);
  {
    tracing::Timed time("DeviceLockWait");
    lock.lock();
  }
  std::vector<Value> values = pendingValues();
  if (isAnythingTraced())
    values = withoutTraced(std::move(values));
  runtime::Status status = Session::get().sync(std::move(values), tracing::Roots::All);
  if (!status.ok())
    raise(status);
}

Tensor wrap(Value value) {
  Shape shape = value.shape();
  auto storage = c10::make_intrusive<Storage>(std::move(value), bytesOf(shape));
  Tensor made = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(c10::intrusive_ptr<c10::StorageImpl>(std::move(storage))),
      c10::DispatchKeySet(c10::DispatchKey::XLA), c10::scalarTypeToTypeMeta(scalarTypeOf(shape.dtype)));
  made.unsafeGetTensorImpl()->set_sizes_contiguous(shape.dims);
  if (isEager() && !EagerScope::isInside())
    runIfEager({static_cast<Storage *>(made.storage().unsafeGetStorageImpl())->base});
  stopIfEnding();
  return made;
}

/// The dims from the outermost in memory to the innermost; none unless the elements fill their memory without gaps.
static std::optional<std::vector<int64_t>> memoryOrder(at::IntArrayRef sizes, at::IntArrayRef strides) {
  std::vector<int64_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });
  int64_t expected = 1;
  for (size_t i = order.size(); i-- > 0;) {
    if (sizes[order[i]] == 1)
      continue;
    if (strides[order[i]] != expected)
      return std::nullopt;
    expected *= sizes[order[i]];
  }
  return order;
}

static std::vector<int64_t> permuted(at::IntArrayRef values, const std::vector<int64_t> &order) {
  std::vector<int64_t> made;
  for (int64_t dim : order)
    made.push_back(values[dim]);
  return made;
}

/// The elements of a row-major value as a dense tensor with those strides has them in memory.
static std::optional<Value> inMemoryOrder(const Value &value, at::IntArrayRef strides) {
  const std::vector<int64_t> &sizes = value.shape().dims;
  auto order = memoryOrder(sizes, strides);
  if (!order)
    return std::nullopt;
  if (std::is_sorted(order->begin(), order->end()))
    return value;
  Shape shape{value.shape().dtype, permuted(sizes, *order)};
  return node("millrace::strided_read", {value},
              {Operand{0}, shape.dims, permuted(c10::contiguous_strides(sizes), *order), int64_t(0)}, shape);
}

Tensor wrapMemory(Value memory, at::IntArrayRef sizes, at::IntArrayRef strides) {
  Tensor made = wrap(std::move(memory));
  made.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  return made;
}

Value memoryOf(const Tensor &tensor) {
  at::TensorImpl *impl = tensor.unsafeGetTensorImpl();
  std::lock_guard lock(Session::get().mutex);
  const Storage &storage = *storageOf(impl);
  const Shape &shape = storage.base.shape();
  bool isAll = impl->is_non_overlapping_and_dense() && impl->storage_offset() == 0 && impl->numel() == shape.count() &&
               dtypeOf(tensor.scalar_type()) == shape.dtype;
  return isAll ? storage.base : Value();
}

Tensor wrap(Value value, at::IntArrayRef strides) {
  const std::vector<int64_t> sizes = value.shape().dims;
  if (strides == at::IntArrayRef(c10::contiguous_strides(sizes)) || value.shape().count() == 0)
    return wrap(std::move(value));
  if (std::optional<Value> memory = inMemoryOrder(value, strides)) {
    Tensor made = wrapMemory(std::move(*memory), sizes, strides);
    std::lock_guard lock(Session::get().mutex);
    storageOf(made.unsafeGetTensorImpl())
        ->views.push_back({sizes, strides.vec(), 0, value.shape().dtype, std::move(value)});
    return made;
  }
  int64_t extent = 1;
  for (size_t i = 0; i < sizes.size(); ++i)
    extent += (sizes[i] - 1) * strides[i];
  Tensor made = wrapMemory(node("millrace::zero", {}, {}, {value.shape().dtype, {extent}}), sizes, strides);
  setValue(made, std::move(value));
  return made;
}

Tensor viewOf(const Tensor &base, at::IntArrayRef sizes, at::IntArrayRef strides, int64_t storageOffset) {
  stopIfEnding();
  Tensor made = at::detail::make_tensor<c10::TensorImpl>(c10::TensorImpl::VIEW, c10::Storage(base.storage()),
                                                         base.key_set(), base.dtype());
  made.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides, storageOffset);
  return made;
}

Value valueOf(const Tensor &xla) {
  noteFrame();
  at::TensorImpl *impl = xla.unsafeGetTensorImpl();
  std::lock_guard lock(Session::get().mutex);
  Storage &storage = *storageOf(impl);
  if (coversStorage(impl, storage))
    return storage.base;
  runtime::DType dtype = dtypeOf(xla.scalar_type());
  for (const View &view : storage.views)
    if (view.offset == impl->storage_offset() && impl->sizes() == at::IntArrayRef(view.sizes) &&
        impl->strides() == at::IntArrayRef(view.strides) && view.dtype == dtype)
      return view.value;
  Shape shape{dtype, impl->sizes().vec()};
  Value base = baseAs(storage.base, dtype);
  Value value = movingRead(storage, shape, impl->strides(), impl->storage_offset());
  if (!value)
    value = impl->is_contiguous() && impl->storage_offset() == 0 && base.shape().count() == impl->numel()
                ? node("millrace::reshape", {base}, {Operand{0}}, shape)
                : node("millrace::strided_read", {base},
                       {Operand{0}, impl->sizes().vec(), impl->strides().vec(), impl->storage_offset()}, shape);
  storage.views.push_back({shape.dims, impl->strides().vec(), impl->storage_offset(), dtype, value});
  return value;
}

Value resolved(const Tensor &xla, Value value) {
  Shape shape = value.shape();
  if (xla.is_conj())
    value = node("millrace::conj", {std::move(value)}, {Operand{0}}, shape);
  if (xla.is_neg())
    value = node("aten::neg", {std::move(value)}, {Operand{0}}, shape);
  return value;
}

Value shownValue(const Tensor &tensor) { return isXla(tensor) ? resolved(tensor, valueOf(tensor)) : upload(tensor); }

static void bindValue(const Tensor &xla, Value value) {
  noteFrame();
  at::TensorImpl *impl = xla.unsafeGetTensorImpl();
  std::lock_guard lock(Session::get().mutex);
  Storage &storage = *storageOf(impl);
  storage.views.clear();
  if (coversStorage(impl, storage)) {
    replaceBase(storage, std::move(value));
    return;
  }
  if (impl->numel() == 0) // writes nothing; its strides say nothing either
    return;
  at::assert_no_internal_overlap(impl);
  Shape whole = storage.base.shape();
  runtime::DType dtype = value.shape().dtype;
  Value base = baseAs(storage.base, dtype);
  Shape shape = base.shape();
  Value remembered = value;
  if (Value moved = movingWrite(storage, value, impl->strides(), impl->storage_offset()))
    base = std::move(moved);
  else if (impl->is_non_overlapping_and_dense() && impl->storage_offset() == 0 && shape.count() == impl->numel())
    base = node("millrace::reshape", {*inMemoryOrder(value, impl->strides())}, {Operand{0}}, shape);
  else
    base = node("millrace::strided_write", {base, std::move(value)},
                {Operand{0}, Operand{1}, impl->sizes().vec(), impl->strides().vec(), impl->storage_offset()}, shape);
  replaceBase(storage, dtype == whole.dtype ? base : node("millrace::bitcast", {base}, {Operand{0}}, whole));
  if (remembered.shape().dims == impl->sizes())
    storage.views.push_back(
        {impl->sizes().vec(), impl->strides().vec(), impl->storage_offset(), dtype, std::move(remembered)});
}

void setValue(const Tensor &xla, Value value) {
  bindValue(xla, std::move(value));
  if (isEager() && !EagerScope::isInside())
    runIfEager({storageOf(xla.unsafeGetTensorImpl())->base});
  stopIfEnding();
}

bool showsAll(const Tensor &xla) {
  at::TensorImpl *impl = xla.unsafeGetTensorImpl();
  return coversStorage(impl, *storageOf(impl));
}

tracing::ShardingPtr annotationOf(const Tensor &xla) {
  return showsAll(xla) ? storageOf(xla.unsafeGetTensorImpl())->sharding : nullptr;
}

void setAnnotation(const Tensor &xla, tracing::ShardingPtr sharding) {
  at::TensorImpl *impl = xla.unsafeGetTensorImpl();
  Storage &storage = *storageOf(impl);
  if (!coversStorage(impl, storage))
    return;
  storage.sharding = std::move(sharding);
  storage.held = nullptr;
}

Value convertTo(Value value, c10::ScalarType type) {
  runtime::DType dtype = dtypeOf(type);
  if (value.shape().dtype == dtype)
    return value;
  Shape shape{dtype, value.shape().dims};
  return node("millrace::convert", {std::move(value)}, {Operand{0}}, shape);
}

Value expandTo(Value value, at::IntArrayRef sizes) {
  if (value.shape().dims == sizes)
    return value;
  Shape shape{value.shape().dtype, sizes.vec()};
  return node("millrace::expand", {std::move(value)}, {Operand{0}}, shape);
}

void assign(const Tensor &xla, const Value &result) {
  const Shape &shape = result.shape();
  if (dtypeOf(xla.scalar_type()) != shape.dtype) {
    c10::ScalarType type = scalarTypeOf(shape.dtype);
    TORCH_CHECK(c10::canCast(type, xla.scalar_type()), "result type ", type,
                " can't be cast to the desired output type ", xla.scalar_type());
  }
  TORCH_CHECK(xla.sizes() == at::IntArrayRef(shape.dims), "output with shape ", xla.sizes(),
              " doesn't match the broadcast shape ", at::IntArrayRef(shape.dims));
  setValue(xla, convertTo(result, xla.scalar_type()));
}

void resizeTo(const Tensor &xla, at::IntArrayRef sizes) {
  at::TensorImpl *impl = xla.unsafeGetTensorImpl();
  if (impl->sizes() == sizes)
    return;
  std::lock_guard lock(Session::get().mutex);
  Storage &storage = *storageOf(impl);
  Shape whole = storage.base.shape();
  int64_t needed = impl->storage_offset() + c10::multiply_integers(sizes);
  if (needed * int64_t(impl->itemsize()) > int64_t(bytesOf(whole))) { // more memory: what is new has no defined value
    runtime::DType dtype = dtypeOf(xla.scalar_type());
    Value zero = convertTo(tracing::number(int64_t(0), false), xla.scalar_type());
    Value grown = expandTo(zero, {needed});
    int64_t old = int64_t(bytesOf(whole) / impl->itemsize());
    if (old)
      grown = node("millrace::strided_write", {grown, baseAs(storage.base, dtype)},
                   {Operand{0}, Operand{1}, std::vector<int64_t>{old}, std::vector<int64_t>{1}, int64_t(0)},
                   {dtype, {needed}});
    storage.views.clear();
    storage.base = std::move(grown);
    storage.writtenIn = currentTrace();
    storage.set_nbytes(size_t(needed) * impl->itemsize());
  }
  impl->set_sizes_contiguous(sizes);
}

//===-- Transfers -----------------------------------------------------------===//

Tensor uploaded(const Tensor &cpu) {
  if (cpu.is_contiguous() || cpu.is_conj() || cpu.is_neg() || cpu.numel() == 0)
    return wrap(upload(cpu));
  auto order = memoryOrder(cpu.sizes(), cpu.strides());
  if (!order)
    return wrap(upload(cpu), at::infer_dense_strides(cpu.sizes(), cpu.strides()));
  return wrapMemory(upload(cpu.permute(*order)), cpu.sizes(), cpu.strides());
}

Value upload(const Tensor &cpu) {
  Tensor dense = cpu.resolve_conj().resolve_neg().contiguous();
  Shape shape{dtypeOf(dense.scalar_type()), dense.sizes().vec()};
  tracing::Metrics::get().count("InboundDataBytes", int64_t(dense.nbytes())); // as PyTorch/XLA names it: from the host
  tracing::Timed time("LazyTracing");
  return valueOrRaise(Session::get().upload(dense.const_data_ptr(), std::move(shape)));
}

Tensor toCpu(const Tensor &xla) {
  stopIfEnding();
  Value value;
  bool isMemory = false;
  noteStack();
  {
    std::lock_guard lock(Session::get().mutex);
    if (!xla.is_contiguous())
      value = memoryOf(xla);
    isMemory = bool(value);
    if (!isMemory)
      value = valueOf(xla);
    if (value.node->op || value.node->isParameter)
      abortCapture();
    refuseInTrace("a copy to the CPU");
    if (value.node->op) { // what it needs, and nothing else: the rest stays one graph
      tracing::ForAValue kept;
      runtime::Status status = Session::get().sync({value}, tracing::Roots::Some);
      if (!status.ok())
        raise(status);
    }
  }
  Tensor made = at::detail::empty_cpu(xla.sizes(), xla.scalar_type());
  tracing::Metrics::get().count("OutboundDataBytes", int64_t(made.nbytes()));
  tracing::Metrics::get().sample("InboundData", double(made.nbytes()));
  if (tracing::debugLevel())
    tracing::countPlace("read", tracing::currentStack());
  runtime::Status status = Session::get().download(value, made.mutable_data_ptr());
  tellTorchOfMemory();
  stopIfEnding();
  if (!status.ok())
    raise(status);
  if (isMemory)
    made = made.as_strided(xla.sizes(), xla.strides());
  // What the storage holds, read through the tensor's lazy conjugation and negation.
  if (xla.is_conj())
    made = made.conj().resolve_conj();
  return xla.is_neg() ? made.neg() : made;
}

} // namespace millrace::torch_shim
