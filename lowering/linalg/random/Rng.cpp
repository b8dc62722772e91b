// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rng.cpp - rng_bit_generator and rng to counter-based generators ----===//
// Input:   %state, %bits = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<3xui64>) -> (.., tensor<8xui32>)
// Output:  Philox 4x32-10 or Threefry 2x32-20 of (key = s[0], counter = s[1..] + block), written block by block; the new
//          state is the counter advanced by the number of blocks. Bit for bit the streams that XLA defines: Philox blocks in
//          order; Threefry words alternate along the first even dimension (or the largest one). DEFAULT is Philox.
// Input:   %r = stablehlo.rng %a, %b, %shape, distribution = UNIFORM
// Output:  linalg.generic: element i is computed from Philox block i under a key that is the operation's ordinal (attribute
//          `millrace.rng_ordinal`, else a hash of its location). rng has no state operand: kernels draw the same bits in every
//          run, and xla-seed-rng has mixed them with a seed of the execution.
// Sources: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011); Box and Muller (1958).
#include "dialects/millrace/Attributes.h"
#include "dialects/stablehlo/Ops.h"
#include "lowering/linalg/Loops.h"
#include "lowering/linalg/PatternKinds.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Arithmetic on i32 and i64 words.
struct Words {
  LoopBuilder &l;

  Value i32(uint32_t value) { return arith::ConstantIntOp::create(l.b, l.loc, int32_t(value), 32); }
  Value i64(int64_t value) { return arith::ConstantIntOp::create(l.b, l.loc, value, 64); }
  Value add(Value a, Value b) { return arith::AddIOp::create(l.b, l.loc, a, b); }
  Value exclusiveOr(Value a, Value b) { return arith::XOrIOp::create(l.b, l.loc, a, b); }
  Value rotate(Value value, unsigned by) {
    Value left = arith::ShLIOp::create(l.b, l.loc, value, i32(by));
    return arith::OrIOp::create(l.b, l.loc, left, arith::ShRUIOp::create(l.b, l.loc, value, i32(32 - by)));
  }
  Value low(Value wide) { return arith::TruncIOp::create(l.b, l.loc, l.b.getI32Type(), wide); }
  Value high(Value wide) { return low(arith::ShRUIOp::create(l.b, l.loc, wide, i64(32))); }
  Value join(Value lowWord, Value highWord) {
    Type wide = l.b.getI64Type();
    Value top = arith::ShLIOp::create(l.b, l.loc, arith::ExtUIOp::create(l.b, l.loc, wide, highWord), i64(32));
    return arith::OrIOp::create(l.b, l.loc, arith::ExtUIOp::create(l.b, l.loc, wide, lowWord), top);
  }

  /// Returns the high and the low half of the 64-bit product.
  std::pair<Value, Value> multiply(Value a, uint32_t b) {
    Type wide = l.b.getI64Type();
    Value product = arith::MulIOp::create(l.b, l.loc, arith::ExtUIOp::create(l.b, l.loc, wide, a), i64(b));
    return {high(product), low(product)};
  }

  /// Philox 4x32 with 10 rounds.
  std::array<Value, 4> philox(std::array<Value, 4> x, std::array<Value, 2> key) {
    for (int round = 0; round < 10; ++round) {
      auto [high0, low0] = multiply(x[0], 0xD2511F53u);
      auto [high1, low1] = multiply(x[2], 0xCD9E8D57u);
      x = {exclusiveOr(exclusiveOr(high1, x[1]), key[0]), low1, exclusiveOr(exclusiveOr(high0, x[3]), key[1]), low0};
      key = {add(key[0], i32(0x9E3779B9u)), add(key[1], i32(0xBB67AE85u))};
    }
    return x;
  }

  /// Threefry 2x32 with 20 rounds.
  std::array<Value, 2> threefry(std::array<Value, 2> x, std::array<Value, 2> key) {
    constexpr unsigned rotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
    Value parity = exclusiveOr(exclusiveOr(key[0], key[1]), i32(0x1BD11BDAu));
    std::array<Value, 3> schedule{key[0], key[1], parity};
    x = {add(x[0], schedule[0]), add(x[1], schedule[1])};
    for (unsigned group = 0; group < 5; ++group) {
      for (unsigned i = 0; i < 4; ++i) {
        x[0] = add(x[0], x[1]);
        x[1] = exclusiveOr(rotate(x[1], rotations[4 * (group % 2) + i]), x[0]);
      }
      x[0] = add(x[0], schedule[(group + 1) % 3]);
      x[1] = add(add(x[1], schedule[(group + 2) % 3]), i32(group + 1));
    }
    return x;
  }
};

/// Returns the low bits of an i32 or i64 word as a storage value of `element`.
Value bitsToStorage(LoopBuilder &l, Value word, Type element) {
  Type storage = storageElementType(element), compute = computeElementType(element);
  unsigned width = isSmallFloat(element) ? 8 : compute.getIntOrFloatBitWidth();
  Type bits = l.b.getIntegerType(width);
  if (width < word.getType().getIntOrFloatBitWidth())
    word = arith::TruncIOp::create(l.b, l.loc, bits, word);
  if (isa<FloatType>(storage))
    return arith::BitcastOp::create(l.b, l.loc, storage, word);
  return isSmallFloat(element) ? word : toStorage(l.b, l.loc, word, element);
}

Value reshapeFlat(LoopBuilder &l, Value flat, RankedTensorType type) {
  SmallVector<ReassociationIndices> groups;
  if (type.getRank() > 0)
    groups.push_back(llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
  if (type.getRank() == 0)
    return tensor::CollapseShapeOp::create(l.b, l.loc, type, flat, groups);
  return type.getRank() == 1 ? flat : tensor::ExpandShapeOp::create(l.b, l.loc, type, flat, groups).getResult();
}

struct RngBitGeneratorPattern : OpConversionPattern<stablehlo::RngBitGeneratorOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::RngBitGeneratorOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    auto type = dyn_cast<RankedTensorType>(getTypeConverter()->convertType(op.getOutput().getType()));
    auto stateType = dyn_cast<RankedTensorType>(adaptor.getInitialState().getType());
    if (!type || !type.hasStaticShape() || !stateType || !stateType.hasStaticShape())
      return rewriter.notifyMatchFailure(op, "needs static shapes");
    Type element = getElementTypeOrSelf(op.getOutput().getType());
    Words w{l};
    // The state consists of 64-bit words; a state of 32-bit words is read in pairs, low word first.
    Value state = adaptor.getInitialState();
    bool isNarrowState = stateType.getElementType().isInteger(32);
    int64_t stateWords = stateType.getDimSize(0) / (isNarrowState ? 2 : 1);
    SmallVector<Value> words;
    for (int64_t i = 0; i < stateWords; ++i)
      words.push_back(isNarrowState ? w.join(l.extract(state, l.index(2 * i)), l.extract(state, l.index(2 * i + 1)))
                                    : l.extract(state, l.index(i)));
    if (words.size() < 2)
      return rewriter.notifyMatchFailure(op, "the state needs a key and a counter");

    Value output;
    if (op.getRngAlgorithm() == stablehlo::RngAlgorithm::THREE_FRY)
      output = threefry(l, words, type, element);
    else
      output = philox(l, words, type, element);

    Value newState = l.empty(stateType, l.foldedDims(state));
    for (auto [i, word] : llvm::enumerate(words)) {
      if (isNarrowState) {
        newState = l.insert(w.low(word), newState, l.index(2 * i));
        newState = l.insert(w.high(word), newState, l.index(2 * i + 1));
      } else {
        newState = l.insert(word, newState, l.index(i));
      }
    }
    rewriter.replaceOp(op, {newState, output});
    return success();
  }

private:
  /// Advances the counter in `words` and returns the output.
  static Value philox(LoopBuilder &l, SmallVectorImpl<Value> &words, RankedTensorType type, Type element) {
    Words w{l};
    std::array<Value, 2> key{w.low(words[0]), w.high(words[0])};
    // In a state of two words the key is also the high half of the counter, which does not advance.
    Value counterLow = words[1], counterHigh = words.size() > 2 ? words[2] : words[0];
    bool isWide = type.getElementTypeBitWidth() == 64;
    int64_t perBlock = isWide ? 2 : 4, count = type.getNumElements();
    auto blockAt = [&](LoopBuilder &in, Value block, ValueRange into, int64_t used) {
      Words v{in};
      Value offset = arith::IndexCastOp::create(in.b, in.loc, in.b.getI64Type(), block);
      Value low = v.add(counterLow, offset);
      Value carry = arith::ExtUIOp::create(in.b, in.loc, in.b.getI64Type(),
                                           in.compare(arith::CmpIPredicate::ult, low, counterLow));
      Value high = v.add(counterHigh, carry);
      auto bits = v.philox({v.low(low), v.high(low), v.low(high), v.high(high)}, key);
      Value flat = into[0], first = in.mul(block, in.index(perBlock));
      for (int64_t i = 0; i < used; ++i) {
        Value word = isWide ? v.join(bits[2 * i], bits[2 * i + 1]) : bits[i];
        flat = in.insert(bitsToStorage(in, word, element), flat, in.add(first, in.index(i)));
      }
      return SmallVector<Value>{flat};
    };
    Value flat = l.empty({l.b.getIndexAttr(count)}, type.getElementType());
    flat = l.nest(l.index(count / perBlock), flat, [&](LoopBuilder &in, ValueRange block, ValueRange into) {
      return blockAt(in, block[0], into, perBlock);
    })[0];
    if (count % perBlock)
      flat = blockAt(l, l.index(count / perBlock), flat, count % perBlock)[0];
    Value advanced = w.add(counterLow, w.i64((count + perBlock - 1) / perBlock));
    Value carry = arith::ExtUIOp::create(l.b, l.loc, l.b.getI64Type(),
                                         l.compare(arith::CmpIPredicate::ult, advanced, counterLow));
    words[1] = advanced;
    if (words.size() > 2)
      words[2] = w.add(counterHigh, carry);
    return reshapeFlat(l, flat, type);
  }

  static Value threefry(LoopBuilder &l, SmallVectorImpl<Value> &words, RankedTensorType type, Type element) {
    Words w{l};
    std::array<Value, 2> key{w.low(words[0]), w.high(words[0])};
    Value counter = words[1];
    bool isWide = type.getElementTypeBitWidth() == 64;
    int64_t rank = type.getRank(), split = -1;
    // 64-bit elements use both words of a block; narrower ones alternate between them along one dimension.
    if (!isWide) {
      for (int64_t d = 0; d < rank && split < 0; ++d)
        if (type.getDimSize(d) % 2 == 0)
          split = d;
      if (split < 0)
        for (int64_t d = 0; d < rank; ++d)
          if (split < 0 || type.getDimSize(d) > type.getDimSize(split))
            split = d;
    }
    SmallVector<Value> blocks;
    int64_t blockCount = 1;
    for (int64_t d = 0; d < rank; ++d) {
      int64_t size = d == split ? (type.getDimSize(d) + 1) / 2 : type.getDimSize(d);
      blocks.push_back(l.index(size));
      blockCount *= size;
    }
    SmallVector<OpFoldResult> sizes;
    for (int64_t size : type.getShape())
      sizes.push_back(l.b.getIndexAttr(size));
    Value init = l.empty(type, sizes);
    Value output = l.nest(blocks, init, [&](LoopBuilder &in, ValueRange at, ValueRange into) -> SmallVector<Value> {
      Words v{in};
      Value linear = in.index(0);
      for (int64_t d = 0; d < rank; ++d)
        linear = in.add(in.mul(linear, blocks[d]), at[d]);
      Value wide = v.add(counter, arith::IndexCastOp::create(in.b, in.loc, in.b.getI64Type(), linear));
      auto bits = v.threefry({v.low(wide), v.high(wide)}, key);
      if (isWide || split < 0) {
        Value word = isWide ? v.join(bits[0], bits[1]) : bits[0];
        return {in.insert(bitsToStorage(in, word, element), into[0], at)};
      }
      SmallVector<Value> first = llvm::to_vector(at), second = first;
      first[split] = in.mul(at[split], in.index(2));
      second[split] = in.add(first[split], in.index(1));
      Value result = in.insert(bitsToStorage(in, bits[0], element), into[0], first);
      if (type.getDimSize(split) % 2 == 0)
        return {in.insert(bitsToStorage(in, bits[1], element), result, second)};
      // The last block of an odd dimension has one element.
      Value hasSecond = in.compare(arith::CmpIPredicate::slt, second[split], in.index(type.getDimSize(split)));
      auto guarded = scf::IfOp::create(in.b, in.loc, result.getType(), hasSecond, /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(in.b);
      in.b.setInsertionPointToStart(guarded.thenBlock());
      scf::YieldOp::create(in.b, in.loc, in.insert(bitsToStorage(in, bits[1], element), result, second));
      in.b.setInsertionPointToStart(guarded.elseBlock());
      scf::YieldOp::create(in.b, in.loc, result);
      return {guarded.getResult(0)};
    })[0];
    words[1] = w.add(counter, w.i64(blockCount));
    return output;
  }
};

struct RngPattern : OpConversionPattern<stablehlo::RngOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::RngOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    LoopBuilder l(rewriter, op.getLoc());
    auto type = cast<RankedTensorType>(getTypeConverter()->convertType(op.getType()));
    Type element = getElementTypeOrSelf(op.getType());
    SmallVector<OpFoldResult> sizes;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (!type.isDynamicDim(d)) {
        sizes.push_back(rewriter.getIndexAttr(type.getDimSize(d)));
        continue;
      }
      Value size = l.extract(adaptor.getShape(), l.index(d));
      sizes.push_back(l.toIndex(size, getElementTypeOrSelf(op.getShape().getType())));
    }
    SmallVector<Value> extents;
    for (OpFoldResult size : sizes)
      extents.push_back(l.value(size));
    Value a = toCompute(rewriter, l.loc, l.extract(adaptor.getA()), element);
    Value b = toCompute(rewriter, l.loc, l.extract(adaptor.getB()), element);
    uint64_t seed = seedOf(op);
    bool isNormal = op.getRngDistribution() == stablehlo::RngDistribution::NORMAL;

    SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
    auto body = [&](OpBuilder &builder, Location loc, ValueRange) {
      LoopBuilder in(builder, loc);
      Words w{in};
      Value linear = in.index(0);
      for (int64_t d = 0; d < type.getRank(); ++d)
        linear = in.add(in.mul(linear, extents[d]), linalg::IndexOp::create(builder, loc, d));
      Value counter = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), linear);
      auto bits = w.philox({w.low(counter), w.high(counter), w.i32(0), w.i32(0)}, {w.i32(seed), w.i32(seed >> 32)});
      Value value = isa<FloatType>(computeElementType(element)) ? drawFloat(in, bits, a, b, element, isNormal)
                                                                 : drawInteger(in, bits, a, b, element);
      linalg::YieldOp::create(builder, loc, toStorage(builder, loc, value, element));
    };
    Value init = l.empty(type, sizes);
    auto generic = linalg::GenericOp::create(rewriter, l.loc, TypeRange{type}, ValueRange{}, ValueRange{init},
                                             rewriter.getMultiDimIdentityMap(type.getRank()), iterators, body);
    rewriter.replaceOp(op, generic.getResults());
    return success();
  }

private:
  static uint64_t seedOf(stablehlo::RngOp op) {
    if (auto ordinal = op->getAttrOfType<IntegerAttr>(kRngOrdinalAttr))
      return ordinal.getValue().getZExtValue();
    std::string text;
    llvm::raw_string_ostream(text) << op.getLoc();
    return llvm::xxh3_64bits(text);
  }

  /// Returns a number in [0, 1) with as many random bits as `work` has mantissa bits.
  static Value unit(LoopBuilder &l, Value word, FloatType work) {
    unsigned bits = word.getType().getIntOrFloatBitWidth(), mantissa = work.isF64() ? 52 : 23;
    Value shift = arith::ConstantIntOp::create(l.b, l.loc, word.getType(), bits - mantissa);
    Value number = arith::UIToFPOp::create(l.b, l.loc, work, arith::ShRUIOp::create(l.b, l.loc, word, shift));
    Value scale = arith::ConstantOp::create(l.b, l.loc, l.b.getFloatAttr(work, std::ldexp(1.0, -int(mantissa))));
    return arith::MulFOp::create(l.b, l.loc, number, scale);
  }

  static Value drawFloat(LoopBuilder &l, std::array<Value, 4> bits, Value a, Value b, Type element, bool isNormal) {
    OpBuilder &builder = l.b;
    Location loc = l.loc;
    bool isDouble = element.isF64();
    FloatType work = isDouble ? FloatType(builder.getF64Type()) : FloatType(builder.getF32Type());
    Words w{l};
    Value first = unit(l, isDouble ? w.join(bits[0], bits[1]) : bits[0], work);
    Value low = convertElement(l, a, element, work), high = convertElement(l, b, element, work), value;
    if (!isNormal) {
      Value span = arith::SubFOp::create(builder, loc, high, low);
      value = arith::AddFOp::create(builder, loc, low, arith::MulFOp::create(builder, loc, first, span));
    } else {
      // The distribution has mean a and standard deviation b.
      auto number = [&](double v) { return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(work, v)).getResult(); };
      Value second = unit(l, isDouble ? w.join(bits[2], bits[3]) : bits[2], work);
      Value positive = arith::SubFOp::create(builder, loc, number(1.0), first);
      Value radius = arith::MulFOp::create(builder, loc, number(-2.0), math::LogOp::create(builder, loc, positive));
      radius = math::SqrtOp::create(builder, loc, radius);
      Value angle = arith::MulFOp::create(builder, loc, number(6.283185307179586), second);
      Value normal = arith::MulFOp::create(builder, loc, radius, math::CosOp::create(builder, loc, angle));
      value = arith::AddFOp::create(builder, loc, low, arith::MulFOp::create(builder, loc, high, normal));
    }
    return convertElement(l, value, work, element);
  }

  /// Returns a + bits mod (b - a) for b > a.
  static Value drawInteger(LoopBuilder &l, std::array<Value, 4> bits, Value a, Value b, Type element) {
    Words w{l};
    Type compute = a.getType();
    unsigned width = compute.getIntOrFloatBitWidth();
    Value word = w.join(bits[0], bits[1]);
    if (width < 64)
      word = arith::TruncIOp::create(l.b, l.loc, compute, word);
    Value span = arith::SubIOp::create(l.b, l.loc, b, a);
    Value one = arith::ConstantIntOp::create(l.b, l.loc, compute, 1), zero = arith::ConstantIntOp::create(l.b, l.loc, compute, 0);
    // An empty interval yields a.
    Value isEmpty = l.compare(arith::CmpIPredicate::eq, span, zero);
    Value rest = arith::RemUIOp::create(l.b, l.loc, word, l.select(isEmpty, one, span));
    return arith::AddIOp::create(l.b, l.loc, a, rest);
  }
};

} // namespace

void populateRngPatterns(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<RngBitGeneratorPattern, RngPattern>(converter, patterns.getContext());
}

} // namespace millrace::lowering
