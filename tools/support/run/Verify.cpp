// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Verify.cpp - Compare compiled results with the evaluator's ---------===//
#include "tools/support/run/Verify.h"

#include "dialects/stablehlo/eval/Evaluator.h"
#include "tools/support/run/Arguments.h"
#include "tools/support/programs/LegalizeChlo.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;

namespace millrace::tools {
using runtime::Status;

namespace {

double tolerance(eval::Kind kind) {
  switch (kind) {
  case eval::Kind::F64:
  case eval::Kind::C128:
    return 1e-9;
  case eval::Kind::F32:
  case eval::Kind::C64:
    return 2e-4;
  case eval::Kind::F16:
    return 0x1p-9;
  case eval::Kind::BF16:
    return 0x1p-6;
  case eval::Kind::F8E4M3:
  case eval::Kind::F8E4M3FN:
  case eval::Kind::F8E4M3FNUZ:
  case eval::Kind::F8E4M3B11FNUZ:
    return 0x1p-2;
  default:
    return 0.5;
  }
}

bool close(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b))
    return a == b;
  return std::abs(a - b) <= tolerance * std::max({1.0, std::abs(a), std::abs(b)});
}

bool equalElements(const eval::Tensor &a, const eval::Tensor &b, int64_t i) {
  eval::Kind kind = a.kind();
  if (eval::isInteger(kind))
    return a.getInt(i) == b.getInt(i);
  if (eval::isFloat(kind))
    return close(a.getFloat(i), b.getFloat(i), tolerance(kind));
  eval::Complex x = a.getComplex(i), y = b.getComplex(i);
  // If one part is infinite or NaN, the other one is compared nevertheless.
  return close(x.real(), y.real(), tolerance(kind)) && close(x.imag(), y.imag(), tolerance(kind));
}

std::string elementText(const eval::Tensor &tensor, int64_t i) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (eval::isInteger(tensor.kind()))
    os << tensor.getInt(i);
  else if (eval::isFloat(tensor.kind()))
    os << llvm::format("%.9g", tensor.getFloat(i));
  else
    os << llvm::format("(%.9g, %.9g)", tensor.getComplex(i).real(), tensor.getComplex(i).imag());
  return text;
}

} // namespace

Status verifyAgainstEvaluator(ModuleOp module, const std::string &entry, const std::vector<Array> &arguments,
                              const std::vector<Array> &results) {
  if (failed(legalizeChlo(module)))
    return runtime::internalError("chlo operations cannot be legalized for the evaluator");
  auto function = module.lookupSymbol<func::FuncOp>(entry);
  auto tensorOf = [](const Array &array, Type type) {
    auto tensorType = RankedTensorType::get(array.dims, cast<RankedTensorType>(type).getElementType());
    return eval::Tensor::fromBytes(tensorType, ArrayRef<char>(array.bytes.data(), array.bytes.size()));
  };
  SmallVector<eval::Value> values;
  size_t next = 0;
  for (Type type : function.getArgumentTypes())
    values.push_back(isa<RankedTensorType>(type) ? eval::Value(tensorOf(arguments[next++], type))
                                                 : eval::Value(eval::Token()));
  auto expected = eval::evaluate(function, values);
  if (!expected)
    return runtime::internalError("the evaluator failed: " + llvm::toString(expected.takeError()));
  next = 0;
  for (auto [number, value] : llvm::enumerate(*expected)) {
    if (!value.isTensor())
      continue;
    const eval::Tensor &want = value.tensor();
    const Array &array = results[next++];
    if (ArrayRef<int64_t>(array.dims) != want.getShape())
      return runtime::internalError("result " + std::to_string(number) + ": the shapes of machine code and evaluator differ");
    eval::Tensor have = tensorOf(array, want.getType());
    for (int64_t i = 0; i < want.size(); ++i)
      if (!equalElements(have, want, i))
        return runtime::internalError("result " + std::to_string(number) + ", element " + std::to_string(i) +
                                      ": machine code gives " + elementText(have, i) + ", the evaluator " +
                                      elementText(want, i));
  }
  return runtime::okStatus();
}

} // namespace millrace::tools
