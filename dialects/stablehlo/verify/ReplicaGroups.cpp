// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReplicaGroups.cpp - Replica groups as lists of ids -----------------===//
// Input:   dense<[[0, -1], [1, 2]]>
// Output:  [[0], [1, 2]]
#include "dialects/stablehlo/verify/ReplicaGroups.h"

#include "dialects/stablehlo/Dialect.h"
#include "dialects/stablehlo/verify/MeshGroups.h"

using namespace mlir;

namespace millrace::stablehlo {

LogicalResult expandReplicaGroups(Attribute attr, ReplicaGroups &groups, std::string &why) {
  if (auto mesh = dyn_cast_or_null<ReplicaGroupMeshAxesAttr>(attr))
    return groupsOfMesh(mesh, groups, why);
  auto elements = dyn_cast_or_null<DenseIntElementsAttr>(attr);
  if (!elements || (elements.getType().getRank() != 2 && elements.getNumElements() > 0)) {
    why = "expects replica_groups as rows of ids or axes of a mesh";
    return failure();
  }
  if (elements.getNumElements() == 0)
    return success();
  int64_t columns = elements.getType().getDimSize(1), i = 0;
  for (const APInt &id : elements.getValues<APInt>()) {
    if (i++ % columns == 0)
      groups.emplace_back();
    if (id.getSExtValue() >= 0)
      groups.back().push_back(id.getSExtValue());
  }
  return success();
}

} // namespace millrace::stablehlo
