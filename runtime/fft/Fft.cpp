// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Fft.cpp - Discrete Fourier transforms --------------------------------===//
// One axis after the other. Groups of neighbouring lines run in the lanes of vectors (LineKernels.h). A line too long for that, or
// alone, is cut into a matrix of n1 rows and n2 columns: transforms of the columns, a turn of every element, transforms of the rows,
// which both are many short lines. A real line of even length is a complex one of half the length.
#include "runtime/fft/Fft.h"
#include "runtime/base/FftPlan.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/fft/Lines.h"

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

/// Lines longer than this would leave the second-level cache with all their lanes.
constexpr int64_t kLongLine = 8192;

/// Transforms of lines of one length.
template <typename T>
class AxisPlan {
public:
  AxisPlan(int64_t n, bool isReal) : length(n), isHalved(isReal && n % 2 == 0), points(isHalved ? n / 2 : n), whole(points, hasManyRegisters()) {
    int64_t rows = 1;
    for (int64_t factor : fftRadices(points)) // the largest product of factors up to the square root
      if (factor <= largestRadix && rows * factor * rows * factor <= points * 2)
        rows *= factor;
    if (rows < 8 || points / rows < 8 || whole.convolution)
      return;
    columnPlan = std::make_unique<LinePlan<T>>(rows, hasManyRegisters());
    rowPlan = std::make_unique<LinePlan<T>>(points / rows, hasManyRegisters());
  }

  /// The lines of `lines` (its plan is set here), each of this length. An error code is "no memory".
  int32_t run(Lines<T> lines) {
    using Ends = typename Lines<T>::Ends;
    if (!columnPlan || (points <= kLongLine && lines.lines >= 4)) {
      lines.plan = &whole;
      return runGroups(lines);
    }
    if (lines.ends == Ends::RealIn) {
      lines.ends = Ends::Complex;
      if (int32_t code = runCut(lines))
        return code;
      for (int64_t line = 0; line < lines.lines; ++line)
        splitLine(lines.out + line * lines.outOuter);
      return 0;
    }
    if (lines.ends == Ends::RealOut) {
      std::unique_ptr<T[]> joined(new T[size_t(2 * points * lines.lines)]);
      for (int64_t line = 0; line < lines.lines; ++line)
        joinLine(lines.in + line * lines.inOuter, joined.get() + 2 * points * line);
      lines.ends = Ends::Complex;
      lines.in = joined.get(), lines.inOuter = 2 * points;
      lines.swapIn = lines.swapOut = true;
      return runCut(lines);
    }
    return runCut(lines);
  }

  const int64_t length;
  const bool isHalved; ///< real lines are complex ones of half the length
  const int64_t points;

private:
  static bool hasManyRegisters() { return implementation<T>().lanes * sizeof(T) == 64; }

  struct Number {
    T re, im;
  };
  static Number turned(Number x, T re, T im) { return {x.re * re - x.im * im, x.re * im + x.im * re}; }

  /// What LineKernels.h calls splitReal and joinReal, of one line with its parts side by side.
  void splitLine(T *z) const {
    const T *re = whole.halves.data(), *im = re + points + 1;
    z[2 * points] = z[0], z[2 * points + 1] = z[1];
    for (int64_t k = 0, l = points; k <= l; ++k, --l) {
      Number a{z[2 * k], z[2 * k + 1]}, b{z[2 * l], z[2 * l + 1]};
      Number even{T(0.5) * (a.re + b.re), T(0.5) * (a.im - b.im)};
      Number odd = turned({T(0.5) * (a.im + b.im), T(0.5) * (b.re - a.re)}, re[k], im[k]);
      z[2 * l] = even.re - odd.re, z[2 * l + 1] = odd.im - even.im;
      z[2 * k] = even.re + odd.re, z[2 * k + 1] = even.im + odd.im;
    }
  }
  void joinLine(const T *x, T *z) const {
    const T *re = whole.halves.data(), *im = re + points + 1;
    for (int64_t k = 0; k < points; ++k) {
      int64_t l = points - k;
      Number a{x[2 * k], k ? x[2 * k + 1] : T(0)}, b{x[2 * l], k ? x[2 * l + 1] : T(0)};
      Number odd = turned({a.re - b.re, a.im + b.im}, re[k], -im[k]);
      z[2 * k] = a.re + b.re - odd.im, z[2 * k + 1] = a.im - b.im + odd.re;
    }
  }

  static int32_t runGroups(const Lines<T> &lines) {
    const Implementation<T> &implementation = fft::implementation<T>();
    int64_t groups = (lines.lines + implementation.lanes - 1) / implementation.lanes;
    auto piece = [](void *context, int64_t begin, int64_t end) -> int32_t {
      const auto &lines = *static_cast<const Lines<T> *>(context);
      void *scratch = threadScratch(size_t(lines.plan->scratch(fft::implementation<T>().lanes)) * sizeof(T));
      if (!scratch)
        return 1;
      fft::implementation<T>().transform(lines, begin, end, static_cast<T *>(scratch));
      return 0;
    };
    double size = double(lines.plan->convolution ? 4 * lines.plan->convolution : lines.plan->n);
    uint64_t picoseconds = uint64_t(size * (std::log2(size + 1) + 4) * implementation.lanes * 100);
    ThreadPool &pool = ThreadPool::global();
    return pool.run(groups, pieceSize(groups, picoseconds, 1, pool.size(), pool.leastPiece(false, picoseconds * uint64_t(groups))), piece, const_cast<Lines<T> *>(&lines));
  }

  /// Element j1 * n2 + j2 of the line is row j1, column j2; point k1 + n1 * k2 comes from row k1 of the transformed columns.
  int32_t runCut(const Lines<T> &lines) {
    int64_t n1 = columnPlan->n, n2 = rowPlan->n;
    std::call_once(turnsMade, [&] {
      ComplexTable roots = rootsOfUnity(points);
      turns.resize(size_t(2 * points));
      for (int64_t k = 0; k < n1; ++k)
        for (int64_t j = 0; j < n2; ++j) {
          turns[size_t(k * n2 + j)] = T(roots.re[size_t(k * j)]);
          turns[size_t(points + k * n2 + j)] = T(roots.im[size_t(k * j)]);
        }
    });
    std::unique_ptr<T[]> between(new T[size_t(2 * points)]);
    for (int64_t line = 0; line < lines.lines; ++line) {
      Lines<T> columns = lines, rows = lines;
      columns.plan = columnPlan.get(), rows.plan = rowPlan.get();
      columns.in = lines.in + line / lines.inner * lines.inOuter + line % lines.inner * lines.inInner;
      columns.lines = columns.inner = n2;
      columns.inInner = lines.inStep, columns.inStep = n2 * lines.inStep;
      columns.out = between.get(), columns.outInner = 2, columns.outStep = 2 * n2;
      columns.swapOut = false, columns.scale = 1, columns.turns = turns.data();
      if (int32_t code = runGroups(columns))
        return code;
      rows.in = between.get();
      rows.lines = rows.inner = n1;
      rows.inInner = 2 * n2, rows.inStep = 2, rows.swapIn = false;
      rows.out = lines.out + line / lines.inner * lines.outOuter + line % lines.inner * lines.outInner;
      rows.outInner = lines.outStep, rows.outStep = n1 * lines.outStep;
      if (int32_t code = runGroups(rows))
        return code;
    }
    return 0;
  }

  LinePlan<T> whole;
  std::unique_ptr<LinePlan<T>> columnPlan, rowPlan;
  std::once_flag turnsMade;
  std::vector<T> turns; ///< e^(-2 pi i k1 j2 / n), [n1][n2]
};

enum class Type { FFT, IFFT, RFFT, IRFFT };

template <typename T>
class Transform {
public:
  Transform(Type type, const std::vector<int64_t> &lengths) : type(type) {
    for (size_t i = 0; i < lengths.size(); ++i)
      axes.push_back(std::make_unique<AxisPlan<T>>(lengths[i], isReal() && i + 1 == lengths.size()));
  }

  Status run(const CustomCall &call) {
    const TensorView &x = call.arguments[0], &y = call.results[0];
    size_t rank = y.dims.size(), first = rank - axes.size();
    if (y.elements() == 0)
      return Status();
    const T *from = static_cast<const T *>(x.data);
    T *to = static_cast<T *>(y.data);
    bool isInverse = type == Type::IFFT || type == Type::IRFFT;
    int32_t code = 0;
    std::unique_ptr<T[]> spectrum;
    if (type == Type::RFFT) {
      code = realAxis(from, to, x.elements() / axes.back()->length, true);
      from = to;
    } else if (type == Type::IRFFT && axes.size() > 1) {
      spectrum.reset(new T[size_t(2 * x.elements())]);
      to = spectrum.get();
    }
    const std::vector<int64_t> &dims = type == Type::RFFT ? y.dims : x.dims;
    for (size_t i = axes.size() - (isReal() ? 1 : 0); i-- > 0 && !code; from = to)
      code = complexAxis(from, to, dims, first + i, *axes[i], isInverse);
    if (type == Type::IRFFT && !code)
      code = realAxis(from, static_cast<T *>(y.data), y.elements() / axes.back()->length, false);
    return code == 0 ? Status() : resourceExhausted("no memory for the transform");
  }

private:
  bool isReal() const { return type == Type::RFFT || type == Type::IRFFT; }

  static int32_t complexAxis(const T *from, T *to, const std::vector<int64_t> &dims, size_t axis, AxisPlan<T> &plan, bool isInverse) {
    Lines<T> lines;
    lines.in = from, lines.out = to;
    for (size_t d = axis + 1; d < dims.size(); ++d)
      lines.inner *= dims[d];
    lines.lines = lines.inner;
    for (size_t d = 0; d < axis; ++d)
      lines.lines *= dims[d];
    lines.inInner = lines.outInner = 2;
    lines.inStep = lines.outStep = 2 * lines.inner;
    lines.inOuter = lines.outOuter = 2 * lines.inner * plan.length;
    lines.swapIn = lines.swapOut = isInverse;
    lines.scale = isInverse ? T(1.0 / double(plan.length)) : T(1);
    return plan.run(lines);
  }

  /// The last axis, between real numbers and half a spectrum.
  int32_t realAxis(const T *from, T *to, int64_t count, bool isForward) {
    using Ends = typename Lines<T>::Ends;
    AxisPlan<T> &plan = *axes.back();
    Lines<T> lines;
    lines.in = from, lines.out = to;
    lines.lines = count;
    int64_t half = 2 * (plan.length / 2 + 1);
    lines.inOuter = isForward ? plan.length : half, lines.outOuter = isForward ? half : plan.length;
    lines.ends = isForward ? (plan.isHalved ? Ends::RealIn : Ends::OddReal) : (plan.isHalved ? Ends::RealOut : Ends::OddOut);
    lines.scale = isForward ? T(1) : T(1.0 / double(plan.length));
    return plan.run(lines);
  }

  Type type;
  std::vector<std::unique_ptr<AxisPlan<T>>> axes;
};

template <typename T>
CustomCallHandler handlerOf(Type type, const std::vector<int64_t> &lengths, DType real, DType complex) {
  auto transform = std::make_shared<Transform<T>>(type, lengths);
  return [=](const CustomCall &call) -> Status {
    bool fits = call.arguments.size() == 1 && call.results.size() == 1 && call.arguments[0].dims.size() >= lengths.size() &&
                call.arguments[0].dtype == (type == Type::RFFT ? real : complex) &&
                call.results[0].dtype == (type == Type::IRFFT ? real : complex) &&
                call.results[0].dims.size() == call.arguments[0].dims.size();
    for (size_t i = 0; fits && i < call.arguments[0].dims.size(); ++i) {
      size_t rank = call.arguments[0].dims.size(), position = i + lengths.size() - rank;
      int64_t length = i + lengths.size() < rank ? call.arguments[0].dims[i] : lengths[position];
      int64_t half = i + 1 == rank ? length / 2 + 1 : length;
      fits = call.arguments[0].dims[i] == (type == Type::IRFFT ? half : length) &&
             call.results[0].dims[i] == (type == Type::RFFT ? half : length);
    }
    if (!fits)
      return invalidArgument("expects one operand and one result whose last axes have the lengths of the transform");
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
  const Attribute *type = find("type"), *length = find("length"), *wide = find("wide");
  const char *const names[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  for (int i = 0; i < 4; ++i) {
    if (!type || !length || length->ints.empty() || type->string != names[i])
      continue;
    for (int64_t n : length->ints)
      if (n < 1)
        return invalidArgument("millrace_fft expects lengths of at least 1");
    if (wide && !wide->ints.empty() && wide->ints[0])
      return fft::handlerOf<double>(fft::Type(i), length->ints, DType::F64, DType::C128);
    return fft::handlerOf<float>(fft::Type(i), length->ints, DType::F32, DType::C64);
  }
  return invalidArgument("millrace_fft expects the attributes type (FFT, IFFT, RFFT or IRFFT) and length");
}

} // namespace millrace::runtime
