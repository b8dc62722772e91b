// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PassTokensAsTensors.cpp - Tokens in the signature of a program -----===//
// Input:   func.func public @main(%t: !stablehlo.token) -> !stablehlo.token { ... return %u : !stablehlo.token }
// Output:  func.func public @main(%t: tensor<0xi1>) -> tensor<0xi1> { %n = create_token ... return %empty : tensor<0xi1> }
// Leaves alone tokens inside of the program, and private functions.
//===----------------------------------------------------------------------===//
#include "passes/xla/Passes.h"

using namespace mlir;

namespace millrace::xla_semantics {
#define GEN_PASS_DEF_PASSTOKENSASTENSORSPASS
#include "passes/xla/Passes.h.inc"

namespace {

struct PassTokensAsTensors : impl::PassTokensAsTensorsPassBase<PassTokensAsTensors> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    auto isToken = [](Type type) { return isa<stablehlo::TokenType>(type); };
    if (llvm::none_of(main.getArgumentTypes(), isToken) && llvm::none_of(main.getResultTypes(), isToken))
      return;
    Block &body = main.getBody().front();
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    auto array = RankedTensorType::get({0}, builder.getI1Type());
    for (BlockArgument argument : body.getArguments()) {
      if (!isToken(argument.getType()))
        continue;
      argument.setType(array);
      if (argument.use_empty())
        continue;
      Value token = stablehlo::CreateTokenOp::create(builder, argument.getLoc());
      argument.replaceAllUsesWith(token);
    }
    Operation *terminator = body.getTerminator();
    builder.setInsertionPoint(terminator);
    for (OpOperand &operand : terminator->getOpOperands())
      if (isToken(operand.get().getType()))
        operand.set(stablehlo::ConstantOp::create(builder, terminator->getLoc(),
                                                  DenseElementsAttr::get(array, ArrayRef<bool>())));
    main.setFunctionType(builder.getFunctionType(body.getArgumentTypes(), terminator->getOperandTypes()));
  }
};

} // namespace
} // namespace millrace::xla_semantics
