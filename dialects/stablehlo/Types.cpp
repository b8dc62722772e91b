// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Types.cpp - StableHLO types ----------------------------------------===//
#include "dialects/stablehlo/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
#define GET_TYPEDEF_CLASSES
#include "dialects/stablehlo/Types.cpp.inc"

namespace millrace::stablehlo {

void StablehloDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/stablehlo/Types.cpp.inc"
      >();
}

Type StablehloDialect::parseType(DialectAsmParser &parser) const {
  SMLoc loc = parser.getCurrentLocation();
  StringRef mnemonic;
  Type type;
  OptionalParseResult result = generatedTypeParser(parser, &mnemonic, type);
  if (result.has_value())
    return succeeded(*result) ? type : Type();
  parser.emitError(loc) << "unknown stablehlo type: " << mnemonic;
  return {};
}

void StablehloDialect::printType(Type type, DialectAsmPrinter &printer) const {
  if (failed(generatedTypePrinter(type, printer)))
    llvm_unreachable("a type of another dialect");
}

} // namespace millrace::stablehlo
