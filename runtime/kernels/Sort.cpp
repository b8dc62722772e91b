// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Sort.cpp - Lines of tensors in order ---------------------------------===//
// Keys become unsigned numbers of the same order (OrderKey.h) and are sorted by their digits, the last one first. A line of which
// only the elements themselves are wanted is sorted as it is; otherwise keys travel with their positions, one key after the
// other from the least significant one, and every result is gathered in the end. Digits that are equal in all keys are skipped.
#include "runtime/kernels/Sort.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/kernels/OrderKey.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <numeric>

namespace millrace::runtime {
namespace {

constexpr int64_t kShortLine = 48;         ///< sorted by insertion
constexpr int64_t kWideDigits = 4096;      ///< from this length on digits have 11 bits, before 8
constexpr int64_t kSharedLine = 1 << 16;   ///< from this length on all threads sort one line
constexpr int kMaxThreads = 32;

template <typename Bits>
struct Tagged {
  Bits key;
  uint32_t position;
};
template <typename T>
T keyOf(T value) { return value; }
template <typename Bits>
Bits keyOf(Tagged<Bits> value) { return value.key; }
template <typename T>
using KeyType = decltype(keyOf(T()));

template <typename T>
void insertionSort(T *data, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    T moving = data[i];
    int64_t hole = i;
    for (; hole > 0 && keyOf(moving) < keyOf(data[hole - 1]); --hole)
      data[hole] = data[hole - 1];
    data[hole] = moving;
  }
}

/// Sorts `data` with the help of `spare`; returns which of the two holds the result.
template <typename T, int digitBits>
T *radixSort(T *data, T *spare, int64_t n) {
  using Bits = KeyType<T>;
  constexpr int keyBits = 8 * sizeof(Bits), digits = (keyBits + digitBits - 1) / digitBits, buckets = 1 << digitBits;
  uint32_t counts[digits][buckets];
  std::memset(counts, 0, sizeof counts);
  for (int64_t i = 0; i < n; ++i) {
    Bits key = keyOf(data[i]);
    for (int d = 0; d < digits; ++d)
      ++counts[d][(key >> (d * digitBits)) & (buckets - 1)];
  }
  for (int d = 0; d < digits; ++d) {
    int shift = d * digitBits;
    uint32_t *next = counts[d];
    if (next[(keyOf(data[0]) >> shift) & (buckets - 1)] == uint32_t(n))
      continue;
    uint32_t sum = 0;
    for (int b = 0; b < buckets; ++b)
      sum += std::exchange(next[b], sum);
    for (int64_t i = 0; i < n; ++i) {
      T value = data[i];
      spare[next[(keyOf(value) >> shift) & (buckets - 1)]++] = value;
    }
    std::swap(data, spare);
  }
  return data;
}

template <typename T>
T *sortKeys(T *data, T *spare, int64_t n) {
  if (n <= kShortLine) {
    insertionSort(data, n);
    return data;
  }
  return n < kWideDigits ? radixSort<T, 8>(data, spare, n) : radixSort<T, 11>(data, spare, n);
}

/// The same with all threads of the pool: each counts and moves one part of the line, parts in order within a bucket.
template <typename T>
T *sortKeysShared(T *data, T *spare, int64_t n) {
  using Bits = KeyType<T>;
  constexpr int digitBits = sizeof(Bits) <= 2 ? 8 : 11, buckets = 1 << digitBits;
  ThreadPool &pool = ThreadPool::global();
  struct Work {
    T *from, *to;
    int64_t n, part;
    int shift;
    std::unique_ptr<uint32_t[]> counts; ///< [parts][buckets]
  } work;
  int64_t parts = std::min<int64_t>(pool.size(), kMaxThreads);
  work.from = data, work.to = spare, work.n = n, work.part = (n + parts - 1) / parts;
  work.counts = std::make_unique<uint32_t[]>(size_t(parts) * buckets);
  auto digit = [](const Work &w, T value) { return (keyOf(value) >> w.shift) & (buckets - 1); };
  for (work.shift = 0; work.shift < int(8 * sizeof(Bits)); work.shift += digitBits) {
    auto count = [](void *context, int64_t begin, int64_t end) -> int32_t {
      auto &w = *static_cast<Work *>(context);
      for (int64_t p = begin; p < end; ++p) {
        uint32_t *counts = w.counts.get() + p * buckets;
        std::memset(counts, 0, buckets * sizeof(uint32_t));
        for (int64_t i = p * w.part, last = std::min(w.n, (p + 1) * w.part); i < last; ++i)
          ++counts[(keyOf(w.from[i]) >> w.shift) & (buckets - 1)];
      }
      return 0;
    };
    pool.run(parts, 1, count, &work);
    uint32_t sum = 0, first = uint32_t(digit(work, work.from[0])), inFirst = 0;
    for (int b = 0; b < buckets; ++b)
      for (int64_t p = 0; p < parts; ++p) {
        uint32_t &entry = work.counts[size_t(p) * buckets + b];
        if (uint32_t(b) == first)
          inFirst += entry;
        sum += std::exchange(entry, sum);
      }
    if (inFirst == uint32_t(n))
      continue;
    auto move = [](void *context, int64_t begin, int64_t end) -> int32_t {
      auto &w = *static_cast<Work *>(context);
      for (int64_t p = begin; p < end; ++p) {
        uint32_t *next = w.counts.get() + p * buckets;
        for (int64_t i = p * w.part, last = std::min(w.n, (p + 1) * w.part); i < last; ++i) {
          T value = w.from[i];
          w.to[next[(keyOf(value) >> w.shift) & (buckets - 1)]++] = value;
        }
      }
      return 0;
    };
    pool.run(parts, 1, move, &work);
    std::swap(work.from, work.to);
  }
  return work.from;
}

struct Key {
  size_t operand;
  ElementOrder order;
};

/// One call: what is sorted by what. Line `l` of the tensors begins at element start(l); its elements are `stride` apart.
struct Sorting {
  const CustomCall &call;
  std::vector<Key> keys;
  std::vector<int64_t> results; ///< operands; -1: positions
  int64_t length = 0, stride = 1, lines = 0;

  int64_t start(int64_t line) const { return line / stride * stride * length + line % stride; }

  /// Sorts lines [begin, end); `shared`: one line, by all threads.
  void run(int64_t begin, int64_t end, bool shared) const {
    size_t width = byteSize(call.arguments[keys.front().operand].dtype);
    bool onlyKey = keys.size() == 1 && results.size() == 1 && results[0] == int64_t(keys[0].operand);
    std::unique_ptr<char[]> memory(new char[size_t(length) * 2 * 16]);
    for (int64_t line = begin; line < end; ++line) {
      bool done = false;
      if (onlyKey)
        switch (width) {
        case 1: done = sortElements<uint8_t>(line, memory.get(), shared); break;
        case 2: done = sortElements<uint16_t>(line, memory.get(), shared); break;
        case 4: done = sortElements<uint32_t>(line, memory.get(), shared); break;
        case 8: done = sortElements<uint64_t>(line, memory.get(), shared); break;
        }
      if (!done)
        sortPositions(line, memory.get(), shared);
    }
  }

private:
  /// False, with nothing written, if the line holds elements that are equal but not the same.
  template <typename Bits>
  bool sortElements(int64_t line, char *memory, bool shared) const {
    const ElementOrder &order = keys.front().order;
    const Bits *from = static_cast<const Bits *>(call.arguments[keys.front().operand].data) + start(line);
    Bits *to = static_cast<Bits *>(call.results[0].data) + start(line);
    Bits *data = reinterpret_cast<Bits *>(memory), *spare = data + length;
    bool lossless = order.withKey<Bits>([&](auto key) {
      Bits lost = 0;
      for (int64_t i = 0; i < length; ++i) {
        Bits bits = from[i * stride], made = key(bits);
        data[i] = made;
        if (order.hasEqualElements())
          lost |= order.element(made) ^ bits;
      }
      return lost == 0;
    });
    if (!lossless)
      return false;
    const Bits *sorted = shared ? sortKeysShared(data, spare, length) : sortKeys(data, spare, length);
    for (int64_t i = 0; i < length; ++i)
      to[i * stride] = order.element(sorted[i]);
    return true;
  }

  void sortPositions(int64_t line, char *memory, bool shared) const {
    const uint32_t *positions = nullptr;
    std::unique_ptr<uint32_t[]> order(new uint32_t[size_t(length)]);
    for (size_t k = keys.size(); k-- > 0; positions = order.get())
      switch (byteSize(call.arguments[keys[k].operand].dtype)) {
      case 1: sortByKey<uint8_t>(keys[k], line, positions, order.get(), memory, shared); break;
      case 2: sortByKey<uint16_t>(keys[k], line, positions, order.get(), memory, shared); break;
      case 4: sortByKey<uint32_t>(keys[k], line, positions, order.get(), memory, shared); break;
      default: sortByKey<uint64_t>(keys[k], line, positions, order.get(), memory, shared); break;
      }
    for (size_t r = 0; r < results.size(); ++r)
      gather(r, line, positions);
  }

  /// Stable sort of `positions` (null: 0, 1, 2, ...) by one key, into `order`, which may be the same memory.
  template <typename Bits>
  void sortByKey(const Key &key, int64_t line, const uint32_t *positions, uint32_t *order, char *memory, bool shared) const {
    using Entry = Tagged<Bits>;
    const Bits *from = static_cast<const Bits *>(call.arguments[key.operand].data) + start(line);
    Entry *data = reinterpret_cast<Entry *>(memory), *spare = data + length;
    key.order.withKey<Bits>([&](auto encode) {
      for (int64_t i = 0; i < length; ++i) {
        uint32_t at = positions ? positions[i] : uint32_t(i);
        data[i] = {encode(from[at * stride]), at};
      }
      return 0;
    });
    const Entry *sorted = shared ? sortKeysShared(data, spare, length) : sortKeys(data, spare, length);
    for (int64_t i = 0; i < length; ++i)
      order[i] = sorted[i].position;
  }

  template <typename T, typename Make>
  void fill(size_t result, int64_t line, Make make) const {
    T *to = static_cast<T *>(call.results[result].data) + start(line);
    for (int64_t i = 0; i < length; ++i)
      to[i * stride] = make(i);
  }

  template <typename T>
  void gatherElements(size_t result, int64_t line, const uint32_t *positions) const {
    if (results[result] < 0)
      return fill<T>(result, line, [&](int64_t i) {
        T value{};
        std::memcpy(&value, &positions[i], std::min(sizeof(T), sizeof(uint32_t)));
        return value;
      });
    const T *from = static_cast<const T *>(call.arguments[size_t(results[result])].data) + start(line);
    fill<T>(result, line, [&](int64_t i) { return from[positions[i] * stride]; });
  }

  void gather(size_t result, int64_t line, const uint32_t *positions) const {
    struct Pair {
      uint64_t parts[2];
    };
    switch (byteSize(call.results[result].dtype)) {
    case 1: return gatherElements<uint8_t>(result, line, positions);
    case 2: return gatherElements<uint16_t>(result, line, positions);
    case 4: return gatherElements<uint32_t>(result, line, positions);
    case 8: return gatherElements<uint64_t>(result, line, positions);
    default: return gatherElements<Pair>(result, line, positions);
    }
  }
};

/// Reads the attributes; false if they do not fit the operands.
bool describe(Sorting &sorting) {
  const CustomCall &call = sorting.call;
  auto list = [&](const char *name) -> const std::vector<int64_t> * {
    const Attribute *attribute = call.attribute(name);
    return attribute ? &attribute->ints : nullptr;
  };
  const auto *dimension = list("dimension"), *keys = list("keys"), *descending = list("descending"), *total = list("total"),
             *results = list("results");
  if (!dimension || dimension->size() != 1 || !keys || keys->empty() || !descending || descending->size() != keys->size() ||
      !total || total->size() != keys->size() || !results || results->size() != call.results.size() || call.arguments.empty())
    return false;
  const std::vector<int64_t> &dims = call.arguments[0].dims;
  int64_t d = dimension->front(), rank = int64_t(dims.size()), count = int64_t(call.arguments.size());
  if (d < 0 || d >= rank || dims[size_t(d)] > int64_t(std::numeric_limits<uint32_t>::max()))
    return false;
  for (size_t k = 0; k < keys->size(); ++k) {
    Key key{size_t((*keys)[k]), {}};
    if ((*keys)[k] < 0 || (*keys)[k] >= count ||
        !ElementOrder::of(call.arguments[key.operand].dtype, (*descending)[k] != 0, (*total)[k] != 0, key.order))
      return false;
    sorting.keys.push_back(key);
  }
  for (const auto &tensors : {call.arguments, call.results})
    for (const TensorView &tensor : tensors)
      if (tensor.dims != dims)
        return false;
  for (size_t r = 0; r < results->size(); ++r) {
    int64_t from = (*results)[r];
    DType type = call.results[r].dtype;
    if (from >= count || (from < 0 ? !isInteger(type) : type != call.arguments[size_t(from)].dtype))
      return false;
  }
  sorting.results = *results;
  sorting.length = dims[size_t(d)];
  sorting.stride = std::accumulate(dims.begin() + d + 1, dims.end(), int64_t(1), std::multiplies<>());
  sorting.lines = sorting.length ? call.arguments[0].elements() / sorting.length : 0;
  return true;
}

} // namespace

Status sort(const CustomCall &call) {
  Sorting sorting{call};
  if (!describe(sorting))
    return invalidArgument("expects operands and results of one shape with the attributes dimension, keys, descending, total, results");
  if (sorting.length == 0 || sorting.lines == 0)
    return Status();
  auto pieces = [](void *context, int64_t begin, int64_t end) -> int32_t {
    try {
      static_cast<const Sorting *>(context)->run(begin, end, false);
      return 0;
    } catch (const std::bad_alloc &) {
      return 1;
    }
  };
  ThreadPool &pool = ThreadPool::global();
  int32_t code = 0;
  if (sorting.length >= kSharedLine && sorting.lines < pool.size()) {
    try {
      sorting.run(0, sorting.lines, true);
    } catch (const std::bad_alloc &) {
      code = 1;
    }
  } else {
    // Some 10 nanoseconds per element and key.
    uint64_t picoseconds = uint64_t(sorting.length) * 10'000 * sorting.keys.size();
    code = pool.run(sorting.lines, pieceSize(sorting.lines, picoseconds, 1, pool.size()), pieces, &sorting);
  }
  return code == 0 ? Status() : resourceExhausted("no memory for sorting");
}

} // namespace millrace::runtime
