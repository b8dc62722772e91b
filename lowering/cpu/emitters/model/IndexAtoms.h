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
#include <vector>

namespace millrace::lowering {

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

} // namespace millrace::lowering
