// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PackLoopWeights.cpp - Pack loop-invariant operands before the loop -===//
// Input:   while { call @k(%h, %w) }   with @k(%h, %w : 1024x256) { dot_general(%h, %w) over their last dimensions ; ... }
// Output:  %p = call @pack(%w) : 64x256x16 ; while { call @k(%h, %p) }   with @k { reshape(dot_general(%h, %p)) ; ... }
//          Each of the 64 panels holds 16 columns of the result in the order in which the kernel reads them; without the pass the kernel packs them
//          in every iteration.
//          A kernel that reads equal slices of the result's columns is fused with it (ColumnParts.cpp).
// Leaves alone weights that change in the loop or that the kernel reads for something else, too; products of one row (bound by
// memory, which rows of the weights suit as well) or of batches; columns that are no whole number of panels, and panels that no cache of a core
// holds.
//===----------------------------------------------------------------------===//
#include "passes/fusion/operands/ColumnParts.h"
#include "passes/fusion/Passes.h"

#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {
#define GEN_PASS_DEF_PACKLOOPWEIGHTSPASS
#include "passes/fusion/Passes.h.inc"

namespace {

/// A larger panel does not stay in a level 2 cache, and each tile of rows would bring it from memory again: the kernel packs such weights itself,
/// in blocks of the sum. Unit: bytes. Source: arithmetic for caches of 1 MiB and more; gradients of 1024 x 256 from 65536 columns took twice the
/// time in panels of 16 MiB (xla-run --profile, Intel Xeon, busy).
constexpr int64_t kMaxPanelBytes = 1 << 20;

/// The contraction of a kernel whose right operand is an argument of the kernel.
struct Product {
  DotGeneralOp op;
  unsigned argument;
  int64_t summed; ///< contracted dimension of the weights
  int64_t rows, columns;
};

std::optional<Product> findProduct(func::FuncOp kernel) {
  DotGeneralOp dot;
  for (Operation &op : kernel.getBody().front()) {
    if (!isa<DotGeneralOp>(op))
      continue;
    if (dot)
      return std::nullopt;
    dot = cast<DotGeneralOp>(op);
  }
  auto weights = dot ? dyn_cast<BlockArgument>(dot.getRhs()) : BlockArgument();
  if (!weights || !weights.hasOneUse() || weights.getOwner() != &kernel.getBody().front())
    return std::nullopt;
  DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
  RankedTensorType type = typeOf(weights);
  bool isFloat = type.getElementType().isF32() || type.getElementType().isF64();
  if (!isFloat || type.getRank() != 2 || !type.hasStaticShape() || !typeOf(dot.getLhs()).hasStaticShape() ||
      typeOf(dot.getResult()).getElementType() != type.getElementType() || numbers.getRhsContractingDimensions().size() != 1 ||
      !numbers.getRhsBatchingDimensions().empty())
    return std::nullopt;
  int64_t summed = numbers.getRhsContractingDimensions().front(), columns = type.getDimSize(1 - summed);
  if (type.getNumElements() == 0)
    return std::nullopt;
  return Product{dot, weights.getArgNumber(), summed, typeOf(dot.getResult()).getNumElements() / columns, columns};
}

/// Returns the outermost loop around `op` in which `value` is invariant.
WhileOp loopAround(Operation *op, Value value) {
  WhileOp found;
  for (auto loop = op->getParentOfType<WhileOp>(); loop; loop = loop->getParentOfType<WhileOp>()) {
    if (loop->isAncestor(value.getParentRegion()->getParentOp()))
      break;
    found = loop;
  }
  return found;
}

class Packer {
public:
  Packer(ModuleOp module, const PanelWidth &panelWidth) : module(module), symbols(module), panelWidth(panelWidth) {}

  void run() {
    SmallVector<func::CallOp> calls;
    llvm::StringMap<int> callsOf;
    for (auto function : module.getOps<func::FuncOp>())
      function.walk([&](func::CallOp call) {
        ++callsOf[call.getCallee()];
        if (call->getParentOfType<WhileOp>())
          calls.push_back(call);
      });
    for (func::CallOp call : calls)
      if (!erased.contains(call) && callsOf[call.getCallee()] == 1)
        pack(call);
  }

private:
  void pack(func::CallOp call) {
    auto kernel = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!kernel || !kernel->hasAttr(kKernelAttr) || kernel->hasAttr(kAttentionAttr) || kernel->hasAttr(kCodedProductAttr))
      return;
    std::optional<Product> product = findProduct(kernel);
    if (!product || product->rows == 1)
      return;
    Value weights = call.getOperand(product->argument);
    WhileOp loop = loopAround(call, weights);
    if (!loop)
      return;
    std::optional<ColumnParts> parts = findColumnParts(call, symbols);
    int64_t columns = parts ? parts->width : product->columns;
    int64_t width = panelWidth(product->rows, columns, typeOf(weights).getElementType());
    // Threads share the panels of a part.
    if (parts && (width == 0 || columns < 2 * width || columns % width)) {
      parts.reset();
      width = panelWidth(product->rows, product->columns, typeOf(weights).getElementType());
    }
    // A single panel with k outermost needs no packing.
    if (width == 0 || product->columns % width || (width == product->columns && product->summed == 0))
      return;
    if (typeOf(weights).getDimSize(product->summed) * width * typeOf(weights).getElementTypeBitWidth() / 8 > kMaxPanelBytes)
      return;
    Value packed = packedBefore(loop, weights, product->summed, width);
    call->setOperand(product->argument, packed);
    readPanels(kernel, *product, typeOf(packed));
    if (parts)
      joinColumnParts(*parts, symbols, erased);
  }

  /// Returns `weights` in panels of `width` columns, packed before the loop; one value for all readers.
  Value packedBefore(WhileOp loop, Value weights, int64_t summed, int64_t width) {
    Value &known = made[{{loop, weights}, {summed, width}}];
    if (known)
      return known;
    RankedTensorType type = typeOf(weights);
    int64_t depth = type.getDimSize(summed), panels = type.getDimSize(1 - summed) / width;
    RankedTensorType packed = type.clone({panels, depth, width});
    Location loc = weights.getLoc();
    OpBuilder builder(loop);
    auto kernel = func::FuncOp::create(loc, "pack", builder.getFunctionType(type, packed));
    kernel.setPrivate();
    kernel->setAttr(kKernelAttr, builder.getUnitAttr());
    OpBuilder inner = OpBuilder::atBlockEnd(kernel.addEntryBlock());
    SmallVector<int64_t> split = summed == 0 ? SmallVector<int64_t>{depth, panels, width} : SmallVector<int64_t>{panels, width, depth};
    SmallVector<int64_t> order = summed == 0 ? SmallVector<int64_t>{1, 0, 2} : SmallVector<int64_t>{0, 2, 1};
    Value value = ReshapeOp::create(inner, loc, type.clone(split), kernel.getArgument(0));
    value = TransposeOp::create(inner, loc, packed, value, inner.getDenseI64ArrayAttr(order));
    func::ReturnOp::create(inner, loc, value);
    symbols.insert(kernel);
    return known = func::CallOp::create(builder, loc, kernel, weights).getResult(0);
  }

  /// Changes the argument of the kernel to panels, and the contraction accordingly.
  static void readPanels(func::FuncOp kernel, const Product &product, RankedTensorType panels) {
    BlockArgument argument = kernel.getArgument(product.argument);
    argument.setType(panels);
    SmallVector<Type> inputs(kernel.getFunctionType().getInputs());
    inputs[product.argument] = panels;
    OpBuilder builder(product.op);
    kernel.setFunctionType(builder.getFunctionType(inputs, kernel.getFunctionType().getResults()));
    DotGeneralOp dot = product.op;
    DotDimensionNumbersAttr numbers = dot.getDotDimensionNumbers();
    auto renumbered = DotDimensionNumbersAttr::get(builder.getContext(), numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions(),
                                                   numbers.getLhsContractingDimensions(), ArrayRef<int64_t>{1});
    RankedTensorType type = typeOf(dot.getResult());
    SmallVector<int64_t> shape(type.getShape().drop_back());
    shape.append({panels.getDimSize(0), panels.getDimSize(2)});
    auto byPanels = DotGeneralOp::create(builder, dot.getLoc(), type.clone(shape), dot.getLhs(), argument, renumbered,
                                         dot.getPrecisionConfigAttr(), dot.getAlgorithmAttr());
    byPanels->setDiscardableAttrs(dot->getDiscardableAttrDictionary());
    Value joined = ReshapeOp::create(builder, dot.getLoc(), type, byPanels);
    dot.getResult().replaceAllUsesWith(joined);
    dot.erase();
  }

  ModuleOp module;
  SymbolTable symbols;
  const PanelWidth &panelWidth;
  llvm::SmallPtrSet<Operation *, 8> erased;
  DenseMap<std::pair<std::pair<Operation *, Value>, std::pair<int64_t, int64_t>>, Value> made;
};

struct PackLoopWeights : impl::PackLoopWeightsPassBase<PackLoopWeights> {
  using PackLoopWeightsPassBase::PackLoopWeightsPassBase;
  PackLoopWeights(PackLoopWeightsPassOptions options, PanelWidth asked) : PackLoopWeightsPassBase(options), asked(std::move(asked)) {}

  void runOnOperation() override {
    PanelWidth given = [this](int64_t, int64_t, Type) { return int64_t(width); };
    Packer(getOperation(), width || !asked ? given : asked).run();
  }

  PanelWidth asked;
};

} // namespace

std::unique_ptr<Pass> createPackLoopWeightsPass(PanelWidth panelWidth) {
  return std::make_unique<PackLoopWeights>(PackLoopWeightsPassOptions(), std::move(panelWidth));
}

} // namespace millrace::fusion
