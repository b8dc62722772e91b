// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ffi_handlers.cc - What a user of jax.ffi writes ---------------------===//
// Compiled by test_ffi.py with g++ against the header that jaxlib ships.
#include "xla/ffi/api/ffi.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace ffi = xla::ffi;

// y = scale * x + offset[0], and every other kind of attribute.
static ffi::Error scale(ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y, float factor, int64_t power,
                        std::string_view mode, ffi::Span<const float> offsets, bool negate, ffi::Dictionary more) {
  auto bias = more.get<int32_t>("bias");
  if (!bias.has_value())
    return ffi::Error::InvalidArgument("no bias");
  if (mode == "refuse")
    return ffi::Error(ffi::ErrorCode::kOutOfRange, "this mode is refused: " + std::string(mode));
  float sum = float(*bias);
  for (float offset : offsets)
    sum += offset;
  for (size_t i = 0; i < x.element_count(); ++i) {
    float value = 1;
    for (int64_t p = 0; p < power; ++p)
      value *= x.typed_data()[i];
    value = factor * value + sum;
    y->typed_data()[i] = negate ? -value : value;
  }
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Scale, scale,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>()
                                  .Attr<float>("factor")
                                  .Attr<int64_t>("power")
                                  .Attr<std::string_view>("mode")
                                  .Attr<ffi::Span<const float>>("offsets")
                                  .Attr<bool>("negate")
                                  .Attr<ffi::Dictionary>("more"));

// The elements in the order in which they lie in memory, and the sizes.
static ffi::Error memoryOrder(ffi::AnyBuffer x, ffi::ResultBuffer<ffi::F32> y, ffi::ResultBuffer<ffi::S64> dims) {
  for (size_t i = 0; i < x.element_count(); ++i)
    y->typed_data()[i] = x.typed_data<float>()[i];
  for (size_t i = 0; i < x.dimensions().size(); ++i)
    dims->typed_data()[i] = x.dimensions()[i];
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(MemoryOrder, memoryOrder,
                              ffi::Ffi::Bind()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::S64>>());

// Adds one where the operand lies, if the result is in the same place.
static ffi::Error inPlace(ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  if (x.typed_data() != y->typed_data())
    return ffi::Error::Internal("operand and result are not aliased");
  for (size_t i = 0; i < x.element_count(); ++i)
    y->typed_data()[i] += 1;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(InPlace, inPlace, ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());

// How often this place of call was executed.
struct Counter {
  static ffi::TypeId id;
  static std::atomic<int> alive;
  int64_t start = 0;
  std::atomic<int64_t> calls{0};
  Counter() { ++alive; }
  ~Counter() { --alive; }
};
ffi::TypeId Counter::id = {};
std::atomic<int> Counter::alive{0};
static ffi::ErrorOr<std::unique_ptr<Counter>> makeCounter(int64_t start) {
  auto counter = std::make_unique<Counter>();
  counter->start = start;
  return ffi::ErrorOr<std::unique_ptr<Counter>>(std::move(counter));
}
static ffi::Error count(Counter *counter, ffi::ResultBuffer<ffi::S64> y) {
  y->typed_data()[0] = counter->start + ++counter->calls;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(CounterInstantiate, makeCounter,
                              ffi::Ffi::BindInstantiate().Attr<int64_t>("start"));
#if XLA_FFI_API_MINOR >= 3
XLA_FFI_DEFINE_HANDLER_SYMBOL(CounterExecute, count,
                              ffi::Ffi::Bind().Ctx<ffi::State<Counter>>().Ret<ffi::Buffer<ffi::S64>>());
#else // every stage binds every attribute
static ffi::Error countFrom(Counter *counter, ffi::ResultBuffer<ffi::S64> y, int64_t) { return count(counter, y); }
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    CounterExecute, countFrom,
    ffi::Ffi::Bind().Ctx<ffi::State<Counter>>().Ret<ffi::Buffer<ffi::S64>>().Attr<int64_t>("start"));
#endif
extern "C" ffi::TypeId *counterTypeId() { return &Counter::id; }
extern "C" const void *counterTypeInfo() {
#if XLA_FFI_API_MINOR >= 2
  static auto info = ffi::MakeTypeInfo<Counter>();
#else // jaxlib 0.8
  static auto info = ffi::TypeInfo<Counter>();
#endif
  return &info;
}
extern "C" int countersAlive() { return Counter::alive; }

// Sum of squares on the threads of the runtime; device and run.
static ffi::Error threads(ffi::ThreadPool pool, ffi::RunId run, ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y,
                          ffi::ResultBuffer<ffi::S64> about) {
  std::vector<float> squares(x.element_count());
  std::atomic<size_t> open{squares.size()};
  for (size_t i = 0; i < squares.size(); ++i)
    pool.Schedule([&, i] {
      squares[i] = x.typed_data()[i] * x.typed_data()[i];
      --open;
    });
  while (open)
    std::this_thread::yield();
  y->typed_data()[0] = 0;
  for (float square : squares)
    y->typed_data()[0] += square;
  about->typed_data()[0] = pool.num_threads();
  about->typed_data()[1] = run.run_id;
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Threads, threads,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Ctx<ffi::RunId>()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::S64>>());

// Completed by another thread after it has returned.
static ffi::Future later(ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  ffi::Promise promise;
  ffi::Future future(promise);
  float *out = y->typed_data();
  std::thread([promise = std::move(promise), out, value = x.typed_data()[0]]() mutable {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (value < 0) {
      promise.SetError(ffi::Error::Internal("negative, as it turned out"));
    } else {
      out[0] = 2 * value;
      promise.SetAvailable();
    }
  }).detach();
  return future;
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(Later, later, ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());

// An untyped function: y = x0 + x1, four floats.
extern "C" void untypedAdd(void *out, const void **in) {
  for (int i = 0; i < 4; ++i)
    static_cast<float *>(out)[i] = static_cast<const float *>(in[0])[i] + static_cast<const float *>(in[1])[i];
}
