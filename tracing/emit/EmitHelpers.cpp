// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmitHelpers.cpp - Helpers for the most frequent operations ----------===//
#include "tracing/emit/Emit.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace millrace::tracing {

std::string arrayText(const Ints &values) {
  std::string text = "array<i64";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : ": ") + std::to_string(values[i]);
  return text + ">";
}

std::string intText(int64_t value) { return std::to_string(value) + " : i64"; }

/// Returns the value if it is a splat constant, or null.
static mlir::DenseElementsAttr splatOf(const Val &value) {
  mlir::Operation *op = mlir::Value::getFromOpaquePointer(value.impl).getDefiningOp();
  if (!op || op->getName().getStringRef() != "stablehlo.constant")
    return {};
  auto elements = op->getAttrOfType<mlir::DenseElementsAttr>("value");
  return elements && elements.isSplat() ? elements : mlir::DenseElementsAttr();
}

/// Converts a number to this type and shape. If it is a constant the result is one, too, as long as the conversion changes nothing but its type.
static Val numberAs(Emitter &e, const Val &value, const Shape &shape) {
  mlir::DenseElementsAttr splat = splatOf(value);
  if (!splat || runtime::isComplex(shape.dtype))
    return {};
  if (llvm::isa<mlir::FloatType>(splat.getElementType())) {
    llvm::APFloat number = splat.getSplatValue<llvm::APFloat>();
    bool lost = false;
    number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
    if (lost || runtime::isInteger(shape.dtype))
      return {};
    return e.constant(number.convertToDouble(), shape);
  }
  if (!llvm::isa<mlir::IntegerType>(splat.getElementType()))
    return {};
  llvm::APInt number = splat.getSplatValue<llvm::APInt>();
  bool isUnsigned = number.getBitWidth() == 1 || splat.getElementType().isUnsignedInteger();
  if (shape.dtype == DType::I1 ? value.dtype() != DType::I1 : number.getSignificantBits() > 53)
    return {};
  return e.constant(isUnsigned ? int64_t(number.getZExtValue()) : number.getSExtValue(), shape);
}

Val Emitter::convert(const Val &value, DType dtype) {
  if (!value || value.dtype() == dtype)
    return value;
  if (runtime::isComplex(value.dtype()) && !runtime::isComplex(dtype))
    return fail("an imaginary part would be lost");
  if (Val number = numberAs(*this, value, {dtype, value.dims()}))
    return number;
  return op("stablehlo.convert", {value}, {}, Shape{dtype, value.dims()});
}

Val Emitter::broadcastInDim(const Val &value, const Ints &dims, const Ints &mapping) {
  if (!value || value.dims() == dims)
    return value;
  if (Val number = numberAs(*this, value, {value.dtype(), dims}))
    return number;
  return op("stablehlo.broadcast_in_dim", {value}, {{"broadcast_dimensions", arrayText(mapping)}},
            Shape{value.dtype(), dims});
}

Val Emitter::broadcast(const Val &value, const Ints &dims) {
  if (!value)
    return value;
  if (value.rank() > int64_t(dims.size()))
    return fail("cannot broadcast " + value.shape.toString());
  Ints mapping(value.rank());
  std::iota(mapping.begin(), mapping.end(), int64_t(dims.size()) - value.rank());
  return broadcastInDim(value, dims, mapping);
}

Val Emitter::reshape(const Val &value, const Ints &dims) {
  if (!value || value.dims() == dims)
    return value;
  return op("stablehlo.reshape", {value}, {}, Shape{value.dtype(), dims});
}

Val Emitter::transpose(const Val &value, const Ints &permutation) {
  if (!value || std::is_sorted(permutation.begin(), permutation.end()))
    return value;
  Ints dims;
  for (int64_t source : permutation)
    dims.push_back(value.dims()[source]);
  return op("stablehlo.transpose", {value}, {{"permutation", arrayText(permutation)}}, Shape{value.dtype(), dims});
}

Val Emitter::slice(const Val &value, const Ints &start, const Ints &limit, const Ints &stride) {
  if (!value)
    return value;
  Ints steps = stride.empty() ? Ints(start.size(), 1) : stride;
  Ints dims;
  for (size_t i = 0; i < start.size(); ++i)
    dims.push_back(limit[i] <= start[i] ? 0 : (limit[i] - start[i] + steps[i] - 1) / steps[i]);
  if (dims == value.dims())
    return value;
  return op("stablehlo.slice", {value},
            {{"start_indices", arrayText(start)}, {"limit_indices", arrayText(limit)}, {"strides", arrayText(steps)}},
            Shape{value.dtype(), dims});
}

Val Emitter::sliceDim(const Val &value, int64_t dim, int64_t start, int64_t limit) {
  Ints low(value.rank(), 0), high = value.dims();
  low[dim] = start;
  high[dim] = limit;
  return slice(value, low, high);
}

Val Emitter::pad(const Val &value, const Val &with, const Ints &low, const Ints &high, const Ints &interior) {
  if (!value)
    return value;
  return op("stablehlo.pad", {value, with},
            {{"edge_padding_low", arrayText(low)},
             {"edge_padding_high", arrayText(high)},
             {"interior_padding", arrayText(interior.empty() ? Ints(low.size(), 0) : interior)}});
}

Val Emitter::concatenate(const std::vector<Val> &values, int64_t dim) {
  if (values.size() == 1)
    return values[0];
  return op("stablehlo.concatenate", values, {{"dimension", intText(dim)}});
}

std::vector<Val> Emitter::loop(const std::vector<Val> &initial, const std::function<Val(const std::vector<Val> &)> &goesOn,
                               const Body &body) {
  std::vector<Shape> shapes;
  for (const Val &value : initial)
    shapes.push_back(value.shape);
  Body condition = [&](const std::vector<Val> &in) { return std::vector<Val>{goesOn(in)}; };
  return ops("stablehlo.while", initial, {}, shapes, {Region{shapes, condition}, Region{shapes, body}});
}

Val Emitter::iota(const Shape &shape, int64_t dim) {
  return op("stablehlo.iota", {}, {{"iota_dimension", intText(dim)}}, shape);
}

Val Emitter::compare(const Val &a, const Val &b, std::string_view direction) {
  return op("stablehlo.compare", {a, b},
            {{"comparison_direction", "#stablehlo<comparison_direction " + std::string(direction) + ">"}});
}

Val Emitter::select(const Val &condition, const Val &a, const Val &b) {
  return op("stablehlo.select", {condition, a, b});
}

Val Emitter::reduce(const Val &value, const Val &init, const Ints &dims, std::string_view name) {
  if (!value || dims.empty())
    return value;
  Ints kept;
  for (int64_t i = 0; i < value.rank(); ++i)
    if (std::find(dims.begin(), dims.end(), i) == dims.end())
      kept.push_back(value.dims()[i]);
  Shape scalar{value.dtype(), {}};
  return ops("stablehlo.reduce", {value, init}, {{"dimensions", arrayText(dims)}}, {Shape{value.dtype(), kept}},
             {scalar, scalar}, [&](const std::vector<Val> &in) {
               return std::vector<Val>{op(name, in, {}, scalar)};
             })[0];
}

static std::string listText(const Ints &values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

Val Emitter::dot(const Val &a, const Val &b, const Ints &batchA, const Ints &batchB, const Ints &contractA,
                 const Ints &contractB) {
  if (!a || !b)
    return {};
  if (a.dtype() != b.dtype())
    return fail("products of operands of two types are not supported");
  Shape result{a.dtype(), {}};
  auto isIn = [](const Ints &list, int64_t value) { return std::find(list.begin(), list.end(), value) != list.end(); };
  for (int64_t dim : batchA)
    result.dims.push_back(a.dims()[dim]);
  for (int64_t i = 0; i < a.rank(); ++i)
    if (!isIn(batchA, i) && !isIn(contractA, i))
      result.dims.push_back(a.dims()[i]);
  for (int64_t i = 0; i < b.rank(); ++i)
    if (!isIn(batchB, i) && !isIn(contractB, i))
      result.dims.push_back(b.dims()[i]);
  std::string numbers = "#stablehlo.dot<lhs_batching_dimensions = " + listText(batchA) +
                        ", rhs_batching_dimensions = " + listText(batchB) +
                        ", lhs_contracting_dimensions = " + listText(contractA) +
                        ", rhs_contracting_dimensions = " + listText(contractB) + ">";
  return op("stablehlo.dot_general", {a, b}, {{"dot_dimension_numbers", numbers}}, result);
}

Val Emitter::lowest(DType dtype) {
  Shape scalar{dtype, {}};
  if (runtime::isFloat(dtype))
    return constant(-std::numeric_limits<double>::infinity(), scalar);
  if (!runtime::isSigned(dtype))
    return constant(int64_t(0), scalar);
  return constant(int64_t(-1) << (runtime::bitWidth(dtype) - 1), scalar);
}

Val Emitter::highest(DType dtype) {
  Shape scalar{dtype, {}};
  if (runtime::isFloat(dtype))
    return constant(std::numeric_limits<double>::infinity(), scalar);
  if (dtype == DType::I1)
    return constant(int64_t(1), scalar);
  unsigned bits = runtime::bitWidth(dtype) - (runtime::isSigned(dtype) ? 1 : 0);
  return constant(bits == 64 ? int64_t(-1) : int64_t((uint64_t(1) << bits) - 1), scalar);
}

//===-- Types ---------------------------------------------------------------===//

static int category(DType dtype) {
  return dtype == DType::I1 ? 0 : runtime::isInteger(dtype) ? 1 : runtime::isFloat(dtype) ? 2 : 3;
}

DType promote(DType a, DType b) {
  if (a == b || b == DType::Invalid)
    return a;
  if (a == DType::Invalid)
    return b;
  if (category(a) != category(b)) {
    DType high = category(a) > category(b) ? a : b, low = category(a) > category(b) ? b : a;
    if (high == DType::C64 && low == DType::F64)
      return DType::C128;
    return high;
  }
  if (category(a) == 1) {
    unsigned wa = runtime::bitWidth(a), wb = runtime::bitWidth(b);
    bool sa = runtime::isSigned(a), sb = runtime::isSigned(b);
    if (sa == sb)
      return wa > wb ? a : b;
    DType isSignedType = sa ? a : b;
    unsigned unsignedWidth = sa ? wb : wa;
    for (DType type : {DType::I16, DType::I32, DType::I64})
      if (runtime::bitWidth(type) > unsignedWidth && runtime::bitWidth(type) >= runtime::bitWidth(isSignedType))
        return type;
    return DType::I64;
  }
  if ((a == DType::BF16 && b == DType::F16) || (a == DType::F16 && b == DType::BF16))
    return DType::F32;
  return runtime::bitWidth(a) > runtime::bitWidth(b) ? a : b;
}

DType commonType(const std::vector<Val> &values) {
  DType byClass[3] = {DType::Invalid, DType::Invalid, DType::Invalid}; // of tensors with dims, tensors without dims, numbers
  for (const Val &value : values) {
    int priority = value.isWeak ? 2 : value.rank() ? 0 : 1;
    DType type = value.dtype();
    if (value.isWeak && category(type) == 2)
      type = DType::F32; // the default of torch.get_default_dtype()
    byClass[priority] = promote(byClass[priority], type);
  }
  DType result = DType::Invalid;
  for (DType type : byClass)
    if (type != DType::Invalid && (result == DType::Invalid || category(type) > category(result)))
      result = type;
  return result;
}

DType mathType(DType dtype) {
  return runtime::isFloat(dtype) && runtime::bitWidth(dtype) < 32 ? DType::F32 : dtype;
}

} // namespace millrace::tracing
