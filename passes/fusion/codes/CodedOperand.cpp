// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CodedOperand.cpp - Operands that are computed from codes ------------===//
#include "passes/fusion/codes/CodedOperand.h"

#include "passes/fusion/codes/GatherReads.h"
#include "passes/fusion/codes/IntegerRanges.h"
#include "passes/fusion/codes/MatrixParts.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace millrace::stablehlo;

namespace millrace::fusion {

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
static Type elementOf(Value value) { return typeOf(value).getElementType(); }
static bool isInteger(Type type, unsigned bits) { return type.isIntOrIndex() && type.getIntOrFloatBitWidth() == bits; }

/// Returns the integer of a splat, of integers or of floats without a fraction.
static std::optional<int64_t> splatOf(Value value) {
  if (std::optional<int64_t> integer = integerSplatOf(value))
    return integer;
  auto constant = value.getDefiningOp<ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  if (!splat || !isa<FloatType>(splat.getElementType()))
    return {};
  double number = splat.getSplatValue<APFloat>().convertToDouble();
  return number >= -255 && number <= 255 && number == double(int64_t(number)) ? std::optional(int64_t(number)) : std::nullopt;
}

/// Returns how many neighbours of the result are equal because of the broadcast, and of how many elements each is; none if equal elements are
/// elsewhere, too.
static std::optional<std::pair<int64_t, int64_t>> repeatsOf(BroadcastInDimOp broadcast) {
  ArrayRef<int64_t> shape = typeOf(broadcast).getShape(), from = typeOf(broadcast.getOperand()).getShape(), dims = broadcast.getBroadcastDimensions();
  if (!llvm::is_sorted(dims))
    return {};
  SmallVector<bool> isExpanded(shape.size(), true);
  for (auto [place, dim] : llvm::enumerate(dims))
    isExpanded[dim] = from[place] != shape[dim];
  int64_t repeats = 1, inner = 1;
  size_t dim = shape.size();
  for (; dim > 0 && (!isExpanded[dim - 1] || shape[dim - 1] == 1); --dim)
    inner *= shape[dim - 1];
  for (; dim > 0 && (isExpanded[dim - 1] || shape[dim - 1] == 1); --dim)
    repeats *= shape[dim - 1];
  for (; dim > 0; --dim)
    if (isExpanded[dim - 1] && shape[dim - 1] != 1)
      return {};
  return std::pair(repeats, repeats == 1 ? 1 : inner);
}

Repeated Repeated::of(Value value) {
  Repeated result{value, 1, 1, {}};
  SmallVector<Type, 2> outside; // the outermost first
  for (Value current = value; Operation *op = current.getDefiningOp();) {
    if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      current = reshape.getOperand();
    } else if (auto convert = dyn_cast<ConvertOp>(op)) {
      outside.push_back(elementOf(convert));
      current = convert.getOperand();
    } else if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
      auto more = typeOf(broadcast).hasStaticShape() ? repeatsOf(broadcast) : std::nullopt;
      if (!more || (more->first > 1 && result.repeats > 1 && more->second != result.inner))
        break;
      current = broadcast.getOperand();
      result.repeats *= more->first;
      result.inner = std::max(result.inner, more->second);
    } else {
      break;
    }
    // What is behind the last broadcast belongs to the source, except for conversions, which may be left to the reader.
    if (result.repeats > 1) {
      result.source = current;
      result.conversions.assign(outside.rbegin(), outside.rend());
    }
  }
  return result;
}

static SplatElementsAttr splatAttrOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
}

int64_t Repeated::elements() const { return splatAttrOf(source) ? 1 : typeOf(source).getNumElements(); }

Value Repeated::materialize(OpBuilder &b, Location loc, ArrayRef<int64_t> shape) const {
  Value value = source;
  if (SplatElementsAttr splat = splatAttrOf(source))
    value = ConstantOp::create(b, loc, splat.resizeSplat(typeOf(value).clone(shape)));
  else if (typeOf(value).getShape() != shape)
    value = ReshapeOp::create(b, loc, typeOf(value).clone(shape), value);
  for (Type type : conversions)
    value = ConvertOp::create(b, loc, typeOf(value).clone(type), value);
  return value;
}

namespace {

/// What halves of bytes are computed from.
struct Half {
  Value bytes;
  bool isHigh = false, isSigned = false;
};

/// Skips reshapes and conversions that widen integers, or keep the bits of bytes.
Value behindWidening(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto convert = dyn_cast<ConvertOp>(op)) {
      Type from = elementOf(convert.getOperand()), to = elementOf(convert);
      if (!isa<IntegerType>(from) || !isa<IntegerType>(to) || from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth() || from.getIntOrFloatBitWidth() < 8)
        break;
    } else if (!isa<ReshapeOp>(op)) {
      break;
    }
    value = op->getOperand(0);
  }
  return value;
}

bool isByte(Value value) { return isInteger(elementOf(value), 8); }

/// Returns the half of a byte that `value` is, in any integer type.
std::optional<Half> halfOf(Value value) {
  value = behindWidening(value);
  Operation *op = value.getDefiningOp();
  auto hasSplat = [](Operation *op, int64_t number) { return splatOf(op->getOperand(1)) == number; };
  auto bytesOf = [&](Value wide) { return behindWidening(wide); };
  if (!op)
    return {};
  if (isa<AndOp>(op) && hasSplat(op, 15)) {
    Value from = op->getOperand(0);
    if (Operation *shift = behindWidening(from).getDefiningOp(); shift && isa<ShiftRightLogicalOp, ShiftRightArithmeticOp>(shift) && hasSplat(shift, 4))
      return Half{bytesOf(shift->getOperand(0)), /*isHigh=*/true, /*isSigned=*/false};
    return Half{bytesOf(from), /*isHigh=*/false, /*isSigned=*/false};
  }
  if (isa<ShiftRightLogicalOp>(op) && hasSplat(op, 4)) {
    // Widened bytes have nothing above their own bits only if they are unsigned.
    Value bytes = bytesOf(op->getOperand(0));
    if (isByte(op->getOperand(0)) || elementOf(bytes).isUnsignedInteger(8))
      return Half{bytes, /*isHigh=*/true, /*isSigned=*/false};
  }
  if (isa<ShiftRightArithmeticOp>(op) && hasSplat(op, 4) && elementOf(value).isSignlessInteger(8)) {
    Operation *left = behindWidening(op->getOperand(0)).getDefiningOp();
    if (left && isa<ShiftLeftOp>(left) && hasSplat(left, 4) && isByte(left->getResult(0)))
      return Half{bytesOf(left->getOperand(0)), /*isHigh=*/false, /*isSigned=*/true};
    return Half{bytesOf(op->getOperand(0)), /*isHigh=*/true, /*isSigned=*/true};
  }
  return {};
}

/// Follows a value to its codes, from the outside inwards.
class Walk {
public:
  bool follow(Value value);
  CodedOperand found;

private:
  bool followFloat(Value value);
  bool followInteger(Value value);
  std::optional<Repeated> rowsOf(Value value, bool isOfFloats);
  bool takeZero(Value zero, bool isAdded, unsigned bits);
  bool takeStack(ConcatenateOp stack);
  bool takeWords(Value value);
  bool finish(Value value);

  bool hasUnsignedBytes = false, hasBytes = false; ///< the outermost type of eight bits on the way
  unsigned leastBits = 64;                         ///< in which a zero was subtracted
  IntegerRange ofZeros{0, 0};
};

/// Returns the table, of floats or of integers, of which the program chooses a row for each row of a matrix, by the same indices for all tables of the
/// matrix.
std::optional<Repeated> Walk::rowsOf(Value value, bool isOfFloats) {
  SmallVector<Type, 2> outside; // the outermost first
  for (ConvertOp convert; (convert = value.getDefiningOp<ConvertOp>()); value = convert.getOperand())
    outside.push_back(elementOf(convert));
  auto gather = value.getDefiningOp<GatherOp>();
  if (!gather || isa<FloatType>(elementOf(gather)) != isOfFloats || readsOf(gather) != Reads::Rows || typeOf(gather).getRank() != 2 || gather.getDimensionNumbers().getStartIndexMap()[0] != 0 || dimOfIndices(gather) != 0 ||
      (found.rowOf && found.rowOf != gather.getStartIndices()))
    return {};
  found.rowOf = gather.getStartIndices();
  return Repeated{gather.getOperand(), 1, 1, {outside.rbegin(), outside.rend()}};
}

bool Walk::takeZero(Value zero, bool isAdded, unsigned bits) {
  if (found.zeros || found.zero)
    return false;
  leastBits = std::min(leastBits, bits);
  if (std::optional<int64_t> number = splatOf(zero)) {
    found.zero = isAdded ? -*number : *number;
    return std::abs(found.zero) <= 255;
  }
  std::optional<Repeated> rows = isAdded ? std::nullopt : rowsOf(zero, /*isOfFloats=*/false);
  Repeated repeated = rows ? *rows : Repeated::of(zero);
  if (isAdded || (!rows && repeated.repeats == 1))
    return false;
  if (auto constant = splatOf(repeated.source)) {
    found.zero = *constant;
    return std::abs(found.zero) <= 255;
  }
  // Zeros of floats are integers that were converted. All conversions keep their values.
  auto type = dyn_cast<IntegerType>(elementOf(repeated.source));
  if (!type || type.getWidth() < 8 || type.getWidth() > 32)
    return false;
  ofZeros = rangeOf(repeated.source);
  if (ofZeros.first < INT16_MIN || ofZeros.second > UINT16_MAX)
    return false;
  for (Type to : repeated.conversions)
    if (auto integer = dyn_cast<IntegerType>(to); integer ? !holds(integer, ofZeros.first, ofZeros.second) : to.getIntOrFloatBitWidth() < 32)
      return false;
  repeated.conversions.clear();
  if (type.isUnsignedInteger())
    repeated.conversions.push_back(IntegerType::get(type.getContext(), 32));
  found.zeros = repeated;
  return true;
}

bool Walk::follow(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return false;
  if (isa<FloatType>(type.getElementType()))
    return type.getElementType().isF32() && followFloat(value);
  return isa<IntegerType>(type.getElementType()) && followInteger(value);
}

bool Walk::followFloat(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<ReshapeOp>(op))
    return followFloat(op->getOperand(0));
  if (isa<MulOp>(op)) {
    if (found.scale || found.zero || found.zeros)
      return false;
    for (unsigned place : {1u, 0u}) {
      std::optional<Repeated> rows = rowsOf(op->getOperand(place), /*isOfFloats=*/true);
      Repeated repeated = rows ? *rows : Repeated::of(op->getOperand(place));
      auto constant = op->getOperand(place).getDefiningOp<ConstantOp>();
      if (constant && isa<SplatElementsAttr>(constant.getValue()))
        repeated = {constant, typeOf(constant).getNumElements(), 1, {}};
      if (!rows && repeated.repeats == 1)
        continue;
      found.scale = repeated;
      return followFloat(op->getOperand(1 - place));
    }
    return false;
  }
  if (isa<SubtractOp, AddOp>(op))
    return takeZero(op->getOperand(1), isa<AddOp>(op), 32) && followFloat(op->getOperand(0));
  auto convert = dyn_cast<ConvertOp>(op);
  return convert && isa<IntegerType>(elementOf(convert.getOperand())) && followInteger(convert.getOperand());
}

bool Walk::followInteger(Value value) {
  if (isByte(value) && !hasBytes) {
    hasBytes = true;
    hasUnsignedBytes = elementOf(value).isUnsignedInteger();
  }
  Operation *op = value.getDefiningOp();
  if (!op)
    return finish(value);
  if (isa<ReshapeOp>(op))
    return followInteger(op->getOperand(0));
  if (isa<SubtractOp, AddOp>(op) && (splatOf(op->getOperand(1)) || isa<SubtractOp>(op)))
    return takeZero(op->getOperand(1), isa<AddOp>(op), elementOf(value).getIntOrFloatBitWidth()) && followInteger(op->getOperand(0));
  if (auto convert = dyn_cast<ConvertOp>(op)) {
    Type from = elementOf(convert.getOperand()), to = elementOf(convert);
    if (!isa<IntegerType>(from) || from.getIntOrFloatBitWidth() == 1)
      return finish(value);
    if (isInteger(to, 4) && isByte(convert.getOperand())) {
      found.isNarrow = true;
      found.isSigned = !to.isUnsignedInteger();
      found.codes = convert.getOperand();
      return finish(found.codes);
    }
    // Values stay the same where the type is not narrower, or holds them all the same; bytes are looked at again at the end.
    if (const IntegerRange range = rangeOf(convert.getOperand()); from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth() && !holds(to, range.first, range.second))
      return finish(value);
    return followInteger(convert.getOperand());
  }
  if (auto stack = dyn_cast<ConcatenateOp>(op); stack && takeStack(stack))
    return finish(found.codes);
  if (auto bitcast = dyn_cast<BitcastConvertOp>(op); bitcast && isInteger(elementOf(value), 4) && isByte(bitcast.getOperand())) {
    found.isPacked = true;
    found.isSigned = !elementOf(value).isUnsignedInteger();
    return finish(bitcast.getOperand());
  }
  if (isa<AndOp, ShiftRightLogicalOp, ShiftRightArithmeticOp, GatherOp, ConcatenateOp, BitcastConvertOp>(op) && takeWords(value))
    return finish(found.codes);
  if (isa<AndOp>(op) && splatOf(op->getOperand(1)) == 15) {
    Value from = behindWidening(op->getOperand(0));
    if (isByte(from)) {
      found.isNarrow = true;
      found.isSigned = false;
      return finish(from);
    }
  }
  return finish(value);
}

/// Two halves of the same bytes, one after the other.
bool Walk::takeStack(ConcatenateOp stack) {
  if (stack.getInputs().size() != 2)
    return false;
  std::optional<Half> low = halfOf(stack.getInputs()[0]), high = halfOf(stack.getInputs()[1]);
  if (!low || !high || low->bytes != high->bytes || low->isHigh || !high->isHigh || low->isSigned != high->isSigned || !isByte(low->bytes))
    return false;
  found.isPacked = true;
  found.isSigned = low->isSigned;
  found.run = 1;
  ArrayRef<int64_t> shape = typeOf(stack.getInputs()[0]).getShape();
  for (int64_t size : shape.drop_front(stack.getDimension()))
    found.run *= size;
  found.codes = low->bytes;
  return true;
}

/// Words of two or eight codes, in whatever order and by whatever operations the program takes them apart.
bool Walk::takeWords(Value value) {
  std::optional<MatrixParts> parts = MatrixParts::of(value);
  std::optional<MatrixParts::Words> words = parts ? parts->words() : std::nullopt;
  if (!words || words->bits != kCodeBits)
    return false;
  const int64_t bits = elementOf(words->words).getIntOrFloatBitWidth();
  if ((bits != 8 && bits != 32) || int64_t(words->shifts.size()) * kCodeBits != bits)
    return false;
  SmallVector<int64_t> order, all = llvm::to_vector(llvm::seq<int64_t>(0, words->shifts.size()));
  for (int64_t shift : words->shifts)
    order.push_back(shift % kCodeBits ? -1 : shift / kCodeBits);
  if (!std::is_permutation(order.begin(), order.end(), all.begin()))
    return false;
  found.codes = words->words;
  found.isPacked = true;
  found.hasWords = bits == 32;
  found.isSigned = words->isSigned;
  found.run = words->inner;
  if (order != all)
    found.order = order;
  return true;
}

bool Walk::finish(Value value) {
  Type type = elementOf(value);
  if (!found.isSmall()) {
    found.isNarrow = isInteger(type, 4);
    found.isSigned = isInteger(type, 8) && hasBytes ? !hasUnsignedBytes : !type.isUnsignedInteger();
  } else if (found.isSigned && hasBytes && hasUnsignedBytes && !found.isNarrow) {
    return false; // negative codes that wrapped around
  }
  if (found.hasWords ? !isInteger(type, 32) : !isInteger(type, 8) && !isInteger(type, 4))
    return false;
  // Differences of bytes need more bits than a byte; those of small codes and numbers do not.
  const IntegerRange numbers{std::min(ofZeros.first, found.zero), std::max(ofZeros.second, found.zero)};
  if (leastBits < 16 && (!found.isSmall() || numbers.first < -100 || numbers.second > 100))
    return false;
  if (leastBits < 32 && (numbers.first < -INT16_MAX / 2 || numbers.second > INT16_MAX / 2))
    return false;
  found.codes = value;
  return true;
}

} // namespace

std::optional<CodedOperand> CodedOperand::of(Value value) {
  Walk walk;
  return walk.follow(value) ? std::optional(walk.found) : std::nullopt;
}

} // namespace millrace::fusion
