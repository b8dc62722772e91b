// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RaggedGroups.h - Bring rows of one group together ------------------===//
// A table says of each row of a matrix to which group it belongs (GPTQ's g_idx), in any order, and groups may have different sizes. Here rows get places
// in the order of their groups, each group from a multiple of kRowsOfPlace on, so that rows in one word of codes belong to one group. The places are
// computed by the program, for nothing is known of the table but its size.
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/Builders.h"

namespace millrace::fusion {

/// Fact: rows of a word of 32 bits, in codes of four bits.
inline constexpr int64_t kRowsOfPlace = 8;

class RaggedGroups {
public:
  /// `groupOf` has an integer for each of a multiple of kRowsOfPlace rows; those outside of [0, groups) are the nearest number in it, as for gathers.
  RaggedGroups(mlir::OpBuilder &b, mlir::Location loc, mlir::Value groupOf, int64_t groups);

  /// Returns how many places there are: enough for all groups, whatever their sizes.
  int64_t places() const { return count; }
  /// Returns where each group begins, and the last one ends, in multiples of kRowsOfPlace.
  mlir::Value starts() const { return begins; }
  /// Returns columns [rows] of `x` at their places, [places()], and zeros between groups.
  mlir::Value columnsOf(mlir::Value x);
  /// Returns words of kRowsOfPlace neighbouring rows [rows / kRowsOfPlace, columns] for the rows at each place. `order` has the place in a word of each
  /// neighbour; the result has them in order. Codes between groups are arbitrary.
  mlir::Value wordsOf(mlir::Value words, mlir::ArrayRef<int64_t> order);

  /// Returns `scales` [groups, columns] with zeros for groups without rows: the program does not read those, which may be infinite or no numbers.
  mlir::Value scalesOf(mlir::Value scales);

  /// Returns the number of the group of each of `words` words that begin at `starts`.
  static mlir::Value groupOfWords(mlir::OpBuilder &b, mlir::Location loc, mlir::Value starts, int64_t words);

  /// Returns rows of a table.
  static mlir::Value rowsOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value table, mlir::Value indices);

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
  int64_t count = 0;
  mlir::Value begins, rowAt, isTaken;
};

} // namespace millrace::fusion
