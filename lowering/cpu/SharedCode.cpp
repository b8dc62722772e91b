// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SharedCode.cpp - Share machine code between similar kernels ---------===//
// Input:   for %k = 0 to 2 { %a = %k * 512 ; for %c = 0 to 64 { load x[%a + %c] .. } }    // a convolution with a dilation of 8
//          for %k = 0 to 2 { %a = %k * 1024 ; for %c = 0 to 64 { load x[%a + %c] .. } }   // over 16
// Output:  (%n) { for %k = 0 to 2 { %a = %k * %n ; for %c = 0 to 64 { load x[%a + %c] .. } } }   with %n = 512, 1024
// Leaves alone constants of divisions and of innermost contraction loops: machine code is faster with a constant there.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/SharedCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Returns the value of an index constant, else none.
std::optional<int64_t> numberOf(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  if (!constant || !value.getType().isIndex())
    return std::nullopt;
  return cast<IntegerAttr>(constant.getValue()).getInt();
}

bool isFlat(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.getRank() == 1 && memref.getLayout().isIdentity() && !memref.getMemorySpace();
}

/// Returns true for operations whose code does not depend on the size of a flat buffer.
bool ignoresSize(Operation *op) {
  return isa<memref::LoadOp, memref::StoreOp, memref::PrefetchOp, memref::ViewOp, vector::LoadOp, vector::StoreOp, vector::MaskedLoadOp,
             vector::MaskedStoreOp, vector::GatherOp>(op);
}

bool isLoop(Operation *op) { return isa<LoopLikeOpInterface>(op); }

/// The position of an operation in the loops.
struct Place {
  int depth = 0;          ///< loops around it
  bool innermost = false; ///< in an innermost loop, whose invariants will be hoisted
  bool isBusy = false;    ///< in an innermost loop with products or many operations
};

/// Walks one kernel; calls `visitUse` for every use of an index constant.
class Reader {
public:
  Reader(const BufferKernel &kernel, KernelSkeleton &skeleton, SmallVectorImpl<OpOperand *> *uses) : kernel(kernel), out(skeleton), uses(uses) {}

  bool read() {
    func::FuncOp body = kernel.body;
    for (BlockArgument argument : body.getArguments())
      define(argument);
    add(kernel.numInputs);
    add(kernel.numOutputs);
    add(kernel.scratchBytes != 0);
    add(kernel.heavyLoops);
    return readBlock(body.getBody().front(), {});
  }

private:
  void add(uint64_t word) { out.form.push_back(word); }
  void add(const void *unique) { add(uint64_t(reinterpret_cast<uintptr_t>(unique))); }

  void define(Value value) {
    numbers[value] = unsigned(numbers.size());
    Type type = value.getType();
    // Readers of flat buffers ignore the size; operations that create buffers other than views depend on it.
    bool anySize = isFlat(type) && (isa<BlockArgument>(value) || value.getDefiningOp<memref::ViewOp>());
    add(anySize ? cast<MemRefType>(type).getElementType().getAsOpaquePointer() : type.getAsOpaquePointer());
  }

  bool readBlock(Block &block, Place place) {
    for (Operation &op : block)
      if (!readOperation(op, place))
        return false;
    return true;
  }

  bool readOperation(Operation &op, Place place) {
    if (op.getNumResults() == 1 && numberOf(op.getResult(0)))
      return true; // its uses decide
    if (!ignoresSize(&op) && llvm::any_of(op.getOperandTypes(), isFlat))
      return false;
    if (place.innermost) {
      auto isChanging = [&](Value operand) { return changing.contains(operand); };
      if (!isa<arith::ArithDialect>(op.getDialect()) || llvm::any_of(op.getOperands(), isChanging))
        changing.insert_range(op.getResults());
      else
        place.innermost = false;
    }
    add(op.getName().getAsOpaquePointer());
    add(op.getAttrDictionary().getAsOpaquePointer());
    for (OpOperand &use : op.getOpOperands()) {
      std::optional<int64_t> number = numberOf(use.get());
      if (!number) {
        auto known = numbers.find(use.get());
        if (known == numbers.end())
          return false;
        add(uint64_t(known->second) << 2);
      } else if (mayDiffer(use, place)) {
        add(uint64_t(1));
        out.numbers.push_back(*number);
        if (uses)
          uses->push_back(&use);
      } else {
        add(uint64_t(2));
        add(uint64_t(*number));
      }
    }
    for (Value result : op.getResults())
      define(result);
    Place inside = place;
    if (isLoop(&op)) {
      // In a loop with more operations, constants stay immediate: in so long a loop, addresses from memory cost registers. (For the row emitter only;
      // packing and data movement have their own rule.) Unit: operations in the innermost loop. Source: judgement, not measured alone; commit 0a43f0a
      // has the figures of the whole change.
      constexpr int kMinBusyOps = 80;
      bool moves = kernel.emitter == "movement", packs = kernel.emitter == "contraction";
      bool hasLoops = false, hasProducts = false;
      int operations = 0;
      op.walk([&](Operation *inner) {
        hasLoops |= inner != &op && isLoop(inner);
        hasProducts |= isa<vector::FMAOp, math::FmaOp, arith::MulFOp>(inner) || inner->getDialect()->getNamespace().starts_with("llvm");
        ++operations;
      });
      inside = {place.depth + 1, !hasLoops, moves ? false : packs ? hasProducts : operations > kMinBusyOps};
    }
    for (Region &region : op.getRegions()) {
      add(uint64_t(region.getBlocks().size()) << 2 | 3);
      if (region.getBlocks().size() > 1)
        return false;
      for (Block &block : region) {
        for (BlockArgument argument : block.getArguments()) {
          define(argument);
          if (inside.innermost)
            changing.insert(argument);
        }
        if (!readBlock(block, inside))
          return false;
      }
    }
    return true;
  }

  /// Returns true if a value in memory or a register may replace the constant: it then costs once per call, unit, or iteration of an outer loop.
  bool mayDiffer(OpOperand &use, Place place) const {
    Operation *op = use.getOwner();
    // Bounds of a loop are read before it.
    if (isa<scf::ForOp>(op))
      return use.getOperandNumber() < 2;
    // Where elements are only moved, the address arithmetic is hidden.
    if (place.innermost)
      return !place.isBusy && isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::CmpIOp>(op);
    // A division by a constant is compiled to a multiplication; a division by an argument is allowed in an outermost loop whose iteration takes so
    // long. Unit: picoseconds. Source: judgement, not measured alone; commit 56f192e has the figures of the whole change.
    constexpr double kMinDividedPicoseconds = 5e5;
    if (isa<arith::DivUIOp, arith::DivSIOp, arith::RemUIOp, arith::RemSIOp, arith::CeilDivUIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op))
      return place.depth == 0 || (place.depth == 1 && kernel.picosPerIteration >= kMinDividedPicoseconds);
    return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MinUIOp, arith::MaxUIOp, arith::MinSIOp, arith::MaxSIOp, arith::CmpIOp,
               arith::SelectOp, memref::ViewOp, memref::LoadOp, memref::StoreOp, vector::LoadOp, vector::StoreOp>(op);
  }

  const BufferKernel &kernel;
  KernelSkeleton &out;
  SmallVectorImpl<OpOperand *> *uses;
  DenseMap<Value, unsigned> numbers;
  DenseSet<Value> changing; ///< between iterations of an innermost loop
};

} // namespace

std::optional<KernelSkeleton> skeletonOf(const BufferKernel &kernel) {
  if (kernel.emitter == "generic" || !llvm::hasSingleElement(cast<ModuleOp>(kernel.body->getParentOp()).getOps()))
    return std::nullopt;
  KernelSkeleton skeleton;
  for (char letter : kernel.emitter)
    skeleton.form.push_back(uint64_t(letter));
  if (!Reader(kernel, skeleton, nullptr).read())
    return std::nullopt;
  return skeleton;
}

/// Rewrites (x + 3) * n in an innermost loop to 3 * n outside of all loops plus x * n, which other addresses share.
static void spreadProduct(arith::MulIOp product, BlockArgument number) {
  Value other = product.getLhs() == number ? product.getRhs() : product.getLhs();
  auto sum = other.getDefiningOp<arith::AddIOp>();
  auto loop = product->getParentOfType<LoopLikeOpInterface>();
  if (!sum || !loop || loop->walk([&](Operation *op) { return op != loop && isLoop(op) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted())
    return;
  Value term = sum.getRhs(), base = sum.getLhs();
  if (!numberOf(term))
    std::swap(term, base);
  std::optional<int64_t> distance = numberOf(term);
  if (!distance)
    return;
  OpBuilder builder(product.getContext());
  builder.setInsertionPointToStart(number.getOwner());
  Location loc = product.getLoc();
  Value constant = arith::ConstantIndexOp::create(builder, loc, *distance);
  Value known = arith::MulIOp::create(builder, loc, constant, number);
  builder.setInsertionPoint(product);
  Value changing = arith::MulIOp::create(builder, loc, base, number);
  product.replaceAllUsesWith(arith::AddIOp::create(builder, loc, changing, known).getResult());
  product.erase();
}

std::vector<std::vector<int64_t>> shareCode(BufferKernel &kernel, ArrayRef<const KernelSkeleton *> alike) {
  KernelSkeleton own;
  SmallVector<OpOperand *> uses;
  Reader(kernel, own, &uses).read();
  std::vector<std::vector<int64_t>> values(alike.size());
  std::map<std::vector<int64_t>, Value> arguments;
  std::vector<std::pair<arith::MulIOp, Value>> products;
  func::FuncOp body = kernel.body;
  SmallVector<Type> types(body.getArgumentTypes());
  for (auto [place, use] : llvm::enumerate(uses)) {
    std::vector<int64_t> column;
    for (const KernelSkeleton *skeleton : alike)
      column.push_back(skeleton->numbers[place]);
    if (llvm::all_equal(column))
      continue;
    Value &argument = arguments[column];
    if (!argument) {
      Type index = IndexType::get(body.getContext());
      argument = body.getBody().front().addArgument(index, body.getLoc());
      types.push_back(index);
      for (auto [list, value] : llvm::zip_equal(values, column))
        list.push_back(value);
    }
    use->set(argument);
    if (auto product = dyn_cast<arith::MulIOp>(use->getOwner()))
      products.emplace_back(product, argument);
  }
  for (auto [product, argument] : products)
    spreadProduct(product, cast<BlockArgument>(argument));
  body.setFunctionType(FunctionType::get(body.getContext(), types, {}));
  kernel.numNumbers = arguments.size();
  return values;
}

} // namespace millrace::lowering
