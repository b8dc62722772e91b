// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HloText.cpp - Functions, regions and the module as HLO text --------===//
// Input:   func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { %0 = stablehlo.negate %x ... }
// Output:  HloModule main, entry_computation_layout={(f32[2]{0})->f32[2]{0}}
//          ENTRY main.1 {
//            Arg_0.1 = f32[2]{0} parameter(0)
//            ROOT negate.1 = f32[2]{0} negate(Arg_0.1)
//          }
#include "lowering/hlo/HloText.h"

#include "dialects/stablehlo/Ops.h"
#include "lowering/hlo/Writer.h"
#include "passes/sharding/exchange/RoundTrip.h"
#include "runtime/base/FloatModes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace millrace::hlo {

std::string Module::uniqueName(StringRef base) { return base.str() + "." + std::to_string(++counters[base]); }

SmallVector<Value> capturedValues(MutableArrayRef<Region> regions) {
  llvm::SetVector<Value> used;
  for (Region &region : regions)
    getUsedValuesDefinedAbove(region, used);
  SmallVector<Value> captured;
  for (Value value : used)
    if (!value.getDefiningOp<stablehlo::ConstantOp>())
      captured.push_back(value);
  return captured;
}

/// Repeats in `to` the constants that `region` uses from outside.
static LogicalResult repeatConstants(Region &region, Computation &to) {
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(region, used);
  for (Value value : used)
    if (auto constant = value.getDefiningOp<stablehlo::ConstantOp>())
      if (failed(to.addOperation(constant)))
        return failure();
  to.setSource(nullptr);
  return success();
}

FailureOr<std::string> Module::region(Region &region, Passing passing, ValueRange captured, bool returnCaptured) {
  Computation to(*this, uniqueName("region"));
  Operation *owner = region.getParentOp();
  SmallVector<Value> inputs(region.args_begin(), region.args_end());
  llvm::append_range(inputs, captured);
  if (passing == Passing::Flat) {
    if (SmallVector<Value> outside = capturedValues(region); !outside.empty()) {
      auto diagnostic = owner->emitOpError("uses a value from outside of its region, which HLO has no means to pass");
      diagnostic.attachNote(outside.front().getLoc()) << "this value";
      return failure();
    }
    for (auto [index, input] : llvm::enumerate(inputs))
      to.bind(input, to.parameter(index, shapeText(input.getType())));
  } else {
    std::string all = to.parameter(0, shapeText(TypeRange(ValueRange(inputs))));
    for (auto [index, input] : llvm::enumerate(inputs))
      to.bind(input, inputs.size() == 1 ? all : to.element(all, shapeText(input.getType()), index));
  }
  if (failed(repeatConstants(region, to)) || failed(to.addOperations(region.front())))
    return failure();
  SmallVector<Value> outputs(region.front().getTerminator()->getOperands());
  if (returnCaptured)
    llvm::append_range(outputs, captured);
  to.setRoot(to.packed(to[ValueRange(outputs)], TypeRange(ValueRange(outputs))));
  llvm::raw_string_ostream os(computations.emplace_back());
  to.print(os, /*isEntry=*/false);
  return to.getName().str();
}

static LogicalResult addArguments(func::FuncOp function, Computation &to) {
  for (BlockArgument argument : function.getArguments()) {
    std::string shape = shapeText(argument.getType());
    if (shape.empty())
      return function.emitError("has an argument of a type that HLO cannot express: ") << argument.getType();
    Attributes attributes;
    annotate(function.getArgAttrDict(argument.getArgNumber()), attributes);
    to.bind(argument, to.parameter(argument.getArgNumber(), shape, Twine(attributes.str()) + metadataText(argument.getLoc())));
  }
  return success();
}

FailureOr<std::string> Module::function(Operation *user, FlatSymbolRefAttr symbol) {
  auto [known, isNew] = functions.try_emplace(symbol.getValue());
  if (!isNew) {
    if (known->second.empty())
      return user->emitOpError("calls @") << symbol.getValue() << " recursively, which HLO cannot express";
    return known->second;
  }
  auto callee = op.lookupSymbol<func::FuncOp>(symbol.getValue());
  if (!callee || callee.isExternal())
    return user->emitOpError("expects @") << symbol.getValue() << " to be a function with a body";
  Computation to(*this, uniqueName(identifier(symbol.getValue())));
  Block &body = callee.getBody().front();
  if (failed(addArguments(callee, to)) || failed(to.addOperations(body)))
    return failure();
  Operation *terminator = body.getTerminator();
  to.setRoot(to.packed(to[terminator->getOperands()], terminator->getOperandTypes()));
  functions[symbol.getValue()] = to.getName().str();
  llvm::raw_string_ostream os(computations.emplace_back());
  to.print(os, /*isEntry=*/false);
  return to.getName().str();
}

/// `{1}: (0, {}, may-alias)` per aliased argument and `(0, {})` per donated one.
static std::string donations(func::FuncOp function) {
  SmallVector<std::string> aliases, donors;
  bool single = function.getNumResults() == 1;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    std::string argument = std::to_string(i);
    if (auto output = function.getArgAttrOfType<IntegerAttr>(i, "tf.aliasing_output"))
      aliases.push_back((single ? "{}" : "{" + std::to_string(output.getInt()) + "}") + ": (" + argument + ", {}, may-alias)");
    else if (auto donor = function.getArgAttrOfType<BoolAttr>(i, "jax.buffer_donor"); donor && donor.getValue())
      donors.push_back("(" + argument + ", {})");
  }
  std::string text;
  if (!aliases.empty())
    text += ", input_output_alias={ " + llvm::join(aliases, ", ") + " }";
  if (!donors.empty())
    text += ", buffer_donor={ " + llvm::join(donors, ", ") + " }";
  return text;
}

std::string Module::header(func::FuncOp function) {
  auto layoutsOf = [&](StringRef name, unsigned count) {
    SmallVector<Attribute> layouts(count);
    if (auto given = op->getAttrOfType<ArrayAttr>(name); given && given.size() == count)
      llvm::copy(given, layouts.begin());
    return layouts;
  };
  auto shapes = [](TypeRange types, ArrayRef<Attribute> layouts) {
    SmallVector<std::string> texts;
    for (auto [type, layout] : llvm::zip(types, layouts))
      texts.push_back(shapeText(type, isa<TupleType>(type) ? Attribute() : layout));
    return texts;
  };
  SmallVector<std::string> arguments =
      shapes(function.getArgumentTypes(), layoutsOf("mhlo.xla_entry_computation_parameter_layouts", function.getNumArguments()));
  SmallVector<std::string> results =
      shapes(function.getResultTypes(), layoutsOf("mhlo.xla_entry_computation_result_layouts", function.getNumResults()));

  std::string text = "HloModule " + identifier(op.getName().value_or("main")) + donations(function);
  text += ", entry_computation_layout={" + tupleText(arguments) + "->" +
          (results.size() == 1 ? results.front() : tupleText(results)) + "}";
  for (auto [attribute, name] : {std::pair("mhlo.num_replicas", "replica_count"), {"mhlo.num_partitions", "num_partitions"}})
    if (auto count = op->getAttrOfType<IntegerAttr>(attribute); count && count.getInt() > 1)
      text += ", " + std::string(name) + "=" + std::to_string(count.getInt());
  Attributes annotations;
  annotate(op->getDiscardableAttrDictionary(), annotations);
  return text + annotations.str().str();
}

/// Gives the values of the entry's root their shardings. HLO puts them on the root itself, which may be a parameter
/// or a result of something with a sharding of its own: a tuple is made for them, and taken apart again for one value.
static std::string shardedRoot(func::FuncOp function, ArrayRef<std::string> values, Computation &to) {
  SmallVector<std::string> shardings, shapes;
  bool any = false;
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    auto sharding = function.getResultAttrOfType<StringAttr>(index, "mhlo.sharding");
    any |= sharding != nullptr;
    shardings.push_back(sharding ? sharding.getValue().str() : "{replicated}");
    shapes.push_back(shapeText(type));
  }
  if (!any)
    return to.packed(values, function.getResultTypes());
  if (values.size() > 1)
    return to.add("tuple", tupleText(shapes), values,
                  Attributes().add("sharding", "{" + llvm::join(shardings, ", ") + "}"));
  std::string tuple = to.add("tuple", tupleText(shapes), values);
  return to.add("get-tuple-element", shapes.front(), tuple, Attributes().add("index", "0").add("sharding", shardings.front()));
}

LogicalResult Module::entry(func::FuncOp function) {
  functions[function.getSymName()]; // stays without a computation: HLO cannot call the entry
  Computation to(*this, uniqueName(identifier(function.getSymName())));
  if (failed(addArguments(function, to)) || failed(to.addOperations(function.getBody().front())))
    return failure();
  std::vector<std::string> results = to[function.getBody().front().getTerminator()->getOperands()];
  to.setRoot(shardedRoot(function, results, to));
  headerText = header(function);
  llvm::raw_string_ostream os(computations.emplace_back());
  to.print(os, /*isEntry=*/true);
  return success();
}

void Module::print(llvm::raw_ostream &os) const {
  os << headerText << "\n\n";
  llvm::interleave(computations, os, "\n");
}

LogicalResult exportHloText(ModuleOp module, llvm::raw_ostream &os) {
  const runtime::DefaultFloatModes modes;
  func::FuncOp entry = module.lookupSymbol<func::FuncOp>("main");
  auto functions = module.getOps<func::FuncOp>();
  if (!entry && llvm::hasSingleElement(functions))
    entry = *functions.begin();
  if (!entry || entry.isExternal())
    return module.emitError("expects a function @main, or just one function, with a body");
  PassManager shardings(module.getContext(), ModuleOp::getOperationName());
  sharding::addStablehloExport(shardings);
  if (failed(shardings.run(module)))
    return failure();
  Module text(module);
  if (failed(text.entry(entry)))
    return failure();
  text.print(os);
  return success();
}

} // namespace millrace::hlo
