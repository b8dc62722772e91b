// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpSyntax.h - Parsers and printers of custom<...> directives --------===//
#pragma once
#include "dialects/stablehlo/syntax/AttrSyntax.h"
#include "mlir/IR/OpImplementation.h"

namespace millrace::stablehlo {

/// Prints one type if all are equal, else `(operands) -> result`. The last of `types` is the result.
void printSameTypes(mlir::OpAsmPrinter &printer, mlir::ArrayRef<mlir::Type> types);
mlir::ParseResult parseSameTypes(mlir::OpAsmParser &parser, mlir::ArrayRef<mlir::Type *> types);

template <typename... Types>
void printSameOperandsAndResultType(mlir::OpAsmPrinter &printer, mlir::Operation *, Types... types) {
  printSameTypes(printer, {mlir::Type(types)...});
}
template <typename... Types>
mlir::ParseResult parseSameOperandsAndResultType(mlir::OpAsmParser &parser, Types &...types) {
  return parseSameTypes(parser, {&types...});
}

/// Prints only the result type if the parts have its real type.
void printComplexOpType(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::Type lhs, mlir::Type rhs,
                        mlir::Type result);
mlir::ParseResult parseComplexOpType(mlir::OpAsmParser &parser, mlir::Type &lhs, mlir::Type &rhs, mlir::Type &result);

/// Prints `pred, result` if both branches have the result type.
void printSelectOpType(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::Type pred, mlir::Type onTrue,
                       mlir::Type onFalse, mlir::Type result);
mlir::ParseResult parseSelectOpType(mlir::OpAsmParser &parser, mlir::Type &pred, mlir::Type &onTrue,
                                    mlir::Type &onFalse, mlir::Type &result);

/// `e5m10`.
void printExponentMantissa(mlir::AsmPrinter &printer, mlir::Operation *, mlir::IntegerAttr exponent,
                           mlir::IntegerAttr mantissa);
mlir::ParseResult parseExponentMantissa(mlir::AsmParser &parser, mlir::IntegerAttr &exponent,
                                        mlir::IntegerAttr &mantissa);

/// Prints operands, each followed by a comma, because an attribute follows.
void printVariadicOperandWithAttribute(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::OperandRange operands);
mlir::ParseResult
parseVariadicOperandWithAttribute(mlir::OpAsmParser &parser,
                                  mlir::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &operands);

/// Prints `[1:3, 4:8:2]`; a stride of 1 is omitted.
void printSliceRanges(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::ArrayRef<int64_t> start,
                      mlir::ArrayRef<int64_t> limit, mlir::ArrayRef<int64_t> strides);
mlir::ParseResult parseSliceRanges(mlir::OpAsmParser &parser, mlir::DenseI64ArrayAttr &start,
                                   mlir::DenseI64ArrayAttr &limit, mlir::DenseI64ArrayAttr &strides);

/// Prints `batching_dims = [0] x [0], contracting_dims = [2] x [1]`; the first part is omitted if there are no batching dimensions.
void printDotDimensionNumbers(mlir::AsmPrinter &printer, mlir::Operation *, DotDimensionNumbersAttr dims);
mlir::ParseResult parseDotDimensionNumbers(mlir::AsmParser &parser, DotDimensionNumbersAttr &dims);

/// `, precision = [DEFAULT, HIGH]` or nothing.
void printPrecisionConfig(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::ArrayAttr precisions);
mlir::ParseResult parsePrecisionConfig(mlir::OpAsmParser &parser, mlir::ArrayAttr &precisions);

/// `, precision = [..], algorithm = <...>`, each part optional.
void printPrecisionConfigAndAlgorithm(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::ArrayAttr precisions,
                                      DotAlgorithmAttr algorithm);
mlir::ParseResult parsePrecisionConfigAndAlgorithm(mlir::OpAsmParser &parser, mlir::ArrayAttr &precisions,
                                                   DotAlgorithmAttr &algorithm);

/// `stride = [2, 1], pad = [[0, 1], [2, 3]], lhs_dilate = [..], rhs_dilate = [..], reverse = [true, false]`.
void printWindowAttributes(mlir::OpAsmPrinter &printer, mlir::Operation *, mlir::DenseI64ArrayAttr strides,
                           mlir::DenseIntElementsAttr padding, mlir::DenseI64ArrayAttr lhsDilation,
                           mlir::DenseI64ArrayAttr rhsDilation, mlir::DenseBoolArrayAttr reversal);
mlir::ParseResult parseWindowAttributes(mlir::OpAsmParser &parser, mlir::DenseI64ArrayAttr &strides,
                                        mlir::DenseIntElementsAttr &padding, mlir::DenseI64ArrayAttr &lhsDilation,
                                        mlir::DenseI64ArrayAttr &rhsDilation, mlir::DenseBoolArrayAttr &reversal);

} // namespace millrace::stablehlo
