// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Sort.cpp - stablehlo.sort to a merge sort on tensors ---------------===//
// Input:   %s:2 = "stablehlo.sort"(%keys, %values) <{dimension = 1}> ({comparator})
// Output:  per line of the sorted dimension: copy to scratch, insertion sort of runs of 16, bottom-up merges between two
//          scratch lines (width w from A to B, 2w back from B to A, so that the result is always in A), copy out
// The sort is stable and O(n log n), with any number of operands and any comparator. A line of at most 16 elements is only sorted by insertion.
// Leaves alone comparators that are not scalar computations (emitScalarRegion fails).
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/Loops.h"
#include "lowering/linalg/PatternKinds.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

constexpr int64_t runLength = 16;

/// The sort of one operation: its comparator, and one line as a list of rank-1 tensors.
struct LineSorter {
  Region &comparator;
  SmallVector<Type> elements;
  bool failedBody = false;

  /// Emits comparator(lhs, rhs) for two elements given by their storage values.
  Value less(LoopBuilder &l, ValueRange lhs, ValueRange rhs) {
    SmallVector<Value> arguments;
    for (auto [left, right, element] : llvm::zip(lhs, rhs, elements)) {
      arguments.push_back(toCompute(l.b, l.loc, left, element));
      arguments.push_back(toCompute(l.b, l.loc, right, element));
    }
    auto result = emitScalarRegion(l.b, l.loc, comparator, arguments);
    if (succeeded(result))
      return (*result)[0];
    failedBody = true;
    return arith::ConstantIntOp::create(l.b, l.loc, 0, 1);
  }

  SmallVector<Value> load(LoopBuilder &l, ValueRange lines, Value at) {
    SmallVector<Value> values;
    for (Value line : lines)
      values.push_back(l.extract(line, at));
    return values;
  }

  SmallVector<Value> store(LoopBuilder &l, ValueRange values, ValueRange lines, Value at) {
    SmallVector<Value> updated;
    for (auto [value, line] : llvm::zip(values, lines))
      updated.push_back(l.insert(value, line, at));
    return updated;
  }

  /// Sorts elements [from, to) of `lines` by insertion.
  SmallVector<Value> insertionSort(LoopBuilder &l, ValueRange lines, Value from, Value to) {
    Value one = l.index(1);
    return l.loop(l.add(from, one), to, one, lines, [&](LoopBuilder &outer, ValueRange iv, ValueRange carried) {
      SmallVector<Value> moving = load(outer, carried, iv[0]);
      // The loop carries the position of the gap and the lines. Elements greater than the moved one are shifted up by one.
      SmallVector<Value> state{iv[0]};
      llvm::append_range(state, carried);
      auto before = [&](OpBuilder &b, Location loc, ValueRange args) {
        LoopBuilder in(b, loc);
        Value hasLeft = in.compare(arith::CmpIPredicate::sgt, args[0], from);
        Value left = in.max(in.sub(args[0], one), from);
        Value isLess = less(in, moving, load(in, args.drop_front(), left));
        scf::ConditionOp::create(b, loc, in.logicalAnd(hasLeft, isLess), args);
      };
      auto after = [&](OpBuilder &b, Location loc, ValueRange args) {
        LoopBuilder in(b, loc);
        Value left = in.sub(args[0], one);
        SmallVector<Value> next{left};
        llvm::append_range(next, store(in, load(in, args.drop_front(), left), args.drop_front(), args[0]));
        scf::YieldOp::create(b, loc, next);
      };
      SmallVector<Type> types(ValueRange(state).getTypes());
      auto shift = scf::WhileOp::create(outer.b, outer.loc, types, state, before, after);
      return store(outer, moving, shift.getResults().drop_front(), shift.getResult(0));
    });
  }

  /// Merges the runs of `width` elements of `from` pairwise into `to`.
  SmallVector<Value> mergeRuns(LoopBuilder &l, ValueRange from, ValueRange to, Value width, Value size) {
    Value zero = l.index(0), one = l.index(1);
    return l.loop(zero, size, l.add(width, width), to, [&](LoopBuilder &outer, ValueRange iv, ValueRange carried) {
      Value low = iv[0], last = outer.sub(size, one);
      Value middle = outer.min(outer.add(low, width), size), high = outer.min(outer.add(middle, width), size);
      SmallVector<Value> state{low, middle};
      llvm::append_range(state, carried);
      auto merged = outer.loop(low, high, one, state, [&](LoopBuilder &in, ValueRange at, ValueRange args) {
        Value left = args[0], right = args[1];
        SmallVector<Value> leftValues = load(in, from, in.min(left, last)), rightValues = load(in, from, in.min(right, last));
        Value leftDone = in.compare(arith::CmpIPredicate::sge, left, middle);
        Value rightLeft = in.compare(arith::CmpIPredicate::slt, right, high);
        Value rightFirst = arith::OrIOp::create(in.b, in.loc, leftDone, less(in, rightValues, leftValues));
        Value takeRight = in.logicalAnd(rightLeft, rightFirst);
        SmallVector<Value> taken;
        for (auto [l0, r0] : llvm::zip(leftValues, rightValues))
          taken.push_back(in.select(takeRight, r0, l0));
        SmallVector<Value> next{in.select(takeRight, left, in.add(left, one)), in.select(takeRight, in.add(right, one), right)};
        llvm::append_range(next, store(in, taken, args.drop_front(2), at[0]));
        return next;
      });
      return SmallVector<Value>(merged.begin() + 2, merged.end());
    });
  }

  /// Sorts `lines` of `size` elements with scratch lines `spare` of the same size.
  std::pair<SmallVector<Value>, SmallVector<Value>> mergeSort(LoopBuilder &l, ValueRange lines, ValueRange spare, Value size) {
    size_t count = lines.size();
    Value run = l.index(runLength);
    SmallVector<Value> sorted =
        l.loop(l.index(0), size, run, lines, [&](LoopBuilder &in, ValueRange iv, ValueRange carried) {
          return insertionSort(in, carried, iv[0], in.min(in.add(iv[0], run), size));
        });
    SmallVector<Value> state{run};
    llvm::append_range(state, sorted);
    llvm::append_range(state, spare);
    auto before = [&](OpBuilder &b, Location loc, ValueRange args) {
      scf::ConditionOp::create(b, loc, LoopBuilder(b, loc).compare(arith::CmpIPredicate::slt, args[0], size), args);
    };
    auto after = [&](OpBuilder &b, Location loc, ValueRange args) {
      LoopBuilder in(b, loc);
      ValueRange a = args.slice(1, count), bLines = args.drop_front(1 + count);
      Value wide = in.add(args[0], args[0]);
      SmallVector<Value> there = mergeRuns(in, a, bLines, args[0], size);
      SmallVector<Value> back = mergeRuns(in, there, a, wide, size);
      SmallVector<Value> next{in.add(wide, wide)};
      llvm::append_range(next, back);
      llvm::append_range(next, there);
      scf::YieldOp::create(b, loc, next);
    };
    SmallVector<Type> types(ValueRange(state).getTypes());
    auto merge = scf::WhileOp::create(l.b, l.loc, types, state, before, after);
    return {llvm::to_vector_of<Value>(merge.getResults().slice(1, count)),
            llvm::to_vector_of<Value>(merge.getResults().drop_front(1 + count))};
  }
};

struct SortPattern : OpConversionPattern<stablehlo::SortOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::SortOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    ValueRange inputs = adaptor.getInputs();
    size_t count = inputs.size();
    auto type = cast<RankedTensorType>(inputs[0].getType());
    int64_t rank = type.getRank(), dimension = static_cast<int64_t>(op.getDimension());
    if (rank == 0) {
      rewriter.replaceOp(op, inputs);
      return success();
    }
    if (dimension < 0)
      dimension += rank;
    LineSorter sorter{op.getComparator(), {}, false};
    for (Value input : op.getInputs())
      sorter.elements.push_back(getElementTypeOrSelf(input.getType()));

    OpFoldResult foldedSize = l.foldedDim(inputs[0], dimension);
    Value size = l.value(foldedSize);
    bool isShort = type.getDimSize(dimension) != ShapedType::kDynamic && type.getDimSize(dimension) <= runLength;
    SmallVector<Value> outerSizes = l.dims(inputs[0]);
    outerSizes.erase(outerSizes.begin() + dimension);
    auto at = [&](ValueRange outer, Value inner) {
      SmallVector<Value> indices = llvm::to_vector(outer);
      indices.insert(indices.begin() + dimension, inner);
      return indices;
    };

    // All loops carry the results, the lines and the spare lines.
    SmallVector<Value> state;
    for (Value input : inputs) {
      auto inputType = cast<RankedTensorType>(input.getType());
      state.push_back(count == 1 ? l.empty(inputType, l.foldedDims(input)) : l.scratch(inputType, l.foldedDims(input)));
    }
    for (size_t copies = 0; copies < (isShort ? 1 : 2); ++copies)
      for (Value input : inputs)
        state.push_back(l.scratch({foldedSize}, getElementTypeOrSelf(input.getType())));

    auto sortLine = [&](LoopBuilder &outer, ValueRange ivs, ValueRange carried) {
      ValueRange results = carried.take_front(count), lines = carried.slice(count, count);
      ValueRange spare = carried.drop_front(2 * count);
      auto filled = outer.nest(size, lines, [&](LoopBuilder &in, ValueRange iv, ValueRange into) {
        SmallVector<Value> values, where = at(ivs, iv[0]);
        for (Value input : inputs)
          values.push_back(in.extract(input, where));
        return sorter.store(in, values, into, iv[0]);
      });
      SmallVector<Value> sorted, spareAfter;
      if (isShort)
        sorted = sorter.insertionSort(outer, filled, outer.index(0), size);
      else
        std::tie(sorted, spareAfter) = sorter.mergeSort(outer, filled, spare, size);
      SmallVector<Value> next = outer.nest(size, results, [&](LoopBuilder &in, ValueRange iv, ValueRange into) {
        SmallVector<Value> updated, where = at(ivs, iv[0]);
        for (auto [line, result] : llvm::zip(sorted, into))
          updated.push_back(in.insert(in.extract(line, iv[0]), result, where));
        return updated;
      });
      llvm::append_range(next, sorted);
      llvm::append_range(next, spareAfter);
      return next;
    };
    SmallVector<Value> done = l.nest(outerSizes, state, sortLine);
    if (sorter.failedBody)
      return failure();
    if (dimension > 0) // each call has scratch lines of its own
      markParallel(done[0], kParallelRowsAttr);
    rewriter.replaceOp(op, ValueRange(done).take_front(count));
    return success();
  }
};

} // namespace

void populateSortPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<SortPattern>(converter, patterns.getContext());
}

} // namespace millrace::lowering
