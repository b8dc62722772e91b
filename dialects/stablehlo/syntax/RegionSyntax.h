// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RegionSyntax.h - Custom directives of control flow, collectives, tuples -===//
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

namespace millrace::stablehlo {

/// Parses `tensor<f32>, tensor<i32>`: one type per operand; results have the same types.
mlir::ParseResult parsePairwiseOpType(mlir::OpAsmParser &parser, mlir::SmallVectorImpl<mlir::Type> &operands,
                                      mlir::SmallVectorImpl<mlir::Type> &results);
void printPairwiseOpType(mlir::OpAsmPrinter &p, mlir::Operation *op, mlir::TypeRange operands, mlir::TypeRange results);

/// Parses `tuple<..>`, which has the types of the elements; otherwise a function type.
mlir::ParseResult parseTupleOpType(mlir::OpAsmParser &parser, mlir::SmallVectorImpl<mlir::Type> &operands,
                                   mlir::Type &result);
void printTupleOpType(mlir::OpAsmPrinter &p, mlir::Operation *op, mlir::TypeRange operands, mlir::Type result);

/// Parses one type for all operands and the result; otherwise a function type.
mlir::ParseResult
parseVariadicSameOperandsAndResultType(mlir::OpAsmParser &parser,
                                       llvm::ArrayRef<mlir::OpAsmParser::UnresolvedOperand> operands,
                                       mlir::SmallVectorImpl<mlir::Type> &operandTypes, mlir::Type &result);
void printVariadicSameOperandsAndResultType(mlir::OpAsmPrinter &p, mlir::Operation *op, mlir::OperandRange operands,
                                            mlir::TypeRange operandTypes, mlir::Type result);

/// Parses `@target`, which is stored as a string.
mlir::ParseResult parseCustomCallTarget(mlir::AsmParser &parser, mlir::StringAttr &target);
void printCustomCallTarget(mlir::AsmPrinter &p, mlir::Operation *op, mlir::StringAttr target);

} // namespace millrace::stablehlo
