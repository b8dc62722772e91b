// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dialect.h - The sdy dialect, its attributes and what they mean -----===//
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include <optional>

namespace mlir {
class RewritePatternSet;
}

#include "dialects/sdy/Dialect.h.inc"
#include "dialects/sdy/Enums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/sdy/Attrs.h.inc"

namespace millrace::sdy {

/// Names of the attributes on other dialects' operations, arguments and results.
inline constexpr llvm::StringLiteral shardingAttrName = "sdy.sharding";
inline constexpr llvm::StringLiteral shardingRuleAttrName = "sdy.sharding_rule";
/// PropagationEdgesAttr of an operation; lists of them for results and for arguments of its regions.
inline constexpr llvm::StringLiteral propagationEdgesAttrName = "sdy.propagation_edges";
inline constexpr llvm::StringLiteral resultPropagationEdgesAttrName = "sdy.result_propagation_edges";
inline constexpr llvm::StringLiteral blockArgPropagationEdgesAttrName = "sdy.block_arg_propagation_edges";

/// `i` to `z`, then `z_1`, `z_2`, ...
std::string factorSymbol(int64_t factor);

/// The sharding written at the definition of `value`: on a function argument, an operation's `sdy.sharding`, or the
/// sdy operation itself. Null if there is none.
TensorShardingAttr getSharding(mlir::Value value);

using EmitErrorFn = llvm::function_ref<mlir::InFlightDiagnostic(const llvm::Twine &)>;

/// Labels of TensorSharding. `user` finds the mesh and enclosing manual computations.
mlir::LogicalResult verifySharding(TensorShardingAttr sharding, mlir::Type type, mlir::Operation *user,
                                   EmitErrorFn emitError);
/// One valid sharding per type; a lone rank-0 one is fine for an operation without results.
mlir::LogicalResult verifyShardings(llvm::ArrayRef<TensorShardingAttr> shardings, mlir::TypeRange types,
                                    mlir::Operation *user, EmitErrorFn emitError);
/// Labels of OpShardingRule.
mlir::LogicalResult verifyRule(OpShardingRuleAttr rule, mlir::Operation *op);
mlir::LogicalResult verifyPropagationEdges(mlir::Operation *op, mlir::NamedAttribute attr);

/// Checks lists of axes of one sharding: names, repetition, sub-axes. Lists are added one by one, `finish` closes.
class AxisListChecker {
public:
  AxisListChecker(MeshAttr mesh, EmitErrorFn emitError) : mesh(mesh), emitError(emitError) {}
  mlir::LogicalResult add(llvm::ArrayRef<AxisRefAttr> axes);
  mlir::LogicalResult addInMeshOrder(llvm::ArrayRef<AxisRefAttr> axes, llvm::StringRef kind);
  mlir::LogicalResult finish();

private:
  MeshAttr mesh;
  EmitErrorFn emitError;
  llvm::SmallVector<AxisRefAttr> seen;
};

/// Axes of a dimension after adding `more` at the end, merging sub-axes that meet.
llvm::SmallVector<AxisRefAttr> appendAxes(llvm::ArrayRef<AxisRefAttr> axes, llvm::ArrayRef<AxisRefAttr> more,
                                          MeshAttr mesh);
/// Axes of a dimension after taking `suffix` off its end; in `missing` the axis that is not there.
std::optional<llvm::SmallVector<AxisRefAttr>> dropAxes(llvm::ArrayRef<AxisRefAttr> axes,
                                                       llvm::ArrayRef<AxisRefAttr> suffix, MeshAttr mesh,
                                                       AxisRefAttr &missing);

/// Collectives and reshards that move nothing, or that are one together. Part of the dialect's canonical form.
void populateCollectivePatterns(mlir::RewritePatternSet &patterns);

/// Registers reading and writing of attributes in Shardy's bytecode encoding.
void addBytecodeInterface(SdyDialect &dialect);

} // namespace millrace::sdy
