// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RefineArguments.cpp - Static argument types for the main function --===//
// Input:   func.func @main(%arg0: tensor<?xf32>) { .. %arg0 .. }          with types='tensor<16xf32>'
// Output:  func.func @main(%arg0: tensor<16xf32>) {
//            %0 = stablehlo.constant dense<16> : tensor<1xi64>
//            %1 = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%arg0, %0) : .. -> tensor<?xf32>
// Leaves alone arguments that have their type already. stablehlo-refine-shapes takes the wrappers away again.
#include "passes/simplify/Passes.h"

#include "dialects/stablehlo/Ops.h"
#include "mlir/AsmParser/AsmParser.h"

using namespace mlir;
using namespace millrace::stablehlo;
namespace millrace::simplify {

#define GEN_PASS_DEF_STABLEHLOREFINEARGUMENTSPASS
#include "passes/simplify/Passes.h.inc"

namespace {

struct RefineArguments : impl::StablehloRefineArgumentsPassBase<RefineArguments> {
  using Base::Base;

  LogicalResult parseTypes(SmallVectorImpl<Type> &types) {
    // The commas inside of types separate nothing, so the option is read as the inputs of a function type.
    std::string text = "(";
    llvm::raw_string_ostream os(text);
    llvm::interleave(refinedTypesOption, os, ",");
    os << ") -> ()";
    auto function = dyn_cast_or_null<FunctionType>(parseType(text, &getContext()));
    if (!function)
      return failure();
    llvm::append_range(types, function.getInputs());
    return success();
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<Type> types;
    if (failed(parseTypes(types))) {
      module.emitError("expects option 'types' to be a list of types");
      return signalPassFailure();
    }
    auto function = module.lookupSymbol<func::FuncOp>("main");
    if (!function && llvm::hasSingleElement(module.getOps<func::FuncOp>()))
      function = *module.getOps<func::FuncOp>().begin();
    if (!function || function.isExternal()) {
      module.emitError("expects a function @main, or a single function");
      return signalPassFailure();
    }
    if (function.getNumArguments() != types.size()) {
      function.emitError("number of refinements must match number of op operands ")
          << types.size() << " vs " << function.getNumArguments();
      return signalPassFailure();
    }
    auto builder = OpBuilder::atBlockBegin(&function.front());
    for (auto [index, refined] : llvm::enumerate(types)) {
      BlockArgument argument = function.getArgument(index);
      Type original = argument.getType();
      if (original == refined)
        continue;
      auto shaped = dyn_cast<RankedTensorType>(refined);
      if (!shaped || !shaped.hasStaticShape() || !isCompatibleForHloTypeInference(refined, original)) {
        function.emitError("invalid refinement for argument ")
            << index << ", refinement type must be a static tensor compatible with the argument: " << refined << " vs "
            << original;
        return signalPassFailure();
      }
      argument.setType(refined);
      if (argument.use_empty())
        continue;
      Location loc = argument.getLoc();
      auto shapeType = RankedTensorType::get({shaped.getRank()}, builder.getI64Type());
      Value shape = ConstantOp::create(builder, loc, DenseIntElementsAttr::get(shapeType, shaped.getShape()));
      NamedAttribute attributes[] = {
          builder.getNamedAttr("call_target_name",
                               builder.getStringAttr("stablehlo.shape_refinement_operand_wrapper")),
          builder.getNamedAttr("indices_of_shape_operands", builder.getI64TensorAttr({1}))};
      auto wrapper =
          CustomCallOp::create(builder, loc, TypeRange(original), ValueRange({argument, shape}), attributes);
      argument.replaceAllUsesExcept(wrapper.getResult(0), wrapper);
    }
    function.setFunctionType(
        builder.getFunctionType(function.front().getArgumentTypes(), function.getFunctionType().getResults()));
  }
};

} // namespace
} // namespace millrace::simplify
