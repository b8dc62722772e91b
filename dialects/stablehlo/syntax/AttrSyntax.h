// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AttrSyntax.h - Text of StableHLO attributes ------------------------===//
#pragma once
#include "dialects/stablehlo/Dialect.h"

namespace millrace::stablehlo {

/// Prints `[1, ?, 3]`, with `?` for ShapedType::kDynamic.
void printDimSizes(mlir::AsmPrinter &printer, llvm::ArrayRef<int64_t> sizes);
mlir::FailureOr<mlir::SmallVector<int64_t>> parseDimSizes(mlir::AsmParser &parser);
mlir::ParseResult parseDimSizes(mlir::AsmParser &parser, mlir::SmallVector<int64_t> &sizes);
std::string dimSizeToString(int64_t size);
std::string dimSizesToString(llvm::ArrayRef<int64_t> sizes);

mlir::FailureOr<llvm::APFloat> parseDouble(mlir::AsmParser &parser);
mlir::FailureOr<ResultAccuracyModeAttr> parseResultAccuracyMode(mlir::AsmParser &parser);

/// A field of a struct in angle brackets: a list or a number, one of which is set.
struct AttrField {
  llvm::StringRef name;
  llvm::SmallVector<int64_t> *dims = nullptr;
  int64_t *number = nullptr;
};

/// Parses `name = [..], name = 3` in any order up to and including `>`. Fields that are left out keep their values.
mlir::ParseResult parseFields(mlir::AsmParser &parser, llvm::ArrayRef<AttrField> fields);

/// Prints `<name = value, ...>` without empty lists and zeros.
class FieldPrinter {
public:
  explicit FieldPrinter(mlir::AsmPrinter &printer) : printer(printer) { printer << "<"; }
  ~FieldPrinter() { printer << ">"; }
  void operator()(llvm::StringRef name, llvm::ArrayRef<int64_t> dims) {
    if (!dims.empty())
      entry(name) << dimSizesToString(dims);
  }
  void operator()(llvm::StringRef name, int64_t number) {
    if (number != 0)
      entry(name) << number;
  }

private:
  mlir::AsmPrinter &entry(llvm::StringRef name) {
    printer << separator << name << " = ";
    separator = ", ";
    return printer;
  }
  mlir::AsmPrinter &printer;
  llvm::StringRef separator = "";
};

/// Prints `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
void printConvolutionDimensions(mlir::AsmPrinter &printer, ConvDimensionNumbersAttr dims);
void printConvolutionDimensions(mlir::AsmPrinter &printer, mlir::Operation *, ConvDimensionNumbersAttr dims);
mlir::ParseResult parseConvolutionDimensions(mlir::AsmParser &parser, ConvDimensionNumbersAttr &dims);

} // namespace millrace::stablehlo
