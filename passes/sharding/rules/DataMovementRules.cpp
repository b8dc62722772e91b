// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DataMovementRules.cpp - Rules of operations that move elements -----===//
#include "passes/sharding/rules/OpRules.h"

#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::sharding {
namespace {

/// Both shapes are traversed together. Where as many elements are left on both sides, the greatest common divisor of the rest of the current
/// dimensions is a factor of both; else the side with fewer gets factors of its own until the sides agree.
std::optional<Rule> reshapeRule(ReshapeOp op) {
  ArrayRef<int64_t> from = shapeOf(op.getOperand()), to = shapeOf(op.getResult());
  if (llvm::is_contained(from, 0))
    return std::nullopt;
  RuleBuilder builder = detail::builderFor(op);
  struct Side {
    ArrayRef<int64_t> shape;
    int64_t dim = 0, left = 1, behind = 1; ///< left: of the current dimension; behind: elements that have factors
    bool done() const { return dim == int64_t(shape.size()); }
    void take(int64_t size) {
      left /= size;
      behind *= size;
    }
    /// Past dimensions that are used up.
    bool advance() {
      if (!done() && left == 1 && started) {
        ++dim;
        started = false;
      }
      if (done() || started)
        return false;
      left = shape[dim];
      started = true;
      return true;
    }
    bool started = false;
  } in{from}, out{to};
  auto addIn = [&](int64_t size) { builder.add({in.dim}, {kNoDim}, size); };
  auto addOut = [&](int64_t size) { builder.add({kNoDim}, {out.dim}, size); };
  while (true) {
    in.advance();
    // Dimensions of one element are tied to nothing.
    if (!in.done() && from[in.dim] == 1) {
      addIn(1);
      continue;
    }
    out.advance();
    if (!out.done() && to[out.dim] == 1) {
      addOut(1);
      continue;
    }
    if (in.done() && out.done())
      return builder.build();
    int64_t common = std::gcd(in.left, out.left);
    auto catchUp = [&](const Side &behind, const Side &ahead) {
      int64_t missing = ahead.behind / behind.behind;
      if (ahead.behind % behind.behind == 0 && behind.left % missing == 0)
        return missing;
      return behind.left > common ? behind.left / common : behind.left;
    };
    if (in.behind == out.behind) {
      if (common > 1) {
        builder.add({in.dim}, {out.dim}, common);
        in.take(common);
        out.take(common);
      } else {
        addIn(in.left);
        in.take(in.left);
        addOut(out.left);
        out.take(out.left);
      }
    } else if (in.behind < out.behind) {
      int64_t size = catchUp(in, out);
      addIn(size);
      in.take(size);
    } else {
      int64_t size = catchUp(out, in);
      addOut(size);
      out.take(size);
    }
  }
}

Rule broadcastRule(BroadcastInDimOp op) {
  RuleBuilder builder = detail::builderFor(op);
  ArrayRef<int64_t> from = shapeOf(op.getOperand()), to = shapeOf(op.getResult());
  SmallVector<int64_t> source(to.size(), kNoDim);
  for (auto [dim, target] : llvm::enumerate(op.getBroadcastDimensions()))
    source[target] = dim;
  for (auto [dim, size] : llvm::enumerate(to)) {
    int64_t in = source[dim];
    if (in != kNoDim && from[in] == 1 && size != 1) {
      builder.add({in}, {kNoDim}, 1);
      in = kNoDim;
    }
    builder.add({in}, {int64_t(dim)}, size);
  }
  return builder.build();
}

/// Neighbours exchange parts if what is joined comes from one place: slices, or one value and slices of it (a rotation).
bool joinsSlices(ConcatenateOp op) {
  auto isSlice = [](Value value) { return bool(value.getDefiningOp<SliceOp>()); };
  auto unsliced = [](Value value) {
    auto slice = value.getDefiningOp<SliceOp>();
    return slice ? slice.getOperand() : value;
  };
  Value first = unsliced(op->getOperand(0));
  return llvm::all_of(op->getOperands(), isSlice) ||
         (llvm::any_of(op->getOperands(), isSlice) && llvm::all_of(op->getOperands(), [&](Value each) { return unsliced(each) == first; }));
}

Rule concatenateRule(ConcatenateOp op, bool conservative) {
  RuleBuilder builder = detail::builderFor(op);
  for (auto [dim, size] : llvm::enumerate(shapeOf(op.getResult()))) {
    if (dim != op.getDimension())
      builder.addEverywhere(dim, size);
    else if (!conservative)
      builder.addEverywhere(dim, size, joinsSlices(op) ? FactorKind::Permutation : FactorKind::NeedReplication);
  }
  return builder.build();
}

Rule bitcastRule(BitcastConvertOp op) {
  RuleBuilder builder = detail::builderFor(op);
  ArrayRef<int64_t> from = shapeOf(op.getOperand()), to = shapeOf(op.getResult());
  // The dimension that holds the parts of one element is whole.
  builder.addPointwise(from.size() < to.size() ? from : to);
  if (from.size() < to.size())
    builder.add({kNoDim}, {int64_t(to.size()) - 1}, to.back(), FactorKind::NeedReplication);
  else if (from.size() > to.size())
    builder.add({int64_t(from.size()) - 1}, {kNoDim}, from.back(), FactorKind::NeedReplication);
  return builder.build();
}

/// Collectives of the program: dimensions that they change are replicated for all other axes, and differ between operand and result.
Rule changedDimsRule(Operation *op, ArrayRef<int64_t> changed) {
  RuleBuilder builder = detail::builderFor(op);
  ArrayRef<int64_t> from = shapeOf(op->getOperand(0)), to = shapeOf(op->getResult(0));
  for (auto [dim, size] : llvm::enumerate(from))
    if (!llvm::is_contained(changed, int64_t(dim)))
      builder.addEverywhere(dim, size);
  SmallVector<int64_t> nowhere(op->getNumOperands(), kNoDim);
  for (auto [i, dim] : llvm::enumerate(changed)) {
    if (llvm::is_contained(changed.take_front(i), dim))
      continue;
    SmallVector<int64_t> here(op->getNumOperands(), dim);
    builder.add(here, nowhere, from[dim], FactorKind::NeedReplication);
    builder.add(nowhere, here, to[dim], FactorKind::NeedReplication);
  }
  return builder.build();
}

} // namespace

std::optional<Rule> detail::dataMovementRule(Operation *op, bool conservative) {
  using Result = std::optional<Rule>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([](ReshapeOp each) { return reshapeRule(each); })
      .Case([](BroadcastInDimOp each) { return broadcastRule(each); })
      .Case([&](ConcatenateOp each) { return concatenateRule(each, conservative); })
      .Case([](BitcastConvertOp each) { return bitcastRule(each); })
      .Case([](TransposeOp each) {
        RuleBuilder builder = builderFor(each);
        for (auto [to, from] : llvm::enumerate(each.getPermutation()))
          builder.add({from}, {int64_t(to)}, shapeOf(each.getOperand())[from]);
        return builder.build();
      })
      .Case([](BroadcastOp each) {
        RuleBuilder builder = builderFor(each);
        int64_t added = each.getBroadcastSizes().size();
        for (auto [dim, size] : llvm::enumerate(shapeOf(each.getResult())))
          builder.add({int64_t(dim) < added ? kNoDim : int64_t(dim) - added}, {int64_t(dim)}, size);
        return builder.build();
      })
      .Case<SliceOp>([&](SliceOp each) {
        return builderFor(each)
            .addPointwiseUnlessDifferent(shapeOf(each.getOperand()), shapeOf(each.getResult()), FactorKind::Permutation,
                                         conservative)
            .build();
      })
      .Case<PadOp>([&](PadOp each) {
        return builderFor(each)
            .addPointwiseUnlessDifferent(shapeOf(each.getOperand()), shapeOf(each.getResult()), FactorKind::Permutation,
                                         conservative)
            .build();
      })
      .Case([](ReverseOp each) {
        return builderFor(each)
            .addPointwise(shapeOf(each.getResult()),
                          [&](int64_t dim) {
                            return llvm::is_contained(each.getDimensions(), dim) ? FactorKind::Permutation
                                                                                 : FactorKind::PassThrough;
                          })
            .build();
      })
      .Case([](AllGatherOp each) -> Result { return changedDimsRule(each, {int64_t(each.getAllGatherDim())}); })
      .Case([](ReduceScatterOp each) -> Result { return changedDimsRule(each, {int64_t(each.getScatterDimension())}); })
      .Case([](AllToAllOp each) -> Result {
        return changedDimsRule(each, {int64_t(each.getSplitDimension()), int64_t(each.getConcatDimension())});
      })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace millrace::sharding
