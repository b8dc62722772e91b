// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RoundTrip.h - Between sdy and what XLA keeps through HLO -----------===//
// HLO knows neither meshes nor attributes of other dialects, only strings by name (frontend attributes) and custom calls.
// XLA writes sdy as text into the one and as calls `xla.sdy.*` into the other; JAX's exports of 2024 and 2025 have that form.
#pragma once

#include "dialects/sdy/Ops.h"
#include "dialects/stablehlo/Ops.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace millrace::sharding {

#define GEN_PASS_DECL
#include "passes/sharding/RoundTripPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/sharding/RoundTripPasses.h.inc"

inline constexpr llvm::StringLiteral frontendAttrsName = "mhlo.frontend_attributes";
inline constexpr llvm::StringLiteral hloShardingName = "mhlo.sharding";

/// The names of the strings.
namespace frontend {
inline constexpr llvm::StringLiteral meshes = "xla.sdy.meshes", sharding = "xla.sdy.sharding", rule = "xla.sdy.sharding_rule",
                                     inShardings = "xla.sdy.in_shardings", outShardings = "xla.sdy.out_shardings",
                                     manualAxes = "xla.sdy.manual_axes", groupId = "xla.sdy.sharding_group_id",
                                     direction = "xla.sdy.allowed_direction", arguments = "xla.sdy.tuple_args_shardings",
                                     results = "xla.sdy.tuple_results_shardings";
} // namespace frontend

/// Targets of custom calls, and what names of manual computations' functions contain.
namespace target {
inline constexpr llvm::StringLiteral sharding = "Sharding", resultSharding = "xla.sdy.FuncResultSharding",
                                     globalToLocal = "xla.sdy.GlobalToLocalShape", localToGlobal = "xla.sdy.LocalToGlobalShape",
                                     manualBody = "xla.sdy.manual_computation_body", group = "xla.sdy.ShardingGroup",
                                     barrier = "xla.sdy.PropagationBarrier", fullToShard = "SPMDFullToShardShape",
                                     shardToFull = "SPMDShardToFullShape";
} // namespace target

/// The frontend attributes of an operation; null if it has none.
mlir::DictionaryAttr frontendAttrs(mlir::Operation *op);
/// The MLIR attribute whose text `name` holds; null if there is no such name or the text is none (reported by the parser).
mlir::Attribute parseFrontendAttr(mlir::DictionaryAttr frontend, llvm::StringRef name);
template <typename Attr> Attr parseFrontendAttr(mlir::DictionaryAttr frontend, llvm::StringRef name) {
  return llvm::dyn_cast_or_null<Attr>(parseFrontendAttr(frontend, name));
}
/// Sets `name` of the frontend attributes in `attrs` to the text of `value`, or removes it if `value` is null.
void setFrontendAttr(mlir::NamedAttrList &attrs, llvm::StringRef name, mlir::Attribute value);
void setFrontendAttr(mlir::Operation *op, llvm::StringRef name, mlir::Attribute value);

stablehlo::CustomCallOp createCustomCall(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef target,
                                         mlir::TypeRange results, mlir::ValueRange operands, bool hasSideEffect = false);
/// The call's target is `name`.
bool isCallOf(mlir::Operation *op, llvm::StringRef name);
/// The dimensions listed in a @Sharding call's `backend_config = "unspecified_dims=[0,2]"`: nothing is said about those.
llvm::SmallVector<int64_t> unspecifiedDims(stablehlo::CustomCallOp call);
/// The call's operand in `sharding`, instead of its result.
void replaceByConstraint(stablehlo::CustomCallOp call, sdy::TensorShardingAttr sharding);
/// Sets the one sharding of an operation with one result.
void setResultSharding(mlir::Operation *op, sdy::TensorShardingAttr sharding);

/// Returns true if any operation of the module has the form above.
bool hasRoundTripForm(mlir::ModuleOp module);

struct RoundTripImportOptions {
  bool constants = true;          ///< xla-sdy-import-constants
  bool calls = false;             ///< sdy-import-func-calls
  bool onlyUninlineable = true;   ///< ... of calls marked `inlineable = "false"`
  bool meshes = false;            ///< sdy-lift-inlined-meshes and xla-sdy-round-trip-dedup-meshes
};
/// Adds passes from the form above to sdy. Tuples have to be gone.
void addRoundTripImport(mlir::OpPassManager &pm, const RoundTripImportOptions &options = {});
struct StablehloExportOptions {
  ExportShardingsPassOptions shardings;
  ExportOpsPassOptions operations;
  bool allReduceScatter = false;   ///< of xla-sdy-stablehlo-export-manual-reduction-collectives
  bool eraseManual = false;        ///< of xla-sdy-stablehlo-round-trip-shard-map-export
  bool oneFunctionPerName = false; ///< of sdy-export-named-computations
};
/// Adds passes from sdy to mhlo.sharding strings and custom calls.
void addStablehloExport(mlir::OpPassManager &pm, const StablehloExportOptions &options = {});

/// The pipelines by name: xla-sdy-round-trip-export-pipeline, xla-sdy-round-trip-import-pipeline,
/// xla-sdy-stablehlo-export-pipeline, xla-sdy-stablehlo-import-pipeline; and passes under names that XLA had for them.
void registerRoundTripPipelines();

} // namespace millrace::sharding
