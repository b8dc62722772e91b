// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PredictMemory.cpp - The memory of a program before it is compiled ---===//
#include "lowering/PredictMemory.h"

#include "dialects/millrace/Attributes.h"
#include "dialects/stablehlo/Ops.h"
#include "lowering/CompilerSession.h"
#include "lowering/DropShardings.h"
#include "lowering/Pipeline.h"
#include "lowering/program/BufferLives.h"
#include "lowering/program/BuildProgram.h"
#include "passes/calls/Passes.h"
#include "passes/fusion/plan/FusionPolicy.h"
#include "runtime/base/FloatModes.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <memory>

using namespace mlir;

namespace millrace {
namespace {

/// The prefix of location names that identify operations of the program; the operation's number follows.
constexpr llvm::StringLiteral kMark = "operation ";

/// Returns the operation's number in a location, or -1 if the location has none.
int64_t numberIn(Location location) {
  int64_t number = -1;
  location->walk([&](Location inner) {
    auto name = dyn_cast<NameLoc>(inner);
    StringRef text = name ? name.getName().getValue() : StringRef();
    if (!text.consume_front(kMark) || text.getAsInteger(10, number))
      return WalkResult::advance();
    return WalkResult::interrupt();
  });
  return number;
}

/// CompiledMemory, with numbers of operations instead of values.
struct Answer {
  struct Buffer {
    int64_t operation; ///< -1 if it is unknown
    unsigned result;
    int64_t bytes, begin, end;
  };
  std::vector<Buffer> buffers;
  int64_t times = 0, constants = 0;
  std::vector<unsigned> ownResults;
  std::vector<std::pair<int64_t, unsigned>> elsewhere; ///< numbers of operations, and of their results
  std::vector<std::pair<int64_t, int64_t>> timeOf; ///< numbers of operations, and times
  std::string whyNot; ///< if it is set, the rest is not
};

/// The bytes of constants that the program holds. Splat constants are filled where they are used.
int64_t bytesOfConstants(ModuleOp module) {
  llvm::DenseMap<Attribute, int64_t> bytes;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function->hasAttr(kKernelAttr))
      function.walk([&](stablehlo::ConstantOp op) {
        auto value = dyn_cast<DenseElementsAttr>(op.getValue());
        if (value && !value.isSplat())
          bytes[value] = int64_t(value.getRawData().size());
      });
  int64_t sum = 0;
  for (auto &[value, size] : bytes)
    sum += size;
  return sum;
}

class Reader {
public:
  explicit Reader(ModuleOp module) : module(module), symbols(module) {}

  Answer read(func::FuncOp entry) {
    Answer answer;
    std::optional<lowering::BufferLives> lives = lowering::livesOfBuffers(module, entry);
    runtime::Program program;
    if (!lives || failed(lowering::describeSignature(entry, program))) {
      answer.whyNot = "sizes of values are not known";
      return answer;
    }
    answer.times = lives->times;
    answer.constants = bytesOfConstants(module);
    auto result = program.results.begin(); // of tensors alone
    for (auto [number, type] : llvm::enumerate(entry.getResultTypes()))
      if (isa<RankedTensorType>(type) && (result++)->aliasArgument == runtime::kNone)
        answer.ownResults.push_back(unsigned(number));
    for (const lowering::LiveBuffer &buffer : lives->buffers) {
      auto [operation, result] = origin(buffer.value);
      answer.buffers.push_back({operation, result, int64_t(buffer.bytes), buffer.begin, buffer.end});
    }
    for (Value value : lives->elsewhere)
      if (auto made = origin(value); made.first >= 0)
        answer.elsewhere.push_back(made);
    std::map<int64_t, int64_t> times;
    auto add = [&](Operation *op, int64_t time) {
      if (int64_t number = numberIn(op->getLoc()); number >= 0) {
        auto [known, isNew] = times.try_emplace(number, time);
        known->second = std::min(known->second, time);
      }
    };
    for (auto [op, time] : lives->timeOf) {
      add(op, time);
      if (func::FuncOp kernel = kernelOf(op))
        kernel.walk([&, time = time](Operation *inner) { add(inner, time); });
    }
    answer.timeOf.assign(times.begin(), times.end());
    return answer;
  }

private:
  func::FuncOp kernelOf(Operation *op) {
    auto call = dyn_cast<func::CallOp>(op);
    auto callee = call ? symbols.lookup<func::FuncOp>(call.getCallee()) : func::FuncOp();
    return callee && callee->hasAttr(kKernelAttr) ? callee : func::FuncOp();
  }

  /// Returns the number of the operation from which a value comes, and which of its results it was.
  std::pair<int64_t, unsigned> origin(Value value) {
    auto made = dyn_cast<OpResult>(value);
    if (!made)
      return {-1, 0};
    if (func::FuncOp kernel = kernelOf(made.getOwner()))
      if (auto inner = dyn_cast<OpResult>(kernel.getBody().front().getTerminator()->getOperand(made.getResultNumber())))
        if (int64_t number = numberIn(inner.getOwner()->getLoc()); number >= 0)
          return {number, inner.getResultNumber()};
    return {numberIn(made.getOwner()->getLoc()), made.getResultNumber()};
  }

  ModuleOp module;
  SymbolTable symbols;
};

/// Compiles a program up to the stop "fused" and returns its memory.
Answer predict(const std::string &bytecode, const std::string &entry, const PipelineOptions &options, int64_t devices) {
  const runtime::DefaultFloatModes modes; // as of a compilation
  CompilerSession session(bytecode.size());
  MLIRContext &context = session.context();
  Answer answer;
  ScopedDiagnosticHandler errors(&context, [&](Diagnostic &each) {
    if (answer.whyNot.empty() && each.getSeverity() == DiagnosticSeverity::Error)
      answer.whyNot = each.str();
    return success();
  });
  auto fails = [&](StringRef stop) {
    if (answer.whyNot.empty())
      answer.whyNot = ("compilation stops before '" + stop + "'").str();
    return answer;
  };
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(bytecode, ParserConfig(&context));
  if (!module)
    return fails("stablehlo");
  calls::prepareCollectives(*module);
  if (failed(lowering::dropShardings(*module)))
    return fails("partitioned");
  PassManager simplification(&context, ModuleOp::getOperationName()), fusion(&context, ModuleOp::getOperationName());
  lowering::addSimplifyPasses(simplification, options);
  lowering::addFusionPasses(fusion, options, devices);
  for (auto [passes, stop] : {std::pair(&simplification, "simplified"), std::pair(&fusion, "fused")}) {
    passes->enableVerifier(false);
    if (failed(passes->run(*module)))
      return fails(stop);
  }
  auto function = module->lookupSymbol<func::FuncOp>(entry);
  return function ? Reader(*module).read(function) : fails("fused");
}

/// Returns the value of the program that result `number` of `op` is, or the first one if `op` has other results now.
Value resultOf(Operation *op, unsigned number) {
  if (number < op->getNumResults() && isa<RankedTensorType>(op->getResult(number).getType()))
    return op->getResult(number);
  for (Value result : op->getResults())
    if (isa<RankedTensorType>(result.getType()))
      return result;
  return {};
}

} // namespace

autosharding::MemoryOf memoryPredictor(const PipelineOptions &options) {
  // Copies of the function share it: a program is planned in several turns.
  auto known = std::make_shared<std::map<std::pair<std::string, int64_t>, Answer>>();
  return [options, known](ModuleOp module, int64_t devices, std::string &whyNot) -> std::optional<autosharding::CompiledMemory> {
    std::vector<Operation *> operations;
    module.walk([&](Operation *op) { operations.push_back(op); });
    OwningOpRef<ModuleOp> copy = module.clone();
    int64_t next = 0;
    copy->walk([&](Operation *op) {
      op->setLoc(NameLoc::get(StringAttr::get(op->getContext(), kMark + Twine(next++))));
    });
    if (devices > 1)
      (*copy)->removeAttr("mhlo.num_partitions"); // the copy is compiled for one device with the memory of all
    std::string bytecode;
    llvm::raw_string_ostream stream(bytecode);
    const std::string entry = findEntry(module);
    if (entry.empty() || failed(writeBytecodeToFile(*copy, stream))) {
      whyNot = "it has no function to run, or cannot be written";
      return std::nullopt;
    }
    auto found = known->find({bytecode, devices});
    if (found == known->end())
      found = known->emplace(std::pair(bytecode, devices), predict(bytecode, entry, options, devices)).first;
    const Answer &answer = found->second;
    whyNot = answer.whyNot;
    if (!whyNot.empty())
      return std::nullopt;
    autosharding::CompiledMemory memory;
    memory.times = answer.times;
    memory.constants = answer.constants;
    memory.ownResults = answer.ownResults;
    for (const Answer::Buffer &each : answer.buffers)
      memory.buffers.push_back({each.operation < 0 ? Value() : resultOf(operations[each.operation], each.result), each.bytes, each.begin, each.end});
    for (auto [operation, result] : answer.elsewhere)
      if (Value value = resultOf(operations[operation], result))
        memory.elsewhere.push_back(value);
    for (auto [operation, time] : answer.timeOf)
      memory.timeOf[operations[operation]] = time;
    return memory;
  };
}

} // namespace millrace
