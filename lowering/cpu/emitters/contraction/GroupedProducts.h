// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GroupedProducts.h - Instructions for products of narrow numbers ----===//
// Instructions that multiply several neighbouring k of narrow numbers and add them to one sum of 32 bits in every lane. Those for bytes are exact for
// all bytes: products of 16 and sums of 32 bits do not saturate, and sums wrap around as those of single products do.
//===----------------------------------------------------------------------===//
#pragma once

#include "lowering/cpu/emitters/Emitter.h"
#include "lowering/cpu/emitters/model/SumOfProducts.h"

namespace millrace::lowering {

/// Returns true for bf16 that is converted to f32, or an 8-bit integer converted to 32 bits.
bool isWidened(const Factor &factor, mlir::Type accType);
/// Returns true if the elements of an 8-bit integer are signed: they are widened with their sign.
bool isSigned(const Factor &factor);

/// An instruction, and how its operands have to be prepared.
struct GroupedProducts {
  enum class Instruction { None, Bf16Pairs, BytePairs, UnsignedBySigned, EqualSigns };
  Instruction instruction = Instruction::None;
  bool signedA = true, signedB = true; ///< of bytes

  /// Chooses the instruction for products of bytes; none if a factor is something else.
  static GroupedProducts ofBytes(const Factor &a, const Factor &b, mlir::Type accType, const KernelTarget &target);

  bool isNone() const { return instruction == Instruction::None; }
  bool isOfBytes() const { return instruction != Instruction::None && instruction != Instruction::Bf16Pairs; }
  /// Returns the neighbouring k in a lane.
  int64_t group() const;
  /// Returns true if bytes are widened to 16 bits first.
  bool widens() const { return instruction == Instruction::BytePairs; }
  /// Returns true if the sign bits of all elements of b are inverted: 128 is added to each signed one, or subtracted from each unsigned one.
  bool flips() const;
  /// If flips(): what has to be added to a sum for each unit of the sum of a's row.
  int64_t correction() const { return signedB ? -128 : 128; }

  mlir::Value widenA(PointEvaluator &at, mlir::Value bytes) const { return widen(at, bytes, mlir::IntegerType::get(bytes.getContext(), 16), signedA); }
  mlir::Value widenB(PointEvaluator &at, mlir::Value bytes) const { return widen(at, bytes, mlir::IntegerType::get(bytes.getContext(), 16), signedB); }
  mlir::Value flip(PointEvaluator &at, mlir::Value bytes) const;
  /// Returns group() elements of a from `index` of a flat buffer on, 32 bits together, in every lane.
  mlir::Value broadcast(PointEvaluator &at, mlir::Value memory, mlir::Value index) const;
  /// Returns `sum` and the products of a and b, vectors of group() elements for each lane, widened and flipped where they have to be.
  mlir::Value add(PointEvaluator &at, mlir::Value a, mlir::Value b, mlir::Value sum) const;
  /// Returns `sum`, of as many lanes, and the elements of a.
  mlir::Value addElements(PointEvaluator &at, mlir::Value bytesOfA, mlir::Value sum) const;

private:
  static mlir::Value widen(PointEvaluator &at, mlir::Value bytes, mlir::Type element, bool isSigned);
};

} // namespace millrace::lowering
