// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RegionSyntax.cpp - Custom directives of control flow, collectives, tuples -===//
#include "dialects/stablehlo/syntax/RegionSyntax.h"

using namespace mlir;
namespace millrace::stablehlo {

ParseResult parsePairwiseOpType(OpAsmParser &parser, SmallVectorImpl<Type> &operands, SmallVectorImpl<Type> &results) {
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalLParen())) {
    if (parser.parseTypeList(operands))
      return failure();
    results.assign(operands.begin(), operands.end());
    return success();
  }
  // A function type starts with the parenthesis that has just been read.
  if (failed(parser.parseOptionalRParen()) && (parser.parseTypeList(operands) || parser.parseRParen()))
    return failure();
  if (failed(parser.parseArrowTypeList(results)))
    return parser.emitError(loc, "expected tensor type or function type");
  return success();
}

void printPairwiseOpType(OpAsmPrinter &p, Operation *, TypeRange operands, TypeRange results) {
  if (operands == results)
    llvm::interleaveComma(operands, p);
  else
    p.printFunctionalType(operands, results);
}

ParseResult parseTupleOpType(OpAsmParser &parser, SmallVectorImpl<Type> &operands, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto tuple = dyn_cast<TupleType>(type)) {
    operands.assign(tuple.begin(), tuple.end());
    result = type;
    return success();
  }
  if (auto function = dyn_cast<FunctionType>(type); function && function.getNumResults() == 1) {
    operands.assign(function.getInputs().begin(), function.getInputs().end());
    result = function.getResult(0);
    return success();
  }
  return parser.emitError(loc, "expected tensor type or tuple type");
}

void printTupleOpType(OpAsmPrinter &p, Operation *, TypeRange operands, Type result) {
  auto tuple = dyn_cast<TupleType>(result);
  if (tuple && TypeRange(tuple.getTypes()) == operands)
    p << result;
  else
    p.printFunctionalType(operands, TypeRange(result));
}

ParseResult parseVariadicSameOperandsAndResultType(OpAsmParser &parser,
                                                   ArrayRef<OpAsmParser::UnresolvedOperand> operands,
                                                   SmallVectorImpl<Type> &operandTypes, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  auto function = dyn_cast<FunctionType>(type);
  if (!function) {
    operandTypes.assign(operands.size(), type);
    result = type;
    return success();
  }
  if (function.getNumInputs() != operands.size() || function.getNumResults() != 1)
    return parser.emitError(loc) << operands.size() << " operands present, but expected " << function.getNumInputs();
  operandTypes.assign(function.getInputs().begin(), function.getInputs().end());
  result = function.getResult(0);
  return success();
}

void printVariadicSameOperandsAndResultType(OpAsmPrinter &p, Operation *, OperandRange, TypeRange operandTypes,
                                            Type result) {
  if (llvm::all_of(operandTypes, [&](Type type) { return type == result; }))
    p << result;
  else
    p.printFunctionalType(operandTypes, TypeRange(result));
}

ParseResult parseCustomCallTarget(AsmParser &parser, StringAttr &target) { return parser.parseSymbolName(target); }

void printCustomCallTarget(AsmPrinter &p, Operation *, StringAttr target) { p.printSymbolName(target.getValue()); }

} // namespace millrace::stablehlo
