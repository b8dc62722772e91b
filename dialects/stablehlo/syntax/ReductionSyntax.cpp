// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ReductionSyntax.cpp - Short and long textual form of reduce --------===//
// Short: stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (..) -> ..
// Long:  stablehlo.reduce(%x init: %z), (%y init: %w) across dimensions = [1] : (..) -> (..)
//          reducer(%a: T, %b: T) (%c: U, %d: U) { .. }
#include "dialects/stablehlo/ReductionOps.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
namespace millrace::stablehlo {

static bool isCommutativeScalarOp(StringRef name) {
  return llvm::is_contained({"stablehlo.add", "stablehlo.multiply", "stablehlo.maximum", "stablehlo.minimum",
                             "stablehlo.and", "stablehlo.or", "stablehlo.xor"},
                            name);
}

/// Returns the operation that the short form names, or null if the short form cannot express the body.
static Operation *shortFormOp(ReduceOp op) {
  Region &body = op.getBody();
  // The body has one input and one block, of the operation and its return.
  if (op.getInputs().size() != 1 || !body.hasOneBlock() || !llvm::hasNItems(body.front(), 2))
    return nullptr;
  Block &block = body.front();
  Operation &inner = block.front();
  if (!isCommutativeScalarOp(inner.getName().getStringRef()) || inner.getNumOperands() != 2 ||
      inner.getNumResults() != 1 || !inner.getAttrs().empty())
    return nullptr;
  // The parser derives all types from the element type of the input.
  Type scalar = RankedTensorType::get({}, cast<ShapedType>(op.getInputs()[0].getType()).getElementType());
  if (inner.getOperand(0).getType() != scalar || inner.getOperand(1).getType() != scalar ||
      inner.getResult(0).getType() != scalar)
    return nullptr;
  if (block.getNumArguments() != 2 || inner.getOperand(0) != block.getArgument(0) ||
      inner.getOperand(1) != block.getArgument(1))
    return nullptr;
  // The short form has one location, so that operations of the body get that of the reduction, as in upstream's form.
  Operation *terminator = block.getTerminator();
  if (!isa<ReturnOp>(terminator) || terminator->getNumOperands() != 1 ||
      terminator->getOperand(0) != inner.getResult(0) || !terminator->getAttrs().empty())
    return nullptr;
  return &inner;
}

void ReduceOp::print(OpAsmPrinter &p) {
  size_t pairs = getInputs().size();
  llvm::interleaveComma(llvm::seq<size_t>(0, pairs), p, [&](size_t i) {
    p << "(" << getInputs()[i] << " init: " << getInitValues()[i] << ")";
  });
  Operation *inner = shortFormOp(*this);
  if (inner)
    p << " applies " << inner->getName().getStringRef();
  p << " across dimensions = [";
  llvm::interleaveComma(getDimensions(), p);
  p << "]";
  p.printOptionalAttrDict((*this)->getAttrs(), {getDimensionsAttrName()});
  p << " : ";
  p.printFunctionalType(*this);
  if (inner)
    return;
  p.printNewline();
  p << " reducer";
  Block &block = getBody().front();
  size_t half = block.getNumArguments() / 2;
  for (size_t i = 0; i != half; ++i) {
    p << "(";
    p.printRegionArgument(block.getArgument(i));
    p << ", ";
    p.printRegionArgument(block.getArgument(i + half));
    p << ") ";
  }
  p << ' ';
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &result) {
  SMLoc operandLoc = parser.getCurrentLocation();
  SmallVector<OpAsmParser::UnresolvedOperand> inputs, inits;
  auto parsePair = [&]() -> ParseResult {
    if (parser.parseLParen() || parser.parseOperand(inputs.emplace_back()) || parser.parseKeyword("init") ||
        parser.parseColon() || parser.parseOperand(inits.emplace_back()) || parser.parseRParen())
      return failure();
    return success();
  };
  if (parser.parseCommaSeparatedList(parsePair))
    return failure();
  SmallVector<OpAsmParser::UnresolvedOperand> operands(inputs);
  operands.append(inits);

  // `applies` names the operation of the body.
  std::optional<OperationName> inner;
  SMLoc innerLoc;
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    innerLoc = parser.getCurrentLocation();
    FailureOr<OperationName> name = parser.parseCustomOperationName();
    if (failed(name))
      return failure();
    inner = *name;
  }

  SmallVector<int64_t> dimensions;
  auto parseDim = [&]() -> ParseResult { return parser.parseInteger(dimensions.emplace_back()); };
  FunctionType type;
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") || parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), operandLoc, result.operands))
    return failure();
  result.addTypes(type.getResults());
  result.getOrAddProperties<Properties>().dimensions = parser.getBuilder().getDenseI64ArrayAttr(dimensions);
  Region *body = result.addRegion();

  if (inner) {
    std::optional<Location> explicitLoc;
    if (parser.parseOptionalLocationSpecifier(explicitLoc))
      return failure();
    auto shaped = type.getNumInputs() == 0 ? ShapedType() : dyn_cast<ShapedType>(type.getInput(0));
    if (!shaped)
      return parser.emitError(operandLoc, "expects a tensor operand");
    // The parser builds the body for any binary operation, so that operands and result of the named one must have one type.
    if (!isCommutativeScalarOp(inner->getStringRef()))
      return parser.emitError(innerLoc) << "expected the inner-op to be a commutative binary-op from the "
                                           "stablehlo dialect, with zero region, producing single result, but got "
                                        << inner->getStringRef();
    if (explicitLoc)
      result.location = *explicitLoc;
    Location loc = result.location;
    Type scalar = RankedTensorType::get({}, shaped.getElementType());
    Block &block = body->emplaceBlock();
    block.addArguments({scalar, scalar}, {loc, loc});
    OpBuilder builder(parser.getContext());
    builder.setInsertionPointToStart(&block);
    OperationState state(loc, *inner);
    state.addOperands(block.getArguments());
    state.addTypes(scalar);
    Operation *op = builder.create(state);
    ReturnOp::create(builder, loc, op->getResults());
    return success();
  }

  // The pairs of parameters are (element, accumulator); the block has all elements first.
  SmallVector<OpAsmParser::Argument> elements, accumulators;
  if (parser.parseKeyword("reducer"))
    return failure();
  for (size_t i = 0, e = inputs.size(); i != e; ++i)
    if (parser.parseLParen() || parser.parseArgument(elements.emplace_back(), /*allowType=*/true, /*allowAttrs=*/true) ||
        parser.parseComma() ||
        parser.parseArgument(accumulators.emplace_back(), /*allowType=*/true, /*allowAttrs=*/true) ||
        parser.parseRParen())
      return failure();
  elements.append(accumulators);
  return parser.parseRegion(*body, elements);
}

} // namespace millrace::stablehlo
