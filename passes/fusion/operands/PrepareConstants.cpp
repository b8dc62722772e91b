// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PrepareConstants.cpp - Compute values of constant arguments once ---===//
// Input:   func @main(%x, %w {millrace.constant}) { call @k(%x, %w) }   with @k(%x, %w : 512x256) { dot_general(%x, %w) ; ... }
// Output:  func @main(%x, %w {millrace.constant}, %p) attributes {millrace.prepare = @prepare} { call @k(%x, %w, %p) }
//          func private @prepare(%w) -> %p attributes {millrace.prepared_from = [1]} { call @panels(%w) }
//          @k has %p as one more argument, which its body does not read: with the attribute `millrace.panels` the code of the contraction
//          reads it instead of packing %w, in every call, into the same order. All other readers of the program, the evaluator and code without
//          emitters among them, see the same program as before.
//          Kernels that read constant arguments alone move to @prepare, too, where their results are not much larger than what they read.
// Leaves alone arguments whose memory a result takes, operands that kernels compute with while they pack them, and calls in loops and branches.
//===----------------------------------------------------------------------===//
#include "passes/fusion/operands/PrepareConstants.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/plan/FusionPolicy.h"

#include "dialects/millrace/Arguments.h"
#include "dialects/millrace/Attributes.h"

#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"

#include <map>

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
#define GEN_PASS_DEF_PREPARECONSTANTSPASS
#include "passes/fusion/Passes.h.inc"

std::string PanelLayout::text() const {
  std::string text;
  for (const PanelStep &step : steps) {
    text += step.kind == PanelStep::Kind::Reshape ? "reshape" : step.kind == PanelStep::Kind::Transpose ? "transpose" : "pad";
    for (int64_t number : step.numbers)
      text += " " + std::to_string(number);
    text += "; ";
  }
  return text;
}

namespace {

/// A kernel that moves to the preparation may write so many times the bytes of the constants that it reads: what is larger is cheaper to compute
/// again than to read. Unit: bytes per byte. Source: judgement, not measured alone.
constexpr int64_t kMaxGrowth = 2;

/// Writes the function that prepares the constants of `entry`.
class Preparation {
public:
  Preparation(func::FuncOp entry, SymbolTable &symbols) : entry(entry), symbols(symbols) {
    OpBuilder builder(entry.getContext());
    function = func::FuncOp::create(entry.getLoc(), "prepare", builder.getFunctionType({}, {}));
    function.setPrivate();
    body = &function.getBody().emplaceBlock();
  }

  ~Preparation() {
    if (results.empty()) // it is in no module
      function.erase();
  }

  /// Clones `value` of the entry function, which depends on constants alone, into the preparation.
  Value import(Value value) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      from.push_back(argument.getArgNumber());
      Value own = body->addArgument(argument.getType(), argument.getLoc());
      mapping.map(value, own);
      return own;
    }
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      import(operand);
    OpBuilder builder = OpBuilder::atBlockEnd(body);
    builder.clone(*op, mapping);
    return mapping.lookup(value);
  }

  /// Returns the argument of the entry function that gets the value `made` of the preparation.
  BlockArgument provide(Value made) {
    BlockArgument &known = provided[made];
    if (known)
      return known;
    results.push_back(made);
    unsigned number = entry.getNumArguments();
    [[maybe_unused]] LogicalResult inserted = entry.insertArgument(number, made.getType(), {}, made.getLoc());
    assert(succeeded(inserted) && "functions have arguments");
    known = entry.getArgument(number);
    mapping.map(known, made);
    return known;
  }

  /// Returns the packed `operand` of the entry function, as a value of the preparation.
  Value panels(Value operand, const PanelLayout &layout) {
    Value source = import(operand);
    Value &known = packed[{source.getAsOpaquePointer(), layout.text()}];
    if (known)
      return known;
    Location loc = operand.getLoc();
    Value value = source;
    for (const PanelStep &step : simplified(typeOf(source).getShape(), layout.steps))
      value = move(value, step, loc);
    return known = value;
  }

  bool isEmpty() const { return results.empty(); }
  /// Returns true for an argument of the entry function that provide() has added.
  bool hasProvided(Value value) const { return llvm::any_of(provided, [&](const auto &each) { return each.second == value; }); }

  void finish() {
    OpBuilder builder = OpBuilder::atBlockEnd(body);
    func::ReturnOp::create(builder, entry.getLoc(), results);
    SmallVector<Type> types(ValueRange(results).getTypes());
    function.setFunctionType(builder.getFunctionType(body->getArgumentTypes(), types));
    function->setAttr(kPreparedFromAttr, builder.getDenseI64ArrayAttr(from));
    symbols.insert(function);
    entry->setAttr(kPrepareAttr, FlatSymbolRefAttr::get(function.getNameAttr()));
  }

private:
  /// Returns the steps without those that move no element.
  static SmallVector<PanelStep> simplified(ArrayRef<int64_t> shape, ArrayRef<PanelStep> steps) {
    SmallVector<int64_t> sizes(shape);
    SmallVector<PanelStep> result;
    for (PanelStep step : steps) {
      SmallVector<int64_t> next;
      switch (step.kind) {
      case PanelStep::Kind::Reshape:
        next = step.numbers;
        break;
      case PanelStep::Kind::Transpose: {
        SmallVector<int64_t> moved;
        for (int64_t dim : step.numbers) {
          next.push_back(sizes[dim]);
          if (sizes[dim] != 1)
            moved.push_back(dim);
        }
        if (llvm::is_sorted(moved))
          step = {PanelStep::Kind::Reshape, next};
        break;
      }
      case PanelStep::Kind::Pad:
        for (auto [size, more] : llvm::zip_equal(sizes, step.numbers))
          next.push_back(size + more);
        if (next == sizes)
          continue;
        break;
      }
      sizes = next;
      if (step.kind == PanelStep::Kind::Reshape && !result.empty() && result.back().kind == PanelStep::Kind::Reshape)
        result.back() = step;
      else
        result.push_back(step);
    }
    return result;
  }

  /// Applies one step: a kernel of its own, or a reshape, which is an alias. A kernel of several steps would read or write memory in no favourable
  /// order.
  Value move(Value value, const PanelStep &step, Location loc) {
    OpBuilder outer = OpBuilder::atBlockEnd(body);
    RankedTensorType type = typeOf(value);
    if (step.kind == PanelStep::Kind::Reshape)
      return ReshapeOp::create(outer, loc, type.clone(step.numbers), value);
    SmallVector<int64_t> shape;
    for (auto [dim, number] : llvm::enumerate(step.numbers))
      shape.push_back(step.kind == PanelStep::Kind::Transpose ? type.getDimSize(number) : type.getDimSize(dim) + number);
    RankedTensorType made = type.clone(shape);
    auto kernel = func::FuncOp::create(loc, "panels", outer.getFunctionType(type, made));
    kernel.setPrivate();
    kernel->setAttr(kKernelAttr, outer.getUnitAttr());
    OpBuilder builder = OpBuilder::atBlockEnd(kernel.addEntryBlock());
    Value argument = kernel.getArgument(0), result;
    if (step.kind == PanelStep::Kind::Transpose) {
      result = TransposeOp::create(builder, loc, made, argument, builder.getDenseI64ArrayAttr(step.numbers));
    } else {
      Value zero = ConstantOp::create(builder, loc, cast<ElementsAttr>(builder.getZeroAttr(type.clone(ArrayRef<int64_t>()))));
      DenseI64ArrayAttr none = builder.getDenseI64ArrayAttr(SmallVector<int64_t>(type.getRank(), 0));
      result = PadOp::create(builder, loc, made, argument, zero, none, builder.getDenseI64ArrayAttr(step.numbers), none);
    }
    func::ReturnOp::create(builder, loc, result);
    symbols.insert(kernel);
    return func::CallOp::create(outer, loc, kernel, value).getResult(0);
  }

  func::FuncOp entry, function;
  SymbolTable &symbols;
  Block *body;
  IRMapping mapping;
  SmallVector<int64_t> from;
  SmallVector<Value> results;
  DenseMap<Value, BlockArgument> provided;
  std::map<std::pair<const void *, std::string>, Value> packed;
};

class Splitter {
public:
  Splitter(ModuleOp module, const PanelsOf &panelsOf) : module(module), symbols(module), panelsOf(panelsOf) {}

  void run() {
    SmallVector<func::FuncOp> entries;
    for (auto function : module.getOps<func::FuncOp>()) {
      function.walk([&](func::CallOp call) { ++callsOf[call.getCallee()]; });
      if (!function->hasAttr(kKernelAttr) && !function->hasAttr(kPrepareAttr) && !function.isExternal() && hasConstants(function))
        entries.push_back(function);
    }
    // A program has one entry.
    if (entries.size() == 1)
      split(entries.front());
  }

private:
  static bool isConstant(func::FuncOp function, unsigned argument) {
    return isConstantArgument(function, argument) && bytesOf(function.getArgument(argument).getType()).value_or(0) > 0;
  }

  static bool hasConstants(func::FuncOp function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (isConstant(function, i))
        return true;
    return false;
  }

  /// Returns true if the operation has no side effects and computes the same every time. Kernels that work in place are marked later.
  bool isRepeatable(Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
      return kernel && kernel->hasAttr(kKernelAttr) && !kernel.walk([](Operation *inner) {
        return isa<RngOp, RngBitGeneratorOp>(inner) ? WalkResult::interrupt() : WalkResult::advance();
      }).wasInterrupted();
    }
    return isa<ConstantOp, ReshapeOp>(op);
  }

  void split(func::FuncOp entry) {
    Block &block = entry.getBody().front();
    // Values that constants alone decide, and the bytes of the constant arguments behind them.
    DenseMap<Value, int64_t> constants;
    for (BlockArgument argument : block.getArguments())
      if (isConstant(entry, argument.getArgNumber()))
        constants[argument] = *bytesOf(argument.getType());
    for (Operation &op : block) {
      if (!isRepeatable(&op) || !llvm::all_of(op.getOperands(), [&](Value operand) { return constants.contains(operand); }))
        continue;
      int64_t bytes = 0;
      for (Value operand : op.getOperands())
        bytes += constants.lookup(operand);
      for (Value result : op.getResults())
        constants[result] = bytes;
    }

    Preparation preparation(entry, symbols);
    SmallVector<func::CallOp> calls;
    for (Operation &op : block)
      if (auto call = dyn_cast<func::CallOp>(op))
        calls.push_back(call);
    auto reads = [&](Value value) { return constants.lookup(value) > 0 || preparation.hasProvided(value); };
    llvm::SmallPtrSet<Operation *, 16> moved;
    for (func::CallOp call : calls) {
      if (call.getNumResults() && constants.lookup(call.getResult(0)) > 0) {
        move(call, constants, preparation);
        moved.insert(call);
      } else {
        pack(call, reads, preparation);
      }
    }
    if (preparation.isEmpty())
      return;
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (op.use_empty() && (moved.contains(&op) || (isa<ReshapeOp>(op) && constants.contains(op.getResult(0)))))
        op.erase();
    preparation.finish();
  }

  /// Returns true if what uses the value stays in the program: kernels of constants move themselves, and so do reshapes that only these read.
  static bool isOfProgram(OpOperand &use, const DenseMap<Value, int64_t> &constants) {
    Operation *user = use.getOwner();
    if (user->getNumResults() == 0 || !constants.contains(user->getResult(0)))
      return true;
    return isa<ReshapeOp>(user) && llvm::any_of(user->getResult(0).getUses(), [&](OpOperand &next) { return isOfProgram(next, constants); });
  }

  /// Moves a kernel of constants to the preparation, whose results replace the kernel's.
  void move(func::CallOp call, const DenseMap<Value, int64_t> &constants, Preparation &preparation) {
    for (Value result : call.getResults()) {
      std::optional<int64_t> bytes = bytesOf(result.getType());
      if (!bytes || *bytes > kMaxGrowth * constants.lookup(result))
        continue;
      SmallVector<OpOperand *> uses;
      for (OpOperand &use : result.getUses())
        if (isOfProgram(use, constants))
          uses.push_back(&use);
      if (uses.empty())
        continue;
      BlockArgument argument = preparation.provide(preparation.import(result));
      for (OpOperand *use : uses)
        use->set(argument);
    }
  }

  void pack(func::CallOp call, llvm::function_ref<bool(Value)> reads, Preparation &preparation) {
    auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!kernel || !kernel->hasAttr(kKernelAttr) || kernel->hasAttr(kAttentionAttr) || kernel->hasAttr(kCodedProductAttr) || kernel->hasAttr(kPanelsAttr) || callsOf[call.getCallee()] != 1 ||
        !panelsOf || !llvm::any_of(call.getOperands(), reads))
      return;
    std::optional<PanelLayout> layout = panelsOf(kernel);
    if (!layout || !reads(call.getOperand(layout->operand)))
      return;
    BlockArgument panels = preparation.provide(preparation.panels(call.getOperand(layout->operand), *layout));
    unsigned number = kernel.getNumArguments();
    [[maybe_unused]] LogicalResult inserted = kernel.insertArgument(number, panels.getType(), {}, kernel.getLoc());
    assert(succeeded(inserted) && "functions have arguments");
    call.getOperandsMutable().append(panels);
    Builder builder(kernel.getContext());
    kernel->setAttr(kPanelsAttr, builder.getDictionaryAttr({builder.getNamedAttr("operand", builder.getI64IntegerAttr(layout->operand)),
                                                            builder.getNamedAttr("panels", builder.getI64IntegerAttr(number)),
                                                            builder.getNamedAttr("layout", builder.getStringAttr(layout->text()))}));
  }

  ModuleOp module;
  SymbolTable symbols;
  const PanelsOf &panelsOf;
  llvm::StringMap<int> callsOf;
};

struct PrepareConstants : impl::PrepareConstantsPassBase<PrepareConstants> {
  PrepareConstants() = default;
  explicit PrepareConstants(PanelsOf panelsOf) : panelsOf(std::move(panelsOf)) {}
  void runOnOperation() override { Splitter(getOperation(), panelsOf).run(); }
  PanelsOf panelsOf;
};

} // namespace

std::unique_ptr<Pass> createPrepareConstantsPass(PanelsOf panelsOf) { return std::make_unique<PrepareConstants>(std::move(panelsOf)); }

} // namespace millrace::fusion
