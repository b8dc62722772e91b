// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SizeChecks.cpp - Sizes that only a run knows have to agree ----------===//
// Messages are made when a check fails. A run-time dim is called after the argument whose size it is; others are sizes that the program computes.
#include "runtime/client/SizeChecks.h"
#include "runtime/client/Executor.h"
#include "runtime/client/LaunchArguments.h"

#include <algorithm>

namespace millrace::runtime {
namespace {

using Relation = SizeCheck::Relation;

class Names {
public:
  Names(const Program &program, const Function &function) : program(program), function(function) {}

  /// Returns "dimension 0 of argument 1 ('y')".
  std::string dimension(size_t argument, size_t axis) const {
    std::string text = "dimension " + std::to_string(axis) + " of ";
    const bool isEntry = &function == &program.functions[program.entry];
    if (isEntry && argument < program.arguments.size())
      return text + argumentTitle(program, argument);
    return text + "argument " + std::to_string(argument) + " of '" + function.name + "'";
  }

  /// The argument whose size the expression is; null if it is another one.
  const DimBinding *sourceOf(const DimExpr &expr) const {
    if (expr.terms.size() != 1 || expr.terms[0].op != DimExpr::Op::Dim)
      return nullptr;
    auto found = std::find_if(function.dimBindings.begin(), function.dimBindings.end(), [&](const DimBinding &binding) {
      return binding.argument != kNone && binding.dim == uint64_t(expr.terms[0].value);
    });
    return found == function.dimBindings.end() ? nullptr : &*found;
  }

  /// Returns the expression with sizes of arguments by their names; empty if other sizes are in it, or if it is long.
  std::string text(const DimExpr &expr) const {
    // Longer expressions are harder to read than the numbers alone. Unit: terms. Source: judgement, not measured alone.
    constexpr size_t kMaxTermsOfText = 9;
    static const char *const operators[] = {"", "", " + ", " - ", " * ", " / ", " / ", " mod ", " min ", " max "};
    std::vector<std::string> stack;
    if (expr.terms.size() > kMaxTermsOfText)
      return {};
    for (const DimExpr::Term &term : expr.terms) {
      if (term.op == DimExpr::Op::Constant) {
        stack.push_back(std::to_string(term.value));
        continue;
      }
      if (term.op == DimExpr::Op::Dim) {
        const DimBinding *source = sourceOf(DimExpr{{term}});
        if (!source)
          return {};
        stack.push_back(dimension(source->argument, source->axis));
        continue;
      }
      const std::string right = std::move(stack.back());
      stack.pop_back();
      const std::string both = stack.back() + operators[size_t(term.op)] + right;
      stack.back() = &term == &expr.terms.back() ? both : "(" + both + ")";
    }
    return stack.back();
  }

private:
  const Program &program;
  const Function &function;
};

bool holds(Relation relation, int64_t size, int64_t bound) {
  switch (relation) {
  case Relation::Equal: return size == bound;
  case Relation::AtLeast: return size >= bound;
  case Relation::AtMost: return size <= bound;
  case Relation::OneOrEqual: return size == 1 || size == bound;
  }
  return false;
}

Status mismatch(const Names &names, const SizeCheck &check, int64_t size, int64_t bound) {
  const DimExpr *left = &check.size, *right = &check.bound;
  const DimBinding *of = names.sourceOf(*left), *other = names.sourceOf(*right);
  // Of two sizes that have to be equal, that of the later argument is called wrong, and that of an argument rather than what is computed.
  if (check.relation == Relation::Equal && other && (!of || of->argument < other->argument)) {
    std::swap(left, right);
    std::swap(of, other);
    std::swap(size, bound);
  }
  std::string what = of ? names.dimension(of->argument, of->axis) : names.text(*left);
  if (what.empty() || (!of && left->isConstant()))
    what = "a size that the program computes";
  static const char *const relations[] = {" to be ", " to be at least ", " to be at most ", " to be 1 or "};
  std::string text = "expects " + what + relations[size_t(check.relation)] + std::to_string(bound);
  if (const std::string expected = right->isConstant() ? std::string() : names.text(*right); !expected.empty())
    text += " (" + expected + ")";
  text += ", but got " + std::to_string(size);
  if (of)
    text += other || !right->isConstant() ? ": call it with arguments whose sizes agree" : ": call it with an argument of such a size";
  return invalidArgument(text);
}

} // namespace

FailedCheck evaluateChecks(const Program &program, const Function &function, const std::vector<SizeCheck> &checks, const int64_t *dims) {
  auto isOne = [](const DimExpr &expr) { return expr.terms.size() == 1; };
  auto one = [&](const DimExpr &expr) { return expr.terms[0].op == DimExpr::Op::Constant ? expr.terms[0].value : dims[expr.terms[0].value]; };
  for (const SizeCheck &check : checks) {
    if (isOne(check.size) && isOne(check.bound) && holds(check.relation, one(check.size), one(check.bound))) // most are like that
      continue;
    StatusOr<int64_t> size = evaluate(check.size, dims), bound = evaluate(check.bound, dims);
    if (!size || !bound)
      return {size ? bound.status() : size.status(), check.location};
    if (!holds(check.relation, *size, *bound))
      return {mismatch(Names(program, function), check, *size, *bound), check.location};
  }
  return {};
}

Status wrongSize(const Program &program, const Function &function, size_t argument, size_t axis, int64_t expected, int64_t actual) {
  return invalidArgument("expects " + Names(program, function).dimension(argument, axis) + " to be " + std::to_string(expected) + ", but got " +
                         std::to_string(actual) + ": call it with arguments whose sizes agree");
}

} // namespace millrace::runtime
