// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TopK.cpp - The k largest or smallest elements of every row ----------===//
// Elements become unsigned keys whose order is the one asked for (OrderKey.h). Vectors of elements are compared with
// the worst of the best k so far, and few of them go further: into a list that is in order, into a heap where k is large. Where k is a good
// part of a row, the k-th key is found by counting digits, and what is no worse is sorted by its digits.
#include "runtime/kernels/TopK.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/kernels/OrderKey.h"
#include "runtime/kernels/WideVectors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>
#include <utility>

namespace millrace::runtime {
namespace {

/// Elements that are compared at a time. Unit: elements. Source: arithmetic: 16 elements of f32 in 512 bits.
constexpr int64_t kLanes = 16;
/// At most so many selected elements are kept sorted, more of them in a heap. Unit: elements. Source: judgement, not measured alone; commit fcaad40
/// has the figures of the whole change.
constexpr int64_t kMaxOrdered = 16;
typedef bool LaneMask __attribute__((ext_vector_type(kLanes)));

template <typename Bits>
struct Ranked {
  Bits key;
  int32_t position; ///< orders equal elements
  bool operator<(const Ranked &other) const { return key != other.key ? key < other.key : position < other.position; }
};

/// Instantiates the functions below: Clang emits no function that only clones for other targets call.
template <typename Bits>
void replaceInHeap(Ranked<Bits> *best, int64_t k, Bits key, int32_t position) {
  std::pop_heap(best, best + k);
  best[k - 1] = {key, position};
  std::push_heap(best, best + k);
}
template void replaceInHeap(Ranked<uint8_t> *, int64_t, uint8_t, int32_t);
template void replaceInHeap(Ranked<uint16_t> *, int64_t, uint16_t, int32_t);
template void replaceInHeap(Ranked<uint32_t> *, int64_t, uint32_t, int32_t);
template void replaceInHeap(Ranked<uint64_t> *, int64_t, uint64_t, int32_t);

/// Replaces the worst element of `best` by a better one.
template <typename Bits>
__attribute__((always_inline)) inline void replaceWorst(Ranked<Bits> *best, int64_t k, Bits key, int32_t position) {
  if (k > kMaxOrdered)
    return replaceInHeap(best, k, key, position);
  int64_t hole = k - 1;
  for (; hole > 0 && key < best[hole - 1].key; --hole)
    best[hole] = best[hole - 1];
  best[hole].key = key;
  best[hole].position = position;
}

/// Puts the first k elements of the row into `best`, sorted or as a heap.
template <typename Bits>
void startWith(const Bits *row, int64_t k, const ElementOrder &order, Ranked<Bits> *best) {
  order.withKey<Bits>([&](auto key) {
    for (int64_t i = 0; i < k; ++i)
      best[i] = {key(row[i]), int32_t(i)};
    return 0;
  });
  k <= kMaxOrdered ? std::sort(best, best + k) : std::make_heap(best, best + k);
}

template <typename Bits>
__attribute__((always_inline)) inline void restOf(const Bits *row, int64_t n, int64_t k, const ElementOrder &order, Ranked<Bits> *best) {
  typedef Bits Lanes __attribute__((ext_vector_type(kLanes)));
  order.withKey<Bits>([&](auto key) __attribute__((always_inline)) {
    const Bits &worst = best[k <= kMaxOrdered ? k - 1 : 0].key;
    int64_t i = k;
    for (; i + kLanes <= n; i += kLanes) {
      Lanes keys;
#pragma clang loop unroll(full)
      for (int64_t lane = 0; lane < kLanes; ++lane)
        keys[lane] = key(row[i + lane]);
      auto bits = std::bit_cast<uint16_t>(__builtin_convertvector(keys < worst, LaneMask));
      for (; bits; bits &= uint16_t(bits - 1)) {
        int lane = std::countr_zero(bits);
        if (Bits candidate = key(row[i + lane]); candidate < worst) // an equal element at a later position is not selected
          replaceWorst(best, k, candidate, int32_t(i + lane));
      }
    }
    for (; i < n; ++i)
      if (Bits candidate = key(row[i]); candidate < worst)
        replaceWorst(best, k, candidate, int32_t(i));
    return 0;
  });
}

MILLRACE_FOR_WIDE_VECTORS void rest(const uint8_t *row, int64_t n, int64_t k, const ElementOrder &order, Ranked<uint8_t> *best) {
  restOf(row, n, k, order, best);
}
MILLRACE_FOR_WIDE_VECTORS void rest(const uint16_t *row, int64_t n, int64_t k, const ElementOrder &order, Ranked<uint16_t> *best) {
  restOf(row, n, k, order, best);
}
MILLRACE_FOR_WIDE_VECTORS void rest(const uint32_t *row, int64_t n, int64_t k, const ElementOrder &order, Ranked<uint32_t> *best) {
  restOf(row, n, k, order, best);
}
MILLRACE_FOR_WIDE_VECTORS void rest(const uint64_t *row, int64_t n, int64_t k, const ElementOrder &order, Ranked<uint64_t> *best) {
  restOf(row, n, k, order, best);
}

/// Returns true if k of n elements are so many that the heap would be replaced again and again.
bool areMany(int64_t n, int64_t k) {
  // A heap of at most so many elements is not replaced often. Unit: elements that are selected. Source: judgement, not measured alone; commit 9a33cd8
  // has the figures of the whole change.
  constexpr int64_t kMinCounted = 64;
  // If one in so many elements, or more, is selected, counting digits is faster than a heap that is replaced again and again. Unit: elements of the
  // row per selected element. Source: commit 9a33cd8, one thread: top_k of 5000 in 20011 0.84 to 0.10 ms.
  constexpr int64_t kShareCounted = 64;
  return k > kMinCounted && k >= n / kShareCounted;
}

/// Bits of a digit: its table of counts stays in the first-level cache. Unit: bits. Source: arithmetic: 256 counts of 8 bytes.
constexpr int kDigitBits = 8;
/// Fact: 2 to the power of kDigitBits.
constexpr int64_t kDigits = 1 << kDigitBits;

template <typename Bits>
int64_t digitOf(Bits key, int shift) {
  return int64_t(key >> shift) & (kDigits - 1);
}

/// Selects many elements: finds the k-th key digit by digit from the top, takes all better elements and the first ones of equal key, and sorts them
/// by digits from the bottom, which keeps equal elements in the order of their positions.
template <typename Bits>
struct ManySelection {
  std::vector<Bits> keys, candidates;
  std::vector<Ranked<Bits>> spare;
  ManySelection(int64_t n, int64_t k) : keys(size_t(n)), candidates(size_t(n)), spare(size_t(k)) {}

  /// Selects the k best elements into `best`, which has room for k + 1.
  void select(const Bits *row, int64_t n, int64_t k, const ElementOrder &order, std::vector<Ranked<Bits>> &best) {
    order.withKey<Bits>([&](auto key) {
      for (int64_t i = 0; i < n; ++i)
        keys[size_t(i)] = key(row[i]);
      return 0;
    });
    candidates = keys;
    Bits last = 0;
    int64_t left = k; // number of candidates that are among the best
    size_t count = size_t(n);
    for (int shift = int(sizeof(Bits)) * 8 - kDigitBits; shift >= 0; shift -= kDigitBits) {
      int64_t counts[kDigits] = {}, digit = 0;
      for (size_t i = 0; i < count; ++i)
        ++counts[digitOf(candidates[i], shift)];
      for (; counts[digit] < left; ++digit)
        left -= counts[digit];
      last = Bits(last | Bits(Bits(digit) << shift));
      size_t kept = 0;
      for (size_t i = 0; i < count; ++i) {
        Bits candidate = candidates[i];
        candidates[kept] = candidate;
        kept += digitOf(candidate, shift) == digit;
      }
      count = kept;
    }
    size_t found = 0;
    for (int64_t i = 0; i < n; ++i) {
      Bits key = keys[size_t(i)];
      bool isEqual = key == last && left > 0;
      left -= isEqual;
      best[found] = {key, int32_t(i)};
      found += key < last || isEqual;
    }
    for (int shift = 0; shift < int(sizeof(Bits)) * 8; shift += kDigitBits) {
      int64_t counts[kDigits] = {}, begin = 0;
      for (size_t i = 0; i < size_t(k); ++i)
        ++counts[digitOf(best[i].key, shift)];
      if (counts[digitOf(best[0].key, shift)] == k)
        continue; // all keys have the same digit
      for (int64_t &number : counts)
        begin += std::exchange(number, begin);
      for (size_t i = 0; i < size_t(k); ++i)
        spare[size_t(counts[digitOf(best[i].key, shift)]++)] = best[i];
      std::copy(spare.begin(), spare.end(), best.begin());
    }
  }
};

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
      const bool isMany = areMany(work.n, work.k);
      std::vector<Ranked<Bits>> ranked(static_cast<size_t>(work.k + isMany));
      ManySelection<Bits> many(isMany ? work.n : 0, isMany ? work.k : 0);
      for (int64_t row = begin; row < end; ++row) {
        const Bits *from = work.from + row * work.n;
        if (isMany) {
          many.select(from, work.n, work.k, work.order, ranked);
        } else {
          startWith(from, work.k, work.order, ranked.data());
          rest(from, work.n, work.k, work.order, ranked.data());
          if (work.k > kMaxOrdered)
            std::sort_heap(ranked.begin(), ranked.end());
        }
        for (int64_t i = 0; i < work.k; ++i) {
          work.values[row * work.k + i] = from[ranked[size_t(i)].position];
          work.positions[row * work.k + i] = ranked[size_t(i)].position;
        }
      }
      return 0;
    } catch (const std::bad_alloc &) {
      return 1;
    }
  };
  ThreadPool &pool = ThreadPool::global();
  int64_t count = n ? x.elements() / n : 0;
  // The cost is a nanosecond per vector of elements and a heap operation for some of the first ones, or some passes over all elements and over the
  // best.
  uint64_t picoseconds = areMany(n, k) ? uint64_t(n) * 3000 + uint64_t(k) * sizeof(Bits) * 2000
                                       : uint64_t(n) * 200 + uint64_t(double(k) * std::log2(double(n) + 1) * 5000);
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
