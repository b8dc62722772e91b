// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BuildProgram.cpp - A module of kernel calls to a runtime Program ---===//
#include "lowering/program/BuildProgram.h"

#include "dialects/millrace/Attributes.h"
#include "lowering/TensorSizes.h"
#include "lowering/program/FunctionBuilder.h"
#include "lowering/program/OrderSteps.h"
#include "lowering/program/ProgramTypes.h"
#include "passes/fusion/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace millrace::runtime;

namespace millrace::lowering {

/// The function that makes the last arguments of `entry`, or null.
static func::FuncOp preparationOf(func::FuncOp entry) {
  auto symbol = entry->getAttrOfType<FlatSymbolRefAttr>(kPrepareAttr);
  return symbol ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(entry, symbol) : func::FuncOp();
}

/// Returns true if the result may be made in the memory of the argument, which has to have its size.
static bool canTakeMemory(const Result &result, const Argument &argument) {
  return result.aliasArgument == kNone && result.dims == argument.dims && result.dtype == argument.dtype && !llvm::is_contained(result.dims, kDynamic);
}

LogicalResult describeSignature(func::FuncOp entry, Program &program) {
  auto name = [](DictionaryAttr attrs, StringRef key) {
    auto text = attrs ? attrs.getAs<StringAttr>(key) : StringAttr();
    return text ? text.getValue().str() : std::string();
  };
  for (unsigned i = 0; i < entry.getNumResults(); ++i) {
    auto type = dyn_cast<RankedTensorType>(entry.getResultTypes()[i]);
    if (!type)
      continue;
    Result result;
    static_cast<TensorSpec &>(result) = specOf(type);
    result.name = name(entry.getResultAttrDict(i), "jax.result_info");
    result.sharding = name(entry.getResultAttrDict(i), "mhlo.sharding");
    result.memoryKind = name(entry.getResultAttrDict(i), "mhlo.memory_kind");
    program.results.push_back(std::move(result));
  }
  unsigned numArguments = entry.getNumArguments();
  if (func::FuncOp prepare = preparationOf(entry)) {
    // The last arguments are what it makes.
    numArguments -= prepare.getNumResults();
    for (Type type : prepare.getResultTypes())
      program.preparation.results.push_back(specOf(cast<RankedTensorType>(type)));
    DenseI64ArrayAttr from = prepare->getAttrOfType<DenseI64ArrayAttr>(kPreparedFromAttr);
    llvm::SmallDenseMap<int64_t, uint32_t> numbers; // arguments that are no tensors are none of the program
    for (unsigned i = 0, number = 0; i < numArguments; ++i)
      if (isa<RankedTensorType>(entry.getArgumentTypes()[i]))
        numbers[i] = number++;
    for (int64_t argument : from.asArrayRef())
      program.preparation.arguments.push_back(numbers.lookup(argument));
  }
  for (unsigned i = 0; i < numArguments; ++i) {
    auto type = dyn_cast<RankedTensorType>(entry.getArgumentTypes()[i]);
    if (!type)
      continue;
    Argument argument;
    static_cast<TensorSpec &>(argument) = specOf(type);
    DictionaryAttr attrs = entry.getArgAttrDict(i);
    argument.sharding = name(attrs, "mhlo.sharding");
    argument.memoryKind = name(attrs, "mhlo.memory_kind");
    if (attrs && attrs.contains("jax.buffer_donor"))
      argument.donated = true;
    if (auto alias = attrs ? attrs.getAs<IntegerAttr>("tf.aliasing_output") : IntegerAttr()) {
      uint64_t target = alias.getInt();
      if (target >= program.results.size())
        return entry.emitError("expects tf.aliasing_output of argument ")
               << i << " below " << program.results.size() << ", but got " << target;
      argument.donated = true;
      const Result &result = program.results[target];
      if (canTakeMemory(result, argument))
        program.results[target].aliasArgument = program.arguments.size();
    }
    program.arguments.push_back(std::move(argument));
  }
  // An argument with jax.buffer_donor lets any result of the same type take its memory.
  llvm::SmallDenseSet<uint32_t> taken;
  for (const Result &result : program.results)
    taken.insert(result.aliasArgument == kNone ? 0 : result.aliasArgument + 1);
  for (auto [i, argument] : llvm::enumerate(program.arguments)) {
    if (!argument.donated || taken.contains(i + 1))
      continue;
    auto found = llvm::find_if(program.results, [&](const Result &result) {
      return canTakeMemory(result, argument) && result.memoryKind == argument.memoryKind;
    });
    if (found != program.results.end())
      found->aliasArgument = i;
  }
  return success();
}

namespace {

class CallGraph {
public:
  CallGraph(ModuleOp module, const llvm::StringMap<KernelSummary> &kernels) : symbols(module), kernels(kernels) {}

  /// Appends the functions that `function` calls, callees first, itself last. Fails on recursion.
  LogicalResult order(func::FuncOp function, SmallVectorImpl<func::FuncOp> &out) {
    int &state = states[function];
    if (state == 2)
      return success();
    if (state == 1)
      return function.emitError("calls itself: recursion cannot be compiled");
    state = 1;
    LogicalResult result = success();
    function.walk([&](func::CallOp call) {
      if (kernels.contains(call.getCallee()) || failed(result))
        return;
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal())
        result = call.emitError("calls the undefined function @") << call.getCallee();
      else
        result = order(callee, out);
    });
    states[function] = 2;
    out.push_back(function);
    return result;
  }

private:
  SymbolTable symbols;
  const llvm::StringMap<KernelSummary> &kernels;
  llvm::DenseMap<Operation *, int> states;
};

} // namespace

LogicalResult buildProgram(ModuleOp module, StringRef entryName, const llvm::StringMap<KernelSummary> &kernels, uint64_t nearBytes,
                           Program &program) {
  auto entry = module.lookupSymbol<func::FuncOp>(entryName);
  if (!entry)
    return module.emitError("has no function @") << entryName;
  if (failed(describeSignature(entry, program)))
    return failure();
  SmallVector<func::FuncOp> functions;
  CallGraph calls(module, kernels);
  func::FuncOp prepare = preparationOf(entry);
  if ((prepare && failed(calls.order(prepare, functions))) || failed(calls.order(entry, functions)))
    return failure();
  SymbolTable symbols(module);
  ProgramContext context{kernels, symbols, program, nearBytes, {}, {}, 0, {}, LocationTable(program)};
  for (func::FuncOp function : functions) {
    if (failed(checkHeldSizes(function)))
      return failure();
    FunctionBuilder builder(context, function, function == entry);
    if (failed(builder.build()))
      return failure();
    context.functions[function.getName()] = program.functions.size();
    program.functions.push_back(builder.take());
  }
  program.entry = program.functions.size() - 1;
  if (prepare)
    program.preparation.function = context.functions[prepare.getName()];

  auto attr = [&](StringRef name) -> uint32_t {
    auto value = module->getAttrOfType<IntegerAttr>(name);
    return value ? value.getInt() : 1;
  };
  program.numReplicas = attr("mhlo.num_replicas");
  program.numPartitions = attr("mhlo.num_partitions");
  auto bytes = [](const auto &specs) {
    uint64_t total = 0;
    for (const TensorSpec &spec : specs) {
      uint64_t size = byteSize(spec.dtype);
      for (int64_t dim : spec.dims)
        size *= dim == kDynamic ? 0 : dim;
      total += size;
    }
    return total;
  };
  program.memory.arguments = bytes(program.arguments);
  program.memory.results = bytes(program.results);
  for (const Result &result : program.results)
    if (result.aliasArgument != kNone)
      program.memory.aliased += bytes(ArrayRef<Result>(result));
  program.memory.temporaries = program.functions[program.entry].arenaBytes;
  program.metadata.emplace_back(kLiveBytesKey, std::to_string(context.liveBytes[program.entry]));
  if (context.gatheredBytes)
    program.metadata.emplace_back(kGatheredBytesKey, std::to_string(context.gatheredBytes));
  if (auto bytes = entry->getAttrOfType<DenseI64ArrayAttr>(kOrderBytesAttr); bytes && bytes.size() == 2) {
    program.metadata.emplace_back(kGivenLiveBytesKey, std::to_string(bytes[0]));
    program.metadata.emplace_back(kLeastLiveBytesKey, std::to_string(bytes[1]));
  }
  for (const Constant &constant : program.constants)
    program.memory.constants += constant.size;
  program.memory.peak = program.memory.arguments + program.memory.results - program.memory.aliased +
                        program.memory.temporaries + program.memory.constants + bytes(program.preparation.results);
  return success();
}

} // namespace millrace::lowering
