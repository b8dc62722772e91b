// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Scan.cpp - Running sums, products, minima and maxima -----------------===//
// A scan is limited by the latency of its operation: several lines run interleaved, and sums and products are formed in vectors, whose lanes are
// combined in log steps before they are combined with the running result. A long line is divided into blocks: their totals are scanned, and then the
// blocks are lines that start with the total of all earlier blocks.
#include "runtime/kernels/Scan.h"
#include "runtime/base/ThreadPool.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <numeric>
#include <span>
#include <type_traits>

namespace millrace::runtime {
namespace {

/// Lines that are scanned side by side, so that no operation waits for the one before. Unit: lines. Source: judgement, not measured alone; commit
/// f0202b4 has the figures of the whole change.
constexpr int64_t kTogether = 8;
/// Elements of each line that are loaded at once. Unit: elements of a line. Source: judgement, not measured alone: without tiles, lines a multiple of
/// 4 KiB apart displace each other in the cache (cumsum of 256x4096 8.1 to 0.93 ms).
constexpr int64_t kElementsOfTile = 64;
/// Strided lines of one piece. Unit: lines. Source: judgement, not measured alone; commit f0202b4 has the figures of the whole change.
constexpr int64_t kColumnsOfPiece = 256;
/// Elements of one block of a long line. Unit: elements. Source: judgement, not measured alone; commit f0202b4 has the figures of the whole change.
constexpr int64_t kElementsOfBlock = 4096;
/// Threads share a line of at least this length. Unit: elements. Source: judgement, not measured alone; commit f0202b4 has the figures of the whole
/// change.
constexpr int64_t kMinSharedLine = 1 << 16;

/// The type in which a sum or product is computed: integers wrap around.
template <typename T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
template <typename T>
struct Add {
  T operator()(T a, T b) const { return T(Wrapping<T>(a) + Wrapping<T>(b)); }
};
template <typename T>
struct Multiply {
  T operator()(T a, T b) const { return T(Wrapping<T>(a) * Wrapping<T>(b)); }
};
/// The minimum or maximum of two values that are not NaN; -0 is less than 0. For a NaN the result is a NaN with other bits.
template <typename T, bool isMaximum>
struct ExtremeNumber {
  T operator()(T a, T b) const {
    // The instruction returns its second operand if neither is less; both orders of the operands together give both zeros.
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    Bits x = std::bit_cast<Bits>(isMaximum ? (a > b ? a : b) : (a < b ? a : b));
    Bits y = std::bit_cast<Bits>(isMaximum ? (b > a ? b : a) : (b < a ? b : a));
    constexpr Bits quiet = std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN());
    return std::bit_cast<T>(isMaximum ? Bits((x & y) | ((a != a) | (b != b) ? quiet : Bits(0))) : Bits(x | y));
  }
};
/// The minimum or maximum, where a NaN wins and keeps its sign and payload: a total order distinguishes them.
template <typename T, bool isMaximum>
struct ExtremeFloat {
  using OfNumbers = ExtremeNumber<T, isMaximum>;
  T operator()(T a, T b) const { return std::isunordered(a, b) ? a + b : OfNumbers()(a, b); }
};
template <typename T, bool isMaximum>
struct ExtremeInteger {
  T operator()(T a, T b) const { return (isMaximum ? a > b : a < b) ? a : b; }
};
template <typename T, bool isMaximum>
using Extreme = std::conditional_t<std::is_floating_point_v<T>, ExtremeFloat<T, isMaximum>, ExtremeInteger<T, isMaximum>>;

/// Runs compute(operation), which leaves running results of `count` lines in `results`: first with an operation that assumes no NaN, which takes two
/// thirds of the time, and again with the full one if a result is NaN, which a running extreme keeps to its end.
template <typename Op, typename T, typename Compute>
void numbersFirst(const T *results, int64_t count, const Compute &compute) {
  if constexpr (requires { typename Op::OfNumbers; }) {
    compute(typename Op::OfNumbers());
    if (std::none_of(results, results + count, [](T result) { return result != result; }))
      return;
  }
  compute(Op());
}

template <typename T>
struct Work {
  const T *from;
  T *to;
  T init;
  int64_t length, stride, lines, step; ///< step: 1, or -1 for lines that are scanned from the end
  T *totals;                           ///< totals of a line's blocks
};

/// Writes the running sums or products of one line that begins with `before`. The order of operations depends on `n` alone.
template <typename T, typename Op>
void scanLine(const T *from, T *to, T before, int64_t n, int64_t step) {
  using U = Wrapping<T>;
  // Fact: elements in 16 bytes.
  constexpr int kLanes = 16 / sizeof(T);
  // Fact: vectors that are computed at a time.
  constexpr int kVectors = 4;
  typedef U Vector __attribute__((vector_size(16)));
  constexpr bool isSum = std::is_same_v<Op, Add<T>>;
  const U nothing = !isSum ? U(1) : std::is_floating_point_v<T> ? U(-0.0) : U(0); // the neutral element, which changes no value, not even -0
  const Vector none = nothing - Vector{};
  auto combine = [](auto a, auto b) {
    if constexpr (isSum)
      return a + b;
    else
      return a * b;
  };
  auto load = [&](int64_t i) {
    Vector v;
    std::memcpy(&v, step > 0 ? from + i : from - i - (kLanes - 1), sizeof v);
    if constexpr (kLanes == 4)
      return step > 0 ? v : __builtin_shufflevector(v, v, 3, 2, 1, 0);
    else
      return step > 0 ? v : __builtin_shufflevector(v, v, 1, 0);
  };
  auto store = [&](int64_t i, Vector v) {
    if constexpr (kLanes == 4)
      v = step > 0 ? v : __builtin_shufflevector(v, v, 3, 2, 1, 0);
    else
      v = step > 0 ? v : __builtin_shufflevector(v, v, 1, 0);
    std::memcpy(step > 0 ? to + i : to - i - (kLanes - 1), &v, sizeof v);
  };
  auto scanLanes = [&](Vector v) {
    if constexpr (kLanes == 4) {
      v = combine(v, __builtin_shufflevector(v, none, 4, 0, 1, 2));
      return combine(v, __builtin_shufflevector(v, none, 4, 5, 0, 1));
    } else {
      return combine(v, __builtin_shufflevector(v, none, 2, 0));
    }
  };
  auto areNormal = [&](const Vector *v) {
    auto all = v[0] == v[0];
#pragma clang loop unroll(full)
    for (int j = 0; j < kVectors; ++j) {
      Vector size = v[j] < U(0) ? -v[j] : v[j];
      all &= (size >= std::numeric_limits<U>::min()) & (size <= std::numeric_limits<U>::max());
    }
    return __builtin_reduce_and(all) != 0;
  };
  auto last = [&](Vector v) {
    if constexpr (kLanes == 4)
      return __builtin_shufflevector(v, v, 3, 3, 3, 3);
    else
      return __builtin_shufflevector(v, v, 1, 1);
  };
  Vector running = none;
  for (int l = 0; l < kLanes; ++l)
    running[l] = U(before);
  int64_t i = 0;
  for (; i + kVectors * kLanes <= n; i += kVectors * kLanes) {
    Vector v[kVectors];
#pragma clang loop unroll(full)
    for (int j = 0; j < kVectors; ++j)
      v[j] = scanLanes(load(i + j * kLanes));
#pragma clang loop unroll(full)
    for (int j = 1; j < kVectors; ++j)
      v[j] = combine(last(v[j - 1]), v[j]);
    if constexpr (!isSum && std::is_floating_point_v<T>)
      if (!areNormal(v)) {
        // The products are computed in order: a partial product of the tree may leave the range of the type where the running product does not.
        U product = running[0];
        for (int k = 0; k < kVectors * kLanes; ++k)
          to[(i + k) * step] = T(product = product * U(from[(i + k) * step]));
        running = product - Vector{};
        continue;
      }
#pragma clang loop unroll(full)
    for (int j = 0; j < kVectors; ++j)
      store(i + j * kLanes, combine(running, v[j]));
    running = combine(running, last(v[kVectors - 1])); // the only operation that depends on the previous iteration
  }
  U sum = running[0];
  for (; i < n; ++i)
    to[i * step] = T(sum = U(combine(sum, U(from[i * step]))));
}

/// Returns the address of the four elements from element i on, which are in reverse order if `step` is -1.
template <typename T>
T *at(T *line, int64_t i, int64_t step) {
  return step > 0 ? line + i : line - i - 3;
}

/// Transposes a 4 x 4 block of 32-bit elements: from(k)[i] becomes to(i)[k]. With `readsBack`, row i is written to to(3 - i); with `writesBack`,
/// element k is written at 3 - k.
template <typename T, typename From, typename To>
void transpose4(From from, To to, bool readsBack, bool writesBack) {
  typedef uint32_t Vector __attribute__((vector_size(16)));
  Vector v[4];
#pragma clang loop unroll(full)
  for (int k = 0; k < 4; ++k)
    std::memcpy(&v[k], from(k), sizeof(Vector));
  Vector a = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5), b = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
  Vector c = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7), d = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
  Vector r[4] = {__builtin_shufflevector(a, b, 0, 1, 4, 5), __builtin_shufflevector(a, b, 2, 3, 6, 7), __builtin_shufflevector(c, d, 0, 1, 4, 5),
                 __builtin_shufflevector(c, d, 2, 3, 6, 7)};
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; ++i) {
    if (writesBack)
      r[i] = __builtin_shufflevector(r[i], r[i], 3, 2, 1, 0);
    std::memcpy(to(readsBack ? 3 - i : i), &r[i], sizeof(Vector));
  }
}

/// Scans `count` lines of `n` elements side by side; `running` holds the result so far of each line.
template <typename T, typename Op>
void scanTogether(const T *const *from, T *const *to, T *running, int64_t count, int64_t n, int64_t step) {
  if constexpr (std::is_same_v<Op, Add<T>> || std::is_same_v<Op, Multiply<T>>) {
    for (int64_t l = 0; l < count; ++l)
      scanLine<T, Op>(from[l], to[l], running[l], n, step);
    return;
  }
  if (count == kTogether) {
    // One tile of every line is copied to a buffer at a time, because lines a multiple of 4 KiB apart would displace each other in the cache.
    T tile[kElementsOfTile][kTogether], sums[kTogether];
    std::copy_n(running, kTogether, sums);
    for (int64_t first = 0; first < n; first += kElementsOfTile) {
      int64_t size = std::min(kElementsOfTile, n - first);
      int64_t whole = sizeof(T) == 4 ? size / 4 * 4 : 0;
      T before[kTogether];
      std::copy_n(sums, kTogether, before);
      numbersFirst<Op>(sums, kTogether, [&](auto op) {
        std::copy_n(before, kTogether, sums);
        for (int64_t i = 0; i < whole; i += 4)
          for (int64_t l = 0; l < kTogether; l += 4)
            transpose4<T>([&](int64_t k) { return at(from[l + k], first + i, step); }, [&](int64_t k) { return &tile[i + k][l]; }, step < 0, false);
        for (int64_t l = 0; l < kTogether; ++l)
          for (int64_t i = whole; i < size; ++i)
            tile[i][l] = from[l][(first + i) * step];
        for (int64_t i = 0; i < size; ++i)
#pragma clang loop unroll(full)
          for (int64_t l = 0; l < kTogether; ++l)
            tile[i][l] = sums[l] = op(sums[l], tile[i][l]);
      });
      for (int64_t i = 0; i < whole; i += 4)
        for (int64_t l = 0; l < kTogether; l += 4)
          transpose4<T>([&](int64_t k) { return &tile[i + k][l]; }, [&](int64_t k) { return at(to[l + k], first + i, step); }, false, step < 0);
      for (int64_t l = 0; l < kTogether; ++l)
        for (int64_t i = whole; i < size; ++i)
          to[l][(first + i) * step] = tile[i][l];
    }
    return;
  }
  for (int64_t l = 0; l < count; ++l) {
    T sum = running[l];
    for (int64_t i = 0; i < n; ++i)
      to[l][i * step] = sum = Op()(sum, from[l][i * step]);
  }
}

/// Scans groups [begin, end) of contiguous lines.
template <typename T, typename Op>
int32_t scanLines(void *context, int64_t begin, int64_t end) {
  auto &w = *static_cast<const Work<T> *>(context);
  for (int64_t group = begin; group < end; ++group) {
    const T *from[kTogether];
    T *to[kTogether], running[kTogether];
    int64_t count = std::min(kTogether, w.lines - group * kTogether);
    for (int64_t l = 0; l < count; ++l) {
      int64_t start = (group * kTogether + l) * w.length + (w.step < 0 ? w.length - 1 : 0);
      from[l] = w.from + start, to[l] = w.to + start, running[l] = w.init;
    }
    scanTogether<T, Op>(from, to, running, count, w.length, w.step);
  }
  return 0;
}

/// Scans pieces [begin, end) of kColumnsOfPiece adjacent lines; `stride` lines are interleaved.
template <typename T, typename Op>
int32_t scanColumns(void *context, int64_t begin, int64_t end) {
  auto &w = *static_cast<const Work<T> *>(context);
  Op op;
  int64_t perPlane = (w.stride + kColumnsOfPiece - 1) / kColumnsOfPiece;
  for (int64_t piece = begin; piece < end; ++piece) {
    int64_t column = piece % perPlane * kColumnsOfPiece, count = std::min(kColumnsOfPiece, w.stride - column);
    int64_t start = piece / perPlane * w.length * w.stride + column + (w.step < 0 ? (w.length - 1) * w.stride : 0);
    T running[kColumnsOfPiece];
    std::fill_n(running, count, w.init);
    for (int64_t i = 0; i < w.length; ++i) {
      const T *from = w.from + start + i * w.step * w.stride;
      T *to = w.to + start + i * w.step * w.stride;
      for (int64_t c = 0; c < count; ++c)
        to[c] = running[c] = op(running[c], from[c]);
    }
  }
  return 0;
}

/// Computes the totals of blocks [begin, end) of one line.
template <typename T, typename Op>
int32_t totalBlocks(void *context, int64_t begin, int64_t end) {
  auto &w = *static_cast<const Work<T> *>(context);
  const T *first = w.from + (w.step < 0 ? w.length - 1 : 0);
  for (int64_t block = begin; block < end; ++block) {
    // Lines from the end have their lanes reversed, which changes the order of no combination.
    const T *from = first + block * kElementsOfBlock * w.step - (w.step < 0 ? kTogether - 1 : 0);
    T sums[kTogether];
    numbersFirst<Op>(sums, 1, [&](auto op) {
      std::copy_n(from, kTogether, sums);
      for (int64_t i = kTogether; i < kElementsOfBlock; i += kTogether)
        for (int64_t l = 0; l < kTogether; ++l)
          sums[l] = op(sums[l], from[i * w.step + l]);
      for (int64_t width = kTogether / 2; width; width /= 2)
        for (int64_t l = 0; l < width; ++l)
          sums[l] = op(sums[l], sums[l + width]);
    });
    w.totals[block] = sums[0];
  }
  return 0;
}

/// Scans groups [begin, end) of blocks of one line, each from w.totals[block].
template <typename T, typename Op>
int32_t scanBlocks(void *context, int64_t begin, int64_t end) {
  auto &w = *static_cast<const Work<T> *>(context);
  int64_t blocks = (w.length + kElementsOfBlock - 1) / kElementsOfBlock, first = w.step < 0 ? w.length - 1 : 0;
  for (int64_t group = begin; group < end; ++group) {
    const T *from[kTogether];
    T *to[kTogether];
    int64_t block = group * kTogether, count = std::min(kTogether, blocks - block);
    for (int64_t l = 0; l < count; ++l)
      from[l] = w.from + first + (block + l) * kElementsOfBlock * w.step, to[l] = w.to + first + (block + l) * kElementsOfBlock * w.step;
    int64_t last = w.length - (blocks - 1) * kElementsOfBlock;
    bool endsShort = block + count == blocks && last < kElementsOfBlock;
    if (endsShort)
      scanTogether<T, Op>(from + count - 1, to + count - 1, w.totals + block + count - 1, 1, last, w.step);
    scanTogether<T, Op>(from, to, w.totals + block, count - endsShort, kElementsOfBlock, w.step);
  }
  return 0;
}

template <typename T, typename Op>
void scanAll(Work<T> w) {
  ThreadPool &pool = ThreadPool::global();
  auto run = [&](int64_t end, int64_t elementsEach, ThreadPool::Body body) {
    uint64_t picoseconds = uint64_t(elementsEach) * 500;
    pool.run(end, pieceSize(end, picoseconds, 1, pool.size(), pool.leastPiece(false, picoseconds * uint64_t(end))), body, &w);
  };
  if (w.stride > 1)
    return run(w.lines / w.stride * ((w.stride + kColumnsOfPiece - 1) / kColumnsOfPiece), w.length * std::min(w.stride, kColumnsOfPiece),
               scanColumns<T, Op>);
  if (w.length < kMinSharedLine || w.lines >= 4 * kTogether)
    return run((w.lines + kTogether - 1) / kTogether, w.length * kTogether, scanLines<T, Op>);
  int64_t blocks = (w.length + kElementsOfBlock - 1) / kElementsOfBlock;
  std::vector<T> totals(size_t(blocks), w.init);
  for (int64_t line = 0; line < w.lines; ++line, w.from += w.length, w.to += w.length) {
    w.totals = totals.data();
    constexpr bool isAnyOrder = std::is_integral_v<T> && (std::is_same_v<Op, Add<T>> || std::is_same_v<Op, Multiply<T>>);
    if (isAnyOrder && pool.size() == 1) {
      int64_t first = w.step < 0 ? w.length - 1 : 0;
      scanTogether<T, Op>(std::array{w.from + first}.data(), std::array{w.to + first}.data(), &w.init, 1, w.length, w.step);
      continue;
    }
    if (pool.size() == 1) { // the operations are the same, but an element is in the cache when it is read again
      T sum = w.init;
      for (int64_t block = 0; block < blocks; block += kTogether) {
        int64_t end = std::min(block + kTogether, blocks);
        totalBlocks<T, Op>(&w, block, std::min(end, blocks - 1));
        for (T &total : std::span(totals).subspan(size_t(block), size_t(end - block)))
          sum = Op()(sum, std::exchange(total, sum));
        scanBlocks<T, Op>(&w, block / kTogether, block / kTogether + 1);
      }
      continue;
    }
    run(blocks - 1, kElementsOfBlock, totalBlocks<T, Op>);
    T sum = w.init;
    for (T &total : totals)
      sum = Op()(sum, std::exchange(total, sum));
    run((blocks + kTogether - 1) / kTogether, kElementsOfBlock * kTogether, scanBlocks<T, Op>);
  }
}

template <typename T>
Status scanOf(const CustomCall &call, const std::string &reduction, int64_t dimension, bool reverse) {
  const std::vector<int64_t> &dims = call.arguments[0].dims;
  Work<T> w = {static_cast<const T *>(call.arguments[0].data), static_cast<T *>(call.results[0].data),
               *static_cast<const T *>(call.arguments[1].data), dims[size_t(dimension)], 1, 0, reverse ? -1 : 1, nullptr};
  w.stride = std::accumulate(dims.begin() + dimension + 1, dims.end(), int64_t(1), std::multiplies<>());
  if (call.arguments[0].elements() == 0)
    return Status();
  w.lines = call.arguments[0].elements() / w.length;
  if (reduction == "add")
    scanAll<T, Add<T>>(w);
  else if (reduction == "multiply")
    scanAll<T, Multiply<T>>(w);
  else if (reduction == "minimum")
    scanAll<T, Extreme<T, false>>(w);
  else if (reduction == "maximum")
    scanAll<T, Extreme<T, true>>(w);
  else
    return unimplemented("a scan by " + reduction);
  return Status();
}

} // namespace

Status scan(const CustomCall &call) {
  const Attribute *dimension = call.attribute("dimension"), *reverse = call.attribute("reverse"), *reduction = call.attribute("reduction");
  bool fits = dimension && dimension->ints.size() == 1 && reverse && reverse->ints.size() == 1 && reduction &&
              call.arguments.size() == 2 && call.results.size() == 1 && call.arguments[0].dims == call.results[0].dims &&
              call.arguments[0].dtype == call.results[0].dtype && call.arguments[0].dtype == call.arguments[1].dtype &&
              call.arguments[1].elements() == 1 && dimension->ints[0] >= 0 && dimension->ints[0] < int64_t(call.arguments[0].dims.size());
  if (!fits)
    return invalidArgument("expects x and a scalar, a result of the shape of x, and the attributes dimension, reverse, reduction");
  int64_t d = dimension->ints[0];
  bool backward = reverse->ints[0] != 0;
  try {
    switch (call.arguments[0].dtype) {
    case DType::F32: return scanOf<float>(call, reduction->string, d, backward);
    case DType::F64: return scanOf<double>(call, reduction->string, d, backward);
    case DType::I32: return scanOf<int32_t>(call, reduction->string, d, backward);
    case DType::I64: return scanOf<int64_t>(call, reduction->string, d, backward);
    case DType::U32: return scanOf<uint32_t>(call, reduction->string, d, backward);
    case DType::U64: return scanOf<uint64_t>(call, reduction->string, d, backward);
    default: break;
    }
  } catch (const std::bad_alloc &) {
    return resourceExhausted("no memory for a scan");
  }
  return unimplemented("a scan of " + std::string(name(call.arguments[0].dtype)));
}

} // namespace millrace::runtime
