// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowPlan.cpp - Choose lanes and order of a row kernel ---------------===//
#include "lowering/cpu/emitters/rows/RowEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <set>
#include <tuple>

using namespace mlir;

namespace millrace::lowering {

bool RowEmitter::knowsIdentity(const Node &node) const {
  Value element;
  Operation *combine = matchCombiner(node.body, node.inputs.size(), element);
  return combine && identityOf(combine, combine->getResult(0).getType());
}

/// Returns true if lanes may be reduced separately and then combined: the combiner has an identity; or its results are elements, too, and every lane
/// may start with the initial values, because they are neutral or the body only picks one of its operands (argmax).
bool RowEmitter::maySplit(const Node &node) const {
  if (knowsIdentity(node))
    return true;
  unsigned results = node.op->getNumResults();
  if (node.inputs.size() < results)
    return false;
  for (unsigned extra = results; extra < node.inputs.size(); ++extra)
    if (!node.body->getArgument(extra).use_empty())
      return false;
  for (auto [input, result] : llvm::zip(node.inputs, node.op->getResults()))
    if (input.elementType != getElementTypeOrSelf(result.getType()))
      return false;
  bool picks = true, adds = true;
  for (Operation &op : node.body->without_terminator()) {
    adds &= isa<arith::AddFOp, arith::AddIOp>(op);
    picks &= isa<arith::CmpFOp, arith::CmpIOp, arith::SelectOp, arith::AndIOp, arith::OrIOp, arith::ConstantOp, arith::MaximumFOp,
                 arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(op) ||
             (isa<arith::XOrIOp>(op) && op.getResult(0).getType().isInteger(1));
  }
  return picks || (adds && llvm::all_of(node.inits, [](const Operand &init) {
                     return init.kind == Operand::Scalar && (matchPattern(init.scalar, m_AnyZeroFloat()) || matchPattern(init.scalar, m_Zero()));
                   }));
}

/// Returns true if another access reads elements between those of this one, that is, from the same vectors.
static bool isInterleaved(const KernelModel &model, const Access &access, int64_t stride) {
  bool found = false;
  model.forEachAccess([&](const Access &other, bool) {
    int64_t distance = std::abs(other.address.offset - access.address.offset);
    found |= other.buffer == access.buffer && distance > 0 && distance < stride && other.address.terms.size() == access.address.terms.size() &&
             llvm::all_of(access.address.terms, [&](auto term) { return other.address.coefficient(term.first) == term.second; });
  });
  return found;
}

/// Returns the atom along which most bytes are contiguous, less those that would be gathered.
int RowEmitter::chooseLane(AtomSet candidates) const {
  double best = 0;
  int lane = -1;
  for (int atom : members(candidates)) {
    double score = 0;
    model.forEachAccess([&](const Access &access, bool isStore) {
      int64_t coefficient = access.address.coefficient(atom);
      double bytes = double(access.numElements) * (isStore ? 2 : 1);
      // Short strides are vectors and shuffles (VectorStride.h), others are single elements.
      if (coefficient == 1)
        score += bytes;
      else if (coefficient > 1 && coefficient <= 4 && isInterleaved(model, access, coefficient))
        score += bytes / double(coefficient);
      else if (coefficient && (isStore || coefficient < 0 || coefficient > 4))
        score -= bytes / 2;
    });
    // Short lanes leave most of a vector empty; with masks on every access they are slower than one element at a time.
    if (model.atomSizes[atom] * 4 <= plan_.width)
      score = std::min(score, -1.0);
    else if (model.atomSizes[atom] < plan_.width)
      score *= double(model.atomSizes[atom]) / plan_.width;
    // Combining lanes at the end of each short row, such as a window's, costs more than the row.
    if (score > 0 && model.atomSizes[atom] < 2 * plan_.width &&
        llvm::any_of(model.nodes, [&](const Node &node) { return node.reduced() & atomBit(atom); }))
      score /= 2;
    if (lane < 0 || score > best) {
      best = score;
      lane = atom;
    }
  }
  return lane;
}

void RowEmitter::collectGroups() {
  // (level, order of pieces of one output, inner atoms)
  std::map<std::tuple<int, int, AtomSet>, RowGroup> groups;
  auto groupFor = [&](int level, AtomSet inner, int order = 0) -> RowGroup & {
    RowGroup &group = groups[{level, order, inner}];
    group.level = level;
    group.inner = inner;
    return group;
  };
  AtomSet range = plan_.parallel | (plan_.column ? atomBit(plan_.lane) : 0);
  for (const Node &node : model.nodes)
    if (node.reduction)
      groupFor(node.level, node.iteration & ~range).reductions.push_back(&node);
  // Later pieces of an output overwrite earlier ones, unless all pieces together have as many elements as the output.
  DenseMap<int, int64_t> written;
  for (const Output &output : model.outputs)
    written[output.store.buffer] += model.product(output.store.address.atoms());
  DenseMap<int, std::pair<int, int>> last;
  for (const Output &output : model.outputs) {
    auto [it, isFirst] = last.try_emplace(output.store.buffer, 0, 0);
    int level = std::max(it->second.first, model.level(output.value) + 1);
    bool overwrites = !isFirst && written[output.store.buffer] != model.bufferElements[output.store.buffer];
    int order = !overwrites ? 0 : level == it->second.first ? it->second.second + 1 : 0;
    it->second = {level, order};
    groupFor(level, output.store.address.atoms() & ~range, order).outputs.push_back(&output);
  }
  for (auto &[key, group] : groups)
    plan_.groups.push_back(group);
}

/// Chooses the values to keep, those that several sweeps need and that cost more than a load. Operands are shared, so a walk that visits a node once
/// per use would take exponential time: both walks visit each node once.
void RowEmitter::chooseKept() {
  std::vector<std::set<const Node *>> reach(plan_.groups.size());
  DenseMap<Value, int> kept;
  auto costOf = [&](const Node &root) {
    SmallPtrSet<const Node *, 16> counted{&root};
    SmallVector<const Node *> pending{&root};
    double cost = 0;
    while (!pending.empty()) {
      const Node *node = pending.pop_back_val();
      cost += node->cost;
      for (const Operand &input : node->inputs)
        if (input.kind == Operand::Intermediate && !kept.count(input.value))
          if (const Node &producer = model.nodeOf(input); !producer.reduction && counted.insert(&producer).second)
            pending.push_back(&producer);
    }
    return cost;
  };
  for (auto [index, group] : llvm::enumerate(plan_.groups)) {
    std::function<void(const Operand &)> visit = [&](const Operand &operand) {
      if (operand.kind != Operand::Intermediate || kept.count(operand.value))
        return;
      const Node &node = model.nodeOf(operand);
      if (node.reduction || reach[index].count(&node))
        return;
      if (node.body && (node.kept & ~plan_.parallel) && node.op->getNumResults() == 1) {
        for (size_t earlier = 0; earlier < index; ++earlier) {
          RowGroup &producer = plan_.groups[earlier];
          AtomSet own = node.kept & ~plan_.parallel & (plan_.column ? ~atomBit(plan_.lane) : ~AtomSet(0));
          if (!reach[earlier].count(&node) || producer.inner != own || group.inner != own || costOf(node) < 15)
            continue;
          int64_t elements = model.product(own);
          if (!plan_.column && producer.lane < 0)
            continue;
          if (elements * 8 > target.l2Bytes)
            continue;
          producer.keep.push_back(operand.value);
          kept[operand.value] = earlier;
          return;
        }
      }
      if (reach[index].insert(&node).second)
        group.cost += node.cost;
      for (const Operand &input : node.inputs)
        visit(input);
      for (const Operand &init : node.inits)
        visit(init);
    };
    for (const Node *node : group.reductions)
      for (const Operand &input : node->inputs)
        visit(input);
    for (const Output *output : group.outputs)
      visit(output->value);
  }
}

/// Returns true if another read of the same elements is prefetched by the group already.
static bool isAskedFor(const RowGroup &group, const Access &access) {
  return llvm::any_of(group.ahead, [&](const RowGroup::Ahead &other) {
    return other.access->buffer == access.buffer && other.access->address.offset == access.address.offset &&
           other.access->address.terms == access.address.terms;
  });
}

/// With several sweeps, the first waits for memory, and later ones hit the cache. The sweep that computes most prefetches the next row.
void RowEmitter::chooseAhead() {
  // A sweep that computes so much has time to prefetch the next row. Unit: operations per element. Source: judgement, not measured alone; commit
  // 9df81e2 has the figures of the whole change.
  constexpr double kMinCostOfSweep = 15;
  SmallVector<int> order = outermostFirst(model, plan_.parallel);
  if (plan_.column || order.empty() || plan_.groups.size() < 2)
    return;
  int next = order.back();
  auto longest = std::max_element(plan_.groups.begin() + 1, plan_.groups.end(), [](const RowGroup &a, const RowGroup &b) { return a.cost < b.cost; });
  if (longest->cost < kMinCostOfSweep || longest->lane < 0)
    return;
  int64_t bytes = 0;
  model.forEachAccess([&](const Access &access, bool isStore) {
    AtomSet inner = access.address.atoms() & ~plan_.parallel;
    if (isStore || !access.guards.empty() || inner != longest->inner || access.address.coefficient(longest->lane) != 1 ||
        access.address.coefficient(next) == 0)
      return;
    if (isAskedFor(*longest, access))
      return;
    bytes += model.product(inner) * access.elementType.getIntOrFloatBitWidth() / 8;
    longest->ahead.push_back({&access, access.address.coefficient(next), false});
  });
  if (bytes > target.l2Bytes / 4)
    longest->ahead.clear();
}

/// Chooses prefetches for long rows each vector of which takes long: too few loads are outstanding at a time to use the memory's bandwidth.
void RowEmitter::chooseLater(double costPerPoint) {
  // Long rows are prefetched if each element takes so long, because too few loads are outstanding at a time. Unit: operations per element. Source:
  // judgement, not measured alone; commit 2ab4d2f has the figures of the whole change.
  constexpr double kMinCostOfPoint = 40;
  // The distance at which such rows are prefetched. Unit: bytes. Source: commit 2ab4d2f, xla-run --repeat=150: gelu_erf_512x3072 0.72 to 0.61 ms with
  // other changes, one thread.
  constexpr int64_t kBytesAhead = 2048;
  if (costPerPoint < kMinCostOfPoint || plan_.groups.size() != 1 || model.atomSizes[plan_.lane] < 8 * kBytesAhead)
    return;
  model.forEachAccess([&](const Access &access, bool isStore) {
    if (access.guards.empty() && access.address.coefficient(plan_.lane) == 1 && !isAskedFor(plan_.groups[0], access))
      plan_.groups[0].ahead.push_back({&access, kBytesAhead * 8 / storageType(access.elementType).getIntOrFloatBitWidth(), isStore});
  });
}

/// Returns how many vectors of each row a sum of `vectors` columns adds at a time: about a quarter of a thread's, such that threads get equally many;
/// `others` is how often there are so many columns.
int RowEmitter::evenStrips(int64_t vectors, int64_t others) const {
  // A sum of columns adds at least so many at a time. Unit: vectors of each row. Source: judgement, not measured alone; chosen in commit f7caa64.
  constexpr int kMinStrips = 4;
  const int most = target.vectorRegisters / 2; // their sums; the other half is for the elements of a row
  int wanted = kMinStrips;
  while (wanted < most && vectors >= wanted * 4 * target.threads)
    wanted *= 2;
  auto longest = [&](int strips) { return llvm::divideCeil(llvm::divideCeil(vectors, strips) * others, target.threads) * strips; };
  int best = wanted;
  for (int strips = std::min(most, wanted * 3 / 2); strips > wanted / 2; --strips)
    if (longest(strips) < longest(best))
      best = strips;
  return best;
}

/// Returns how many vectors of each row a sum of `vectors` columns adds at a time, of `plan_.strips` and its halves: those with which the last thread
/// finishes first. The overhead of a row counts as one vector.
int RowEmitter::soonestStrips(int64_t vectors, int64_t others) const {
  auto time = [&](int strips) { return llvm::divideCeil(llvm::divideCeil(vectors, strips) * others, target.threads) * (std::min<int64_t>(strips, vectors) + 1); };
  int best = plan_.strips;
  for (int strips = best / 2; strips >= 1; strips /= 2)
    if (time(strips) < time(best))
      best = strips;
  return best;
}

LogicalResult RowEmitter::plan() {
  plan_.width = std::max<int64_t>(1, target.vectorBits / model.maxElementBits);
  AtomSet parallel = model.allAtoms, reduced = 0;
  for (const Output &output : model.outputs)
    parallel &= output.store.address.atoms();
  for (const Node &node : model.nodes) {
    if (!node.reduction)
      continue;
    parallel &= node.kept;
    reduced |= node.reduced();
  }
  parallel &= ~reduced;
  for (const Node &node : model.nodes) {
    if (!node.reduction)
      continue;
    if (node.kept & ~parallel) {
      why = "a reduction's result varies along an index that is not parallel";
      return failure();
    }
  }
  plan_.lane = chooseLane(model.allAtoms);
  plan_.parallel = parallel;
  if (plan_.lane >= 0 && (parallel & atomBit(plan_.lane))) {
    plan_.column = true;
    plan_.parallel &= ~atomBit(plan_.lane);
  } else if (int rows = rowsAsLanes(parallel, reduced); rows >= 0) {
    plan_.element = members(reduced).front();
    plan_.lane = rows;
    plan_.column = true;
    plan_.parallel &= ~atomBit(rows);
  }
  if (!plan_.column && llvm::any_of(model.nodes, [&](const Node &node) { return node.reduction && !maySplit(node); })) {
    why = "reduction with a combiner that cannot be split into lanes";
    return failure();
  }
  double costPerPoint = 0;
  for (const Node &node : model.nodes)
    costPerPoint += node.cost;
  plan_.strips = costPerPoint <= 16 ? 4 : costPerPoint <= 320 ? 2 : 1;
  collectGroups();
  if (plan_.element >= 0) {
    int64_t size = model.atomSizes[plan_.lane];
    plan_.strips = 1;
    plan_.chunk = llvm::alignTo(std::min<int64_t>(size, 4096 / model.atomSizes[plan_.element]), plan_.width);
    plan_.chunks = llvm::divideCeil(size, plan_.chunk);
    chooseKept();
    return success();
  }
  if (plan_.column && chooseBlock(reduced))
    return success();
  if (plan_.column && suitsTiles(reduced, costPerPoint)) {
    // A strip is as wide as the cache allows, and there are as many as threads can share evenly.
    int64_t size = model.atomSizes[plan_.lane], strip = plan_.strips * plan_.width;
    int64_t chunks = llvm::divideCeil(size, 128 * plan_.width);
    if (model.product(plan_.parallel) < 2 * target.threads)
      chunks = llvm::alignTo(chunks, target.threads);
    plan_.tiled = true;
    plan_.chunk = llvm::alignTo(llvm::divideCeil(size, chunks), strip);
    plan_.chunks = llvm::divideCeil(size, plan_.chunk);
    return success();
  }
  if (plan_.column) {
    int64_t size = model.atomSizes[plan_.lane];
    // Sums of columns read a piece of each row: wide pieces suit the prefetcher.
    if (reduced && costPerPoint <= 4)
      plan_.strips = evenStrips(llvm::divideCeil(size, plan_.width), model.product(plan_.parallel));
    else if (reduced)
      plan_.strips = soonestStrips(llvm::divideCeil(size, plan_.width), model.product(plan_.parallel));
    // Extrema carry three vectors for each vector of columns. Unit: vectors of each row. Source: judgement, not measured alone; commit 45181e7 has
    // the figures of the whole change.
    constexpr int kMaxExtremaStrips = 4;
    if (llvm::any_of(model.nodes, [&](const Node &node) { return isExtremum(node); }))
      plan_.strips = std::min(plan_.strips, kMaxExtremaStrips);
    plan_.strips = std::clamp<int64_t>(llvm::divideCeil(size, plan_.width), 1, plan_.strips);
    int64_t strip = plan_.strips * plan_.width;
    if (reduced) {
      plan_.chunk = strip;
    } else {
      // An iteration has about 4096 elements, and the pieces are equal.
      plan_.chunk = llvm::alignTo(std::min<int64_t>(size, 4096), strip);
      // Not many more rows than there may be.
      if (plan_.lane == model.rowAtom)
        plan_.chunk = std::min<int64_t>(plan_.chunk, llvm::alignTo(model.rowIndices, strip));
      // With few elements along the lanes, an iteration has several rows.
      SmallVector<int> order = outermostFirst(model, plan_.parallel);
      int64_t iterations = model.product(plan_.parallel) * llvm::divideCeil(size, plan_.chunk);
      // Pieces may have indices that the range lacks: an iteration loops over all of these.
      int64_t largest = 0;
      for (const Output &output : model.outputs)
        largest = std::max(largest, model.product(output.store.address.atoms()));
      int64_t elements = std::max(std::min(size, plan_.chunk), largest / iterations);
      while (!order.empty() && elements < 1024 && order.back() != model.rowAtom) {
        int64_t rows = model.atomSizes[order.back()];
        // Rows do not join if too few iterations are left for the threads, unless there is little work.
        if (iterations / rows < 8 * target.threads && elements * iterations > 16384)
          break;
        elements *= rows;
        iterations /= rows;
        plan_.rows.insert(plan_.rows.begin(), order.pop_back_val());
      }
      // Short rows are moved as a whole: moving a part of each at a time would touch every cache line twice.
      if (!plan_.rows.empty() && costPerPoint <= 4 && size <= 8 * plan_.width) {
        plan_.strips = llvm::divideCeil(size, plan_.width);
        plan_.chunk = plan_.strips * plan_.width;
      }
    }
    plan_.chunks = llvm::divideCeil(size, plan_.chunk);
  }
  if (!plan_.column)
    for (RowGroup &group : plan_.groups) {
      group.lane = chooseLane(group.inner);
      if (group.lane >= 0)
        group.strips = std::clamp<int64_t>(llvm::divideCeil(model.atomSizes[group.lane], plan_.width), 1, plan_.strips);
    }
  chooseKept();
  chooseAhead();
  if (plan_.column && !reduced)
    chooseLater(costPerPoint);
  return success();
}

} // namespace millrace::lowering
