// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InterpreterOps.cpp - Operations that only the evaluator supports ---===//
#include "dialects/interpreter/InterpreterOps.h"
#include "dialects/stablehlo/verify/TypeRules.h"

#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include "dialects/interpreter/InterpreterDialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/interpreter/InterpreterOps.cpp.inc"

void millrace::interpreter::InterpreterDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/interpreter/InterpreterOps.cpp.inc"
      >();
}

// This is checked here instead of in verify(), because it needs the type of a function of an untrusted file, which has been verified only when
// symbols are.
mlir::LogicalResult millrace::interpreter::RunParallelOp::verifySymbolUses(mlir::SymbolTableCollection &tables) {
  if (getPrograms().empty() || llvm::cast<mlir::ArrayAttr>(getPrograms()[0]).empty())
    return mlir::emitOptionalError(std::optional<mlir::Location>(getLoc()), "`programs` attribute cannot be empty");
  size_t partitions = llvm::cast<mlir::ArrayAttr>(getPrograms()[0]).size();
  size_t arguments = 0, results = 0;
  for (mlir::Attribute row : getPrograms()) {
    auto symbols = llvm::cast<mlir::ArrayAttr>(row);
    if (symbols.size() != partitions)
      return mlir::emitOptionalError(std::optional<mlir::Location>(getLoc()), "Sizes of second dimension of `programs` should all match ", partitions,
                               " but got ", symbols.size());
    for (mlir::Attribute symbol : symbols) {
      auto function = llvm::dyn_cast_or_null<mlir::FunctionOpInterface>(
          tables.lookupNearestSymbolFrom(*this, llvm::cast<mlir::FlatSymbolRefAttr>(symbol)));
      if (!function) return mlir::emitOptionalError(std::optional<mlir::Location>(getLoc()), "Function ", symbol, " not found");
      arguments += function.getNumArguments();
      results += function.getNumResults();
    }
  }
  if (getInputs().size() != arguments)
    return mlir::emitOptionalError(std::optional<mlir::Location>(getLoc()), "Number of inputs (", getInputs().size(),
                             ") should match the sum of the number of inputs of all programs (", arguments, ")");
  if (getResults().size() != results)
    return mlir::emitOptionalError(std::optional<mlir::Location>(getLoc()), "Number of results (", getResults().size(),
                             ") should match the sum of the number of results of all programs (", results, ")");
  if (mlir::ArrayAttr infeed = getInfeedAttr()) {
    if (infeed.empty()) return mlir::emitOptionalError(std::optional<mlir::Location>(getLoc()), "infeed attribute is optional or not empty");
    for (mlir::Attribute symbol : infeed) {
      auto function = llvm::dyn_cast_or_null<mlir::FunctionOpInterface>(
          tables.lookupNearestSymbolFrom(*this, llvm::cast<mlir::FlatSymbolRefAttr>(symbol)));
      if (!function) return mlir::emitOptionalError(std::optional<mlir::Location>(getLoc()), "Function ", symbol, " not found");
      if (function.getNumArguments() != 0)
        return mlir::emitOptionalError(std::optional<mlir::Location>(getLoc()), "Function ", symbol, " should take no arguments");
    }
  }
  return mlir::success();
}
