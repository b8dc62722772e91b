// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Shapes.h - Types as HLO shapes -------------------------------------===//
#pragma once

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeRange.h"

#include <string>

namespace millrace::hlo {

/// HLO's name of an element type, for example `f32` or `pred`; empty if HLO has none (index, quantized types).
std::string elementText(mlir::Type element);

/// `f32[2,3]{1,0}`, `token[]`, `(f32[], s32[4]{0})` for tuples, `b(f32[4]{0})` for buffers; `layout` lists dimensions
/// from minor to major and is row-major where null. Empty if HLO has no such shape.
std::string shapeText(mlir::Type type, mlir::Attribute layout = {});

/// The shape of one value, or the tuple of the shapes of several (or none).
std::string shapeText(mlir::TypeRange types);

/// Row-major array of static sizes.
std::string shapeText(mlir::ArrayRef<int64_t> sizes, mlir::Type element);

/// `(` shapes `)`, whatever their number.
std::string tupleText(mlir::ArrayRef<std::string> shapes);

} // namespace millrace::hlo
