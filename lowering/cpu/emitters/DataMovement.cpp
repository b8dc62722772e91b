// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DataMovement.cpp - Transposes --------------------------------------===//
// Input:   y[u, v] = f(x[v, u], ...): x is contiguous along u, y along v; f elementwise, other indices around them.
// Output:  an iteration is a block of v (8 vectors) for one value of the outer indices. For each square of `lanes` u and
//          v: vectors of x along u, transposed by shuffles, then f and the stores for each u along v.
//          The last squares of u overlap those before; the last vector of v is masked. A u that is no multiple of a vector is read
//          together with the index outside of it, where x is contiguous along both (weights of convolutions: 9 and channels).
// Leaves alone kernels with reductions, or where everything is contiguous along one index.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/EmitterShell.h"
#include "lowering/cpu/emitters/VectorTranspose.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>

using namespace mlir;

namespace millrace::lowering {
namespace {

class TransposeEmitter {
public:
  TransposeEmitter(func::FuncOp kernel, const KernelModel &model, const KernelTarget &target)
      : kernel(kernel), model(model), target(target) {}
  FailureOr<EmittedKernel> run();

private:
  LogicalResult match();
  bool emit();
  void emitSquare(PointEvaluator &at, Value u0, Value v0);

  func::FuncOp kernel;
  const KernelModel &model;
  const KernelTarget &target;
  std::string why;
  int u = -1, v = -1;
  int around = -1; ///< index whose elements follow each other after those of u
  int64_t sizeU = 0; ///< of both
  int64_t lanes = 1, block = 1, blocks = 1;
  SmallVector<int> outer;
  SmallVector<const Access *> transposed;
  func::FuncOp shell;
};

LogicalResult TransposeEmitter::match() {
  if (model.hasComputedReads()) {
    why = "reads at computed indices";
    return failure();
  }
  for (const Node &node : model.nodes)
    if (node.reduction) {
      why = "a reduction";
      return failure();
    }
  AtomSet all = model.outputs[0].store.address.atoms();
  for (const Output &output : model.outputs) {
    if (output.store.address.atoms() != all) {
      why = "outputs with different indices";
      return failure();
    }
    for (int atom : members(all))
      if (output.store.address.coefficient(atom) == 1) {
        if (v >= 0 && v != atom) {
          why = "outputs contiguous along different indices";
          return failure();
        }
        v = atom;
      }
  }
  if (v < 0) {
    why = "no contiguous index";
    return failure();
  }
  // The other index: the one along which most of what is not contiguous along v is.
  std::map<int, double> bytes;
  model.forEachAccess([&](const Access &access, bool isStore) {
    if (isStore || access.address.coefficient(v) == 1 || access.address.coefficient(v) == 0)
      return;
    for (auto [atom, coefficient] : access.address.terms)
      if (coefficient == 1)
        bytes[atom] += access.numElements;
  });
  for (auto [atom, count] : bytes)
    if (u < 0 || count > bytes[u])
      u = atom;
  if (u < 0) {
    why = "no transposed access";
    return failure();
  }
  lanes = std::min<int64_t>(16, target.vectorBits / model.maxElementBits);
  if (model.atomSizes[u] * 2 < lanes || model.atomSizes[v] * 2 < lanes) {
    why = "a side of the transpose shorter than half a vector";
    return failure();
  }
  model.forEachAccess([&](const Access &access, bool isStore) {
    if (!isStore && access.guards.empty() && access.address.coefficient(u) == 1 &&
        access.address.coefficient(v) != 0 && access.address.coefficient(v) != 1)
      transposed.push_back(&access);
  });
  if (transposed.empty()) {
    why = "only padded transposed accesses";
    return failure();
  }
  sizeU = model.atomSizes[u];
  if (sizeU % lanes && sizeU < 8 * lanes)
    for (int atom : members(all & ~(atomBit(u) | atomBit(v))))
      if (llvm::all_of(transposed, [&](const Access *access) { return access->address.coefficient(atom) == sizeU; }))
        around = atom;
  if (around >= 0)
    sizeU *= model.atomSizes[around];
  outer = outermostFirst(model, all & ~(atomBit(u) | atomBit(v) | atomBit(around)));
  // Long pieces of the result's rows spare the translation of addresses; enough of them for the threads.
  block = 8 * lanes;
  while (block > 4 * lanes && model.atomSizes[v] / block * model.product(all & ~(atomBit(u) | atomBit(v) | atomBit(around))) < 4 * target.threads)
    block /= 2;
  blocks = llvm::divideCeil(model.atomSizes[v], block);
  return success();
}

void TransposeEmitter::emitSquare(PointEvaluator &at, Value u0, Value v0) {
  int64_t sizeV = model.atomSizes[v];
  int64_t rows = std::min(lanes, sizeU);
  Value count, mask;
  if (sizeV % lanes) {
    OpBuilder b = at.builder();
    Value left = arith::SubIOp::create(b, at.loc(), at.constant(sizeV), v0);
    count = arith::MinUIOp::create(b, at.loc(), left, at.constant(lanes));
    mask = vector::CreateMaskOp::create(b, at.loc(), at.vectorOf(b.getI1Type()), ValueRange{count});
  }
  Value rowMask;
  if (rows < lanes) {
    SmallVector<bool> bits(lanes, false);
    std::fill_n(bits.begin(), rows, true);
    rowMask = at.number(DenseElementsAttr::get(at.vectorOf(IntegerType::get(kernel.getContext(), 1)), bits));
  }
  SmallVector<SmallVector<Value>> squares;
  for (const Access *access : transposed) {
    SmallVector<Value> vectors;
    for (int64_t column = 0; column < lanes; ++column) {
      PointEvaluator point = at;
      point.enter(at.block());
      Value index = point.addConstant(v0, column);
      if (mask) {
        OpBuilder b = point.builder();
        index = arith::MinUIOp::create(b, point.loc(), index, point.constant(sizeV - 1));
      }
      point.bindIndex(v, index);
      point.bindIndex(u, u0);
      if (around >= 0)
        point.bindIndex(around, point.constant(0));
      point.setLanes(u, rowMask, rowMask ? point.constant(rows) : Value());
      vectors.push_back(point.load(*access));
    }
    OpBuilder b = at.builder();
    transposeInRegisters(b, at.loc(), vectors);
    squares.push_back(vectors);
  }
  for (int64_t row = 0; row < rows; ++row) {
    PointEvaluator point = at;
    point.enter(at.block());
    Value index = point.addConstant(u0, row);
    if (around >= 0) {
      OpBuilder b = point.builder();
      Value inner = point.constant(model.atomSizes[u]);
      point.bindIndex(around, arith::DivUIOp::create(b, point.loc(), index, inner));
      index = arith::RemUIOp::create(b, point.loc(), index, inner);
    }
    point.bindIndex(u, index);
    point.bindIndex(v, v0);
    point.setLanes(v, mask, count);
    for (auto [access, vectors] : llvm::zip(transposed, squares))
      point.bindLoad(*access, vectors[row]);
    for (const Output &output : model.outputs)
      point.store(output.store, point.evaluate(output.value));
  }
}

bool TransposeEmitter::emit() {
  shell = createShell(kernel, model);
  PointEvaluator at(model, shell, lanes);
  scf::ForOp loop = openLoop(at, rangeBegin(shell), rangeEndArg(shell), 1);
  at.enterLoop(loop);
  at.bindTask();
  Value iteration = loop.getInductionVar(), piece = at.constant(0);
  if (blocks > 1) {
    Value divisor = at.constant(blocks);
    OpBuilder b = at.builder();
    piece = arith::RemUIOp::create(b, at.loc(), iteration, divisor);
    iteration = arith::DivUIOp::create(b, at.loc(), iteration, divisor);
  }
  bindLinear(at, iteration, outer);
  int64_t sizeV = model.atomSizes[v];
  Value begin = at.mulConstant(piece, block), end = at.addConstant(begin, block);
  if (sizeV % block) {
    OpBuilder b = at.builder();
    end = arith::MinUIOp::create(b, at.loc(), end, at.constant(sizeV));
  }
  // Two squares side by side use whole cache lines of x before its next rows push them out.
  int64_t squares = sizeU >= 2 * lanes ? 2 : 1, step = squares * lanes;
  scf::ForOp uLoop = openLoop(at, at.constant(0), at.constant(sizeU), step);
  at.enterLoop(uLoop);
  Value u0 = uLoop.getInductionVar();
  if (sizeU < lanes) {
    u0 = at.constant(0);
  } else if (sizeU % step) {
    OpBuilder b = at.builder();
    u0 = arith::MinUIOp::create(b, at.loc(), u0, at.constant(sizeU - step));
  }
  // The other parts of `around` and u lie far from each other in the result, often by powers of two: a row is best written in whole
  // cache lines at once, before the lines of other rows take its place.
  int64_t beside = around >= 0 && sizeV % (2 * lanes) == 0 ? 2 : 1;
  scf::ForOp vLoop = openLoop(at, begin, end, beside * lanes);
  at.enterLoop(vLoop);
  for (int64_t square = 0; square < squares; ++square)
    for (int64_t next = 0; next < beside; ++next)
      emitSquare(at, at.addConstant(u0, square * lanes), at.addConstant(vLoop.getInductionVar(), next * lanes));
  return !at.broken();
}

FailureOr<EmittedKernel> TransposeEmitter::run() {
  if (failed(match()))
    return refuse(kernel, "movement", why);
  bool isWhole = emit();
  FailureOr<EmittedKernel> out = conclude(kernel, shell, "movement", isWhole);
  if (failed(out))
    return failure();
  out->rangeEnd = blocks;
  for (int atom : outer)
    out->rangeEnd *= model.atomSizes[atom];
  double operations = model.totalOperations() / lanes;
  out->nanosPerIteration =
      std::max(model.totalBytes() / 10.0, operations / (1.5 * target.gigahertz)) / double(out->rangeEnd);
  return out;
}

} // namespace

FailureOr<EmittedKernel> emitDataMovement(func::FuncOp fn, const KernelTarget &target) {
  std::string why;
  FailureOr<KernelModel> model = buildKernelModel(fn, why);
  if (failed(model))
    return refuse(fn, "movement", why);
  return TransposeEmitter(fn, *model, target).run();
}

} // namespace millrace::lowering
