// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CodedOperand.h - Operands that are computed from codes --------------===//
// A coded operand is scale * (code - zero), with codes in few bits, and with scales and zeros that neighbours in row-major order share. Programs write
// it in many ways; all places are counted in row-major order, in which reshapes change nothing.
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace millrace::fusion {

/// Fact: bits of a code that is smaller than a byte.
inline constexpr int64_t kCodeBits = 4;

/// A value of which `repeats` neighbours are equal, elements or blocks of `inner` elements: element i is element i / (repeats * inner) * inner + i % inner
/// of `source`, converted to `conversions` one after the other.
struct Repeated {
  mlir::Value source;
  int64_t repeats = 1, inner = 1;
  llvm::SmallVector<mlir::Type, 2> conversions;

  static Repeated of(mlir::Value value);
  /// Returns the number of elements that may differ.
  int64_t elements() const;
  mlir::Type type() const { return conversions.empty() ? mlir::getElementTypeOrSelf(source.getType()) : conversions.back(); }
  /// Returns the elements of the source in another shape, converted.
  mlir::Value materialize(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<int64_t> shape) const;
};

struct CodedOperand {
  mlir::Value codes;       ///< i8 or ui8, or one code in each element of i4 or ui4; i32 or ui32 if hasWords
  bool isPacked = false;   ///< two codes of four bits in each byte
  bool hasWords = false;   ///< with isPacked: eight codes in each word of 32 bits, of 8 * run neighbours
  llvm::SmallVector<int64_t> order; ///< if isPacked: the place, of two or eight, of each neighbour in a byte or word; empty: they are in order
  bool isNarrow = false;   ///< the four low bits of each element are the code
  bool isSigned = true;
  int64_t run = 1;         ///< if isPacked: of 2 * run neighbours, the low bits of run bytes are the first half
  int64_t zero = 0;        ///< of all codes
  std::optional<Repeated> zeros, scale; ///< integers; floats
  mlir::Value rowOf; ///< integers: of a matrix, the row of the sources of `zeros` and `scale` for each of its own; null: neighbours share them

  bool isSmall() const { return isPacked || isNarrow; }
  /// Returns how many codes an element of `codes` has.
  int64_t codesOfElement() const { return hasWords ? 8 : isPacked ? 2 : 1; }
  /// Returns the place of each neighbour in an element of `codes`.
  llvm::SmallVector<int64_t> places() const { return order.empty() ? llvm::to_vector(llvm::seq<int64_t>(0, codesOfElement())) : order; }
  /// Returns what `value`, of floats or integers, is computed from. None if it is something else, or if integers might overflow on the way.
  static std::optional<CodedOperand> of(mlir::Value value);
};

} // namespace millrace::fusion
