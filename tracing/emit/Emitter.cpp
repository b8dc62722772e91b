// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Emitter.cpp - StableHLO operations by name --------------------------===//
#include "tracing/emit/Emit.h"

#include "lowering/Compile.h"
#include "runtime/base/FloatModes.h"
#include "tracing/emit/TracedModuleImpl.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

#include <limits>
#include <map>
#include <mutex>

using namespace mlir;

namespace millrace::tracing {
namespace {

/// The context that all emitters of the process share, one at a time, so that types and attributes are interned only once.
struct SharedContext {
  std::recursive_mutex mutex;
  MLIRContext context;
  SharedContext() : context(registry(), MLIRContext::Threading::DISABLED) {
    context.loadDialect<func::FuncDialect>();
    context.getOrLoadDialect("stablehlo");
    context.getOrLoadDialect("chlo");
    context.getOrLoadDialect("sdy");
  }
  static DialectRegistry registry() {
    DialectRegistry made;
    registerCompilerDialects(made);
    return made;
  }
  static SharedContext &get() {
    static auto *shared = new SharedContext;
    return *shared;
  }
};

mlir::Value valueOf(const Val &val) { return mlir::Value::getFromOpaquePointer(val.impl); }

} // namespace

struct Emitter::Impl {
  runtime::DefaultFloatModes modes; ///< an emitter is used by one thread
  TracedModule *target;                        ///< null for the shared context
  std::unique_lock<std::recursive_mutex> turn; ///< lock of the shared context
  MLIRContext &context;
  OpBuilder builder{&context};
  Location location = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module{ModuleOp::create(location)};
  func::FuncOp function;
  std::vector<DictionaryAttr> argumentAttrs;
  std::map<size_t, NamedText> resultShardings;
  int64_t replicas = 1;
  runtime::Status error;
  std::string diagnostics;
  ScopedDiagnosticHandler handler{&context, [this](Diagnostic &diagnostic) {
                                    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && diagnostics.empty())
                                      diagnostics = diagnostic.str();
                                    return success();
                                  }};

  explicit Impl(TracedModule *target)
      : target(target), turn(target ? std::unique_lock<std::recursive_mutex>() : std::unique_lock(SharedContext::get().mutex)),
        context(target ? target->impl->session.context() : SharedContext::get().context) {
    builder.setInsertionPointToEnd(module->getBody());
    function = func::FuncOp::create(builder, location, "main", builder.getFunctionType({}, {}));
    builder.setInsertionPointToEnd(function.addEntryBlock());
  }
  Type elementType(DType dtype) { return parseType(runtime::name(dtype), &context); }
  RankedTensorType type(const Shape &shape) { return RankedTensorType::get(shape.dims, elementType(shape.dtype)); }
  Val wrap(mlir::Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    std::string name;
    llvm::raw_string_ostream(name) << type.getElementType();
    return {value.getAsOpaquePointer(), {runtime::dtypeFromName(name), type.getShape().vec()}, false};
  }
  Val wrapConstant(Attribute value) {
    OperationState state(location, "stablehlo.constant");
    state.addAttribute("value", value);
    state.addTypes(cast<TypedAttr>(value).getType());
    return wrap(builder.create(state)->getResult(0));
  }
  /// Adds the result types of `state`, which its operation's inference computes.
  bool inferTypes(OperationState &state) {
    std::optional<RegisteredOperationName> info = state.name.getRegisteredInfo();
    auto *interface = info ? info->getInterface<InferTypeOpInterface>() : nullptr;
    if (!interface)
      return false;
    DictionaryAttr attributes = state.attributes.getDictionary(&context);
    llvm::SmallVector<Type> types;
    mlir::OpaqueProperties properties(nullptr);
    std::unique_ptr<char[]> storage;
    if (info->getOpPropertyByteSize() > 0) {
      storage.reset(new char[info->getOpPropertyByteSize()]);
      properties = mlir::OpaqueProperties(storage.get());
      info->initOpProperties(properties, mlir::OpaqueProperties(nullptr));
      if (mlir::failed(info->setOpPropertiesFromAttribute(state.name, properties, attributes,
                                                    [this] { return emitError(location); })))
        return false;
    }
    LogicalResult result = interface->inferReturnTypes(&context, location, state.operands, attributes, properties,
                                                       state.regions, types);
    if (storage)
      info->destroyOpProperties(properties);
    state.addTypes(types);
    return succeeded(result);
  }
};

Emitter::Emitter() : impl(std::make_unique<Impl>(nullptr)) {}
Emitter::Emitter(TracedModule &target) : impl(std::make_unique<Impl>(&target)) {}
Emitter::~Emitter() = default;

bool Emitter::failed() const { return !impl->error.ok(); }
runtime::Status Emitter::error() const { return impl->error; }

Val Emitter::fail(std::string reason) {
  if (impl->error.ok()) {
    if (!impl->diagnostics.empty())
      reason += ": " + impl->diagnostics;
    impl->error = runtime::unimplemented(std::move(reason));
  }
  return {};
}

void Emitter::partitions(int64_t count) {
  (*impl->module)->setAttr("mhlo.num_partitions", impl->builder.getI32IntegerAttr(int32_t(count)));
}

void Emitter::replicas(int64_t count) { impl->replicas = count; }

/// Returns true if the results of an operation depend on other replicas.
static bool meetsReplicas(Operation *op) {
  llvm::StringRef name = op->getName().getStringRef();
  bool isTransfer = name == "stablehlo.send" || name == "stablehlo.recv";
  auto isHostTransfer = op->getAttrOfType<BoolAttr>("is_host_transfer");
  return op->hasAttr("replica_groups") || op->hasAttr("source_target_pairs") || name == "stablehlo.replica_id" ||
         (isTransfer && !(isHostTransfer && isHostTransfer.getValue()));
}

void Emitter::resultSharding(size_t index, const NamedText &sharding) { impl->resultShardings[index] = sharding; }

Val Emitter::parameter(const Shape &shape, int64_t donatedTo) { return parameter(shape, donatedTo, {}); }

Val Emitter::parameter(const Shape &shape, int64_t donatedTo, const NamedText &sharding) {
  std::vector<NamedAttribute> attributes;
  if (donatedTo >= 0)
    attributes.push_back(
        impl->builder.getNamedAttr("tf.aliasing_output", impl->builder.getI32IntegerAttr(int32_t(donatedTo))));
  if (!sharding.first.empty())
    attributes.push_back(impl->builder.getNamedAttr(sharding.first, parseAttribute(sharding.second, &impl->context)));
  impl->argumentAttrs.push_back(impl->builder.getDictionaryAttr(attributes));
  return impl->wrap(impl->function.getBody().front().addArgument(impl->type(shape), impl->location));
}

void Emitter::at(const std::string &operation, const Place &place) {
  Location where = place.file.empty() ? Location(impl->builder.getUnknownLoc())
                                      : Location(FileLineColLoc::get(&impl->context, place.file, place.line, 0));
  impl->location = operation.empty() ? where : NameLoc::get(impl->builder.getStringAttr(operation), where);
}

runtime::Status Emitter::finishFunction(const std::vector<Val> &results) {
  llvm::SmallVector<mlir::Value> values;
  for (const Val &result : results)
    if (!result)
      fail("a result was not emitted");
    else
      values.push_back(valueOf(result));
  if (failed())
    return impl->error;
  func::ReturnOp::create(impl->builder, impl->location, values);
  Block &block = impl->function.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(block))
    if (op.use_empty() && op.getName().getStringRef() == "stablehlo.constant") // it was replaced by a constant of another type
      op.erase();
  impl->function.setType(
      impl->builder.getFunctionType(TypeRange(block.getArguments()), TypeRange(ValueRange(values))));
  for (auto [index, attributes] : llvm::enumerate(impl->argumentAttrs))
    impl->function.setArgAttrs(index, attributes);
  for (const auto &[index, sharding] : impl->resultShardings)
    impl->function.setResultAttr(unsigned(index), sharding.first, parseAttribute(sharding.second, &impl->context));
  if (impl->replicas > 1 && impl->module->walk([](Operation *op) {
                                             return meetsReplicas(op) ? WalkResult::interrupt() : WalkResult::advance();
                                           }).wasInterrupted())
    (*impl->module)->setAttr("mhlo.num_replicas", impl->builder.getI32IntegerAttr(int32_t(impl->replicas)));
  if (mlir::failed(mlir::verify(*impl->module)))
    return fail("the emitted program is not valid"), impl->error;
  return {};
}

runtime::Status Emitter::finishModule(const std::vector<Val> &results) {
  MILLRACE_TRY(finishFunction(results));
  impl->target->impl->module = std::move(impl->module);
  return {};
}

static std::string textOf(ModuleOp module, bool withPlaces) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  if (withPlaces)
    flags.enableDebugInfo();
  module.print(stream, flags);
  return text;
}

runtime::StatusOr<std::string> Emitter::finish(const std::vector<Val> &results, bool withPlaces) {
  MILLRACE_TRY(finishFunction(results));
  return textOf(*impl->module, withPlaces);
}

runtime::StatusOr<std::pair<std::string, std::string>> Emitter::finishBoth(const std::vector<Val> &results) {
  MILLRACE_TRY(finishFunction(results));
  return std::pair(textOf(*impl->module, false), textOf(*impl->module, true));
}

std::vector<Val> Emitter::ops(std::string_view name, const std::vector<Val> &operands,
                              const std::vector<NamedText> &attributes, const std::vector<Shape> &results,
                              const std::vector<Shape> &bodyArguments, const Body &body) {
  using Regions = std::vector<millrace::tracing::Region>;
  return ops(name, operands, attributes, results, body ? Regions{{bodyArguments, body}} : Regions());
}

std::vector<Val> Emitter::ops(std::string_view name, const std::vector<Val> &operands,
                              const std::vector<NamedText> &attributes, const std::vector<Shape> &results,
                              const std::vector<millrace::tracing::Region> &regions) {
  std::vector<Val> invalid(std::max<size_t>(results.size(), 1));
  if (failed())
    return invalid;
  OperationState state(impl->location, llvm::StringRef(name));
  for (const Val &operand : operands) {
    if (!operand)
      return fail("an operand of " + std::string(name) + " was not emitted"), invalid;
    state.operands.push_back(valueOf(operand));
  }
  for (const auto &[attribute, text] : attributes) {
    Attribute value = parseAttribute(text, &impl->context);
    if (!value)
      return fail("cannot read " + attribute + " = " + text + " of " + std::string(name)), invalid;
    state.addAttribute(attribute, value);
  }
  for (const millrace::tracing::Region &given : regions) {
    Block *block = new Block;
    state.addRegion()->push_back(block);
    std::vector<Val> arguments;
    for (const Shape &shape : given.arguments)
      arguments.push_back(impl->wrap(block->addArgument(impl->type(shape), impl->location)));
    OpBuilder::InsertionGuard guard(impl->builder);
    impl->builder.setInsertionPointToEnd(block);
    llvm::SmallVector<mlir::Value> returned;
    for (const Val &value : given.body(arguments)) {
      if (!value)
        return fail("the body of " + std::string(name) + " was not emitted"), invalid;
      returned.push_back(valueOf(value));
    }
    OperationState end(impl->location, "stablehlo.return");
    end.addOperands(returned);
    impl->builder.create(end);
  }
  if (!results.empty()) {
    for (const Shape &shape : results)
      state.addTypes(impl->type(shape));
  } else if (!impl->inferTypes(state)) {
    return fail("no types for " + std::string(name)), invalid;
  }
  std::vector<Val> made;
  for (mlir::Value value : impl->builder.create(state)->getResults())
    made.push_back(impl->wrap(value));
  return made;
}

void Emitter::effect(std::string_view name, const std::vector<Val> &operands, const std::vector<NamedText> &attributes) {
  if (failed())
    return;
  OperationState state(impl->location, llvm::StringRef(name));
  for (const Val &operand : operands)
    state.operands.push_back(valueOf(operand));
  for (const auto &[attribute, text] : attributes)
    state.addAttribute(attribute, parseAttribute(text, &impl->context));
  impl->builder.create(state);
}

Val Emitter::op(std::string_view name, const std::vector<Val> &operands, const std::vector<NamedText> &attributes,
                std::optional<Shape> result) {
  return ops(name, operands, attributes, result ? std::vector<Shape>{*result} : std::vector<Shape>())[0];
}

Val Emitter::constant(double value, const Shape &shape) {
  if (failed())
    return {};
  if (runtime::isInteger(shape.dtype))
    return constant(shape.dtype == DType::I1 ? int64_t(value != 0) : int64_t(value), shape);
  RankedTensorType type = impl->type(shape);
  auto scalar = [&](double number, Type element) {
    llvm::APFloat wide(number);
    bool lost;
    wide.convert(cast<FloatType>(element).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &lost);
    return wide;
  };
  if (auto complex = dyn_cast<ComplexType>(type.getElementType())) {
    std::complex<llvm::APFloat> number(scalar(value, complex.getElementType()), scalar(0, complex.getElementType()));
    return impl->wrapConstant(DenseElementsAttr::get(type, number));
  }
  return impl->wrapConstant(DenseElementsAttr::get(type, scalar(value, type.getElementType())));
}

Val Emitter::constant(int64_t value, const Shape &shape) {
  if (failed())
    return {};
  if (!runtime::isInteger(shape.dtype))
    return constant(double(value), shape);
  llvm::APInt bits(runtime::bitWidth(shape.dtype), uint64_t(value), /*isSigned=*/true, /*implicitTrunc=*/true);
  return impl->wrapConstant(DenseElementsAttr::get(impl->type(shape), bits));
}

Val Emitter::constantInts(const Ints &values, const Shape &shape) {
  if (failed())
    return {};
  llvm::SmallVector<llvm::APInt> elements;
  for (int64_t value : values)
    elements.emplace_back(runtime::bitWidth(shape.dtype), uint64_t(value), /*isSigned=*/true, /*implicitTrunc=*/true);
  return impl->wrapConstant(DenseElementsAttr::get(impl->type(shape), elements));
}

Val Emitter::constantReals(const std::vector<double> &values, const Shape &shape) {
  if (failed())
    return {};
  RankedTensorType type = impl->type(shape);
  if (!isa<FloatType>(type.getElementType()))
    return fail("real numbers must become constants of a real type");
  llvm::SmallVector<llvm::APFloat> elements;
  for (double value : values) {
    bool lost;
    elements.emplace_back(value);
    elements.back().convert(cast<FloatType>(type.getElementType()).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                            &lost);
  }
  return impl->wrapConstant(DenseElementsAttr::get(type, elements));
}

} // namespace millrace::tracing
