// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MeshGroups.h - Replica groups as axes of a mesh ---------------------===//
#pragma once

#include "dialects/stablehlo/Ops.h"

#include <string>

namespace millrace::stablehlo {

/// Returns the groups of device ids that `attr` describes by axes of its mesh: devices that agree in all other axes form a group, in the order of the
/// axes. Fails with `why` if the mesh is only named, or if a sub-axis does not divide its axis.
mlir::LogicalResult groupsOfMesh(ReplicaGroupMeshAxesAttr attr,
                                 mlir::SmallVectorImpl<mlir::SmallVector<int64_t>> &groups, std::string &why);

} // namespace millrace::stablehlo
