// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dialect.h - The sdy dialect and its attributes ----------------------===//
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
/// Names of the PropagationEdgesAttr of an operation, and of the lists of them for results and for arguments of its regions.
inline constexpr llvm::StringLiteral propagationEdgesAttrName = "sdy.propagation_edges";
inline constexpr llvm::StringLiteral resultPropagationEdgesAttrName = "sdy.result_propagation_edges";
inline constexpr llvm::StringLiteral blockArgPropagationEdgesAttrName = "sdy.block_arg_propagation_edges";

/// Returns the symbol of a factor: `i` to `z`, then `z_1`, `z_2`, ...
std::string factorSymbol(int64_t factor);

/// Returns the sharding at the definition of `value`: that of a function argument, of an operation's `sdy.sharding`, or of the sdy operation itself.
/// Null if there is none.
TensorShardingAttr getSharding(mlir::Value value);

using EmitErrorFn = llvm::function_ref<mlir::InFlightDiagnostic(const llvm::Twine &)>;

/// Checks the constraints of TensorSharding. `user` determines the mesh and enclosing manual computations.
mlir::LogicalResult verifySharding(TensorShardingAttr sharding, mlir::Type type, mlir::Operation *user,
                                   EmitErrorFn emitError);
/// Checks that there is one valid sharding per type; an operation without results may have a single sharding of rank 0.
mlir::LogicalResult verifyShardings(llvm::ArrayRef<TensorShardingAttr> shardings, mlir::TypeRange types,
                                    mlir::Operation *user, EmitErrorFn emitError);
/// Checks the constraints of OpShardingRule.
mlir::LogicalResult verifyRule(OpShardingRuleAttr rule, mlir::Operation *op);
mlir::LogicalResult verifyPropagationEdges(mlir::Operation *op, mlir::NamedAttribute attr);

/// Checks the lists of axes of one sharding: names, repetitions, sub-axes. Lists are added one by one; finish() completes the check.
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

/// Returns the axes of a dimension with `more` appended; adjacent sub-axes are merged.
llvm::SmallVector<AxisRefAttr> appendAxes(llvm::ArrayRef<AxisRefAttr> axes, llvm::ArrayRef<AxisRefAttr> more,
                                          MeshAttr mesh);
/// Returns the axes of a dimension without `suffix` at its end; on failure `missing` is the axis that is not there.
std::optional<llvm::SmallVector<AxisRefAttr>> dropAxes(llvm::ArrayRef<AxisRefAttr> axes,
                                                       llvm::ArrayRef<AxisRefAttr> suffix, MeshAttr mesh,
                                                       AxisRefAttr &missing);

/// Adds patterns for collectives and reshards that move no data, or that can be combined. They are part of the dialect's canonical form.
void populateCollectivePatterns(mlir::RewritePatternSet &patterns);

/// Registers the conversion of attributes from and to Shardy's bytecode encoding.
void addBytecodeInterface(SdyDialect &dialect);

} // namespace millrace::sdy
