// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CallRuntime.cpp - Replace sorts, scans and transforms by runtime calls ===//
// Input:   %s:2 = stablehlo.sort(%x, iota), dimension 1, by x ascending; stablehlo.fft %y, type = RFFT, length = [400]
// Output:  %s:2 = stablehlo.custom_call @millrace_sort(%x) {dimension = 1, keys = [0], descending = [0], total = [0],
//          results = [0, -1]}; stablehlo.custom_call @millrace_fft(%y) {type = "RFFT", length = [400]} (FourierCalls.cpp)
//          cumulative reduce_window: stablehlo.custom_call @millrace_scan(%z, %init) {...}; with a body of several operations: another
//          reduce_window along a dimension that is not the last (ScanColumns.cpp)
//          contractions with sparse constant matrices: FewTerms.cpp
//          triangular systems and factorizations: RealMatrices.cpp
//          lapack_ssyevd_ffi with mode 'V' and no use of the vectors: mode 'N'
// Leaves alone dynamic shapes, other comparators, sorts of lines of at most 16 elements unless there are many of them.
//===----------------------------------------------------------------------===//
#include "passes/Remarks.h"
#include "passes/calls/Cumulative.h"
#include "passes/calls/Passes.h"
#include "passes/calls/RuntimeCall.h"
#include "passes/calls/SortOrder.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::calls {
#define GEN_PASS_DEF_CALLRUNTIMEPASS
#include "passes/calls/Passes.h.inc"

CustomCallOp callRuntime(OpBuilder &builder, Location loc, StringRef target, TypeRange results, ValueRange operands,
                         ArrayRef<NamedAttribute> config) {
  NamedAttribute attributes[] = {builder.getNamedAttr("call_target_name", builder.getStringAttr(target)),
                                 builder.getNamedAttr("has_side_effect", builder.getBoolAttr(false)),
                                 builder.getNamedAttr("mhlo.backend_config", builder.getDictionaryAttr(config))};
  return CustomCallOp::create(builder, loc, results, operands, attributes);
}

bool hasStaticShapes(Operation *op) {
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  return llvm::all_of(op->getOperandTypes(), isStatic) && llvm::all_of(op->getResultTypes(), isStatic);
}

namespace {

/// Shorter lines are sorted by a kernel, unless there are many. Unit: elements of a line. Source: judgement, not measured alone; commit 4b4b198 has
/// the figures of the whole change.
constexpr int64_t kMaxSortedInKernel = 16;
/// With fewer elements a call costs more than it saves. Unit: elements. Source: judgement, not measured alone; commit 4b4b198 has the figures of the
/// whole change.
constexpr int64_t kMinCallElements = 4096;
/// Returns true if elements of this type can be copied as bytes.
bool hasBytes(Type element) {
  auto complex = dyn_cast<ComplexType>(element);
  return hasOrderedBits(element) || (complex && (complex.getElementType().isF32() || complex.getElementType().isF64()));
}

/// Explains why `op`, which a function of the runtime could compute, stays.
void stays(Operation *op, const Twine &why) { remarkMissed(op, "xla-call-runtime", why); }

void callSort(SortOp op) {
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  int64_t rank = type.getRank(), dimension = int64_t(op.getDimension());
  if (!hasStaticShapes(op))
    return stays(op, "sizes are not known");
  if (rank == 0)
    return;
  if (dimension < 0)
    dimension += rank;
  int64_t length = type.getDimSize(dimension);
  if (length <= kMaxSortedInKernel && type.getNumElements() <= kMinCallElements)
    return stays(op, "a kernel sorts a few lines of " + Twine(length) + " elements faster");
  if (length > std::numeric_limits<uint32_t>::max())
    return stays(op, "positions do not fit into 32 bits");
  if (!llvm::all_of(op->getOperandTypes(), [](Type operand) { return hasBytes(getElementTypeOrSelf(operand)); }))
    return stays(op, "an operand has elements that are not whole bytes");
  std::optional<SmallVector<OrderKey>> order = orderOf(op.getComparator().front());
  if (!order)
    return stays(op, "its comparator is no order of the operands");
  SetVector<Value> operands;
  SmallVector<int64_t> keys, descending, total, sources;
  for (const OrderKey &key : *order) {
    Value operand = op->getOperand(key.operand);
    if (!hasOrderedBits(getElementTypeOrSelf(operand.getType())))
      return stays(op, "the bits of a key do not have the order of its elements");
    operands.insert(operand);
    keys.push_back(llvm::find(operands, operand) - operands.begin());
    descending.push_back(key.descending);
    total.push_back(key.total);
  }
  SmallVector<OpResult> used;
  SmallVector<Type> types;
  for (OpResult result : op->getResults()) {
    if (result.use_empty())
      continue;
    Value operand = op->getOperand(result.getResultNumber());
    used.push_back(result);
    types.push_back(result.getType());
    if (!operands.contains(operand) && countsUp(operand, dimension)) {
      sources.push_back(-1);
      continue;
    }
    operands.insert(operand);
    sources.push_back(llvm::find(operands, operand) - operands.begin());
  }
  OpBuilder b(op);
  auto list = [&](StringRef name, ArrayRef<int64_t> values) { return b.getNamedAttr(name, b.getDenseI64ArrayAttr(values)); };
  NamedAttribute config[] = {b.getNamedAttr("dimension", b.getI64IntegerAttr(dimension)), list("keys", keys),
                             list("descending", descending), list("total", total), list("results", sources)};
  auto call = callRuntime(b, op.getLoc(), "millrace_sort", types, operands.getArrayRef(), config);
  for (auto [before, after] : llvm::zip_equal(used, call->getResults()))
    before.replaceAllUsesWith(after);
  SetVector<Value> inputs(op->operand_begin(), op->operand_end());
  op.erase();
  for (Value input : inputs)
    if (Operation *maker = input.getDefiningOp(); maker && isOpTriviallyDead(maker))
      maker->erase();
}

void callScan(ReduceWindowOp op) {
  if (!hasStaticShapes(op))
    return;
  std::optional<Cumulative> cumulative = cumulativeOf(op);
  if (cumulative && !cumulative->reducer)
    return scanColumns(op, *cumulative);
  if (!cumulative)
    return;
  if (!isa<AddOp, MulOp, MinOp, MaxOp>(cumulative->reducer))
    return stays(op, "its reduction is no sum, product, minimum or maximum");
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  Type element = type.getElementType();
  bool isNumber = element.isF32() || element.isF64() || (isa<IntegerType>(element) && element.getIntOrFloatBitWidth() >= 32);
  bool isNarrow = element.isF16() || element.isBF16();
  if (!(isNumber || isNarrow))
    return stays(op, "its elements are not f16, bf16, f32, f64 or integers of at least 32 bits");
  if (type.getNumElements() <= kMinCallElements)
    return stays(op, "a kernel computes " + Twine(type.getNumElements()) + " elements faster");
  if (op->getResult(0).getType() != type || getElementTypeOrSelf(op->getOperand(1).getType()) != element ||
      getElementTypeOrSelf(op.getBody().getArgument(0).getType()) != element)
    return stays(op, "it accumulates in another type than that of its elements");
  OpBuilder b(op);
  NamedAttribute config[] = {b.getNamedAttr("dimension", b.getI64IntegerAttr(cumulative->dimension)),
                             b.getNamedAttr("reverse", b.getBoolAttr(cumulative->reverse)),
                             b.getNamedAttr("reduction", b.getStringAttr(cumulative->reducer->getName().stripDialect()))};
  // Narrow floats are computed in f32, as in other reductions: a prefix is rounded when it is stored, not before the next step.
  SmallVector<Value> operands(op->getOperands());
  if (isNarrow)
    for (Value &operand : operands)
      operand = ConvertOp::create(b, op.getLoc(), operand, b.getF32Type());
  Value result = callRuntime(b, op.getLoc(), "millrace_scan", operands[0].getType(), operands, config).getResult(0);
  if (isNarrow)
    result = ConvertOp::create(b, op.getLoc(), result, element);
  op->getResult(0).replaceAllUsesWith(result);
  op.erase();
}

/// Drops unused eigenvectors, which JAX always asks for: LAPACK computes the eigenvalues alone in half the time.
void dropVectors(CustomCallOp op) {
  StringRef target = op.getCallTargetName();
  bool isSymmetric = target == "lapack_ssyevd_ffi" || target == "lapack_dsyevd_ffi" || target == "lapack_cheevd_ffi" ||
                     target == "lapack_zheevd_ffi";
  auto config = op->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
  auto mode = config ? config.getAs<IntegerAttr>("mode") : IntegerAttr();
  if (!isSymmetric || op->getNumResults() != 3 || !op->getResult(0).use_empty() || !mode || mode.getValue() != 'V')
    return;
  NamedAttrList changed(config);
  changed.set("mode", IntegerAttr::get(mode.getType(), 'N'));
  op->setAttr("mhlo.backend_config", changed.getDictionary(op.getContext()));
}

struct CallRuntime : impl::CallRuntimePassBase<CallRuntime> {
  using CallRuntimePassBase::CallRuntimePassBase;
  void runOnOperation() override {
    SmallVector<Operation *> found;
    getOperation().walk([&](Operation *op) {
      if (isa<SortOp, FftOp, ReduceWindowOp, DotGeneralOp, CustomCallOp, CholeskyOp, TriangularSolveOp>(op))
        found.push_back(op);
    });
    for (Operation *op : found)
      if (auto sort = dyn_cast<SortOp>(op))
        callSort(sort);
      else if (auto fft = dyn_cast<FftOp>(op))
        callFft(fft);
      else if (auto dot = dyn_cast<DotGeneralOp>(op))
        callFewTerms(dot);
      else if (auto scan = dyn_cast<ReduceWindowOp>(op))
        callScan(scan);
      else {
        if (auto call = dyn_cast<CustomCallOp>(op))
          dropVectors(call);
        callMatrices(op);
      }
  }
};

} // namespace
} // namespace millrace::calls
