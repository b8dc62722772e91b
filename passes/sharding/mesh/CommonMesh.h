// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CommonMesh.h - Strings about the same devices, in axes that they have in common -===//
// An axis is known by its strides: devices between neighbours along it, and along the axis before it. Shardings have a mesh in
// common if all their strides are a chain in which each divides the next larger one.
#pragma once

#include "dialects/sdy/HloSharding.h"
#include "dialects/sdy/Ops.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>
#include <set>
#include <string>

namespace millrace::sharding {

/// `mhlo.sharding` strings, each parsed once.
class HloShardings {
public:
  /// A tuple of one is that one. Null for no string, or for one that is no sharding: `error` says why.
  const sdy::HloSharding *read(mlir::StringAttr text, std::string *error = nullptr);

private:
  llvm::DenseMap<mlir::StringAttr, std::shared_ptr<const sdy::HloSharding>> known;
};

/// N of `shard_as N` and `shard_like N`.
std::optional<int64_t> groupOf(const sdy::HloSharding &sharding);

using Strides = std::set<int64_t>;

/// Of the mesh's axes, and where parts of them that are used begin and end; of 1 and all devices, too.
Strides stridesOf(sdy::TensorShardingAttr sharding, llvm::ArrayRef<sdy::AxisRefAttr> manual, sdy::MeshAttr mesh);
bool isChain(const Strides &strides);

/// The mesh with an axis between any two neighbours of a chain, named `prefix` and a number.
sdy::MeshAttr meshWith(const Strides &strides, llvm::StringRef prefix, llvm::ArrayRef<int64_t> devices, mlir::MLIRContext *context);

/// Puts meshes in front of a module, under names that it does not have yet.
class MeshAdder {
public:
  explicit MeshAdder(mlir::ModuleOp module);
  /// The name that it got: `name`, or that with a number.
  mlir::FlatSymbolRefAttr add(llvm::StringRef name, sdy::MeshAttr mesh);
  /// Of one device, with `name` and its number.
  mlir::FlatSymbolRefAttr add(llvm::StringRef name, int64_t device);

private:
  mlir::SymbolTable symbols;
  mlir::OpBuilder builder;
};

/// Appends the axes of `mesh`, or parts of them, that are where `axis` is in `from`.
void appendIn(llvm::SmallVectorImpl<sdy::AxisRefAttr> &axes, sdy::AxisRefAttr axis, sdy::MeshAttr from, sdy::MeshAttr mesh);

/// The same over another mesh of as many devices.
sdy::TensorShardingAttr sayIn(sdy::TensorShardingAttr sharding, mlir::FlatSymbolRefAttr name, sdy::MeshAttr mesh);

} // namespace millrace::sharding
