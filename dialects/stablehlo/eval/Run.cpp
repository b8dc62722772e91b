// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Run.cpp - Evaluate a module's entry function ------------------------===//
#include "dialects/stablehlo/eval/Evaluator.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace millrace::eval {

void emitDiagnostic(Location fallback, llvm::Error error) {
  llvm::handleAllErrors(
      std::move(error), [](const EvalError &e) { emitError(e.getLocation(), e.getMessage()); },
      [&](const llvm::ErrorInfoBase &e) { emitError(fallback, e.message()); });
}

func::FuncOp entryFunction(ModuleOp module) {
  if (auto main = module.lookupSymbol<func::FuncOp>("main")) return main;
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  if (functions.size() == 1) return functions.front();
  emitError(module.getLoc(), functions.empty() ? "module has no function to run"
                                               : "module must have a function @main, or exactly one function");
  return nullptr;
}

FailureOr<SmallVector<Value>> parseArguments(ModuleOp module, StringRef text) {
  SmallVector<Value> values;
  constexpr StringLiteral usage = "i.e. --args=[dense<1> : tensor<2xi32>, ...] or --args=@file";
  std::unique_ptr<llvm::MemoryBuffer> file;
  text = text.trim();
  if (text.consume_front("@")) {
    auto read = llvm::MemoryBuffer::getFile(text, /*IsText=*/true);
    if (!read) {
      emitError(module.getLoc(), "failed to read args file ") << text << ": " << read.getError().message();
      return failure();
    }
    file = std::move(*read);
    text = file->getBuffer().trim();
  }
  if (text.empty()) return values;
  Attribute attr = parseAttribute(text, module.getContext());
  if (!attr) {
    emitError(module.getLoc(), "expected array attribute string for args, ") << usage;
    return failure();
  }
  auto list = dyn_cast<ArrayAttr>(attr);
  SmallVector<Attribute> attributes = list ? SmallVector<Attribute>(list.getValue()) : SmallVector<Attribute>{attr};
  for (Attribute element : attributes) {
    auto elements = dyn_cast<ElementsAttr>(element);
    if (!elements) {
      emitError(module.getLoc(), "expected dense elements attribute for args elements, ") << usage << ", but got " << element;
      return failure();
    }
    llvm::Expected<Tensor> tensor = Tensor::fromAttr(elements);
    if (!tensor) {
      emitDiagnostic(module.getLoc(), tensor.takeError());
      return failure();
    }
    values.push_back(*tensor);
  }
  return values;
}

FailureOr<SmallVector<Value>> runWithInterpreter(ModuleOp module, ArrayRef<Value> arguments, const RunOptions &options) {
  func::FuncOp function = entryFunction(module);
  if (!function) return failure();
  llvm::Expected<SmallVector<Value>> results = evaluate(function, arguments, options.evaluation);
  if (!results) {
    emitDiagnostic(function.getLoc(), results.takeError());
    return failure();
  }
  return *results;
}

LogicalResult runWithInterpreter(ModuleOp module, const RunOptions &options, llvm::raw_ostream &os) {
  if (module.getOps<func::FuncOp>().empty()) return success();
  FailureOr<SmallVector<Value>> arguments = parseArguments(module, options.arguments);
  if (failed(arguments)) return failure();
  FailureOr<SmallVector<Value>> results = runWithInterpreter(module, *arguments, options);
  if (failed(results)) return failure();
  if (!options.printResults) return success();
  for (const Value &result : *results) {
    if (options.printDense && result.isTensor()) os << result.tensor().toAttr();
    else result.print(os);
    os << '\n';
  }
  return success();
}

} // namespace millrace::eval
