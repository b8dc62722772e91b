// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpModel.cpp - Operation model of the portable format ----------------===//
// One model implements MLIR's operation interface for all operations: it reads the row of the table. Properties are the row's attributes, in its
// order, as an array in the operation's property storage.
#include "dialects/vhlo/Dialect.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace millrace::vhlo {
namespace {

//===-- Properties --------------------------------------------------------===//

MutableArrayRef<Attribute> propertiesOf(OperationName name, OpaqueProperties storage) {
  return {storage.as<Attribute *>(), name.getRegisteredInfo()->getAttributeNames().size()};
}
MutableArrayRef<Attribute> propertiesOf(Operation *op) { return propertiesOf(op->getName(), op->getPropertiesStorage()); }

/// The bytecode of properties: one required attribute after the other.
struct PropertyBytecode : BytecodeOpInterface::FallbackModel<PropertyBytecode> {
  static LogicalResult readProperties(DialectBytecodeReader &reader, OperationState &state) {
    for (StringAttr name : state.name.getRegisteredInfo()->getAttributeNames()) {
      Attribute attr;
      if (failed(reader.readAttribute(attr)))
        return failure();
      state.attributes.set(name, attr);
    }
    return success();
  }
  void writeProperties(Operation *op, DialectBytecodeWriter &writer) const {
    for (Attribute attr : propertiesOf(op))
      writer.writeAttribute(attr);
  }
};

//===-- Text of functions -------------------------------------------------===//

// `vhlo.func_v1 @f(%x: !vhlo.tensor_v1<...>) -> (...) { ... } {attributes}`. Everything else has the generic form.
ParseResult parseFunction(OpAsmParser &parser, OperationState &state) {
  mlir::StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Type> inputs, outputs;
  if (parser.parseSymbolName(name) ||
      parser.parseArgumentList(arguments, AsmParser::Delimiter::Paren, /*allowType=*/true) ||
      parser.parseArrowTypeList(outputs) || parser.parseRegion(*state.addRegion(), arguments) ||
      parser.parseOptionalAttrDict(state.attributes))
    return failure();
  for (const OpAsmParser::Argument &argument : arguments)
    inputs.push_back(argument.type);
  MLIRContext *context = parser.getContext();
  auto type = parser.getChecked<FunctionV1Type>(parser.getNameLoc(), context, ArrayRef(inputs), ArrayRef(outputs));
  if (!type)
    return failure();
  state.attributes.set("sym_name", StringV1Attr::get(context, name.getValue()));
  state.attributes.set("function_type", TypeV1Attr::get(context, type));
  return success();
}

void printFunction(Operation *op, OpAsmPrinter &printer) {
  auto name = op->getAttrOfType<StringV1Attr>("sym_name");
  auto typeAttr = op->getAttrOfType<TypeV1Attr>("function_type");
  auto type = typeAttr ? dyn_cast<FunctionV1Type>(typeAttr.getValue()) : FunctionV1Type();
  // A declaration, or a function whose parts contradict each other, is printed in the generic form.
  if (!name || !type || op->getNumRegions() != 1 || op->getRegion(0).empty() ||
      op->getRegion(0).getArgumentTypes() != TypeRange(type.getInputs()))
    return printer.printGenericOp(op, /*printOpName=*/true);
  Region &body = op->getRegion(0);
  printer << op->getName() << ' ';
  printer.printSymbolName(name.getValue());
  printer << '(';
  llvm::interleaveComma(body.getArguments(), printer, [&](BlockArgument arg) { printer.printRegionArgument(arg); });
  printer << ") -> (";
  llvm::interleaveComma(type.getOutputs(), printer);
  printer << ") ";
  printer.printRegion(body, /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/true, /*printEmptyBlock=*/true);
  printer.printOptionalAttrDict(op->getAttrs(), {"sym_name", "function_type"});
}

ParseResult parseNothing(OpAsmParser &parser, OperationState &) {
  return parser.emitError(parser.getNameLoc()) << "has no custom form: write it in quotes";
}

//===-- The model ---------------------------------------------------------===//

/// The number of values that a row requires: fixed words, and words with `*` that share one count.
struct Count {
  unsigned fixed = 0, variadic = 0;

  explicit Count(StringRef words) {
    SmallVector<StringRef> list;
    words.split(list, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef word : list)
      ++(word.ends_with("*") ? variadic : fixed);
  }
  bool accepts(unsigned count) const {
    return variadic ? count >= fixed && (count - fixed) % variadic == 0 : count == fixed;
  }
};

class OpModel final : public OperationName::Impl {
public:
  OpModel(const OpDef &def, VhloDialect *dialect, TypeID id)
      : Impl(("vhlo." + def.name).str(), dialect, id, mlir::detail::InterfaceMap()), def(def), operands(def.operands),
        regions(def.regions), results(def.results), numProperties(def.attributeNames().size()),
        isFunction(def.name == "func_v1"), isReturn(def.name == "return_v1") {
    getInterfaceMap().insertModels<PropertyBytecode>();
  }

  LogicalResult foldHook(Operation *, ArrayRef<Attribute>, SmallVectorImpl<OpFoldResult> &) final { return failure(); }
  void getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) final {}
  bool hasTrait(TypeID trait) final {
    return (isFunction && trait == TypeID::get<OpTrait::IsIsolatedFromAbove>()) ||
           (isReturn && trait == TypeID::get<OpTrait::IsTerminator>());
  }
  OperationName::ParseAssemblyFn getParseAssemblyFn() final { return isFunction ? parseFunction : parseNothing; }
  void populateDefaultAttrs(const OperationName &, NamedAttrList &) final {}
  void printAssembly(Operation *op, OpAsmPrinter &printer, StringRef) final {
    if (isFunction)
      printFunction(op, printer);
    else
      printer.printGenericOp(op, /*printOpName=*/true);
  }

  LogicalResult verifyInvariants(Operation *op) final {
    if (!operands.accepts(op->getNumOperands()))
      return op->emitOpError("expects operands (") << def.operands << "), but got " << op->getNumOperands();
    if (!results.accepts(op->getNumResults()))
      return op->emitOpError("expects results (") << def.results << "), but got " << op->getNumResults();
    if (!regions.accepts(op->getNumRegions()))
      return op->emitOpError("expects regions (") << def.regions << "), but got " << op->getNumRegions();
    if (op->getNumSuccessors())
      return op->emitOpError("expects no successors");
    for (auto [name, attr] : llvm::zip(attributeNames, propertiesOf(op))) {
      if (!attr)
        return op->emitOpError("expects attribute '") << name.getValue() << "'";
      if (!isVhlo(attr))
        return op->emitOpError("expects a vhlo attribute as '") << name.getValue() << "', but got " << attr;
    }
    for (Type type : llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                              SmallVector<Type>(op->getResultTypes())))
      if (!isVhlo(type))
        return op->emitOpError("expects vhlo types, but got ") << type;
    return success();
  }
  LogicalResult verifyRegionInvariants(Operation *) final { return success(); }

  std::optional<Attribute> getInherentAttr(Operation *op, StringRef name) final {
    for (auto [known, attr] : llvm::zip(attributeNames, propertiesOf(op)))
      if (known.getValue() == name)
        return attr;
    return std::nullopt;
  }
  void setInherentAttr(Operation *op, mlir::StringAttr name, Attribute value) final {
    for (auto [known, attr] : llvm::zip(attributeNames, propertiesOf(op)))
      if (known == name)
        attr = value;
  }
  void populateInherentAttrs(Operation *op, NamedAttrList &attrs) final {
    for (auto [name, attr] : llvm::zip(attributeNames, propertiesOf(op)))
      if (attr)
        attrs.append(name, attr);
  }
  LogicalResult verifyInherentAttrs(OperationName, NamedAttrList &, function_ref<InFlightDiagnostic()>) final {
    return success();
  }

  int getOpPropertyByteSize() final { return numProperties * sizeof(Attribute); }
  void initProperties(OperationName name, OpaqueProperties storage, OpaqueProperties init) final {
    std::uninitialized_fill_n(storage.as<Attribute *>(), numProperties, Attribute());
    if (init)
      copyProperties(storage, init);
  }
  void deleteProperties(OpaqueProperties) final {}
  void populateDefaultProperties(OperationName, OpaqueProperties) final {}
  LogicalResult setPropertiesFromAttr(OperationName name, OpaqueProperties storage, Attribute attr,
                                      function_ref<InFlightDiagnostic()> emitError) final {
    auto dictionary = dyn_cast_or_null<DictionaryAttr>(attr);
    if (!dictionary) {
      if (emitError)
        emitError() << "expects a dictionary of properties, but got " << attr;
      return failure();
    }
    for (auto [known, value] : llvm::zip(attributeNames, propertiesOf(name, storage)))
      value = dictionary.get(known);
    return success();
  }
  Attribute getPropertiesAsAttr(Operation *op) final {
    NamedAttrList attrs;
    populateInherentAttrs(op, attrs);
    return attrs.empty() ? Attribute() : attrs.getDictionary(op->getContext());
  }
  void copyProperties(OpaqueProperties to, OpaqueProperties from) final {
    std::copy_n(from.as<Attribute *>(), numProperties, to.as<Attribute *>());
  }
  bool compareProperties(OpaqueProperties a, OpaqueProperties b) final {
    return std::equal(a.as<Attribute *>(), a.as<Attribute *>() + numProperties, b.as<Attribute *>());
  }
  llvm::hash_code hashProperties(OpaqueProperties storage) final {
    return llvm::hash_combine_range(storage.as<Attribute *>(), storage.as<Attribute *>() + numProperties);
  }

private:
  const OpDef &def;
  Count operands, regions, results;
  size_t numProperties;
  bool isFunction, isReturn;
};

} // namespace

void VhloDialect::registerOps() {
  for (const OpDef &def : opTable())
    RegisteredOperationName::insert(std::make_unique<OpModel>(def, this, opIds.allocate()), def.attributeNames());
}

const OpDef *opDef(Operation *op) {
  return llvm::isa_and_nonnull<VhloDialect>(op->getDialect()) ? lookupOp(op->getName().getStringRef()) : nullptr;
}

} // namespace millrace::vhlo
