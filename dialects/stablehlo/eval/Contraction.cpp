// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Contraction.cpp - dot_general, dot, einsum -------------------------===//
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/eval/Interpreter.h"
#include "dialects/stablehlo/eval/Lanes.h"

#include <cctype>
#include <cmath>
#include <map>

using namespace mlir;

namespace millrace::eval {

/// Computes the sum over contracting dimensions of lhs * rhs; the result's dimensions are batch, lhs free, rhs free.
static llvm::Error dotGeneral(Call &call, const Tensor &lhs, const Tensor &rhs, ArrayRef<int64_t> lhsBatch,
                              ArrayRef<int64_t> rhsBatch, ArrayRef<int64_t> lhsContract, ArrayRef<int64_t> rhsContract,
                              std::optional<Kind> accumulation) {
  Shape batchSizes, contractSizes, shape;
  for (auto [l, r] : llvm::zip(lhsBatch, rhsBatch)) {
    if (lhs.dim(l) != rhs.dim(r)) return call.error("batching dimensions differ in size");
    batchSizes.push_back(lhs.dim(l));
  }
  for (auto [l, r] : llvm::zip(lhsContract, rhsContract)) {
    if (lhs.dim(l) != rhs.dim(r))
      return call.error("contracting dimensions differ in size: " + llvm::Twine(lhs.dim(l)) + " and " + llvm::Twine(rhs.dim(r)));
    contractSizes.push_back(lhs.dim(l));
  }
  Shape lhsFree, rhsFree;
  for (int64_t d = 0; d < lhs.rank(); ++d)
    if (!llvm::is_contained(lhsBatch, d) && !llvm::is_contained(lhsContract, d)) lhsFree.push_back(d);
  for (int64_t d = 0; d < rhs.rank(); ++d)
    if (!llvm::is_contained(rhsBatch, d) && !llvm::is_contained(rhsContract, d)) rhsFree.push_back(d);
  shape = batchSizes;
  int64_t rows = 1, columns = 1, batches = numElements(batchSizes), depth = numElements(contractSizes);
  for (int64_t d : lhsFree) shape.push_back(lhs.dim(d)), rows *= lhs.dim(d);
  for (int64_t d : rhsFree) shape.push_back(rhs.dim(d)), columns *= rhs.dim(d);
  if (llvm::Error error = checkSize(call, shape, call.resultElementType())) return error;

  // Both sides are transposed to [batch][free][contracting].
  auto arranged = [](const Tensor &t, ArrayRef<int64_t> batch, ArrayRef<int64_t> free, ArrayRef<int64_t> contract) {
    Shape permutation(batch);
    permutation.append(free.begin(), free.end());
    permutation.append(contract.begin(), contract.end());
    return transposeOf(t, permutation);
  };
  Tensor a = arranged(lhs, lhsBatch, lhsFree, lhsContract), b = arranged(rhs, rhsBatch, rhsFree, rhsContract);
  Tensor result(call.typeWith(shape));
  unsigned width = result.elementBytes();
  char *out = result.mutableData();
  Kind kind = result.kind();
  // Components of a dot algorithm are f64, whose sum is exact enough to be rounded once, to the accumulation type.
  withLane(accumulation ? Kind::F64 : kind, [&](auto *tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    auto as = lanesOf<T>(a), bs = lanesOf<T>(b);
    for (int64_t n = 0; n < batches; ++n)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          const T *p = as.data() + (n * rows + i) * depth, *q = bs.data() + (n * columns + j) * depth;
          T sum = T(0);
          for (int64_t k = 0; k < depth; ++k) multiplyAdd(sum, p[k], q[k]);
          char *to = out + ((n * rows + i) * columns + j) * width;
          if constexpr (std::is_floating_point_v<T>) {
            if (accumulation && *accumulation != kind) {
              char bytes[16];
              storeLane(*accumulation, bytes, sum);
              sum = static_cast<T>(loadFloat(*accumulation, bytes));
            }
          }
          storeLane(kind, to, sum);
        }
  });
  call.push(std::move(result));
  return llvm::Error::success();
}

/// Returns `x` rounded to the precision type of a dot algorithm, as f64; tf32 has f32's range and 10 significand bits.
static Tensor roundToPrecision(const Tensor &x, Type precision) {
  Tensor result(RankedTensorType::get(x.getShape(), Float64Type::get(precision.getContext())));
  auto *out = reinterpret_cast<double *>(result.mutableData());
  std::optional<Kind> kind = kindOf(precision);
  for (int64_t i = 0; i < x.size(); ++i) {
    double value = x.getFloat(i);
    if (kind) {
      out[i] = roundFloat(*kind, value);
    } else if (value == 0 || !std::isfinite(value)) {
      out[i] = value;
    } else {
      int exponent = std::max(std::ilogb(value), -126);
      out[i] = roundFloat(Kind::F32, std::ldexp(std::nearbyint(std::ldexp(value, 10 - exponent)), exponent - 10));
    }
  }
  return result;
}

/// Computes a dot by an algorithm: both sides are split into components of the precision type (value = c0 + c1 + ...), and the 1, 3, 6 or 9 products
/// of components with the smallest sums of indices are added.
static llvm::Error dotByAlgorithm(Call &call, stablehlo::DotAlgorithmAttr algorithm, ArrayRef<int64_t> lhsBatch,
                                  ArrayRef<int64_t> rhsBatch, ArrayRef<int64_t> lhsContract,
                                  ArrayRef<int64_t> rhsContract) {
  auto split = [](const Tensor &x, Type precision, int64_t count) {
    SmallVector<Tensor> components;
    Tensor rest = convertTo(x, RankedTensorType::get(x.getShape(), Float64Type::get(precision.getContext())));
    for (int64_t c = 0; c < count; ++c) {
      Tensor component = roundToPrecision(rest, precision);
      auto *left = reinterpret_cast<double *>(rest.mutableData());
      for (int64_t i = 0; i < rest.size(); ++i) left[i] -= component.getFloat(i);
      components.push_back(std::move(component));
    }
    return components;
  };
  SmallVector<Tensor> lhs = split(call.in(0), algorithm.getLhsPrecisionType(), algorithm.getLhsComponentCount());
  SmallVector<Tensor> rhs = split(call.in(1), algorithm.getRhsPrecisionType(), algorithm.getRhsComponentCount());
  int64_t left = algorithm.getNumPrimitiveOperations();
  // The components are concatenated along one more contracting dimension, so that the sum is exact before its only rounding.
  SmallVector<const Tensor *> lhsParts, rhsParts;
  for (size_t sum = 0; sum < lhs.size() + rhs.size() - 1; ++sum)
    for (size_t i = 0; i < lhs.size(); ++i)
      if (sum >= i && sum - i < rhs.size() && left > 0) {
        --left;
        lhsParts.push_back(&lhs[i]);
        rhsParts.push_back(&rhs[sum - i]);
      }
  auto stack = [](ArrayRef<const Tensor *> parts) {
    Shape one(parts[0]->getShape()), all(parts[0]->getShape());
    one.push_back(1);
    all.push_back(static_cast<int64_t>(parts.size()));
    SmallVector<Tensor> owned;
    SmallVector<const Tensor *> views;
    for (const Tensor *part : parts) owned.push_back(part->withType(RankedTensorType::get(one, part->getElementType())));
    for (const Tensor &part : owned) views.push_back(&part);
    return concatenateOf(views, static_cast<int64_t>(one.size()) - 1, RankedTensorType::get(all, parts[0]->getElementType()));
  };
  if (lhsParts.empty()) return call.error("the algorithm has no primitive operation");
  Tensor a = stack(lhsParts), b = stack(rhsParts);
  Shape ac(lhsContract), bc(rhsContract);
  ac.push_back(a.rank() - 1);
  bc.push_back(b.rank() - 1);
  return dotGeneral(call, a, b, lhsBatch, rhsBatch, ac, bc, kindOf(algorithm.getAccumulationType()));
}

static llvm::Error evalDotGeneral(Call &call) {
  auto numbers = call.op->getAttrOfType<stablehlo::DotDimensionNumbersAttr>("dot_dimension_numbers");
  ArrayRef<int64_t> lb = numbers.getLhsBatchingDimensions(), rb = numbers.getRhsBatchingDimensions(),
                    lc = numbers.getLhsContractingDimensions(), rc = numbers.getRhsContractingDimensions();
  auto algorithm = call.op->getAttrOfType<stablehlo::DotAlgorithmAttr>("algorithm");
  if (algorithm && isFloat(call.in(0).kind()) && isFloat(call.in(1).kind()))
    return dotByAlgorithm(call, algorithm, lb, rb, lc, rc);
  return dotGeneral(call, call.in(0), call.in(1), lb, rb, lc, rc, std::nullopt);
}

/// Evaluates dot of vectors and matrices, which contracts the last dimension of lhs with the first of rhs.
static llvm::Error evalDot(Call &call) {
  const Tensor &lhs = call.in(0), &rhs = call.in(1);
  if (lhs.rank() == 0 || rhs.rank() == 0) return call.error("expects operands of rank 1 or 2");
  return dotGeneral(call, lhs, rhs, {}, {}, {lhs.rank() - 1}, {0}, std::nullopt);
}

//===-- einsum -------------------------------------------------------------===//

/// Returns the labels of one operand: letters, and for an ellipsis as many labels as there are other dimensions, counted from the right ('\x01' the
/// last) so that they broadcast.
static std::optional<std::string> labels(StringRef text, int64_t rank) {
  std::string before, after;
  size_t dots = text.find("...");
  before = text.take_front(dots == StringRef::npos ? text.size() : dots).str();
  if (dots != StringRef::npos) after = text.substr(dots + 3).str();
  auto clean = [](std::string &s) { llvm::erase_if(s, [](char c) { return c == ' '; }); };
  clean(before);
  clean(after);
  int64_t named = static_cast<int64_t>(before.size() + after.size());
  if (dots == StringRef::npos ? named != rank : named > rank) return std::nullopt;
  std::string middle;
  for (int64_t i = rank - named; i > 0; --i) middle += static_cast<char>(i);
  return before + middle + after;
}

/// Sums over all labels that the result does not have.
static llvm::Error einsum(Call &call, StringRef config, ArrayRef<const Tensor *> inputs) {
  auto [left, right] = config.split("->");
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  if (parts.size() != inputs.size()) return call.error("einsum_config has not one part per operand");
  SmallVector<std::string> inputLabels;
  std::map<char, int64_t> sizes;
  int64_t ellipsis = 0;
  for (auto [part, input] : llvm::zip(parts, inputs)) {
    std::optional<std::string> text = labels(part, input->rank());
    if (!text) return call.error("einsum_config does not fit an operand's rank");
    for (auto [d, label] : llvm::enumerate(*text)) {
      int64_t &size = sizes.try_emplace(label, 1).first->second;
      if (input->dim(d) != 1 && size != 1 && size != input->dim(d)) return call.error("einsum label has two sizes");
      if (size == 1) size = input->dim(d);
      if (label < ' ') ellipsis = std::max<int64_t>(ellipsis, label);
    }
    inputLabels.push_back(*text);
  }
  int64_t named = 0;
  for (char c : right) named += std::isalpha(static_cast<unsigned char>(c)) ? 1 : 0;
  std::optional<std::string> resultLabels = labels(right, named + (right.contains("...") ? ellipsis : 0));
  if (!resultLabels) return call.error("einsum_config has a malformed result");
  std::string all = *resultLabels;
  for (auto &[label, size] : sizes)
    if (all.find(label) == std::string::npos) all += label;
  Shape shape, space;
  for (char label : all) {
    if (!sizes.count(label)) return call.error("einsum_config has a result label that no operand has");
    space.push_back(sizes[label]);
    if (shape.size() < resultLabels->size()) shape.push_back(sizes[label]);
  }
  if (llvm::Error error = checkSize(call, shape, call.resultElementType())) return error;
  Tensor result(call.typeWith(shape));
  SmallVector<Shape> strides;
  for (auto [text, input] : llvm::zip(inputLabels, inputs)) {
    Shape own = stridesOf(input->getShape()), perLabel(all.size(), 0);
    for (auto [d, label] : llvm::enumerate(text))
      if (input->dim(d) != 1) perLabel[all.find(label)] += own[d];
    strides.push_back(perLabel);
  }
  Shape inner(space.begin() + shape.size(), space.end());
  int64_t innerCount = numElements(inner);
  unsigned width = result.elementBytes();
  char *out = result.mutableData();
  Kind kind = result.kind();
  withLane(kind, [&](auto *tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    SmallVector<SmallVector<T, 0>> values;
    for (const Tensor *input : inputs) values.push_back(lanesOf<T>(*input));
    forEachIndex(shape, [&](ArrayRef<int64_t> outer, int64_t linear) {
      T sum = T(0);
      Shape index(space.size(), 0);
      llvm::copy(outer, index.begin());
      MutableArrayRef<int64_t> running = MutableArrayRef<int64_t>(index).drop_front(outer.size());
      for (int64_t n = 0; n < innerCount; ++n) {
        T factors[2] = {T(1), T(1)};
        for (size_t i = 0; i < inputs.size(); ++i) {
          int64_t from = 0;
          for (size_t d = 0; d < index.size(); ++d) from += index[d] * strides[i][d];
          factors[i] = values[i][from];
        }
        multiplyAdd(sum, factors[0], factors[1]);
        nextIndex(running, inner);
      }
      storeLane(kind, out + linear * width, sum);
    });
  });
  call.push(std::move(result));
  return llvm::Error::success();
}

static llvm::Error evalEinsum(Call &call) {
  return einsum(call, call.op->getAttrOfType<StringAttr>("einsum_config").getValue(), {&call.in(0), &call.in(1)});
}
static llvm::Error evalUnaryEinsum(Call &call) {
  return einsum(call, call.op->getAttrOfType<StringAttr>("einsum_config").getValue(), {&call.in(0)});
}

void addContraction(Dispatch &dispatch) {
  dispatch.add("stablehlo.dot_general", evalDotGeneral, Quantization::Expressed);
  dispatch.add("stablehlo.dot", evalDot, Quantization::Expressed);
  dispatch.add("stablehlo.einsum", evalEinsum);
  dispatch.add("stablehlo.unary_einsum", evalUnaryEinsum);
}

} // namespace millrace::eval
