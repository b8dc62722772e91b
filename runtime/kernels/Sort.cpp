// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Sort.cpp - Lines of tensors in order ---------------------------------===//
// Keys become unsigned numbers of the same order (OrderKey.h) and are sorted by their digits, the last one first. A line of which
// only the elements themselves are wanted is sorted as it is; otherwise keys travel with their positions, one key after the
// other from the least significant one, and every result is gathered in the end. Digits that are equal in all keys are skipped.
#include "runtime/kernels/Sort.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/kernels/OrderKey.h"
#include "runtime/kernels/WideVectors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <optional>

namespace millrace::runtime {
namespace {

/// A line of at most this length is sorted by insertion. Unit: elements. Source: judgement, not measured alone; commit 4b4b198 has the figures of the
/// whole change.
constexpr int64_t kMaxInsertedLine = 48;
/// Lines of at most this length are sorted side by side by a network. Unit: elements. Source: judgement, not measured alone; commit 3965a8d has the
/// figures of the whole change.
constexpr int64_t kMaxNetworkLine = 256;
/// Lines that are sorted side by side. Unit: lines. Source: arithmetic: 16 elements of f32 in 512 bits.
constexpr int64_t kLanes = 16;
/// Fewer lines are not sorted side by side: too many lanes would stay empty. Unit: lines. Source: judgement, not measured alone; commit 3965a8d has
/// the figures of the whole change.
constexpr int64_t kMinNetworkLines = 4;
/// Lines of at least this length are sorted by digits of 11 bits, shorter ones by digits of 8. Unit: elements. Source: judgement, not measured alone;
/// commit 4b4b198 has the figures of the whole change.
constexpr int64_t kMinWideDigitLine = 4096;
/// All threads sort a line of at least this length together. Unit: elements. Source: judgement, not measured alone; commit 4b4b198 has the figures of
/// the whole change.
constexpr int64_t kMinSharedLine = 1 << 16;
/// At most so many threads sort one line: each has a table of counts, and one thread adds up all tables. Unit: threads. Source: judgement, not
/// measured alone; commit 4b4b198 has the figures of the whole change.
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

/// Sorts `data` with `spare` as scratch memory. Returns the one of the two that holds the result.
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
  if (n <= kMaxInsertedLine) {
    insertionSort(data, n);
    return data;
  }
  return n < kMinWideDigitLine ? radixSort<T, 8>(data, spare, n) : radixSort<T, 11>(data, spare, n);
}

typedef uint8_t Lanes8 __attribute__((ext_vector_type(kLanes)));
typedef uint16_t Lanes16 __attribute__((ext_vector_type(kLanes)));
typedef uint32_t Lanes32 __attribute__((ext_vector_type(kLanes)));
typedef uint64_t Lanes64 __attribute__((ext_vector_type(kLanes), aligned(64)));

/// A compare-exchange of rows i and j of a table: the lesser element of each lane goes to row i.
struct Exchange {
  uint16_t i, j;
};

template <typename Row>
__attribute__((always_inline)) inline void exchangeRows(void *table, const Exchange *network, size_t count) {
  Row *rows = static_cast<Row *>(table);
  for (size_t e = 0; e < count; ++e) {
    Row a = rows[network[e].i], b = rows[network[e].j];
    rows[network[e].i] = __builtin_elementwise_min(a, b);
    rows[network[e].j] = __builtin_elementwise_max(a, b);
  }
}
MILLRACE_FOR_WIDE_VECTORS void exchange8(void *table, const Exchange *network, size_t count) { exchangeRows<Lanes8>(table, network, count); }
MILLRACE_FOR_WIDE_VECTORS void exchange16(void *table, const Exchange *network, size_t count) { exchangeRows<Lanes16>(table, network, count); }
MILLRACE_FOR_WIDE_VECTORS void exchange32(void *table, const Exchange *network, size_t count) { exchangeRows<Lanes32>(table, network, count); }
MILLRACE_FOR_WIDE_VECTORS void exchange64(void *table, const Exchange *network, size_t count) { exchangeRows<Lanes64>(table, network, count); }

/// Sorts every lane of a table of `n` rows.
class Network {
public:
  explicit Network(int64_t n) {
    for (int64_t p = 1; p < n; p *= 2)
      for (int64_t k = p; k >= 1; k /= 2)
        for (int64_t j = k % p; j + k < n; j += 2 * k)
          for (int64_t i = j; i < std::min(j + k, n - k); ++i)
            if (i / (2 * p) == (i + k) / (2 * p))
              exchanges.push_back({uint16_t(i), uint16_t(i + k)});
  }
  template <typename Bits>
  void sort(Bits *table) const {
    constexpr auto run = sizeof(Bits) == 1 ? exchange8 : sizeof(Bits) == 2 ? exchange16 : sizeof(Bits) == 4 ? exchange32 : exchange64;
    run(table, exchanges.data(), exchanges.size());
  }

private:
  std::vector<Exchange> exchanges;
};

int64_t partCount() { return std::min<int64_t>(ThreadPool::global().size(), kMaxThreads); }

/// Runs work(part, begin, end) for all parts of a line, each on one thread.
template <typename Work>
void inParts(int64_t n, Work &&work) {
  struct Context {
    int64_t n, part;
    Work &work;
  } context{n, (n + partCount() - 1) / partCount(), work};
  auto body = [](void *opaque, int64_t begin, int64_t end) -> int32_t {
    auto &c = *static_cast<Context *>(opaque);
    for (int64_t p = begin; p < end; ++p)
      c.work(p, std::min(c.n, p * c.part), std::min(c.n, (p + 1) * c.part));
    return 0;
  };
  ThreadPool::global().run(partCount(), 1, body, &context);
}

/// Radix sort of one line by all threads. Each thread counts and moves one part of the line; within a bucket the parts are in order.
template <typename Bits>
class SharedLine {
public:
  explicit SharedLine(int64_t n) : n(n), parts(partCount()), counts(new uint32_t[size_t(parts) * buckets]) {}

  /// Returns the bits in which the keys differ. `look(i)` returns those in which key i differs from a fixed key.
  template <typename Look>
  Bits varying(Look look) const {
    std::vector<Bits> found(size_t(parts), 0);
    inParts(n, [&](int64_t p, int64_t begin, int64_t end) {
      Bits bits = 0;
      for (int64_t i = begin; i < end; ++i)
        bits |= look(i);
      found[size_t(p)] = bits;
    });
    return std::reduce(found.begin(), found.end(), Bits(0), std::bit_or<>());
  }

  /// Returns the lowest bits of the digits to sort by, the last digit first.
  static std::vector<int> digits(Bits varying) {
    std::vector<int> shifts;
    for (int shift = 0; shift < int(8 * sizeof(Bits)) && Bits(varying >> shift); shift += digitBits) {
      shift += std::countr_zero(Bits(varying >> shift));
      shifts.push_back(shift);
    }
    return shifts;
  }

  /// Moves the elements by the digit from bit `shift` on: put(to, i) moves element i, whose key is keyAt(i), to position `to`.
  template <typename KeyAt, typename Put>
  void move(int shift, KeyAt keyAt, Put put) const {
    auto bucketOf = [&](int64_t i) { return (keyAt(i) >> shift) & (buckets - 1); };
    inParts(n, [&](int64_t p, int64_t begin, int64_t end) {
      uint32_t *mine = counts.get() + p * buckets;
      std::memset(mine, 0, buckets * sizeof(uint32_t));
      for (int64_t i = begin; i < end; ++i)
        ++mine[bucketOf(i)];
    });
    uint32_t sum = 0;
    for (int b = 0; b < buckets; ++b)
      for (int64_t p = 0; p < parts; ++p)
        sum += std::exchange(counts[size_t(p) * buckets + size_t(b)], sum);
    inParts(n, [&](int64_t p, int64_t begin, int64_t end) {
      uint32_t *next = counts.get() + p * buckets;
      for (int64_t i = begin; i < end; ++i)
        put(next[bucketOf(i)]++, i);
    });
  }

private:
  static constexpr int digitBits = sizeof(Bits) <= 2 ? 8 : 11, buckets = 1 << digitBits;
  const int64_t n, parts;
  std::unique_ptr<uint32_t[]> counts; ///< [parts][buckets]
};

/// A thread's scratch memory for sorting. The thread keeps most of it, since touching new pages costs as much as sorting.
class KeyMemory {
public:
  template <typename T>
  T *take(int64_t elements) {
    size_t bytes = size_t(elements) * sizeof(T);
    if (bytes <= kMaxKeptBytes)
      if (void *kept = threadScratch(bytes))
        return static_cast<T *>(kept);
    if (ownBytes < bytes) {
      ownBytes = 0;
      own.reset(); // freed before the next allocation
      own.reset(static_cast<char *>(::operator new[](bytes, kVectorAlignment)));
      ownBytes = bytes;
    }
    return reinterpret_cast<T *>(own.get());
  }

private:
  /// Fact: bytes of the widest vector.
  static constexpr std::align_val_t kVectorAlignment{64};
  struct Free {
    void operator()(char *memory) const { ::operator delete[](memory, kVectorAlignment); }
  };
  /// A thread releases more memory than this after a sort. Unit: bytes. Source: judgement, not measured alone; chosen in commit f7caa64.
  static constexpr size_t kMaxKeptBytes = size_t(32) << 20;
  std::unique_ptr<char[], Free> own;
  size_t ownBytes = 0;
};

struct Key {
  size_t operand;
  ElementOrder order;
};

/// One call: its keys and the operands that they sort. Line `l` of the tensors begins at element start(l); its elements are `stride` apart.
struct Sorting {
  const CustomCall &call;
  std::vector<Key> keys;
  std::vector<int64_t> results; ///< operand of each result; -1: positions
  int64_t length = 0, stride = 1, lines = 0;

  int64_t start(int64_t line) const { return line / stride * stride * length + line % stride; }

  /// Sorts lines [begin, end); if `shared`, all threads sort the one line.
  void run(int64_t begin, int64_t end, bool shared) const {
    size_t width = byteSize(call.arguments[keys.front().operand].dtype);
    bool onlyKey = keys.size() == 1 && results.size() == 1 && results[0] == int64_t(keys[0].operand);
    KeyMemory memory;
    bool isShort = !shared && length >= 2 && length <= kMaxNetworkLine && keys.size() == 1 && (onlyKey || width <= 4);
    std::optional<Network> network;
    if (isShort && end - begin >= kMinNetworkLines)
      network.emplace(length);
    for (int64_t line = begin; line < end; ++line) {
      bool done = false;
      if (network && end - line >= kMinNetworkLines) {
        int64_t count = std::min(kLanes, end - line);
        switch (width) {
        case 1: done = sortSideBySide<uint8_t>(line, count, *network, memory, onlyKey); break;
        case 2: done = sortSideBySide<uint16_t>(line, count, *network, memory, onlyKey); break;
        case 4: done = sortSideBySide<uint32_t>(line, count, *network, memory, onlyKey); break;
        case 8: done = sortSideBySide<uint64_t>(line, count, *network, memory, onlyKey); break;
        }
        if (done) {
          line += count - 1;
          continue;
        }
      }
      if (onlyKey)
        switch (width) {
        case 1: done = sortElements<uint8_t>(line, memory, shared); break;
        case 2: done = sortElements<uint16_t>(line, memory, shared); break;
        case 4: done = sortElements<uint32_t>(line, memory, shared); break;
        case 8: done = sortElements<uint64_t>(line, memory, shared); break;
        }
      if (!done)
        sortPositions(line, memory, shared);
    }
  }

private:
  /// Sorts lines [first, first + count), each in a lane. Returns false, with nothing written, if only the elements are wanted and some of them
  /// compare equal but have different bits.
  template <typename Bits>
  bool sortSideBySide(int64_t first, int64_t count, const Network &network, KeyMemory &memory, bool onlyKey) const {
    const ElementOrder &order = keys.front().order;
    const Bits *from = static_cast<const Bits *>(call.arguments[keys.front().operand].data);
    int64_t starts[kLanes];
    for (int64_t l = 0; l < kLanes; ++l)
      starts[l] = start(first + std::min(l, count - 1));
    if (onlyKey) {
      Bits *table = memory.take<Bits>(length * kLanes);
      Bits *to = static_cast<Bits *>(call.results[0].data);
      return order.withKey<Bits>([&](auto key) {
        Bits lost = 0;
        for (int64_t l = 0; l < kLanes; ++l)
          for (int64_t i = 0; i < length; ++i) {
            Bits bits = from[starts[l] + i * stride], made = key(bits);
            table[i * kLanes + l] = made;
            if (order.hasEqualElements())
              lost |= order.element(made) ^ bits;
          }
        if (lost)
          return false;
        network.sort(table);
        for (int64_t l = 0; l < count; ++l)
          for (int64_t i = 0; i < length; ++i)
            to[starts[l] + i * stride] = order.element(table[i * kLanes + l]);
        return true;
      });
    }
    // The position behind each key keeps equal keys in order.
    uint64_t *table = memory.take<uint64_t>(length * kLanes);
    order.withKey<Bits>([&](auto key) {
      for (int64_t l = 0; l < kLanes; ++l)
        for (int64_t i = 0; i < length; ++i)
          table[i * kLanes + l] = uint64_t(key(from[starts[l] + i * stride])) << 32 | uint64_t(i);
      return 0;
    });
    network.sort(table);
    uint32_t positions[kMaxNetworkLine];
    for (int64_t l = 0; l < count; ++l) {
      for (int64_t i = 0; i < length; ++i)
        positions[i] = uint32_t(table[i * kLanes + l]);
      for (size_t r = 0; r < results.size(); ++r)
        gather(r, first + l, positions, false);
    }
    return true;
  }

  /// Sorts one line without positions. Returns false, with nothing written, if some elements compare equal but have different bits.
  template <typename Bits>
  bool sortElements(int64_t line, KeyMemory &memory, bool shared) const {
    const ElementOrder &order = keys.front().order;
    const Bits *from = static_cast<const Bits *>(call.arguments[keys.front().operand].data) + start(line);
    Bits *to = static_cast<Bits *>(call.results[0].data) + start(line);
    Bits *data = memory.take<Bits>(2 * length), *spare = data + length;
    return order.withKey<Bits>([&](auto key) {
      if (shared)
        return sortElementsShared(from, to, data, spare, key);
      Bits lost = 0;
      for (int64_t i = 0; i < length; ++i) {
        Bits bits = from[i * stride], made = key(bits);
        data[i] = made;
        if (order.hasEqualElements())
          lost |= order.element(made) ^ bits;
      }
      if (lost)
        return false;
      const Bits *sorted = sortKeys(data, spare, length);
      for (int64_t i = 0; i < length; ++i)
        to[i * stride] = order.element(sorted[i]);
      return true;
    });
  }

  /// Sorts one line by all threads. The first move converts elements to keys, and the last one converts keys to elements.
  template <typename Bits, typename KeyOf>
  bool sortElementsShared(const Bits *from, Bits *to, Bits *data, Bits *spare, KeyOf key) const {
    const ElementOrder &order = keys.front().order;
    SharedLine<Bits> parts(length);
    if (order.hasEqualElements() && parts.varying([&](int64_t i) { return Bits(order.element(key(from[i * stride])) ^ from[i * stride]); }))
      return false;
    Bits first = key(from[0]);
    std::vector<int> digits = parts.digits(parts.varying([&](int64_t i) { return Bits(key(from[i * stride]) ^ first); }));
    auto fromLine = [&](int64_t i) { return key(from[i * stride]); };
    auto toLine = [&](int64_t at, Bits moved) { to[at * stride] = order.element(moved); };
    if (digits.empty())
      inParts(length, [&](int64_t, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          to[i * stride] = from[i * stride];
      });
    for (size_t d = 0; d < digits.size(); ++d) {
      auto fromData = [&](int64_t i) { return data[i]; };
      auto moveFrom = [&](auto source) {
        if (d + 1 == digits.size())
          parts.move(digits[d], source, [&](uint32_t at, int64_t i) { toLine(at, source(i)); });
        else
          parts.move(digits[d], source, [&](uint32_t at, int64_t i) { spare[at] = source(i); });
      };
      if (d == 0)
        moveFrom(fromLine);
      else
        moveFrom(fromData);
      std::swap(data, spare);
    }
    return true;
  }

  void sortPositions(int64_t line, KeyMemory &memory, bool shared) const {
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
      gather(r, line, positions, shared);
  }

  /// Sorts `positions` (null: 0, 1, 2, ...) by one key, stably, into `order`, which may be the same memory.
  template <typename Bits>
  void sortByKey(const Key &key, int64_t line, const uint32_t *positions, uint32_t *order, KeyMemory &memory, bool shared) const {
    using Entry = Tagged<Bits>;
    const Bits *from = static_cast<const Bits *>(call.arguments[key.operand].data) + start(line);
    Entry *data = memory.take<Entry>(2 * length), *spare = data + length;
    key.order.withKey<Bits>([&](auto encode) {
      auto entryAt = [&](int64_t i) {
        uint32_t at = positions ? positions[i] : uint32_t(i);
        return Entry{encode(from[at * stride]), at};
      };
      if (!shared) {
        for (int64_t i = 0; i < length; ++i)
          data[i] = entryAt(i);
        const Entry *sorted = sortKeys(data, spare, length);
        for (int64_t i = 0; i < length; ++i)
          order[i] = sorted[i].position;
        return 0;
      }
      SharedLine<Bits> parts(length);
      Bits first = encode(from[0]);
      auto store = [&](int64_t i) {
        data[i] = entryAt(i);
        return Bits(data[i].key ^ first);
      };
      for (int shift : parts.digits(parts.varying(store))) {
        parts.move(shift, [&](int64_t i) { return data[i].key; }, [&](uint32_t to, int64_t i) { spare[to] = data[i]; });
        std::swap(data, spare);
      }
      inParts(length, [&](int64_t, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          order[i] = data[i].position;
      });
      return 0;
    });
  }

  template <typename T, typename Make>
  void fill(size_t result, int64_t line, bool shared, Make make) const {
    T *to = static_cast<T *>(call.results[result].data) + start(line);
    auto part = [&](int64_t, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        to[i * stride] = make(i);
    };
    if (shared)
      inParts(length, part);
    else
      part(0, 0, length);
  }

  template <typename T>
  void gatherElements(size_t result, int64_t line, const uint32_t *positions, bool shared) const {
    if (results[result] < 0)
      return fill<T>(result, line, shared, [&](int64_t i) {
        T value{};
        std::memcpy(&value, &positions[i], std::min(sizeof(T), sizeof(uint32_t)));
        return value;
      });
    const T *from = static_cast<const T *>(call.arguments[size_t(results[result])].data) + start(line);
    fill<T>(result, line, shared, [&](int64_t i) { return from[positions[i] * stride]; });
  }

  void gather(size_t result, int64_t line, const uint32_t *positions, bool shared) const {
    struct Pair {
      uint64_t parts[2];
    };
    switch (byteSize(call.results[result].dtype)) {
    case 1: return gatherElements<uint8_t>(result, line, positions, shared);
    case 2: return gatherElements<uint16_t>(result, line, positions, shared);
    case 4: return gatherElements<uint32_t>(result, line, positions, shared);
    case 8: return gatherElements<uint64_t>(result, line, positions, shared);
    default: return gatherElements<Pair>(result, line, positions, shared);
    }
  }
};

/// Reads the attributes; returns false if they do not fit the operands.
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
  Sorting sorting{call, {}, {}};
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
  if (sorting.length >= kMinSharedLine && sorting.lines < pool.size()) {
    try {
      sorting.run(0, sorting.lines, true);
    } catch (const std::bad_alloc &) {
      code = 1;
    }
  } else {
    // Sorting takes some 10 nanoseconds per element and key, and two where lines are sorted side by side.
    bool isShort = sorting.length <= kMaxNetworkLine && sorting.keys.size() == 1;
    uint64_t picoseconds = uint64_t(sorting.length) * (isShort ? 2'000 : 10'000) * sorting.keys.size();
    uint64_t least = pool.leastPiece(false, picoseconds * uint64_t(sorting.lines));
    int64_t piece = pieceSize(sorting.lines, picoseconds, isShort ? uint64_t(kLanes) : 1, pool.size(), least);
    code = pool.run(sorting.lines, piece, pieces, &sorting);
  }
  return code == 0 ? Status() : resourceExhausted("no memory for sorting");
}

} // namespace millrace::runtime
