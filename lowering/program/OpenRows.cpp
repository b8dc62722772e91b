// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpenRows.cpp - Programs for a run-time number of rows ---------------===//
// Input:   @main(%x: tensor<120x4xf32> {millrace.row_indices = 1}) attributes {millrace.rows = [120]}, and its kernels
// Output:  kernels with the attribute millrace.rows; a program that begins with a copy of the rows that there are to a buffer for 120, and ends with
//          such a copy of the result
// Whether rows are mixed is asked of the rules by which the partitioner splits operations (passes/spmd/OpRules.h): what can be computed for some
// indices of a factor alone does not mix them.
#include "lowering/program/OpenRows.h"

#include "dialects/millrace/Attributes.h"
#include "dialects/stablehlo/Ops.h"
#include "passes/fusion/FusionPolicy.h"
#include "passes/spmd/OpRules.h"
#include "runtime/base/Alignment.h"

#include "mlir/IR/SymbolTable.h"

#include <map>

using namespace mlir;
using namespace millrace::runtime;

namespace millrace::lowering {

std::optional<int64_t> RowTracker::dimOf(Value value) const {
  auto known = dims.find(value);
  return known == dims.end() ? std::nullopt : std::optional(known->second);
}

/// The outermost factor of a dimension.
static int outermost(const sharding::DimFactors &dim, const sharding::Rule &rule) {
  for (int factor : dim)
    if (rule.factors[factor].size > 1)
      return factor;
  return -1;
}

LogicalResult RowTracker::visitCall(func::CallOp call, std::string &why) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock()) {
    why = "a call of a function that is not known";
    return failure();
  }
  Block &body = callee.getBody().front();
  bool wasVisited = !visited.insert(callee).second;
  for (auto [operand, argument] : llvm::zip_equal(call.getOperands(), body.getArguments())) {
    std::optional<int64_t> dim = dimOf(operand);
    // One kernel for calls with other rows would need code of its own for them.
    if (wasVisited && dimOf(argument) != dim) {
      why = "a function that is called with rows in other dimensions";
      return failure();
    }
    if (dim)
      set(argument, *dim);
  }
  if (failed(visit(body, why)))
    return failure();
  for (auto [value, result] : llvm::zip_equal(body.getTerminator()->getOperands(), call.getResults()))
    if (std::optional<int64_t> dim = dimOf(value))
      set(result, *dim);
  return success();
}

LogicalResult RowTracker::visit(Operation *op, std::string &why) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return visitCall(call, why);
  bool reads = llvm::any_of(op->getOperands(), [&](Value operand) { return dims.contains(operand); });
  // Regions may read values from outside.
  bool captures = false;
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      captures |= llvm::any_of(inner->getOperands(), [&](Value operand) {
        return dims.contains(operand) && !region.isAncestor(operand.getParentRegion());
      });
    });
  if ((!reads && !captures) || op->hasTrait<OpTrait::IsTerminator>())
    return success();
  auto refuse = [&](StringRef what) {
    why = (op->getName().getStringRef() + ": " + what).str();
    return failure();
  };
  if (captures)
    return refuse("rows are read inside");
  auto hasShapeOfResult = [](auto pair) { return sharding::shapeOf(std::get<0>(pair)) == sharding::shapeOf(std::get<1>(pair)); };
  if (fusion::isAlias(op) && llvm::all_of(llvm::zip(op->getOperands(), op->getResults()), hasShapeOfResult)) {
    for (auto [operand, result] : llvm::zip_equal(op->getOperands(), op->getResults()))
      if (std::optional<int64_t> dim = dimOf(operand))
        set(result, *dim);
    return success();
  }
  spmd::SplitRule split = spmd::splitRuleOf(op);
  const sharding::Rule &rule = split.rule;
  int rows = -1;
  for (auto [operand, factors] : llvm::zip_equal(op->getOperands(), rule.operands)) {
    std::optional<int64_t> dim = dimOf(operand);
    if (!dim)
      continue;
    int factor = outermost(factors[*dim], rule);
    if (factor < 0 || (rows >= 0 && factor != rows))
      return refuse("operands have rows in dimensions that are not tied");
    rows = factor;
  }
  if (rule.factors[rows].kind != sharding::FactorKind::PassThrough || !split.splittable[rows] || split.moving[rows] ||
      rule.factors[rows].size % bound != 0)
    return refuse("rows are mixed");
  for (auto [result, factors] : llvm::zip_equal(op->getResults(), rule.results)) {
    auto found = llvm::find_if(factors, [&](const sharding::DimFactors &dim) { return outermost(dim, rule) == rows; });
    if (found == factors.end())
      return refuse("a result without rows");
    set(result, found - factors.begin());
  }
  return success();
}

LogicalResult RowTracker::visit(Block &block, std::string &why) {
  for (Operation &op : block)
    if (failed(visit(&op, why)))
      return failure();
  return success();
}

namespace {

/// Elements from one row to the next where dimension `dim` has them.
int64_t rowStride(Value value, int64_t dim, int64_t bound) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  int64_t stride = shape[dim] / bound;
  for (int64_t size : shape.drop_front(dim + 1))
    stride *= size;
  return stride;
}

int64_t indicesOf(DictionaryAttr attributes) {
  auto indices = attributes ? attributes.getAs<IntegerAttr>(kRowIndicesAttr) : IntegerAttr();
  return indices ? indices.getInt() : 0;
}

} // namespace

LogicalResult markRows(func::FuncOp entry) {
  auto rows = entry->getAttrOfType<DenseI64ArrayAttr>(kRowsAttr);
  if (!rows)
    return success();
  const int64_t bound = rows[0];
  RowTracker tracker(bound);
  Block &body = entry.getBody().front();
  for (BlockArgument argument : body.getArguments())
    if (indicesOf(entry.getArgAttrDict(argument.getArgNumber())))
      tracker.set(argument, 0);
  std::string why;
  if (failed(tracker.visit(body, why)))
    return entry.emitError("cannot be a program for any number of rows: ") << why;
  for (auto [number, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    std::optional<int64_t> dim = tracker.dimOf(value);
    bool hasRows = indicesOf(entry.getResultAttrDict(number));
    // What depends on no argument has rows, too, if its shape says so.
    if (dim && (!hasRows || *dim != 0))
      return entry.emitError("cannot be a program for any number of rows: result ") << number << " has them in dimension " << *dim;
  }
  OpBuilder builder(entry.getContext());
  // Products have another kernel for few rows.
  auto addFewRows = [&](func::CallOp call, func::FuncOp kernel) {
    bool hasProduct = llvm::any_of(kernel.getBody().front(), [](Operation &op) { return isa<stablehlo::DotGeneralOp>(op); });
    if (!hasProduct || kernel->hasAttr(kAttentionAttr) || bound <= kFewRows)
      return;
    builder.setInsertionPointAfter(kernel);
    auto few = cast<func::FuncOp>(builder.clone(*kernel.getOperation()));
    few->setAttr(kFewRowsAttr, builder.getI64IntegerAttr(kFewRows));
    SymbolTable(entry->getParentOfType<ModuleOp>()).insert(few); // under a name that nobody has
    call->setAttr(kFewRowsKernelAttr, FlatSymbolRefAttr::get(few));
  };
  entry.walk([&](func::CallOp call) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    SmallVector<int64_t> list{bound};
    for (Value result : call.getResults())
      if (std::optional<int64_t> dim = tracker.dimOf(result))
        list.push_back(rowStride(result, *dim, bound));
    if (!kernel->hasAttr(kKernelAttr) || list.size() != 1 + call.getNumResults())
      return;
    kernel->setAttr(kRowsAttr, builder.getDenseI64ArrayAttr(list));
    addFewRows(call, kernel);
  });
  return success();
}

void openRows(func::FuncOp entry, Program &program) {
  auto rows = entry->getAttrOfType<DenseI64ArrayAttr>(kRowsAttr);
  if (!rows)
    return;
  Function &function = program.functions[program.entry];
  function.numDims = kRowsDim + 1;
  // A dim for each number of indices per row.
  std::map<int64_t, uint32_t> dimOf;
  auto dimFor = [&](int64_t indices) {
    auto [known, isNew] = dimOf.try_emplace(indices, function.numDims);
    if (isNew)
      ++function.numDims;
    return known->second;
  };
  Steps before, after;
  auto open = [&](auto &spec, SlotId &slot, Slot::Kind kind, int64_t indices, bool isArgument) {
    spec.bounds.assign(spec.dims.size(), kDynamic);
    spec.bounds[0] = spec.dims[0];
    spec.dims[0] = kDynamic;
    // What the program reads and writes is a buffer for all rows there may be.
    SlotId all = slot;
    Slot outside = function.slots[all];
    Slot &inside = function.slots[all];
    inside.kind = Slot::Kind::Arena;
    inside.index = 0;
    inside.offset = runtime::alignedBytes(function.arenaBytes);
    function.arenaBytes = inside.offset + runtime::alignedBytes(inside.bytes);
    outside.kind = kind;
    outside.bytes = 0;
    outside.dims[0] = Dim::runtime(dimFor(indices));
    slot = SlotId(function.slots.size());
    function.slots.push_back(outside);
    CopyStep copy{isArgument ? slot : all, isArgument ? all : slot};
    (isArgument ? before : after).push_back({copy});
  };
  std::optional<std::pair<uint32_t, int64_t>> first; // the argument that says how many rows there are
  for (uint32_t i = 0; i < program.arguments.size(); ++i)
    if (int64_t indices = indicesOf(entry.getArgAttrDict(i))) {
      if (!first || (first->second != 1 && indices == 1))
        first = {i, indices};
      open(program.arguments[i], function.arguments[i], Slot::Kind::Argument, indices, true);
    }
  for (uint32_t i = 0; i < program.results.size(); ++i)
    if (int64_t indices = indicesOf(entry.getResultAttrDict(i)))
      open(program.results[i], function.results[i], Slot::Kind::Result, indices, false);
  if (first) {
    DimBinding size{dimFor(first->second), first->first, 0, {}};
    function.dimBindings.push_back(size);
    DimExpr rowsThere = DimExpr::dim(size.dim);
    if (first->second != 1)
      rowsThere = DimExpr::binary(DimExpr::Op::FloorDiv, std::move(rowsThere), DimExpr::constant(first->second));
    function.dimBindings.push_back({kRowsDim, kNone, 0, std::move(rowsThere)});
    for (auto [indices, dim] : dimOf)
      if (dim != size.dim)
        function.dimBindings.push_back({dim, kNone, 0, DimExpr::binary(DimExpr::Op::Mul, DimExpr::dim(kRowsDim), DimExpr::constant(indices))});
  }
  function.steps.insert(function.steps.begin(), before.begin(), before.end());
  function.steps.insert(function.steps.end(), after.begin(), after.end());
  program.memory.temporaries = function.arenaBytes;
}

} // namespace millrace::lowering
