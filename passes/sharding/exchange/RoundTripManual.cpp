// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RoundTripManual.cpp - Manual computations as calls, and back -------===//
// Input:   %0 = sdy.manual_computation(%x) in_shardings=[S] out_shardings=[T] manual_axes={"a"} (%arg1) { ... }
// Output:  %0 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%x) {mhlo.frontend_attributes = {xla.sdy.in_shardings = "S", ...}}
//          %1 = call @xla.sdy.manual_computation_body(%0)
//          %2 = stablehlo.custom_call @xla.sdy.LocalToGlobalShape(%1) {mhlo.frontend_attributes = {xla.sdy.out_shardings = "T", ...}}
// Leaves alone, in reverse, calls of other functions.
#include "passes/sharding/exchange/RoundTrip.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_ROUNDTRIPSHARDMAPEXPORTPASS
#define GEN_PASS_DEF_ROUNDTRIPCLONEMANUALCOMPUTATIONCALLSPASS
#define GEN_PASS_DEF_ROUNDTRIPSHARDMAPIMPORTPASS
#include "passes/sharding/RoundTripPasses.h.inc"

namespace {

bool callsManualBody(func::CallOp call) { return call.getCallee().contains(target::manualBody); }

/// The body's terminator becomes one of the kind `Return`.
template <typename Return> void replaceTerminator(Region &body) {
  Operation *terminator = body.front().getTerminator();
  OpBuilder builder(terminator);
  Return::create(builder, terminator->getLoc(), terminator->getOperands());
  terminator->erase();
}

struct ShardMapExport : impl::RoundTripShardMapExportPassBase<ShardMapExport> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    SmallVector<sdy::ManualComputationOp> ops;
    module.walk([&](sdy::ManualComputationOp op) { ops.push_back(op); });
    for (sdy::ManualComputationOp op : ops)
      convert(op, module, symbols);
  }

  void convert(sdy::ManualComputationOp op, ModuleOp module, SymbolTable &symbols) {
    Region &body = op.getBody();
    SmallVector<Type> localTypes(body.getArgumentTypes()), localResults(body.front().getTerminator()->getOperandTypes());
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto function = func::FuncOp::create(builder, op.getLoc(), target::manualBody, builder.getFunctionType(localTypes, localResults));
    symbols.insert(function); // renames it where the name is taken
    replaceTerminator<func::ReturnOp>(body);
    function.getBody().takeBody(body);
    builder.setInsertionPoint(op);
    auto shape = [&](StringRef name, TypeRange types, ValueRange values, StringRef list, Attribute shardings) -> ValueRange {
      if (values.empty())
        return values;
      bool hasSideEffect = name == target::globalToLocal; // stays where it was
      auto call = createCustomCall(builder, op.getLoc(), name, types, values, hasSideEffect);
      setFrontendAttr(call, list, shardings);
      setFrontendAttr(call, frontend::manualAxes, op.getManualAxesAttr());
      return call->getResults();
    };
    ValueRange local = shape(target::globalToLocal, localTypes, op->getOperands(), frontend::inShardings, op.getInShardings());
    auto call = func::CallOp::create(builder, op.getLoc(), function, local);
    call->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    op->replaceAllUsesWith(
        shape(target::localToGlobal, op->getResultTypes(), call->getResults(), frontend::outShardings, op.getOutShardings()));
    op.erase();
  }
};

struct CloneManualComputationCalls
    : impl::RoundTripCloneManualComputationCallsPassBase<CloneManualComputationCalls> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    llvm::DenseSet<Operation *> taken;
    SmallVector<func::CallOp> calls;
    module.walk([&](func::CallOp call) { calls.push_back(call); });
    // A copy's own calls come behind.
    for (size_t i = 0; i < calls.size(); ++i) {
      auto body = callsManualBody(calls[i]) ? symbols.lookup<func::FuncOp>(calls[i].getCallee()) : func::FuncOp();
      if (!body || taken.insert(body).second)
        continue;
      func::FuncOp copy = body.clone();
      symbols.insert(copy, std::next(Block::iterator(body)));
      taken.insert(copy);
      calls[i].setCallee(copy.getName());
      copy.walk([&](func::CallOp call) { calls.push_back(call); });
    }
  }
};

/// A call of a manual computation's body, with what changes shapes around it.
struct ImportManualComputation : OpConversionPattern<func::CallOp> {
  ImportManualComputation(MLIRContext *context, const SymbolTable &symbols) : OpConversionPattern(context), symbols(symbols) {}

  LogicalResult matchAndRewrite(func::CallOp call, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    if (!callsManualBody(call))
      return failure();
    // Values without elements may have become constants meanwhile: the other operands decide.
    stablehlo::CustomCallOp in, out;
    for (Value operand : adaptor.getOperands())
      if (auto made = operand.getDefiningOp<stablehlo::CustomCallOp>(); !in && made && isCallOf(made, target::globalToLocal))
        in = made;
    if (!in && call.getNumOperands() > 0)
      return call.emitOpError("expected at least one operand of ")
             << call.getCalleeAttr() << " to be produced by a " << target::globalToLocal << " CustomCallOp";
    for (Operation *user : call->getUsers())
      if (!out && isCallOf(user, target::localToGlobal))
        out = cast<stablehlo::CustomCallOp>(user);
    if (!out && call.getNumResults() > 0)
      return call.emitOpError("expected the first use of ")
             << call.getCalleeAttr() << " to be by a " << target::localToGlobal << " CustomCallOp";
    auto body = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!body || body.empty())
      return call.emitOpError("expected a unique FuncOp per @") << target::manualBody << " call, but got another one of "
                                                                << call.getCalleeAttr();
    // At the calls around; of old, at the call itself.
    auto read = [&]<typename Attr>(Attr, stablehlo::CustomCallOp at, StringRef name) {
      auto attr = at ? parseFrontendAttr<Attr>(frontendAttrs(at), name) : Attr();
      return attr ? attr : parseFrontendAttr<Attr>(frontendAttrs(call), name);
    };
    auto empty = sdy::TensorShardingPerValueAttr::get(call.getContext(), ArrayRef<sdy::TensorShardingAttr>());
    auto inShardings = in ? read(sdy::TensorShardingPerValueAttr(), in, frontend::inShardings) : empty;
    auto outShardings = out ? read(sdy::TensorShardingPerValueAttr(), out, frontend::outShardings) : empty;
    auto axes = read(sdy::ManualAxesAttr(), in ? in : out, frontend::manualAxes);
    if (!in && !out && !axes)
      axes = sdy::ManualAxesAttr::get(call.getContext(), ArrayRef<StringAttr>());
    if (!inShardings || !outShardings || !axes)
      return call.emitOpError("expected frontend attributes ")
             << frontend::inShardings << ", " << frontend::outShardings << " and " << frontend::manualAxes
             << " at the calls before and after it";
    ValueRange operands = in ? ValueRange(in->getOperands()) : ValueRange();
    TypeRange results = out ? TypeRange(out->getResultTypes()) : TypeRange();
    auto op = sdy::ManualComputationOp::create(rewriter, call.getLoc(), results, operands, inShardings, outShardings, axes);
    rewriter.inlineRegionBefore(body.getBody(), op.getBody(), op.getBody().begin());
    Operation *terminator = op.getBody().front().getTerminator();
    rewriter.setInsertionPoint(terminator);
    rewriter.replaceOpWithNewOp<sdy::ReturnOp>(terminator, terminator->getOperands());
    rewriter.eraseOp(body);
    if (out)
      rewriter.replaceOp(out, op->getResults());
    rewriter.eraseOp(call);
    if (in)
      rewriter.eraseOp(in);
    return success();
  }

  const SymbolTable &symbols;
};

struct ShardMapImport : impl::RoundTripShardMapImportPassBase<ShardMapImport> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    ConversionTarget conversion(getContext());
    conversion.addDynamicallyLegalOp<func::CallOp>([](func::CallOp call) { return !callsManualBody(call); });
    conversion.addLegalDialect<sdy::SdyDialect, stablehlo::StablehloDialect>();
    RewritePatternSet patterns(&getContext());
    patterns.add<ImportManualComputation>(&getContext(), symbols);
    if (failed(applyPartialConversion(module, conversion, std::move(patterns))))
      return signalPassFailure();
    // Nobody needs those whose call had no elements to compute.
    SmallVector<Operation *> left;
    module.walk([&](stablehlo::CustomCallOp call) {
      if (isCallOf(call, target::globalToLocal) || isCallOf(call, target::localToGlobal))
        left.push_back(call);
    });
    for (Operation *call : llvm::reverse(left)) {
      if (!call->use_empty()) {
        call->emitOpError("expected to stand before or after a call of @") << target::manualBody;
        return signalPassFailure();
      }
      call->erase();
    }
  }
};

} // namespace
} // namespace millrace::sharding
