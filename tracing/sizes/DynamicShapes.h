// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DynamicShapes.h - One program for all sizes -------------------------===//
// Operators are emitted for known sizes. A program for all sizes comes from several of one known size each: whatever
// differs between them (types, limits of slices, constants) has to be a polynomial of the sizes that vary, and of quotients and
// remainders of these that the front end names, found from the first samples and confirmed by the others; it is then computed by the program. What
// is no such polynomial is an error.
#pragma once
#include "tracing/graph/Graph.h"

#include <optional>

namespace millrace::tracing {

/// Sum of factor * product of symbols.
struct SizeExpr {
  struct Term {
    int64_t factor = 1;
    std::vector<uint32_t> symbols; ///< sorted; empty: a constant
  };
  std::vector<Term> terms;
  int64_t evaluate(const std::vector<int64_t> &symbols) const;
  bool isConstant() const;
};

/// `samples[k]`: the values of all symbols in sample k; `values[k]`: what the expression has to yield there. Nothing if no
/// polynomial of a simple form yields all of them.
std::optional<SizeExpr> fitSize(const std::vector<std::vector<int64_t>> &samples, const std::vector<int64_t> &values);

/// Size number `dim` of parameter `parameter` is factor * symbol + offset; or the symbol is the quotient, rounded down, or the remainder of two
/// expressions of symbols before it, which are not negative.
struct SizeSymbol {
  enum class Kind : uint8_t { Size, Quotient, Remainder } kind = Kind::Size;
  size_t parameter = 0;
  int64_t dim = 0, factor = 1, offset = 0;
  SizeExpr dividend = {}, divisor = {};
};

/// How many samples generalize() wants for that many symbols.
size_t samplesFor(size_t symbols);

/// The program that does what each of `texts` does for its sizes. Unimplemented, with the operation's name, if there is
/// none of this kind.
runtime::StatusOr<std::string> generalize(const std::vector<std::string> &texts,
                                          const std::vector<std::vector<int64_t>> &samples,
                                          const std::vector<SizeSymbol> &symbols);

/// The last of `texts`, which is that for the most rows, as a program for any smaller number of them, too (lowering/program/OpenRows.h): text k is
/// recorded for `samples[k]` rows. Unimplemented, with the reason, unless nothing differs but
/// the length of dimensions that are a number of indices for each row, and no row depends on another one. `constants[i]`: calls are expected to pass
/// the same parameter i again and again, so that what depends on such parameters alone is prepared once.
runtime::StatusOr<std::string> rowProgram(const std::vector<std::string> &texts, const std::vector<int64_t> &samples,
                                          const std::vector<bool> &constants = {});

} // namespace millrace::tracing
