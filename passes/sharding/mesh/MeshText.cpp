// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MeshText.cpp - A mesh that is given from outside of the program ----===//
#include "passes/sharding/mesh/MeshText.h"

#include "dialects/sdy/Ops.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace millrace::sharding {

/// Lists of devices, which partitioning keeps for every value, stay small. Unit: devices of one mesh. Source: the largest machine that plans are
/// simulated for.
constexpr int64_t kMaxDevices = 4096;

llvm::Expected<sdy::MeshAttr> parseMesh(MLIRContext *context, StringRef text, StringRef option) {
  context->loadDialect<sdy::SdyDialect>();
  SmallVector<sdy::MeshAxisAttr> axes;
  SmallVector<StringRef> parts;
  text.split(parts, ',', -1, false);
  int64_t devices = 1;
  for (StringRef part : parts) {
    auto [name, number] = part.split('=');
    int64_t size;
    if (name.trim().empty() || number.trim().getAsInteger(10, size) || size < 1 || size > kMaxDevices ||
        llvm::any_of(axes, [&](sdy::MeshAxisAttr other) { return other.getName() == name.trim(); }))
      return llvm::createStringError(option + " expects a list like data=4,model=2, each axis once and of 1 to " + Twine(kMaxDevices) +
                                     " devices, but got '" + text + "'");
    axes.push_back(sdy::MeshAxisAttr::get(context, name.trim(), size));
    // The product stays small, so that it does not overflow to a number that looks right.
    devices = std::min(devices * size, kMaxDevices + 1);
  }
  if (axes.empty() || devices > kMaxDevices)
    return llvm::createStringError(option + " expects 1 to " + Twine(kMaxDevices) + " devices, but got '" + text + "'");
  return sdy::MeshAttr::get(context, axes, {});
}

llvm::Error applyMesh(ModuleOp module, StringRef text, StringRef option) {
  llvm::Expected<sdy::MeshAttr> parsed = parseMesh(module.getContext(), text, option);
  if (!parsed)
    return parsed.takeError();
  sdy::MeshAttr mesh = *parsed;
  bool found = false;
  for (auto op : module.getOps<sdy::MeshOp>()) {
    if (op.getMesh().isMaximal())
      continue;
    for (sdy::MeshAxisAttr axis : op.getMesh().getAxes())
      if (!mesh.getAxisSize(axis.getName()))
        return llvm::createStringError(option + "=" + text + " does not say how large axis \"" + axis.getName() + "\" of @" + op.getSymName() + " is");
    op.setMeshAttr(mesh);
    found = true;
  }
  if (!found) {
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    sdy::MeshOp::create(builder, module.getLoc(), "mesh", mesh);
  }
  module->setAttr("mhlo.num_partitions", Builder(module.getContext()).getI32IntegerAttr(int32_t(mesh.getTotalSize())));
  return llvm::Error::success();
}

} // namespace millrace::sharding
