// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowPrograms.cpp - One program for up to a number of rows ------------===//
// Input:   @main(%x: tensor<7x4xf32>) { ... }, and the same for 11 and for 120 instead of 7
// Output:  @main(%x: tensor<120x4xf32> {millrace.row_indices = 1}) attributes {millrace.rows = [120]} { ... }
// The operations of all samples are visited in parallel, as they are and, where that fails, simplified. That they differ only in the lengths of
// dimensions shows that no constant is computed from a size. That rows do not depend on each other is followed from operation to operation, for every
// value whose length differs.
#include "tracing/sizes/DynamicShapes.h"

#include "dialects/millrace/Attributes.h"
#include "lowering/Compile.h"
#include "lowering/program/OpenRows.h"
#include "passes/simplify/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace millrace::tracing {
namespace {

using mlir::Value;

class Rows {
public:
  Rows(const std::vector<int64_t> &samples) : samples(samples), tracker(samples.back()) {}

  bool visit(ArrayRef<Block *> blocks) {
    Block &last = *blocks.back();
    for (Block *block : blocks)
      if (block->getNumArguments() != last.getNumArguments() || block->getOperations().size() != last.getOperations().size())
        return fail("the number of operations or arguments depends on it");
    for (unsigned i = 0; i < last.getNumArguments(); ++i) {
      std::optional<int64_t> dim;
      if (!lengthIn(blocks, [&](Block *block) { return Value(block->getArgument(i)); }, dim))
        return false;
      if (dim)
        tracker.set(last.getArgument(i), *dim);
    }
    SmallVector<Block::iterator> at;
    for (Block *block : blocks)
      at.push_back(block->begin());
    for (; at.back() != last.end(); llvm::for_each(at, [](Block::iterator &each) { ++each; })) {
      SmallVector<Operation *> ops;
      for (Block::iterator each : at)
        ops.push_back(&*each);
      if (!visit(ops))
        return false;
    }
    return true;
  }

  std::optional<int64_t> dimOf(Value value) const { return tracker.dimOf(value); }
  const std::string &reason() const { return why; }

private:
  bool fail(const Twine &reason) {
    if (why.empty())
      why = reason.str();
    return false;
  }

  /// Finds the dimension whose length differs between samples and is a multiple of their numbers of rows.
  template <typename List, typename Get> bool lengthIn(List list, Get get, std::optional<int64_t> &dim) {
    Value last = get(list.back());
    auto type = dyn_cast<RankedTensorType>(last.getType());
    for (auto [each, rows] : llvm::zip_equal(list, samples)) {
      auto other = dyn_cast<RankedTensorType>(get(each).getType());
      if (!type || !other) {
        if (get(each).getType() != last.getType())
          return fail("a type depends on it");
        continue;
      }
      if (other.getRank() != type.getRank() || other.getElementType() != type.getElementType())
        return fail("a type depends on it");
      for (int64_t d = 0; d < type.getRank(); ++d) {
        if (other.getDimSize(d) == type.getDimSize(d))
          continue;
        if (other.getDimSize(d) * samples.back() != type.getDimSize(d) * rows || (dim && *dim != d))
          return fail("a size is no multiple of it");
        dim = d;
      }
    }
    return true;
  }

  static bool isShape(StringRef attribute) { return attribute == "limit_indices" || attribute == "slice_sizes"; }

  bool hasSameAttributes(Operation *op, Operation *other, bool differs) {
    DictionaryAttr mine = op->getAttrDictionary(), its = other->getAttrDictionary();
    if (mine == its)
      return true;
    if (mine.size() != its.size())
      return false;
    for (auto [a, b] : llvm::zip_equal(mine, its)) {
      if (a == b || (a.getName() == b.getName() && differs && isShape(a.getName())))
        continue;
      auto x = dyn_cast<DenseElementsAttr>(a.getValue()), y = dyn_cast<DenseElementsAttr>(b.getValue());
      if (a.getName() != b.getName() || !differs || !x || !y || !x.isSplat() || !y.isSplat() || op->getName().getStringRef() != "stablehlo.constant" ||
          x.getElementType() != y.getElementType() || x.getSplatValue<Attribute>() != y.getSplatValue<Attribute>())
        return false;
    }
    return true;
  }

  bool visit(ArrayRef<Operation *> ops) {
    Operation *last = ops.back();
    StringRef name = last->getName().getStringRef();
    SmallVector<std::optional<int64_t>> dims(last->getNumResults());
    bool differs = llvm::any_of(last->getOperands(), [&](Value operand) { return tracker.dimOf(operand).has_value(); });
    for (Operation *op : ops)
      if (op->getName() != last->getName() || op->getNumOperands() != last->getNumOperands() || op->getNumResults() != last->getNumResults() ||
          op->getNumRegions() != last->getNumRegions())
        return fail("whether there is " + name + " depends on it");
    for (unsigned i = 0; i < last->getNumResults(); ++i) {
      if (!lengthIn(ops, [&](Operation *op) { return Value(op->getResult(i)); }, dims[i]))
        return false;
      differs |= dims[i].has_value();
    }
    for (Operation *op : ops)
      if (!hasSameAttributes(op, last, differs))
        return fail("an attribute of " + name + " depends on it");
    for (unsigned r = 0; r < last->getNumRegions(); ++r) {
      SmallVector<Block *> blocks;
      for (Operation *op : ops) {
        if (!op->getRegion(r).hasOneBlock())
          return fail(name + " has several blocks");
        blocks.push_back(&op->getRegion(r).front());
      }
      if (!visit(blocks))
        return false;
    }
    std::string mixed;
    if (failed(tracker.visit(last, mixed)))
      return fail(mixed);
    for (auto [result, dim] : llvm::zip_equal(last->getResults(), dims)) {
      std::optional<int64_t> followed = tracker.dimOf(result);
      if (followed && followed != dim)
        return fail(name + ": rows are not where the result gets longer");
      // A broadcast, an iota or the first elements of a longer value: the program computes it for the largest number of rows.
      if (dim && !followed) {
        if (!llvm::is_contained({"stablehlo.constant", "stablehlo.iota", "stablehlo.broadcast_in_dim", "stablehlo.slice"}, name))
          return fail(name + " makes rows of something else");
        tracker.set(result, *dim);
      }
    }
    return true;
  }

  const std::vector<int64_t> &samples;
  lowering::RowTracker tracker;
  std::string why;
};

/// Simplifies arithmetic, data movement and positions, as compilation does.
LogicalResult simplified(ModuleOp module) {
  PassManager pm(module.getContext());
  simplify::SimplifyForKernelsPassOptions options;
  options.groups = {"general", "indices"};
  pm.addNestedPass<func::FuncOp>(simplify::createSimplifyForKernelsPass(options));
  return pm.run(module);
}

} // namespace

runtime::StatusOr<std::string> rowProgram(const std::vector<std::string> &texts, const std::vector<int64_t> &samples,
                                          const std::vector<bool> &constants) {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadDialect<func::FuncDialect>();
  for (StringRef name : {"stablehlo", "chlo", "millrace"})
    context.getOrLoadDialect(name);
  std::vector<OwningOpRef<ModuleOp>> modules;
  SmallVector<Block *> blocks;
  for (const std::string &text : texts) {
    modules.push_back(parseSourceString<ModuleOp>(text, &context));
    auto function = modules.back() ? modules.back()->lookupSymbol<func::FuncOp>("main") : func::FuncOp();
    if (!function)
      return runtime::internalError("a sample cannot be parsed");
    blocks.push_back(&function.getBody().front());
  }
  std::optional<Rows> found(samples);
  if (!found->visit(blocks)) {
    // Positions of rows that are counted, compared and gathered at: what remains of them has no number of rows as a constant.
    for (OwningOpRef<ModuleOp> &module : modules)
      if (failed(simplified(*module)))
        return runtime::internalError("a sample cannot be simplified");
    found.emplace(samples);
    if (!found->visit(blocks))
      return runtime::unimplemented("the size of rows: " + found->reason());
  }
  const Rows &rows = *found;
  auto function = cast<func::FuncOp>(blocks.back()->getParentOp());
  Builder builder(&context);
  auto indices = [&](mlir::Value value) { return builder.getI64IntegerAttr(cast<RankedTensorType>(value.getType()).getDimSize(0) / samples.back()); };
  bool hasRows = false;
  for (BlockArgument argument : blocks.back()->getArguments()) {
    unsigned number = argument.getArgNumber();
    function.removeArgAttr(number, "tf.aliasing_output"); // memory of another size cannot be donated
    std::optional<int64_t> dim = rows.dimOf(argument);
    if (!dim) {
      if (number < constants.size() && constants[number])
        function.setArgAttr(number, kConstantAttr, builder.getUnitAttr());
      continue;
    }
    if (*dim != 0)
      return runtime::unimplemented("the size of rows: it is not the first of an argument");
    function.setArgAttr(number, kRowIndicesAttr, indices(argument));
    hasRows = true;
  }
  for (auto [number, value] : llvm::enumerate(blocks.back()->getTerminator()->getOperands())) {
    std::optional<int64_t> dim = rows.dimOf(value);
    if (dim && *dim != 0)
      return runtime::unimplemented("the size of rows: it is not the first of a result");
    if (dim)
      function.setResultAttr(unsigned(number), kRowIndicesAttr, indices(value));
  }
  if (!hasRows)
    return runtime::unimplemented("the size of rows: no argument has it");
  function->setAttr(kRowsAttr, builder.getDenseI64ArrayAttr({samples.back()}));
  std::string text;
  llvm::raw_string_ostream stream(text);
  modules.back()->print(stream);
  return text;
}

} // namespace millrace::tracing
