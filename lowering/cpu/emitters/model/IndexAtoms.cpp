// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IndexAtoms.cpp - Factor tensor dimensions into shared loop indices --===//
#include "lowering/cpu/emitters/model/IndexAtoms.h"

using namespace mlir;

namespace millrace::lowering {

AtomList IndexAtoms::dimension(int64_t size) {
  if (size == 1)
    return {};
  atoms.push_back({size});
  return {static_cast<int>(atoms.size()) - 1};
}

void IndexAtoms::appendResolved(int atom, AtomList &out) const {
  const Atom &a = atoms[atom];
  if (a.forward >= 0)
    return appendResolved(a.forward, out);
  if (a.outer < 0) {
    out.push_back(atom);
    return;
  }
  appendResolved(a.outer, out);
  appendResolved(a.inner, out);
}

AtomList IndexAtoms::resolve(ArrayRef<int> list) const {
  AtomList out;
  for (int atom : list)
    appendResolved(atom, out);
  return out;
}

void IndexAtoms::split(int atom, int64_t innerSize) {
  int first = static_cast<int>(atoms.size());
  atoms.push_back({atoms[atom].size / innerSize});
  atoms.push_back({innerSize});
  atoms[atom].outer = first;
  atoms[atom].inner = first + 1;
}

LogicalResult IndexAtoms::unify(ArrayRef<int> left, ArrayRef<int> right) {
  // Innermost atoms come first; every step may replace atoms in the remaining entries.
  AtomList x = resolve(left), y = resolve(right);
  while (!x.empty() && !y.empty()) {
    int a = x.back(), b = y.back();
    if (a == b) {
      x.pop_back();
      y.pop_back();
      continue;
    }
    int64_t sizeA = atoms[a].size, sizeB = atoms[b].size;
    if (sizeA == sizeB) {
      x.pop_back();
      y.pop_back();
      atoms[a].forward = b;
    } else if (sizeA > sizeB) {
      if (sizeA % sizeB)
        return failure();
      split(a, sizeB);
    } else {
      if (sizeB % sizeA)
        return failure();
      split(b, sizeA);
    }
    x = resolve(x);
    y = resolve(y);
  }
  return success(x.empty() && y.empty());
}

} // namespace millrace::lowering
