// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AttrSyntax.h - Text of StableHLO attributes ------------------------===//
#pragma once
#include "dialects/stablehlo/Dialect.h"

namespace millrace::stablehlo {

/// `[1, ?, 3]`, with `?` for ShapedType::kDynamic.
void printDimSizes(mlir::AsmPrinter &printer, llvm::ArrayRef<int64_t> sizes);
mlir::FailureOr<mlir::SmallVector<int64_t>> parseDimSizes(mlir::AsmParser &parser);
mlir::ParseResult parseDimSizes(mlir::AsmParser &parser, mlir::SmallVector<int64_t> &sizes);
std::string dimSizeToString(int64_t size);
std::string dimSizesToString(llvm::ArrayRef<int64_t> sizes);

mlir::FailureOr<llvm::APFloat> parseDouble(mlir::AsmParser &parser);
mlir::FailureOr<ResultAccuracyModeAttr> parseResultAccuracyMode(mlir::AsmParser &parser);

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
void printConvolutionDimensions(mlir::AsmPrinter &printer, ConvDimensionNumbersAttr dims);
void printConvolutionDimensions(mlir::AsmPrinter &printer, mlir::Operation *, ConvDimensionNumbersAttr dims);
mlir::ParseResult parseConvolutionDimensions(mlir::AsmParser &parser, ConvDimensionNumbersAttr &dims);

} // namespace millrace::stablehlo
