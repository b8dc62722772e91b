// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EntryLayouts.cpp - Arguments and results in other layouts -----------===//
// Input:   func @main(%a: tensor<2x3xf32> {mhlo.layout_mode = "{0,1}"})
// Output:  func @main(%a: tensor<3x2xf32>), %0 = stablehlo.transpose %a, dims = [1, 0] : ... -> tensor<2x3xf32>
// Leaves alone row-major ("{1,0}"), "default" and "auto": row-major is what we choose.
#include "pjrt/EntryLayouts.h"

#include "dialects/stablehlo/Ops.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace millrace::pjrt {
namespace {

constexpr StringLiteral kLayoutMode = "mhlo.layout_mode";

/// Parses "{0,1}" as a permutation; returns false for any other text.
bool parseOrder(StringRef text, std::vector<int64_t> &order) {
  if (!text.consume_front("{") || !text.consume_back("}"))
    return false;
  SmallVector<StringRef> parts;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    int64_t dim;
    if (part.trim().getAsInteger(10, dim))
      return false;
    order.push_back(dim);
  }
  std::vector<int64_t> sorted = order;
  llvm::sort(sorted);
  return llvm::equal(sorted, llvm::seq<int64_t>(0, sorted.size()));
}

bool isRowMajorOrder(ArrayRef<int64_t> order) {
  return llvm::all_of(llvm::enumerate(order),
                      [&](auto entry) { return entry.value() == int64_t(order.size() - 1 - entry.index()); });
}

LogicalResult readOrder(func::FuncOp entry, DictionaryAttr attrs, Type type, Twine what, std::vector<int64_t> &order) {
  auto mode = attrs ? attrs.getAs<StringAttr>(kLayoutMode) : StringAttr();
  if (!mode || mode.getValue() == "default" || mode.getValue() == "auto")
    return success();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !parseOrder(mode.getValue(), order) || int64_t(order.size()) != tensor.getRank())
    return entry.emitError("expects the layout of ")
           << what << " to be a permutation of its dimensions, but got " << mode;
  if (isRowMajorOrder(order))
    order.clear();
  return success();
}

/// Returns the permutation from logical dimensions to those in memory, the slowest first.
SmallVector<int64_t> toMemory(ArrayRef<int64_t> order) { return llvm::to_vector(llvm::reverse(order)); }

RankedTensorType memoryType(RankedTensorType type, ArrayRef<int64_t> order) {
  SmallVector<int64_t> dims;
  for (int64_t d : toMemory(order))
    dims.push_back(type.getDimSize(d));
  return RankedTensorType::get(dims, type.getElementType());
}

std::string orderText(ArrayRef<int64_t> order) {
  std::string text = "{";
  llvm::interleave(order, [&](int64_t d) { text += std::to_string(d); }, [&] { text += ","; });
  return text + "}";
}

} // namespace

bool hasLayouts(func::FuncOp entry) {
  auto says = [](DictionaryAttr attrs) {
    auto mode = attrs ? attrs.getAs<StringAttr>(kLayoutMode) : StringAttr();
    if (!mode || mode.getValue() == "default" || mode.getValue() == "auto")
      return false;
    std::vector<int64_t> order;
    return !parseOrder(mode.getValue(), order) || !isRowMajorOrder(order);
  };
  for (unsigned i = 0; i < entry.getNumArguments(); ++i)
    if (says(entry.getArgAttrDict(i)))
      return true;
  for (unsigned i = 0; i < entry.getNumResults(); ++i)
    if (says(entry.getResultAttrDict(i)))
      return true;
  return false;
}

FailureOr<EntryLayouts> applyLayouts(func::FuncOp entry) {
  EntryLayouts layouts;
  layouts.arguments.resize(entry.getNumArguments());
  layouts.results.resize(entry.getNumResults());
  bool any = false;
  for (auto [i, type] : llvm::enumerate(entry.getArgumentTypes())) {
    if (failed(readOrder(entry, entry.getArgAttrDict(i), type, "argument " + Twine(i), layouts.arguments[i])))
      return failure();
    any |= !layouts.arguments[i].empty();
  }
  for (auto [i, type] : llvm::enumerate(entry.getResultTypes())) {
    if (failed(readOrder(entry, entry.getResultAttrDict(i), type, "result " + Twine(i), layouts.results[i])))
      return failure();
    any |= !layouts.results[i].empty();
  }
  if (!any)
    return layouts;
  if (!entry.getBody().hasOneBlock())
    return entry.emitError("expects one block in a function with layouts");

  Block &body = entry.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  for (auto [i, order] : llvm::enumerate(layouts.arguments)) {
    if (order.empty())
      continue;
    BlockArgument argument = body.getArgument(i);
    auto logical = cast<RankedTensorType>(argument.getType());
    argument.setType(memoryType(logical, order));
    SmallVector<int64_t> fromMemory(order.size());
    for (auto [position, dim] : llvm::enumerate(toMemory(order)))
      fromMemory[dim] = position;
    auto transpose = stablehlo::TransposeOp::create(builder, argument.getLoc(), logical, argument, fromMemory);
    argument.replaceAllUsesExcept(transpose, transpose);
  }
  Operation *exit = body.getTerminator();
  builder.setInsertionPoint(exit);
  for (auto [i, order] : llvm::enumerate(layouts.results)) {
    if (order.empty())
      continue;
    Value result = exit->getOperand(i);
    auto logical = cast<RankedTensorType>(result.getType());
    exit->setOperand(i, stablehlo::TransposeOp::create(builder, result.getLoc(), memoryType(logical, order), result,
                                                       toMemory(order)));
  }
  entry.setType(FunctionType::get(entry.getContext(), body.getArgumentTypes(), exit->getOperandTypes()));
  return layouts;
}

std::string layoutsToText(const EntryLayouts &layouts) {
  std::string text;
  auto list = [&](const std::vector<std::vector<int64_t>> &orders) {
    for (const std::vector<int64_t> &order : orders)
      text += (order.empty() ? std::string() : orderText(order)) + ";";
  };
  list(layouts.arguments);
  text += "|";
  list(layouts.results);
  return text;
}

bool layoutsFromText(StringRef text, EntryLayouts &layouts) {
  auto [arguments, results] = text.split('|');
  auto list = [](StringRef part, std::vector<std::vector<int64_t>> &orders) {
    while (!part.empty()) {
      StringRef one;
      std::tie(one, part) = part.split(';');
      if (!one.empty() && !parseOrder(one, orders.emplace_back()))
        return false;
      if (one.empty())
        orders.emplace_back();
    }
    return true;
  };
  return list(arguments, layouts.arguments) && list(results, layouts.results);
}

} // namespace millrace::pjrt
