// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MeshFlag.cpp - --mesh "data=4,model=2" -----------------------------===//
#include "tools/support/MeshFlag.h"

#include "dialects/sdy/Ops.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace millrace::tools {

runtime::Status applyMesh(ModuleOp module, std::string_view text) {
  MLIRContext *context = module.getContext();
  context->loadDialect<sdy::SdyDialect>();
  SmallVector<sdy::MeshAxisAttr> axes;
  SmallVector<StringRef> parts;
  StringRef(text).split(parts, ',', -1, false);
  int64_t devices = 1;
  for (StringRef part : parts) {
    auto [name, number] = part.split('=');
    int64_t size;
    if (name.trim().empty() || number.trim().getAsInteger(10, size) || size < 1 || size > 1024 ||
        llvm::any_of(axes, [&](sdy::MeshAxisAttr other) { return other.getName() == name.trim(); }))
      return runtime::invalidArgument("--mesh expects a list like data=4,model=2, each axis once and of 1 to 1024 devices, but got '" +
                                      std::string(text) + "'");
    axes.push_back(sdy::MeshAxisAttr::get(context, name.trim(), size));
    devices *= size;
  }
  if (axes.empty() || devices > 1024)
    return runtime::invalidArgument("--mesh expects 1 to 1024 devices, but got '" + std::string(text) + "'");
  auto mesh = sdy::MeshAttr::get(context, axes, {});
  bool found = false;
  for (auto op : module.getOps<sdy::MeshOp>()) {
    if (op.getMesh().isMaximal())
      continue;
    for (sdy::MeshAxisAttr axis : op.getMesh().getAxes())
      if (!mesh.getAxisSize(axis.getName()))
        return runtime::invalidArgument("--mesh=" + std::string(text) + " does not say how large axis \"" + axis.getName().str() +
                                        "\" of @" + op.getSymName().str() + " is");
    op.setMeshAttr(mesh);
    found = true;
  }
  if (!found) {
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    sdy::MeshOp::create(builder, module.getLoc(), "mesh", mesh);
  }
  module->setAttr("mhlo.num_partitions", Builder(context).getI32IntegerAttr(int32_t(devices)));
  return {};
}

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
