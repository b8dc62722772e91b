// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SizeChecks.cpp - Sizes that kernels rely on -------------------------===//
// Machine code takes sizes for equal that operations require to be equal. Where types leave them open, the program compares them before the kernel
// runs. What is about sizes of arguments alone, and happens in every execution, is compared when the function is entered, so that a launch with
// wrong arguments fails at once, and all kernels share one check.
#include "lowering/program/FunctionBuilder.h"
#include "passes/fusion/plan/SizeConditions.h"
#include "runtime/program/Limits.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::runtime;

namespace millrace::lowering {

static DimExpr::Op dimOp(fusion::ShapeRecipe::Op op) {
  using Op = fusion::ShapeRecipe::Op;
  switch (op) {
  case Op::Add: return DimExpr::Op::Add;
  case Op::Sub: return DimExpr::Op::Sub;
  case Op::Mul: return DimExpr::Op::Mul;
  case Op::FloorDiv: return DimExpr::Op::FloorDiv;
  case Op::CeilDiv: return DimExpr::Op::CeilDiv;
  case Op::Max: return DimExpr::Op::Max;
  case Op::Min: return DimExpr::Op::Min;
  default: llvm_unreachable("not an operator");
  }
}

static SizeCheck::Relation relationOf(fusion::SizeCondition::Relation relation) {
  using From = fusion::SizeCondition::Relation;
  switch (relation) {
  case From::Equal: return SizeCheck::Relation::Equal;
  case From::AtLeast: return SizeCheck::Relation::AtLeast;
  case From::AtMost: return SizeCheck::Relation::AtMost;
  case From::OneOrEqual: return SizeCheck::Relation::OneOrEqual;
  }
  llvm_unreachable("all relations are handled");
}

DimExpr FunctionBuilder::sizeExpr(const fusion::ShapeRecipe &recipe, func::CallOp call, SetDimsStep &step) {
  using Op = fusion::ShapeRecipe::Op;
  DimExpr expr;
  for (const fusion::ShapeRecipe::Term &term : recipe.terms) {
    if (term.op == Op::Constant) {
      expr.terms.push_back({DimExpr::Op::Constant, term.value});
    } else if (term.op == Op::ArgumentDim) {
      Dim dim = dimsOf(call.getOperand(term.value))[term.index];
      expr.terms.push_back({dim.isRuntime ? DimExpr::Op::Dim : DimExpr::Op::Constant, dim.value});
    } else if (term.op == Op::ArgumentElement) {
      SlotId source = use(call.getOperand(term.value));
      auto loaded = llvm::find_if(step.entries, [&](const SetDimsStep::Entry &entry) {
        return entry.source == source && entry.element == uint64_t(term.index);
      });
      uint32_t element = loaded == step.entries.end() ? result.numDims++ : loaded->dim;
      if (loaded == step.entries.end())
        step.entries.push_back({element, source, uint64_t(term.index), {}});
      expr.terms.push_back({DimExpr::Op::Dim, element});
    } else {
      expr.terms.push_back({dimOp(term.op), 0});
    }
  }
  return expr;
}

void FunctionBuilder::define(uint32_t dim, const DimExpr &expr) {
  if (steps != &result.steps) // a branch or a loop may set it several times
    return;
  if (std::optional<DimExpr> known = inArgumentSizes(expr))
    definitions[dim] = std::move(*known);
}

std::optional<DimExpr> FunctionBuilder::inArgumentSizes(const DimExpr &expr) const {
  // Longer expressions are computed from the dims that programs have anyway: these fit the runtime's stack, in whatever order their terms are. Unit:
  // terms. Source: arithmetic: each term puts at most one number on the stack; expressions of binary operations have an odd number of terms.
  constexpr size_t kMaxTermsOfSize = runtime::kMaxSizeStack - 1;
  DimExpr made;
  for (const DimExpr::Term &term : expr.terms) {
    if (term.op != DimExpr::Op::Dim) {
      made.terms.push_back(term);
      continue;
    }
    auto known = definitions.find(uint32_t(term.value));
    if (known == definitions.end())
      return std::nullopt;
    llvm::append_range(made.terms, known->second.terms);
    if (made.terms.size() > kMaxTermsOfSize)
      return std::nullopt;
  }
  return made;
}

void FunctionBuilder::require(SizeCheck check, Location loc, SetDimsStep &step) {
  std::optional<DimExpr> size = inArgumentSizes(check.size), bound = inArgumentSizes(check.bound);
  const bool isOfArguments = size && bound;
  if (isOfArguments) {
    check.size = std::move(*size);
    check.bound = std::move(*bound);
  }
  if (check.relation == SizeCheck::Relation::Equal && check.size == check.bound)
    return;
  auto isSame = [&](const SizeCheck &other) {
    bool isSwapped = check.relation == SizeCheck::Relation::Equal && other.size == check.bound && other.bound == check.size;
    return other.relation == check.relation && (isSwapped || (other.size == check.size && other.bound == check.bound));
  };
  if (llvm::any_of(step.checks, isSame) || (isOfArguments && llvm::any_of(result.checks, isSame)))
    return;
  check.location = context.locations.index(loc);
  if (!isOfArguments || steps != &result.steps) {
    step.checks.push_back(std::move(check));
    return;
  }
  // From here on the size of the argument is called by what it is equal to, so that nothing is compared again in other words.
  if (check.relation == SizeCheck::Relation::Equal && check.size.terms.size() == 1 && check.size.terms[0].op == DimExpr::Op::Dim)
    definitions[uint32_t(check.size.terms[0].value)] = check.bound;
  result.checks.push_back(std::move(check));
}

void FunctionBuilder::takeSizes(Value value, const Dims &from, Location loc) {
  auto type = cast<RankedTensorType>(value.getType());
  SetDimsStep step;
  Dims dims;
  for (auto [size, dim] : llvm::zip_equal(type.getShape(), from)) {
    if (!ShapedType::isDynamic(size)) {
      require({DimExpr::of(dim), SizeCheck::Relation::Equal, DimExpr::constant(size)}, loc, step);
      dims.push_back(Dim::constant(size));
      continue;
    }
    dims.push_back(dim.isRuntime ? dim : Dim::runtime(result.numDims++)); // kernels are given all sizes that types leave open
    if (dim.isRuntime)
      continue;
    define(dims.back().value, DimExpr::of(dim));
    step.entries.push_back({uint32_t(dims.back().value), kNone, 0, DimExpr::of(dim)});
  }
  dynamicDims.erase(value);
  if (!type.hasStaticShape())
    dynamicDims[value] = dims;
  if (!step.entries.empty() || !step.checks.empty())
    emit({std::move(step)}, loc);
}

LogicalResult FunctionBuilder::checkSizes(func::CallOp call, func::FuncOp kernel, SetDimsStep &step) {
  for (Operation &op : kernel.getBody().front()) {
    SmallVector<fusion::SizeCondition> conditions;
    if (failed(fusion::sizeConditions(&op, conditions)))
      return op.emitError("has sizes that only a run knows, and that cannot be compared before it is executed");
    // Equal kernels are one function, whose operations have the lines of one call.
    for (const fusion::SizeCondition &condition : conditions)
      require({sizeExpr(condition.size, call, step), relationOf(condition.relation), sizeExpr(condition.bound, call, step)}, call.getLoc(), step);
  }
  return success();
}

} // namespace millrace::lowering
