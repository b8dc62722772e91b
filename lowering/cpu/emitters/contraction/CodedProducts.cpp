// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CodedProducts.cpp - Emit products of bytes with coded weights ---------===//
// Input:   a kernel with kCodedProductAttr: out[m, n] = sum over groups of scale[n, group] * sum over the group of x[m, k] * (code[n, k] - zero), with x
//          in 8 bits, and codes of 4 bits, two in a byte, or of 8 bits. The body says the same; it is not read here.
// Output:  an iteration is a strip of columns. For some rows and columns at a time it reads each byte of codes once, takes its halves apart in
//          registers, and adds the products by the processor's instruction for products of bytes, exactly. Lanes run along k, four bytes of codes in
//          each. At the end of a group they are converted to f32, multiplied by the scale, and added to the column's lanes, which are added up
//          after the last group. Zeros are subtracted by sums of x, computed once per strip: lane by lane, before the conversion.
//          Weights that lie row by row are read some rows at a time, which are interleaved in registers: four bytes of a column are in a lane, as they
//          are in words of eight codes. Their sums are converted and scaled there, and added to the result in memory, after each group or part of one.
//          Where a byte or word has codes of neighbouring columns, both halves are multiplied with the same elements of x, and sums are put in the
//          order of their columns. Groups of different sizes begin at the rows of words that a table has.
//          The order of additions depends on k, on groups and on the width of vectors, not on the rows, the strips or the threads.
// Leaves alone: kernels without the attribute.
//===----------------------------------------------------------------------===//
#include "dialects/millrace/Attributes.h"
#include "lowering/cpu/emitters/Emitter.h"
#include "lowering/cpu/emitters/EmitterShell.h"
#include "lowering/cpu/emitters/contraction/ByteShuffles.h"
#include "lowering/cpu/emitters/contraction/FewRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace millrace::lowering {
namespace {

/// Columns whose lanes are added up together, and which are read at a time. Unit: columns of the result. Source: arithmetic: with four rows, 16 sums
/// and what they are computed of fill 32 registers.
constexpr int64_t kColumnsAtOnce = 4;
/// Rows whose sums are in registers at a time, with 32 of them. Unit: rows. Source: arithmetic, as for kColumnsAtOnce.
constexpr int64_t kRowsAtOnce = 4;
/// The same with 16 registers, of rows and of columns where there are several rows. Unit: rows or columns. Source: arithmetic: four sums, their
/// codes, scales and elements of x take 13 registers.
constexpr int64_t kAtOnceWithFewRegisters = 2;
/// Strips of columns for each thread, so that a thread that starts late does less of them. Unit: strips per thread. Source: judgement, not measured
/// alone.
constexpr int64_t kStripsPerThread = 4;

/// Rows of weights that are read at a time, where they lie row by row: as many streams as use the memory's bandwidth. Unit: rows of bytes. Source:
/// judgement, not measured alone.
constexpr int64_t kRowsOfCodes = 16;
/// The same at most where both halves of a byte belong to other columns: sums of so many rows are put in the order of columns and scaled, about 100
/// instructions next to 200 for 32 rows. Unit: rows of bytes. Source: xla-run --repeat, words of AWQ, 4096 x 4096, one thread of an AMD EPYC (Zen 4),
/// with 32, 64 and 128 rows: 4 rows of x 0.96, 0.79 and 0.68 ms, 16 of them 2.49, 2.04 and 1.88; with AVX2 1.36, 1.26 and 1.19, 3.95, 3.93 and 3.54.
constexpr int64_t kRowsOfCodesAcross = 128;
/// Fact: vectors of interleaved bytes, of four rows.
constexpr int64_t kInterleavedVectors = 4;

class CodedProductEmitter {
public:
  CodedProductEmitter(func::FuncOp kernel, DictionaryAttr how, const KernelTarget &target) : kernel(kernel), how(how), target(target) {}
  FailureOr<EmittedKernel> run();

private:
  using Values = SmallVector<Value>;
  bool is(StringRef name) const { return how.getAs<BoolAttr>(name).getValue(); }
  void choose();
  void emit();
  void emitCorrections(Value firstRow, Value count);
  void emitRowSums();
  Values inOrder(Values sums);
  Values inOrderAcross(Values sums);
  Value broadcast(Value place, int64_t part);
  SmallVector<Values> codesOf(Value byte, Value column);
  SmallVector<Values> keptCodes(int64_t byte);
  Values multiplied(ArrayRef<Values> parts, Value byte, Values sums, ValueRange rowsOfTile);
  Value beginOf(Value number);
  void emitRows(Value begin, Value end);
  void emitTile(Value firstRow, Value firstOfBlock, Value column);
  Values loopOf(Value begin, Value end, int64_t step, ValueRange inits, llvm::function_ref<Values(Value index, ValueRange carried)> body);

  // Values at the insertion point.
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value times(Value x, int64_t y) { return y == 1 ? x : Value(arith::MulIOp::create(b, loc, x, index(y))); }
  Value over(Value x, int64_t y) { return y == 1 ? x : Value(arith::DivUIOp::create(b, loc, x, index(y))); }
  Value least(Value x, Value y) { return arith::MinUIOp::create(b, loc, x, y); }
  Value load(VectorType type, Value memory, Value from) { return vector::LoadOp::create(b, loc, type, memory, ValueRange{from}); }
  void store(Value value, Value memory, Value to) { vector::StoreOp::create(b, loc, value, memory, ValueRange{to}); }
  Value splat(VectorType type, int64_t value) {
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, APInt(64, value, /*isSigned=*/true).trunc(type.getElementTypeBitWidth())));
  }
  Value intrinsic(StringRef name, Type type, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name), operands).getResult(0);
  }
  Value bits(Type element, Value vector) {
    return vector::BitCastOp::create(b, loc, VectorType::get({width * 8 / int64_t(element.getIntOrFloatBitWidth())}, element), vector);
  }
  Value signExtended(Value lanesOfBytes, int64_t byte);
  Value products(Value codes, Value x, Value sum);
  Value pairProducts(Value codes, Value x);
  Value sumOfProducts(ArrayRef<Value> codes, ArrayRef<Value> x, Value sum);
  Values codesAt(Value place);
  Values takenApart(Value bytesOfCodes);
  Values elementsAt(Value place);
  Value perLane(Value memory, Value column, Value place);
  Value widened(Value value);
  Value accumulated(Value left, Value right, Value sum);
  Value toFloats(Value integers) { return arith::SIToFPOp::create(b, loc, floats, integers); }
  Value addedUp(Values sums);

  func::FuncOp kernel, shell;
  DictionaryAttr how;
  const KernelTarget &target;
  OpBuilder b{kernel.getContext()};
  Location loc = kernel.getLoc();

  bool byRows = false, packed = false, isScaled = false, hasZeros = false;
  bool hasWords = false; ///< row by row: four bytes of a column are neighbours
  bool isAcross = false; ///< row by row: the halves of bytes belong to neighbouring columns
  bool isRagged = false; ///< groups have different sizes
  bool isSmall = false; ///< codes are in [0, 15] when they are multiplied
  bool hasLowHalves = false; ///< high halves are multiplied with the low ones beneath them, which are subtracted from the sums
  bool flips = false;   ///< codes of eight bits are multiplied with the other sign bit
  int64_t rows = 1, columns = 1, groups = 1;
  int64_t rowBytes = 1, groupBytes = 1; ///< of codes
  int64_t width = 16, lanes = 4;        ///< bytes and sums of a vector
  int64_t partsOfX = 1;                 ///< with what is multiplied with low halves, then with high ones
  int64_t vectorsOfRow = kInterleavedVectors; ///< row by row: sums of a row and a step of columns
  int64_t step = 16;                          ///< row by row: columns that are computed together
  int64_t stored = 1;                         ///< row by row: bytes of codes for each byte of a column
  int64_t segment = 16;                 ///< bytes after which lanes are converted and scaled: a group, or a vector of several
  int64_t zero = 0;                     ///< of all codes, as they are multiplied
  int64_t segments = 1;                 ///< of a row
  ArrayRef<int64_t> places;             ///< of neighbouring columns in the byte or word that they share
  int64_t rowsAtOnce = 1, columnsAtOnce = 1, rowBlock = 1, strip = 1, strips = 1;
  VectorType bytes, integers, floats;
  Value codes, x, scales, zeros, starts, out, corrections, sumsOfX;
  Value kept; ///< row by row: a segment's codes, taken apart, where several tiles of rows read them
};

void CodedProductEmitter::choose() {
  byRows = is("by_rows");
  packed = is("packed");
  isScaled = is("scaled");
  hasZeros = is("zeros");
  zero = how.getAs<IntegerAttr>("zero").getInt();
  places = how.getAs<DenseI64ArrayAttr>("across").asArrayRef();
  isAcross = !places.empty();
  isRagged = is("ragged");
  partsOfX = packed && !isAcross ? 2 : 1;
  auto shapeOf = [&](unsigned argument) { return cast<ShapedType>(kernel.getArgumentTypes()[argument]).getShape(); };
  ArrayRef<int64_t> shape = shapeOf(0);
  const int64_t storedBytes = cast<ShapedType>(kernel.getArgumentTypes()[0]).getElementType().isInteger(32) ? 4 : 1;
  hasWords = storedBytes > 1 && !isAcross;
  columns = shape[byRows ? 2 : 0] * (isAcross ? places.size() : 1);
  groups = shape[byRows ? 0 : 1];
  groupBytes = shape[byRows ? 1 : 2] * (hasWords ? storedBytes : 1);
  rows = shapeOf(1)[1];
  rowBytes = groups * groupBytes;
  stored = isAcross ? columns / 2 : columns;
  if (isRagged)
    groups = shapeOf(2)[0];
  // The widest vectors of which a row is a whole number, and a group, too, or a vector is one of groups.
  auto fits = [&](int64_t candidate) {
    if (byRows)
      return stored % candidate == 0;
    return rowBytes % candidate == 0 && (groupBytes % candidate == 0 || candidate % groupBytes == 0);
  };
  for (width = target.vectorBits / 8; width > 16 && !fits(width);)
    width /= 2;
  lanes = width / 4;
  segment = std::max(width, groupBytes);
  bytes = VectorType::get({width}, b.getI8Type());
  integers = VectorType::get({lanes}, b.getI32Type());
  floats = VectorType::get({lanes}, b.getF32Type());
  // Codes of four bits are multiplied as 0 to 15, those of eight as the instruction wants them.
  isSmall = packed || is("narrow");
  bool isSigned = is("signed");
  if (isSmall) {
    zero += isSigned ? 8 : 0;
  } else if (isSigned == (target.byteProducts == ByteProducts::UnsignedBySigned)) {
    flips = true;
    zero += isSigned ? 128 : -128;
  }

  if (byRows) {
    // Four vectors of columns at a time, or eight, of which each row of x has a sum.
    vectorsOfRow = isAcross ? 2 * kInterleavedVectors : kInterleavedVectors;
    step = vectorsOfRow * lanes;
    const int64_t most = target.vectorRegisters < 32 ? 1 : isAcross ? kRowsAtOnce / 2 : kRowsAtOnce;
    rowsAtOnce = llvm::divideCeil(rows, llvm::divideCeil(rows, most));
    // Each row is on a page of its own: all of them are near when the next columns are read.
    const int64_t nearRows = target.nearPages * target.pageBytes / stored / 4 * 4;
    const int64_t rowsOfCodes = isAcross ? std::clamp(nearRows, kRowsOfCodes, kRowsOfCodesAcross) : kRowsOfCodes;
    for (segment = std::min(rowsOfCodes, groupBytes); groupBytes % segment; segment -= 4)
      ;
    segments = isRagged ? groups : rowBytes / segment;
    // The difference of the sums of both halves and of the low ones is 16 times the sum of the high ones, and has 32 bits.
    const int64_t mostOfCode = std::max(std::abs(zero), std::abs(15 - zero)), mostOfX = 128;
    hasLowHalves = isAcross && target.byteProducts == ByteProducts::UnsignedBySigned &&
                   mostOfCode * mostOfX * 16 * (isRagged ? rowBytes : segment) <= std::numeric_limits<int32_t>::max();
    int64_t steps = columns / step, stepsOfStrip = llvm::divideCeil(steps, std::min<int64_t>(steps, target.threads * (rows > kMaxFewRows ? kStripsPerThread : 1)));
    strip = stepsOfStrip * step;
    strips = llvm::divideCeil(steps, stepsOfStrip);
    rowBlock = rows;
    return;
  }
  segments = rowBytes / segment;
  bool fewRegisters = target.vectorRegisters < 32;
  int64_t most = fewRegisters ? kAtOnceWithFewRegisters : kRowsAtOnce;
  rowsAtOnce = llvm::divideCeil(rows, llvm::divideCeil(rows, most));
  columnsAtOnce = fewRegisters && rows > 1 ? kAtOnceWithFewRegisters : kColumnsAtOnce;
  columnsAtOnce = std::min(columnsAtOnce, int64_t(llvm::bit_floor(uint64_t(columns))));
  // Elements of x and their sums stay in a quarter of the level 2 cache.
  int64_t bytesOfRow = 2 * rowBytes + rowBytes / segment * lanes * 8;
  rowBlock = std::clamp<int64_t>(target.l2Bytes / 4 / bytesOfRow / rowsAtOnce * rowsAtOnce, rowsAtOnce, rows);
  int64_t tiles = columns / columnsAtOnce;
  int64_t tilesOfStrip = llvm::divideCeil(tiles, std::min<int64_t>(tiles, kStripsPerThread * target.threads));
  strip = tilesOfStrip * columnsAtOnce;
  strips = llvm::divideCeil(tiles, tilesOfStrip);
}

CodedProductEmitter::Values CodedProductEmitter::loopOf(Value begin, Value end, int64_t step, ValueRange inits,
                                                        llvm::function_ref<Values(Value, ValueRange)> body) {
  // A body that runs once is no loop, out of which all that it reads would be moved, into more registers than there are.
  const std::optional<int64_t> first = getConstantIntValue(begin), last = getConstantIntValue(end);
  if (first && last && *first < *last && *last <= *first + step)
    return body(begin, inits);
  auto made = scf::ForOp::create(b, loc, begin, end, index(step), inits);
  OpBuilder::InsertionGuard guard(b);
  // A loop without results has its terminator already.
  b.setInsertionPointToStart(made.getBody());
  Values next = body(made.getInductionVar(), made.getRegionIterArgs());
  if (!inits.empty()) {
    b.setInsertionPointToEnd(made.getBody());
    scf::YieldOp::create(b, loc, next);
  }
  return Values(made.getResults());
}

/// Returns byte number `byte` of each lane as 32 bits, with its sign.
Value CodedProductEmitter::signExtended(Value lanesOfBytes, int64_t byte) {
  Value value = lanesOfBytes;
  if (byte < 3)
    value = arith::ShLIOp::create(b, loc, value, splat(integers, 8 * (3 - byte)));
  return arith::ShRSIOp::create(b, loc, value, splat(integers, 24));
}

/// Returns, in lanes of 16 bits, the products of two neighbours; codes are at most 15.
Value CodedProductEmitter::pairProducts(Value codes, Value x) {
  StringRef name = width == 64 ? "llvm.x86.avx512.pmaddubs.w.512" : width == 32 ? "llvm.x86.avx2.pmadd.ub.sw" : "llvm.x86.ssse3.pmadd.ub.sw.128";
  return intrinsic(name, VectorType::get({width / 2}, b.getI16Type()), {codes, x});
}

/// Returns `sum` and the products of four neighbours in each lane.
Value CodedProductEmitter::products(Value codes, Value x, Value sum) {
  switch (target.byteProducts) {
  case ByteProducts::UnsignedBySigned:
    return intrinsic("llvm.x86.avx512.vpdpbusd." + std::to_string(width * 8), integers, {sum, codes, x});
  case ByteProducts::EqualSigns:
    return intrinsic("llvm.aarch64.neon.sdot", integers, {sum, codes, x});
  case ByteProducts::Pairs: {
    // Bytes with even and odd numbers are widened in place.
    auto halves = VectorType::get({width / 2}, b.getI16Type());
    Value eight = splat(halves, 8), c = bits(b.getI16Type(), codes), e = bits(b.getI16Type(), x);
    StringRef name = width == 64 ? "llvm.x86.avx512.pmaddw.d.512" : width == 32 ? "llvm.x86.avx2.pmadd.wd" : "llvm.x86.sse2.pmadd.wd";
    auto even = [&](Value value) -> Value {
      return arith::ShRSIOp::create(b, loc, Value(arith::ShLIOp::create(b, loc, value, eight)), eight);
    };
    auto odd = [&](Value value) -> Value { return arith::ShRSIOp::create(b, loc, value, eight); };
    return add(sum, add(intrinsic(name, integers, {even(c), even(e)}), intrinsic(name, integers, {odd(c), odd(e)})));
  }
  case ByteProducts::None:
    break;
  }
  Value c = bits(b.getI32Type(), codes), e = bits(b.getI32Type(), x);
  for (int64_t byte = 0; byte < 4; ++byte)
    sum = add(sum, arith::MulIOp::create(b, loc, signExtended(c, byte), signExtended(e, byte)));
  return sum;
}

/// The same for several vectors of codes, which belong to the same lanes.
Value CodedProductEmitter::sumOfProducts(ArrayRef<Value> codesOfLanes, ArrayRef<Value> elements, Value sum) {
  if (target.byteProducts == ByteProducts::Pairs && isSmall && target.vectorBits >= 256) {
    // Four products of at most 15 * 128 do not exceed 16 bits.
    Value pairs;
    for (auto [code, element] : llvm::zip_equal(codesOfLanes, elements)) {
      Value some = pairProducts(code, element);
      pairs = pairs ? add(pairs, some) : some;
    }
    StringRef name = width == 64 ? "llvm.x86.avx512.pmaddw.d.512" : width == 32 ? "llvm.x86.avx2.pmadd.wd" : "llvm.x86.sse2.pmadd.wd";
    return add(sum, intrinsic(name, integers, {pairs, splat(VectorType::get({width / 2}, b.getI16Type()), 1)}));
  }
  for (auto [code, element] : llvm::zip_equal(codesOfLanes, elements))
    sum = products(code, element, sum);
  return sum;
}

/// Returns the codes of `width` bytes from `place` on, as they are multiplied: the low halves, then the high ones.
CodedProductEmitter::Values CodedProductEmitter::codesAt(Value place) {
  return takenApart(load(bytes, codes, place));
}

CodedProductEmitter::Values CodedProductEmitter::takenApart(Value all) {
  if (packed) {
    if (is("signed"))
      all = arith::XOrIOp::create(b, loc, all, splat(bytes, 0x88));
    Value low = arith::AndIOp::create(b, loc, all, splat(bytes, 15));
    if (hasLowHalves)
      return {low, all};
    Value high = arith::ShRUIOp::create(b, loc, all, splat(bytes, 4));
    return {low, high};
  }
  if (isSmall) {
    // The low bits alone count, as in a conversion to four bits.
    if (is("signed"))
      all = arith::XOrIOp::create(b, loc, all, splat(bytes, 8));
    return {arith::AndIOp::create(b, loc, all, splat(bytes, 15))};
  }
  if (flips)
    all = arith::XOrIOp::create(b, loc, all, splat(bytes, 0x80));
  return {all};
}

CodedProductEmitter::Values CodedProductEmitter::elementsAt(Value place) {
  Values elements;
  for (int64_t part = 0; part < partsOfX; ++part)
    elements.push_back(load(bytes, x, part ? add(place, index(rows * rowBytes)) : place));
  return elements;
}

/// Returns floats or signed integers as f32.
Value CodedProductEmitter::widened(Value value) {
  Type type = b.getF32Type();
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(type);
  if (value.getType() == type)
    return value;
  if (isa<FloatType>(getElementTypeOrSelf(value.getType())))
    return arith::ExtFOp::create(b, loc, type, value);
  return arith::SIToFPOp::create(b, loc, type, value);
}

Value CodedProductEmitter::accumulated(Value left, Value right, Value sum) {
  if (target.fma)
    return vector::FMAOp::create(b, loc, left, right, sum);
  return arith::AddFOp::create(b, loc, sum, Value(arith::MulFOp::create(b, loc, left, right)));
}

/// Returns for each lane of the segment from byte `place` on the number that `memory` has for its group and `column`.
Value CodedProductEmitter::perLane(Value memory, Value column, Value place) {
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  Value from = add(times(column, groups), over(place, groupBytes));
  int64_t count = std::max<int64_t>(1, width / groupBytes);
  if (count == 1)
    return vector::BroadcastOp::create(b, loc, floats, widened(memref::LoadOp::create(b, loc, memory, ValueRange{from})));
  Value some = widened(load(VectorType::get({count}, element), memory, from));
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < lanes; ++lane)
    order.push_back(lane * 4 / groupBytes);
  return vector::ShuffleOp::create(b, loc, some, some, order);
}

/// Computes what lanes begin with, minus `zero` times the sum of the elements of x that they will multiply, and those sums themselves if columns
/// have zeros of their own: for `count` rows from `firstRow` on.
void CodedProductEmitter::emitCorrections(Value firstRow, Value count) {
  Value ones = splat(bytes, 1);
  loopOf(index(0), count, 1, {}, [&](Value row, ValueRange) {
    Value from = times(add(firstRow, row), rowBytes), to = times(row, segments * lanes);
    loopOf(index(0), index(segments), 1, {}, [&](Value number, ValueRange) {
      Value begin = add(from, times(number, segment));
      Value sum = loopOf(begin, add(begin, index(segment)), width, {splat(integers, 0)}, [&](Value place, ValueRange carried) -> Values {
                    Value lanesOfSums = carried[0];
                    for (Value elements : elementsAt(place))
                      lanesOfSums = products(ones, elements, lanesOfSums);
                    return {lanesOfSums};
                  })[0];
      Value place = add(to, times(number, lanes));
      if (corrections)
        store(arith::MulIOp::create(b, loc, sum, splat(integers, -zero)), corrections, place);
      if (sumsOfX)
        store(toFloats(sum), sumsOfX, place);
      return Values();
    });
    return Values();
  });
}

/// Returns the sum of the lanes of each of `sums`, a power of two of them, as a vector: lane l is added to lane l + half everywhere.
Value CodedProductEmitter::addedUp(Values sums) {
  bool isFloat = isScaled;
  auto added = [&](Value left, Value right) -> Value {
    if (isFloat)
      return arith::AddFOp::create(b, loc, left, right);
    return add(left, right);
  };
  // Parts of `each` lanes belong to the sums one after the other.
  int64_t each = lanes;
  int64_t count = sums.size();
  while (sums.size() > 1 || each > 1) {
    each /= 2;
    Values next;
    for (size_t i = 0; i < sums.size(); i += 2) {
      Value left = sums[i], right = i + 1 < sums.size() ? sums[i + 1] : Value();
      int64_t size = cast<VectorType>(left.getType()).getNumElements();
      SmallVector<int64_t> low, high;
      for (int64_t of : {int64_t(0), size}) {
        if (of && !right)
          break;
        for (int64_t begin = 0; begin < size; begin += 2 * each)
          for (int64_t lane = 0; lane < each; ++lane) {
            low.push_back(of + begin + lane);
            high.push_back(of + begin + each + lane);
          }
      }
      Value second = right ? right : left;
      next.push_back(added(vector::ShuffleOp::create(b, loc, left, second, low), vector::ShuffleOp::create(b, loc, left, second, high)));
    }
    sums = next;
  }
  assert(cast<VectorType>(sums[0].getType()).getNumElements() == count && "a lane is left of each sum");
  (void)count;
  return sums[0];
}

/// Computes for each row and segment what its sums begin with, and the sum of its elements of x.
void CodedProductEmitter::emitRowSums() {
  loopOf(index(0), index(rows * segments), 1, {}, [&](Value number, ValueRange) {
    Value begin = times(number, segment), end = isRagged ? Value() : add(begin, index(segment));
    if (isRagged) {
      Value segmentOfRow = arith::RemUIOp::create(b, loc, number, index(segments)), ofRow = times(over(number, segments), rowBytes);
      begin = add(ofRow, beginOf(segmentOfRow));
      end = add(ofRow, beginOf(add(segmentOfRow, index(1))));
    }
    Value sum = loopOf(begin, end, 1, {Value(arith::ConstantIntOp::create(b, loc, 0, 32))}, [&](Value place, ValueRange carried) -> Values {
                  Value total = carried[0];
                  for (int64_t part = 0; part < partsOfX; ++part) {
                    Value from = part ? add(place, index(rows * rowBytes)) : place;
                    Value element = memref::LoadOp::create(b, loc, x, ValueRange{from});
                    total = add(total, arith::ExtSIOp::create(b, loc, b.getI32Type(), element));
                  }
                  return {total};
                })[0];
    if (corrections)
      memref::StoreOp::create(b, loc, Value(arith::MulIOp::create(b, loc, sum, Value(arith::ConstantIntOp::create(b, loc, -zero, 32)))), corrections, ValueRange{number});
    if (sumsOfX)
      memref::StoreOp::create(b, loc, Value(arith::SIToFPOp::create(b, loc, b.getF32Type(), sum)), sumsOfX, ValueRange{number});
    return Values();
  });
}

/// Returns the sums of four vectors of interleaved() in the order of their columns.
CodedProductEmitter::Values CodedProductEmitter::inOrder(Values sums) {
  Values result;
  Value low = joined(b, loc, sums[0], sums[1]), high = joined(b, loc, sums[2], sums[3]);
  for (int64_t vector = 0; vector < 4; ++vector) {
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t column = vector * lanes + lane, part = column / kInterleavedBytes, of = column % kInterleavedBytes / 4;
      order.push_back(of * lanes + part * 4 + column % 4);
    }
    result.push_back(vector::ShuffleOp::create(b, loc, low, high, order));
  }
  return result;
}

/// Returns the sums of interleaved() low halves, high halves, low halves, ... in the order of their columns.
CodedProductEmitter::Values CodedProductEmitter::inOrderAcross(Values sums) {
  const int64_t neighbours = places.size();
  Values result;
  for (int64_t vector = 0; vector < vectorsOfRow; ++vector) {
    // Byte and half of each column, and the pair of vectors in which the bytes are: neighbouring columns are in few bytes.
    SmallVector<std::pair<int64_t, int64_t>> bytesOfColumns;
    int64_t first = kInterleavedVectors;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const int64_t column = vector * lanes + lane, place = places[column % neighbours];
      bytesOfColumns.emplace_back((column / neighbours * neighbours + place) / 2, place % 2);
      first = std::min(first, bytesOfColumns.back().first % kInterleavedBytes / 4);
    }
    first -= first % 2;
    SmallVector<int64_t> order;
    for (auto [byte, half] : bytesOfColumns) {
      const int64_t of = byte % kInterleavedBytes / 4 - first;
      assert(of < 2 && "the columns of a vector are in eight neighbouring bytes");
      order.push_back((2 * of + half) * lanes + byte / kInterleavedBytes * 4 + byte % 4);
    }
    Value low = joined(b, loc, sums[2 * first], sums[2 * first + 1]), high = joined(b, loc, sums[2 * first + 2], sums[2 * first + 3]);
    result.push_back(vector::ShuffleOp::create(b, loc, low, high, order));
  }
  return result;
}

/// Returns the byte at which a group begins, from the table of groups of different sizes.
Value CodedProductEmitter::beginOf(Value number) {
  Value row = memref::LoadOp::create(b, loc, starts, ValueRange{number});
  return times(arith::IndexCastOp::create(b, loc, b.getIndexType(), row), 4);
}

/// Returns four elements of x from `place` on in every lane.
Value CodedProductEmitter::broadcast(Value place, int64_t part) {
  Value from = part ? add(place, index(rows * rowBytes)) : place;
  Value some = load(VectorType::get({4}, b.getI8Type()), x, from);
  Value one = vector::BitCastOp::create(b, loc, VectorType::get({1}, b.getI32Type()), some);
  Value all = vector::BroadcastOp::create(b, loc, integers, Value(vector::ExtractOp::create(b, loc, one, int64_t(0))));
  return bits(b.getI8Type(), all);
}

/// Returns the codes of a step of columns, four bytes of each from `byte` on: low and high halves of each vector.
SmallVector<CodedProductEmitter::Values> CodedProductEmitter::codesOf(Value byte, Value column) {
  Values rowsOfCodes;
  Value from = times(byte, stored);
  for (int64_t i = 0; i < 4; ++i) {
    Value place = hasWords ? add(times(column, 4), index(i * width)) : add(isAcross ? over(column, 2) : column, index(i * stored));
    rowsOfCodes.push_back(load(bytes, codes, add(from, place)));
  }
  SmallVector<Values> parts;
  for (Value some : hasWords ? rowsOfCodes : Values(interleaved(b, loc, rowsOfCodes)))
    parts.push_back(takenApart(some));
  return parts;
}

/// Returns the same from what the first rows have kept of a segment.
SmallVector<CodedProductEmitter::Values> CodedProductEmitter::keptCodes(int64_t byte) {
  SmallVector<Values> parts(kInterleavedVectors);
  for (int64_t v = 0; v < vectorsOfRow; ++v)
    parts[v / 2].push_back(load(bytes, kept, index((byte / 4 * vectorsOfRow + v) * width)));
  return parts;
}

/// Returns the sums of a step of columns, all of one row and then those of the next one, with the products of four bytes of codes from `byte` on.
CodedProductEmitter::Values CodedProductEmitter::multiplied(ArrayRef<Values> parts, Value byte, Values sums, ValueRange rowsOfTile) {
  for (auto [r, row] : llvm::enumerate(rowsOfTile)) {
    Value place = add(times(row, rowBytes), byte);
    Values elements;
    for (int64_t part = 0; part < partsOfX; ++part)
      elements.push_back(broadcast(place, part));
    for (int64_t v = 0; v < vectorsOfRow; ++v) {
      Value &sum = sums[r * vectorsOfRow + v];
      sum = isAcross ? sumOfProducts({parts[v / 2][v % 2]}, elements, sum) : sumOfProducts(parts[v], elements, sum);
    }
  }
  return sums;
}

/// Computes all rows of columns [begin, end).
void CodedProductEmitter::emitRows(Value begin, Value end) {
  Type type = isScaled ? floats : integers;
  Value none = arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(type)));
  loopOf(index(0), index(rows), 1, {}, [&](Value row, ValueRange) {
    loopOf(add(times(row, columns), begin), add(times(row, columns), end), lanes, {}, [&](Value place, ValueRange) {
      store(none, out, place);
      return Values();
    });
    return Values();
  });
  auto addSegment = [&](Value number, Value column) {
      Value firstByte = isRagged ? beginOf(number) : times(number, segment), endByte = isRagged ? beginOf(add(number, index(1))) : Value();
      Value group = isRagged ? number : over(firstByte, groupBytes);
      for (int64_t byte = 0; byte < segment && kept; byte += 4)
        for (auto [v, some] : llvm::enumerate(codesOf(add(firstByte, index(byte)), column)))
          for (auto [half, part] : llvm::enumerate(some))
            store(part, kept, index((byte / 4 * vectorsOfRow + int64_t(2 * v + half)) * width));
      loopOf(index(0), index(rows), rowsAtOnce, {}, [&](Value row, ValueRange) {
        // The last rows would be added twice if they overlapped those before: rows behind the last one are not stored.
        Values rowsOfTile, sums;
        for (int64_t r = 0; r < rowsAtOnce; ++r) {
          rowsOfTile.push_back(rows % rowsAtOnce ? least(add(row, index(r)), index(rows - 1)) : add(row, index(r)));
          Value first = splat(integers, 0);
          if (corrections) {
            Value place = add(times(rowsOfTile[r], segments), number);
            first = vector::BroadcastOp::create(b, loc, integers, Value(memref::LoadOp::create(b, loc, corrections, ValueRange{place})));
          }
          // A sum of high halves is a sixteenth of the difference to that of the low ones.
          Value ofHigh = hasLowHalves && corrections ? Value(arith::MulIOp::create(b, loc, first, splat(integers, 17))) : first;
          for (int64_t v = 0; v < vectorsOfRow; ++v)
            sums.push_back(v % 2 ? ofHigh : first);
        }
        if (isRagged)
          sums = loopOf(firstByte, endByte, 4, sums, [&](Value byte, ValueRange carried) { return multiplied(codesOf(byte, column), byte, Values(carried), rowsOfTile); });
        for (int64_t byte = 0; byte < segment && !isRagged; byte += 4) {
          Value place = add(firstByte, index(byte));
          sums = multiplied(kept ? keptCodes(byte) : codesOf(place, column), place, sums, rowsOfTile);
        }
        for (size_t v = 1; v < sums.size() && hasLowHalves; v += 2)
          sums[v] = arith::ShRSIOp::create(b, loc, Value(arith::SubIOp::create(b, loc, sums[v], sums[v - 1])), splat(integers, 4));
        for (int64_t r = 0; r < rowsAtOnce; ++r) {
          Values ofRow(ArrayRef(sums).slice(r * vectorsOfRow, vectorsOfRow)), ordered = hasWords ? ofRow : isAcross ? inOrderAcross(ofRow) : inOrder(ofRow);
          auto addToResult = [&] {
            Value ofX;
            if (zeros)
              ofX = vector::BroadcastOp::create(b, loc, floats, Value(memref::LoadOp::create(b, loc, sumsOfX, ValueRange{add(times(rowsOfTile[r], segments), number)})));
            for (int64_t v = 0; v < vectorsOfRow; ++v) {
              Value at = add(column, index(v * lanes)), to = add(times(rowsOfTile[r], columns), at), sum = ordered[v];
              Value before = load(cast<VectorType>(type), out, to);
              if (!isScaled) {
                store(add(before, sum), out, to);
                continue;
              }
              Value from = add(times(group, columns), at);
              sum = toFloats(sum);
              if (zeros) {
                Value zero = widened(load(VectorType::get({lanes}, cast<MemRefType>(zeros.getType()).getElementType()), zeros, from));
                sum = arith::SubFOp::create(b, loc, sum, Value(arith::MulFOp::create(b, loc, ofX, zero)));
              }
              Value scale = widened(load(VectorType::get({lanes}, cast<MemRefType>(scales.getType()).getElementType()), scales, from));
              store(accumulated(sum, scale, before), out, to);
            }
          };
          if (r == 0 || rows % rowsAtOnce == 0) {
            addToResult();
            continue;
          }
          Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, add(row, index(r)), index(rows));
          auto branch = scf::IfOp::create(b, loc, exists, /*withElseRegion=*/false);
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToStart(branch.thenBlock());
          addToResult();
        }
        return Values();
      });
  };
  // Few rows stay in the near caches while long pieces of weights are read; with many of them, the weights of some columns stay there.
  bool isColumnOutside = rows > kMaxFewRows;
  auto forSegments = [&](llvm::function_ref<void(Value)> act) {
    loopOf(index(0), index(segments), 1, {}, [&](Value number, ValueRange) {
      act(number);
      return Values();
    });
  };
  auto forColumns = [&](llvm::function_ref<void(Value)> act) {
    loopOf(begin, end, step, {}, [&](Value column, ValueRange) {
      act(column);
      return Values();
    });
  };
  if (isColumnOutside)
    forColumns([&](Value column) { forSegments([&](Value number) { addSegment(number, column); }); });
  else
    forSegments([&](Value number) { forColumns([&](Value column) { addSegment(number, column); }); });
}

/// Computes and stores rowsAtOnce x columnsAtOnce results.
void CodedProductEmitter::emitTile(Value firstRow, Value firstOfBlock, Value column) {
  Values columnsOfTile, starts;
  for (int64_t c = 0; c < columnsAtOnce; ++c) {
    columnsOfTile.push_back(add(column, index(c)));
    starts.push_back(times(columnsOfTile.back(), rowBytes));
  }
  Values rowsOfTile, places;
  for (int64_t r = 0; r < rowsAtOnce; ++r) {
    Value row = add(firstRow, index(r));
    rowsOfTile.push_back(times(row, rowBytes));
    places.push_back(times(arith::SubIOp::create(b, loc, row, firstOfBlock), segments * lanes));
  }
  Type type = isScaled ? floats : integers;
  Value none = arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(type)));
  Values sums = loopOf(index(0), index(rowBytes), segment, Values(rowsAtOnce * columnsAtOnce, none), [&](Value begin, ValueRange carried) -> Values {
    Value number = times(over(begin, segment), lanes);
    Values lanesOfSums;
    for (int64_t r = 0; r < rowsAtOnce; ++r) {
      Value first = corrections ? load(integers, corrections, add(places[r], number)) : splat(integers, 0);
      lanesOfSums.append(columnsAtOnce, first);
    }
    auto oneVector = [&](Value place, ValueRange current) {
      Values next(current.begin(), current.end());
      SmallVector<Values> codesOfColumns;
      for (int64_t c = 0; c < columnsAtOnce; ++c)
        codesOfColumns.push_back(codesAt(add(starts[c], place)));
      for (int64_t r = 0; r < rowsAtOnce; ++r) {
        Values elements = elementsAt(add(rowsOfTile[r], place));
        for (int64_t c = 0; c < columnsAtOnce; ++c) {
          Value &sum = next[r * columnsAtOnce + c];
          sum = sumOfProducts(codesOfColumns[c], elements, sum);
        }
      }
      return next;
    };
    if (segment == width)
      lanesOfSums = oneVector(begin, lanesOfSums);
    else
      lanesOfSums = loopOf(begin, add(begin, index(segment)), width, lanesOfSums, oneVector);
    Values next;
    for (int64_t r = 0; r < rowsAtOnce; ++r)
      for (int64_t c = 0; c < columnsAtOnce; ++c) {
        Value sum = lanesOfSums[r * columnsAtOnce + c], all = carried[r * columnsAtOnce + c];
        if (!isScaled) {
          next.push_back(add(all, sum));
          continue;
        }
        sum = toFloats(sum);
        if (zeros) {
          Value elements = load(floats, sumsOfX, add(places[r], number));
          sum = arith::SubFOp::create(b, loc, sum, arith::MulFOp::create(b, loc, elements, perLane(zeros, columnsOfTile[c], begin)));
        }
        Value scale = perLane(scales, columnsOfTile[c], begin);
        next.push_back(accumulated(sum, scale, all));
      }
    return next;
  });
  for (int64_t r = 0; r < rowsAtOnce; ++r) {
    Value total = addedUp(Values(ArrayRef(sums).slice(r * columnsAtOnce, columnsAtOnce)));
    store(total, out, add(times(add(firstRow, index(r)), columns), column));
  }
}

void CodedProductEmitter::emit() {
  b.setInsertionPoint(shell.getBody().front().getTerminator());
  loopOf(rangeBegin(shell), rangeEndArg(shell), 1, {}, [&](Value task, ValueRange) {
    Value begin = times(task, strip);
    Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, task, index(strips - 1));
    // The last strip has the columns that fill no tile.
    Value end = arith::SelectOp::create(b, loc, isLast, index(columns), add(begin, index(strip)));
    if (byRows) {
      if (corrections || sumsOfX)
        emitRowSums();
      emitRows(begin, end);
      return Values();
    }
    loopOf(index(0), index(rows), rowBlock, {}, [&](Value firstOfBlock, ValueRange) {
      Value endOfBlock = least(add(firstOfBlock, index(rowBlock)), index(rows));
      // The last block begins earlier rather than to have too few rows for a tile.
      Value first = least(firstOfBlock, index(rows - std::min(rowBlock, rowsAtOnce)));
      if (corrections || sumsOfX)
        emitCorrections(first, arith::SubIOp::create(b, loc, endOfBlock, first));
      loopOf(begin, end, columnsAtOnce, {}, [&](Value column, ValueRange) {
        Value firstColumn = least(column, arith::SubIOp::create(b, loc, end, index(columnsAtOnce)));
        loopOf(first, endOfBlock, rowsAtOnce, {}, [&](Value row, ValueRange) {
          emitTile(least(row, arith::SubIOp::create(b, loc, endOfBlock, index(rowsAtOnce))), first, firstColumn);
          return Values();
        });
        return Values();
      });
      return Values();
    });
    return Values();
  });
}

FailureOr<EmittedKernel> CodedProductEmitter::run() {
  choose();
  KernelModel buffers;
  for (Type type : llvm::concat<const Type>(kernel.getArgumentTypes(), kernel.getResultTypes())) {
    auto shaped = cast<ShapedType>(type);
    buffers.bufferElements.push_back(shaped.getNumElements());
    buffers.bufferTypes.push_back(storageType(shaped.getElementType()));
  }
  if (buffers.bufferTypes[0].isInteger(32)) {
    buffers.bufferElements[0] *= 4;
    buffers.bufferTypes[0] = b.getI8Type();
  }
  shell = createShell(kernel, buffers);
  unsigned next = 0;
  codes = shell.getArgument(next++);
  x = shell.getArgument(next++); // with what is multiplied with low halves, then with high ones
  if (isScaled)
    scales = shell.getArgument(next++);
  if (hasZeros)
    zeros = shell.getArgument(next++);
  if (isRagged)
    starts = shell.getArgument(next++);
  out = shell.getArgument(next);
  Scratch scratch(shell);
  int64_t lanesOfBlock = byRows ? rows * segments : std::max(rowBlock, rowsAtOnce) * segments * lanes;
  if (zero)
    corrections = scratch.take(b.getI32Type(), lanesOfBlock);
  if (zeros)
    sumsOfX = scratch.take(b.getF32Type(), lanesOfBlock);
  if (isAcross && rows > rowsAtOnce)
    kept = scratch.take(b.getI8Type(), segment / 4 * vectorsOfRow * width);
  emit();
  EmittedKernel made;
  made.fn = shell;
  made.emitter = "coded";
  made.rangeEnd = strips;
  made.scratchBytesPerTask = scratch.bytes();
  made.nanosPerIteration = buffers.totalBytes() * double(llvm::divideCeil(rows, rowsAtOnce)) / target.rowBytesPerNanosecond / double(strips);
  return made;
}

} // namespace

FailureOr<EmittedKernel> emitCodedProduct(func::FuncOp fn, const KernelTarget &target) {
  auto how = fn->getAttrOfType<DictionaryAttr>(kCodedProductAttr);
  if (!how)
    return refuse(fn, "coded", "no product with coded weights");
  auto rankOf = [&](unsigned argument) { return cast<ShapedType>(fn.getArgumentTypes()[argument]).getRank(); };
  unsigned arguments = 2 + how.getAs<BoolAttr>("scaled").getValue() + how.getAs<BoolAttr>("zeros").getValue() + how.getAs<BoolAttr>("ragged").getValue();
  if (fn.getNumArguments() != arguments || fn.getNumResults() != 1 || rankOf(0) != 3 || rankOf(1) != 4)
    return refuse(fn, "coded", "other arguments than the attribute says");
  return CodedProductEmitter(fn, how, target).run();
}

} // namespace millrace::lowering
