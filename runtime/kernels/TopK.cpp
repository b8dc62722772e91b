// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TopK.cpp - The k largest or smallest elements of every row ----------===//
// Elements become unsigned keys whose order is the one asked for. The best k so far are a heap with the worst on top: a
// row costs one comparison per element, and few of them go further.
#include "runtime/kernels/TopK.h"
#include "runtime/base/ThreadPool.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <type_traits>

namespace millrace::runtime {
namespace {

/// Key of the bits of an element: the larger, the earlier.
template <typename Bits, bool isFloat, bool isSigned>
struct Key {
  bool largest, total;
  Bits operator()(Bits bits) const {
    constexpr Bits sign = Bits(1) << (8 * sizeof(Bits) - 1);
    if constexpr (isFloat) {
      if (!total && bits == sign)
        bits = 0;
      bits = bits & sign ? Bits(~bits) : Bits(bits | sign);
    } else if constexpr (isSigned) {
      bits = Bits(bits ^ sign);
    }
    return largest ? bits : Bits(~bits);
  }
};

template <typename Bits, typename KeyOf>
void selectRow(const Bits *row, int64_t n, int64_t k, KeyOf key, Bits *values, int32_t *positions,
               std::vector<std::pair<Bits, int32_t>> &heap) {
  using Entry = std::pair<Bits, int32_t>;
  auto before = [](const Entry &a, const Entry &b) { return a.first != b.first ? a.first > b.first : a.second < b.second; };
  heap.clear();
  for (int64_t i = 0; i < k; ++i)
    heap.emplace_back(key(row[i]), int32_t(i));
  std::make_heap(heap.begin(), heap.end(), before);
  Bits worst = heap.front().first;
  for (int64_t i = k; i < n; ++i) {
    Bits candidate = key(row[i]);
    if (candidate <= worst) // an equal one comes too late
      continue;
    std::pop_heap(heap.begin(), heap.end(), before);
    heap.back() = {candidate, int32_t(i)};
    std::push_heap(heap.begin(), heap.end(), before);
    worst = heap.front().first;
  }
  std::sort_heap(heap.begin(), heap.end(), before);
  for (int64_t i = 0; i < k; ++i)
    values[i] = row[heap[i].second], positions[i] = heap[i].second;
}

template <typename Bits, bool isFloat, bool isSigned>
Status select(const CustomCall &call, bool largest, bool total) {
  const TensorView &x = call.arguments[0];
  int64_t n = x.dims.back(), k = call.results[0].dims.back();
  struct Work {
    const Bits *from;
    Bits *values;
    int32_t *positions;
    int64_t n, k;
    Key<Bits, isFloat, isSigned> key;
  } work = {static_cast<const Bits *>(x.data), static_cast<Bits *>(call.results[0].data),
            static_cast<int32_t *>(call.results[1].data), n, k, {largest, total}};
  auto rows = [](void *context, int64_t begin, int64_t end) -> int32_t {
    auto &work = *static_cast<Work *>(context);
    try {
      std::vector<std::pair<Bits, int32_t>> heap;
      heap.reserve(size_t(work.k));
      for (int64_t row = begin; row < end; ++row)
        selectRow(work.from + row * work.n, work.n, work.k, work.key, work.values + row * work.k,
                  work.positions + row * work.k, heap);
      return 0;
    } catch (const std::bad_alloc &) {
      return 1;
    }
  };
  ThreadPool &pool = ThreadPool::global();
  int64_t count = n ? x.elements() / n : 0;
  // About a nanosecond per element, and a heap operation for some of the first.
  uint64_t picoseconds = uint64_t(n) * 1000 + uint64_t(double(k) * std::log2(double(n) + 1) * 20000);
  int32_t code = k == 0 ? 0 : pool.run(count, pieceSize(count, picoseconds, 1, pool.size()), rows, &work);
  return code == 0 ? Status() : resourceExhausted("no memory for the selection");
}

} // namespace

Status topK(const CustomCall &call) {
  auto flag = [&](const char *name) {
    const Attribute *attribute = call.attribute(name);
    return attribute && attribute->ints.size() == 1 && attribute->ints[0] != 0;
  };
  bool fits = call.arguments.size() == 1 && call.results.size() == 2 && !call.arguments[0].dims.empty();
  if (fits) {
    const std::vector<int64_t> &from = call.arguments[0].dims, &to = call.results[0].dims;
    fits = from.size() == to.size() && std::equal(to.begin(), to.end() - 1, from.begin()) && to.back() <= from.back() &&
           from.back() <= INT32_MAX && call.results[1].dims == to && call.results[1].dtype == DType::I32 &&
           call.results[0].dtype == call.arguments[0].dtype;
  }
  if (!fits)
    return invalidArgument("expects [..., n] -> [..., k] of the same type and positions [..., k] of type i32, k <= n");
  bool largest = flag("largest"), total = flag("total_order");
  switch (call.arguments[0].dtype) {
  case DType::F32: return select<uint32_t, true, true>(call, largest, total);
  case DType::F64: return select<uint64_t, true, true>(call, largest, total);
  case DType::F16:
  case DType::BF16: return select<uint16_t, true, true>(call, largest, total);
  case DType::I8: return select<uint8_t, false, true>(call, largest, total);
  case DType::I16: return select<uint16_t, false, true>(call, largest, total);
  case DType::I32: return select<uint32_t, false, true>(call, largest, total);
  case DType::I64: return select<uint64_t, false, true>(call, largest, total);
  case DType::U8: return select<uint8_t, false, false>(call, largest, total);
  case DType::U16: return select<uint16_t, false, false>(call, largest, total);
  case DType::U32: return select<uint32_t, false, false>(call, largest, total);
  case DType::U64: return select<uint64_t, false, false>(call, largest, total);
  default: break;
  }
  return unimplemented("top_k of " + std::string(name(call.arguments[0].dtype)));
}

} // namespace millrace::runtime
