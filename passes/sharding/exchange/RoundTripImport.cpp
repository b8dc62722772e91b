// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RoundTripImport.cpp - sdy back from text that HLO kept -------------===//
// Input:   %0 = stablehlo.custom_call @Sharding(%x) {mhlo.frontend_attributes = {xla.sdy.sharding = "..."}}
// Output:  %0 = sdy.sharding_constraint %x <@mesh, [{"a", ?}]> : tensor<8xf32>
// Leaves alone @Sharding calls that only have an mhlo.sharding string: xla-import-hlo-shardings reads those.
#include "passes/sharding/exchange/RoundTrip.h"

#include "passes/sharding/ShardingWalk.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_ROUNDTRIPIMPORTSHARDYATTRSPASS
#define GEN_PASS_DEF_IMPORTSDYCUSTOMCALLSPASS
#define GEN_PASS_DEF_IMPORTCONSTANTSPASS
#define GEN_PASS_DEF_OPENWHILEFREEVARSSHARDINGPASS
#include "passes/sharding/RoundTripPasses.h.inc"

namespace {

/// The same axes; more may be added.
sdy::TensorShardingAttr opened(sdy::TensorShardingAttr sharding, bool keepAxes) {
  SmallVector<sdy::DimensionShardingAttr> dims;
  for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
    dims.push_back(sdy::DimensionShardingAttr::get(dim.getContext(), keepAxes ? dim.getAxes() : ArrayRef<sdy::AxisRefAttr>(),
                                                   /*is_closed=*/false, keepAxes ? dim.getPriority() : std::nullopt));
  if (keepAxes)
    return withDims(sharding, dims);
  return sdy::TensorShardingAttr::get(sharding.getContext(), sharding.getMeshOrRef(), dims);
}

bool isPythonCallback(Operation *op) {
  auto call = dyn_cast<stablehlo::CustomCallOp>(op);
  return call && llvm::StringSwitch<bool>(call.getCallTargetName())
                     .Cases({"xla_python_cpu_callback", "xla_python_gpu_callback", "xla_ffi_python_cpu_callback",
                             "xla_ffi_python_gpu_callback", "xla_ffi_partitioned_python_cpu_callback",
                             "xla_ffi_partitioned_python_gpu_callback"},
                            true)
                     .Default(false);
}

struct ImportShardyAttrs : impl::RoundTripImportShardyAttrsPassBase<ImportShardyAttrs> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(importMeshes(module)) || failed(importSignature(module)))
      return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(importFunction(function)))
        return signalPassFailure();
  }

  LogicalResult importMeshes(ModuleOp module) {
    DictionaryAttr frontend = frontendAttrs(module);
    if (!frontend || !frontend.contains(frontend::meshes))
      return success();
    auto meshes = parseFrontendAttr<DictionaryAttr>(frontend, frontend::meshes);
    if (!meshes)
      return module.emitError() << frontend::meshes << ": expected a dictionary of meshes, but got " << frontend.get(frontend::meshes);
    SymbolTable symbols(module);
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    for (NamedAttribute entry : meshes) {
      auto text = dyn_cast<StringAttr>(entry.getValue()); // of old, a string inside of the string
      auto mesh = dyn_cast_or_null<sdy::MeshAttr>(text ? parseFrontendAttr(meshes, entry.getName()) : entry.getValue());
      if (!mesh)
        return module.emitError() << frontend::meshes << ": expected a mesh, but got " << entry.getValue() << " for " << entry.getName();
      if (auto known = symbols.lookup<sdy::MeshOp>(entry.getName()); known && known.getMesh() == mesh)
        continue;
      symbols.insert(sdy::MeshOp::create(builder, module.getLoc(), entry.getName(), mesh));
    }
    setFrontendAttr(module, frontend::meshes, {});
    return success();
  }

  /// A program whose arguments, or results, are one tuple has their shardings at the module.
  LogicalResult importSignature(ModuleOp module) {
    auto main = module.lookupSymbol<func::FuncOp>("main");
    auto take = [&](StringRef name, unsigned count, auto set) -> LogicalResult {
      DictionaryAttr frontend = frontendAttrs(module);
      if (!main || !frontend || !frontend.contains(name))
        return success();
      auto list = parseFrontendAttr<sdy::TensorShardingPerValueAttr>(frontend, name);
      if (!list || list.getShardings().size() != count)
        return module.emitError() << name << ": expected " << count << " shardings, but got " << frontend.get(name);
      for (auto [i, sharding] : llvm::enumerate(list.getShardings()))
        set(i, sharding);
      setFrontendAttr(module, name, {});
      return success();
    };
    if (!main)
      return success();
    if (failed(take(frontend::arguments, main.getNumArguments(),
                    [&](unsigned i, Attribute sharding) { main.setArgAttr(i, sdy::shardingAttrName, sharding); })))
      return failure();
    return take(frontend::results, main.getNumResults(),
                [&](unsigned i, Attribute sharding) { main.setResultAttr(i, sdy::shardingAttrName, sharding); });
  }

  LogicalResult importFunction(func::FuncOp function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      NamedAttrList attrs(function.getArgAttrDict(i));
      attrs.erase(hloShardingName); // the same, said twice
      auto frontend = dyn_cast_or_null<DictionaryAttr>(attrs.get(frontendAttrsName));
      if (frontend && frontend.contains(frontend::sharding)) {
        auto sharding = parseFrontendAttr<sdy::TensorShardingAttr>(frontend, frontend::sharding);
        if (!sharding)
          return function.emitError("argument ") << i << ": expected a sharding, but got " << frontend.get(frontend::sharding);
        attrs.set(sdy::shardingAttrName, sharding);
        setFrontendAttr(attrs, frontend::sharding, {});
      }
      function.setArgAttrs(i, attrs);
    }
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      function.removeResultAttr(i, StringAttr::get(&getContext(), hloShardingName));
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      if (op != function && (op->hasAttr(hloShardingName) || frontendAttrs(op)))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(importOperation(op, function)))
        return failure();
    return success();
  }

  LogicalResult importOperation(Operation *op, func::FuncOp function) {
    DictionaryAttr frontend = frontendAttrs(op);
    bool isConstraint = isCallOf(op, target::sharding), isResult = isCallOf(op, target::resultSharding);
    if (!isConstraint || (frontend && frontend.contains(frontend::sharding)))
      op->removeDiscardableAttr(hloShardingName);
    if (!frontend)
      return success();
    bool says = frontend.contains(frontend::sharding);
    if (isResult || (says && (isConstraint || isPythonCallback(op) || isa<stablehlo::SendOp, stablehlo::RecvOp, stablehlo::AfterAllOp>(op)))) {
      auto shardings = parseFrontendAttr<sdy::TensorShardingPerValueAttr>(frontend, frontend::sharding);
      if (!shardings || shardings.getShardings().empty())
        return op->emitOpError("expected shardings, but got ") << frontend.get(frontend::sharding);
      if (isResult)
        return importResult(cast<stablehlo::CustomCallOp>(op), function, shardings);
      op->setAttr(sdy::shardingAttrName, shardings);
    }
    setFrontendAttr(op, frontend::sharding, {});
    if (frontend.contains(frontend::rule)) {
      auto rule = parseFrontendAttr<sdy::OpShardingRuleAttr>(frontend, frontend::rule);
      if (!rule)
        return op->emitOpError("expected a sharding rule, but got ") << frontend.get(frontend::rule);
      op->setAttr(sdy::shardingRuleAttrName, rule);
      setFrontendAttr(op, frontend::rule, {});
    }
    return success();
  }

  /// Returns the operation that combines halves to 64-bit integers where XLA has split a function's result.
  static Operation *combineOf(stablehlo::CustomCallOp call) {
    if (call.getNumResults() != 2 || !call->getResult(0).hasOneUse() || !call->getResult(1).hasOneUse())
      return nullptr;
    Operation *user = *call->getResult(0).user_begin();
    return user == *call->getResult(1).user_begin() && isCallOf(user, "X64Combine") ? user : nullptr;
  }

  LogicalResult importResult(stablehlo::CustomCallOp call, func::FuncOp function, sdy::TensorShardingPerValueAttr shardings) {
    sdy::TensorShardingAttr sharding = shardings.getShardings()[0];
    Operation *combine = combineOf(call), *operand = call->getOperand(0).getDefiningOp();
    // A value without elements is a constant to its users: the call is left over.
    Operation *used = combine ? combine : call->use_empty() && operand ? operand : call.getOperation();
    bool isUsedElsewhere = false;
    for (OpOperand &use : used->getUses()) {
      if (isa<func::ReturnOp>(use.getOwner()))
        function.setResultAttr(use.getOperandNumber(), sdy::shardingAttrName, sharding);
      else
        isUsedElsewhere |= use.getOwner() != call;
    }
    if (combine) {
      combine->setAttr(sdy::shardingAttrName, shardings);
    } else if (isUsedElsewhere && used == call) {
      // The result of a function that has been inlined.
      replaceByConstraint(call, opened(sharding, /*keepAxes=*/true));
      return success();
    }
    call->replaceAllUsesWith(call->getOperands());
    call.erase();
    return success();
  }
};

struct ImportSdyCustomCalls : impl::ImportSdyCustomCallsPassBase<ImportSdyCustomCalls> {
  void runOnOperation() override {
    SmallVector<stablehlo::CustomCallOp> calls;
    getOperation().walk([&](stablehlo::CustomCallOp call) { calls.push_back(call); });
    for (stablehlo::CustomCallOp call : calls)
      if (failed(convert(call)))
        return signalPassFailure();
  }

  static LogicalResult convert(stablehlo::CustomCallOp call) {
    OpBuilder builder(call);
    if (isCallOf(call, target::group)) {
      auto id = parseFrontendAttr<IntegerAttr>(frontendAttrs(call), frontend::groupId);
      if (!id)
        return call.emitError("expected CustomCallOp with a sharding group id.");
      if (!call->use_empty())
        return call.emitError() << target::group << " CustomCallOp should have no uses.";
      sdy::ShardingGroupOp::create(builder, call.getLoc(), call->getOperand(0), builder.getI64IntegerAttr(id.getInt()));
      call.erase();
      return success();
    }
    if (isCallOf(call, target::barrier)) {
      auto value = parseFrontendAttr<IntegerAttr>(frontendAttrs(call), frontend::direction);
      auto direction = value ? sdy::symbolizePropagationDirection(value.getInt()) : std::nullopt;
      if (!direction)
        return call.emitError("expected CustomCallOp with ") << frontend::direction;
      auto barrier = sdy::PropagationBarrierOp::create(builder, call.getLoc(), call->getResult(0).getType(), call->getOperand(0), *direction);
      call->replaceAllUsesWith(barrier);
      call.erase();
      return success();
    }
    if (!isCallOf(call, target::sharding) || call.getNumResults() != 1)
      return success();
    sdy::TensorShardingAttr sharding = sdy::getSharding(call->getResult(0));
    if (!sharding || !isa<ShapedType>(call->getResult(0).getType()))
      return success();
    SmallVector<sdy::DimensionShardingAttr> dims(sharding.getDimShardings());
    for (int64_t dim : unspecifiedDims(call))
      if (dim >= 0 && dim < int64_t(dims.size()))
        dims[dim] = sdy::DimensionShardingAttr::get(call.getContext(), dims[dim].getAxes(), /*is_closed=*/false, dims[dim].getPriority());
    replaceByConstraint(call, withDims(sharding, dims));
    return success();
  }
};

struct ImportConstants : impl::ImportConstantsPassBase<ImportConstants> {
  void runOnOperation() override {
    SmallVector<stablehlo::ConstantOp> constants;
    getOperation().walk([&](stablehlo::ConstantOp op) { constants.push_back(op); });
    for (stablehlo::ConstantOp op : constants) {
      OpBuilder builder(op);
      auto constant = sdy::ConstantOp::create(builder, op.getLoc(), op->getResult(0).getType(), op.getValue());
      constant->setDiscardableAttrs(op->getDiscardableAttrDictionary());
      op->replaceAllUsesWith(constant);
      op.erase();
    }
  }
};

struct OpenWhileFreeVarsSharding : impl::OpenWhileFreeVarsShardingPassBase<OpenWhileFreeVarsSharding> {
  void runOnOperation() override {
    getOperation().walk([&](stablehlo::WhileOp loop) {
      llvm::SetVector<Value> outside;
      getUsedValuesDefinedAbove(loop->getRegions(), outside);
      OpBuilder builder(loop);
      for (Value value : outside) {
        sdy::TensorShardingAttr sharding = sdy::getSharding(value);
        if (!sharding || value.getDefiningOp<sdy::ConstantOp>() || value.getDefiningOp<stablehlo::ConstantOp>())
          continue;
        auto open = sdy::ShardingConstraintOp::create(builder, loop.getLoc(), value.getType(), value,
                                                      opened(sharding, /*keepAxes=*/false));
        value.replaceUsesWithIf(open.getResult(), [&](OpOperand &use) { return loop->isProperAncestor(use.getOwner()); });
      }
    });
  }
};

} // namespace
} // namespace millrace::sharding
