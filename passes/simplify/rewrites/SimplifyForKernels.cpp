// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimplifyForKernels.cpp - Cheaper operations, shapes that fuse ------===//
// Input:   %1 = stablehlo.transpose %0, dims = [1, 0]   %2 = stablehlo.dot_general %1, %b, contracting_dims = [1] x [0]
// Output:  %2 = stablehlo.dot_general %0, %b, contracting_dims = [0] x [0]
// Leaves alone what would change a float result, apart from the order of sums.
#include "passes/simplify/Passes.h"

#include "dialects/stablehlo/Ops.h"
#include "passes/simplify/rewrites/SimplifyPatterns.h"

using namespace mlir;
namespace millrace::simplify {

#define GEN_PASS_DEF_SIMPLIFYFORKERNELSPASS
#include "passes/simplify/Passes.h.inc"

namespace {

using Populate = void (*)(RewritePatternSet &);

/// The pattern groups by the names of the pass's option.
constexpr std::pair<StringLiteral, Populate> kGroups[] = {
    {"general", populateSimplifications},
    {"indices", populateIndexSimplifications},
    {"unit-dimensions", populateUnitDimensionSimplifications},
    {"contractions", populateContractionSimplifications},
    {"diagonals", populateDiagonalSimplifications},
    {"scatters", populateScatterSimplifications},
    {"powers", populatePowerSimplifications},
};

struct SimplifyForKernels : impl::SimplifyForKernelsPassBase<SimplifyForKernels> {
  using SimplifyForKernelsPassBase::SimplifyForKernelsPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet owned(context);
    for (const std::string &name : groups)
      if (llvm::none_of(kGroups, [&](const auto &group) { return group.first == name; }))
        return emitError(UnknownLoc::get(context), "xla-simplify-for-kernels: expects the groups ")
               << llvm::join(llvm::map_range(kGroups, [](const auto &group) { return group.first.str(); }), ", ") << ", but got '" << name << "'";
    for (const auto &[name, populate] : kGroups)
      if (groups.empty() || llvm::is_contained(groups, name))
        populate(owned);
    patterns = std::move(owned);
    return success();
  }
  void runOnOperation() override { simplifyGreedily(getOperation(), patterns); }
  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace millrace::simplify
