// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dialect.cpp - The compiler's own dialect ----------------------------===//
#include "dialects/millrace/Dialect.h"

#include "dialects/millrace/Attributes.h"
#include "dialects/millrace/Ops.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

MLIR_DEFINE_EXPLICIT_TYPE_ID(millrace::MillraceDialect)

namespace millrace {
namespace {

enum class Place { Function, Argument, ArgumentOrResult, Module, Operation, OperationOrArgument };

using Check = bool (*)(Attribute);

template <typename T> bool isA(Attribute value) { return isa<T>(value); }

bool isCount(Attribute value) {
  auto number = dyn_cast_or_null<IntegerAttr>(value);
  return number && number.getType().isSignlessInteger(64) && !number.getValue().isNegative();
}

bool isPairs(Attribute value) {
  auto pairs = dyn_cast<ArrayAttr>(value);
  return pairs && llvm::all_of(pairs, [](Attribute pair) {
           auto numbers = dyn_cast<DenseI64ArrayAttr>(pair);
           return numbers && numbers.size() == 2 && llvm::all_of(numbers.asArrayRef(), [](int64_t number) { return number >= 0; });
         });
}

bool isListOfElements(Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  return list && llvm::all_of(list, [](Attribute item) { return isa<ElementsAttr>(item); });
}

bool isPairOfBytes(Attribute value) {
  auto bytes = dyn_cast<DenseI64ArrayAttr>(value);
  return bytes && bytes.size() == 2 && bytes[0] >= 0 && bytes[1] >= 0;
}

bool isPanels(Attribute value) {
  auto panels = dyn_cast<DictionaryAttr>(value);
  auto isPlace = [&](StringRef name) { return isCount(panels.get(name)); };
  return panels && panels.size() == 3 && isPlace("operand") && isPlace("panels") && panels.getAs<StringAttr>("layout");
}

bool isCodedProduct(Attribute value) {
  auto how = dyn_cast<DictionaryAttr>(value);
  constexpr StringLiteral kYesOrNo[] = {"by_rows", "packed", "narrow", "signed", "scaled", "zeros", "ragged"}; // of the weights
  // The places of neighbouring columns in a byte or word that they share.
  auto across = how ? how.getAs<DenseI64ArrayAttr>("across") : DenseI64ArrayAttr();
  return across && (across.empty() || across.size() == 2 || across.size() == 8) && how.getAs<IntegerAttr>("zero") && how.size() == 2 + std::size(kYesOrNo) &&
         llvm::all_of(kYesOrNo, [&](StringRef name) { return bool(how.getAs<BoolAttr>(name)); });
}

bool isPlaces(Attribute value) {
  auto places = dyn_cast<DenseI64ArrayAttr>(value);
  return places && llvm::all_of(places.asArrayRef(), [](int64_t place) { return place >= 0; });
}

bool isListOfCounts(Attribute value) {
  auto counts = dyn_cast<DenseI64ArrayAttr>(value);
  return counts && !counts.empty() && llvm::all_of(counts.asArrayRef(), [](int64_t count) { return count >= 1; });
}

struct Rule {
  StringLiteral name;
  Place place;
  Check check;
  StringLiteral expected;
};

constexpr Rule kRules[] = {
    {kKernelAttr, Place::Function, isA<UnitAttr>, "a unit attribute"},
    {kAttentionAttr, Place::Function, isA<UnitAttr>, "a unit attribute"},
    {kCodedProductAttr, Place::Function, isCodedProduct, "a dictionary of by_rows, packed, narrow, signed, scaled, zeros, ragged, zero and across"},
    {kInPlaceAttr, Place::Function, isPairs, "an array of [operand, result] pairs"},
    {kHoistedAttr, Place::Function, isListOfElements, "an array of elements"},
    {kOrderBytesAttr, Place::Function, isPairOfBytes, "two numbers of bytes"},
    {kRowsAttr, Place::Function, isListOfCounts, "a dense array of i64 of at least 1"},
    {kFewRowsAttr, Place::Function, isCount, "an i64 of at least 0"},
    {kEmitterAttr, Place::Function, isA<StringAttr>, "a string"},
    {kRangeEndAttr, Place::Function, isCount, "an i64 of at least 0"},
    {kScratchBytesAttr, Place::Function, isCount, "an i64 of at least 0"},
    {kPanelsAttr, Place::Function, isPanels, "a dictionary of operand, panels and layout"},
    {kPrepareAttr, Place::Function, isA<FlatSymbolRefAttr>, "the symbol of a function"},
    {kPreparedFromAttr, Place::Function, isPlaces, "a dense i64 array of arguments"},
    {kConstantAttr, Place::Argument, isA<UnitAttr>, "a unit attribute"},
    {kOpenAttr, Place::Argument, isA<UnitAttr>, "a unit attribute"},
    {kRowIndicesAttr, Place::ArgumentOrResult, isCount, "an i64 of at least 0"},
    {kWholeShapeAttr, Place::ArgumentOrResult, isA<DenseI64ArrayAttr>, "a dense i64 array"},
    {kShardingsPropagatedAttr, Place::Module, isA<UnitAttr>, "a unit attribute"},
    {kMemoryPerDeviceAttr, Place::Module, isA<IntegerAttr>, "an integer"},
    {kTripCountAttr, Place::Operation, isCount, "an i64 of at least 0"},
    {kBordersAttr, Place::Operation, isA<DenseIntElementsAttr>, "dense integers"},
    {kMayFuseAttr, Place::Operation, isA<UnitAttr>, "a unit attribute"},
    {kSquareAttr, Place::Operation, isA<UnitAttr>, "a unit attribute"},
    {kRngOrdinalAttr, Place::Operation, isCount, "an i64 of at least 0"},
    {kGroupNameAttr, Place::Operation, isA<StringAttr>, "a string"},
    {kReducerAttr, Place::Operation, isA<FlatSymbolRefAttr>, "the symbol of a function"},
    {kFewRowsKernelAttr, Place::Operation, isA<FlatSymbolRefAttr>, "the symbol of a function"},
    {kParallelRowsAttr, Place::Operation, isA<UnitAttr>, "a unit attribute"},
    {kParallelPartsAttr, Place::Operation, isA<UnitAttr>, "a unit attribute"},
    {kAnnotatedAttr, Place::OperationOrArgument, isA<UnitAttr>, "a unit attribute"},
};

const Rule *ruleOf(StringRef name) { return llvm::find_if(kRules, [&](const Rule &rule) { return rule.name == name; }); }

LogicalResult verify(Operation *op, NamedAttribute attribute, bool mayStandHere(Operation *, Place)) {
  const Rule *rule = ruleOf(attribute.getName());
  if (rule == std::end(kRules))
    return op->emitOpError("attribute '") << attribute.getName().getValue()
                                          << "' is unknown: the namespace 'millrace' belongs to the compiler; remove the attribute or rename it";
  if (!mayStandHere(op, rule->place))
    return op->emitOpError("attribute '") << rule->name << "' is not allowed here";
  if (!rule->check(attribute.getValue()))
    return op->emitOpError("attribute '") << rule->name << "' expects " << rule->expected << ", but got " << attribute.getValue();
  return success();
}

} // namespace

MillraceDialect::MillraceDialect(MLIRContext *context) : Dialect(getDialectNamespace(), context, TypeID::get<MillraceDialect>()) {
  addOperations<AliasOp>();
}

LogicalResult MillraceDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verify(op, attribute, [](Operation *op, Place place) {
    switch (place) {
    case Place::Function:
      return isa<FunctionOpInterface>(op);
    case Place::Module:
      return isa<ModuleOp>(op);
    case Place::Operation:
    case Place::OperationOrArgument:
      return !isa<ModuleOp, FunctionOpInterface>(op);
    case Place::Argument:
    case Place::ArgumentOrResult:
      return false;
    }
    llvm_unreachable("all places are handled");
  });
}

LogicalResult MillraceDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  return verify(op, attribute, [](Operation *, Place place) {
    return place == Place::Argument || place == Place::ArgumentOrResult || place == Place::OperationOrArgument;
  });
}

LogicalResult MillraceDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  return verify(op, attribute, [](Operation *, Place place) { return place == Place::ArgumentOrResult; });
}

} // namespace millrace
