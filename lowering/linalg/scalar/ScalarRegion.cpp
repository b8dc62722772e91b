// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarRegion.cpp - Regions of reducers and others on scalars -------===//
// Input:   ^bb0(%a: tensor<f32>, %b: tensor<f32>): %0 = stablehlo.add %a, %b ; stablehlo.return %0
//          with two f32 scalars
// Output:  arith.addf of them; the values returned
// Leaves alone (fails with a diagnostic) regions with operations that have no meaning on scalars.
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/scalar/ScalarBuilder.h"
#include "lowering/linalg/scalar/ScalarOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

class RegionEmitter {
public:
  RegionEmitter(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  FailureOr<SmallVector<Value>> emitRegion(Region &region, ValueRange arguments) {
    if (!llvm::hasSingleElement(region) || region.getNumArguments() != arguments.size()) {
      region.getParentOp()->emitOpError("expects a region of one block with ") << arguments.size() << " arguments";
      return failure();
    }
    Block &block = region.front();
    for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
      mapping.map(argument, value);
    for (Operation &op : block.without_terminator())
      if (failed(emitOp(op)))
        return failure();
    return lookupAll(block.getTerminator()->getOperands());
  }

private:
  static Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }

  /// Returns the compute value of `value`. A tensor from outside of the region is read here.
  FailureOr<Value> lookup(Value value) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || type.getRank() != 0)
      return failure();
    if (auto constant = value.getDefiningOp<stablehlo::ConstantOp>()) {
      if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
        return emitConstant(builder, loc, dense, type.getElementType());
    }
    Type storageType = RankedTensorType::get({}, storageElementType(type.getElementType()));
    Value storage = value;
    if (storageType != type)
      storage = UnrealizedConversionCastOp::create(builder, loc, storageType, value).getResult(0);
    Value element = tensor::ExtractOp::create(builder, loc, storage, ValueRange{});
    return toCompute(builder, loc, element, type.getElementType());
  }

  FailureOr<SmallVector<Value>> lookupAll(ValueRange values) {
    SmallVector<Value> result;
    for (Value value : values) {
      FailureOr<Value> found = lookup(value);
      if (failed(found)) {
        emitError(value.getLoc()) << "expects a tensor of rank 0 here, but got " << value.getType();
        return failure();
      }
      result.push_back(*found);
    }
    return result;
  }

  LogicalResult emitOp(Operation &op) {
    using namespace stablehlo;
    return TypeSwitch<Operation *, LogicalResult>(&op)
        .Case<ConstantOp>([&](ConstantOp constant) {
          auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
          if (!dense || !dense.isSplat())
            return unsupported(op);
          mapping.map(constant.getResult(), emitConstant(builder, op.getLoc(), dense, elementOf(constant.getResult())));
          return success();
        })
        .Case<IfOp>([&](IfOp ifOp) { return emitIf(ifOp); })
        .Case<CaseOp>([&](CaseOp caseOp) { return emitCase(caseOp); })
        .Case<WhileOp>([&](WhileOp whileOp) { return emitWhile(whileOp); })
        .Case<func::CallOp>([&](func::CallOp call) { return emitCall(call); })
        .Default([&](Operation *) { return emitPlain(op); });
  }

  LogicalResult emitPlain(Operation &op) {
    FailureOr<SmallVector<Value>> operands = lookupAll(op.getOperands());
    if (failed(operands))
      return failure();
    // Every operation that moves elements is the identity on a scalar.
    if (isa<stablehlo::BroadcastInDimOp, stablehlo::BroadcastOp, stablehlo::ReshapeOp, stablehlo::TransposeOp,
            stablehlo::ReverseOp, stablehlo::OptimizationBarrierOp>(op)) {
      for (auto [result, operand] : llvm::zip_equal(op.getResults(), *operands)) {
        if (!isScalar(result))
          return unsupported(op);
        mapping.map(result, operand);
      }
      return success();
    }
    FailureOr<Value> result = failure();
    if (op.getNumResults() == 1 && isScalar(op.getResult(0)))
      result = emitScalar(builder, &op, *operands);
    if (failed(result))
      return unsupported(op);
    mapping.map(op.getResult(0), roundToElement(builder, op.getLoc(), *result, elementOf(op.getResult(0))));
    return success();
  }

  static bool isScalar(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getRank() == 0;
  }

  static LogicalResult unsupported(Operation &op) {
    return op.emitOpError("has no lowering to scalars inside of a region that works element by element");
  }

  SmallVector<Type> computeTypes(TypeRange types) {
    SmallVector<Type> result;
    for (Type type : types)
      result.push_back(computeElementType(getElementTypeOrSelf(type)));
    return result;
  }

  /// Emits `region` into a new block of `target`, which ends with an scf.yield of the values that the region returns.
  LogicalResult emitInto(Region &target, Region &region, TypeRange argumentTypes, Location opLoc) {
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Location> locs(argumentTypes.size(), opLoc);
    Block *block = builder.createBlock(&target, target.end(), argumentTypes, locs);
    FailureOr<SmallVector<Value>> values = emitRegion(region, block->getArguments());
    if (failed(values))
      return failure();
    scf::YieldOp::create(builder, opLoc, *values);
    return success();
  }

  LogicalResult emitIf(stablehlo::IfOp op) {
    FailureOr<Value> predicate = lookup(op.getPred());
    if (failed(predicate))
      return unsupported(*op);
    auto ifOp = scf::IfOp::create(builder, op.getLoc(), computeTypes(op->getResultTypes()), *predicate,
                                  /*addThenBlock=*/false, /*addElseBlock=*/false);
    if (failed(emitInto(ifOp.getThenRegion(), op.getTrueBranch(), {}, op.getLoc())) ||
        failed(emitInto(ifOp.getElseRegion(), op.getFalseBranch(), {}, op.getLoc())))
      return failure();
    mapping.map(op->getResults(), ifOp.getResults());
    return success();
  }

  LogicalResult emitCase(stablehlo::CaseOp op) {
    FailureOr<Value> index = lookup(op.getIndex());
    if (failed(index))
      return unsupported(*op);
    // The last branch is also taken for every index out of range.
    MutableArrayRef<Region> branches = op.getBranches();
    SmallVector<int64_t> cases = llvm::to_vector(llvm::seq<int64_t>(0, branches.size() - 1));
    ScalarBuilder b(builder, op.getLoc());
    auto switchOp = scf::IndexSwitchOp::create(builder, op.getLoc(), computeTypes(op->getResultTypes()),
                                               b.toIndex(*index), cases, cases.size());
    for (auto [position, branch] : llvm::enumerate(branches)) {
      Region &target = position < cases.size() ? switchOp.getCaseRegions()[position] : switchOp.getDefaultRegion();
      if (failed(emitInto(target, branch, {}, op.getLoc())))
        return failure();
    }
    mapping.map(op->getResults(), switchOp.getResults());
    return success();
  }

  LogicalResult emitWhile(stablehlo::WhileOp op) {
    FailureOr<SmallVector<Value>> inits = lookupAll(op->getOperands());
    if (failed(inits))
      return failure();
    SmallVector<Type> types = computeTypes(op->getResultTypes());
    auto whileOp = scf::WhileOp::create(builder, op.getLoc(), types, *inits);
    {
      OpBuilder::InsertionGuard guard(builder);
      SmallVector<Location> locs(types.size(), op.getLoc());
      Block *before = builder.createBlock(&whileOp.getBefore(), {}, types, locs);
      FailureOr<SmallVector<Value>> goesOn = emitRegion(op.getCond(), before->getArguments());
      if (failed(goesOn))
        return failure();
      scf::ConditionOp::create(builder, op.getLoc(), goesOn->front(), before->getArguments());
    }
    if (failed(emitInto(whileOp.getAfter(), op.getBody(), types, op.getLoc())))
      return failure();
    mapping.map(op->getResults(), whileOp.getResults());
    return success();
  }

  LogicalResult emitCall(func::CallOp op) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
    if (!callee || callee.isExternal() || depth > 64)
      return unsupported(*op);
    FailureOr<SmallVector<Value>> operands = lookupAll(op.getOperands());
    if (failed(operands))
      return failure();
    // Each call gets a mapping of its own, because calls of one function give its values different meanings.
    RegionEmitter inner(builder, op.getLoc());
    inner.depth = depth + 1;
    FailureOr<SmallVector<Value>> results = inner.emitRegion(callee.getBody(), *operands);
    if (failed(results))
      return failure();
    mapping.map(op->getResults(), *results);
    return success();
  }

  OpBuilder &builder;
  Location loc;
  IRMapping mapping;
  unsigned depth = 0;
};

} // namespace

FailureOr<SmallVector<Value>> emitScalarRegion(OpBuilder &builder, Location loc, Region &region, ValueRange arguments) {
  return RegionEmitter(builder, loc).emitRegion(region, arguments);
}

} // namespace millrace::lowering
