// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MeshFlag.cpp - Number of devices of a module and a tool ------------===//
#include "tools/support/flags/MeshFlag.h"

#include "dialects/sdy/Ops.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace millrace::tools {

void adoptMesh(ModuleOp module, unsigned numDevices) {
  if (module->hasAttr("mhlo.num_partitions") || module->hasAttr("mhlo.num_replicas"))
    return;
  int64_t devices = 0;
  for (auto op : module.getOps<sdy::MeshOp>())
    if (!op.getMesh().isMaximal())
      devices = std::max<int64_t>(devices, op.getMesh().getTotalSize());
  if (devices > 1 && devices <= numDevices)
    module->setAttr("mhlo.num_partitions", Builder(module.getContext()).getI32IntegerAttr(int32_t(devices)));
}

runtime::Status checkMeshes(ModuleOp module, unsigned numDevices) {
  for (auto op : module.getOps<sdy::MeshOp>())
    if (int64_t size = op.getMesh().isMaximal() ? op.getMesh().getDeviceIds()[0] + 1 : op.getMesh().getTotalSize(); size > numDevices)
      return runtime::invalidArgument("@" + op.getSymName().str() + " expects " + std::to_string(size) +
                                      " devices, but got --num-devices=" + std::to_string(numDevices));
  return {};
}

} // namespace millrace::tools
