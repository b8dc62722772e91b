// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dialect.h - The compiler's own dialect ------------------------------===//
#pragma once

#include "mlir/IR/Dialect.h"

namespace millrace {

/// The dialect has one operation (AliasOps.td) and no types. It checks the attributes of Attributes.h in every module that is verified.
class MillraceDialect : public mlir::Dialect {
public:
  explicit MillraceDialect(mlir::MLIRContext *context);
  static constexpr llvm::StringLiteral getDialectNamespace() { return "millrace"; }

  mlir::LogicalResult verifyOperationAttribute(mlir::Operation *op, mlir::NamedAttribute attribute) override;
  mlir::LogicalResult verifyRegionArgAttribute(mlir::Operation *op, unsigned region, unsigned argument, mlir::NamedAttribute attribute) override;
  mlir::LogicalResult verifyRegionResultAttribute(mlir::Operation *op, unsigned region, unsigned result, mlir::NamedAttribute attribute) override;
};

} // namespace millrace

MLIR_DECLARE_EXPLICIT_TYPE_ID(millrace::MillraceDialect)
