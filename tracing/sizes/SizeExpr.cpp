// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SizeExpr.cpp - Sizes as polynomials of other sizes ------------------===//
#include "tracing/sizes/DynamicShapes.h"

#include <algorithm>

namespace millrace::tracing {
namespace {

using Monomial = std::vector<uint32_t>;

int64_t product(const Monomial &monomial, const std::vector<int64_t> &symbols) {
  int64_t value = 1;
  for (uint32_t symbol : monomial)
    value *= symbols[symbol];
  return value;
}

/// Returns the products of up to `degree` symbols, those of the lowest degree first.
std::vector<Monomial> monomials(size_t symbols, size_t degree) {
  std::vector<Monomial> all, last{{}};
  for (size_t d = 0; d < degree; ++d) {
    std::vector<Monomial> next;
    for (const Monomial &shorter : last)
      for (uint32_t s = shorter.empty() ? 0 : shorter.back(); s < symbols; ++s) {
        next.push_back(shorter);
        next.back().push_back(s);
      }
    all.insert(all.end(), next.begin(), next.end());
    last = std::move(next);
  }
  return all;
}

/// Returns a / b if the division has no remainder.
std::optional<int64_t> whole(__int128 a, __int128 b) {
  if (b == 0 || a % b)
    return std::nullopt;
  return int64_t(a / b);
}

} // namespace

int64_t SizeExpr::evaluate(const std::vector<int64_t> &symbols) const {
  int64_t sum = 0;
  for (const Term &term : terms)
    sum += term.factor * product(term.symbols, symbols);
  return sum;
}

bool SizeExpr::isConstant() const {
  return std::all_of(terms.begin(), terms.end(), [](const Term &term) { return term.symbols.empty(); });
}

size_t samplesFor(size_t symbols) { return symbols < 2 ? 4 : 5; }

std::optional<SizeExpr> fitSize(const std::vector<std::vector<int64_t>> &samples, const std::vector<int64_t> &values) {
  auto accept = [&](std::initializer_list<SizeExpr::Term> terms) -> std::optional<SizeExpr> {
    SizeExpr made;
    for (const SizeExpr::Term &term : terms)
      if (term.factor)
        made.terms.push_back(term);
    for (size_t k = 0; k < values.size(); ++k)
      if (made.evaluate(samples[k]) != values[k])
        return std::nullopt;
    return made;
  };
  if (auto made = accept({{values[0], {}}}))
    return made;
  size_t count = samples[0].size();
  for (const Monomial &m : monomials(count, 3)) { // a * m + b
    int64_t m0 = product(m, samples[0]), m1 = product(m, samples[1]);
    if (std::optional<int64_t> a = whole(values[1] - values[0], m1 - m0))
      if (auto made = accept({{*a, m}, {values[0] - *a * m0, {}}}))
        return made;
  }
  std::vector<Monomial> pairs = monomials(count, 2);
  for (size_t i = 0; i < pairs.size(); ++i)
    for (size_t j = i + 1; j < pairs.size(); ++j) { // a * m + b * n + c, by Cramer's rule
      auto at = [&](const Monomial &m, size_t k) { return __int128(product(m, samples[k]) - product(m, samples[0])); };
      __int128 m1 = at(pairs[i], 1), m2 = at(pairs[i], 2), n1 = at(pairs[j], 1), n2 = at(pairs[j], 2);
      __int128 v1 = values[1] - values[0], v2 = values[2] - values[0], determinant = m1 * n2 - m2 * n1;
      std::optional<int64_t> a = whole(v1 * n2 - v2 * n1, determinant), b = whole(m1 * v2 - m2 * v1, determinant);
      if (!a || !b)
        continue;
      int64_t c = values[0] - *a * product(pairs[i], samples[0]) - *b * product(pairs[j], samples[0]);
      if (auto made = accept({{*a, pairs[i]}, {*b, pairs[j]}, {c, {}}}))
        return made;
    }
  return std::nullopt;
}

} // namespace millrace::tracing
