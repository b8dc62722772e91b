// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Sharding.cpp - Which shard of a tensor a device holds ---------------===//
#include "tracing/spmd/Sharding.h"
#include "tracing/spmd/Explanation.h"

#include "lowering/Compile.h"
#include "passes/autosharding/PlanPage.h"
#include "passes/calls/Passes.h"
#include "passes/spmd/Explain.h"
#include "passes/spmd/Partition.h"
#include "passes/spmd/Placement.h"
#include "tracing/spmd/ShardOver.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <tuple>

namespace millrace::tracing {

bool Sharding::isReplicated() const {
  return !isManual() && std::all_of(tiles.begin(), tiles.end(), [](int64_t count) { return count == 1; });
}

std::vector<int64_t> Sharding::shardDims(const std::vector<int64_t> &dims) const {
  std::vector<int64_t> part = dims;
  for (size_t i = 0; i < part.size() && i < tiles.size(); ++i)
    part[i] = (part[i] + tiles[i] - 1) / tiles[i];
  return part;
}

std::vector<int64_t> Sharding::filledDims(const std::vector<int64_t> &dims) const {
  std::vector<int64_t> filled = shardDims(dims);
  for (size_t i = 0; i < filled.size() && i < tiles.size(); ++i)
    filled[i] *= tiles[i];
  return filled;
}

void Sharding::extentOf(int64_t device, const std::vector<int64_t> &dims, std::vector<int64_t> &offset,
                        std::vector<int64_t> &inside) const {
  inside = shardDims(dims);
  offset.assign(dims.size(), 0);
  for (size_t i = 0; i < dims.size() && i < tiles.size(); ++i) {
    if (tileOf[i].empty())
      continue;
    offset[i] = std::min(dims[i], tileOf[i][size_t(device)] * inside[i]);
    inside[i] = std::min(inside[i], dims[i] - offset[i]);
  }
}

std::vector<int64_t> Sharding::replicaIds() const {
  std::map<std::vector<int32_t>, int64_t> seen;
  std::vector<int64_t> ids;
  for (int64_t device = 0; device < devices; ++device) {
    std::vector<int32_t> part;
    for (const std::vector<int32_t> &of : tileOf)
      part.push_back(of.empty() ? 0 : of[size_t(device)]);
    ids.push_back(seen[part]++);
  }
  return ids;
}

//===-- Axes ----------------------------------------------------------------===//

namespace {

/// A prime factor of an axis. A position along the axis is written as one digit per factor, major to minor.
struct Digit {
  size_t axis;
  int64_t pre, size;   ///< the sub-axis that the digit counts along
  int64_t stride;      ///< distance between neighbours, in positions of the mesh
};

std::vector<Digit> digitsOf(const Mesh &mesh) {
  std::vector<Digit> digits;
  int64_t inner = 1;
  for (int64_t size : mesh.sizes)
    inner *= size;
  for (size_t axis = 0; axis < mesh.sizes.size(); ++axis) {
    int64_t rest = mesh.sizes[axis], pre = 1;
    inner /= rest;
    for (int64_t factor = 2; rest > 1; ++factor)
      for (; rest % factor == 0; pre *= factor) {
        rest /= factor;
        digits.push_back({axis, pre, factor, inner * rest});
      }
  }
  return digits;
}

std::string quoted(const std::string &name) {
  std::string text = "\"";
  for (char c : name)
    text += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return text + "\"";
}

/// Finds axes, major to minor, that cut a dim into `tiles` as `tileOf` says: `"x", "y":(2)2`. Returns false if there are none.
bool axesOf(const Mesh &mesh, int64_t tiles, const std::vector<int32_t> &tileOf, std::string &text) {
  text.clear();
  if (tiles == 1)
    return true;
  std::vector<std::pair<int64_t, Digit>> steps; // pairs of a digit and the number of tiles by which its next value moves
  std::vector<Digit> digits = digitsOf(mesh);
  auto tileAt = [&](int64_t position) { return int64_t(tileOf[size_t(mesh.devices[size_t(position)])]); };
  for (const Digit &digit : digits)
    if (int64_t step = tileAt(digit.stride) - tileAt(0))
      steps.push_back({step, digit});
  std::sort(steps.begin(), steps.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
  int64_t expected = 1;
  for (size_t i = steps.size(); i-- > 0;) {
    if (steps[i].first != expected)
      return false;
    expected *= steps[i].second.size;
  }
  if (expected != tiles)
    return false;
  for (int64_t position = 0; position < int64_t(mesh.devices.size()); ++position) {
    int64_t tile = 0;
    for (const auto &[step, digit] : steps)
      tile += position / digit.stride % digit.size * step;
    if (tile != tileAt(position))
      return false;
  }
  for (size_t i = 0; i < steps.size();) {
    Digit whole = steps[i].second; // adjacent digits of an axis are merged to one sub-axis
    for (++i; i < steps.size() && steps[i].second.axis == whole.axis && steps[i].second.pre == whole.pre * whole.size; ++i)
      whole.size *= steps[i].second.size;
    text += (text.empty() ? "" : ", ") + quoted(mesh.names[whole.axis]);
    if (whole.size != mesh.sizes[whole.axis])
      text += ":(" + std::to_string(whole.pre) + ")" + std::to_string(whole.size);
  }
  return true;
}

std::string attributeOf(const Mesh &mesh, const Sharding &sharding) {
  std::string dims;
  for (size_t i = 0; i < sharding.tiles.size(); ++i) {
    std::string axes;
    if (!axesOf(mesh, sharding.tiles[i], sharding.tileOf[i], axes))
      return "";
    dims += (i ? ", {" : "{") + axes + "}";
  }
  std::string text = "#sdy.sharding<mesh<[", ids;
  for (size_t i = 0; i < mesh.names.size(); ++i)
    text += (i ? ", " : "") + quoted(mesh.names[i]) + "=" + std::to_string(mesh.sizes[i]);
  bool ordered = std::is_sorted(mesh.devices.begin(), mesh.devices.end());
  for (size_t i = 0; i < mesh.devices.size() && !ordered; ++i)
    ids += (i ? ", " : "], device_ids=[") + std::to_string(mesh.devices[i]);
  return text + ids + "]>, [" + dims + "]>";
}

/// Makes the attribute with axes of generated names, from the order of the devices.
std::string attributeOf(const sdy::HloSharding &parsed, int64_t rank) {
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.getOrLoadDialect("sdy");
  llvm::SmallVector<sdy::AxisRefAttr> manual;
  std::string error, text;
  sdy::TensorShardingAttr attribute = sdy::toSdy(parsed, rank, &context, manual, error);
  if (attribute && manual.empty())
    llvm::raw_string_ostream(text) << attribute;
  return text;
}

} // namespace

/// All shardings that the process has read. They are few, and every step looks them up again.
struct Known {
  std::mutex mutex;
  std::vector<std::shared_ptr<const Mesh>> meshes;
  std::map<std::tuple<std::string, int64_t, int64_t, const Mesh *>, ShardingPtr> read;
  std::map<std::pair<std::string, std::string>, ShardingPtr> byText;
  static Known &get() {
    static auto *known = new Known;
    return *known;
  }
  std::shared_ptr<const Mesh> same(const std::shared_ptr<const Mesh> &mesh) {
    for (const std::shared_ptr<const Mesh> &each : meshes)
      if (!mesh || *each == *mesh)
        return mesh ? each : nullptr;
    if (mesh)
      meshes.push_back(mesh);
    return mesh;
  }
};

static runtime::StatusOr<ShardingPtr> readNew(const std::string &text, int64_t rank, int64_t devices,
                                              std::shared_ptr<const Mesh> mesh) {
  std::string error;
  std::optional<sdy::HloSharding> parsed = sdy::parseHloSharding(text, error);
  spmd::Placement placement;
  std::vector<int32_t> manual;
  if (!parsed || !spmd::fromHloSharding(*parsed, rank, devices, placement, manual, error))
    return runtime::invalidArgument("sharding " + text + ": " + error);
  auto made = std::make_shared<Sharding>();
  made->devices = devices;
  for (const spmd::Tiles &tiles : placement) {
    made->tiles.push_back(tiles.count);
    made->tileOf.push_back(tiles.of);
  }
  // Lists of devices are written out, so that each sharding has one spelling.
  if (parsed->kind == sdy::HloSharding::Kind::Tiled)
    parsed->order = {parsed->order.devices(), {}, {}};
  bool isManual = parsed->kind == sdy::HloSharding::Kind::Manual;
  if (!isManual && spmd::isWhole(placement) && manual.empty())
    parsed = sdy::HloSharding();
  made->text = sdy::toString(*parsed);
  if (!manual.empty())
    return ShardingPtr(std::move(made));
  if (mesh && int64_t(mesh->devices.size()) == devices)
    made->attribute = attributeOf(*mesh, *made);
  if (!made->attribute.empty())
    made->mesh = std::move(mesh);
  else if (!made->isReplicated())
    made->attribute = attributeOf(*parsed, rank);
  return ShardingPtr(std::move(made));
}

runtime::StatusOr<ShardingPtr> readSharding(const std::string &text, int64_t rank, int64_t devices,
                                            std::shared_ptr<const Mesh> mesh) {
  Known &known = Known::get();
  std::lock_guard lock(known.mutex);
  mesh = known.same(mesh);
  ShardingPtr &found = known.read[{text, rank, devices, mesh.get()}];
  if (!found) {
    runtime::StatusOr<ShardingPtr> made = readNew(text, rank, devices, mesh);
    if (!made)
      return made.status();
    found = *made;
    known.byText[{found->text, found->attribute}] = found;
  }
  return found;
}

ShardingPtr knownSharding(const std::string &text, const std::string &attribute) {
  Known &known = Known::get();
  std::lock_guard lock(known.mutex);
  auto found = known.byText.find({text, attribute});
  return found == known.byText.end() ? nullptr : found->second;
}

//===-- Reports of the compiler about a program -------------------------------===//

namespace {

runtime::StatusOr<std::string> withModule(const std::string &program,
                                          const std::function<bool(mlir::ModuleOp, llvm::raw_ostream &)> &body) {
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::string errors, made;
  mlir::ScopedDiagnosticHandler collect(&context, [&](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      errors += (errors.empty() ? "" : "\n") + diagnostic.str();
    return mlir::success();
  });
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(program, &context);
  llvm::raw_string_ostream stream(made);
  if (!module)
    return runtime::internalError("the traced program cannot be parsed: " + errors);
  loadCompilerDialects(context);
  calls::prepareCollectives(*module);
  if (!body(*module, stream))
    return runtime::internalError("the program cannot be partitioned: " + errors);
  return made;
}

} // namespace

runtime::StatusOr<std::string> explainSharding(const std::string &program, const std::string &mesh, int64_t smallest) {
  return withModule(program, [&](mlir::ModuleOp module, llvm::raw_ostream &os) {
    if (!mesh.empty()) {
      autosharding::AutoShardingReport planned;
      if (failed(shardOver(module, mesh, smallest, &planned)))
        return false;
      autosharding::printPlan(planned, {}, os);
    }
    return succeeded(spmd::explainSharding(module, os));
  });
}

std::string explanationPage(const std::string &report, const std::string &title) {
  return spmd::explanationPage(report, title);
}

runtime::StatusOr<std::string> partitionedText(const std::string &program, const std::string &mesh, int64_t smallest) {
  return withModule(program, [&](mlir::ModuleOp module, llvm::raw_ostream &os) {
    autosharding::AutoShardingReport planned;
    if (failed(shardOver(module, mesh, smallest, &planned)) || failed(spmd::partition(module)))
      return false;
    module->print(os);
    return true;
  });
}

} // namespace millrace::tracing
