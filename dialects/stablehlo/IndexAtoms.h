// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IndexAtoms.h - Factor tensor dimensions into shared loop indices ----===//
// An atom is one loop index of the whole kernel. A tensor dimension is a list of atoms, outermost first; a unit dimension is the empty list. Making
// two dimensions have the same indices (unify) may split an atom: a reshape 128x1024 -> 4x32x1024 splits the atom of size 128 into one of 4 and one
// of 32.
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/LogicalResult.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace millrace::stablehlo {

using AtomList = mlir::SmallVector<int, 4>;

class IndexAtoms {
public:
  /// Returns the atoms of a new dimension.
  AtomList dimension(int64_t size);

  /// Makes both lists denote the same indices. Fails if the sizes have no common refinement.
  mlir::LogicalResult unify(mlir::ArrayRef<int> left, mlir::ArrayRef<int> right);

  /// Replaces unified and split atoms by those that represent them now.
  AtomList resolve(mlir::ArrayRef<int> list) const;

  int64_t size(int atom) const { return atoms[atom].size; }

private:
  struct Atom {
    int64_t size;
    int forward = -1;
    int outer = -1, inner = -1;
  };
  void appendResolved(int atom, AtomList &out) const;
  void split(int atom, int64_t innerSize);

  std::vector<Atom> atoms;
};

/// The indices that two shapes of the same elements in row-major order have in common.
struct Refinement {
  using Groups = llvm::SmallVector<llvm::SmallVector<int64_t, 2>>;
  llvm::SmallVector<int64_t> sizes; ///< of the atoms, outermost first
  Groups ofLeft, ofRight;           ///< numbers of the atoms of each dimension; none for a unit dimension
};

/// Returns the coarsest refinement of both shapes: 64x64x320 and 4096x32x10 give 64x64x32x10. None if there is none, or if a size is 0 or dynamic.
std::optional<Refinement> refine(llvm::ArrayRef<int64_t> left, llvm::ArrayRef<int64_t> right);

} // namespace millrace::stablehlo
