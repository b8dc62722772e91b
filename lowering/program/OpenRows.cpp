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
#include "lowering/program/BuildProgram.h"
#include "passes/fusion/plan/FusionPolicy.h"
#include "passes/spmd/OpRules.h"
#include "runtime/base/Alignment.h"

#include "mlir/IR/SymbolTable.h"

#include <algorithm>
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

/// Gives the kernels that `entry` calls the attribute `millrace.rows`.
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
  Builder builder(entry.getContext());
  SymbolTable symbols(entry->getParentOfType<ModuleOp>());
  entry.walk([&](func::CallOp call) {
    auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
    SmallVector<int64_t> list{bound};
    for (Value result : call.getResults())
      if (std::optional<int64_t> dim = tracker.dimOf(result))
        list.push_back(rowStride(result, *dim, bound));
    if (kernel && kernel->hasAttr(kKernelAttr) && list.size() == 1 + call.getNumResults())
      kernel->setAttr(kRowsAttr, builder.getDenseI64ArrayAttr(list));
  });
  return success();
}

struct MarkRows : PassWrapper<MarkRows, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MarkRows)
  StringRef getArgument() const override { return "xla-mark-rows"; }
  StringRef getDescription() const override { return "Mark the kernels of programs for a run-time number of rows"; }

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && !function->hasAttr(kKernelAttr) && failed(markRows(function)))
        return signalPassFailure();
  }
};

} // namespace

std::unique_ptr<Pass> createMarkRowsPass() { return std::make_unique<MarkRows>(); }
void registerMarkRowsPass() { PassRegistration<MarkRows>(); }

void addKernelsForFewRows(func::FuncOp entry) {
  auto rows = entry->getAttrOfType<DenseI64ArrayAttr>(kRowsAttr);
  if (!rows || rows[0] <= kFewRows)
    return;
  OpBuilder builder(entry.getContext());
  SymbolTable symbols(entry->getParentOfType<ModuleOp>());
  entry.walk([&](func::CallOp call) {
    auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!kernel || !kernel->hasAttr(kKernelAttr) || !kernel->hasAttr(kRowsAttr) || kernel->hasAttr(kAttentionAttr) || kernel->hasAttr(kCodedProductAttr) ||
        llvm::none_of(kernel.getBody().front(), [](Operation &op) { return isa<stablehlo::DotGeneralOp>(op); }))
      return;
    builder.setInsertionPointAfter(kernel);
    auto few = cast<func::FuncOp>(builder.clone(*kernel.getOperation()));
    few->setAttr(kFewRowsAttr, builder.getI64IntegerAttr(kFewRows));
    symbols.insert(few); // under a name that nobody has
    call->setAttr(kFewRowsKernelAttr, FlatSymbolRefAttr::get(few));
  });
}

namespace {

/// What openRows() has to know of a kernel.
struct RowKernel {
  bool isExact = true, isForFewRows = false;
};

/// Lets a function that was built for the largest number of rows take and return as many as there are.
class RowOpener {
public:
  RowOpener(Function &function, const std::map<uint32_t, RowKernel> &kernels) : function(function), kernels(kernels) {}

  /// Opens an argument or result that has `indices` indices of its first dimension per row.
  template <typename Spec> void open(Spec &spec, SlotId &slot, int64_t indices) {
    spec.bounds.assign(spec.dims.size(), kDynamic);
    spec.bounds[0] = spec.dims[0];
    spec.dims[0] = kDynamic;
    const SlotId all = slot;
    const bool isArgument = function.slots[all].kind == Slot::Kind::Argument;
    const bool isDirect = canBeDirect(all);
    Slot outside = function.slots[all];
    Slot &inside = function.slots[all];
    inside.kind = Slot::Kind::Arena;
    inside.index = 0;
    inside.offset = isDirect ? 0 : runtime::alignedBytes(function.arenaBytes); // nobody looks at it if it is direct
    function.arenaBytes = std::max<uint64_t>(function.arenaBytes, inside.offset + runtime::alignedBytes(inside.bytes));
    outside.bytes = 0;
    outside.dims[0] = Dim::runtime(dimFor(indices));
    slot = SlotId(function.slots.size());
    function.slots.push_back(outside);
    if (isDirect)
      makeDirect(all, slot, indices);
    else
      (isArgument ? before : after).push_back({isArgument ? CopyStep{slot, all} : CopyStep{all, slot}});
  }

  /// `argument` has `indices` indices of its first dimension per row, and tells how many rows there are.
  void finish(uint32_t argument, int64_t indices) {
    const uint32_t size = dimFor(indices);
    function.dimBindings.push_back({size, argument, 0, {}});
    DimExpr rowsThere = DimExpr::dim(size);
    if (indices != 1)
      rowsThere = DimExpr::binary(DimExpr::Op::FloorDiv, std::move(rowsThere), DimExpr::constant(indices));
    function.dimBindings.push_back({kRowsDim, kNone, 0, std::move(rowsThere)});
    for (auto [number, dim] : dimOf)
      if (dim != size)
        function.dimBindings.push_back({dim, kNone, 0, DimExpr::binary(DimExpr::Op::Mul, DimExpr::dim(kRowsDim), DimExpr::constant(number))});
    for (auto [number, dim] : fewDimOf)
      function.dimBindings.push_back({dim, kNone, 0, DimExpr::binary(DimExpr::Op::Mul, oneIfFewRows(), DimExpr::constant(kFewRows * number))});
    function.steps.insert(function.steps.begin(), before.begin(), before.end());
    function.steps.insert(function.steps.end(), after.begin(), after.end());
  }

private:
  uint32_t dimIn(std::map<int64_t, uint32_t> &dims, int64_t indices) {
    auto [known, isNew] = dims.try_emplace(indices, function.numDims);
    if (isNew)
      ++function.numDims;
    return known->second;
  }
  uint32_t dimFor(int64_t indices) { return dimIn(dimOf, indices); }

  /// `id` is the slot `all`, or views it.
  bool isPartOf(SlotId id, SlotId all) const {
    return id == all || (function.slots[id].kind == Slot::Kind::View && function.slots[id].index == all);
  }

  RowKernel kernelOf(const KernelStep &step) const {
    auto known = kernels.find(step.kernel);
    return known == kernels.end() ? RowKernel{false, false} : known->second;
  }

  /// Kernels may read or write the rows of slot `all` where the caller has them: they touch no row behind the last one, or get memory of their own for
  /// few rows.
  bool canBeDirect(SlotId all) const {
    return llvm::all_of(function.steps, [&](const Step &step) {
      if (std::holds_alternative<FillStep>(step.body))
        return !isPartOf(std::get<FillStep>(step.body).destination, all);
      if (const auto *copy = std::get_if<CopyStep>(&step.body))
        return !isPartOf(copy->source, all) && !isPartOf(copy->destination, all);
      const auto *kernel = std::get_if<KernelStep>(&step.body);
      if (!kernel)
        return false;
      const RowKernel of = kernelOf(*kernel);
      // A view of all bytes has the same bytes per row.
      auto isFit = [&](SlotId id) {
        return !isPartOf(id, all) || ((of.isExact || of.isForFewRows) && function.slots[id].bytes == function.slots[all].bytes);
      };
      return llvm::all_of(kernel->inputs, isFit) && llvm::all_of(kernel->outputs, isFit);
    });
  }

  void makeDirect(SlotId all, SlotId outside, int64_t indices) {
    Steps steps;
    for (Step &step : function.steps) {
      auto *kernel = std::get_if<KernelStep>(&step.body);
      auto touches = [&](SlotId id) { return isPartOf(id, all); };
      if (!kernel || (llvm::none_of(kernel->inputs, touches) && llvm::none_of(kernel->outputs, touches))) {
        steps.push_back(std::move(step));
        continue;
      }
      // A kernel for few rows reads and writes as many as it is made for.
      const RowKernel of = kernelOf(*kernel);
      const SlotId there = of.isExact ? outside : slotForFewRows(outside, indices);
      const bool reads = llvm::any_of(kernel->inputs, touches), writes = llvm::any_of(kernel->outputs, touches);
      std::replace_if(kernel->inputs.begin(), kernel->inputs.end(), touches, there);
      std::replace_if(kernel->outputs.begin(), kernel->outputs.end(), touches, there);
      const uint32_t location = step.location;
      if (reads && !of.isExact)
        steps.push_back({CopyStep{outside, there}, location});
      steps.push_back(std::move(step));
      if (writes && !of.isExact)
        steps.push_back({CopyStep{there, outside}, location});
    }
    function.steps = std::move(steps);
  }

  /// Memory for few rows of what is in slot `outside`; empty where there are more.
  SlotId slotForFewRows(SlotId outside, int64_t indices) {
    Slot slot = function.slots[outside];
    slot.kind = Slot::Kind::Dynamic;
    slot.index = 0;
    slot.dims[0] = Dim::runtime(dimIn(fewDimOf, indices));
    function.slots.push_back(slot);
    return SlotId(function.slots.size() - 1);
  }

  Function &function;
  const std::map<uint32_t, RowKernel> &kernels;
  std::map<int64_t, uint32_t> dimOf, fewDimOf; ///< by the number of indices per row: their run-time dim, and that of the room for few rows
  Steps before, after;
};

} // namespace

DimExpr oneIfFewRows(bool few) {
  DimExpr rows = DimExpr::dim(kRowsDim), most = DimExpr::constant(kFewRows);
  DimExpr above = few ? DimExpr::binary(DimExpr::Op::Sub, DimExpr::constant(kFewRows + 1), rows) : DimExpr::binary(DimExpr::Op::Sub, rows, most);
  return DimExpr::binary(DimExpr::Op::Min, DimExpr::binary(DimExpr::Op::Max, above, DimExpr::constant(0)), DimExpr::constant(1));
}

void openRows(func::FuncOp entry, const llvm::StringMap<KernelSummary> &summaries, Program &program) {
  auto rows = entry->getAttrOfType<DenseI64ArrayAttr>(kRowsAttr);
  if (!rows)
    return;
  Function &function = program.functions[program.entry];
  std::map<uint32_t, RowKernel> kernels;
  for (const auto &summary : summaries) {
    RowKernel &kernel = kernels[summary.second.index];
    kernel.isExact &= summary.second.rows.isExact;
    kernel.isForFewRows |= summary.second.isForFewRows;
  }
  RowOpener opener(function, kernels);
  std::optional<std::pair<uint32_t, int64_t>> first; // the argument that says how many rows there are
  for (uint32_t i = 0; i < program.arguments.size(); ++i)
    if (int64_t indices = indicesOf(entry.getArgAttrDict(i))) {
      if (!first || (first->second != 1 && indices == 1))
        first = {i, indices};
      opener.open(program.arguments[i], function.arguments[i], indices);
    }
  for (uint32_t i = 0; i < program.results.size(); ++i)
    if (int64_t indices = indicesOf(entry.getResultAttrDict(i)))
      opener.open(program.results[i], function.results[i], indices);
  if (first)
    opener.finish(first->first, first->second);
  program.memory.temporaries = function.arenaBytes;
}

} // namespace millrace::lowering
