// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Fft.cpp - stablehlo.fft to loops -----------------------------------===//
// Input:   stablehlo.fft %x, type = FFT, length = [12]
// Output:  per line of each transformed axis: copy to scratch (separate real and imaginary parts), one loop nest per radix between two scratch lines
//          (Stockham's autosort algorithm, without bit reversal), copy out. Roots of unity are constant tables.
// Lengths with a prime factor above 61 are computed by Bluestein's algorithm, a convolution of power-of-two length.
// RFFT transforms the real line and keeps the first n/2+1 values; IRFFT extends the spectrum by conjugate symmetry (imaginary parts at 0 and n/2 are
// ignored) and keeps the real parts. Inverse transforms exchange real and imaginary parts before and after, and divide by the length. With several
// lengths RFFT transforms the last axis first, IRFFT last.
#include "dialects/stablehlo/Ops.h"
#include "runtime/base/FftPlan.h"
#include "lowering/linalg/Loops.h"
#include "lowering/linalg/PatternKinds.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

using namespace mlir;

namespace millrace::lowering {
using runtime::ComplexTable, runtime::chirp, runtime::chirpLength, runtime::chirpSpectrum, runtime::fftRadices;
using runtime::largestRadix, runtime::rootsOfUnity;
namespace {

/// A line of complex numbers in two rank-1 tensors.
struct Line {
  Value re, im;
};
struct Number {
  Value re, im;
};

struct LineTransform {
  FloatType element;

  Value tableTensor(LoopBuilder &l, ArrayRef<double> values) const {
    SmallVector<APFloat> converted;
    for (double value : values) {
      APFloat number(value);
      bool losesInfo;
      number.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
      converted.push_back(number);
    }
    auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, element);
    return arith::ConstantOp::create(l.b, l.loc, DenseElementsAttr::get(type, converted));
  }
  Line table(LoopBuilder &l, const ComplexTable &values) const { return {tableTensor(l, values.re), tableTensor(l, values.im)}; }

  Value constant(LoopBuilder &l, double value) const {
    return arith::ConstantOp::create(l.b, l.loc, l.b.getFloatAttr(element, value));
  }
  Value add(LoopBuilder &l, Value a, Value b) const { return arith::AddFOp::create(l.b, l.loc, a, b); }
  Value sub(LoopBuilder &l, Value a, Value b) const { return arith::SubFOp::create(l.b, l.loc, a, b); }
  Value mul(LoopBuilder &l, Value a, Value b) const { return arith::MulFOp::create(l.b, l.loc, a, b); }
  Number add(LoopBuilder &l, Number a, Number b) const { return {add(l, a.re, b.re), add(l, a.im, b.im)}; }
  Number sub(LoopBuilder &l, Number a, Number b) const { return {sub(l, a.re, b.re), sub(l, a.im, b.im)}; }
  Number mul(LoopBuilder &l, Number a, Number b) const {
    return {sub(l, mul(l, a.re, b.re), mul(l, a.im, b.im)), add(l, mul(l, a.re, b.im), mul(l, a.im, b.re))};
  }
  Number load(LoopBuilder &l, Line line, Value at) const { return {l.extract(line.re, at), l.extract(line.im, at)}; }
  SmallVector<Value> store(LoopBuilder &l, Number value, ValueRange into, Value at) const {
    return {l.insert(value.re, into[0], at), l.insert(value.im, into[1], at)};
  }

  /// Emits the transform of `r` values by its definition, without loops; conjugate roots share products.
  SmallVector<Number> butterfly(LoopBuilder &l, ArrayRef<Number> x) const {
    int64_t r = x.size();
    if (r == 1)
      return {x[0]};
    if (r == 2)
      return {add(l, x[0], x[1]), sub(l, x[0], x[1])};
    if (r == 4) {
      Number even = add(l, x[0], x[2]), odd = add(l, x[1], x[3]), cross = sub(l, x[0], x[2]), d = sub(l, x[1], x[3]);
      Number turned{d.im, arith::NegFOp::create(l.b, l.loc, d.re)}; // -i d
      return {add(l, even, odd), add(l, cross, turned), sub(l, even, odd), sub(l, cross, turned)};
    }
    // Odd r: with s_k = x_k + x_{r-k} and d_k = x_k - x_{r-k},
    // y_j = x_0 + sum_k cos(jk) s_k -/+ i sum_k sin(jk) d_k for j and r - j.
    ComplexTable roots = rootsOfUnity(r);
    SmallVector<Number> sums{x[0]}, differences{x[0]}, y(r);
    Number total = x[0];
    for (int64_t k = 1; k <= r / 2; ++k) {
      sums.push_back(add(l, x[k], x[r - k]));
      differences.push_back(sub(l, x[k], x[r - k]));
      total = add(l, total, sums.back());
    }
    y[0] = total;
    for (int64_t j = 1; j <= r / 2; ++j) {
      Number even = x[0], odd;
      for (int64_t k = 1; k <= r / 2; ++k) {
        Value c = constant(l, roots.re[j * k % r]), s = constant(l, roots.im[j * k % r]);
        even = add(l, even, Number{mul(l, c, sums[k].re), mul(l, c, sums[k].im)});
        // i s d = (-s d.im, s d.re)
        Number term{mul(l, s, differences[k].im), mul(l, s, differences[k].re)};
        odd = k == 1 ? term : add(l, odd, term);
      }
      y[j] = {sub(l, even.re, odd.re), add(l, even.im, odd.im)};
      y[r - j] = {add(l, even.re, odd.re), sub(l, even.im, odd.im)};
    }
    return y;
  }

  /// Transforms `from` of length n, alternating between `from` and `spare`; returns the line with the result and the other one.
  std::pair<Line, Line> mixedRadix(LoopBuilder &l, Line from, Line spare, int64_t n, ArrayRef<int64_t> radices) const {
    if (radices.empty())
      return {from, spare};
    Line roots = table(l, rootsOfUnity(n));
    int64_t stride = 1, current = n;
    for (int64_t r : radices) {
      int64_t m = current / r;
      SmallVector<Value> sizes{l.index(m), l.index(stride)};
      auto pass = l.nest(sizes, ValueRange{spare.re, spare.im}, [&](LoopBuilder &in, ValueRange iv, ValueRange carried) {
        Value p = iv[0], q = iv[1];
        SmallVector<Number> x;
        Value base = in.add(q, in.mul(p, in.index(stride)));
        for (int64_t k = 0; k < r; ++k)
          x.push_back(load(in, from, in.add(base, in.index(stride * m * k))));
        SmallVector<Number> y = butterfly(in, x);
        Value target = in.add(q, in.mul(p, in.index(stride * r))), angle = in.mul(p, in.index(stride));
        SmallVector<Value> next = llvm::to_vector(carried);
        for (int64_t j = 0; j < r; ++j) {
          // The twiddle factor is e^(-2 pi i p j / current), entry p * j * stride of the table. It is 1 in the last pass (p = 0).
          Number value = y[j];
          if (j > 0 && m > 1)
            value = mul(in, value, load(in, roots, in.mul(angle, in.index(j))));
          next = store(in, value, next, in.add(target, in.index(stride * j)));
        }
        return next;
      });
      spare = from;
      from = {pass[0], pass[1]};
      current = m;
      stride *= r;
    }
    return {from, spare};
  }

  /// Bluestein's algorithm: X(k) = c(k) * sum_j (x(j) c(j)) conj(c(k - j)), a cyclic convolution of power-of-two length. `line` has that length; its
  /// first n values are transformed.
  std::pair<Line, Line> chirpTransform(LoopBuilder &l, Line line, Line spare, int64_t n) const {
    int64_t length = chirpLength(n);
    std::vector<int64_t> radices = fftRadices(length);
    Line chirps = table(l, chirp(n)), spectrum = table(l, chirpSpectrum(n));
    Value count = l.index(n), whole = l.index(length), one = l.index(1), zeroValue = constant(l, 0.0);
    auto scaled = l.nest(count, ValueRange{line.re, line.im}, [&](LoopBuilder &in, ValueRange k, ValueRange x) {
      return store(in, mul(in, load(in, {x[0], x[1]}, k[0]), load(in, chirps, k[0])), x, k[0]);
    });
    auto padded = l.loop(count, whole, one, scaled, [&](LoopBuilder &in, ValueRange k, ValueRange x) {
      return store(in, {zeroValue, zeroValue}, x, k[0]);
    });
    auto [forward, other] = mixedRadix(l, {padded[0], padded[1]}, spare, length, radices);
    // The inverse transform is the forward one with exchanged parts.
    auto product = l.nest(whole, ValueRange{forward.re, forward.im}, [&](LoopBuilder &in, ValueRange k, ValueRange x) {
      Number value = mul(in, load(in, {x[0], x[1]}, k[0]), load(in, spectrum, k[0]));
      return store(in, {value.im, value.re}, x, k[0]);
    });
    auto [back, last] = mixedRadix(l, {product[0], product[1]}, other, length, radices);
    auto result = l.nest(count, ValueRange{back.re, back.im}, [&](LoopBuilder &in, ValueRange k, ValueRange x) {
      Number swapped = load(in, {x[0], x[1]}, k[0]);
      return store(in, mul(in, {swapped.im, swapped.re}, load(in, chirps, k[0])), x, k[0]);
    });
    return {{result[0], result[1]}, last};
  }

  static bool needsChirp(ArrayRef<int64_t> radices) { return !radices.empty() && llvm::max_element(radices)[0] > largestRadix; }
};

enum class Ends { Complex, RealIn, RealOut };

/// Transforms `axis` of `input` (n values per line after extension) into a new tensor.
Value transformAxis(LoopBuilder &l, Value input, int64_t axis, int64_t n, bool isInverse, Ends ends, FloatType element) {
  LineTransform t{element};
  auto inputType = cast<RankedTensorType>(input.getType());
  std::vector<int64_t> radices = fftRadices(n);
  bool isChirp = LineTransform::needsChirp(radices);
  int64_t scratch = isChirp ? chirpLength(n) : n;

  SmallVector<int64_t> shape(inputType.getShape());
  shape[axis] = ends == Ends::RealIn ? n / 2 + 1 : n;
  Type outElement = ends == Ends::RealOut ? Type(element) : Type(ComplexType::get(element));
  auto resultType = RankedTensorType::get(shape, outElement);
  SmallVector<OpFoldResult> sizes = l.foldedDims(input);
  sizes[axis] = l.b.getIndexAttr(shape[axis]);
  SmallVector<Value> state{l.empty(resultType, sizes)};
  for (int i = 0; i < 4; ++i)
    state.push_back(l.scratch({l.b.getIndexAttr(scratch)}, element));
  SmallVector<Value> outerSizes = l.dims(input);
  outerSizes.erase(outerSizes.begin() + axis);

  auto perLine = [&](LoopBuilder &outer, ValueRange ivs, ValueRange carried) {
    auto at = [&](Value inner) {
      SmallVector<Value> indices = llvm::to_vector(ivs);
      indices.insert(indices.begin() + axis, inner);
      return indices;
    };
    Value one = outer.index(1), zeroIndex = outer.index(0), count = outer.index(n);
    auto read = [&](LoopBuilder &in, Value from) -> Number {
      Value value = in.extract(input, at(from));
      if (ends == Ends::RealIn)
        return {value, t.constant(in, 0.0)};
      return {complex::ReOp::create(in.b, in.loc, value), complex::ImOp::create(in.b, in.loc, value)};
    };
    auto fill = [&](LoopBuilder &in, Number value, ValueRange into, Value to) {
      return isInverse ? t.store(in, {value.im, value.re}, into, to) : t.store(in, value, into, to);
    };
    ValueRange work = carried.slice(1, 2);
    Value given = ends == Ends::RealOut ? outer.index(n / 2 + 1) : count;
    SmallVector<Value> loaded =
        outer.loop(zeroIndex, given, one, work, [&](LoopBuilder &in, ValueRange k, ValueRange into) {
          return fill(in, read(in, k[0]), into, k[0]);
        });
    if (ends == Ends::RealOut)
      loaded = outer.loop(given, count, one, loaded, [&](LoopBuilder &in, ValueRange k, ValueRange into) {
        Number mirrored = read(in, in.sub(count, k[0]));
        return fill(in, {mirrored.re, arith::NegFOp::create(in.b, in.loc, mirrored.im)}, into, k[0]);
      });
    Line line{loaded[0], loaded[1]}, spare{carried[3], carried[4]};
    auto [done, other] = isChirp ? t.chirpTransform(outer, line, spare, n) : t.mixedRadix(outer, line, spare, n, radices);
    Value scale = t.constant(outer, 1.0 / double(n));
    Line result = done;
    SmallVector<Value> next = outer.loop(
        zeroIndex, outer.index(shape[axis]), one, carried[0], [&](LoopBuilder &in, ValueRange k, ValueRange into) {
          Number value = t.load(in, result, k[0]);
          if (isInverse)
            value = {t.mul(in, value.im, scale), t.mul(in, value.re, scale)};
          Value stored = value.re;
          if (ends != Ends::RealOut)
            stored = complex::CreateOp::create(in.b, in.loc, ComplexType::get(element), value.re, value.im);
          return SmallVector<Value>{in.insert(stored, into[0], at(k[0]))};
        });
    // The scratch lines are passed on in their original order, whatever the number of passes, because carried values must be equivalent buffers.
    bool isSwapped = !isChirp && radices.size() % 2 == 1;
    for (Line scratchLine : {isSwapped ? other : done, isSwapped ? done : other}) {
      next.push_back(scratchLine.re);
      next.push_back(scratchLine.im);
    }
    return next;
  };
  return l.nest(outerSizes, state, perLine)[0];
}

struct FftPattern : OpConversionPattern<stablehlo::FftOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::FftOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    Value value = adaptor.getOperand();
    int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
    ArrayRef<int64_t> lengths = op.getFftLength();
    int64_t count = lengths.size(), firstAxis = rank - count;
    Type operandElement = getElementTypeOrSelf(value.getType());
    if (auto complexType = dyn_cast<ComplexType>(operandElement))
      operandElement = complexType.getElementType();
    auto element = cast<FloatType>(operandElement);
    auto type = op.getFftType();
    bool isInverse = type == stablehlo::FftType::IFFT || type == stablehlo::FftType::IRFFT;
    auto all = [&](int64_t from, int64_t to) {
      for (int64_t i = to - 1; i >= from; --i)
        value = transformAxis(l, value, firstAxis + i, lengths[i], isInverse, Ends::Complex, element);
    };
    if (type == stablehlo::FftType::RFFT) {
      value = transformAxis(l, value, rank - 1, lengths.back(), false, Ends::RealIn, element);
      all(0, count - 1);
    } else if (type == stablehlo::FftType::IRFFT) {
      all(0, count - 1);
      value = transformAxis(l, value, rank - 1, lengths.back(), true, Ends::RealOut, element);
    } else {
      all(0, count);
    }
    rewriter.replaceOp(op, l.cast(value, getTypeConverter()->convertType(op.getType())));
    return success();
  }
};

} // namespace

void populateFftPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<FftPattern>(converter, patterns.getContext());
}

} // namespace millrace::lowering
