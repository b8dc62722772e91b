// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowKernel.cpp - Elementwise operations and reductions --------------===//
// Input:   softmax(x: 4096x1024): max over the row, exp(x - max), sum, division.
// Output:  for each row of [begin, end): one sweep for max, one for exp (kept in scratch) and sum, one for the quotient;
//          each sweep takes strips of 4 vectors, then the rest of the row as vectors of which the last is masked.
// Two ways to lay lanes:
//   row     the lane atom is reduced (or only some outputs have it): sweeps along it, accumulators are combined
//           across lanes at the end, in a fixed order: strips pairwise, then lane l with lane l + width/2, ...
//   column  the lane atom is kept by all reductions and outputs: an iteration is a piece of it, reduced atoms are loops.
//           Elementwise kernels are this case without loops.
// Leaves alone: reductions of which results still depend on an index that another reduction sums over.
//===----------------------------------------------------------------------===//
#include "lowering/cpu/emitters/EmitterShell.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <map>
#include <set>
#include <tuple>

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Reductions and outputs that are computed in one sweep.
struct Group {
  int level = 0;
  AtomSet inner = 0;
  int lane = -1;  ///< row mode: the inner atom along the lanes
  int strips = 1; ///< row mode: vectors per step
  SmallVector<const Node *> reductions;
  SmallVector<const Output *> outputs;
  SmallVector<Value> keep; ///< values stored to scratch while passing
};

struct Plan {
  AtomSet parallel = 0; ///< atoms of the range (without the lane atom in column mode)
  SmallVector<int> rows; ///< of these, loops of an iteration, outermost first
  int lane = -1;
  bool column = false;
  int64_t width = 1;
  int strips = 4;
  int64_t chunk = 0;  ///< column mode: lane elements per iteration
  int64_t chunks = 1;
  std::vector<Group> groups;
};

class RowEmitter {
public:
  RowEmitter(func::FuncOp kernel, const KernelModel &model, const KernelTarget &target)
      : kernel(kernel), model(model), target(target) {}
  FailureOr<EmittedKernel> run();

private:
  LogicalResult plan();
  int chooseLane(AtomSet candidates) const;
  void collectGroups();
  void chooseKept();
  bool emit();

  using Points = SmallVector<PointEvaluator, 4>;
  void emitGroups(Points &points);
  SmallVector<Value> nest(Points &points, ArrayRef<int> loops, const Group &group, SmallVector<Value> carried);
  SmallVector<Value> sweep(PointEvaluator &row, const Group &group, SmallVector<Value> carried);
  void step(MutableArrayRef<PointEvaluator> points, const Group &group, MutableArrayRef<Value> carried);
  void columnPieces(PointEvaluator &row, Value begin, Value end, bool last);
  Value maskOf(PointEvaluator &at, int64_t lanes);
  Value start(PointEvaluator &at, const Node &node, int result, bool vector);
  SmallVector<Value> combine(PointEvaluator &at, const Node &node, ArrayRef<Value> left, ArrayRef<Value> right);
  void finishReduction(PointEvaluator &at, const Node &node, SmallVector<Value> values);
  bool knowsIdentity(const Node &node) const;
  bool maySplit(const Node &node) const;
  Value keptMemory(Value value, unsigned slot, Type type, int64_t elements);
  bool hasLanes(const Group &group) const { return plan_.column || group.lane >= 0; }

  func::FuncOp kernel;
  const KernelModel &model;
  const KernelTarget &target;
  Plan plan_;
  func::FuncOp shell;
  std::unique_ptr<Scratch> scratch;
  std::map<std::pair<void *, unsigned>, Value> kept;
  std::string why;
};

Value RowEmitter::keptMemory(Value value, unsigned slot, Type type, int64_t elements) {
  Value &memory = kept[{value.getAsOpaquePointer(), slot}];
  if (!memory)
    memory = scratch->take(type, elements);
  return memory;
}

bool RowEmitter::knowsIdentity(const Node &node) const {
  Value element;
  Operation *combine = matchCombiner(node.body, node.inputs.size(), element);
  return combine && identityOf(combine, combine->getResult(0).getType());
}

/// Lanes may be reduced each for itself and then with one another: the combiner has an identity to begin with; or results of it are
/// elements, too, and it does no harm that every lane begins with the initial values, because they are neutral or the body only picks
/// one of its operands (argmax).
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

/// The atom along which most bytes are contiguous, less those that would be gathered.
int RowEmitter::chooseLane(AtomSet candidates) const {
  double best = 0;
  int lane = -1;
  for (int atom : members(candidates)) {
    double score = 0;
    model.forEachAccess([&](const Access &access, bool isStore) {
      int64_t coefficient = access.address.coefficient(atom);
      double bytes = double(access.numElements) * (isStore ? 2 : 1);
      // Short strides are vectors and shuffles (VectorStride.h), others single elements.
      if (coefficient == 1)
        score += bytes;
      else if (coefficient && (isStore || coefficient < 0 || coefficient > 4))
        score -= bytes / 2;
    });
    // Short lanes waste most of a vector; with masks on every access they are slower than one element at a time.
    if (model.atomSizes[atom] * 4 <= plan_.width)
      score = std::min(score, -1.0);
    else if (model.atomSizes[atom] < plan_.width)
      score *= double(model.atomSizes[atom]) / plan_.width;
    // Lanes that are summed up at the end of each short row, a window's, cost more than the row.
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
  std::map<std::tuple<int, int, AtomSet>, Group> groups;
  auto groupFor = [&](int level, AtomSet inner, int order = 0) -> Group & {
    Group &group = groups[{level, order, inner}];
    group.level = level;
    group.inner = inner;
    return group;
  };
  AtomSet range = plan_.parallel | (plan_.column ? atomBit(plan_.lane) : 0);
  for (const Node &node : model.nodes)
    if (node.reduction)
      groupFor(node.level, node.iteration & ~range).reductions.push_back(&node);
  // Later pieces of an output overwrite earlier ones.
  DenseMap<int, std::pair<int, int>> last;
  for (const Output &output : model.outputs) {
    auto [it, isFirst] = last.try_emplace(output.store.buffer, 0, 0);
    int level = std::max(it->second.first, model.level(output.value) + 1);
    int order = isFirst ? 0 : level == it->second.first ? it->second.second + 1 : 0;
    it->second = {level, order};
    groupFor(level, output.store.address.atoms() & ~range, order).outputs.push_back(&output);
  }
  for (auto &[key, group] : groups)
    plan_.groups.push_back(group);
}

/// Values that several sweeps need and that cost more than a load. Operands are shared, so a walk that visits a node once per use would take
/// exponential time: both walks look at each node once.
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
          Group &producer = plan_.groups[earlier];
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
      reach[index].insert(&node);
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
  }
  if (!plan_.column && llvm::any_of(model.nodes, [&](const Node &node) { return node.reduction && !maySplit(node); })) {
    why = "reduction with a combiner that cannot be split into lanes";
    return failure();
  }
  double costPerPoint = 0;
  for (const Node &node : model.nodes)
    costPerPoint += node.cost;
  plan_.strips = costPerPoint <= 16 ? 4 : costPerPoint <= 320 ? 2 : 1;
  if (plan_.column) {
    int64_t size = model.atomSizes[plan_.lane];
    // Sums down the columns read a piece of each row: wide pieces suit the prefetcher.
    if (reduced && costPerPoint <= 4)
      while (plan_.strips < 16 && size >= plan_.strips * plan_.width * 4 * target.threads)
        plan_.strips *= 2;
    else if (reduced)
      while (plan_.strips > 1 && size * model.product(plan_.parallel) < plan_.strips * plan_.width * 2 * target.threads)
        plan_.strips /= 2;
    plan_.strips = std::clamp<int64_t>(llvm::divideCeil(size, plan_.width), 1, plan_.strips);
    int64_t strip = plan_.strips * plan_.width;
    if (reduced) {
      plan_.chunk = strip;
    } else {
      // About 4096 elements per iteration, in many equal pieces.
      plan_.chunk = llvm::alignTo(std::min<int64_t>(size, 4096), strip);
      // Few elements along the lanes: several rows per iteration.
      SmallVector<int> order = outermostFirst(model, plan_.parallel);
      int64_t elements = std::min(size, plan_.chunk);
      int64_t iterations = model.product(plan_.parallel) * llvm::divideCeil(size, plan_.chunk);
      while (!order.empty() && elements < 1024) {
        int64_t rows = model.atomSizes[order.back()];
        // Not if it leaves too few iterations for the threads, unless there is hardly anything to do.
        if (iterations / rows < 8 * target.threads && elements * iterations > 16384)
          break;
        elements *= rows;
        iterations /= rows;
        plan_.rows.insert(plan_.rows.begin(), order.pop_back_val());
      }
      // Short rows are best moved as a whole: a part of each at a time would touch every cache line twice.
      if (!plan_.rows.empty() && costPerPoint <= 4 && size <= 8 * plan_.width) {
        plan_.strips = llvm::divideCeil(size, plan_.width);
        plan_.chunk = plan_.strips * plan_.width;
      }
    }
    plan_.chunks = llvm::divideCeil(size, plan_.chunk);
  }
  collectGroups();
  if (!plan_.column)
    for (Group &group : plan_.groups) {
      group.lane = chooseLane(group.inner);
      if (group.lane >= 0)
        group.strips = std::clamp<int64_t>(llvm::divideCeil(model.atomSizes[group.lane], plan_.width), 1, plan_.strips);
    }
  chooseKept();
  return success();
}

Value RowEmitter::maskOf(PointEvaluator &at, int64_t lanes) {
  if (lanes >= plan_.width)
    return {};
  SmallVector<bool> bits(plan_.width, false);
  for (int64_t lane = 0; lane < lanes; ++lane)
    bits[lane] = true;
  auto type = at.vectorOf(IntegerType::get(kernel.getContext(), 1));
  return at.number(DenseElementsAttr::get(type, bits));
}

/// What an accumulator starts with: the identity of a known combiner, else the initial value.
Value RowEmitter::start(PointEvaluator &at, const Node &node, int result, bool vector) {
  Value element;
  Operation *combine = matchCombiner(node.body, node.inputs.size(), element);
  Value value;
  if (knowsIdentity(node))
    value = at.number(identityOf(combine, combine->getResult(0).getType()));
  else
    value = at.evaluate(node.inits[result]);
  return vector ? at.splat(value) : value;
}

SmallVector<Value> RowEmitter::combine(PointEvaluator &at, const Node &node, ArrayRef<Value> left,
                                       ArrayRef<Value> right) {
  Value element;
  if (knowsIdentity(node))
    return {at.cloneOn(matchCombiner(node.body, node.inputs.size(), element), {left[0], right[0]})};
  SmallVector<Value> args(right);
  // Inputs that the body does not use.
  for (unsigned extra = right.size(); extra < node.inputs.size(); ++extra)
    args.push_back(at.evaluate(node.inputs[extra]));
  args.append(left.begin(), left.end());
  return at.cloneBody(node, args);
}

/// Adds the initial value and makes the result known.
void RowEmitter::finishReduction(PointEvaluator &at, const Node &node, SmallVector<Value> values) {
  if (knowsIdentity(node)) {
    Value init = at.evaluate(node.inits[0]);
    values = combine(at, node, {init}, values);
  }
  for (auto [tensor, value] : llvm::zip(node.op->getResults(), values))
    at.bind(tensor, value);
}

/// One vector (or scalar) of a sweep at each of `points`: all reductions' steps, kept values, outputs. Stores come after everything
/// else, so that the computations of all points can take turns (InterleaveChains.h).
void RowEmitter::step(MutableArrayRef<PointEvaluator> points, const Group &group, MutableArrayRef<Value> carried) {
  unsigned perPoint = carried.size() / points.size();
  SmallVector<SmallVector<Value>> computed(points.size());
  for (auto [number, point] : llvm::enumerate(points)) {
    for (Value value : group.keep) {
      Operand operand;
      operand.kind = Operand::Intermediate;
      operand.value = value;
      operand.elementType = getElementTypeOrSelf(value.getType());
      computed[number].push_back(point.evaluate(operand));
    }
    MutableArrayRef<Value> accumulators = carried.slice(number * perPoint, perPoint);
    unsigned slot = 0;
    for (const Node *node : group.reductions) {
      SmallVector<Value> args = point.inputsOf(*node);
      unsigned results = node->op->getNumResults();
      args.append(accumulators.begin() + slot, accumulators.begin() + slot + results);
      SmallVector<Value> next = point.cloneBody(*node, args);
      for (unsigned i = 0; i < results; ++i) {
        Value before = accumulators[slot + i];
        Value after = point.broadcastTo(next[i], before.getType());
        if (point.laneMask() && isa<VectorType>(before.getType()) && !plan_.column) {
          OpBuilder b = point.builder();
          after = arith::SelectOp::create(b, point.loc(), point.laneMask(), after, before);
        }
        accumulators[slot + i] = after;
      }
      slot += results;
    }
    for (const Output *output : group.outputs)
      computed[number].push_back(point.evaluate(output->value));
  }
  for (auto [point, values] : llvm::zip(points, computed)) {
    for (auto [value, stored] : llvm::zip(group.keep, values))
      point.storeKept(value, stored);
    for (auto [output, stored] : llvm::zip(group.outputs, ArrayRef<Value>(values).drop_front(group.keep.size())))
      point.store(output->store, stored);
  }
}

/// Row mode: along the lane atom, strips and then the rest. `carried` holds one set of accumulators per strip slot.
SmallVector<Value> RowEmitter::sweep(PointEvaluator &row, const Group &group, SmallVector<Value> carried) {
  int64_t size = model.atomSizes[group.lane], width = plan_.width, strip = width * group.strips;
  int64_t full = size / strip * strip;
  unsigned perSlot = carried.size() / group.strips;
  auto points = [&](Value base, int64_t begin, int64_t end, MutableArrayRef<Value> accumulators) {
    Points strips;
    for (int64_t slot = 0; slot * width < end - begin; ++slot) {
      PointEvaluator point = row;
      point.enter(row.block());
      int64_t lanes = end - begin - slot * width;
      if (base)
        point.bindIndex(group.lane, point.addConstant(base, slot * width));
      else
        point.bindIndex(group.lane, point.constant(begin + slot * width));
      point.setLanes(group.lane, maskOf(point, lanes), lanes < width ? point.constant(lanes) : Value());
      strips.push_back(std::move(point));
    }
    step(strips, group, accumulators.take_front(strips.size() * perSlot));
  };
  if (full == strip) {
    points({}, 0, strip, carried);
  } else if (full) {
    scf::ForOp loop = openLoop(row, row.constant(0), row.constant(full), strip, carried);
    row.enterLoop(loop);
    SmallVector<Value> next(loop.getRegionIterArgs());
    points(loop.getInductionVar(), 0, strip, next);
    yieldFrom(loop, next);
    row.leave();
    carried.assign(loop.getResults().begin(), loop.getResults().end());
  }
  if (full < size)
    points({}, full, size, carried);
  return carried;
}

SmallVector<Value> RowEmitter::nest(Points &points, ArrayRef<int> loops, const Group &group,
                                    SmallVector<Value> carried) {
  if (loops.empty()) {
    if (!plan_.column && hasLanes(group))
      return sweep(points[0], group, carried);
    step(points, group, carried);
    return carried;
  }
  PointEvaluator &first = points[0];
  scf::ForOp loop =
      openLoop(first, first.constant(0), first.constant(model.atomSizes[loops[0]]), 1, carried);
  for (PointEvaluator &point : points) {
    point.enterLoop(loop);
    point.bindIndex(loops[0], loop.getInductionVar());
  }
  SmallVector<Value> next =
      nest(points, loops.drop_front(), group, SmallVector<Value>(loop.getRegionIterArgs()));
  yieldFrom(loop, next);
  for (PointEvaluator &point : points)
    point.leave();
  return SmallVector<Value>(loop.getResults());
}

/// All sweeps for one row, or for the points of one strip of columns.
void RowEmitter::emitGroups(Points &points) {
  for (const Group &group : plan_.groups) {
    bool lanes = hasLanes(group);
    bool split = !plan_.column && lanes;
    unsigned slots = split ? group.strips : points.size();
    SmallVector<Value> carried;
    for (unsigned slot = 0; slot < slots; ++slot)
      for (const Node *node : group.reductions)
        for (unsigned i = 0; i < node->op->getNumResults(); ++i)
          carried.push_back(start(points[split ? 0 : slot], *node, i, lanes));
    // Where kept values go: one row per point.
    AtomSet own = group.inner;
    for (Value value : group.keep)
      for (auto [slot, point] : llvm::enumerate(points)) {
        Type type = getElementTypeOrSelf(value.getType());
        ScratchRow rowMemory;
        int64_t stride = plan_.column ? plan_.width : 1;
        SmallVector<int> order = outermostFirst(model, own & ~atomBit(group.lane));
        if (!plan_.column) {
          rowMemory.address.add(group.lane, 1);
          stride = llvm::alignTo(model.atomSizes[group.lane], plan_.width);
        }
        for (int atom : llvm::reverse(order)) {
          rowMemory.address.add(atom, stride);
          stride *= model.atomSizes[atom];
        }
        rowMemory.memref = keptMemory(value, slot, type, stride);
        rowMemory.alongLanes = true;
        point.keepIn(value, rowMemory);
      }
    SmallVector<int> loops =
        outermostFirst(model, group.inner & ~atomBit(group.lane));
    SmallVector<Value> results = nest(points, loops, group, carried);
    for (Value value : group.keep)
      for (PointEvaluator &point : points)
        point.readKept(value);

    unsigned perSlot = results.size() / slots, offset = 0;
    for (const Node *node : group.reductions) {
      unsigned count = node->op->getNumResults();
      auto slotValues = [&](unsigned slot) {
        return SmallVector<Value>(ArrayRef<Value>(results).slice(slot * perSlot + offset, count));
      };
      if (split) {
        SmallVector<SmallVector<Value>> live;
        for (unsigned slot = 0; slot < slots; ++slot)
          live.push_back(slotValues(slot));
        while (live.size() > 1) {
          SmallVector<SmallVector<Value>> half;
          for (size_t i = 0; i + 1 < live.size(); i += 2)
            half.push_back(combine(points[0], *node, live[i], live[i + 1]));
          if (live.size() % 2)
            half.push_back(live.back());
          live = half;
        }
        auto combineHalves = [&](ArrayRef<Value> left, ArrayRef<Value> right) { return combine(points[0], *node, left, right); };
        finishReduction(points[0], *node, foldLanes(points[0], live[0], combineHalves));
      } else {
        for (unsigned slot = 0; slot < slots; ++slot)
          finishReduction(points[slot], *node, slotValues(slot));
      }
      offset += count;
    }
  }
}

/// Column mode: the elements [begin, end) of the lane atom, `last` if they end at a statically known rest.
void RowEmitter::columnPieces(PointEvaluator &row, Value begin, Value end, bool last) {
  int64_t width = plan_.width, size = model.atomSizes[plan_.lane];
  auto emitAt = [&](Value base, int64_t lanes) {
    Points points;
    for (int64_t slot = 0; slot * width < lanes; ++slot) {
      PointEvaluator point = row;
      point.enter(row.block());
      point.bindIndex(plan_.lane, point.addConstant(base, slot * width));
      int64_t here = lanes - slot * width;
      point.setLanes(plan_.lane, maskOf(point, here), here < width ? point.constant(here) : Value());
      points.push_back(point);
    }
    emitGroups(points);
  };
  int64_t strip = plan_.strips * width, rest = size % strip;
  if (last) {
    emitAt(row.constant(size - rest), rest);
    return;
  }
  if (plan_.chunk == strip) {
    emitAt(begin, strip);
    return;
  }
  scf::ForOp loop = openLoop(row, begin, end, strip);
  row.enterLoop(loop);
  emitAt(loop.getInductionVar(), strip);
  row.leave();
}

bool RowEmitter::emit() {
  shell = createShell(kernel, model);
  scratch = std::make_unique<Scratch>(shell);
  PointEvaluator at(model, shell, plan_.width);
  scf::ForOp loop = openLoop(at, rangeBegin(shell), rangeEndArg(shell), 1);
  at.enterLoop(loop);
  at.bindTask();
  Value iteration = loop.getInductionVar();
  SmallVector<int> outer = outermostFirst(model, plan_.parallel);
  llvm::erase_if(outer, [&](int atom) { return llvm::is_contained(plan_.rows, atom); });
  if (!plan_.column) {
    bindLinear(at, iteration, outer);
    Points points{at};
    emitGroups(points);
    return !at.broken();
  }
  Value piece = at.constant(0);
  if (plan_.chunks > 1) {
    Value chunks = at.constant(plan_.chunks);
    OpBuilder b = at.builder();
    piece = outer.empty() ? iteration : arith::RemUIOp::create(b, at.loc(), iteration, chunks).getResult();
    iteration = outer.empty() ? iteration : arith::DivUIOp::create(b, at.loc(), iteration, chunks).getResult();
  }
  bindLinear(at, iteration, outer);
  for (int atom : plan_.rows) {
    scf::ForOp along = openLoop(at, at.constant(0), at.constant(model.atomSizes[atom]), 1);
    at.enterLoop(along);
    at.bindIndex(atom, along.getInductionVar());
  }
  int64_t size = model.atomSizes[plan_.lane], strip = plan_.strips * plan_.width;
  int64_t rest = size % strip, full = size - rest;
  Value begin = at.mulConstant(piece, plan_.chunk), end = at.addConstant(begin, plan_.chunk);
  auto inBranch = [&](Value condition, auto body) {
    OpBuilder b = at.builder();
    auto branch = scf::IfOp::create(b, at.loc(), condition, /*withElseRegion=*/false);
    at.enterRegion(branch, branch.thenBlock());
    body();
    at.leave();
  };
  // The loop over whole strips.
  if (full) {
    if (size % plan_.chunk && plan_.chunk != strip) {
      OpBuilder b = at.builder();
      end = arith::MinUIOp::create(b, at.loc(), end, at.constant(full));
    }
    if (plan_.chunk == strip && rest) {
      OpBuilder b = at.builder();
      Value whole = arith::CmpIOp::create(b, at.loc(), arith::CmpIPredicate::ult, begin, at.constant(full));
      inBranch(whole, [&] { columnPieces(at, begin, end, false); });
    } else {
      columnPieces(at, begin, end, false);
    }
  }
  if (rest) {
    if (plan_.chunks == 1) {
      columnPieces(at, {}, {}, true);
    } else {
      OpBuilder b = at.builder();
      Value isLast =
          arith::CmpIOp::create(b, at.loc(), arith::CmpIPredicate::eq, piece, at.constant(plan_.chunks - 1));
      inBranch(isLast, [&] { columnPieces(at, {}, {}, true); });
    }
  }
  return !at.broken();
}

FailureOr<EmittedKernel> RowEmitter::run() {
  if (failed(plan()))
    return refuse(kernel, "row", why);
  bool isWhole = emit();
  FailureOr<EmittedKernel> out = conclude(kernel, shell, "row", isWhole);
  if (failed(out))
    return failure();
  out->rangeEnd = model.product(plan_.parallel) * plan_.chunks;
  for (int atom : plan_.rows)
    out->rangeEnd /= model.atomSizes[atom];
  out->scratchBytesPerTask = scratch->bytes();
  double operations = model.totalOperations() / plan_.width;
  out->nanosPerIteration =
      std::max(model.totalBytes() / 15.0, operations / (1.5 * target.gigahertz)) / double(out->rangeEnd);
  return out;
}

} // namespace

FailureOr<EmittedKernel> emitRowKernel(func::FuncOp fn, const KernelTarget &target) {
  std::string why;
  FailureOr<KernelModel> model = buildKernelModel(fn, why);
  if (failed(model))
    return refuse(fn, "row", why);
  return RowEmitter(fn, *model, target).run();
}

} // namespace millrace::lowering
