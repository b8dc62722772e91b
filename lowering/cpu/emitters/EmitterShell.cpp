// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmitterShell.cpp - The function that emitters generate -------------===//
#include "lowering/cpu/emitters/EmitterShell.h"

#include "runtime/base/Alignment.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace millrace::lowering {

Type storageType(Type element) {
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8) : element;
}

func::FuncOp createShell(func::FuncOp kernel, const KernelModel &model) {
  OpBuilder b(kernel);
  b.setInsertionPointAfter(kernel);
  SmallVector<Type> types;
  for (auto [elements, type] : llvm::zip(model.bufferElements, model.bufferTypes))
    types.push_back(MemRefType::get({elements}, type));
  types.push_back(MemRefType::get({ShapedType::kDynamic}, b.getI8Type()));
  types.append(2, b.getIndexType());
  auto shell =
      func::FuncOp::create(b, kernel.getLoc(), (kernel.getName() + "_range").str(), b.getFunctionType(types, {}));
  shell.setPrivate();
  Block *entry = shell.addEntryBlock();
  b.setInsertionPointToStart(entry);
  func::ReturnOp::create(b, kernel.getLoc());
  return shell;
}

Value Scratch::take(Type type, int64_t elements) {
  type = storageType(type);
  OpBuilder b(shell.getContext());
  b.setInsertionPointToStart(&shell.getBody().front());
  Value offset = arith::ConstantIndexOp::create(b, shell.getLoc(), used);
  used += runtime::alignedBytes(elements * type.getIntOrFloatBitWidth() / 8);
  Value all = shell.getArgument(shell.getNumArguments() - 3);
  return memref::ViewOp::create(b, shell.getLoc(), MemRefType::get({elements}, type), all, offset, ValueRange{});
}

scf::ForOp openLoop(PointEvaluator &at, Value begin, Value end, int64_t step, ValueRange inits) {
  Value by = at.constant(step);
  OpBuilder b = at.builder();
  return scf::ForOp::create(b, at.loc(), begin, end, by, inits);
}

void yieldFrom(scf::ForOp loop, ValueRange next) {
  if (loop.getInitArgs().empty())
    return;
  OpBuilder b(loop.getContext());
  b.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(b, loop.getLoc(), next);
}

SmallVector<Value> foldLanes(PointEvaluator &at, SmallVector<Value> values,
                             llvm::function_ref<SmallVector<Value>(ArrayRef<Value>, ArrayRef<Value>)> combine) {
  int64_t width = at.lanes();
  for (int64_t half = width / 2; half >= 2; half /= 2) {
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < width; ++lane)
      order.push_back((lane + half) % width);
    SmallVector<Value> upper;
    for (Value value : values) {
      OpBuilder b = at.builder();
      upper.push_back(vector::ShuffleOp::create(b, at.loc(), value, value, order));
    }
    values = combine(values, upper);
  }
  // The last two lanes are combined as scalars: LLVM 22.1.8 narrows a vector compare of which only lane 0 is used, and for f64 then compares that
  // lane with itself (wrong argmax on AVX-512).
  SmallVector<Value> second;
  for (Value &value : values) {
    OpBuilder b = at.builder();
    second.push_back(vector::ExtractOp::create(b, at.loc(), value, int64_t(1)));
    value = vector::ExtractOp::create(b, at.loc(), value, int64_t(0));
  }
  return combine(values, second);
}

void bindLinear(PointEvaluator &at, Value linear, ArrayRef<int> atoms) {
  const KernelModel &model = at.kernel();
  for (size_t i = atoms.size(); i-- > 0;) {
    int atom = atoms[i];
    if (i == 0) {
      at.bindIndex(atom, linear);
      return;
    }
    Value size = at.constant(model.atomSizes[atom]);
    OpBuilder b = at.builder();
    Value index = arith::RemUIOp::create(b, at.loc(), linear, size);
    linear = arith::DivUIOp::create(b, at.loc(), linear, size);
    at.bindIndex(atom, index);
  }
}

LogicalResult refuse(func::FuncOp fn, StringRef emitter, const Twine &why) {
  remark::missed(fn.getLoc(), remark::RemarkOpts::name("NotEmitted").category("emitters").function(fn.getName()))
      << (emitter + ": " + why).str();
  return failure();
}

FailureOr<KernelModel> modelFor(func::FuncOp fn, StringRef emitter) {
  std::string why;
  FailureOr<KernelModel> model = buildKernelModel(fn, why);
  return succeeded(model) ? std::move(model) : FailureOr<KernelModel>(refuse(fn, emitter, why));
}

FailureOr<EmittedKernel> conclude(func::FuncOp kernel, func::FuncOp shell, StringRef emitter, bool isWhole) {
  if (!isWhole) {
    shell.erase();
    return refuse(kernel, emitter, "internal fault: a value was needed where it is not known");
  }
  EmittedKernel out;
  out.fn = shell;
  out.emitter = emitter.str();
  return out;
}

runtime::RowRange rowRange(const KernelModel &model, ArrayRef<int> order, int64_t rangeEnd, int64_t perUnit) {
  if (order.empty() || order.front() != model.rowAtom)
    return {};
  return {model.rowIndices, perUnit, rangeEnd / int64_t(llvm::divideCeil(model.atomSizes[model.rowAtom], perUnit)), model.rowIndices % perUnit == 0};
}

Value rowsToCome(func::FuncOp shell) {
  OpBuilder b(shell.getContext());
  b.setInsertionPointToStart(&shell.getBody().front());
  // No constant, which would be folded.
  return UnrealizedConversionCastOp::create(b, shell.getLoc(), b.getIndexType(), ValueRange{}).getResult(0);
}

void takeRows(func::FuncOp shell, Value rowsToCome) {
  Block &entry = shell.getBody().front();
  Value rows = entry.addArgument(IndexType::get(shell.getContext()), shell.getLoc());
  Operation *stood = rowsToCome.getDefiningOp();
  rowsToCome.replaceAllUsesWith(rows);
  stood->erase();
  shell.setFunctionType(FunctionType::get(shell.getContext(), entry.getArgumentTypes(), {}));
}

SmallVector<int> outermostFirst(const KernelModel &model, AtomSet atoms) {
  SmallVector<int> order = members(atoms);
  auto weight = [&](int atom) {
    int64_t best = 0;
    model.forEachAccess([&](const Access &access, bool) {
      best = std::max(best, std::abs(access.address.coefficient(atom)));
    });
    return best;
  };
  llvm::sort(order, [&](int a, int b) {
    if (a == model.rowAtom || b == model.rowAtom)
      return a == model.rowAtom && b != a;
    int64_t wa = weight(a), wb = weight(b);
    return wa != wb ? wa > wb : a < b;
  });
  return order;
}

TypedAttr identityOf(Operation *combine, Type type) {
  Builder b(combine->getContext());
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const auto &semantics = floatType.getFloatSemantics();
    if (isa<arith::AddFOp>(combine))
      return b.getFloatAttr(type, APFloat::getZero(semantics, /*Negative=*/true));
    if (isa<arith::MulFOp>(combine))
      return b.getFloatAttr(type, APFloat::getOne(semantics));
    if (isa<arith::MaximumFOp, arith::MaxNumFOp>(combine))
      return b.getFloatAttr(type, APFloat::getInf(semantics, /*Negative=*/true));
    if (isa<arith::MinimumFOp, arith::MinNumFOp>(combine))
      return b.getFloatAttr(type, APFloat::getInf(semantics));
    return {};
  }
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return {};
  unsigned width = integer.getWidth();
  if (isa<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(combine))
    return b.getIntegerAttr(type, APInt::getZero(width));
  if (isa<arith::MulIOp>(combine))
    return b.getIntegerAttr(type, APInt(width, 1));
  if (isa<arith::AndIOp, arith::MinUIOp>(combine))
    return b.getIntegerAttr(type, APInt::getAllOnes(width));
  if (isa<arith::MaxSIOp>(combine))
    return b.getIntegerAttr(type, APInt::getSignedMinValue(width));
  if (isa<arith::MinSIOp>(combine))
    return b.getIntegerAttr(type, APInt::getSignedMaxValue(width));
  return {};
}

} // namespace millrace::lowering
