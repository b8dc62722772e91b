// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DynamicShapes.h - One program for all sizes -------------------------===//
// Operators are emitted for static sizes. The program for all sizes is derived from several programs of different static sizes: every type, slice
// limit and constant in which the samples differ has to be a polynomial of the dynamic sizes. The polynomial is fitted to the first samples and
// checked with the last one; the program then computes it. A difference that is no such polynomial is an error.
#pragma once
#include "tracing/Graph.h"

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

/// Size number `dim` of parameter `parameter` is factor * symbol + offset.
struct SizeSymbol {
  size_t parameter = 0;
  int64_t dim = 0, factor = 1, offset = 0;
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
/// the length of dimensions that are a number of indices for each row, and no row depends on another one.
runtime::StatusOr<std::string> rowProgram(const std::vector<std::string> &texts, const std::vector<int64_t> &samples);

} // namespace millrace::tracing
