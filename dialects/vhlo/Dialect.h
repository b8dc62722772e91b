// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dialect.h - The portable format: dialect, attributes, types --------===//
#pragma once
#include "dialects/vhlo/OpTable.h"
#include "dialects/vhlo/Scalars.h"
#include "llvm/ADT/APFloat.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

#include "dialects/vhlo/Dialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/vhlo/Types.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/vhlo/Attrs.h.inc"

namespace millrace::vhlo {

inline bool isVhlo(mlir::Type type) { return type && llvm::isa<VhloDialect>(type.getDialect()); }
inline bool isVhlo(mlir::Attribute attr) { return attr && llvm::isa<VhloDialect>(attr.getDialect()); }

/// Returns the table's entry for an operation of this dialect, else null.
const OpDef *opDef(mlir::Operation *op);

/// Returns the first version that has the type or attribute itself (its parts may be newer).
Version minVersion(mlir::Type type);
Version minVersion(mlir::Attribute attr);

} // namespace millrace::vhlo
