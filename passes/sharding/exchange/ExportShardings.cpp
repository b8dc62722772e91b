// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExportShardings.cpp - Shardings as mhlo.sharding strings -----------===//
// Input:   %0 = stablehlo.add %x, %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>}   // <["a"=2, "b"=2]>
// Output:  %0 = stablehlo.add %x, %y {mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"}
// Leaves alone what has no sharding.
#include "passes/sharding/exchange/RoundTrip.h"

#include "dialects/sdy/HloSharding.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::sharding {
#define GEN_PASS_DEF_EXPORTSHARDINGSPASS
#include "passes/sharding/RoundTripPasses.h.inc"

namespace {

/// A named sharding (V3), which loses nothing but priorities. Axes named in `manual` are manual.
sdy::HloSharding namedSharding(sdy::TensorShardingAttr sharding, sdy::MeshAttr mesh, ArrayRef<StringRef> manual) {
  sdy::HloSharding result;
  result.kind = sdy::HloSharding::Kind::Named;
  result.order.list.assign(mesh.getDeviceIds().begin(), mesh.getDeviceIds().end());
  if (mesh.isMaximal())
    return result;
  auto named = [&](sdy::AxisRefAttr axis) {
    sdy::SubAxisInfoAttr part = axis.getSubAxisInfo();
    return part ? sdy::NamedAxis{axis.getName().str(), part.getPreSize(), part.getSize()} : sdy::NamedAxis{axis.getName().str(), 1, 0};
  };
  auto allNamed = [&](ArrayRef<sdy::AxisRefAttr> axes) {
    std::vector<sdy::NamedAxis> made;
    for (sdy::AxisRefAttr axis : axes)
      made.push_back(named(axis));
    return made;
  };
  for (sdy::MeshAxisAttr axis : mesh.getAxes())
    result.axes.emplace_back(axis.getName().str(), axis.getSize());
  bool isWhole = llvm::all_of(sharding.getDimShardings(), [](sdy::DimensionShardingAttr dim) { return dim.getAxes().empty() && dim.getIsClosed(); });
  if (!isWhole) // else no list: no dimension is sharded, whatever their number
    for (sdy::DimensionShardingAttr dim : sharding.getDimShardings())
      result.dimensions.push_back({allNamed(dim.getAxes()), !dim.getIsClosed()});
  result.replicated = allNamed(sharding.getReplicatedAxes());
  result.unreduced = allNamed(sharding.getUnreducedAxes());
  for (StringRef axis : manual)
    if (mesh.getAxisPosition(axis) >= 0)
      result.manual.push_back({axis.str(), 1, 0});
  return result;
}

struct ExportShardings : impl::ExportShardingsPassBase<ExportShardings> {
  using ExportShardingsPassBase::ExportShardingsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool worked = !module
                       .walk([&](Operation *op) {
                         auto function = dyn_cast<func::FuncOp>(op);
                         return failed(function ? exportSignature(function) : exportOperation(op)) ? WalkResult::interrupt()
                                                                                                   : WalkResult::advance();
                       })
                       .wasInterrupted();
    if (!worked)
      return signalPassFailure();
    for (auto mesh : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>()))
      mesh.erase();
  }

  /// Null, and an error, if the mesh is not there.
  std::optional<sdy::HloSharding> convert(sdy::TensorShardingAttr sharding, sdy::ManualAxesAttr manual, Operation *at) {
    sdy::MeshAttr mesh = sharding.getMesh(at);
    if (!mesh) {
      at->emitOpError("has a sharding over a mesh that is not there: ") << sharding.getMeshOrRef();
      return std::nullopt;
    }
    SmallVector<StringRef> axes;
    for (StringAttr axis : manual ? manual.getValue() : ArrayRef<StringAttr>())
      axes.push_back(axis.getValue());
    if (!named)
      return sdy::fromSdy(sharding, mesh, axes);
    bool isWhole = !mesh.isMaximal() && axes.empty() && sharding.getUnreducedAxes().empty() &&
                   llvm::all_of(sharding.getDimShardings(), [](auto dim) { return dim.getAxes().empty() && dim.getIsClosed(); });
    if (simplify && isWhole) {
      sdy::HloSharding anywhere;
      anywhere.kind = sdy::HloSharding::Kind::Named;
      return anywhere;
    }
    return namedSharding(sharding, mesh, axes);
  }

  LogicalResult exportSignature(func::FuncOp function) {
    auto convertOne = [&](DictionaryAttr old, auto set) -> LogicalResult {
      auto sharding = old ? old.getAs<sdy::TensorShardingAttr>(sdy::shardingAttrName) : sdy::TensorShardingAttr();
      if (!sharding)
        return success();
      auto text = convert(sharding, old.getAs<sdy::ManualAxesAttr>(frontend::manualAxes), function);
      if (!text)
        return failure();
      NamedAttrList attrs(old);
      attrs.erase(sdy::shardingAttrName);
      attrs.erase(frontend::manualAxes);
      attrs.set(hloShardingName, StringAttr::get(&getContext(), toString(*text)));
      set(attrs);
      return success();
    };
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (failed(convertOne(function.getArgAttrDict(i), [&](NamedAttrList &attrs) { function.setArgAttrs(i, attrs); })))
        return failure();
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (failed(convertOne(function.getResultAttrDict(i), [&](NamedAttrList &attrs) { function.setResultAttrs(i, attrs); })))
        return failure();
    return success();
  }

  /// HLO's partitioner takes nothing for granted of these.
  void addMissing(Operation *op) {
    sdy::HloSharding sharding;
    if (isa<stablehlo::SendOp, stablehlo::RecvOp, stablehlo::CreateTokenOp>(op))
      sharding.kind = sdy::HloSharding::Kind::Maximal;
    else if (!isa<stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp>(op))
      return;
    else if (named)
      sharding.kind = sdy::HloSharding::Kind::Named;
    op->setAttr(hloShardingName, StringAttr::get(&getContext(), toString(sharding)));
  }

  LogicalResult exportOperation(Operation *op) {
    auto shardings = op->getAttrOfType<sdy::TensorShardingPerValueAttr>(sdy::shardingAttrName);
    if (auto reverse = dyn_cast<stablehlo::ReverseOp>(op); reverse && shardings && wholeReverse &&
                                                           llvm::any_of(reverse.getDimensions(), [&](int64_t dim) {
                                                             sdy::TensorShardingAttr one = shardings.getShardings()[0];
                                                             return dim < one.getRank() && !one.getDimShardings()[dim].getAxes().empty();
                                                           })) {
      op->removeDiscardableAttr(sdy::shardingAttrName);
      op->removeDiscardableAttr(frontend::manualAxes);
      return success();
    }
    if (!shardings) {
      if (controlFlow && !op->hasAttr(hloShardingName))
        addMissing(op);
      return success();
    }
    auto manual = op->getAttrOfType<sdy::ManualAxesAttr>(frontend::manualAxes);
    sdy::HloSharding all;
    all.kind = sdy::HloSharding::Kind::Tuple;
    for (sdy::TensorShardingAttr sharding : shardings.getShardings()) {
      auto one = convert(sharding, manual, op);
      if (!one)
        return failure();
      all.elements.push_back(*one);
    }
    op->removeDiscardableAttr(sdy::shardingAttrName);
    op->removeDiscardableAttr(frontend::manualAxes);
    auto text = StringAttr::get(&getContext(), toString(all.elements.size() == 1 ? all.elements[0] : all));
    // Calls that represent an operation have its attributes.
    bool isOther = isCallOf(op, "mhlo.erf") || isCallOf(op, "mhlo.topk");
    if (auto held = isOther ? op->getAttrOfType<DictionaryAttr>("mhlo.attributes") : DictionaryAttr()) {
      NamedAttrList attrs(held);
      attrs.set(hloShardingName, text);
      op->setAttr("mhlo.attributes", attrs.getDictionary(&getContext()));
    } else {
      op->setAttr(hloShardingName, text);
    }
    return success();
  }
};

} // namespace
} // namespace millrace::sharding
