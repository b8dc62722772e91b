// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dialect.h - StableHLO dialect, enums, attributes and types ---------===//
#pragma once
#include "dialects/stablehlo/Compat.h"
#include "llvm/ADT/APFloat.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"

#include "dialects/stablehlo/Dialect.h.inc"
#include "dialects/stablehlo/Enums.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/stablehlo/Types.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/stablehlo/Attrs.h.inc"
