// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarBuilder.h - Short names for arith on scalars and vectors -----===//
// Every function works on scalars and, lane by lane, on vectors; constants have the shape of their type argument.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

namespace millrace::lowering {

class ScalarBuilder {
public:
  using Value = mlir::Value;
  using Type = mlir::Type;

  ScalarBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;

  // Types: `element` in the shape of `like`.
  static Type typeLike(Type like, Type element) {
    if (auto shaped = mlir::dyn_cast<mlir::ShapedType>(like))
      return shaped.clone(element);
    return element;
  }
  Type intLike(Type like, unsigned width) { return typeLike(like, builder.getIntegerType(width)); }
  Type f32Like(Type like) { return typeLike(like, builder.getF32Type()); }
  Type f64Like(Type like) { return typeLike(like, builder.getF64Type()); }
  static unsigned widthOf(Type type) { return mlir::getElementTypeOrSelf(type).getIntOrFloatBitWidth(); }
  static unsigned widthOf(Value value) { return widthOf(value.getType()); }
  /// Returns the integer type as wide as the elements of `type`.
  Type bitsOf(Type type) { return intLike(type, widthOf(type)); }

  // Constants of `type`.
  Value constant(mlir::TypedAttr element, Type type) {
    if (auto shaped = mlir::dyn_cast<mlir::ShapedType>(type))
      element = mlir::DenseElementsAttr::get(shaped, mlir::Attribute(element));
    return mlir::arith::ConstantOp::create(builder, loc, element);
  }
  Value f(double value, Type type) {
    return constant(builder.getFloatAttr(mlir::getElementTypeOrSelf(type), value), type);
  }
  Value i(const llvm::APInt &value, Type type) {
    return constant(builder.getIntegerAttr(mlir::getElementTypeOrSelf(type), value), type);
  }
  /// Returns the constant `value` modulo 2^width.
  Value i(int64_t value, Type type) {
    return i(llvm::APInt(64, value, /*isSigned=*/true).sextOrTrunc(widthOf(type)), type);
  }
  Value index(int64_t value) { return mlir::arith::ConstantIndexOp::create(builder, loc, value); }
  /// Returns a NaN or an infinity of the float type `type`.
  Value nan(Type type) { return special(llvm::APFloat::getQNaN(semantics(type)), type); }
  Value inf(Type type, bool negative = false) { return special(llvm::APFloat::getInf(semantics(type), negative), type); }

  // Floating point arithmetic.
  Value addf(Value a, Value b) { return mlir::arith::AddFOp::create(builder, loc, a, b); }
  Value subf(Value a, Value b) { return mlir::arith::SubFOp::create(builder, loc, a, b); }
  Value mulf(Value a, Value b) { return mlir::arith::MulFOp::create(builder, loc, a, b); }
  Value divf(Value a, Value b) { return mlir::arith::DivFOp::create(builder, loc, a, b); }
  Value negf(Value a) { return mlir::arith::NegFOp::create(builder, loc, a); }
  Value absf(Value a) { return mlir::math::AbsFOp::create(builder, loc, a); }
  Value copysign(Value magnitude, Value sign) {
    return mlir::math::CopySignOp::create(builder, loc, magnitude, sign);
  }
  /// Returns a * b + c, rounded once.
  Value fma(Value a, Value b, Value c) { return mlir::math::FmaOp::create(builder, loc, a, b, c); }
  Value sqrt(Value a) { return mlir::math::SqrtOp::create(builder, loc, a); }

  // Integer arithmetic.
  Value addi(Value a, Value b) { return mlir::arith::AddIOp::create(builder, loc, a, b); }
  Value subi(Value a, Value b) { return mlir::arith::SubIOp::create(builder, loc, a, b); }
  Value muli(Value a, Value b) { return mlir::arith::MulIOp::create(builder, loc, a, b); }
  Value andi(Value a, Value b) { return mlir::arith::AndIOp::create(builder, loc, a, b); }
  Value ori(Value a, Value b) { return mlir::arith::OrIOp::create(builder, loc, a, b); }
  Value xori(Value a, Value b) { return mlir::arith::XOrIOp::create(builder, loc, a, b); }
  Value shli(Value a, Value b) { return mlir::arith::ShLIOp::create(builder, loc, a, b); }
  Value shrui(Value a, Value b) { return mlir::arith::ShRUIOp::create(builder, loc, a, b); }
  Value shrsi(Value a, Value b) { return mlir::arith::ShRSIOp::create(builder, loc, a, b); }
  Value shli(Value a, int64_t b) { return shli(a, i(b, a.getType())); }
  Value shrui(Value a, int64_t b) { return shrui(a, i(b, a.getType())); }
  Value shrsi(Value a, int64_t b) { return shrsi(a, i(b, a.getType())); }
  Value addi(Value a, int64_t b) { return addi(a, i(b, a.getType())); }
  Value subi(Value a, int64_t b) { return subi(a, i(b, a.getType())); }
  Value andi(Value a, int64_t b) { return andi(a, i(b, a.getType())); }
  Value ori(Value a, int64_t b) { return ori(a, i(b, a.getType())); }
  Value xori(Value a, int64_t b) { return xori(a, i(b, a.getType())); }
  Value not1(Value a) { return xori(a, i(-1, a.getType())); }

  // Comparisons and selection.
  Value cmpf(mlir::arith::CmpFPredicate p, Value a, Value b) {
    return mlir::arith::CmpFOp::create(builder, loc, p, a, b);
  }
  Value cmpi(mlir::arith::CmpIPredicate p, Value a, Value b) {
    return mlir::arith::CmpIOp::create(builder, loc, p, a, b);
  }
  Value cmpf(mlir::arith::CmpFPredicate p, Value a, double b) { return cmpf(p, a, f(b, a.getType())); }
  Value cmpi(mlir::arith::CmpIPredicate p, Value a, int64_t b) { return cmpi(p, a, i(b, a.getType())); }
  Value isNan(Value a) { return cmpf(mlir::arith::CmpFPredicate::UNO, a, a); }
  Value select(Value c, Value a, Value b) { return mlir::arith::SelectOp::create(builder, loc, c, a, b); }

  // Conversions.
  Value bitcast(Value a, Type type) {
    return a.getType() == type ? a : Value(mlir::arith::BitcastOp::create(builder, loc, type, a));
  }
  /// Returns the bits of the float `a` as an integer of the same width.
  Value bits(Value a) { return bitcast(a, bitsOf(a.getType())); }
  Value extf(Value a, Type type) {
    return a.getType() == type ? a : Value(mlir::arith::ExtFOp::create(builder, loc, type, a));
  }
  Value truncf(Value a, Type type) {
    return a.getType() == type ? a : Value(mlir::arith::TruncFOp::create(builder, loc, type, a));
  }
  Value extsi(Value a, Type type) {
    return a.getType() == type ? a : Value(mlir::arith::ExtSIOp::create(builder, loc, type, a));
  }
  Value extui(Value a, Type type) {
    return a.getType() == type ? a : Value(mlir::arith::ExtUIOp::create(builder, loc, type, a));
  }
  Value trunci(Value a, Type type) {
    return a.getType() == type ? a : Value(mlir::arith::TruncIOp::create(builder, loc, type, a));
  }
  Value sitofp(Value a, Type type) { return mlir::arith::SIToFPOp::create(builder, loc, type, a); }
  Value uitofp(Value a, Type type) { return mlir::arith::UIToFPOp::create(builder, loc, type, a); }
  Value fptosi(Value a, Type type) { return mlir::arith::FPToSIOp::create(builder, loc, type, a); }
  Value fptoui(Value a, Type type) { return mlir::arith::FPToUIOp::create(builder, loc, type, a); }
  Value toIndex(Value a) {
    return a.getType().isIndex()
               ? a
               : Value(mlir::arith::IndexCastOp::create(builder, loc, builder.getIndexType(), a));
  }

  // Complex numbers (scalars only).
  Value re(Value a) { return mlir::complex::ReOp::create(builder, loc, a); }
  Value im(Value a) { return mlir::complex::ImOp::create(builder, loc, a); }
  Value complex(Value re, Value im) {
    return mlir::complex::CreateOp::create(builder, loc, mlir::ComplexType::get(re.getType()), re, im);
  }

private:
  static const llvm::fltSemantics &semantics(Type type) {
    return mlir::cast<mlir::FloatType>(mlir::getElementTypeOrSelf(type)).getFloatSemantics();
  }
  Value special(const llvm::APFloat &value, Type type) {
    return constant(builder.getFloatAttr(mlir::getElementTypeOrSelf(type), value), type);
  }
};

} // namespace millrace::lowering
