// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FlattenTuples.cpp - Replace tuples by their elements ---------------===//
// Input:   %t = stablehlo.tuple %a, %b ; %0 = stablehlo.while(%x = %t) : tuple<A, B> ... ; func(%p: tuple<A, B>)
// Output:  the same on %a, %b : A, B
// Leaves alone everything without tuple types. Removes the attributes of the arguments and results of a function with tuples in its signature.
//===----------------------------------------------------------------------===//
#include "passes/calls/Passes.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
namespace shlo = millrace::stablehlo;

namespace millrace::calls {
#define GEN_PASS_DEF_FLATTENTUPLESPASS
#include "passes/calls/Passes.h.inc"

namespace {

void flatten(Type type, SmallVectorImpl<Type> &leaves) {
  if (auto tuple = dyn_cast<TupleType>(type))
    for (Type element : tuple.getTypes())
      flatten(element, leaves);
  else
    leaves.push_back(type);
}

SmallVector<Type> flatten(TypeRange types) {
  SmallVector<Type> leaves;
  for (Type type : types)
    flatten(type, leaves);
  return leaves;
}

bool hasTuple(TypeRange types) {
  return llvm::any_of(types, [](Type type) { return isa<TupleType>(type); });
}

class Flattener {
public:
  void run(func::FuncOp function) {
    SmallVector<Type> inputs = flatten(function.getArgumentTypes()), results = flatten(function.getResultTypes());
    bool changed = hasTuple(function.getArgumentTypes()) || hasTuple(function.getResultTypes());
    if (!function.isExternal())
      region(function.getBody());
    if (!changed)
      return;
    // Arguments and results have new positions, so attributes of single ones no longer fit.
    if (function.getAllArgAttrs() || function.getAllResultAttrs())
      remark::missed(function.getLoc(), remark::RemarkOpts::name("attributes-removed").category("xla-flatten-tuples"))
          << "attributes of arguments and results are removed: tuples in the signature change their positions";
    function->removeAttr("arg_attrs");
    function->removeAttr("res_attrs");
    function.setFunctionType(FunctionType::get(function.getContext(), inputs, results));
  }

private:
  /// Returns the elements that stand for `value`.
  SmallVector<Value> leavesOf(Value value) {
    auto it = leaves.find(value);
    return it == leaves.end() ? SmallVector<Value>{value} : it->second;
  }
  SmallVector<Value> leavesOf(ValueRange values) {
    SmallVector<Value> all;
    for (Value value : values)
      llvm::append_range(all, leavesOf(value));
    return all;
  }

  void region(Region &region) {
    for (Block &block : region) {
      for (unsigned i = 0; i < block.getNumArguments();) {
        BlockArgument argument = block.getArgument(i);
        if (!isa<TupleType>(argument.getType())) {
          ++i;
          continue;
        }
        SmallVector<Value> parts;
        unsigned at = i + 1;
        for (Type type : flatten(TypeRange(argument.getType())))
          parts.push_back(block.insertArgument(at++, type, argument.getLoc()));
        leaves[argument] = parts;
        dying.push_back({&block, argument});
        i = at;
      }
      for (Operation &op : llvm::make_early_inc_range(block))
        visit(&op);
      for (auto [owner, argument] : llvm::reverse(dying)) {
        if (owner != &block)
          continue;
        owner->eraseArgument(argument.getArgNumber());
      }
      llvm::erase_if(dying, [&](auto &entry) { return entry.first == &block; });
    }
  }

  void visit(Operation *op) {
    if (auto tuple = dyn_cast<shlo::TupleOp>(op)) {
      leaves[tuple.getResult()] = leavesOf(op->getOperands());
      return eraseLater(op);
    }
    if (auto element = dyn_cast<shlo::GetTupleElementOp>(op)) {
      auto types = cast<TupleType>(element.getOperand().getType()).getTypes();
      SmallVector<Value> all = leavesOf(element.getOperand());
      unsigned begin = 0;
      for (int64_t i = 0; i < (int64_t)element.getIndex(); ++i)
        begin += flatten(TypeRange(types[i])).size();
      SmallVector<Value> mine(ArrayRef(all).slice(begin, flatten(TypeRange(element.getType())).size()));
      if (isa<TupleType>(element.getType()))
        leaves[element.getResult()] = mine;
      else
        element.getResult().replaceAllUsesWith(mine.front());
      return eraseLater(op);
    }
    for (Region &inner : op->getRegions())
      region(inner);
    if (!hasTuple(op->getOperandTypes()) && !hasTuple(op->getResultTypes()))
      return;
    OpBuilder builder(op);
    OperationState state(op->getLoc(), op->getName(), leavesOf(op->getOperands()), flatten(op->getResultTypes()),
                         op->getAttrs());
    for (Region &inner : op->getRegions())
      state.addRegion()->takeBody(inner);
    Operation *replacement = builder.create(state);
    unsigned next = 0;
    for (Value result : op->getResults()) {
      unsigned count = flatten(TypeRange(result.getType())).size();
      SmallVector<Value> parts(replacement->getResults().slice(next, count));
      next += count;
      if (isa<TupleType>(result.getType()))
        leaves[result] = parts;
      else
        result.replaceAllUsesWith(parts.front());
    }
    eraseLater(op);
  }

  /// Erases `op` at the end: operations that are visited later may still use its results.
  void eraseLater(Operation *op) {
    op->dropAllReferences();
    toErase.push_back(op);
  }

public:
  ~Flattener() {
    for (Operation *op : llvm::reverse(toErase)) {
      op->dropAllUses();
      op->erase();
    }
  }

private:
  llvm::DenseMap<Value, SmallVector<Value>> leaves;
  SmallVector<std::pair<Block *, BlockArgument>> dying;
  SmallVector<Operation *> toErase;
};

struct FlattenTuples : impl::FlattenTuplesPassBase<FlattenTuples> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      Flattener flattener;
      flattener.run(function);
    }
  }
};

} // namespace
} // namespace millrace::calls
