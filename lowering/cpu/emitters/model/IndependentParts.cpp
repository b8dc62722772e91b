// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IndependentParts.cpp - Emit pieces and results with separate ranges -===//
// Input:   concatenate(a: 100x300, b: 200x300) along dimension 0; or three slices of x: 1000x1200 as three results.
// Output:  the range of a's piece followed by that of b's: each part is emitted as if it were the whole kernel, in units that take about the same
//          time, and its loop covers its share of [begin, end). The parts so need no common index for threads to share them.
// Pieces whose common outer indices are too few for the threads (the heads of a cache of keys that grows by one) are parts as well.
// Leaves alone kernels with reductions, pieces that overwrite others, kernels whose results have enough common outer indices, or too little work for
// more than one thread: these store whole rows at once.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/rows/RowEmitter.h"

#include "runtime/base/ThreadPool.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

#include <cmath>

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Each part is separate code. Unit: parts. Source: judgement, not measured alone; commit 1c52e2a has the figures of the whole change.
constexpr size_t kMaxParts = 24;
/// A unit of the range takes at least so long, if there is enough work. Unit: nanoseconds. Source: judgement, not measured alone; commit 1c52e2a has
/// the figures of the whole change.
constexpr double kMinUnitNanoseconds = 500;

/// The outputs of one part and the nodes on which they depend.
struct Part {
  KernelModel model;
  EmittedKernel kernel;
  int64_t perUnit = 1, units = 0, first = 0; ///< iterations of the part's own range per unit of the whole one
};

class PartsEmitter {
public:
  PartsEmitter(func::FuncOp kernel, const KernelModel &model, const KernelTarget &target) : kernel(kernel), model(model), target(target) {}

  FailureOr<EmittedKernel> run() {
    if (failed(split()))
      return refuse(kernel, "parts", why);
    for (Part &part : parts) {
      FailureOr<EmittedKernel> emitted = RowEmitter(kernel, part.model, target).run();
      if (failed(emitted)) {
        for (Part &other : parts)
          if (other.kernel.fn)
            other.kernel.fn.erase();
        return refuse(kernel, "parts", "a part is not emitted");
      }
      part.kernel = *emitted;
    }
    return join();
  }

private:
  LogicalResult split();
  KernelModel modelOf(ArrayRef<const Output *> outputs) const;
  EmittedKernel join();

  func::FuncOp kernel;
  const KernelModel &model;
  const KernelTarget &target;
  std::vector<Part> parts;
  std::string why;
};

LogicalResult PartsEmitter::split() {
  if (llvm::any_of(model.nodes, [](const Node &node) { return node.reduction; })) {
    why = "a reduction";
    return failure();
  }
  // Every element is written: pieces with as many elements as their buffer do not overlap.
  DenseMap<int, int64_t> written;
  AtomSet common = model.allAtoms;
  for (const Output &output : model.outputs) {
    AtomSet atoms = output.store.address.atoms();
    written[output.store.buffer] += model.product(atoms);
    common &= atoms;
    for (int atom : members(atoms))
      if (output.store.address.coefficient(atom) == 1)
        common &= ~atomBit(atom);
  }
  // Work that takes one thread less than this is not divided. Unit: nanoseconds. Source: arithmetic: two pieces of the thread pool's shortest length.
  constexpr double kMinSharedNanoseconds = 2 * runtime::ThreadPool::leastPieceAwake / 1000;
  AtomSet shared = model.totalBytes() / target.rowBytesPerNanosecond >= kMinSharedNanoseconds ? common : AtomSet(0);
  SmallVector<std::pair<int, SmallVector<const Output *>>> groups; // outputs with the same outermost index, shared ones excepted
  for (const Output &output : model.outputs) {
    int outermost = -1;
    for (int atom : members(output.store.address.atoms() & ~shared))
      if (outermost < 0 || output.store.address.coefficient(atom) > output.store.address.coefficient(outermost))
        outermost = atom;
    auto group = llvm::find_if(groups, [&](auto &known) { return known.first == outermost; });
    if (group == groups.end())
      group = groups.insert(groups.end(), {outermost, {}});
    group->second.push_back(&output);
  }
  for (auto [buffer, elements] : written)
    if (elements != model.bufferElements[buffer]) {
      why = "pieces that overwrite others";
      return failure();
    }
  if (groups.size() < 2 || groups.size() > kMaxParts) {
    why = groups.size() < 2 ? "all results have the same outermost index" : "too many parts";
    return failure();
  }
  if (model.product(common) >= 4 * target.threads) {
    why = "the results share outer indices";
    return failure();
  }
  for (auto &[atom, outputs] : groups)
    parts.emplace_back().model = modelOf(outputs);
  return success();
}

/// Returns the model of the kernel with these results only.
KernelModel PartsEmitter::modelOf(ArrayRef<const Output *> outputs) const {
  KernelModel part;
  part.atomSizes = model.atomSizes;
  part.bufferElements = model.bufferElements;
  part.bufferTypes = model.bufferTypes;
  part.rowAtom = model.rowAtom;
  part.rowIndices = model.rowIndices;
  part.maxElementBits = 8;
  SmallVector<bool> needed(model.nodes.size(), false);
  auto need = [&](const Operand &operand) {
    if (operand.kind == Operand::Intermediate)
      needed[model.producer.find(operand.value)->second.first] = true;
  };
  for (const Output *output : outputs) {
    part.outputs.push_back(*output);
    part.allAtoms |= output->store.address.atoms();
    part.maxElementBits = std::max<int>(part.maxElementBits, model.bufferTypes[output->store.buffer].getIntOrFloatBitWidth());
    need(output->value);
  }
  // Nodes are in program order: operands come before their users.
  for (size_t index = model.nodes.size(); index-- > 0;)
    if (needed[index]) {
      const Node &node = model.nodes[index];
      part.allAtoms |= node.iteration;
      for (const Operand &operand : node.inputs)
        need(operand);
      for (const Operand &operand : node.inits)
        need(operand);
      for (const auto &[value, operand] : node.captured)
        need(operand);
    }
  for (auto [index, node] : llvm::enumerate(model.nodes))
    if (needed[index]) {
      for (auto [number, result] : llvm::enumerate(node.op->getResults())) {
        part.producer[result] = {int(part.nodes.size()), int(number)};
        part.maxElementBits = std::max<int>(part.maxElementBits, getElementTypeOrSelf(result.getType()).getIntOrFloatBitWidth());
      }
      if (node.body)
        for (Operation &op : *node.body)
          for (Type type : op.getResultTypes())
            if (type.isIntOrFloat())
              part.maxElementBits = std::max<int>(part.maxElementBits, type.getIntOrFloatBitWidth());
      part.nodes.push_back(node);
    }
  return part;
}

/// Creates one function whose units are those of all parts, one after the other.
EmittedKernel PartsEmitter::join() {
  func::FuncOp shell = createShell(kernel, model);
  OpBuilder b(shell.getBody().front().getTerminator());
  Location loc = kernel.getLoc();
  auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
  EmittedKernel out;
  out.fn = shell;
  out.emitter = "row";
  double total = 0;
  int64_t units = 0;
  for (Part &part : parts) {
    EmittedKernel &own = part.kernel;
    part.perUnit = std::clamp<int64_t>(int64_t(std::ceil(kMinUnitNanoseconds / std::max(own.nanosPerIteration, 1e-3))), 1, own.rangeEnd);
    part.units = llvm::divideCeil(own.rangeEnd, part.perUnit);
    part.first = units;
    units += part.units;
    total += own.nanosPerIteration * double(own.rangeEnd);
    out.scratchBytesPerTask = std::max(out.scratchBytesPerTask, own.scratchBytesPerTask);
  }
  // Of an open number of rows a unit has the same ones of all parts.
  int64_t rowsPerUnit = 0;
  if (llvm::all_of(parts, [](const Part &part) { return part.kernel.rows.indices > 0; })) {
    int64_t rows = model.atomSizes[model.rowAtom] / model.rowIndices;
    rowsPerUnit = std::clamp<int64_t>(int64_t(std::ceil(kMinUnitNanoseconds * double(rows) / std::max(total, 1e-3))), 1, rows);
    units = llvm::divideCeil(rows, rowsPerUnit);
    out.rows = {1, rowsPerUnit, 1, rowsPerUnit == 1 && llvm::all_of(parts, [](const Part &part) { return part.kernel.rows.isExact; })};
  }
  for (Part &part : parts) {
    func::FuncOp own = part.kernel.fn;
    auto ofRows = [&](Value unit) -> Value {
      const runtime::RowRange &rows = part.kernel.rows;
      Value indices = arith::MulIOp::create(b, loc, unit, index(rowsPerUnit * rows.indices));
      Value whole = arith::CeilDivUIOp::create(b, loc, indices, index(rows.indicesPerUnit));
      return arith::MinUIOp::create(b, loc, arith::MulIOp::create(b, loc, whole, index(rows.units)), index(part.kernel.rangeEnd));
    };
    // Units before the part's first and after its last one belong to other parts.
    auto bound = [&](Value unit) -> Value {
      if (rowsPerUnit)
        return ofRows(unit);
      Value inside = arith::SubIOp::create(b, loc, arith::MaxSIOp::create(b, loc, unit, index(part.first)), index(part.first));
      Value iteration = arith::MulIOp::create(b, loc, inside, index(part.perUnit));
      return arith::MinSIOp::create(b, loc, iteration, index(part.kernel.rangeEnd));
    };
    IRMapping map;
    for (unsigned i = 0; i + 2 < own.getNumArguments(); ++i)
      map.map(own.getArgument(i), shell.getArgument(i));
    map.map(rangeBegin(own), bound(rangeBegin(shell)));
    map.map(rangeEndArg(own), bound(rangeEndArg(shell)));
    for (Operation &op : own.getBody().front().without_terminator())
      b.clone(op, map);
    own.erase();
  }
  out.rangeEnd = units;
  out.nanosPerIteration = total / double(units);
  return out;
}

} // namespace

FailureOr<EmittedKernel> emitIndependentParts(func::FuncOp fn, const KernelTarget &target) {
  FailureOr<KernelModel> model = modelFor(fn, "parts");
  if (failed(model))
    return failure();
  return PartsEmitter(fn, *model, target).run();
}

} // namespace millrace::lowering
