// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatrixPartsWords.cpp - Codes as bits of packed words ---------------===//
// Follows shifts, masks, conversions and bitcasts from an integer to the bits of a word that it is, and creates that integer from the word anew.
#include "passes/fusion/codes/MatrixParts.h"

#include "dialects/millrace/Ops.h"
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/fusion/codes/IntegerRanges.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {

/// Returns constants by which words are shifted: one for all of them, or one for each position.
Value MatrixParts::amounts(ArrayRef<int64_t> values) {
  if (llvm::all_equal(values))
    return splat(builder->getI32Type(), values.front());
  SmallVector<int32_t> numbers(values);
  auto type = RankedTensorType::get({count()}, builder->getI32Type());
  Value constant = ConstantOp::create(*builder, matrix.getLoc(), DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
  return BroadcastInDimOp::create(*builder, matrix.getLoc(), typeOfResult(builder->getI32Type()), constant, builder->getDenseI64ArrayAttr({partDim}));
}

/// Returns `value` if it is bits of words: the same number of bits of the same words at all positions, if the matrix is whole.
std::optional<MatrixParts::Number> MatrixParts::numberOfBits(Value value, int64_t position) {
  std::optional<Field> bits = field(value, position);
  if (!bits || bits->up != 0 || bits->bits >= 32)
    return {};
  SmallVector<int64_t> shifts{bits->shift};
  for (int64_t next = 1; next < count() && isWhole; ++next) {
    std::optional<Field> other = field(value, next);
    if (!other || !other->isLike(*bits))
      return {};
    shifts.push_back(other->shift);
  }
  OpBuilder &b = *builder;
  Location loc = matrix.getLoc();
  Value words = wordsOfPart(bits->words, position);
  if (!words)
    return {};
  RankedTensorType type = typeOfResult(b.getI32Type());
  const int64_t width = typeOf(words).getElementTypeBitWidth();
  const bool isUnsigned = typeOf(words).getElementType().isUnsignedInteger();
  if (isWhole) {
    SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, whole.size()));
    llvm::erase(dims, partDim);
    words = BroadcastInDimOp::create(b, loc, typeOfResult(typeOf(words).getElementType()), words, b.getDenseI64ArrayAttr(dims));
  }
  if (width < 32)
    words = ConvertOp::create(b, loc, type, words);
  else if (isUnsigned)
    words = BitcastConvertOp::create(b, loc, type, words);
  const int64_t half = int64_t(1) << (bits->bits - 1);
  auto isZero = [](int64_t shift) { return shift == 0; };
  if (bits->isSigned) {
    for (int64_t &shift : shifts)
      shift = 32 - shift - bits->bits;
    if (!llvm::all_of(shifts, isZero))
      words = ShiftLeftOp::create(b, loc, words, amounts(shifts));
    return Number{ShiftRightArithmeticOp::create(b, loc, words, splat(b.getI32Type(), 32 - bits->bits)), -half, half - 1};
  }
  if (!llvm::all_of(shifts, isZero))
    words = ShiftRightLogicalOp::create(b, loc, words, amounts(shifts));
  // Nothing is above the topmost bits of a word of 32 bits, or of a shorter one without a sign.
  if (llvm::any_of(shifts, [&](int64_t shift) { return shift + bits->bits < width; }) || (width < 32 && !isUnsigned))
    words = AndOp::create(b, loc, words, splat(b.getI32Type(), 2 * half - 1));
  return Number{words, 0, 2 * half - 1};
}

/// Returns words in the shape of a part.
Value MatrixParts::wordsOfPart(Value stored, int64_t position) {
  Value words = wordsFrom.lookup(stored);
  if (!words) {
    words = bytesOfWord > 1 ? Value(AliasOp::create(*builder, matrix.getLoc(), typeOfResult(builder->getI32Type()), stored)) : computed(stored, position);
    wordsFrom[stored] = words;
  }
  return words;
}

std::optional<MatrixParts::Words> MatrixParts::words() const {
  if (bytesOfWord > 1 || !isInteger(typeOf(matrix).getElementType()))
    return {};
  std::optional<Field> first = field(matrix, 0);
  if (!first || first->up != 0)
    return {};
  Words found{first->words, {}, first->bits, first->isSigned, 1};
  for (int64_t position = 0; position < count(); ++position) {
    std::optional<Field> bits = field(matrix, position);
    if (!bits || !bits->isLike(*first))
      return {};
    found.shifts.push_back(bits->shift);
  }
  for (int64_t size : ArrayRef(whole).drop_front(partDim + 1))
    found.inner *= size;
  return found;
}

/// Returns the bits of a word that `value` is, as the integer that its type says.
std::optional<MatrixParts::Field> MatrixParts::field(Value value, int64_t position) const {
  auto type = cast<IntegerType>(typeOf(value).getElementType());
  const int64_t width = type.getWidth();
  Operation *op = value.getDefiningOp();
  auto leaf = [&]() -> std::optional<Field> {
    if (width != 8 && width != 16 && width != 32)
      return {};
    if (!isPart(value) || (bytesOfWord > 1 && width != 8))
      return {};
    // The same words for all positions.
    return Field{value, position / codesOfElement() * width, width, 0, !type.isUnsigned()};
  };
  if (isPart(value)) {
    // Operations that follow bits are looked through, all others make words.
    bool isOfBits = op && (isa<ReshapeOp, AndOp, ShiftLeftOp, ShiftRightArithmeticOp, ShiftRightLogicalOp>(op) ||
                           (isa<ConvertOp>(op) && isInteger(typeOf(op->getOperand(0)).getElementType())));
    auto keepsSize = [&](Value operand) { return isStaticTensor(operand) && isPart(operand); };
    if (!isOfBits || !llvm::all_of(op->getOperands(), keepsSize))
      return leaf();
  } else if (!op || !followed.contains(op)) {
    return {};
  }
  if (isa<ReshapeOp>(op))
    return field(op->getOperand(0), position);
  if (auto stack = dyn_cast<ConcatenateOp>(op))
    return field(stack.getInputs()[inElement(position)], position);
  if (std::optional<int64_t> behind = positionBehind(value, position))
    return field(op->getOperand(0), *behind);
  if (Value words = wordsOfBitcast(op)) {
    std::optional<Field> word = field(words, position);
    return word && word->up == 0 && word->bits == typeOf(words).getElementTypeBitWidth() ? std::optional(Field{word->words, word->shift + inElement(position) * width, width, 0, !type.isUnsigned()})
                                                                                        : std::nullopt;
  }
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
    // Words, of which every code of a word reads the same one.
    if (!isPart(broadcast.getOperand()))
      return {};
    auto groups = groupsOf(typeOf(broadcast).getShape());
    for (auto [place, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
      if (typeOf(broadcast.getOperand()).getDimSize(place) > 1 && llvm::is_contained(groups[dim], partDim))
        return {};
    return llvm::is_sorted(broadcast.getBroadcastDimensions()) ? field(broadcast.getOperand(), position) : std::nullopt;
  }
  if (isa<ConvertOp>(op)) {
    if (!isInteger(typeOf(op->getOperand(0)).getElementType()))
      return {};
    std::optional<Field> bits = field(op->getOperand(0), position);
    if (!bits || bits->up != 0)
      return {};
    if (width <= bits->bits)
      return Field{bits->words, bits->shift, width, 0, !type.isUnsigned()};
    // A negative number has other bits in a wider type without a sign.
    return bits->isSigned && type.isUnsigned() ? std::nullopt : bits;
  }
  if (!isa<AndOp, ShiftLeftOp, ShiftRightArithmeticOp, ShiftRightLogicalOp>(op))
    return {};
  Value other = op->getOperand(1), of = op->getOperand(0);
  if (isa<AndOp>(op) && !integerAt(other, position))
    std::swap(other, of);
  std::optional<int64_t> amount = integerAt(other, position);
  std::optional<Field> bits = amount ? field(of, position) : std::nullopt;
  if (!bits)
    return {};
  if (isa<AndOp>(op)) {
    const int64_t kept = llvm::countr_one(uint64_t(*amount));
    if (*amount <= 0 || *amount != (int64_t(1) << kept) - 1 || bits->up != 0 || (bits->isSigned && kept > bits->bits))
      return {};
    return Field{bits->words, bits->shift, std::min(kept, bits->bits), 0, false};
  }
  if (*amount < 0 || *amount >= width)
    return {};
  if (isa<ShiftLeftOp>(op)) {
    if (bits->up != 0)
      return {};
    // Bits that leave the type are lost.
    return Field{bits->words, bits->shift, std::min(bits->bits, width - *amount), *amount, bits->isSigned};
  }
  const bool isArithmetic = isa<ShiftRightArithmeticOp>(op);
  if (isArithmetic && type.isUnsigned())
    return {};
  if (bits->up > 0) {
    // The sign is that of the type only if bits reach its top.
    if (*amount < bits->up || bits->up + bits->bits != width || *amount - bits->up >= bits->bits)
      return {};
    return Field{bits->words, bits->shift + *amount - bits->up, width - *amount, 0, isArithmetic};
  }
  if (*amount >= bits->bits || (bits->isSigned && !isArithmetic && bits->bits != width))
    return {};
  return Field{bits->words, bits->shift + *amount, bits->bits - *amount, 0, bits->isSigned && isArithmetic};
}

} // namespace millrace::fusion
