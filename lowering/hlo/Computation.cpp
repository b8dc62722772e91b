// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Computation.cpp - Instructions of one HLO computation --------------===//
#include "lowering/hlo/Literals.h"
#include "lowering/hlo/Writer.h"

#include "dialects/stablehlo/Ops.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace millrace::hlo {

Computation::Computation(Module &module, StringRef name) : module(module), name(name) {}

std::string Computation::operator[](Value value) const {
  auto found = names.find(value);
  assert(found != names.end() && "every value is bound before its uses");
  return found->second;
}

std::vector<std::string> Computation::operator[](ValueRange values) const {
  std::vector<std::string> result;
  for (Value value : values)
    result.push_back((*this)[value]);
  return result;
}

std::string Computation::add(StringRef opcode, StringRef shape, ArrayRef<std::string> operands,
                             const Attributes &attributes) {
  std::string instruction = module.uniqueName(opcode);
  std::string text = (instruction + " = " + shape + " " + opcode + "(" + llvm::join(operands, ", ") + ")").str();
  text += attributes.str();
  if (source)
    text += metadataText(source->getLoc());
  lines.push_back({instruction, std::move(text)});
  return instruction;
}

std::string Computation::parameter(int64_t index, StringRef shape, const Twine &attributes) {
  std::string instruction = module.uniqueName("Arg_" + std::to_string(index));
  lines.push_back({instruction, (instruction + " = " + shape + " parameter(" + Twine(index) + ")" + attributes).str()});
  return instruction;
}

LogicalResult Computation::result(Operation *op, StringRef opcode, ArrayRef<std::string> operands,
                                  Attributes attributes) {
  annotate(op->getDiscardableAttrDictionary(), attributes);
  unpack(op, add(opcode, shapeText(op->getResultTypes()), operands, attributes));
  return success();
}

LogicalResult Computation::result(Operation *op, StringRef opcode, const Attributes &attributes) {
  return result(op, opcode, (*this)[op->getOperands()], attributes);
}

void Computation::unpack(Operation *op, StringRef tuple) {
  if (op->getNumResults() == 1)
    return bind(op->getResult(0), tuple);
  for (OpResult value : op->getResults())
    bind(value, element(tuple, shapeText(value.getType()), value.getResultNumber()));
}

std::string Computation::element(StringRef tuple, StringRef shape, int64_t index) {
  return add("get-tuple-element", shape, tuple.str(), Attributes().add("index", Twine(index)));
}

std::string Computation::packed(ArrayRef<std::string> values, TypeRange types) {
  return values.size() == 1 ? values.front() : add("tuple", shapeText(types), values);
}

std::string Computation::constant(DenseElementsAttr value) {
  ShapedType type = value.getType();
  if (value.isSplat() && value.getNumElements() > 1) {
    std::string scalar = constant(value.reshape(RankedTensorType::get({}, type.getElementType())));
    return add("broadcast", shapeText(type), scalar, Attributes().list("dimensions", {}));
  }
  if (needsComplexParts(value)) {
    auto [real, imag] = complexParts(value);
    std::string parts[] = {constant(real), constant(imag)};
    return add("complex", shapeText(type), parts);
  }
  std::string instruction = module.uniqueName("constant");
  std::string text = instruction + " = " + shapeText(type) + " constant(" + literalText(value) + ")";
  if (source)
    text += metadataText(source->getLoc());
  lines.push_back({instruction, std::move(text)});
  return instruction;
}

std::string Computation::reshape(StringRef operand, ArrayRef<int64_t> sizes, Type element) {
  return add("reshape", shapeText(sizes, element), operand.str());
}

std::string Computation::transpose(StringRef operand, ArrayRef<int64_t> operandSizes, ArrayRef<int64_t> permutation,
                                   Type element) {
  SmallVector<int64_t> sizes;
  for (int64_t d : permutation)
    sizes.push_back(operandSizes[d]);
  return add("transpose", shapeText(sizes, element), operand.str(), Attributes().list("dimensions", permutation));
}

std::string Computation::broadcastTo(Value value, RankedTensorType type) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from.getRank() > 0 || type.getRank() == 0)
    return (*this)[value];
  auto to = RankedTensorType::get(type.getShape(), from.getElementType(), type.getEncoding());
  return add("broadcast", shapeText(to), (*this)[value], Attributes().list("dimensions", {}));
}

std::string Computation::convertedTo(Value value, Type element) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from.getElementType() == element)
    return (*this)[value];
  auto to = RankedTensorType::get(from.getShape(), element, from.getEncoding());
  return add("convert", shapeText(to), (*this)[value]);
}

/// HLO has a shape for every type that `op` gives; futures exist only between async_start and async_done.
static LogicalResult checkTypes(Operation *op) {
  auto check = [&](Type type) -> LogicalResult {
    if (isa<stablehlo::FutureType>(type) || !shapeText(type).empty())
      return success();
    auto diagnostic = op->emitOpError("has a type that HLO cannot express: ") << type;
    auto shaped = dyn_cast<ShapedType>(type);
    if (shaped && isa<quant::QuantizedType>(shaped.getElementType()))
      diagnostic.attachNote() << "stablehlo-legalize-quant-to-math replaces quantized types";
    return failure();
  };
  for (Type type : op->getResultTypes())
    if (failed(check(type)))
      return failure();
  for (Region &region : op->getRegions())
    for (Type type : region.getArgumentTypes())
      if (failed(check(type)))
        return failure();
  return success();
}

LogicalResult Computation::addOperation(Operation *op) {
  source = op;
  if (failed(checkTypes(op)))
    return failure();
  for (auto visit : {visitContraction, visitElementwise, visitDataMovement, visitIndexing, visitReduction, // products take conversions with them
                     visitControlFlow, visitCustomCall, visitCollective, visitTransfer, visitRandom, visitDynamism})
    if (Visit done = visit(op, *this))
      return *done;
  return op->emitOpError("has no form in HLO");
}

LogicalResult Computation::addOperations(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(addOperation(&op)))
      return failure();
  source = nullptr;
  return success();
}

void Computation::print(llvm::raw_ostream &os, bool isEntry) const {
  os << (isEntry ? "ENTRY " : "") << name << " {\n";
  for (const Line &line : lines)
    os << "  " << (line.name == root ? "ROOT " : "") << line.text << '\n';
  os << "}\n";
}

} // namespace millrace::hlo
