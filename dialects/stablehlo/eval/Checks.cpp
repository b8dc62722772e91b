// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Checks.cpp - check.* operations and custom calls -------------------===//
#include "dialects/stablehlo/eval/Checks.h"

#include "dialects/stablehlo/eval/Interpreter.h"
#include "dialects/stablehlo/eval/Npy.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <cstring>

using namespace mlir;

namespace millrace::eval {

/// Returns the position of a value in the order of the type's values, with one position for both zeros.
static int64_t ulpKey(Kind kind, const char *p) {
  uint64_t bits = 0;
  std::memcpy(&bits, p, byteSize(kind));
  uint64_t sign = uint64_t(1) << (bitWidth(kind) - 1);
  if (kind == Kind::F8E8M0FNU) return static_cast<int64_t>(bits);
  return bits & sign ? -static_cast<int64_t>(bits & ~sign) : static_cast<int64_t>(bits);
}

uint64_t ulpDistance(Kind kind, const char *a, const char *b) {
  double x = loadFloat(kind, a), y = loadFloat(kind, b);
  constexpr uint64_t never = std::numeric_limits<uint64_t>::max();
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y) ? 0 : never;
  if (std::isinf(x) || std::isinf(y)) return x == y ? 0 : never;
  int64_t p = ulpKey(kind, a), q = ulpKey(kind, b);
  return p < q ? static_cast<uint64_t>(q) - static_cast<uint64_t>(p) : static_cast<uint64_t>(p) - static_cast<uint64_t>(q);
}

using SameElements = llvm::function_ref<bool(Kind, const char *, const char *)>;

/// Calls `same(kind, a, b)` for each pair of elements and describes the first pair that differs.
static std::string compareElements(const Tensor &actual, const Tensor &expected, SameElements same) {
  if (actual.getType() != expected.getType())
    return "types differ: " + toString(actual.getType()) + " and " + toString(expected.getType());
  Kind kind = actual.kind();
  int64_t wrong = 0;
  std::string first;
  forEachIndex(actual.getShape(), [&](ArrayRef<int64_t> index, int64_t linear) {
    const char *a = actual.at(linear), *b = expected.at(linear);
    if (same(kind, a, b) || wrong++) return;
    llvm::raw_string_ostream os(first);
    os << "at [";
    llvm::interleaveComma(index, os);
    os << "] got ";
    RankedTensorType scalar = RankedTensorType::get({}, actual.getElementType());
    actual.element(linear, scalar).print(os);
    os << ", expected ";
    expected.element(linear, scalar).print(os);
    if (isFloat(kind)) os << " (" << ulpDistance(kind, a, b) << " ULP)";
  });
  if (!wrong) return {};
  return std::to_string(wrong) + " of " + std::to_string(actual.size()) + " elements differ; " + first;
}

/// Does the same for the parts of complex elements.
static std::string compareParts(const Tensor &actual, const Tensor &expected, SameElements same) {
  return compareElements(actual, expected, [&](Kind kind, const char *a, const char *b) {
    if (!isComplex(kind)) return same(kind, a, b);
    Kind part = partOf(kind);
    return same(part, a, b) && same(part, a + byteSize(part), b + byteSize(part));
  });
}

std::string compareEqual(const Tensor &actual, const Tensor &expected) {
  return compareParts(actual, expected, [](Kind kind, const char *a, const char *b) {
    return isInteger(kind) ? loadInt(kind, a) == loadInt(kind, b) : loadFloat(kind, a) == loadFloat(kind, b);
  });
}

std::string compareAlmostEqual(const Tensor &actual, const Tensor &expected, double tolerance) {
  return compareParts(actual, expected, [&](Kind kind, const char *a, const char *b) {
    if (isInteger(kind)) return loadInt(kind, a) == loadInt(kind, b);
    double x = loadFloat(kind, a), y = loadFloat(kind, b);
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    return x == y || std::fabs(x - y) <= tolerance;
  });
}

std::string compareClose(const Tensor &actual, const Tensor &expected, uint64_t minUlp, uint64_t maxUlp) {
  return compareElements(actual, expected, [&](Kind kind, const char *a, const char *b) {
    if (isInteger(kind)) return loadInt(kind, a) == loadInt(kind, b);
    uint64_t distance = 0;
    if (isComplex(kind)) {
      Kind part = partOf(kind);
      distance = std::max(ulpDistance(part, a, b), ulpDistance(part, a + byteSize(part), b + byteSize(part)));
    } else {
      distance = ulpDistance(kind, a, b);
    }
    return distance >= minUlp && distance <= maxUlp;
  });
}

static llvm::Error report(Call &call, const std::string &difference) {
  if (difference.empty()) return llvm::Error::success();
  return call.error(difference);
}

static llvm::Expected<Tensor> constantOperand(Call &call) {
  return call.interpreter.constant(call.op, call.op->getAttrOfType<ElementsAttr>("value"), call.in(0).getType());
}

static double toleranceOf(Operation *op, double fallback) {
  auto attr = op->getAttrOfType<FloatAttr>("tolerance");
  return attr ? attr.getValueAsDouble() : fallback;
}

static uint64_t unsignedOf(Operation *op, StringRef name, uint64_t fallback) {
  auto attr = op->getAttrOfType<IntegerAttr>(name);
  return attr ? attr.getValue().getZExtValue() : fallback;
}

static llvm::Error evalExpectEq(Call &call) { return report(call, compareEqual(call.in(0), call.in(1))); }

static llvm::Error evalExpectEqConst(Call &call) {
  llvm::Expected<Tensor> value = constantOperand(call);
  if (!value) return value.takeError();
  return report(call, compareEqual(call.in(0), *value));
}

static llvm::Error evalExpectAlmostEq(Call &call) {
  return report(call, compareAlmostEqual(call.in(0), call.in(1), toleranceOf(call.op, 1e-4)));
}

static llvm::Error evalExpectAlmostEqConst(Call &call) {
  llvm::Expected<Tensor> value = constantOperand(call);
  if (!value) return value.takeError();
  return report(call, compareAlmostEqual(call.in(0), *value, toleranceOf(call.op, 1e-4)));
}

static llvm::Error evalExpectClose(Call &call) {
  return report(call, compareClose(call.in(0), call.in(1), unsignedOf(call.op, "min_ulp_difference", 0), unsignedOf(call.op, "max_ulp_difference", 1)));
}

static llvm::Error evalExpectSerializedEq(Call &call) {
  const Options &options = call.interpreter.options;
  if (options.probeDirectory.empty()) return call.error("needs a directory of probes (--probe-output-dir)");
  llvm::Expected<Tensor> written = readProbe(options.probeDirectory, call.op->getAttrOfType<StringAttr>("probe_id").getValue(),
                                             static_cast<int64_t>(unsignedOf(call.op, "iteration", 0)) + 1, call.in(0).getType());
  if (!written) return call.error(llvm::toString(written.takeError()));
  return report(call, compareEqual(*written, call.in(0)));
}

llvm::Expected<bool> evalCheckCustomCall(Call &call, StringRef target) {
  if (!target.starts_with("check.")) return false;
  if (call.numInputs() != 2 || !call.operands[0].isTensor() || !call.operands[1].isTensor())
    return call.error("@" + target + " expects two tensors");
  std::string difference;
  if (target == "check.expect_eq" || target == "check.eq") {
    bool exact = target == "check.expect_eq" || isInteger(call.in(0).kind());
    difference = exact ? compareEqual(call.in(0), call.in(1)) : compareAlmostEqual(call.in(0), call.in(1), 1e-4);
  } else if (target == "check.expect_close") {
    difference = compareClose(call.in(0), call.in(1), unsignedOf(call.op, "min_ulp_difference", 0), unsignedOf(call.op, "max_ulp_difference", 3));
  } else if (target == "check.expect_almost_eq") {
    difference = compareAlmostEqual(call.in(0), call.in(1), toleranceOf(call.op, 1e-3));
  } else {
    return call.error("the evaluator does not know the custom call target @" + target);
  }
  if (!difference.empty()) return call.error("@" + target + ": " + difference);
  // In old programs the result of the check says whether it held.
  for (OpResult result : call.op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || !type.hasStaticShape() || !type.getElementType().isInteger(1)) return call.error("expects i1 results");
    Tensor held(type);
    std::memset(held.mutableData(), 1, held.numBytes());
    call.push(std::move(held));
  }
  return true;
}

void addChecks(Dispatch &dispatch) {
  dispatch.add("check.expect_eq", evalExpectEq);
  dispatch.add("check.expect_eq_const", evalExpectEqConst);
  dispatch.add("check.expect_almost_eq", evalExpectAlmostEq);
  dispatch.add("check.expect_almost_eq_const", evalExpectAlmostEqConst);
  dispatch.add("check.expect_close", evalExpectClose);
  dispatch.add("check.expect_serialized_eq", evalExpectSerializedEq);
}

} // namespace millrace::eval
