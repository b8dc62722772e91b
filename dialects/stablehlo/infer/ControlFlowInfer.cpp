// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlFlowInfer.cpp - Result types of while, case, if, barrier, tuples -===//
#include "dialects/stablehlo/ControlFlowOps.h"

using namespace mlir;
namespace millrace::stablehlo {

/// Branches have no arguments and return compatible types; the result type admits the results of every branch.
static LogicalResult inferConditional(std::optional<Location> loc, Value selector, RegionRange branches,
                                      SmallVectorImpl<Type> &results) {
  int64_t rank = cast<RankedTensorType>(selector.getType()).getRank();
  if (rank != 0)
    return emitOptionalError(loc, "operand should be rank 0 tensor but got rank ", rank);
  if (branches.empty())
    return emitOptionalError(loc, "expect at least one branch");
  for (Region *branch : branches)
    if (branch->empty() || branch->front().empty())
      return emitOptionalError(loc, "expect non-empty region");
  auto returned = [](Region *branch) { return branch->front().getTerminator()->getOperandTypes(); };
  TypeRange first = returned(branches[0]);
  for (auto [index, branch] : llvm::enumerate(branches)) {
    if (branch->getNumArguments() != 0)
      return emitOptionalError(loc, "branch ", index, " must have 0 arguments, but found ", branch->getNumArguments());
    if (!isCompatibleForHloTypeInference(first, returned(branch)))
      return emitOptionalError(loc, "branch 0 and branch ", index, " have mismatched return types: ", first, " vs ",
                               TypeRange(returned(branch)));
  }
  for (size_t i = 0; i != first.size(); ++i) {
    SmallVector<Type> types;
    for (Region *branch : branches)
      types.push_back(returned(branch)[i]);
    FailureOr<Type> merged = inferLeastSpecificType(loc, types);
    if (failed(merged))
      return failure();
    results.push_back(*merged);
  }
  return success();
}

LogicalResult IfOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                     SmallVectorImpl<Type> &results) {
  return inferConditional(loc, adaptor.getPred(), adaptor.getRegions(), results);
}

LogicalResult CaseOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  return inferConditional(loc, adaptor.getIndex(), adaptor.getRegions(), results);
}

LogicalResult WhileOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                        SmallVectorImpl<Type> &results) {
  llvm::append_range(results, adaptor.getOperand().getTypes());
  return success();
}

LogicalResult OptimizationBarrierOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                                      SmallVectorImpl<Type> &results) {
  llvm::append_range(results, adaptor.getOperand().getTypes());
  return success();
}

LogicalResult GetTupleElementOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                  SmallVectorImpl<Type> &results) {
  auto tuple = dyn_cast<TupleType>(adaptor.getOperand().getType());
  if (!tuple)
    return failure();
  int64_t index = adaptor.getIndex();
  if (index < 0 || index >= int64_t(tuple.size()))
    return emitOptionalError(loc, "index ", index, " is out of bounds of operand with size ", tuple.size());
  results.push_back(tuple.getType(index));
  return success();
}

LogicalResult TupleOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                        SmallVectorImpl<Type> &results) {
  results.push_back(TupleType::get(context, adaptor.getVal().getTypes()));
  return success();
}

} // namespace millrace::stablehlo
