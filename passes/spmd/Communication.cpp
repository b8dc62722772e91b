// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Communication.cpp - Cost of a program's collectives ----------------===//
#include "passes/spmd/Communication.h"

#include "dialects/stablehlo/Ops.h"
#include "passes/sharding/explain/Explanation.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::spmd {

int64_t bytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return 0;
  Type element = tensor.getElementType();
  if (auto quantized = dyn_cast<quant::QuantizedType>(element))
    element = quantized.getStorageType();
  auto complex = dyn_cast<ComplexType>(element);
  int64_t bits = complex ? 2 * complex.getElementType().getIntOrFloatBitWidth() : element.getIntOrFloatBitWidth();
  return tensor.getNumElements() * std::max<int64_t>(8, bits) / 8;
}

static int64_t bytesOf(TypeRange types) {
  int64_t bytes = 0;
  for (Type type : types)
    bytes += bytesOf(type);
  return bytes;
}

std::optional<Cost> communicationOf(Operation *op) {
  if (!isa<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp, CollectivePermuteOp, CollectiveBroadcastOp,
           CollectiveReduceOp>(op))
    return std::nullopt;
  Cost cost;
  if (auto groups = op->getAttrOfType<DenseIntElementsAttr>("replica_groups"))
    if (auto type = dyn_cast<RankedTensorType>(groups.getType()); type && type.getRank() == 2)
      cost.devices = std::max<int64_t>(1, type.getDimSize(1));
  int64_t in = bytesOf(op->getOperandTypes()), out = bytesOf(op->getResultTypes()), others = cost.devices - 1;
  int64_t messages = others;
  llvm::TypeSwitch<Operation *>(op)
      // In a ring, shards are summed on their way around, and then distributed.
      .Case([&](AllReduceOp) {
        cost.received = 2 * in * others / cost.devices;
        messages = 2 * others;
      })
      .Case([&](AllGatherOp) { cost.received = out * others / cost.devices; })
      .Case<ReduceScatterOp, AllToAllOp>([&](auto) { cost.received = in * others / cost.devices; })
      .Case([&](CollectivePermuteOp) {
        cost.received = in;
        messages = 1;
        cost.devices = 2;
      })
      .Default([&](Operation *) { cost.received = in; });
  cost.messages = messages;
  cost.microseconds = messages + cost.received / 10e3;
  return cost;
}

void printCommunication(ModuleOp module, llvm::raw_ostream &os) {
  int64_t bytes = 0, count = 0;
  double time = 0;
  module.walk([&](Operation *op) {
    std::optional<Cost> cost = communicationOf(op);
    if (!cost)
      return;
    os << "  " << op->getName().stripDialect() << " ";
    llvm::interleaveComma(op->getResultTypes(), os);
    os << " among " << cost->devices << ": " << cost->received << " bytes, about "
       << llvm::format("%.1f", cost->microseconds) << " us";
    if (std::string line = sharding::lineOf(op->getLoc()); !line.empty())
      os << "  (" << line << ")";
    os << "\n";
    bytes += cost->received;
    time += cost->microseconds;
    ++count;
  });
  os << "  " << count << (count == 1 ? " collective, " : " collectives, ") << bytes << " bytes, about "
     << llvm::format("%.1f", time) << " us; operations inside of loops are counted once\n";
}

} // namespace millrace::spmd
