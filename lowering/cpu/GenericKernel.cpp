// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GenericKernel.cpp - The generic path: bufferize and lower to loops -===//
// The fallback of all emitters and their reference in tests: correct for every operation, with loops that LLVM's vectorizer may improve.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/KernelForm.h"
#include "lowering/cpu/LoopOrder.h"
#include "lowering/linalg/Loops.h"

#include "passes/fusion/Passes.h"
#include "runtime/base/Alignment.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

MemRefType bufferType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

/// Tensor arguments become buffers read through to_tensor; returned tensors are materialized in further buffers.
func::FuncOp toDestinationStyle(func::FuncOp fn, unsigned &numInputs, unsigned &numOutputs) {
  OpBuilder builder(fn);
  Location loc = fn.getLoc();
  SmallVector<Type> types;
  for (Type type : fn.getFunctionType().getInputs())
    types.push_back(bufferType(type));
  for (Type type : fn.getFunctionType().getResults())
    types.push_back(bufferType(type));
  numInputs = fn.getNumArguments();
  numOutputs = fn.getNumResults();
  types.push_back(MemRefType::get({ShapedType::kDynamic}, builder.getI8Type()));
  types.append(2, builder.getIndexType());

  auto body = func::FuncOp::create(builder, loc, (fn.getName() + "_body").str(), builder.getFunctionType(types, {}));
  body.setPrivate();
  Block *entry = &fn.getBody().front();
  Block *target = body.addEntryBlock();
  builder.setInsertionPointToStart(target);
  SmallVector<Value> tensors;
  auto inPlace = fusion::inPlacePairs(fn);
  auto isUpdated = [&](unsigned operand) {
    return llvm::any_of(inPlace, [&](auto pair) { return pair.first == operand; });
  };
  for (auto [index, type] : llvm::enumerate(fn.getFunctionType().getInputs()))
    tensors.push_back(bufferization::ToTensorOp::create(builder, loc, type, target->getArgument(index),
                                                        /*restrict=*/true, /*writable=*/isUpdated(index)));
  IRRewriter rewriter(builder);
  rewriter.inlineBlockBefore(entry, target, target->end(), tensors);
  auto ret = cast<func::ReturnOp>(target->back());
  builder.setInsertionPoint(ret);
  for (auto [index, value] : llvm::enumerate(ret.getOperands())) {
    unsigned destination = numInputs + index;
    for (auto [operand, updatedResult] : inPlace)
      if (updatedResult == index)
        destination = operand;
    auto materialize =
        bufferization::MaterializeInDestinationOp::create(builder, loc, value, target->getArgument(destination));
    materialize.setWritable(true);
    materialize.setRestrict(true);
  }
  func::ReturnOp::create(builder, loc);
  ret.erase();
  fn.erase();
  return body;
}

/// Returns true if `value` is `buffer` after in-place updates: insertions, loops that carry it, destination operands.
bool isUpdateOf(Value value, Value buffer) {
  while (value != buffer) {
    auto result = dyn_cast<OpResult>(value);
    if (!result)
      return false;
    Operation *op = result.getOwner();
    if (auto insert = dyn_cast<tensor::InsertOp>(op))
      value = insert.getDest();
    else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
      value = insert.getDest();
    else if (auto write = dyn_cast<vector::TransferWriteOp>(op))
      value = write.getBase();
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      value = loop.getInitArgs()[result.getResultNumber()];
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      value = loop.getInits()[result.getResultNumber()];
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      return isUpdateOf(branch.thenYield().getOperand(result.getResultNumber()), buffer) &&
             isUpdateOf(branch.elseYield().getOperand(result.getResultNumber()), buffer);
    else if (auto styled = dyn_cast<DestinationStyleOpInterface>(op))
      value = styled.getTiedOpOperand(result)->get();
    else
      return false;
  }
  return true;
}

/// Stores the next values of a while loop in the buffers of the carried ones, all read before the first is written. Without this, bufferization would
/// have to return buffers from the loop, whose number is unknown.
void carryInPlace(func::FuncOp body) {
  body.walk([](scf::WhileOp loop) {
    scf::YieldOp yield = loop.getYieldOp();
    // Only loops whose condition passes all carried values on are changed, see addKernelCanonicalizer; bufferization reports others.
    if (!llvm::equal(loop.getConditionOp().getArgs(), loop.getBeforeArguments()))
      return;
    OpBuilder builder(yield);
    Location loc = yield.getLoc();
    SmallVector<std::pair<unsigned, Value>> moved;
    for (auto [index, next] : llvm::enumerate(yield.getOperands())) {
      auto type = dyn_cast<RankedTensorType>(next.getType());
      if (!type || isUpdateOf(next, loop.getAfterArguments()[index]))
        continue;
      SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, next);
      Value fresh = tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
      Value copy = bufferization::MaterializeInDestinationOp::create(builder, loc, next.getType(), next, fresh).getResult();
      moved.push_back({index, copy});
    }
    for (auto [index, copy] : moved) {
      Value carried = loop.getAfterArguments()[index];
      yield.setOperand(index, bufferization::MaterializeInDestinationOp::create(builder, loc, copy.getType(), copy,
                                                                                carried).getResult());
    }
  });
}

/// Returns true if the operand is overwritten by its user's result, or becomes a result.
bool isStart(OpOperand &use) {
  Operation *user = use.getOwner();
  if (auto styled = dyn_cast<DestinationStyleOpInterface>(user))
    return styled.isDpsInit(&use);
  if (auto loop = dyn_cast<scf::ForOp>(user))
    return use.getOperandNumber() >= loop.getNumControlOperands();
  return isa<scf::WhileOp, bufferization::MaterializeInDestinationOp>(user);
}

/// Gives each result an initial value of its own: the elimination of empty tensors would give a shared one the memory of the first result, and the
/// second result might then be computed there. Constants are cloned, other values copied.
void separateStarts(func::FuncOp body) {
  auto isConstant = [](Operation *op) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    return isa<linalg::FillOp, tensor::EmptyOp>(op) || (generic && generic.getNumDpsInputs() == 0);
  };
  SmallVector<Operation *> makers;
  body.walk([&](Operation *op) {
    if (op->getNumResults() == 1 && (isConstant(op) || isa<DestinationStyleOpInterface, scf::ForOp>(op)))
      makers.push_back(op);
  });
  for (Operation *op : llvm::reverse(makers)) { // a clone uses its operands once more
    SmallVector<OpOperand *> starts;
    for (OpOperand &use : op->getResult(0).getUses())
      if (isStart(use))
        starts.push_back(&use);
    if (starts.size() < 2)
      continue;
    OpBuilder builder(op);
    builder.setInsertionPointAfter(op);
    for (OpOperand *use : llvm::drop_begin(starts)) {
      if (isConstant(op)) {
        use->set(builder.clone(*op)->getResult(0));
        continue;
      }
      auto type = cast<RankedTensorType>(op->getResult(0).getType());
      SmallVector<Value> dims;
      use->set(bufferization::AllocTensorOp::create(builder, op->getLoc(), type, dims, op->getResult(0)));
    }
  }
}

/// Replaces results of loops that return a buffer unchanged, and of branches that return the same one, by the buffer itself. Otherwise a result in
/// the memory of an operand would be copied there as a whole.
void forwardBuffers(func::FuncOp body) {
  body.walk([](Operation *op) { // inner ones come first
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [result, argument, init, next] :
           llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs(), loop.getInitArgs(), loop.getYieldedValues()))
        if (isa<MemRefType>(result.getType()) && (next == argument || next == init)) {
          argument.replaceAllUsesWith(init);
          result.replaceAllUsesWith(init);
        }
    } else if (auto loop = dyn_cast<scf::WhileOp>(op); loop && llvm::equal(loop.getConditionOp().getArgs(), loop.getBeforeArguments())) {
      for (auto [result, before, after, init, next] :
           llvm::zip_equal(loop.getResults(), loop.getBeforeArguments(), loop.getAfterArguments(), loop.getInits(), loop.getYieldOp().getOperands()))
        if (isa<MemRefType>(result.getType()) && (next == after || next == init))
          for (Value handedOn : {Value(before), Value(after), Value(result)})
            handedOn.replaceAllUsesWith(init);
    } else if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch.getNumResults() > 0) {
      for (auto [result, left, right] : llvm::zip_equal(branch.getResults(), branch.thenYield().getOperands(), branch.elseYield().getOperands()))
        if (isa<MemRefType>(result.getType()) && left == right)
          result.replaceAllUsesWith(left);
    }
  });
}

/// Replaces memref.copy, which would call a C library function for strided buffers, by a loop nest.
void copiesToLinalg(func::FuncOp body) {
  IRRewriter rewriter(body.getContext());
  body.walk([&](memref::CopyOp copy) {
    if (copy.getSource() == copy.getTarget()) {
      rewriter.eraseOp(copy);
      return;
    }
    auto type = cast<MemRefType>(copy.getTarget().getType());
    rewriter.setInsertionPoint(copy);
    AffineMap map = rewriter.getMultiDimIdentityMap(type.getRank());
    SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
    linalg::GenericOp::create(rewriter, copy.getLoc(), ValueRange{copy.getSource()}, ValueRange{copy.getTarget()},
                              ArrayRef<AffineMap>{map, map}, iterators,
                              [](OpBuilder &b, Location loc, ValueRange args) {
                                linalg::YieldOp::create(b, loc, args.front());
                              });
    rewriter.eraseOp(copy);
  });
}

/// Replaces transfers of contiguous vectors that are within the bounds of a buffer by loads and stores.
void transfersToLoads(func::FuncOp body) {
  IRRewriter rewriter(body.getContext());
  body.walk([&](Operation *op) {
    rewriter.setInsertionPoint(op);
    if (auto read = dyn_cast<vector::TransferReadOp>(op))
      rewriter.replaceOpWithNewOp<vector::LoadOp>(read, read.getVectorType(), read.getBase(), read.getIndices());
    else if (auto write = dyn_cast<vector::TransferWriteOp>(op))
      rewriter.replaceOpWithNewOp<vector::StoreOp>(write, write.getVector(), write.getBase(), write.getIndices());
  });
}

/// Replaces memref.reshape by reinterpret_cast with loaded sizes: MLIR lowers the former for shapes of index type only. The source is contiguous, as
/// memref.reshape demands.
void reshapesToReinterpretCasts(func::FuncOp body) {
  body.walk([&](memref::ReshapeOp reshape) {
    auto type = dyn_cast<MemRefType>(reshape.getType());
    if (!type)
      return;
    OpBuilder builder(reshape);
    Location loc = reshape.getLoc();
    SmallVector<OpFoldResult> sizes, strides(type.getRank());
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (!type.isDynamicDim(d)) {
        sizes.push_back(builder.getIndexAttr(type.getDimSize(d)));
        continue;
      }
      Value position = arith::ConstantIndexOp::create(builder, loc, d);
      Value size = memref::LoadOp::create(builder, loc, reshape.getShape(), ValueRange{position});
      if (!size.getType().isIndex())
        size = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), size);
      sizes.push_back(size);
    }
    OpFoldResult stride = builder.getIndexAttr(1);
    for (int64_t d = type.getRank() - 1; d >= 0; --d) {
      strides[d] = stride;
      Value product = arith::MulIOp::create(builder, loc, getValueOrCreateConstantIndexOp(builder, loc, stride),
                                            getValueOrCreateConstantIndexOp(builder, loc, sizes[d]));
      stride = getAsOpFoldResult(product);
    }
    // Static inner sizes give static strides, which the result type states.
    auto [typeStrides, offset] = type.getStridesAndOffset();
    for (auto [d, typeStride] : llvm::enumerate(typeStrides))
      if (!ShapedType::isDynamic(typeStride))
        strides[d] = builder.getIndexAttr(typeStride);
    Value cast = memref::ReinterpretCastOp::create(builder, loc, type, reshape.getSource(),
                                                   OpFoldResult(builder.getIndexAttr(0)), sizes, strides);
    reshape.replaceAllUsesWith(cast);
    reshape.erase();
  });
}

/// Returns the trip count of `loop` if it runs from 0 in steps of 1 to a constant; else 0.
int64_t tripCount(scf::ForOp loop) {
  auto from = getConstantIntValue(loop.getLowerBound()), step = getConstantIntValue(loop.getStep());
  return from == 0 && step == 1 ? getConstantIntValue(loop.getUpperBound()).value_or(0) : 0;
}

/// Returns the loop of `body` that may run in parts, see Loops.h.
scf::ForOp parallelLoop(func::FuncOp body) {
  for (auto loop : body.getOps<scf::ForOp>())
    if ((loop->hasAttr(kParallelRowsAttr) || loop->hasAttr(kParallelPartsAttr)) && tripCount(loop) > 1)
      return loop;
  return {};
}

/// Returns the size of dimension 0 if all work of `body` consists of linalg operations whose outermost loop runs over it and every written buffer is
/// accessed only in the row of the current iteration: then rows are independent and may be computed by different calls. Else 1.
/// A parallel loop over the same number of rows may be part of the work; a parallel loop over parts must be all of it.
int64_t independentRows(func::FuncOp body) {
  SmallVector<linalg::LinalgOp> work;
  scf::ForOp loop = parallelLoop(body);
  for (Operation &op : body.getBody().front()) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      work.push_back(linalgOp);
    else if (&op == loop.getOperation())
      continue;
    else if (!isPure(&op) && !isa<memref::AllocOp, memref::AllocaOp, func::ReturnOp>(op))
      return 1;
    // A view of a written buffer could hide an access.
    else if (op.getNumResults() == 1 && isa<MemRefType>(op.getResult(0).getType()) &&
             !isa<memref::AllocOp, memref::AllocaOp>(op))
      return 1;
  }
  if (work.empty() || (loop && loop->hasAttr(kParallelPartsAttr)))
    return loop && work.empty() ? tripCount(loop) : 1;
  SmallPtrSet<Value, 8> written;
  if (loop)
    loop->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (isa<MemRefType>(operand.getType()))
          written.insert(operand);
    });
  for (linalg::LinalgOp op : work)
    for (Value output : op.getDpsInits())
      written.insert(output);
  int64_t rows = loop ? tripCount(loop) : ShapedType::kDynamic;
  for (linalg::LinalgOp op : work) {
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    if (ranges.empty() || ShapedType::isDynamic(ranges.front()) || !linalg::isParallelIterator(op.getIteratorTypesArray().front()))
      return 1;
    if (rows == ShapedType::kDynamic)
      rows = ranges.front();
    if (ranges.front() != rows)
      return 1;
    AffineExpr row = getAffineDimExpr(0, op->getContext());
    for (OpOperand &operand : op->getOpOperands()) {
      if (!written.contains(operand.get()))
        continue;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      if (map.getNumResults() == 0 || map.getResult(0) != row)
        return 1;
      for (AffineExpr rest : map.getResults().drop_front())
        if (rest.isFunctionOfDim(0))
          return 1;
    }
    // linalg.index of dimension 0 is allowed, but computed indices must not read written buffers.
    bool readsMemory = false;
    op->walk([&](memref::LoadOp load) { readsMemory |= written.contains(load.getMemRef()); });
    if (readsMemory)
      return 1;
  }
  return rows;
}

/// Lowers all linalg operations to scf.for nests. With `rows` > 1 the outermost loop of each top-level nest runs over [begin, end) instead.
LogicalResult linalgToLoops(func::FuncOp body, int64_t rows, Value begin, Value end) {
  SmallVector<linalg::LinalgOp> work;
  body.walk([&](linalg::LinalgOp op) { work.push_back(op); });
  IRRewriter rewriter(body.getContext());
  if (scf::ForOp loop = parallelLoop(body); loop && rows > 1) {
    loop.setLowerBound(begin);
    loop.setUpperBound(end);
  }
  for (linalg::LinalgOp op : work) {
    bool topLevel = op->getParentOp() == body;
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::LinalgLoops> loops = linalg::linalgOpToLoops(rewriter, op);
    if (failed(loops))
      return op->emitError("has no loops");
    if (topLevel && rows > 1) {
      auto outer = cast<scf::ForOp>(loops->front());
      outer.setLowerBound(begin);
      outer.setUpperBound(end);
    }
    rewriter.eraseOp(op);
  }
  return success();
}

/// Moves static temporaries to the scratch argument (small ones to the stack); returns its size in bytes.
int64_t allocsToScratch(func::FuncOp body, Value scratch) {
  // Larger temporaries of a kernel are placed in its scratch instead of on the stack. Unit: bytes. Source: judgement, not measured alone; chosen in
  // commit 9d7c236.
  constexpr int64_t kMaxStackBytes = 1024;
  int64_t offset = 0;
  DataLayout layout = DataLayout::closest(body);
  SmallVector<memref::AllocOp> allocs;
  body.walk([&](memref::AllocOp alloc) { allocs.push_back(alloc); });
  for (memref::AllocOp alloc : allocs) {
    MemRefType type = alloc.getType();
    if (!type.hasStaticShape())
      continue;
    int64_t bytes = type.getNumElements() * (int64_t)layout.getTypeSize(type.getElementType());
    OpBuilder builder(body.getContext());
    builder.setInsertionPointToStart(&body.getBody().front());
    Location loc = alloc.getLoc();
    Value buffer;
    if (bytes <= kMaxStackBytes) {
      buffer = memref::AllocaOp::create(builder, loc, type, builder.getI64IntegerAttr(runtime::kBufferAlignment));
    } else {
      Value start = arith::ConstantIndexOp::create(builder, loc, offset);
      buffer = memref::ViewOp::create(builder, loc, type, scratch, start, ValueRange{});
      offset += runtime::alignedBytes(bytes);
    }
    alloc.replaceAllUsesWith(buffer);
    alloc.erase();
  }
  body.walk([](memref::DeallocOp dealloc) {
    if (!dealloc.getMemref().getDefiningOp<memref::AllocOp>())
      dealloc.erase();
  });
  return offset;
}

/// Frees temporaries of dynamic size, which come from the C heap, where their block ends: no buffer leaves the block that allocates it, because
/// bufferization does not return allocations from loops.
void freeDynamicAllocs(func::FuncOp body) {
  body.walk([&](memref::AllocOp alloc) {
    OpBuilder builder(alloc->getBlock()->getTerminator());
    memref::DeallocOp::create(builder, alloc.getLoc(), alloc);
  });
}

/// Estimates the picoseconds of one execution of `block`.
double estimatePicos(Block &block) {
  double total = 0;
  for (Operation &op : block) {
    double times = 1;
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      for (int64_t range : linalgOp.getStaticLoopRanges())
        times *= ShapedType::isDynamic(range) ? 64 : range;
      total += 100 * times;
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      auto from = getConstantIntValue(loop.getLowerBound()), to = getConstantIntValue(loop.getUpperBound()),
           step = getConstantIntValue(loop.getStep());
      times = from && to && step && *step > 0 ? std::max<double>(0, double(*to - *from) / *step) : 64;
    } else if (isa<scf::WhileOp>(op)) {
      times = 64;
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        total += times * estimatePicos(inner);
    StringRef dialect = op.getDialect()->getNamespace();
    total += dialect == "math" ? 2000 : dialect == "arith" ? 150 : dialect == "complex" ? 600 : 0;
  }
  return total;
}

} // namespace

void addKernelCanonicalizer(OpPassManager &pm) {
  std::vector<std::string> disabled;
  for (StringRef pattern : {"WhileConditionTruth", "WhileCmpCond", "WhileOpAlignBeforeArgs", "WhileMoveIfDown",
                            "RemoveDuplicateSuccessorInputUses", "RemoveDeadRegionBranchOpSuccessorInputs",
                            "MakeRegionBranchOpSuccessorInputsDead"})
    disabled.push_back(("(anonymous namespace)::" + pattern).str());
  pm.addPass(createCanonicalizerPass(GreedyRewriteConfig(), disabled));
}

GenericLowering::GenericLowering(MLIRContext *context, bool verifyEach)
    : fuse(context, ModuleOp::getOperationName()), shareDestinations(context, ModuleOp::getOperationName()),
      bufferize(context, ModuleOp::getOperationName()) {
  for (PassManager *pm : {&fuse, &shareDestinations, &bufferize})
    pm->enableVerifier(verifyEach);
  fuse.addPass(createLinalgElementwiseOpFusionPass());
  addKernelCanonicalizer(fuse);
  fuse.addPass(createCSEPass());
  shareDestinations.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions options;
  options.allowReturnAllocsFromLoops = false;
  options.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  bufferize.addPass(bufferization::createOneShotBufferizePass(options));
  addKernelCanonicalizer(bufferize);
  bufferize.addPass(createCSEPass());
}

FailureOr<BufferKernel> GenericLowering::run(func::FuncOp fn) {
  auto module = fn->getParentOfType<ModuleOp>();
  BufferKernel kernel;
  kernel.emitter = "generic";
  std::string name = fn.getName().str();

  kernel.body = toDestinationStyle(fn, kernel.numInputs, kernel.numOutputs);
  std::string bodyName = kernel.body.getName().str();
  if (failed(fuse.run(module)))
    return failure();
  separateStarts(module.lookupSymbol<func::FuncOp>(bodyName));
  if (failed(shareDestinations.run(module)))
    return failure();
  carryInPlace(module.lookupSymbol<func::FuncOp>(bodyName));
  if (failed(bufferize.run(module)))
    return failure();
  kernel.body = module.lookupSymbol<func::FuncOp>(bodyName);
  forwardBuffers(kernel.body);
  copiesToLinalg(kernel.body);
  transfersToLoads(kernel.body);
  reshapesToReinterpretCasts(kernel.body);
  orderLoops(kernel.body);
  unsigned first = kernel.numInputs + kernel.numOutputs;
  kernel.rangeEnd = independentRows(kernel.body);
  kernel.picosPerIteration = estimatePicos(kernel.body.getBody().front()) / kernel.rangeEnd;
  kernel.heavyLoops = kernel.picosPerIteration * kernel.rangeEnd > 20e6;
  if (failed(linalgToLoops(kernel.body, kernel.rangeEnd, kernel.body.getArgument(first + 1),
                           kernel.body.getArgument(first + 2))))
    return failure();
  kernel.scratchBytes = allocsToScratch(kernel.body, kernel.body.getArgument(first));
  freeDynamicAllocs(kernel.body);
  return kernel;
}

} // namespace millrace::lowering
