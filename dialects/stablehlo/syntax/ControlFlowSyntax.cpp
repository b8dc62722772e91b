// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ControlFlowSyntax.cpp - Textual form of while ----------------------===//
// stablehlo.while(%iterArg = %x, ..) : type, .. attributes {..}
//   cond { .. } do { .. }
#include "dialects/stablehlo/ControlFlowOps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
namespace millrace::stablehlo {

void WhileOp::print(OpAsmPrinter &p) {
  p << "(";
  llvm::interleaveComma(llvm::zip(getBody().front().getArguments(), getOperands()), p, [&](auto pair) {
    p.printOperand(std::get<0>(pair));
    p << " = ";
    p.printOperand(std::get<1>(pair));
  });
  p << ")";
  if (getNumOperands() != 0) {
    p << " : ";
    llvm::interleaveComma(getOperandTypes(), p);
  }
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  p.printNewline();
  p << " cond ";
  p.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  p << " do ";
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> types;
  auto parseBinding = [&]() -> ParseResult {
    if (parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
        parser.parseOperand(operands.emplace_back()))
      return failure();
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseBinding))
    return failure();
  if (!operands.empty() && parser.parseColonTypeList(types))
    return failure();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.resolveOperands(operands, types, loc, result.operands))
    return failure();
  result.addTypes(types);
  for (auto [argument, type] : llvm::zip_equal(arguments, types))
    argument.type = type;
  if (parser.parseKeyword("cond") || parser.parseRegion(*result.addRegion(), arguments) ||
      parser.parseKeyword("do") || parser.parseRegion(*result.addRegion(), arguments))
    return failure();
  return success();
}

} // namespace millrace::stablehlo
