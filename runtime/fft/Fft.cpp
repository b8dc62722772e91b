// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Fft.cpp - Discrete Fourier transforms --------------------------------===//
// One axis after the other. Contiguous lines of 16 points or more go by runs of neighbouring points (RunKernels.h), others by groups of
// neighbouring lines in the lanes of vectors (LineKernels.h). A line that would leave the caches so, or is alone, is cut into a matrix of n1
// rows and n2 columns: transforms of the columns, a turn of every element, transforms of the rows, which both are many short lines. A real
// line of even length is a complex one of half the length. What has a large prime factor is a convolution, of lines in lanes or, where there
// are few of them, of one line after the other by rows and columns.
#include "runtime/fft/Fft.h"
#include "runtime/base/FftPlan.h"
#include "runtime/base/Machine.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/fft/Lines.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <new>

namespace millrace::runtime {
namespace fft {
namespace {

template <typename T>
Implementation<T> bestImplementation() {
  constexpr bool isFloat = sizeof(T) == sizeof(float);
  auto choose = [](auto single, auto twice) {
    if constexpr (isFloat)
      return single();
    else
      return twice();
  };
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw"))
    return choose(avx512Float, avx512Double);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return choose(avx2Float, avx2Double);
#endif
  return choose(portableFloat, portableDouble);
}

template <typename T>
const Implementation<T> &implementation() {
  static const Implementation<T> best = bestImplementation<T>();
  return best;
}

/// A tensor with at least so many lines has whole lines distributed over lanes and threads. Unit: lines. Source: judgement, not measured alone;
/// commit 50ba445 has the figures of the whole change.
constexpr int64_t kMinLinesSideBySide = 4;
/// If rows and columns take more lanes than this, whole lines side by side are faster. Unit: lanes per point, empty lanes included. Source: commit
/// 50ba445, two threads: rfft 64x16000 0.65 to 0.54 ms; where empty lanes cost more than an eighth, whole lines run side by side.
constexpr double kMaxLanesPerPoint = 1.12;
/// Tiny images are transformed together, in groups of which so many fill the second-level cache. Unit: groups. Source: commit 3b92ee0, xla-run
/// --repeat=60, two threads, groups of 128 KB: fft2 of 20000x4x4 2.29 to 0.64 ms, 300x32x32 the same.
constexpr int64_t kImageGroupsInCache = 8;
/// Contiguous lines of more points are faster as rows and columns. Unit: points. Source: commit 37a43bc, two threads, against MKL: 64x2048 1.06 to
/// 1.26, 1024x1000 0.71 to 0.90.
constexpr int64_t kMaxRunPoints = 4096;
/// Convolutions of at least this length go by rows and columns if there are few lines. Unit: points. Source: judgement, not measured alone; commit
/// 2797e38 has the figures of the whole change.
constexpr int64_t kMinConvolutionPoints = 1024;

template <typename T>
class AxisPlan {
public:
  AxisPlan(int64_t n, bool isReal) : length(n), isHalved(isReal && n % 2 == 0), points(isHalved ? n / 2 : n), whole(points, lanes()) {
    if (whole.convolution) {
      if (whole.convolution >= kMinConvolutionPoints)
        convolution = std::make_unique<AxisPlan>(whole.convolution, false);
      return;
    }
    if (int64_t rows = bestRows()) {
      columnPlan = std::make_unique<LinePlan<T>>(rows, lanes());
      rowPlan = std::make_unique<LinePlan<T>>(points / rows, lanes());
    }
  }

  /// Transforms `lines`, whose plan is set here; each has this plan's length. `all` is the number of lines of the whole tensor, which decides how
  /// lines are transformed, so that the number of threads changes no result. An error code means that there is no memory.
  int32_t run(Lines<T> lines, int64_t all) {
    using Ends = typename Lines<T>::Ends;
    bool isOdd = lines.ends == Ends::OddReal || lines.ends == Ends::OddOut;
    if (all < kMinLinesSideBySide && convolution && !isOdd)
      return runConvolutions(lines);
    if (all < kMinLinesSideBySide && isOdd && (convolution || columnPlan))
      return runOddLines(lines);
    bool isTogether = lines.inStep == 2 && lines.outStep == 2; // the points are contiguous
    if (isTogether && !isOdd && whole.run && points <= kMaxRunPoints && all >= kMinLinesSideBySide) {
      lines.plan = &whole;
      int64_t together = lanes() / whole.run;
      return runGroups(lines, implementation<T>().transformRuns, together, (lines.lines + together - 1) / together, whole.runScratch(lanes()));
    }
    if (!columnPlan || isOdd || (!(isTogether && fillsLanes) && points <= maxColumnPoints() && all >= kMinLinesSideBySide)) {
      lines.plan = &whole;
      return runInLanes(lines);
    }
    makeTurns();
    if (all >= kMinLinesSideBySide || 2 * points * int64_t(sizeof(T)) <= Machine::host().cacheBytes(1))
      return runLines(lines);
    std::unique_ptr<T[]> between(new T[size_t(2 * points)]), joined(lines.ends == Ends::RealOut ? new T[size_t(2 * points)] : nullptr);
    for (int64_t line = 0; line < lines.lines; ++line)
      if (int32_t code = runLine(lines, line, between.get(), joined.get(), [](const Lines<T> &parts) { return runInLanes(parts); }))
        return code;
    return 0;
  }

  const int64_t length;
  const bool isHalved; ///< real lines are complex lines of half the length
  const int64_t points;

private:
  static int64_t lanes() { return implementation<T>().lanes; }
  /// Returns the length up to which lines with strided points are transformed side by side, one in each lane: the second-level cache holds all of
  /// them.
  static int64_t maxColumnPoints() { return Machine::host().cacheBytes(2) / (2 * int64_t(sizeof(T)) * lanes()); }

  /// Returns the number of rows that leaves the fewest lanes empty, preferably near the square root; 0 if lines are too short for rows and columns
  /// that fill vectors.
  int64_t bestRows() {
    int64_t lanes = AxisPlan::lanes(), best = 0;
    double least = 0;
    auto groups = [&](int64_t lines) { return (lines + lanes - 1) / lanes * lanes; };
    for (int64_t rows = lanes; rows * lanes <= points; ++rows) {
      int64_t columns = points / rows;
      if (rows * columns != points)
        continue;
      double cost = double(groups(rows) * columns + groups(columns) * rows) * (1 + 0.05 * std::abs(std::log2(double(rows) / double(columns))));
      if (!best || cost < least)
        best = rows, least = cost, fillsLanes = double(groups(rows) * columns + groups(columns) * rows) <= kMaxLanesPerPoint * 2 * double(points);
    }
    return best;
  }

  static int32_t runInLanes(const Lines<T> &lines) {
    const Implementation<T> &implementation = fft::implementation<T>();
    return runGroups(lines, implementation.transform, implementation.lanes, lines.groups(implementation.lanes), lines.plan->scratch(implementation.lanes));
  }

  /// Transforms all groups of `together` lines on all threads, each with `scratch` elements of scratch memory.
  static int32_t runGroups(const Lines<T> &lines, TransformGroups<T> transform, int64_t together, int64_t groups, int64_t scratch) {
    struct Job {
      const Lines<T> &lines;
      TransformGroups<T> transform;
      int64_t scratch;
    } job{lines, transform, scratch};
    auto piece = [](void *context, int64_t begin, int64_t end) -> int32_t {
      const Job &job = *static_cast<const Job *>(context);
      void *memory = threadScratch(size_t(job.scratch) * sizeof(T));
      if (!memory)
        return 1;
      job.transform(job.lines, begin, end, static_cast<T *>(memory));
      return 0;
    };
    double size = double(lines.plan->convolution ? 4 * lines.plan->convolution : lines.plan->n);
    uint64_t picoseconds = uint64_t(size * (std::log2(size + 1) + 4) * double(together) * 100);
    ThreadPool &pool = ThreadPool::global();
    return pool.run(groups, pieceSize(groups, picoseconds, 1, pool.size(), pool.leastPiece(false, picoseconds * uint64_t(groups))), piece, &job);
  }

  /// Returns the address of the first element of a line of `lines`.
  static const T *inOf(const Lines<T> &lines, int64_t line) { return lines.in + line / lines.inner * lines.inOuter + line % lines.inner * lines.inInner; }
  static T *outOf(const Lines<T> &lines, int64_t line) { return lines.out + line / lines.inner * lines.outOuter + line % lines.inner * lines.outInner; }
  /// Transforms one line of contiguous complex elements, as a tensor of its own.
  int32_t runAlone(const T *in, T *out, bool isInverse, T scale) {
    Lines<T> line;
    line.in = in, line.out = out;
    line.lines = 1;
    line.swapIn = line.swapOut = isInverse;
    line.scale = scale;
    return run(line, 1);
  }

  /// Transforms a few real lines of odd length as complex lines, by rows and columns, instead of one line per lane.
  int32_t runOddLines(const Lines<T> &lines) {
    const bool isForward = lines.ends == Lines<T>::Ends::OddReal;
    size_t n = size_t(points);
    std::unique_ptr<T[]> from(new T[2 * n]), to(new T[2 * n]);
    for (int64_t line = 0; line < lines.lines; ++line) {
      const T *in = inOf(lines, line);
      T *out = outOf(lines, line);
      for (size_t k = 0; k < n; ++k)
        if (isForward)
          from[2 * k] = in[k], from[2 * k + 1] = 0;
        else if (k <= n / 2)
          from[2 * k] = in[2 * k], from[2 * k + 1] = k ? in[2 * k + 1] : 0;
        else // the rest of the spectrum is the conjugate in reverse order
          from[2 * k] = in[2 * (n - k)], from[2 * k + 1] = -in[2 * (n - k) + 1];
      if (int32_t code = runAlone(from.get(), to.get(), !isForward, lines.scale))
        return code;
      if (isForward)
        std::copy_n(to.get(), 2 * (n / 2 + 1), out);
      else
        for (size_t k = 0; k < n; ++k)
          out[k] = to[2 * k];
    }
    return 0;
  }

  /// Transforms a few lines whose length has a large prime factor: the two transforms of each convolution go by rows and columns.
  int32_t runConvolutions(const Lines<T> &lines) {
    using Ends = typename Lines<T>::Ends;
    size_t n = size_t(points), all = size_t(whole.convolution);
    std::unique_ptr<T[]> a(new T[2 * all]), b(new T[2 * all]), joined(lines.ends == Ends::RealOut ? new T[2 * n] : nullptr);
    const T *chirp = whole.chirp.data(), *spectrum = whole.spectrum.data();
    auto multiply = [](T re, T im, T byRe, T byIm, T *to) { to[0] = re * byRe - im * byIm, to[1] = re * byIm + im * byRe; };
    for (int64_t line = 0; line < lines.lines; ++line) {
      const T *in = inOf(lines, line);
      T *out = outOf(lines, line);
      size_t inStep = size_t(lines.inStep), outStep = size_t(lines.outStep);
      bool swapIn = lines.swapIn, swapOut = lines.swapOut;
      if (lines.ends == Ends::RealOut) {
        implementation<T>().join(whole, in, joined.get());
        in = joined.get();
        swapIn = swapOut = true;
      }
      for (size_t k = 0; k < n; ++k)
        multiply(in[k * inStep + swapIn], in[k * inStep + !swapIn], chirp[k], chirp[n + k], &a[2 * k]);
      std::fill_n(&a[2 * n], 2 * (all - n), T(0));
      if (int32_t code = convolution->runAlone(a.get(), b.get(), false, 1))
        return code;
      for (size_t k = 0; k < all; ++k)
        multiply(b[2 * k], b[2 * k + 1], spectrum[k], spectrum[all + k], &b[2 * k]);
      if (int32_t code = convolution->runAlone(b.get(), a.get(), true, 1))
        return code;
      for (size_t k = 0; k < n; ++k) {
        T value[2];
        multiply(a[2 * k], a[2 * k + 1], chirp[k], chirp[n + k], value);
        out[k * outStep] = value[swapOut] * lines.scale, out[k * outStep + 1] = value[!swapOut] * lines.scale;
      }
      if (lines.ends == Ends::RealIn)
        implementation<T>().split(whole, out);
    }
    return 0;
  }

  void makeTurns() {
    std::call_once(turnsMade, [&] {
      int64_t n1 = columnPlan->n, n2 = rowPlan->n;
      ComplexTable roots = rootsOfUnity(points);
      turns.resize(size_t(2 * points));
      for (int64_t k = 0; k < n1; ++k)
        for (int64_t j = 0; j < n2; ++j) {
          turns[size_t(k * n2 + j)] = T(roots.re[size_t(k * j)]);
          turns[size_t(points + k * n2 + j)] = T(roots.im[size_t(k * j)]);
        }
    });
  }

  /// Transforms many lines, each on one thread.
  int32_t runLines(const Lines<T> &lines) {
    struct Job {
      AxisPlan &plan;
      const Lines<T> &lines;
    } job{*this, lines};
    auto piece = [](void *context, int64_t begin, int64_t end) -> int32_t {
      auto [plan, lines] = *static_cast<Job *>(context);
      const Implementation<T> &implementation = fft::implementation<T>();
      size_t numbers = size_t(2 * plan.points + 15) / 16 * 16;
      size_t inside = size_t(std::max(plan.columnPlan->scratch(implementation.lanes), plan.rowPlan->scratch(implementation.lanes)));
      T *between = static_cast<T *>(threadScratch((2 * numbers + inside) * sizeof(T)));
      if (!between)
        return 1;
      T *joined = between + numbers, *scratch = joined + numbers;
      for (int64_t line = begin; line < end; ++line)
        plan.runLine(lines, line, between, joined, [&](Lines<T> parts) {
          parts.mayOverwrite = true;
          implementation.transform(parts, 0, parts.groups(implementation.lanes), scratch);
          return 0;
        });
      return 0;
    };
    uint64_t picoseconds = uint64_t(double(points) * (std::log2(double(points)) + 4) * 100);
    ThreadPool &pool = ThreadPool::global();
    return pool.run(lines.lines, pieceSize(lines.lines, picoseconds, 1, pool.size(), pool.leastPiece(false, picoseconds * uint64_t(lines.lines))), piece, &job);
  }

  /// Transforms one line by rows and columns: element j1 * n2 + j2 of the line is row j1, column j2, and point k1 + n1 * k2 comes from row k1 of the
  /// transformed columns. `between` and, for half a spectrum to real elements, `joined` have room for the line; `transform` runs all groups of its
  /// lines.
  template <typename TransformAll>
  int32_t runLine(const Lines<T> &lines, int64_t line, T *between, T *joined, TransformAll transform) const {
    using Ends = typename Lines<T>::Ends;
    int64_t n1 = columnPlan->n, n2 = rowPlan->n;
    Lines<T> columns = lines, rows = lines;
    columns.ends = rows.ends = Ends::Complex;
    columns.plan = columnPlan.get(), rows.plan = rowPlan.get();
    columns.in = inOf(lines, line);
    rows.out = outOf(lines, line);
    if (lines.ends == Ends::RealOut) {
      implementation<T>().join(whole, columns.in, joined);
      columns.in = joined;
      columns.swapIn = rows.swapOut = true;
    }
    columns.lines = columns.inner = n2;
    columns.inInner = lines.inStep, columns.inStep = n2 * lines.inStep;
    columns.out = between, columns.outInner = 2, columns.outStep = 2 * n2;
    columns.swapOut = false, columns.scale = 1, columns.turns = turns.data();
    if (int32_t code = transform(columns))
      return code;
    rows.in = between;
    rows.lines = rows.inner = n1;
    rows.inInner = 2 * n2, rows.inStep = 2, rows.swapIn = false;
    rows.outInner = lines.outStep, rows.outStep = n1 * lines.outStep;
    if (int32_t code = transform(rows))
      return code;
    if (lines.ends == Ends::RealIn)
      implementation<T>().split(whole, rows.out);
    return 0;
  }

  LinePlan<T> whole;
  bool fillsLanes = false; ///< groups of rows and of columns fill their lanes
  std::unique_ptr<LinePlan<T>> columnPlan, rowPlan;
  std::unique_ptr<AxisPlan> convolution; ///< plan of the convolution's length, for a few lines
  std::once_flag turnsMade;
  std::vector<T> turns; ///< roots of unity e^(-2 pi i k1 j2 / n), [n1][n2]
};

enum class Type { FFT, IFFT, RFFT, IRFFT };

template <typename T>
class Transform {
public:
  Transform(Type type, const std::vector<int64_t> &lengths, const std::vector<int64_t> &places) : type(type), places(places) {
    for (size_t i = 0; i < lengths.size(); ++i)
      axes.push_back(std::make_unique<AxisPlan<T>>(lengths[i], isReal() && i + 1 == lengths.size()));
  }

  Status run(const CustomCall &call) {
    const TensorView &x = call.arguments[0], &y = call.results[0];
    if (y.elements() == 0)
      return Status();
    Images images(*this, x, y);
    auto piece = [](void *context, int64_t begin, int64_t end) -> int32_t {
      try {
        return static_cast<Images *>(context)->run(begin, end);
      } catch (const std::bad_alloc &) {
        return 1; // no caller of a thread of the pool catches exceptions
      }
    };
    // Images that stay in the second-level cache are transformed along all axes one after the other, instead of all images along one axis. Tiny
    // images go together, as a single one would leave lanes empty.
    ThreadPool &pool = ThreadPool::global();
    const int64_t levelTwoBytes = Machine::host().cacheBytes(2);
    bool isOneByOne = axes.size() > 1 && images.count >= pool.size() && images.bytes() <= levelTwoBytes;
    int64_t together = std::clamp<int64_t>(levelTwoBytes / kImageGroupsInCache / images.bytes(), 1, std::max<int64_t>(1, images.count / (4 * pool.size())));
    int32_t code = isOneByOne ? pool.run(images.count, together, piece, &images) : images.run(0, images.count);
    return code == 0 ? Status() : resourceExhausted("no memory for the transform");
  }

private:
  bool isReal() const { return type == Type::RFFT || type == Type::IRFFT; }

  /// An image holds the transformed dimensions, and those between and behind them; images are contiguous in memory.
  struct Images {
    Images(const Transform &transform, const TensorView &x, const TensorView &y)
        : transform(transform), from(static_cast<const T *>(x.data)), to(static_cast<T *>(y.data)), type(transform.type) {
      const std::vector<int64_t> &places = transform.places, &all = type == Type::RFFT ? y.dims : x.dims;
      size_t first = all.size() - transform.axes.size(), least = places.empty() ? first : size_t(*std::min_element(places.begin(), places.end()));
      for (size_t d = 0; d < least; ++d)
        count *= all[d];
      dims.assign(all.begin() + int64_t(least), all.end());
      for (size_t i = 0; i < transform.axes.size(); ++i)
        axes.push_back(places.empty() ? i : size_t(places[i]) - least);
      inSize = x.elements() / count * (type == Type::RFFT ? 1 : 2);
      outSize = y.elements() / count * (type == Type::IRFFT ? 1 : 2);
      if (type == Type::IRFFT && axes.size() > 1)
        spectrum.reset(new T[size_t(inSize * count)]);
    }
    int64_t bytes() const { return std::max(inSize, outSize) * int64_t(sizeof(T)); }

    int32_t run(int64_t begin, int64_t end) const {
      const T *source = from + begin * inSize;
      T *target = to + begin * outSize, *result = spectrum ? spectrum.get() + begin * inSize : target;
      size_t complex = axes.size() - (transform.isReal() ? 1 : 0);
      int32_t code = 0;
      if (type == Type::RFFT) {
        code = realAxis(source, result, end - begin, inSize, true);
        source = result;
      }
      for (size_t i = complex; i-- > 0 && !code; source = result)
        code = complexAxis(source, result, end - begin, axes[i], *transform.axes[i]);
      if (type == Type::IRFFT && !code)
        code = realAxis(source, target, end - begin, outSize, false);
      return code;
    }

    int32_t complexAxis(const T *source, T *target, int64_t images, size_t axis, AxisPlan<T> &plan) const {
      bool isInverse = type == Type::IFFT || type == Type::IRFFT;
      Lines<T> lines;
      lines.in = source, lines.out = target;
      for (size_t d = axis + 1; d < dims.size(); ++d)
        lines.inner *= dims[d];
      int64_t ofImage = lines.inner;
      for (size_t d = 0; d < axis; ++d)
        ofImage *= dims[d];
      lines.lines = images * ofImage;
      lines.inInner = lines.outInner = 2;
      lines.inStep = lines.outStep = 2 * lines.inner;
      lines.inOuter = lines.outOuter = 2 * lines.inner * plan.length;
      lines.swapIn = lines.swapOut = isInverse;
      lines.scale = isInverse ? T(1.0 / double(plan.length)) : T(1);
      return plan.run(lines, count * ofImage);
    }

    /// Transforms the last axis, between `size` real elements of an image and half a spectrum.
    int32_t realAxis(const T *source, T *target, int64_t images, int64_t size, bool isForward) const {
      using Ends = typename Lines<T>::Ends;
      AxisPlan<T> &plan = *transform.axes.back();
      Lines<T> lines;
      lines.in = source, lines.out = target;
      lines.lines = images * size / plan.length;
      int64_t half = 2 * (plan.length / 2 + 1);
      lines.inOuter = isForward ? plan.length : half, lines.outOuter = isForward ? half : plan.length;
      lines.ends = isForward ? (plan.isHalved ? Ends::RealIn : Ends::OddReal) : (plan.isHalved ? Ends::RealOut : Ends::OddOut);
      lines.scale = isForward ? T(1) : T(1.0 / double(plan.length));
      return plan.run(lines, count * size / plan.length);
    }

    const Transform &transform;
    const T *from;
    T *to;
    Type type;
    int64_t count = 1;
    std::vector<int64_t> dims;
    std::vector<size_t> axes;
    int64_t inSize, outSize; ///< elements of an image
    std::unique_ptr<T[]> spectrum;
  };

  Type type;
  std::vector<int64_t> places; ///< the axes' dimensions; empty: the last ones
  std::vector<std::unique_ptr<AxisPlan<T>>> axes;
};

template <typename T>
CustomCallHandler handlerOf(Type type, const std::vector<int64_t> &lengths, const std::vector<int64_t> &places, DType real, DType complex) {
  auto transform = std::make_shared<Transform<T>>(type, lengths, places);
  return [=](const CustomCall &call) -> Status {
    bool fits = call.arguments.size() == 1 && call.results.size() == 1 && call.arguments[0].dims.size() >= lengths.size() &&
                call.arguments[0].dtype == (type == Type::RFFT ? real : complex) &&
                call.results[0].dtype == (type == Type::IRFFT ? real : complex) &&
                call.results[0].dims.size() == call.arguments[0].dims.size();
    if (fits) {
      // The sizes of operand and result: the transform's lengths, and that of half a spectrum for the last axis.
      size_t rank = call.arguments[0].dims.size(), first = rank - lengths.size();
      std::vector<int64_t> whole = call.arguments[0].dims;
      for (size_t i = 0; fits && i < lengths.size(); ++i) {
        size_t place = places.empty() ? first + i : size_t(places[i]);
        if ((fits = place < rank))
          whole[place] = lengths[i];
      }
      std::vector<int64_t> half = whole;
      half.back() = half.back() / 2 + 1;
      fits = fits && call.arguments[0].dims == (type == Type::IRFFT ? half : whole) && call.results[0].dims == (type == Type::RFFT ? half : whole);
    }
    if (!fits)
      return invalidArgument("expects one operand and one result whose transformed axes have the lengths of the transform");
    try {
      return transform->run(call);
    } catch (const std::bad_alloc &) {
      return resourceExhausted("no memory for the transform");
    }
  };
}

} // namespace
} // namespace fft

StatusOr<CustomCallHandler> makeFft(const CustomCallStep &step) {
  auto find = [&](std::string_view name) -> const Attribute * {
    for (const Attribute &attribute : step.attributes)
      if (attribute.name == name)
        return &attribute;
    return nullptr;
  };
  const Attribute *type = find("type"), *length = find("length"), *wide = find("wide"), *axes = find("axes");
  const char *const names[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  for (int i = 0; i < 4; ++i) {
    if (!type || !length || length->ints.empty() || type->string != names[i])
      continue;
    for (int64_t n : length->ints)
      if (n < 1)
        return invalidArgument("millrace_fft expects lengths of at least 1");
    std::vector<int64_t> places = axes ? axes->ints : std::vector<int64_t>();
    if (axes) {
      std::vector<int64_t> sorted = places;
      std::sort(sorted.begin(), sorted.end());
      if (i > 1 || places.size() != length->ints.size() || sorted.front() < 0 || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
        return invalidArgument("millrace_fft expects as many different axes as lengths, and none of real transforms");
    }
    if (wide && !wide->ints.empty() && wide->ints[0])
      return fft::handlerOf<double>(fft::Type(i), length->ints, places, DType::F64, DType::C128);
    return fft::handlerOf<float>(fft::Type(i), length->ints, places, DType::F32, DType::C64);
  }
  return invalidArgument("millrace_fft expects the attributes type (FFT, IFFT, RFFT or IRFFT) and length");
}

} // namespace millrace::runtime
