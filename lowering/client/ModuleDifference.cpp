// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ModuleDifference.cpp - Why a program was compiled anew --------------===//
#include "lowering/client/ModuleDifference.h"

#include "dialects/stablehlo/Ops.h"
#include "lowering/Compile.h"
#include "lowering/program/ProgramTypes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <charconv>

using namespace mlir;

namespace millrace {
namespace {

/// Of a larger module the rest is not compared: a program that is compiled anew often differs near its beginning, where shapes and constants enter.
/// Unit: operations. Source: arithmetic: 200 bytes each, thus 4 MB per program that is kept.
constexpr size_t kMostOperations = 20'000;
/// Programs that are kept for comparison. Unit: programs. Source: judgement, not measured alone.
constexpr size_t kMostPrograms = 32;
/// Constants of more elements are compared by a hash, and not printed. Unit: elements. Source: judgement, not measured alone.
constexpr int64_t kPrintedElements = 8;
/// Longer texts of attributes are cut. Unit: bytes. Source: judgement, not measured alone.
constexpr size_t kPrintedBytes = 120;

std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// The shortest decimal number that reads as this one, with a decimal point: 3.0, 0.1, 1e-06.
std::string numberText(APFloat value) {
  char digits[64];
  char *end;
  if (&value.getSemantics() == &APFloat::IEEEdouble()) {
    end = std::to_chars(digits, digits + sizeof digits, value.convertToDouble()).ptr;
  } else {
    bool isInexact;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &isInexact);
    end = std::to_chars(digits, digits + sizeof digits, value.convertToFloat()).ptr;
  }
  std::string text(digits, end);
  if (text.find_first_not_of("-0123456789") == std::string::npos) // nan, inf and 1e+20 stay
    text += ".0";
  return text;
}

std::string elementText(Attribute element) {
  if (auto real = dyn_cast<FloatAttr>(element))
    return numberText(real.getValue());
  std::string text;
  llvm::raw_string_ostream stream(text);
  element.print(stream, /*elideType=*/true);
  return text;
}

/// The elements of a constant, or a hash of them.
void setElements(DenseElementsAttr elements, ModuleSummary::Item &item) {
  if (elements.isSplat()) {
    item.value = elementText(elements.getSplatValue<Attribute>());
  } else if (elements.getNumElements() <= kPrintedElements) {
    item.value = "[" + llvm::join(llvm::map_range(elements.getValues<Attribute>(), elementText), ", ") + "]";
  } else {
    item.value = "of " + std::to_string(elements.getNumElements()) + " elements";
    const ArrayRef<char> data = elements.getRawData();
    item.contents = uint64_t(llvm::hash_combine_range(data.begin(), data.end()));
  }
}

/// "file:line" of a location; empty if it has none.
std::string lineOf(Location location) {
  const std::string text = lowering::locationText(location); // "file:line:column"
  return text.substr(0, std::min(text.rfind(':'), text.size()));
}

/// The line of an operation; of a constant that of the first operation that uses it, because constants have the line of the call.
std::string placeOf(Operation *op) {
  if (isa<stablehlo::ConstantOp>(op))
    for (Operation *user : op->getUsers())
      if (std::string place = lineOf(user->getLoc()); !place.empty())
        return place;
  return lineOf(op->getLoc());
}

std::string describe(const ModuleSummary::Item &item) {
  return item.operation + " -> " + item.types + (item.place.empty() ? "" : " (" + item.place + ")");
}

std::string atPlace(const ModuleSummary::Item &item) { return item.place.empty() ? "" : " (" + item.place + ")"; }

/// The number of items from the beginning that are the same.
size_t commonItems(const ModuleSummary &a, const ModuleSummary &b) {
  const size_t both = std::min(a.items.size(), b.items.size());
  size_t same = 0;
  while (same < both && a.items[same].isSame(b.items[same]))
    ++same;
  return same;
}

/// How alike two programs are: the number of items with the same operations, types aside.
size_t alikeItems(const ModuleSummary &a, const ModuleSummary &b) {
  const size_t both = std::min(a.items.size(), b.items.size());
  size_t alike = 0;
  while (alike < both && a.items[alike].operation == b.items[alike].operation)
    ++alike;
  return alike;
}

} // namespace

ModuleSummary summarize(ModuleOp module) {
  ModuleSummary made;
  made.name = module.getName().value_or("").str();
  if (auto entry = module.lookupSymbol<func::FuncOp>(findEntry(module)))
    for (BlockArgument argument : entry.isExternal() ? ArrayRef<BlockArgument>() : ArrayRef<BlockArgument>(entry.getArguments())) {
      ModuleSummary::Item item;
      item.types = textOf(argument.getType());
      if (DictionaryAttr attributes = entry.getArgAttrDict(argument.getArgNumber()); attributes && !attributes.empty())
        llvm::raw_string_ostream(item.types) << " " << attributes;
      if (auto name = dyn_cast<NameLoc>(argument.getLoc()))
        item.value = name.getName().str();
      made.items.push_back(std::move(item));
    }
  module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ModuleOp, func::FuncOp>(op))
      return WalkResult::advance();
    if (made.items.size() >= kMostOperations)
      return WalkResult::interrupt();
    ModuleSummary::Item item;
    item.operation = op->getName().getStringRef().str();
    item.types = llvm::join(llvm::map_range(op->getResultTypes(), textOf), ", ");
    item.place = placeOf(op);
    DenseElementsAttr elements;
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
      elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (elements) {
      setElements(elements, item);
    } else {
      llvm::raw_string_ostream stream(item.value);
      for (NamedAttribute attribute : op->getAttrs()) {
        if (!item.value.empty())
          stream << ", ";
        stream << attribute.getName().getValue() << " = ";
        attribute.getValue().print(stream, /*elideType=*/true);
      }
      if (item.value.size() > kPrintedBytes) {
        item.contents = uint64_t(llvm::hash_value(StringRef(item.value)));
        item.value = item.value.substr(0, kPrintedBytes) + "...";
      }
    }
    made.items.push_back(std::move(item));
    return WalkResult::advance();
  });
  return made;
}

std::string firstDifference(const ModuleSummary &before, const ModuleSummary &now) {
  auto arguments = [](const ModuleSummary &of) {
    return size_t(llvm::find_if(of.items, [](const auto &item) { return !item.operation.empty(); }) - of.items.begin());
  };
  const size_t numNow = arguments(now), numBefore = arguments(before);
  for (size_t i = 0; i < std::min(numNow, numBefore); ++i)
    if (before.items[i].types != now.items[i].types)
      return "argument " + std::to_string(i) + (now.items[i].value.empty() ? "" : " (" + now.items[i].value + ")") + ": " + before.items[i].types +
             " became " + now.items[i].types;
  if (numNow != numBefore)
    return std::to_string(numBefore) + " arguments became " + std::to_string(numNow);
  const size_t at = commonItems(before, now);
  if (at == before.items.size() && at == now.items.size())
    return "";
  if (at == now.items.size())
    return "now: ends before " + describe(before.items[at]);
  const ModuleSummary::Item &is = now.items[at];
  if (at == before.items.size())
    return "now: " + describe(is) + " before: ended here";
  const ModuleSummary::Item &was = before.items[at];
  if (is.operation != was.operation || is.types != was.types)
    return "now: " + describe(is) + " before: " + describe(was);
  if (is.operation == stablehlo::ConstantOp::getOperationName())
    return is.value != was.value ? "constant " + was.value + " became " + is.value + atPlace(is)
                                 : "constant " + is.types + " has other elements" + atPlace(is);
  return is.value != was.value ? is.operation + ": " + was.value + " became " + is.value + atPlace(is)
                               : is.operation + " has other attributes" + atPlace(is);
}

ModuleHistory &ModuleHistory::ofProcess() {
  static auto *history = new ModuleHistory;
  return *history;
}

std::string ModuleHistory::add(ModuleSummary now) {
  std::lock_guard lock(mutex);
  const ModuleSummary *nearest = nullptr;
  std::pair<size_t, size_t> most;
  for (const ModuleSummary &each : known) {
    if (each.name != now.name)
      continue;
    const std::pair found(alikeItems(each, now), commonItems(each, now));
    if (!nearest || found > most)
      nearest = &each, most = found;
  }
  std::string difference = nearest ? firstDifference(*nearest, now) : "";
  if (nearest && difference.empty())
    difference = "the same program once more";
  known.push_front(std::move(now));
  if (known.size() > kMostPrograms)
    known.pop_back();
  return difference;
}

} // namespace millrace
