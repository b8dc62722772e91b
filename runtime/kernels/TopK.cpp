// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TopK.cpp - The k largest or smallest elements of every row ----------===//
// Elements become unsigned keys whose order is the one asked for (OrderKey.h). The best k so far are a heap with the worst on
// top: a row costs one comparison per element, and few of them go further.
#include "runtime/kernels/TopK.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/kernels/OrderKey.h"

#include <algorithm>
#include <cmath>
#include <new>

namespace millrace::runtime {
namespace {

template <typename Bits, typename Position, typename KeyOf>
void selectRow(const Bits *row, int64_t n, int64_t k, KeyOf key, Bits *values, Position *positions,
               std::vector<std::pair<Bits, int32_t>> &heap) {
  std::less<std::pair<Bits, int32_t>> before; // by key, equal ones by position
  heap.clear();
  for (int64_t i = 0; i < k; ++i)
    heap.emplace_back(key(row[i]), int32_t(i));
  std::make_heap(heap.begin(), heap.end(), before);
  Bits worst = heap.front().first;
  for (int64_t i = k; i < n; ++i) {
    Bits candidate = key(row[i]);
    if (candidate >= worst) // an equal one comes too late
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

template <typename Bits, typename Position>
Status select(const CustomCall &call, const ElementOrder &order) {
  const TensorView &x = call.arguments[0];
  int64_t n = x.dims.back(), k = call.results[0].dims.back();
  struct Work {
    const Bits *from;
    Bits *values;
    Position *positions;
    int64_t n, k;
    const ElementOrder &order;
  } work = {static_cast<const Bits *>(x.data), static_cast<Bits *>(call.results[0].data),
            static_cast<Position *>(call.results[1].data), n, k, order};
  auto rows = [](void *context, int64_t begin, int64_t end) -> int32_t {
    auto &work = *static_cast<Work *>(context);
    try {
      std::vector<std::pair<Bits, int32_t>> heap;
      heap.reserve(size_t(work.k));
      work.order.template withKey<Bits>([&](auto key) {
        for (int64_t row = begin; row < end; ++row)
          selectRow(work.from + row * work.n, work.n, work.k, key, work.values + row * work.k,
                    work.positions + row * work.k, heap);
        return 0;
      });
      return 0;
    } catch (const std::bad_alloc &) {
      return 1;
    }
  };
  ThreadPool &pool = ThreadPool::global();
  int64_t count = n ? x.elements() / n : 0;
  // About a nanosecond per element, and a heap operation for some of the first.
  uint64_t picoseconds = uint64_t(n) * 1000 + uint64_t(double(k) * std::log2(double(n) + 1) * 20000);
  int32_t code = k == 0 ? 0 : pool.run(count, pieceSize(count, picoseconds, 1, pool.size(), pool.leastPiece(false, picoseconds * uint64_t(count))), rows, &work);
  return code == 0 ? Status() : resourceExhausted("no memory for the selection");
}

template <typename Bits>
Status select(const CustomCall &call, const ElementOrder &order) {
  return call.results[1].dtype == DType::I32 ? select<Bits, int32_t>(call, order) : select<Bits, int64_t>(call, order);
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
           from.back() <= INT32_MAX && call.results[1].dims == to && call.results[0].dtype == call.arguments[0].dtype &&
           (call.results[1].dtype == DType::I32 || call.results[1].dtype == DType::I64);
  }
  if (!fits)
    return invalidArgument("expects [..., n] -> [..., k] of the same type and positions [..., k] of type i32 or i64, k <= n");
  DType type = call.arguments[0].dtype;
  ElementOrder order;
  if (!ElementOrder::of(type, flag("largest"), flag("total_order"), order))
    return unimplemented("top_k of " + std::string(name(type)));
  switch (byteSize(type)) {
  case 1: return select<uint8_t>(call, order);
  case 2: return select<uint16_t>(call, order);
  case 4: return select<uint32_t>(call, order);
  default: return select<uint64_t>(call, order);
  }
}

} // namespace millrace::runtime
