// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReplicaGroups.h - Replica groups as lists of ids -------------------===//
#pragma once
#include "mlir/IR/Attributes.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace millrace::stablehlo {

using ReplicaGroups = mlir::SmallVector<mlir::SmallVector<int64_t>>;

/// Returns the groups of `attr`, a `replica_groups` attribute: the rows of a dense 2-D list without the -1 that pad short rows (empty: all ids form
/// one group), or the devices of a mesh that agree in all axes that are not named, in the order of the named axes. Fails with `why`, a phrase like
/// "expects ..", if `attr` is neither, if the mesh is only named, or if a part of an axis does not divide it.
mlir::LogicalResult expandReplicaGroups(mlir::Attribute attr, ReplicaGroups &groups, std::string &why);

} // namespace millrace::stablehlo
