// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmbeddedProgram.cpp - StableHLO text as an operation of a graph ------===//
// Input:  @main(%a: f32[2], %b: f32[2]) { %0 = call @f(%a); %1 = add %0, %b; return %1 }, @f(%x) { %0 = sine %x; return %0 }
// Output: %0 = sine %operand0; %1 = add %0, %operand1        at the emitter's insertion point
#include "tracing/graph/EmbeddedProgram.h"

#include "dialects/bytecode/Validate.h"
#include "lowering/Compile.h"
#include "tracing/emit/Emit.h"
#include "tracing/graph/ControlFlow.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"

#include <map>
#include <mutex>

namespace millrace::tracing {
namespace {

struct Signature {
  std::vector<Shape> arguments, results;
};

bool takeShapes(llvm::ArrayRef<mlir::Type> types, std::vector<Shape> &shapes) {
  for (mlir::Type type : types) {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return false;
    std::string name;
    llvm::raw_string_ostream(name) << tensor.getElementType();
    shapes.push_back({runtime::dtypeFromName(name), tensor.getShape().vec()});
  }
  return true;
}

mlir::func::FuncOp mainOf(mlir::ModuleOp module) {
  auto function = module.lookupSymbol<mlir::func::FuncOp>("main");
  return function && function.getBody().hasOneBlock() ? function : mlir::func::FuncOp();
}

/// Inlines the operations of a function's block at the builder's insertion point; calls of other functions are inlined, too.
runtime::StatusOr<llvm::SmallVector<mlir::Value>> inlineBody(mlir::OpBuilder &builder, mlir::ModuleOp module,
                                                             mlir::func::FuncOp function, mlir::ValueRange given, int depth) {
  if (!function.getBody().hasOneBlock() || depth > 100)
    return runtime::invalidArgument("the embedded program's function " + function.getName().str() + " cannot be inlined");
  mlir::IRMapping mapping;
  mlir::Block &block = function.getBody().front();
  mapping.map(block.getArguments(), given);
  auto callsInside = [&](mlir::Operation *copy) -> runtime::Status {
    std::vector<mlir::func::CallOp> calls;
    copy->walk([&](mlir::func::CallOp call) { calls.push_back(call); });
    for (mlir::func::CallOp call : calls) {
      auto callee = module.lookupSymbol<mlir::func::FuncOp>(call.getCallee());
      if (!callee)
        return runtime::invalidArgument("the embedded program has no function " + call.getCallee().str());
      mlir::OpBuilder there(call);
      runtime::StatusOr<llvm::SmallVector<mlir::Value>> made = inlineBody(there, module, callee, call.getOperands(), depth + 1);
      if (!made)
        return made.status();
      call.replaceAllUsesWith(*made);
      call.erase();
    }
    return {};
  };
  for (mlir::Operation &op : block.without_terminator()) {
    if (auto call = llvm::dyn_cast<mlir::func::CallOp>(op)) {
      auto callee = module.lookupSymbol<mlir::func::FuncOp>(call.getCallee());
      if (!callee)
        return runtime::invalidArgument("the embedded program has no function " + call.getCallee().str());
      llvm::SmallVector<mlir::Value> operands;
      for (mlir::Value operand : call.getOperands())
        operands.push_back(mapping.lookup(operand));
      runtime::StatusOr<llvm::SmallVector<mlir::Value>> made = inlineBody(builder, module, callee, operands, depth + 1);
      if (!made)
        return made.status();
      mapping.map(call.getResults(), *made);
      continue;
    }
    if (runtime::Status status = callsInside(builder.clone(op, mapping)); !status.ok())
      return status;
  }
  llvm::SmallVector<mlir::Value> results;
  for (mlir::Value result : block.getTerminator()->getOperands())
    results.push_back(mapping.lookup(result));
  return results;
}

std::vector<Val> emit(const Call &call, const std::string &text) {
  Emitter &e = call.e;
  // This operation marks the insertion point, because the emitter reveals neither that nor its context.
  Val here = e.op("stablehlo.constant", {}, {{"value", "dense<false> : tensor<i1>"}}, Shape{DType::I1, {}});
  if (!here)
    return {};
  mlir::Operation *place = mlir::Value::getFromOpaquePointer(here.impl).getDefiningOp();
  mlir::OwningOpRef<mlir::ModuleOp> module = bytecode::parseModule(text, mlir::ParserConfig(place->getContext()), "embedded");
  mlir::func::FuncOp main = module ? mainOf(*module) : mlir::func::FuncOp();
  if (!main)
    return {e.fail("the embedded program cannot be parsed")};
  llvm::SmallVector<mlir::Value> operands;
  for (const Val &val : call.operands)
    operands.push_back(mlir::Value::getFromOpaquePointer(val.impl));
  mlir::OpBuilder builder(place);
  mlir::Operation *first = place->getPrevNode();
  runtime::StatusOr<llvm::SmallVector<mlir::Value>> made = inlineBody(builder, *module, main, operands, 0);
  // The inlined operations get the user's line instead of the text's locations.
  for (mlir::Operation *op = first ? first->getNextNode() : &place->getBlock()->front(); op != place; op = op->getNextNode())
    op->walk([&](mlir::Operation *each) { each->setLoc(place->getLoc()); });
  place->erase();
  if (!made)
    return {e.fail(std::string(made.status().message()))};
  std::vector<Val> results;
  for (size_t i = 0; i < made->size(); ++i)
    results.push_back({(*made)[i].getAsOpaquePointer(), call.results[i], false});
  return results;
}

runtime::StatusOr<Signature> signatureOf(const std::string &text) {
  static std::mutex mutex;
  static auto *known = new std::map<std::string, Signature>;
  std::lock_guard lock(mutex);
  auto found = known->find(text);
  if (found != known->end())
    return found->second;
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  std::string errors;
  mlir::ScopedDiagnosticHandler collect(&context, [&](mlir::Diagnostic &diagnostic) {
    errors += (errors.empty() ? "" : "\n") + diagnostic.str();
    return mlir::success();
  });
  mlir::OwningOpRef<mlir::ModuleOp> module = bytecode::parseModule(text, mlir::ParserConfig(&context), "embedded");
  if (!module)
    return runtime::invalidArgument("the program cannot be parsed: " + errors);
  mlir::func::FuncOp main = mainOf(*module);
  if (!main)
    return runtime::invalidArgument("expects a program whose function is main, with one block");
  Signature made;
  if (!takeShapes(main.getArgumentTypes(), made.arguments) || !takeShapes(main.getResultTypes(), made.results))
    return runtime::invalidArgument("expects a program of tensors of known sizes");
  return known->emplace(text, std::move(made)).first->second;
}

} // namespace

runtime::StatusOr<std::vector<Value>> embedProgram(const std::string &name, const std::string &text,
                                                   const std::vector<Value> &operands, bool meetsOthers) {
  runtime::StatusOr<Signature> signature = signatureOf(text);
  if (!signature)
    return signature.status();
  const std::vector<Shape> &expected = signature->arguments;
  if (operands.size() != expected.size())
    return runtime::invalidArgument(name + " expects " + std::to_string(expected.size()) + " tensors, but got " +
                                    std::to_string(operands.size()));
  std::vector<Arg> args;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].shape() != expected[i])
      return runtime::invalidArgument(name + " expects " + expected[i].toString() + " as tensor " + std::to_string(i) +
                                      ", but got " + operands[i].shape().toString());
    args.push_back(Operand{int32_t(i)});
  }
  const Op *op = internedOp("program\n" + name + (meetsOthers ? "\nmeets others\n" : "\n") + text, [&] {
    return Op{name, [text](const Call &call) { return emit(call, text); }, false, {}, meetsOthers};
  });
  std::vector<Value> results;
  if (signature->results.empty())
    return results;
  Value made = record(op, operands, std::move(args), signature->results);
  for (size_t i = 0; i < signature->results.size(); ++i)
    results.push_back({made.node, uint32_t(i)});
  return results;
}

} // namespace millrace::tracing
