// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Contraction.cpp - Sums of products ---------------------------------===//
// Input:   c[batch, m, n] = sum over k of a[batch, m, k] * b[batch, k, n], each of batch, m, n, k any number of atoms in
//          any order in memory; elementwise producers of a and b, elementwise consumers of c.
// Output:  an iteration is one unit: a block of rows m and a group of panels of NR columns n. For each block of k: pack
//          the rows of a if they cannot be read in place, and for each panel pack b as [k][NR]; then for MR rows at a
//          time accumulate MR x NR/lanes vectors over k in registers. After the last block of k the consumers are
//          evaluated on the accumulators and the outputs are stored; before, partial sums wait in scratch.
//          The last rows overlap (a row may be computed twice, with the same result); the last columns are masked.
// bf16 factors and f32 sums on processors with vdpbf16ps: b is packed in pairs of k, [k/2][NR][2], and one instruction
// adds two products per lane (denormal factors count as 0).
// Leaves alone: kernels with another reduction, one row (bandwidth-bound: the row emitter's dot products are right),
//          outputs without contiguous m or n.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/EmitterShell.h"
#include "lowering/cpu/emitters/SumOfProducts.h"
#include "lowering/cpu/emitters/VectorTranspose.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;

namespace millrace::lowering {
namespace {

/// One factor of the products.
struct Side : Factor {
  bool packed = true;
  int lane = -1; ///< atom along which it is contiguous
};

/// Sizes of the loops.
struct Tiling {
  int64_t lanes = 1;
  int64_t mr = 1, nv = 1; ///< rows and vectors of the register tile
  int64_t kc = 1;         ///< of the innermost k atom, per block
  int64_t kChunks = 1;
  int64_t splits = 1, splitLength = 1; ///< parts of the outermost k atom that is packed
  int64_t blockRows = 1, mBlocks = 1;
  int64_t groupPanels = 1, groups = 1, panels = 1;
  int64_t nr() const { return lanes * nv; }
};

class ContractionEmitter {
public:
  ContractionEmitter(func::FuncOp kernel, const KernelModel &model, const KernelTarget &target)
      : kernel(kernel), model(model), target(target) {}
  FailureOr<EmittedKernel> run();

private:
  LogicalResult match();
  LogicalResult classify();
  void chooseTile();
  void chooseBlocks();
  int contiguousAtom(const Operand &operand, AtomSet candidates) const;
  bool plainBuffer(const Side &side) const;
  double bytesOf(const Operand &operand, int atom, bool unit) const;

  bool emit();
  void packRows(PointEvaluator &block, Value rowBegin, Value rowEnd);
  void packPanel(PointEvaluator &panel, Value columnBegin);
  void emitTile(PointEvaluator &panel, Value row, Value rowBegin, Value rowEnd, Value columnBegin, Value panelInGroup,
                Value isFirst, Value isLast);
  double consumerCost() const;
  PointEvaluator columnPoint(PointEvaluator &panel, Value columnBegin, int64_t v);
  SmallVector<Value> outputsOf(PointEvaluator &point, Value sum);
  void finishTile(PointEvaluator &panel, Value row, MutableArrayRef<PointEvaluator> rows, Value columnBegin, ArrayRef<Value> sums);
  void finishRowByRow(PointEvaluator &panel, Value row, Value columnBegin, ArrayRef<Value> sums);
  void forEachK(PointEvaluator &at, int64_t step, SmallVector<Value> carried,
                llvm::function_ref<SmallVector<Value>(PointEvaluator &, Value packedIndex, Value k,
                                                      SmallVector<Value>)>
                    body,
                SmallVector<Value> *results = nullptr);
  SmallVector<Value>
  forEachPacked(PointEvaluator &at, int64_t step, SmallVector<Value> carried,
                llvm::function_ref<SmallVector<Value>(PointEvaluator &, Value packedIndex, Value k, SmallVector<Value>)> body);
  Value packedFactor(PointEvaluator &at, const Side &side);
  Value addPairs(PointEvaluator &at, Value x, Value y, Value sum);
  bool isWidenedBf16(const Side &side) const;
  Value columnMask(PointEvaluator &at, Value columnBegin, int64_t vector, Value &count);
  bool columnsMasked() const { return model.atomSizes[nLane] % tile.nr() != 0; }
  int64_t rows() const { return model.product(mAtoms); }

  func::FuncOp kernel;
  const KernelModel &model;
  const KernelTarget &target;
  std::string why;

  const Node *node = nullptr;
  SumOfProducts products;
  Side a, b;
  AtomSet batch = 0, mAtoms = 0, nAtoms = 0, kAtoms = 0;
  SmallVector<int> batchOrder, mOrder, nOuter, kOuter, kMiddle;
  int nLane = -1, kInner = -1;
  Type accType;
  Tiling tile;

  func::FuncOp shell;
  bool pairs = false;  ///< two products per instruction
  Type packType;       ///< of the packed factors
  Value packedA, packedB, partials;
  Value finished; ///< the sums of a tile, if consumers take them row by row
  int64_t aRowStride = 0, aKStride = 1, packedK = 0, scratchBytes = 0;
  Value kBegin, kEnd; ///< of the innermost k atom in the current block
  Value splitBegin;   ///< of the outermost packed k atom
};

LogicalResult ContractionEmitter::match() {
  for (const Node &candidate : model.nodes) {
    if (!candidate.reduction)
      continue;
    if (node) {
      why = "more than one reduction";
      return failure();
    }
    node = &candidate;
  }
  if (!node) {
    why = "no reduction";
    return failure();
  }
  if (failed(matchSumOfProducts(*node, products, why)))
    return failure();
  static_cast<Factor &>(a) = products.a;
  static_cast<Factor &>(b) = products.b;
  accType = products.accType;
  return success();
}

double ContractionEmitter::bytesOf(const Operand &operand, int atom, bool unit) const {
  if (operand.kind == Operand::Buffer) {
    int64_t coefficient = operand.access.address.coefficient(atom);
    return (unit ? coefficient == 1 : coefficient != 0) ? double(operand.access.numElements) : 0;
  }
  if (operand.kind != Operand::Intermediate)
    return 0;
  double bytes = 0;
  for (const Operand &input : model.nodeOf(operand).inputs)
    bytes += bytesOf(input, atom, unit);
  return bytes;
}

/// The atom along which most of what the operand reads is contiguous.
int ContractionEmitter::contiguousAtom(const Operand &operand, AtomSet candidates) const {
  int best = -1;
  double most = 0;
  for (int atom : members(candidates))
    if (double bytes = bytesOf(operand, atom, true); bytes > most) {
      most = bytes;
      best = atom;
    }
  return best;
}

/// Can be read in place by the register tile.
bool ContractionEmitter::plainBuffer(const Side &side) const {
  if (side.operand->kind != Operand::Buffer || !side.operand->access.guards.empty())
    return false;
  return pairs || (!side.converts && side.operand->elementType == accType);
}

bool ContractionEmitter::isWidenedBf16(const Side &side) const {
  auto extend = side.element.getDefiningOp<arith::ExtFOp>();
  return extend && isa<BlockArgument>(extend.getIn()) && side.operand->elementType.isBF16();
}

LogicalResult ContractionEmitter::classify() {
  AtomSet inA = model.depends(*a.operand), inB = model.depends(*b.operand), kept = node->kept;
  kAtoms = node->reduced();
  if ((kAtoms & ~(inA & inB)) || (kept & ~(inA | inB))) {
    why = "an index that only one factor or only the result has";
    return failure();
  }
  for (const Output &output : model.outputs)
    if (output.store.address.atoms() != kept) {
      why = "an output with other indices than the sum";
      return failure();
    }
  batch = kept & inA & inB;
  mAtoms = kept & inA & ~inB;
  nAtoms = kept & inB & ~inA;
  auto unitAtom = [&](AtomSet atoms) {
    for (int atom : members(atoms))
      if (model.outputs[0].store.address.coefficient(atom) == 1)
        return atom;
    return -1;
  };
  nLane = unitAtom(nAtoms);
  if (nLane < 0 && (nLane = unitAtom(mAtoms)) >= 0) {
    std::swap(a, b);
    std::swap(mAtoms, nAtoms);
  }
  if (nLane < 0) {
    why = "no index of one factor is contiguous in the output";
    return failure();
  }
  if (rows() == 1) {
    why = "a single row: bandwidth-bound";
    return failure();
  }
  if (model.atomSizes[nLane] * 4 < target.vectorBits / 32 && rows() * model.product(kAtoms) > 64) {
    why = "fewer columns than a quarter of a vector";
    return failure();
  }
  batchOrder = outermostFirst(model, batch);
  mOrder = outermostFirst(model, mAtoms);
  nOuter = outermostFirst(model, nAtoms & ~atomBit(nLane));
  return success();
}

void ContractionEmitter::chooseTile() {
  tile.lanes = target.vectorBits / accType.getIntOrFloatBitWidth();
  int64_t columns = model.atomSizes[nLane], best = INT64_MAX;
  int registers = target.vectorRegisters;
  // Cycles per k: two multiply-adds, two loads, at least the latency of one multiply-add. First of equals wins.
  SmallVector<int64_t> widths = registers == 32 ? SmallVector<int64_t>{3, 4, 2, 1, 5} : SmallVector<int64_t>{2, 1, 3};
  for (int64_t nv : widths) {
    int64_t most = (registers - 1 - nv - (registers == 32 ? 2 : 0)) / nv;
    if (registers == 32)
      most = std::min<int64_t>(most, nv == 3 ? 8 : nv == 4 ? 6 : nv == 2 ? 12 : 16);
    int64_t tiles = llvm::divideCeil(rows(), most), mr = llvm::divideCeil(rows(), tiles);
    int64_t panels = llvm::divideCeil(columns, nv * tile.lanes);
    int64_t cycles = std::max({mr * nv, mr + nv, int64_t(8)}) * tiles * panels;
    if (cycles < best) {
      best = cycles;
      tile.nv = nv;
      tile.mr = mr;
    }
  }
  // Few rows read b once and in place: wide pieces of its rows suit the prefetcher.
  if (rows() <= tile.mr && plainBuffer(b) && b.operand->access.address.coefficient(nLane) == 1) {
    int64_t widest = std::min<int64_t>((registers - 3) / (rows() + 1), 12);
    int64_t vectors = llvm::divideCeil(columns, tile.lanes);
    tile.nv = std::max(tile.nv, std::min<int64_t>(widest, llvm::divideCeil(vectors, 2 * target.threads)));
  }
  tile.panels = llvm::divideCeil(columns, tile.nr());
}

void ContractionEmitter::chooseBlocks() {
  // k: the atoms that are contiguous in a innermost; blocks of up to about 2000 in total, the innermost atom in equal
  // chunks.
  SmallVector<int> order = outermostFirst(model, kAtoms);
  int contiguous = contiguousAtom(*a.operand, kAtoms);
  if (contiguous < 0)
    contiguous = contiguousAtom(*b.operand, kAtoms);
  if (contiguous >= 0) {
    llvm::erase(order, contiguous);
    order.push_back(contiguous);
  }
  if (!order.empty()) {
    kInner = order.pop_back_val();
    int64_t size = model.atomSizes[kInner];
    int64_t most = 1280;
    tile.kChunks = size <= most ? 1 : llvm::divideCeil(size, 512);
    tile.kc = llvm::divideCeil(size, tile.kChunks);
    if (tile.kChunks > 1)
      tile.kc = llvm::alignTo(tile.kc, tile.lanes);
    tile.kChunks = llvm::divideCeil(size, tile.kc);
  }
  packedK = tile.kc;
  constexpr int64_t kMostPacked = 2400;
  while (!order.empty() && tile.kChunks == 1 && packedK * model.atomSizes[order.back()] <= kMostPacked) {
    packedK *= model.atomSizes[order.back()];
    kMiddle.insert(kMiddle.begin(), order.pop_back_val());
  }
  // Of the next atom equal parts, if they make the block much longer: partial sums and packing are paid per block.
  if (!order.empty() && tile.kChunks == 1 && packedK <= kMostPacked / 4) {
    int64_t size = model.atomSizes[order.back()];
    tile.splitLength = std::max<int64_t>(1, std::min(size, kMostPacked / packedK));
    while (size % tile.splitLength)
      --tile.splitLength;
    tile.splits = size / tile.splitLength;
    if (tile.splitLength == 1) {
      tile.splits = 1;
    } else {
      packedK *= tile.splitLength;
      kMiddle.insert(kMiddle.begin(), order.pop_back_val());
    }
  }
  kOuter = order;

  pairs = target.avx512bf16 && accType.isF32() && tile.lanes == 16 && isWidenedBf16(a) && isWidenedBf16(b) &&
          kInner >= 0 && model.atomSizes[kInner] % 2 == 0 && tile.kc % 2 == 0;
  packType = pairs ? Type(BFloat16Type::get(kernel.getContext())) : accType;

  // What is read in place.
  int64_t tiles = llvm::divideCeil(rows(), tile.mr);
  a.packed = !plainBuffer(a) ||
             (kInner >= 0 && a.operand->access.address.coefficient(kInner) != 1 && (pairs || rows() > 16));
  // Rows that are a multiple of half a page apart share few cache sets: worth a copy if many panels reuse it.
  if (!a.packed && rows() > 64 && tile.panels >= 8 && !mOrder.empty())
    a.packed = a.operand->access.address.coefficient(mOrder.back()) * packType.getIntOrFloatBitWidth() / 8 % 2048 == 0;
  b.packed = pairs || !plainBuffer(b) || b.operand->access.address.coefficient(nLane) != 1 || tiles > 2;
  a.lane = kInner;
  if (a.packed && !mOrder.empty() && !pairs) {
    // Rows along lanes only if no vector crosses from one m atom to the next.
    int along = contiguousAtom(*a.operand, atomBit(kInner) | mAtoms);
    if (along >= 0 && along != kInner && model.atomSizes[along] % tile.lanes == 0) {
      llvm::erase(mOrder, along);
      mOrder.push_back(along);
    }
    if (along == mOrder.back() && (mOrder.size() == 1 || model.atomSizes[along] % tile.lanes == 0))
      a.lane = along;
  }
  b.lane = contiguousAtom(*b.operand, atomBit(kInner) | atomBit(nLane)) == kInner && kInner >= 0 ? kInner : nLane;

  // Units: enough of them for the threads, each large enough to make packing cheap.
  int64_t outer = model.product(batch) * model.product(nAtoms & ~atomBit(nLane));
  int64_t wanted = 3 * target.threads;
  // A block of rows stays in the level 2 cache while the panels of its group pass.
  int64_t bytes = accType.getIntOrFloatBitWidth() / 8;
  int64_t limit = std::max<int64_t>(64, target.l2Bytes * 2 / 5 / (packedK * bytes));
  // Rows along lanes of several m atoms: blocks begin where no vector crosses from one atom to the next.
  int64_t align = a.packed && a.lane != kInner && mOrder.size() > 1 ? std::lcm(tile.mr, tile.lanes) : tile.mr;
  auto blockOf = [&](int64_t rowsPerBlock) {
    int64_t count = llvm::divideCeil(rows(), std::max<int64_t>(rowsPerBlock, tile.mr));
    tile.blockRows = llvm::alignTo(llvm::divideCeil(rows(), count), align);
    tile.mBlocks = llvm::divideCeil(rows(), tile.blockRows);
  };
  blockOf(std::min(limit, rows()));
  tile.groupPanels = a.packed || tile.mBlocks > 1 ? tile.panels : std::min<int64_t>(tile.panels, 4);
  auto units = [&] {
    tile.groups = llvm::divideCeil(tile.panels, tile.groupPanels);
    return outer * tile.groups * tile.mBlocks;
  };
  double work = double(rows()) * model.atomSizes[nLane] * outer * model.product(kAtoms);
  if (work > 1e5) {
    auto halveTo = [&](int64_t least) {
      while (units() < wanted && tile.blockRows > least) {
        int64_t before = tile.blockRows;
        blockOf(before / 2);
        if (tile.blockRows >= before)
          break;
      }
    };
    halveTo(96);
    while (units() < wanted && tile.groupPanels > 1)
      tile.groupPanels = llvm::divideCeil(tile.groupPanels, 2);
    halveTo(4 * tile.mr);
  }
  // Partial sums of the group stay in the cache, too.
  if (tile.kChunks > 1 || tile.splits > 1 || !kOuter.empty())
    tile.groupPanels = std::clamp<int64_t>(target.l2Bytes / 4 / (tile.blockRows * tile.nr() * bytes), 1, tile.groupPanels);
  units();
}

/// The factor as it is packed; lanes that do not exist are 0.
Value ContractionEmitter::packedFactor(PointEvaluator &at, const Side &side) {
  if (!pairs)
    return at.splat(factorAt(at, products, side));
  Value value = at.evaluateVector(*side.operand);
  if (at.laneMask()) {
    OpBuilder builder = at.builder();
    Value zero = at.number(cast<TypedAttr>(builder.getZeroAttr(value.getType())));
    value = arith::SelectOp::create(builder, at.loc(), at.laneMask(), value, zero);
  }
  return value;
}

Value ContractionEmitter::addPairs(PointEvaluator &at, Value x, Value y, Value sum) {
  OpBuilder builder = at.builder();
  return LLVM::CallIntrinsicOp::create(builder, at.loc(), sum.getType(),
                                       builder.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512"),
                                       ValueRange{sum, x, y})
      .getResult(0);
}

/// One loop over the packed k of the current block, for what needs no index of its own.
SmallVector<Value> ContractionEmitter::forEachPacked(
    PointEvaluator &at, int64_t step, SmallVector<Value> carried,
    llvm::function_ref<SmallVector<Value>(PointEvaluator &, Value, Value, SmallVector<Value>)> body) {
  Value end = at.constant(packedK);
  if (tile.kChunks > 1) {
    OpBuilder builder = at.builder();
    end = arith::SubIOp::create(builder, at.loc(), kEnd, kBegin);
  }
  scf::ForOp loop = openLoop(at, at.constant(0), end, step, carried);
  at.enterLoop(loop);
  yieldFrom(loop, body(at, loop.getInductionVar(), {}, SmallVector<Value>(loop.getRegionIterArgs())));
  at.leave();
  return SmallVector<Value>(loop.getResults());
}

/// Loops over the k of the current block in steps of the innermost atom. `packedIndex` counts them from 0.
void ContractionEmitter::forEachK(
    PointEvaluator &at, int64_t step, SmallVector<Value> carried,
    llvm::function_ref<SmallVector<Value>(PointEvaluator &, Value, Value, SmallVector<Value>)> body,
    SmallVector<Value> *results) {
  std::function<SmallVector<Value>(PointEvaluator &, size_t, Value, SmallVector<Value>)> nest =
      [&](PointEvaluator &point, size_t depth, Value base, SmallVector<Value> values) -> SmallVector<Value> {
    if (depth == kMiddle.size()) {
      if (kInner < 0)
        return body(point, base, {}, values);
      scf::ForOp loop = openLoop(point, kBegin, kEnd, step, values);
      point.enterLoop(loop);
      Value k = loop.getInductionVar();
      point.bindIndex(kInner, k);
      Value offset = k;
      if (!matchPattern(kBegin, m_Zero())) {
        OpBuilder builder = point.builder();
        offset = arith::SubIOp::create(builder, point.loc(), k, kBegin);
      }
      SmallVector<Value> next = body(point, point.add(base, offset), k,
                                     SmallVector<Value>(loop.getRegionIterArgs()));
      yieldFrom(loop, next);
      point.leave();
      return SmallVector<Value>(loop.getResults());
    }
    int atom = kMiddle[depth];
    bool isSplit = tile.splits > 1 && depth == 0;
    scf::ForOp loop = openLoop(point, point.constant(0),
                               point.constant(isSplit ? tile.splitLength : model.atomSizes[atom]), 1, values);
    point.enterLoop(loop);
    point.bindIndex(atom, isSplit ? point.add(splitBegin, loop.getInductionVar()) : Value(loop.getInductionVar()));
    int64_t stride = tile.kc;
    for (size_t deeper = depth + 1; deeper < kMiddle.size(); ++deeper)
      stride *= model.atomSizes[kMiddle[deeper]];
    Value inner = point.add(base, point.mulConstant(loop.getInductionVar(), stride));
    SmallVector<Value> next = nest(point, depth + 1, inner, SmallVector<Value>(loop.getRegionIterArgs()));
    yieldFrom(loop, next);
    point.leave();
    return SmallVector<Value>(loop.getResults());
  };
  SmallVector<Value> end = nest(at, 0, at.constant(0), carried);
  if (results)
    *results = end;
}

/// a[rows of the unit, k of the block] to scratch.
void ContractionEmitter::packRows(PointEvaluator &block, Value rowBegin, Value rowEnd) {
  bool alongRows = a.lane != kInner;
  int64_t lanes = tile.lanes;
  PointEvaluator at = block;
  scf::ForOp loop = openLoop(at, rowBegin, rowEnd, alongRows ? lanes : 1);
  at.enterLoop(loop);
  OpBuilder builder = at.builder();
  Value row = loop.getInductionVar();
  bindLinear(at, row, mOrder);
  Value local = arith::SubIOp::create(builder, at.loc(), row, rowBegin);
  Value base = at.mulConstant(local, aRowStride);
  if (alongRows) {
    Value mask, count;
    if (rows() % lanes) {
      builder = at.builder();
      Value left = arith::SubIOp::create(builder, at.loc(), at.constant(rows()), row);
      count = arith::MinUIOp::create(builder, at.loc(), left, at.constant(lanes));
      mask = vector::CreateMaskOp::create(builder, at.loc(), at.vectorOf(builder.getI1Type()), ValueRange{left});
    }
    at.setLanes(a.lane, mask, count);
  }
  forEachK(at, alongRows ? 1 : lanes, {},
           [&](PointEvaluator &point, Value packedIndex, Value k, SmallVector<Value>) -> SmallVector<Value> {
             if (!alongRows && kInner >= 0) {
               Value mask, count;
               if (model.atomSizes[kInner] % lanes) {
                 OpBuilder inner = point.builder();
                 Value left = arith::SubIOp::create(inner, point.loc(), kEnd, k);
                 count = arith::MinUIOp::create(inner, point.loc(), left, point.constant(lanes));
                 mask = vector::CreateMaskOp::create(inner, point.loc(), point.vectorOf(inner.getI1Type()),
                                                     ValueRange{left});
               }
               point.setLanes(kInner, mask, count);
             }
             Value value = packedFactor(point, a);
             Value to = point.add(base, point.mulConstant(packedIndex, aKStride));
             OpBuilder inner = point.builder();
             vector::StoreOp::create(inner, point.loc(), value, packedA, ValueRange{to});
             return {};
           });
  at.leave();
}

/// Mask of vector number `vector` of the panel; null if all its columns exist.
Value ContractionEmitter::columnMask(PointEvaluator &at, Value columnBegin, int64_t vector, Value &count) {
  if (!columnsMasked())
    return {};
  OpBuilder builder = at.builder();
  Value left =
      arith::SubIOp::create(builder, at.loc(), at.constant(model.atomSizes[nLane] - vector * tile.lanes), columnBegin);
  Value positive = arith::MaxSIOp::create(builder, at.loc(), left, at.constant(0));
  count = arith::MinSIOp::create(builder, at.loc(), positive, at.constant(tile.lanes));
  return vector::CreateMaskOp::create(builder, at.loc(), at.vectorOf(builder.getI1Type()), ValueRange{count});
}

/// b[k of the block, columns of the panel] to scratch as [k][NR].
void ContractionEmitter::packPanel(PointEvaluator &panel, Value columnBegin) {
  int64_t lanes = tile.lanes;
  if (b.lane == nLane) {
    SmallVector<Value> masks(tile.nv), counts(tile.nv);
    for (int64_t v = 0; v < tile.nv; ++v)
      masks[v] = columnMask(panel, columnBegin, v, counts[v]);
    PointEvaluator at = panel;
    forEachK(at, pairs ? 2 : 1, {},
             [&](PointEvaluator &point, Value packedIndex, Value k, SmallVector<Value>) -> SmallVector<Value> {
               Value base = point.mulConstant(packedIndex, tile.nr());
               for (int64_t v = 0; v < tile.nv; ++v) {
                 auto read = [&](int64_t ahead) {
                   PointEvaluator one = point;
                   one.enter(point.block());
                   if (ahead)
                     one.bindIndex(kInner, one.addConstant(k, ahead));
                   one.bindIndex(nLane, one.addConstant(columnBegin, v * lanes));
                   one.setLanes(nLane, masks[v], counts[v]);
                   return packedFactor(one, b);
                 };
                 Value value = read(0);
                 if (pairs) {
                   Value next = read(1);
                   OpBuilder builder = point.builder();
                   value = vector::InterleaveOp::create(builder, point.loc(), value, next);
                 }
                 PointEvaluator &one = point;
                 Value to = one.addConstant(base, v * lanes * (pairs ? 2 : 1));
                 OpBuilder builder = one.builder();
                 vector::StoreOp::create(builder, one.loc(), value, packedB, ValueRange{to});
               }
               return {};
             });
    return;
  }
  // Contiguous along k: vectors of k for `lanes` columns, transposed in registers.
  PointEvaluator at = panel;
  int64_t depth = pairs ? 2 * lanes : lanes;
  forEachK(at, depth, {},
           [&](PointEvaluator &point, Value packedIndex, Value k, SmallVector<Value>) -> SmallVector<Value> {
             Value masks[2], counts[2];
             if (model.atomSizes[kInner] % depth)
               for (int64_t half = 0; half * lanes < depth; ++half) {
                 OpBuilder builder = point.builder();
                 Value left = arith::SubIOp::create(builder, point.loc(), kEnd, point.addConstant(k, half * lanes));
                 left = arith::MaxSIOp::create(builder, point.loc(), left, point.constant(0));
                 counts[half] = arith::MinUIOp::create(builder, point.loc(), left, point.constant(lanes));
                 masks[half] = vector::CreateMaskOp::create(builder, point.loc(), point.vectorOf(builder.getI1Type()),
                                                            ValueRange{left});
               }
             Value base = point.mulConstant(packedIndex, tile.nr());
             scf::ForOp loop = openLoop(point, point.constant(0), point.constant(tile.nr()), lanes);
             point.enterLoop(loop);
             Value firstColumn = point.add(columnBegin, loop.getInductionVar());
             Value to = point.add(base, point.mulConstant(loop.getInductionVar(), pairs ? 2 : 1));
             SmallVector<Value> vectors;
             for (int64_t column = 0; column < lanes; ++column) {
               PointEvaluator one = point;
               one.enter(point.block());
               Value index = one.addConstant(firstColumn, column);
               if (columnsMasked()) {
                 OpBuilder builder = one.builder();
                 index = arith::MinUIOp::create(builder, one.loc(), index,
                                                one.constant(model.atomSizes[nLane] - 1));
               }
               one.bindIndex(nLane, index);
               one.setLanes(kInner, masks[0], counts[0]);
               Value value = packedFactor(one, b);
               if (pairs) {
                 PointEvaluator second = point;
                 second.enter(point.block());
                 second.bindIndex(nLane, index);
                 second.bindIndex(kInner, second.addConstant(k, lanes));
                 second.setLanes(kInner, masks[1], counts[1]);
                 Value upper = packedFactor(second, b);
                 // 16 pairs as 16 numbers.
                 SmallVector<int64_t> order;
                 for (int64_t lane = 0; lane < 2 * lanes; ++lane)
                   order.push_back(lane);
                 OpBuilder join = point.builder();
                 value = vector::ShuffleOp::create(join, point.loc(), value, upper, order);
                 value = vector::BitCastOp::create(join, point.loc(), point.vectorOf(join.getI32Type()), value);
               }
               vectors.push_back(value);
             }
             OpBuilder builder = point.builder();
             transposeInRegisters(builder, point.loc(), vectors);
             for (int64_t row = 0; row < lanes; ++row) {
               Value at = point.addConstant(to, row * tile.nr() * (pairs ? 2 : 1));
               OpBuilder store = point.builder();
               Value value = vectors[row];
               if (pairs)
                 value = vector::BitCastOp::create(store, point.loc(), VectorType::get({2 * lanes}, packType), value);
               vector::StoreOp::create(store, point.loc(), value, packedB, ValueRange{at});
             }
             point.leave();
             return {};
           });
}

/// The scalar operations that consumers of the sums take per element.
double ContractionEmitter::consumerCost() const {
  double cost = 0;
  for (const Node &consumer : model.nodes)
    if (!consumer.reduction && (consumer.depends & kInsideTask))
      cost += consumer.cost;
  return cost;
}

/// An evaluator for columns of vector number `v` of the panel.
PointEvaluator ContractionEmitter::columnPoint(PointEvaluator &panel, Value columnBegin, int64_t v) {
  PointEvaluator column = panel;
  column.enter(panel.block());
  column.bindIndex(nLane, column.addConstant(columnBegin, v * tile.lanes));
  Value count;
  Value mask = columnMask(column, columnBegin, v, count);
  column.setLanes(nLane, mask, count);
  return column;
}

/// The outputs where the sum of products is `sum`.
SmallVector<Value> ContractionEmitter::outputsOf(PointEvaluator &point, Value sum) {
  point.bind(node->op->getResult(0), finishSum(point, products, sum));
  SmallVector<Value> values;
  for (const Output &output : model.outputs)
    values.push_back(point.evaluate(output.value));
  return values;
}

/// Consumers and stores of one register tile whose first row is `row`.
void ContractionEmitter::finishTile(PointEvaluator &panel, Value row, MutableArrayRef<PointEvaluator> rowPoints,
                                    Value columnBegin, ArrayRef<Value> sums) {
  if (finished) {
    finishRowByRow(panel, row, columnBegin, sums);
    return;
  }
  struct Pending {
    PointEvaluator point;
    SmallVector<Value> values;
  };
  std::vector<Pending> pending;
  for (int64_t v = 0; v < tile.nv; ++v) {
    PointEvaluator column = columnPoint(panel, columnBegin, v);
    for (auto [r, rowPoint] : llvm::enumerate(rowPoints)) {
      PointEvaluator point = column;
      point.enter(panel.block());
      for (int atom : mOrder)
        point.bindIndex(atom, rowPoint.index(atom));
      SmallVector<Value> values = outputsOf(point, sums[r * tile.nv + v]);
      pending.push_back({point, values});
    }
  }
  // A row that two tiles of the block share is stored twice: all reads of a tile come before its stores.
  for (Pending &entry : pending)
    for (auto [output, value] : llvm::zip(model.outputs, entry.values))
      entry.point.store(output.store, value);
}

/// The same as a loop over the rows, with the sums in memory: consumers of many operations in code for each of them, MR x NV
/// times, take most of the time of compilation and leave no registers.
void ContractionEmitter::finishRowByRow(PointEvaluator &panel, Value row, Value columnBegin, ArrayRef<Value> sums) {
  int64_t lanes = tile.lanes;
  for (auto [i, sum] : llvm::enumerate(sums)) {
    OpBuilder builder = panel.builder();
    vector::StoreOp::create(builder, panel.loc(), sum, finished, ValueRange{panel.constant(i * lanes)});
  }
  // Each row once: the last tile may have fewer.
  Value count = panel.constant(tile.mr);
  if (rows() % tile.mr) {
    OpBuilder builder = panel.builder();
    Value left = arith::SubIOp::create(builder, panel.loc(), panel.constant(rows()), row);
    count = arith::MinUIOp::create(builder, panel.loc(), left, count);
  }
  SmallVector<PointEvaluator, 4> points;
  for (int64_t v = 0; v < tile.nv; ++v)
    points.push_back(columnPoint(panel, columnBegin, v));
  scf::ForOp loop = openLoop(panel, panel.constant(0), count, 1);
  for (PointEvaluator &point : points)
    point.enterLoop(loop);
  PointEvaluator &first = points.front();
  Value local = loop.getInductionVar();
  bindLinear(first, first.add(row, local), mOrder);
  Value base = first.mulConstant(local, tile.nr());
  SmallVector<SmallVector<Value>> values;
  for (auto [v, point] : llvm::enumerate(points)) {
    if (v)
      for (int atom : mOrder)
        point.bindIndex(atom, first.index(atom));
    Value from = point.addConstant(base, v * lanes);
    OpBuilder builder = point.builder();
    Value sum = vector::LoadOp::create(builder, point.loc(), VectorType::get({lanes}, accType), finished, ValueRange{from});
    values.push_back(outputsOf(point, sum));
  }
  for (auto [point, ofPoint] : llvm::zip(points, values))
    for (auto [output, value] : llvm::zip(model.outputs, ofPoint))
      point.store(output.store, value);
  for (PointEvaluator &point : points)
    point.leave();
}

/// MR rows of one panel over the k of one block.
void ContractionEmitter::emitTile(PointEvaluator &panel, Value row, Value rowBegin, Value rowEnd, Value columnBegin,
                                  Value panelInGroup, Value isFirst, Value isLast) {
  int64_t lanes = tile.lanes;
  SmallVector<PointEvaluator, 8> points;
  SmallVector<Value> rowBases, partialBases;
  AtomSet inBlock = atomBit(kInner);
  for (int atom : kMiddle)
    inBlock |= atomBit(atom);
  for (int64_t r = 0; r < tile.mr; ++r) {
    PointEvaluator point = panel;
    point.enter(panel.block());
    Value index = point.addConstant(row, r);
    if (rows() % tile.mr) {
      OpBuilder builder = point.builder();
      index = arith::MinUIOp::create(builder, point.loc(), index, point.constant(rows() - 1));
    }
    bindLinear(point, index, mOrder);
    OpBuilder builder = point.builder();
    Value local = arith::SubIOp::create(builder, point.loc(), index, rowBegin);
    if (a.packed)
      rowBases.push_back(point.mulConstant(local, aRowStride));
    else
      rowBases.push_back(point.addConstant(point.terms(a.operand->access.address, ~inBlock),
                                           a.operand->access.address.offset));
    if (partials)
      partialBases.push_back(point.add(point.mulConstant(panelInGroup, tile.blockRows * tile.nr()),
                                       point.mulConstant(local, tile.nr())));
    points.push_back(point);
  }
  auto sumType = VectorType::get({lanes}, accType);
  OpBuilder builder = panel.builder();
  Value zero = panel.number(cast<TypedAttr>(builder.getZeroAttr(sumType)));
  SmallVector<Value> sums(tile.mr * tile.nv, zero);
  if (partials) {
    SmallVector<Type> types(sums.size(), sumType);
    builder = panel.builder();
    auto branch = scf::IfOp::create(builder, panel.loc(), types, isFirst, /*withElseRegion=*/true);
    OpBuilder first = branch.getThenBodyBuilder();
    scf::YieldOp::create(first, panel.loc(), sums);
    OpBuilder later = branch.getElseBodyBuilder();
    SmallVector<Value> loaded;
    for (int64_t r = 0; r < tile.mr; ++r)
      for (int64_t v = 0; v < tile.nv; ++v) {
        Value offset = arith::AddIOp::create(later, panel.loc(), partialBases[r], panel.constant(v * lanes));
        loaded.push_back(vector::LoadOp::create(later, panel.loc(), sumType, partials, ValueRange{offset}));
      }
    scf::YieldOp::create(later, panel.loc(), loaded);
    sums.assign(branch.getResults().begin(), branch.getResults().end());
  }

  // The masks of columns that are read in place.
  SmallVector<Value> masks(tile.nv), counts(tile.nv);
  if (!b.packed)
    for (int64_t v = 0; v < tile.nv; ++v)
      masks[v] = columnMask(panel, columnBegin, v, counts[v]);

  PointEvaluator at = panel;
  at.enter(panel.block());
  auto pairType = VectorType::get({2 * lanes}, packType);
  auto addProducts =
      [&](PointEvaluator &point, Value packedIndex, Value, SmallVector<Value> current) -> SmallVector<Value> {
        SmallVector<Value> columns;
        Value base = b.packed ? point.mulConstant(packedIndex, tile.nr()) : Value();
        for (int64_t v = 0; v < tile.nv; ++v) {
          if (b.packed) {
            Value from = point.addConstant(base, v * lanes * (pairs ? 2 : 1));
            OpBuilder inner = point.builder();
            columns.push_back(
                vector::LoadOp::create(inner, point.loc(), pairs ? pairType : sumType, packedB, ValueRange{from}));
            continue;
          }
          PointEvaluator one = point;
          one.enter(point.block());
          one.bindIndex(nLane, one.addConstant(columnBegin, v * lanes));
          one.setLanes(nLane, masks[v], counts[v]);
          columns.push_back(one.splat(factorAt(one, products, b)));
        }
        Value kOffset = a.packed ? point.mulConstant(packedIndex, aKStride)
                                 : point.terms(a.operand->access.address, inBlock);
        for (int64_t r = 0; r < tile.mr; ++r) {
          Value from = point.add(rowBases[r], kOffset);
          Value memory = a.packed ? packedA : point.buffer(a.operand->access.buffer);
          OpBuilder inner = point.builder();
          if (pairs) {
            // Two neighbours of k as one number in all lanes.
            Value two = vector::LoadOp::create(inner, point.loc(), VectorType::get({2}, packType), memory, ValueRange{from});
            Value one = vector::BitCastOp::create(inner, point.loc(), VectorType::get({1}, inner.getI32Type()), two);
            Value number = vector::ExtractOp::create(inner, point.loc(), one, int64_t(0));
            Value all = vector::BroadcastOp::create(inner, point.loc(), point.vectorOf(inner.getI32Type()), number);
            Value factorPairs = vector::BitCastOp::create(inner, point.loc(), pairType, all);
            for (int64_t v = 0; v < tile.nv; ++v) {
              Value &sum = current[r * tile.nv + v];
              sum = addPairs(point, factorPairs, columns[v], sum);
            }
            continue;
          }
          Value element = memref::LoadOp::create(inner, point.loc(), memory, ValueRange{from});
          Value spread = point.splat(element);
          for (int64_t v = 0; v < tile.nv; ++v) {
            Value &sum = current[r * tile.nv + v];
            sum = accumulateProduct(point, spread, columns[v], sum, target.fma);
          }
        }
        return current;
      };
  if (a.packed && b.packed)
    sums = forEachPacked(at, pairs ? 2 : 1, sums, addProducts);
  else
    forEachK(at, pairs ? 2 : 1, sums, addProducts, &sums);

  if (!partials) {
    finishTile(panel, row, points, columnBegin, sums);
    return;
  }
  builder = panel.builder();
  auto branch = scf::IfOp::create(builder, panel.loc(), isLast, /*withElseRegion=*/true);
  OpBuilder later = branch.getElseBodyBuilder();
  for (int64_t r = 0; r < tile.mr; ++r)
    for (int64_t v = 0; v < tile.nv; ++v) {
      Value offset = arith::AddIOp::create(later, panel.loc(), partialBases[r], panel.constant(v * lanes));
      vector::StoreOp::create(later, panel.loc(), sums[r * tile.nv + v], partials, ValueRange{offset});
    }
  PointEvaluator inside = panel;
  inside.enterRegion(branch, branch.thenBlock());
  finishTile(inside, row, points, columnBegin, sums);
  inside.leave();
}

bool ContractionEmitter::emit() {
  shell = createShell(kernel, model);
  Scratch scratch(shell);
  int64_t lanes = tile.lanes;
  int64_t kBlocks = tile.kChunks * tile.splits;
  for (int atom : kOuter)
    kBlocks *= model.atomSizes[atom];
  if (a.packed) {
    if (a.lane == kInner) {
      aRowStride = llvm::alignTo(packedK, lanes) + lanes;
      aKStride = 1;
      packedA = scratch.take(packType, tile.blockRows * aRowStride + lanes);
    } else {
      aRowStride = 1;
      aKStride = llvm::alignTo(tile.blockRows, lanes);
      packedA = scratch.take(packType, (packedK + 1) * aKStride + lanes);
    }
  }
  if (b.packed)
    packedB = scratch.take(packType, (packedK + 2 * lanes) * tile.nr());
  if (kBlocks > 1)
    partials = scratch.take(accType, tile.blockRows * tile.groupPanels * tile.nr());
  // Functions and the like: cheaper consumers are better off with the sums in registers (2 % of ResNet-50).
  if (tile.mr > 2 && consumerCost() >= 24)
    finished = scratch.take(accType, tile.mr * tile.nr());
  scratchBytes = scratch.bytes();

  PointEvaluator at(model, shell, lanes);
  scf::ForOp loop = openLoop(at, rangeBegin(shell), rangeEndArg(shell), 1);
  at.enterLoop(loop);
  at.bindTask();
  auto divide = [&](Value value, int64_t by, Value &rest) {
    rest = at.constant(0);
    if (by == 1)
      return value;
    Value divisor = at.constant(by);
    OpBuilder builder = at.builder();
    rest = arith::RemUIOp::create(builder, at.loc(), value, divisor);
    return arith::DivUIOp::create(builder, at.loc(), value, divisor).getResult();
  };
  auto capped = [&](PointEvaluator &where, Value value, int64_t size, bool exact) {
    if (exact)
      return value;
    OpBuilder builder = where.builder();
    return arith::MinUIOp::create(builder, where.loc(), value, where.constant(size)).getResult();
  };
  Value mBlock, group;
  Value unit = divide(loop.getInductionVar(), tile.mBlocks, mBlock);
  unit = divide(unit, tile.groups, group);
  SmallVector<int> outer = batchOrder;
  outer.append(nOuter);
  bindLinear(at, unit, outer);
  Value rowBegin = at.mulConstant(mBlock, tile.blockRows);
  Value rowEnd = capped(at, at.addConstant(rowBegin, tile.blockRows), rows(), rows() % tile.blockRows == 0);
  Value firstPanel = at.mulConstant(group, tile.groupPanels);
  Value panelEnd =
      capped(at, at.addConstant(firstPanel, tile.groupPanels), tile.panels, tile.panels % tile.groupPanels == 0);

  // Blocks of k.
  kBegin = at.constant(0);
  kEnd = at.constant(kInner < 0 ? 1 : model.atomSizes[kInner]);
  Value isFirst, isLast;
  if (kBlocks > 1) {
    scf::ForOp kLoop = openLoop(at, at.constant(0), at.constant(kBlocks), 1);
    at.enterLoop(kLoop);
    Value kBlock = kLoop.getInductionVar();
    OpBuilder builder = at.builder();
    isFirst = arith::CmpIOp::create(builder, at.loc(), arith::CmpIPredicate::eq, kBlock, at.constant(0));
    isLast = arith::CmpIOp::create(builder, at.loc(), arith::CmpIPredicate::eq, kBlock, at.constant(kBlocks - 1));
    Value chunk, part;
    Value outerK = divide(kBlock, tile.kChunks, chunk);
    outerK = divide(outerK, tile.splits, part);
    bindLinear(at, outerK, kOuter);
    splitBegin = at.mulConstant(part, tile.splitLength);
    if (tile.kChunks > 1) {
      kBegin = at.mulConstant(chunk, tile.kc);
      int64_t size = model.atomSizes[kInner];
      kEnd = capped(at, at.addConstant(kBegin, tile.kc), size, size % tile.kc == 0);
    }
  }
  if (a.packed)
    packRows(at, rowBegin, rowEnd);
  scf::ForOp panelLoop = openLoop(at, firstPanel, panelEnd, 1);
  at.enterLoop(panelLoop);
  Value columnBegin = at.mulConstant(panelLoop.getInductionVar(), tile.nr());
  Value panelInGroup;
  {
    OpBuilder builder = at.builder();
    panelInGroup = arith::SubIOp::create(builder, at.loc(), panelLoop.getInductionVar(), firstPanel);
  }
  if (b.packed)
    packPanel(at, columnBegin);
  scf::ForOp rowLoop = openLoop(at, rowBegin, rowEnd, tile.mr);
  at.enterLoop(rowLoop);
  emitTile(at, rowLoop.getInductionVar(), rowBegin, rowEnd, columnBegin, panelInGroup, isFirst, isLast);
  return !at.broken();
}

FailureOr<EmittedKernel> ContractionEmitter::run() {
  if (failed(match()) || failed(classify()))
    return refuse(kernel, "contraction", why);
  chooseTile();
  chooseBlocks();
  if (!emit()) {
    shell.erase();
    return refuse(kernel, "contraction", "internal fault: a value was needed where it is not known");
  }
  EmittedKernel out;
  out.fn = shell;
  out.emitter = "contraction";
  out.rangeEnd = model.product(batch | (nAtoms & ~atomBit(nLane))) * tile.groups * tile.mBlocks;
  out.scratchBytesPerTask = scratchBytes;
  double products = double(model.product(node->iteration)) / out.rangeEnd;
  out.nanosPerIteration = products / ((pairs ? 4.0 : 2.0) * tile.lanes * target.gigahertz * 0.9);
  return out;
}

} // namespace

FailureOr<EmittedKernel> emitContraction(func::FuncOp fn, const KernelTarget &target) {
  std::string why;
  FailureOr<KernelModel> model = buildKernelModel(fn, why);
  if (failed(model))
    return refuse(fn, "contraction", why);
  if (model->hasComputedReads())
    return refuse(fn, "contraction", "reads at computed indices");
  return ContractionEmitter(fn, *model, target).run();
}

} // namespace millrace::lowering
