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

/// One value, the reader from which on it is computed again, and the operations that this takes.
struct Candidate {
  Value value;
  Operation *reader = nullptr;
  llvm::SetVector<Operation *> copies; ///< in reverse order of execution
  llvm::SetVector<Value> sources;      ///< that the copies read and nobody copies
  double seconds = 0;
  int64_t freed = 0; ///< bytes at the worst time
};

class Rematerializer {
public:
  Rematerializer(func::FuncOp function, int64_t limit, const RematerializationCosts &costs)
      : body(function.getBody().front()), limit(limit), costs(costs) {}

  Rematerialization run() {
    Rematerialization result;
    if (costs.sizeOf)
      sink();
    for (int turn = 0;; ++turn) {
      measure();
      if (turn == 0) {
        result.before = alive[worst];
        // What is above the arguments is as much larger in this order as it is at the worst time.
        if (costs.peak > always && limit > always)
          limit = always + int64_t(double(limit - always) * double(alive[worst] - always) / double(costs.peak - always));
      }
      result.after = alive[worst];
      if (alive[worst] <= limit || turn == kMostValues)
        return result;
      std::optional<Candidate> best = find();
      if (!best)
        return result;
      apply(*best);
      ++result.values;
      result.operations += int64_t(best->copies.size());
      result.seconds += best->seconds;
    }
  }

private:
  /// Moves operations whose results have no memory in front of their first reader, where they are computed.
  void sink() {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body))) {
      if (!isCopyable(&op) || bytesOf(op.getResult(0)) != 0)
        continue;
      Operation *first = nullptr;
      for (Operation *user : op.getUsers()) {
        Operation *outer = body.findAncestorOpInBlock(*user);
        if (!first || outer->isBeforeInBlock(first))
          first = outer;
      }
      if (first && first != op.getNextNode())
        op.moveBefore(first);
    }
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
      for (Operation *user : value.getUsers()) {
        Operation *outer = body.findAncestorOpInBlock(*user);
        last = std::max(last, order.at(outer));
        // What has no memory reads its operands when it is read itself.
        if (costs.sizeOf && (isCopyable(outer) || movesNothing(outer)) && llvm::all_of(outer->getResults(), [&](Value result) { return bytesOf(result) == 0; }))
          for (Value result : outer->getResults())
            last = std::max(last, lastRead.lookup(result));
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
    if (given.contains(value))
      return sizeOf(value);
    auto found = originals.find(op);
    return costs.bytesOf(found == originals.end() ? value : found->second->getResult(cast<OpResult>(value).getResultNumber()));
  }
  /// The bytes that a value takes if it has memory.
  int64_t sizeOf(Value value) const {
    if (!costs.sizeOf || barriers.contains(value.getDefiningOp()))
      return bytesOf(value);
    auto found = originals.find(value.getDefiningOp());
    return costs.sizeOf(found == originals.end() ? value : found->second->getResult(cast<OpResult>(value).getResultNumber()));
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
      const bool hasMemory = isa<BlockArgument>(operand) || !costs.sizeOf || bytesOf(operand) > 0;
      const bool isAlive = hasMemory && (isa<BlockArgument>(operand) || lastRead.lookup(operand) >= time);
      const int64_t bytes = sizeOf(operand);
      // What moves nothing has no size of its own and keeps its operand.
      const bool isSmall = bytes * kKeptShare <= bytesOf(candidate.value) && (!costs.sizeOf || bytes > 0);
      if (isAlive || isSmall) {
        if (candidate.sources.insert(operand) && !isAlive)
          candidate.freed -= bytes;
      } else if (!addCopies(candidate, operand, time)) {
        return false;
      }
    }
    return true;
  }

  /// What frees a byte at the worst time in the fewest seconds.
  std::optional<Candidate> find() const {
    std::optional<Candidate> best;
    double least = std::numeric_limits<double>::infinity();
    for (Operation &op : body) {
      if (order.at(&op) >= worst)
        break;
      if (!isCopyable(&op) || originals.contains(&op) || bytesOf(op.getResult(0)) == 0)
        continue;
      Candidate candidate{op.getResult(0), nullptr, {}, {}, 0, bytesOf(op.getResult(0))};
      int64_t time = std::numeric_limits<int64_t>::max();
      bool isRead = false; // at the worst time
      for (Operation *user : candidate.value.getUsers()) {
        Operation *reader = body.findAncestorOpInBlock(*user);
        const int64_t when = order.at(reader);
        isRead |= when == worst;
        if (when > worst && when < time) {
          time = when;
          candidate.reader = reader;
        }
      }
      // The result of the program is kept whatever happens.
      if (isRead || !candidate.reader || candidate.reader->hasTrait<OpTrait::IsTerminator>())
        continue;
      if (!addCopies(candidate, candidate.value, time) || candidate.freed <= 0 || candidate.sources.empty())
        continue;
      const double score = candidate.seconds / double(candidate.freed);
      if (score < least) {
        least = score;
        best = std::move(candidate);
      }
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
      if (costs.sizeOf && bytesOf(source) == 0)
        given.insert(source);
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
    candidate.value.replaceUsesWithIf(mapping.lookup(candidate.value), [&](OpOperand &use) {
      auto found = order.find(body.findAncestorOpInBlock(*use.getOwner()));
      return found != order.end() && found->second >= time;
    });
    candidate.copies.insert(copies.begin(), copies.end());
  }

  Block &body;
  int64_t limit;
  const RematerializationCosts &costs;
  llvm::DenseMap<Operation *, int64_t> order;
  llvm::DenseMap<Value, int64_t> lastRead; ///< position of the last reader, -1 without one
  std::vector<int64_t> alive;              ///< bytes, by position
  int64_t worst = 0, always = 0;           ///< position of the worst time; bytes of arguments
  llvm::DenseSet<Value> given;             ///< that had no memory, and have some because copies read them
  llvm::DenseMap<Operation *, Operation *> originals; ///< of the copies that were made
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
