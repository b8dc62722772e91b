// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rematerialize.cpp - Computes values again instead of keeping them --===//
// Input:   %h = stablehlo.tanh %x;  ... %y = ... (much memory, %x is read later, too);  %z = stablehlo.multiply %y, %h
// Output:  the multiplication reads stablehlo.tanh of an optimization_barrier of %x, which stands in front of it
// Leaves alone programs that fit, and values that nothing alive could compute again.
#include "passes/autosharding/Rematerialize.h"
#include "passes/autosharding/Machine.h"
#include "passes/autosharding/Passes.h"
#include "passes/autosharding/Work.h"

#include "dialects/sdy/Ops.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

#include <limits>

using namespace mlir;

namespace millrace::autosharding {
#define GEN_PASS_DEF_REMATERIALIZEPASS
#include "passes/autosharding/Passes.h.inc"

namespace {

/// A value that needs more operations is kept. Unit: operations. Source: judgement: a layer of a transformer has about 40 between two contractions.
constexpr size_t kMostCopies = 64;
/// An operand that takes at most this part of the value's bytes is kept longer rather than computed again. Unit: share of bytes. Source: judgement:
/// statistics of rows (a maximum, a sum, a variance) are small beside the rows.
constexpr int64_t kKeptShare = 16;
/// More values are not computed again. Unit: values. Source: judgement: programs with thousands of operations keep some hundred values for the
/// backward pass.
constexpr int kMostValues = 4096;

/// For every so many operations one value is computed again before lives are measured anew. Unit: operations. Source: arithmetic: a program of a hundred
/// thousand operations is measured some forty times instead of thousands of times; one of a thousand after each value.
constexpr int64_t kOperationsPerValue = 1000;

/// One value, the reader from which on it is computed again, and the operations that this takes.
struct Candidate {
  Value value;
  Operation *reader = nullptr;
  llvm::SetVector<Operation *> copies; ///< in reverse order of execution
  llvm::SetVector<Value> sources;      ///< that the copies read and nobody copies
  llvm::SetVector<Value> through;      ///< that are computed from the value where they are read, and stand in front of the worst time
  double seconds = 0;
  int64_t freed = 0; ///< bytes at the worst time
};

class Rematerializer {
public:
  Rematerializer(func::FuncOp function, int64_t limit, const RematerializationCosts &costs)
      : body(function.getBody().front()), limit(limit), costs(costs), compiled(costs.compiled) {}

  Rematerialization run() {
    Rematerialization result;
    if (compiled)
      arrange();
    for (int turn = 0;; ++turn) {
      measure();
      if (turn == 0) {
        result.before = alive[worst];
        // What is above that which is always alive is as much larger in the compiled program as it is at the worst time.
        if (compiled && compiled->peak > always + compiled->kept)
          limit = always + int64_t(double(std::max<int64_t>(0, limit - always - compiled->kept)) * double(alive[worst] - always) /
                                   double(compiled->peak - always - compiled->kept));
      }
      result.after = alive[worst];
      std::vector<Candidate> best;
      if (alive[worst] > limit && result.values < kMostValues)
        best = find(1 + size_t(order.size() / kOperationsPerValue));
      if (best.empty()) {
        for (auto [copy, original] : originals)
          result.copies.push_back({copy, original});
        return result;
      }
      int64_t excess = alive[worst] - limit;
      llvm::DenseSet<Value> touched; // what the copies read, and values that end earlier now
      for (Candidate &each : best) {
        if (excess <= 0)
          break;
        if (touched.contains(each.value) || llvm::any_of(each.sources, [&](Value source) { return touched.contains(source) || touched.contains(memoryOf(source)); }))
          continue;
        excess -= each.freed;
        touched.insert(each.value);
        touched.insert(each.sources.begin(), each.sources.end());
        llvm::SmallVector<Operation *> again(each.copies.begin(), each.copies.end());
        for (Value through : each.through)
          again.push_back(through.getDefiningOp());
        for (Operation *op : again)
          touched.insert(op->operand_begin(), op->operand_end());
        apply(each);
        ++result.values;
        result.operations += int64_t(each.copies.size());
        result.seconds += each.seconds;
      }
    }
  }

private:
  /// Puts the operations into the order in which the compiler runs them. Those that disappear stand in front of their first reader. Operations with
  /// effects would have to keep their order, so that nothing is moved where there are some.
  void arrange() {
    if (llvm::any_of(body.without_terminator(), [](Operation &op) { return !isMemoryEffectFree(&op) && !isa<sdy::SdyDialect>(op.getDialect()); }))
      return;
    constexpr int64_t end = std::numeric_limits<int64_t>::max();
    llvm::DenseMap<Operation *, int64_t> times;
    for (Operation &op : llvm::reverse(body.without_terminator())) {
      int64_t time = compiled->timeOf(&op);
      if (time < 0) {
        time = end;
        for (Operation *user : op.getUsers())
          if (auto read = times.find(body.findAncestorOpInBlock(*user)); read != times.end())
            time = std::min(time, read->second);
      }
      times[&op] = time;
    }
    llvm::SmallVector<Operation *> operations;
    for (Operation &op : body.without_terminator()) {
      int64_t &time = times[&op];
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (auto made = times.find(operand.getDefiningOp()); made != times.end())
            time = std::max(time, made->second);
      });
      operations.push_back(&op);
    }
    llvm::stable_sort(operations, [&](Operation *one, Operation *other) { return times.lookup(one) < times.lookup(other); });
    for (Operation *op : operations)
      op->moveBefore(body.getTerminator());
  }

  /// Returns what is computed from the use within the kernels of its readers, or shares its memory: who reads that, reads the use.
  llvm::SmallVector<Value, 1> readThrough(OpOperand &use) const {
    Operation *reader = body.findAncestorOpInBlock(*use.getOwner());
    if (!compiled)
      return {};
    if (isa<stablehlo::OptimizationBarrierOp>(reader))
      return {reader->getResult(use.getOperandNumber())};
    if ((!isCopyable(reader) && !movesNothing(reader)) || llvm::any_of(reader->getResults(), [&](Value result) { return isStored(result); }))
      return {};
    return llvm::SmallVector<Value, 1>(reader->getResults());
  }

  /// Positions of operations, lives of values, and the time when they take most.
  void measure() {
    order.clear();
    lastRead.clear();
    int64_t size = 0;
    for (Operation &op : body)
      order[&op] = size++;
    std::vector<int64_t> changes(size + 1, 0);
    always = 0;
    auto read = [&](Value value) {
      int64_t last = -1;
      for (OpOperand &use : value.getUses()) {
        last = std::max(last, order.at(body.findAncestorOpInBlock(*use.getOwner())));
        for (Value through : readThrough(use))
          last = std::max(last, lastRead.lookup(through));
      }
      return lastRead[value] = last;
    };
    for (BlockArgument argument : body.getArguments())
      always += bytesOf(argument);
    for (Operation &op : llvm::reverse(body))
      for (Value value : op.getResults()) {
        const int64_t begin = order.at(&op), last = std::max(begin, read(value)), bytes = bytesOf(value);
        changes[begin] += bytes;
        changes[last + 1] -= bytes;
      }
    for (BlockArgument argument : body.getArguments())
      read(argument);
    alive.assign(size, 0);
    worst = 0;
    for (int64_t time = 0, now = always; time < size; ++time) {
      alive[time] = now += changes[time];
      if (alive[time] > alive[worst])
        worst = time;
    }
  }

  /// Of a copy what its original takes; the results of a barrier that was added are the values behind it.
  int64_t bytesOf(Value value) const {
    Operation *op = value.getDefiningOp();
    if (barriers.contains(op))
      return 0;
    return given.contains(value) ? sizeOf(value) : costs.bytesOf(original(value));
  }
  /// The value of the given program of which the value is a copy.
  Value original(Value value) const {
    auto found = originals.find(value.getDefiningOp());
    return found == originals.end() ? value : Value(found->second->getResult(cast<OpResult>(value).getResultNumber()));
  }
  /// The bytes that a value takes if it has memory.
  int64_t sizeOf(Value value) const {
    return compiled && !barriers.contains(value.getDefiningOp()) ? compiled->sizeOf(original(value)) : bytesOf(value);
  }
  /// Returns true if a step leaves the value in memory.
  bool isStored(Value value) const {
    if (!compiled || given.contains(value))
      return true;
    return !barriers.contains(value.getDefiningOp()) && compiled->isStored(original(value));
  }
  /// Returns the value whose memory an alias names.
  Value memoryOf(Value value) const {
    while (Operation *op = compiled ? value.getDefiningOp() : nullptr) {
      if (isa<stablehlo::OptimizationBarrierOp>(op))
        value = op->getOperand(cast<OpResult>(value).getResultNumber());
      else if (isa<stablehlo::ReshapeOp, sdy::DataFlowEdgeOp, sdy::ShardingConstraintOp, sdy::ReshardOp, sdy::PropagationBarrierOp>(op) && !isStored(value))
        value = op->getOperand(0);
      else
        break;
    }
    return value;
  }
  double secondsOf(Operation *op) const {
    auto found = originals.find(op);
    return costs.secondsOf(found == originals.end() ? op : found->second);
  }

  bool isCopyable(Operation *op) const {
    return op && op->getBlock() == &body && op->getNumResults() == 1 && isMemoryEffectFree(op) && !op->hasTrait<OpTrait::IsTerminator>() &&
           !isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp, stablehlo::OptimizationBarrierOp, stablehlo::CustomCallOp,
                sdy::DataFlowEdgeOp, sdy::ManualComputationOp, sdy::NamedComputationOp>(op);
  }
  /// Constants and the like: whoever reads them has them.
  static bool isFree(Operation *op) { return op && op->getNumOperands() == 0 && op->getNumRegions() == 0 && isMemoryEffectFree(op); }

  /// Adds the value's operation to the candidate's copies, with what has to be copied for it. False if that is impossible.
  bool addCopies(Candidate &candidate, Value value, int64_t time) const {
    Operation *op = value.getDefiningOp();
    if (!isCopyable(op) || candidate.copies.size() == kMostCopies)
      return false;
    if (!candidate.copies.insert(op))
      return true;
    candidate.seconds += secondsOf(op);
    llvm::SetVector<Value> operands(op->operand_begin(), op->operand_end());
    op->walk([&](Operation *inner) { // what regions read from around them
      for (Value operand : inner->getOperands())
        if (operand.getParentBlock() == &body)
          operands.insert(operand);
    });
    for (Value operand : operands) {
      if (isFree(operand.getDefiningOp()))
        continue;
      const Value memory = memoryOf(operand);
      const bool isAlive = isa<BlockArgument>(memory) || (isStored(memory) && lastRead.lookup(memory) >= time);
      const int64_t bytes = sizeOf(memory);
      // What moves nothing has no size of its own and keeps its operand.
      const bool isSmall = bytes * kKeptShare <= bytesOf(candidate.value) && (!compiled || bytes > 0);
      if (isAlive || isSmall) {
        if (candidate.sources.insert(operand) && !isAlive)
          candidate.freed -= bytes;
      } else if (!addCopies(candidate, operand, time)) {
        return false;
      }
    }
    return true;
  }

  /// Finds the first operation behind the worst time that reads the candidate's value, itself or through values that are computed where they are read.
  /// False if it is read at the worst time.
  bool findReader(Candidate &candidate) const {
    llvm::SmallVector<Value> next{candidate.value};
    while (!next.empty())
      for (OpOperand &use : next.pop_back_val().getUses()) {
        Operation *reader = body.findAncestorOpInBlock(*use.getOwner());
        const int64_t when = order.at(reader);
        if (when == worst)
          return false;
        if (when > worst && (!candidate.reader || when < order.at(candidate.reader)))
          candidate.reader = reader;
        if (when < worst) // what is computed behind the worst time is read behind it
          for (Value through : readThrough(use))
            if (candidate.through.insert(through))
              next.push_back(through);
      }
    return true;
  }

  /// At most so many values that free a byte at the worst time in the fewest seconds, the best one first.
  std::vector<Candidate> find(size_t count) const {
    std::vector<Candidate> best;
    auto score = [](const Candidate &each) { return each.seconds / double(each.freed); };
    for (Operation &op : body) {
      if (order.at(&op) >= worst)
        break;
      if (!isCopyable(&op) || originals.contains(&op) || bytesOf(op.getResult(0)) == 0)
        continue;
      Candidate candidate{op.getResult(0), nullptr, {}, {}, {}, 0, bytesOf(op.getResult(0))};
      // The result of the program is kept whatever happens.
      if (!findReader(candidate) || !candidate.reader || candidate.reader->hasTrait<OpTrait::IsTerminator>())
        continue;
      if (!addCopies(candidate, candidate.value, order.at(candidate.reader)) || candidate.freed <= 0 || candidate.sources.empty())
        continue;
      auto place = llvm::upper_bound(best, score(candidate), [&](double own, const Candidate &each) { return own < score(each); });
      if (size_t(place - best.begin()) == count)
        continue;
      best.insert(place, std::move(candidate));
      if (best.size() > count)
        best.pop_back();
    }
    return best;
  }

  void apply(Candidate &candidate) {
    OpBuilder builder(candidate.reader);
    const Location loc = candidate.value.getLoc();
    IRMapping mapping;
    auto barrier = stablehlo::OptimizationBarrierOp::create(builder, loc, TypeRange(ValueRange(candidate.sources.getArrayRef())), candidate.sources.getArrayRef());
    barriers.insert(barrier);
    for (Value source : candidate.sources)
      if (const Value memory = memoryOf(source); !isa<BlockArgument>(memory) && !isStored(memory))
        given.insert(memory);
    for (auto [source, fenced] : llvm::zip_equal(candidate.sources, barrier.getResults()))
      mapping.map(source, fenced);
    const int64_t time = order.at(candidate.reader);
    llvm::SmallVector<Operation *> copies = candidate.copies.takeVector();
    llvm::sort(copies, [&](Operation *one, Operation *other) { return order.at(one) < order.at(other); });
    for (Operation *op : copies) {
      auto known = originals.find(op);
      Operation *original = known == originals.end() ? op : known->second;
      originals[builder.clone(*op, mapping)] = original;
    }
    candidate.copies.insert(copies.begin(), copies.end());
    // What stands in front and is computed where it is read late is computed from the copy there.
    IRMapping late;
    late.map(candidate.value, mapping.lookup(candidate.value));
    llvm::SetVector<Operation *> through;
    for (Value value : candidate.through)
      through.insert(value.getDefiningOp());
    copies = through.takeVector();
    llvm::sort(copies, [&](Operation *one, Operation *other) { return order.at(one) < order.at(other); });
    llvm::SmallVector<Operation *> added;
    for (Operation *op : copies) {
      if (isa<stablehlo::OptimizationBarrierOp>(op)) { // what else it has is read where it stands
        llvm::SmallVector<Value> own, fenced;
        for (auto [operand, result] : llvm::zip_equal(op->getOperands(), op->getResults()))
          if (candidate.through.contains(result)) {
            own.push_back(late.lookup(operand));
            fenced.push_back(result);
          }
        added.push_back(stablehlo::OptimizationBarrierOp::create(builder, loc, TypeRange(ValueRange(own)), own));
        barriers.insert(added.back());
        late.map(fenced, added.back()->getResults());
        continue;
      }
      added.push_back(builder.clone(*op, late));
      auto known = originals.find(op);
      Operation *original = known == originals.end() ? op : known->second;
      originals[added.back()] = original;
    }
    auto isLate = [&](OpOperand &use) {
      auto found = order.find(body.findAncestorOpInBlock(*use.getOwner()));
      return found != order.end() && found->second >= time;
    };
    candidate.value.replaceUsesWithIf(late.lookup(candidate.value), isLate);
    for (Value value : candidate.through)
      value.replaceUsesWithIf(late.lookup(value), isLate);
    for (Operation *op : llvm::reverse(added))
      if (op->use_empty()) {
        originals.erase(op);
        barriers.erase(op);
        op->erase();
      }
  }

  Block &body;
  int64_t limit;
  const RematerializationCosts &costs;
  const CompiledOrder *compiled;
  llvm::DenseMap<Operation *, int64_t> order;
  llvm::DenseMap<Value, int64_t> lastRead; ///< position of the last reader, -1 without one
  std::vector<int64_t> alive;              ///< bytes, by position
  int64_t worst = 0, always = 0;           ///< position of the worst time; bytes of arguments
  llvm::DenseSet<Value> given;             ///< that had no memory, and have some because copies read them
  llvm::MapVector<Operation *, Operation *> originals; ///< of the copies that were made
  llvm::DenseSet<Operation *> barriers;               ///< that were added
};

/// The program as one device runs it.
struct Rematerialize : impl::RematerializePassBase<Rematerialize> {
  using RematerializePassBase::RematerializePassBase;
  void runOnOperation() override {
    llvm::Expected<Machine> found = Machine::find(machine);
    if (!found) {
      emitError(getOperation().getLoc(), llvm::toString(found.takeError()));
      return signalPassFailure();
    }
    auto bytesOf = [](Value value) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      Operation *op = value.getDefiningOp();
      return type && type.hasStaticShape() && !(op && movesNothing(op)) ? type.getNumElements() * elementBytes(type) : int64_t(0);
    };
    auto secondsOf = [&](Operation *op) {
      auto all = [&](ValueRange values) { return llvm::map_to_vector(values, [&](Value value) { return double(bytesOf(value)); }); };
      return secondsOfWork(*found, op, flopsOf(op), bytesMoved(op, all(op->getOperands()), all(op->getResults())));
    };
    Rematerialization done = rematerialize(getOperation(), memory, {bytesOf, secondsOf});
    if (report)
      emitRemark(getOperation().getLoc(),
                 llvm::formatv("{0} values are computed again by {1} operations: {2} bytes at the worst time, {3} before", done.values, done.operations,
                               done.after, done.before)
                     .str());
  }
};

} // namespace

Rematerialization rematerialize(func::FuncOp function, int64_t limit, const RematerializationCosts &costs) {
  return Rematerializer(function, limit, costs).run();
}

} // namespace millrace::autosharding
