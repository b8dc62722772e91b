// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IndexAtoms.cpp - Factor tensor dimensions into shared loop indices --===//
#include "dialects/stablehlo/IndexAtoms.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <tuple>

using namespace mlir;

namespace millrace::stablehlo {

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

std::optional<Refinement> refine(ArrayRef<int64_t> left, ArrayRef<int64_t> right) {
  IndexAtoms atoms;
  SmallVector<AtomList> ofLeft, ofRight;
  AtomList all, others;
  for (auto [shape, dims, list] : {std::tie(left, ofLeft, all), std::tie(right, ofRight, others)})
    for (int64_t size : shape) {
      if (size <= 0) // also unknown
        return std::nullopt;
      dims.push_back(atoms.dimension(size));
      llvm::append_range(list, dims.back());
    }
  if (failed(atoms.unify(all, others)))
    return std::nullopt;
  Refinement result;
  all = atoms.resolve(all);
  for (int atom : all)
    result.sizes.push_back(atoms.size(atom));
  for (auto [dims, groups] : {std::tie(ofLeft, result.ofLeft), std::tie(ofRight, result.ofRight)}) {
    int64_t next = 0; // both shapes count the atoms in the same order
    for (const AtomList &dim : dims) {
      int64_t count = atoms.resolve(dim).size();
      groups.emplace_back(llvm::to_vector<2>(llvm::seq(next, next + count)));
      next += count;
    }
  }
  return result;
}

} // namespace millrace::stablehlo
