// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Attrs.cpp - Meshes and axes: verification and arithmetic -----------===//
#include "dialects/sdy/Ops.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
#include "dialects/sdy/Enums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/sdy/Attrs.cpp.inc"

namespace millrace::sdy {

void SdyDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/sdy/Attrs.cpp.inc"
      >();
}

//===-- Meshes ------------------------------------------------------------===//

LogicalResult MeshAxisAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef, int64_t size) {
  if (size < 1) // (C1)
    return emitError() << "axis size must be at least 1, got: " << size;
  return success();
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<MeshAxisAttr> axes,
                               ArrayRef<int64_t> deviceIds) {
  int64_t devices = 1;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    for (MeshAxisAttr other : axes.take_front(i))
      if (other.getName() == axis.getName()) // (C1)
        return emitError() << "duplicate axis name: \"" << axis.getName() << "\"";
    if (llvm::MulOverflow(devices, axis.getSize(), devices)) // (C5)
      return emitError() << "product of axis sizes does not fit 64 bits";
  }
  if (deviceIds.empty())
    return success();
  for (int64_t id : deviceIds)
    if (id < 0) // (C2)
      return emitError() << "device id must be non-negative, got: " << id;
  if (axes.empty() && deviceIds.size() > 1) // (C3)
    return emitError() << "axes is empty and device_ids has more than one element";
  if (devices != int64_t(deviceIds.size()))
    return emitError() << "total product of axis sizes must match total number of device ids, got: " << devices
                       << " != " << deviceIds.size();
  if (axes.empty())
    return success();
  SmallVector<int64_t> sorted(deviceIds);
  llvm::sort(sorted);
  for (auto [i, id] : llvm::enumerate(sorted))
    if (int64_t(i) != id) { // (C4)
      auto diag = emitError() << "sorted device ids must be iota(product(axes)), got: ";
      llvm::interleaveComma(sorted, diag);
      return diag;
    }
  return success();
}

int64_t MeshAttr::getTotalSize() const {
  int64_t size = 1;
  for (MeshAxisAttr axis : getAxes())
    size *= axis.getSize();
  return size;
}

int64_t MeshAttr::getAxisPosition(StringRef axis) const {
  for (auto [i, candidate] : llvm::enumerate(getAxes()))
    if (candidate.getName() == axis)
      return i;
  return -1;
}

int64_t MeshAttr::getAxisSize(StringRef axis) const {
  int64_t position = getAxisPosition(axis);
  return position < 0 ? 0 : getAxes()[position].getSize();
}

//===-- Axis references ---------------------------------------------------===//

int64_t AxisRefAttr::getSize(MeshAttr mesh) const {
  return getSubAxisInfo() ? getSubAxisInfo().getSize() : mesh.getAxisSize(getName());
}

std::string AxisRefAttr::toString() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '"' << getName() << '"';
  if (SubAxisInfoAttr sub = getSubAxisInfo())
    os << ":(" << sub.getPreSize() << ")" << sub.getSize();
  return text;
}

bool AxisRefAttr::overlaps(AxisRefAttr other) const {
  if (getName() != other.getName())
    return false;
  SubAxisInfoAttr mine = getSubAxisInfo(), theirs = other.getSubAxisInfo();
  if (!mine || !theirs)
    return true;
  return mine.getPreSize() < theirs.getPreSize() * theirs.getSize() &&
         theirs.getPreSize() < mine.getPreSize() * mine.getSize();
}

bool AxisRefAttr::canMerge(AxisRefAttr other) const {
  SubAxisInfoAttr mine = getSubAxisInfo(), theirs = other.getSubAxisInfo();
  int64_t end;
  return getName() == other.getName() && mine && theirs &&
         !llvm::MulOverflow(mine.getPreSize(), mine.getSize(), end) && end == theirs.getPreSize();
}

AxisRefAttr AxisRefAttr::merge(AxisRefAttr other, MeshAttr mesh) const {
  int64_t size = getSubAxisInfo().getSize() * other.getSubAxisInfo().getSize();
  auto sub = size == mesh.getAxisSize(getName()) ? SubAxisInfoAttr()
                                                 : SubAxisInfoAttr::get(getContext(), getPreSize(), size);
  return AxisRefAttr::get(getContext(), getName(), sub);
}

bool AxisRefAttr::isSuffixOf(AxisRefAttr other, MeshAttr mesh) const {
  return getName() == other.getName() && getPreSize() >= other.getPreSize() &&
         getPreSize() % other.getPreSize() == 0 &&
         getPreSize() * getSize(mesh) == other.getPreSize() * other.getSize(mesh);
}

SmallVector<AxisRefAttr> appendAxes(ArrayRef<AxisRefAttr> axes, ArrayRef<AxisRefAttr> more, MeshAttr mesh) {
  SmallVector<AxisRefAttr> all(axes);
  for (AxisRefAttr axis : more) {
    if (!all.empty() && all.back().canMerge(axis))
      all.back() = all.back().merge(axis, mesh);
    else
      all.push_back(axis);
  }
  return all;
}

std::optional<SmallVector<AxisRefAttr>> dropAxes(ArrayRef<AxisRefAttr> axes, ArrayRef<AxisRefAttr> suffix, MeshAttr mesh,
                                                 AxisRefAttr &missing) {
  SmallVector<AxisRefAttr> rest(axes);
  for (AxisRefAttr axis : llvm::reverse(suffix)) {
    if (rest.empty() || !axis.isSuffixOf(rest.back(), mesh)) {
      missing = axis;
      return std::nullopt;
    }
    AxisRefAttr last = rest.pop_back_val();
    int64_t left = axis.getPreSize() / last.getPreSize();
    if (left > 1)
      rest.push_back(AxisRefAttr::get(axis.getContext(), axis.getName(),
                                      SubAxisInfoAttr::get(axis.getContext(), last.getPreSize(), left)));
  }
  return rest;
}

//===-- Shardings ---------------------------------------------------------===//

int64_t DimensionShardingAttr::getShardedSize(MeshAttr mesh) const {
  int64_t size = 1;
  for (AxisRefAttr axis : getAxes())
    size *= axis.getSize(mesh);
  return size;
}

MeshAttr TensorShardingAttr::getMesh(Operation *user) const {
  if (auto mesh = dyn_cast<MeshAttr>(getMeshOrRef()))
    return mesh;
  auto name = dyn_cast<FlatSymbolRefAttr>(getMeshOrRef());
  auto module = dyn_cast_or_null<ModuleOp>(user);
  if (!module && user)
    module = user->getParentOfType<ModuleOp>();
  // The module is searched without a symbol table and without assumptions, because this is called during verification, when other operations may
  // still lack names and bodies.
  if (!module || !name || module->getNumRegions() != 1 || module->getRegion(0).empty())
    return {};
  for (MeshOp op : module.getOps<MeshOp>())
    if (op.getProperties().sym_name == name.getAttr())
      return op.getProperties().mesh;
  return {};
}

void TensorShardingAttr::walkAxes(function_ref<void(AxisRefAttr)> callback) const {
  for (DimensionShardingAttr dim : getDimShardings())
    llvm::for_each(dim.getAxes(), callback);
  llvm::for_each(getReplicatedAxes(), callback);
  llvm::for_each(getUnreducedAxes(), callback);
}

} // namespace millrace::sdy
