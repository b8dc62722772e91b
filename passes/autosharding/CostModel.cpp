// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CostModel.cpp - Seconds and bytes of a strategy ---------------------===//
#include "passes/autosharding/CostModel.h"
#include "passes/autosharding/Work.h"

#include "passes/sharding/propagation/ModuleGraph.h"
#include "passes/sharding/rules/OpRules.h"
#include "passes/spmd/Passes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace millrace::sharding;
using namespace millrace::stablehlo;

namespace millrace::autosharding {

namespace {

double localBytes(Value value, const TensorSharding &sharding) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? double(elementsOf(type.getShape(), sharding)) * double(elementBytes(type)) : 0;
}

void print(llvm::raw_ostream &os, const TensorSharding &sharding) {
  for (const DimSharding &dim : sharding.dims) {
    for (const Axis &axis : dim.axes)
      os << axis.axis << ':' << axis.pre << ':' << axis.size << ' ';
    os << '|';
  }
}

/// Returns true if all shards have one size.
bool isEven(ArrayRef<int64_t> shape, const TensorSharding &sharding) {
  return llvm::all_of(llvm::zip_equal(shape, sharding.dims),
                      [](auto each) { return std::get<0>(each) % productOf(std::get<1>(each).axes) == 0; });
}

/// Returns the axes that do not shard the same dimension in both.
Axes changedAxes(const TensorSharding &from, const TensorSharding &to) {
  Axes changed;
  for (auto [before, after] : llvm::zip_equal(from.dims, to.dims))
    if (before.axes != after.axes) {
      llvm::append_range(changed, before.axes);
      llvm::append_range(changed, after.axes);
    }
  return changed;
}

} // namespace

CostModel::CostModel(const Machine &machine, sdy::MeshAttr mesh, bool sumsShareMessages)
    : description(machine), meshAttr(mesh), sharesMessages(sumsShareMessages) {
  for (sdy::MeshAxisAttr axis : mesh.getAxes())
    sizes.push_back(axis.getSize());
  scope = spmd::Scope::all(mesh.getTotalSize());
}

double CostModel::secondsOf(Operation *op, const Strategy &strategy) const {
  auto bytes = [](ValueRange values, llvm::ArrayRef<TensorSharding> shardings) {
    return llvm::map_to_vector(llvm::zip_equal(values, shardings), [](auto each) { return localBytes(std::get<0>(each), std::get<1>(each)); });
  };
  double moved = bytesMoved(op, bytes(op->getOperands(), strategy.operands), bytes(op->getResults(), strategy.results));
  return secondsOfWork(description, op, flopsOf(op) * strategy.share, moved);
}

double CostModel::secondsOfSharedMessages() const {
  Traffic traffic;
  traffic.messages = description.messagesOfSum(meshAttr.getTotalSize());
  traffic.received = 1;
  return std::ldexp(1.0, int(sizes.size())) * description.latencyOf(description.links.back(), traffic);
}

Transfer CostModel::reductionOf(Operation *op, const Strategy &strategy, double leastShare) const {
  Transfer transfer;
  int64_t devices = productOf(strategy.summed);
  if (devices < 2)
    return transfer;
  const Link &link = description.linkOf(strategy.summed, sizes);
  for (auto [result, summed, kept] : llvm::zip_equal(op->getResults(), strategy.results, strategy.kept)) {
    bool isScattered = !(summed == kept);
    Traffic traffic;
    traffic.messages = isScattered ? description.messagesAmong(devices) : description.messagesOfSum(devices);
    traffic.operand = localBytes(result, summed), traffic.result = localBytes(result, kept);
    traffic.received = (isScattered ? 1 : 2) * traffic.operand * double(devices - 1) / double(devices);
    double share = isScattered ? 1 : std::min(1.0, std::max(leastShare, traffic.operand / double(spmd::kMostReduceBytes)));
    transfer.seconds += share * description.latencyOf(link, traffic) + description.secondsOfBytes(link, traffic);
    transfer.bytes += traffic.received;
  }
  return transfer;
}

spmd::Placement CostModel::placementOf(const TensorSharding &sharding) const {
  spmd::Placement placement;
  for (const DimSharding &dim : sharding.dims)
    placement.push_back(dim.axes.empty() ? spmd::Tiles() : spmd::tilesOfAxes(toAttr(dim.axes, meshAttr), meshAttr));
  return placement;
}

Transfer CostModel::reshard(Type type, const TensorSharding &from, const TensorSharding &to) {
  Transfer transfer;
  Axes changed = changedAxes(from, to);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
  if (changed.empty() || llvm::is_contained(shape, 0))
    return transfer;
  std::string key;
  llvm::raw_string_ostream stream(key);
  for (int64_t size : shape)
    stream << size << ',';
  print(stream, from);
  stream << '>';
  print(stream, to);
  auto [found, isNew] = plans.try_emplace(key);
  if (isNew) {
    spmd::Placement before = placementOf(from);
    for (const spmd::Move &move : spmd::planReshard(before, placementOf(to), shape, scope)) {
      int64_t tilesBefore = 1, tilesAfter = 1, elements = spmd::received(move, before, shape, scope);
      for (auto [old, now] : llvm::zip_equal(before, move.result)) {
        tilesBefore *= old.count;
        tilesAfter *= now.count;
      }
      // In an all-gather a device receives from all devices whose tiles it gets, in an all-to-all from those whose dimension changes, otherwise from
      // one or two neighbours.
      int64_t partners = move.kind == spmd::Move::Kind::Gather ? description.messagesAmong(tilesBefore / std::max<int64_t>(1, tilesAfter))
                         : move.kind == spmd::Move::Kind::Exchange
                             ? before[move.from].count / std::max<int64_t>(1, move.result[move.from].count) - 1
                             : 1;
      int64_t all = llvm::product_of(shape), local = all / std::max<int64_t>(1, tilesBefore), result = all / std::max<int64_t>(1, tilesAfter);
      found->second.push_back({elements, std::max<int64_t>(1, partners), local, result});
      before = move.result;
    }
  }
  const Link &link = description.linkOf(changed, sizes);
  for (const Move &move : found->second) {
    double size = double(elementBytes(type));
    Traffic traffic{move.messages, double(move.elements) * size, double(move.operand) * size, double(move.result) * size};
    transfer.seconds += description.latencyOf(link, traffic) + description.secondsOfBytes(link, traffic);
    transfer.bytes += traffic.received;
  }
  auto rewrite = [&](const TensorSharding &sharding) {
    return description.secondsOfMemory(2 * double(elementsOf(shape, sharding)) * double(elementBytes(type)));
  };
  // A slice of a value on the device is read and written. Padding for unequal shards is added before a value is sharded, and removed after it is
  // gathered.
  if (transfer.bytes == 0)
    transfer.seconds += rewrite(to);
  if (!isEven(shape, to))
    transfer.seconds += rewrite(from);
  if (!isEven(shape, from))
    transfer.seconds += rewrite(to);
  return transfer;
}

} // namespace millrace::autosharding
