// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StoredTypes.cpp - Tensors that are stored in a smaller type ---------===//
#include "tracing/emit/StoredTypes.h"

#include "runtime/base/Environment.h"
#include "dialects/millrace/Attributes.h"

#include "runtime/base/FloatModes.h"
#include "tracing/reports/Dump.h"

#include "llvm/ADT/APFloat.h"

#include <cstring>

namespace millrace::tracing {

DType storedType(DType dtype) {
  // Each variable is read when the first tensor of its type appears, because programs set the environment after they have imported torch_xla.
  struct Floats {
    DType f32 = DType::F32, f64 = DType::F64;
    Floats() {
      namespace environment = runtime::environment;
      if (environment::isOn("XLA_USE_FP16"))
        f32 = f64 = DType::F16;
      else if (environment::isOn("XLA_DOWNCAST_FP16"))
        f32 = DType::F16, f64 = DType::F32;
      else if (environment::isOn("XLA_USE_BF16"))
        f32 = f64 = DType::BF16;
      else if (environment::isOn("XLA_DOWNCAST_BF16"))
        f32 = DType::BF16, f64 = DType::F32;
    }
  };
  const auto floats = []() -> const Floats & {
    static const Floats chosen;
    return chosen;
  };
  const auto isShort = [] {
    static const bool isOn = runtime::environment::isOn("XLA_USE_32BIT_LONG");
    return isOn;
  };
  switch (dtype) {
  case DType::F32: return floats().f32;
  case DType::F64: return floats().f64;
  case DType::I64: return isShort() ? DType::I32 : dtype;
  case DType::U64: return isShort() ? DType::U32 : dtype;
  default: return dtype;
  }
}

Val storedParameter(Emitter &e, const Value &leaf, int64_t donatedTo, bool isConstant) {
  const Shape &shape = leaf.shape();
  NamedText constant;
  if (isConstant)
    constant = {kConstantAttr.str(), "unit"};
  Val made = e.convert(e.parameter({storedType(shape.dtype), shape.dims}, donatedTo, constant), shape.dtype);
  made.isWeak = leaf.node->isWeak;
  return made;
}

Val toStored(Emitter &e, const Val &value) {
  return value && storedType(value.dtype()) != value.dtype() ? e.convert(value, storedType(value.dtype())) : value;
}

Val roundToStored(Emitter &e, const Val &value) {
  if (!value || storedType(value.dtype()) == value.dtype())
    return value;
  if (!runtime::isFloat(value.dtype())) // integers wrap around
    return e.convert(e.convert(value, storedType(value.dtype())), value.dtype());
  const char *bits[2] = {"8 : i32", "23 : i32"};
  if (storedType(value.dtype()) == DType::BF16)
    bits[1] = "7 : i32";
  else if (storedType(value.dtype()) == DType::F16)
    bits[0] = "5 : i32", bits[1] = "10 : i32";
  return e.op("stablehlo.reduce_precision", {value}, {{"exponent_bits", bits[0]}, {"mantissa_bits", bits[1]}});
}

namespace {

uint16_t halfOf(double value, const llvm::fltSemantics &semantics) {
  llvm::APFloat wide(value);
  bool lost;
  wide.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
  return uint16_t(wide.bitcastToAPInt().getZExtValue());
}
double doubleOf(uint16_t bits, const llvm::fltSemantics &semantics) {
  llvm::APFloat narrow(semantics, llvm::APInt(16, bits));
  bool lost;
  narrow.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return narrow.convertToDouble();
}

template <typename From, typename To, typename F>
void each(const void *from, void *to, int64_t count, F convert) {
  for (int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, static_cast<const char *>(from) + i * int64_t(sizeof(From)), sizeof value);
    To made = convert(value);
    std::memcpy(static_cast<char *>(to) + i * int64_t(sizeof(To)), &made, sizeof made);
  }
}

const llvm::fltSemantics &semanticsOf(DType half) {
  return half == DType::BF16 ? llvm::APFloat::BFloat() : llvm::APFloat::IEEEhalf();
}

} // namespace

void convertToStored(DType dtype, const void *from, void *to, int64_t count) {
  const runtime::DefaultFloatModes modes;
  DType stored = storedType(dtype);
  if (runtime::isInteger(dtype))
    return each<uint64_t, uint32_t>(from, to, count, [](uint64_t v) { return uint32_t(v); });
  if (stored == DType::F32)
    return each<double, float>(from, to, count, [](double v) { return float(v); });
  const llvm::fltSemantics &semantics = semanticsOf(stored);
  auto half = [&](auto v) { return halfOf(v, semantics); };
  dtype == DType::F32 ? each<float, uint16_t>(from, to, count, half) : each<double, uint16_t>(from, to, count, half);
}

void convertFromStored(DType dtype, const void *from, void *to, int64_t count) {
  const runtime::DefaultFloatModes modes;
  DType stored = storedType(dtype);
  if (dtype == DType::I64)
    return each<int32_t, int64_t>(from, to, count, [](int32_t v) { return int64_t(v); });
  if (dtype == DType::U64)
    return each<uint32_t, uint64_t>(from, to, count, [](uint32_t v) { return uint64_t(v); });
  if (stored == DType::F32)
    return each<float, double>(from, to, count, [](float v) { return double(v); });
  const llvm::fltSemantics &semantics = semanticsOf(stored);
  auto wide = [&](uint16_t v) { return doubleOf(v, semantics); };
  if (dtype == DType::F32)
    return each<uint16_t, float>(from, to, count, [&](uint16_t v) { return float(wide(v)); });
  each<uint16_t, double>(from, to, count, wide);
}

} // namespace millrace::tracing
