// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Expr.h - Formulas that build StableHLO -----------------------------===//
// `(x + 1.0) * sqrt(x)` with Expr x builds stablehlo.add, sqrt, multiply in the shape and element type of x.
#pragma once
#include "dialects/stablehlo/Ops.h"
#include "mlir/IR/Builders.h"

namespace millrace::chlo {

/// Returns a constant in the shape of `like`, with the element type of `like` or `elementType`; broadcast to dynamic shapes.
mlir::Value constantLike(mlir::OpBuilder &builder, mlir::Location loc, mlir::Attribute value, mlir::Value like);

class Expr {
public:
  Expr(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value)
      : builder(&builder), loc(loc), value(value) {}

  mlir::Value get() const { return value; }
  mlir::OpBuilder &getBuilder() const { return *builder; }
  mlir::Location getLoc() const { return loc; }
  mlir::RankedTensorType getType() const { return mlir::cast<mlir::RankedTensorType>(value.getType()); }
  mlir::Type getElementType() const { return getType().getElementType(); }
  const llvm::fltSemantics &getSemantics() const {
    return mlir::cast<mlir::FloatType>(getElementType()).getFloatSemantics();
  }
  Expr with(mlir::Value other) const { return Expr(*builder, loc, other); }

  /// Returns a float or integer constant of this shape and element type.
  Expr constant(double number) const;
  Expr constant(llvm::APFloat number) const;
  Expr infinity() const { return constant(llvm::APFloat::getInf(getSemantics())); }
  Expr nan() const { return constant(llvm::APFloat::getNaN(getSemantics())); }
  Expr largest() const { return constant(llvm::APFloat::getLargest(getSemantics())); }
  /// Converts to another element type.
  Expr convert(mlir::Type elementType) const;

  template <typename Op>
  Expr unary() const {
    return with(Op::create(*builder, loc, value));
  }
  template <typename Op>
  Expr binary(Expr rhs) const {
    return with(Op::create(*builder, loc, value, rhs.value));
  }
  Expr compare(stablehlo::ComparisonDirection direction, Expr rhs) const;

private:
  mlir::OpBuilder *builder;
  mlir::Location loc;
  mlir::Value value;
};

/// The parts of a complex number.
struct ComplexExpr {
  Expr re, im;
};

inline Expr operator+(Expr a, Expr b) { return a.binary<stablehlo::AddOp>(b); }
inline Expr operator-(Expr a, Expr b) { return a.binary<stablehlo::SubtractOp>(b); }
inline Expr operator*(Expr a, Expr b) { return a.binary<stablehlo::MulOp>(b); }
inline Expr operator/(Expr a, Expr b) { return a.binary<stablehlo::DivOp>(b); }
inline Expr operator+(Expr a, double b) { return a + a.constant(b); }
inline Expr operator-(Expr a, double b) { return a - a.constant(b); }
inline Expr operator*(Expr a, double b) { return a * a.constant(b); }
inline Expr operator/(Expr a, double b) { return a / a.constant(b); }
inline Expr operator+(double a, Expr b) { return b.constant(a) + b; }
inline Expr operator-(double a, Expr b) { return b.constant(a) - b; }
inline Expr operator*(double a, Expr b) { return b.constant(a) * b; }
inline Expr operator/(double a, Expr b) { return b.constant(a) / b; }
inline Expr operator-(Expr a) { return a.unary<stablehlo::NegOp>(); }
inline Expr operator&(Expr a, Expr b) { return a.binary<stablehlo::AndOp>(b); }
inline Expr operator|(Expr a, Expr b) { return a.binary<stablehlo::OrOp>(b); }
inline Expr operator!(Expr a) { return a.unary<stablehlo::NotOp>(); }

inline Expr operator<(Expr a, Expr b) { return a.compare(stablehlo::ComparisonDirection::LT, b); }
inline Expr operator<=(Expr a, Expr b) { return a.compare(stablehlo::ComparisonDirection::LE, b); }
inline Expr operator>(Expr a, Expr b) { return a.compare(stablehlo::ComparisonDirection::GT, b); }
inline Expr operator>=(Expr a, Expr b) { return a.compare(stablehlo::ComparisonDirection::GE, b); }
inline Expr operator==(Expr a, Expr b) { return a.compare(stablehlo::ComparisonDirection::EQ, b); }
inline Expr operator!=(Expr a, Expr b) { return a.compare(stablehlo::ComparisonDirection::NE, b); }
inline Expr operator<(Expr a, double b) { return a < a.constant(b); }
inline Expr operator<=(Expr a, double b) { return a <= a.constant(b); }
inline Expr operator>(Expr a, double b) { return a > a.constant(b); }
inline Expr operator>=(Expr a, double b) { return a >= a.constant(b); }
inline Expr operator==(Expr a, double b) { return a == a.constant(b); }
inline Expr operator!=(Expr a, double b) { return a != a.constant(b); }

inline Expr select(Expr pred, Expr a, Expr b) {
  return a.with(stablehlo::SelectOp::create(a.getBuilder(), a.getLoc(), pred.get(), a.get(), b.get()));
}
inline Expr abs(Expr x) { return x.unary<stablehlo::AbsOp>(); }
inline Expr sign(Expr x) { return x.unary<stablehlo::SignOp>(); }
inline Expr sqrt(Expr x) { return x.unary<stablehlo::SqrtOp>(); }
inline Expr log(Expr x) { return x.unary<stablehlo::LogOp>(); }
inline Expr log1p(Expr x) { return x.unary<stablehlo::Log1pOp>(); }
inline Expr exp(Expr x) { return x.unary<stablehlo::ExpOp>(); }
inline Expr expm1(Expr x) { return x.unary<stablehlo::Expm1Op>(); }
inline Expr sin(Expr x) { return x.unary<stablehlo::SineOp>(); }
inline Expr cos(Expr x) { return x.unary<stablehlo::CosineOp>(); }
inline Expr tan(Expr x) { return x.unary<stablehlo::TanOp>(); }
inline Expr floor(Expr x) { return x.unary<stablehlo::FloorOp>(); }
inline Expr atan2(Expr y, Expr x) { return y.binary<stablehlo::Atan2Op>(x); }
inline Expr pow(Expr x, Expr y) { return x.binary<stablehlo::PowOp>(y); }
inline Expr max(Expr a, Expr b) { return a.binary<stablehlo::MaxOp>(b); }
inline Expr min(Expr a, Expr b) { return a.binary<stablehlo::MinOp>(b); }

/// Returns a * b + c, marked so that code generation may round it once (kMayFuseAttr): the formulas hold with and without that.
Expr multiplyAdd(Expr a, Expr b, Expr c);
/// Returns the polynomial by Horner's rule of multiplyAdd, highest power first.
Expr polynomial(Expr x, llvm::ArrayRef<double> coefficients);
/// Returns `result` as `type`, cast if only dynamic dimensions differ.
mlir::Value castTo(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value result, mlir::Type type);

} // namespace millrace::chlo
