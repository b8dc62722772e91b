// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Main.cpp - fuzz-devices: N devices against one, program after program ===//
// One process for thousands of programs: scripts/fuzz --devices and --in-process start it and talk over pipes. The one side is evaluated,
// on one device, the other one on all, too, so that a program costs milliseconds, or runs as machine code.
//
//   request:  bytes of the text for one device, text, the same for all, number of arguments, then bytes and contents of each (whole
//             arrays, row-major)
//   response: 0, number of results, then for each: bytes and contents on one device, bytes and contents joined from all;
//             or 1, bytes of a message, message
// Every number is a little-endian u64. The process ends with its input. Flags: --compiled runs machine code; --omit-masks
// plants a mistake, --keep-zeros fills up with zeros instead of NaN and ones; --auto-sharding chooses what annotations leave open.
#include "dialects/stablehlo/Ops.h"
#include "dialects/stablehlo/eval/Evaluator.h"
#include "lowering/Compile.h"
#include "lowering/DropShardings.h"
#include "lowering/program/ProgramTypes.h"
#include "passes/autosharding/AutoSharding.h"
#include "passes/calls/Passes.h"
#include "passes/spmd/Partition.h"
#include "passes/spmd/Reshard.h"
#include "tools/RegisterAll.h"
#include "tools/support/programs/LegalizeChlo.h"
#include "tools/support/run/RunProgram.h"
#include "tools/support/run/ShardedArrays.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

using namespace mlir;
using namespace millrace;

namespace {

//===-- Pipes -------------------------------------------------------------===//

bool readBytes(void *to, size_t size) { return std::fread(to, 1, size, stdin) == size; }

bool readNumber(uint64_t &number) { return readBytes(&number, sizeof(number)); }

bool readText(std::string &text) {
  uint64_t size;
  if (!readNumber(size))
    return false;
  text.resize(size);
  return readBytes(text.data(), size);
}

void write(uint64_t number) { std::fwrite(&number, 1, sizeof(number), stdout); }

void write(llvm::StringRef bytes) {
  write(uint64_t(bytes.size()));
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
}

//===-- One program -------------------------------------------------------===//

struct Outcome {
  std::string error;
  std::vector<std::pair<std::string, std::string>> results; ///< on one device, joined from all
};

/// What the tools keep of an argument or result of a partitioned function.
runtime::TensorSpec specOf(RankedTensorType type, DictionaryAttr attrs) {
  runtime::TensorSpec spec;
  spec.dtype = lowering::dtypeOf(type.getElementType());
  spec.dims.assign(type.getShape().begin(), type.getShape().end());
  if (auto sharding = attrs ? attrs.getAs<StringAttr>("mhlo.sharding") : StringAttr())
    spec.sharding = sharding.getValue().str();
  return spec;
}

eval::Value toValue(const tools::Array &array, Type element) {
  return eval::Tensor::fromBytes(RankedTensorType::get(array.dims, element), ArrayRef<char>(array.bytes.data(), array.bytes.size()));
}

tools::Array toArray(const eval::Tensor &tensor) {
  tools::Array array;
  array.dtype = lowering::dtypeOf(tensor.getElementType());
  array.dims.assign(tensor.getShape().begin(), tensor.getShape().end());
  array.bytes.assign(tensor.data(), tensor.numBytes());
  return array;
}

struct Options {
  spmd::PartitionOptions partition;
  bool compiled = false, autoSharding = false, omitsMasks = false;
};

/// A scalar of the element type of `like` that leaves its mark on whatever it gets into: NaN, or one.
Value spoilOf(OpBuilder &builder, Location loc, Value like) {
  auto type = RankedTensorType::get({}, cast<RankedTensorType>(like.getType()).getElementType());
  if (auto kind = dyn_cast<FloatType>(type.getElementType()); kind && APFloat::semanticsHasNaN(kind.getFloatSemantics()))
    return stablehlo::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, APFloat::getNaN(kind.getFloatSemantics())));
  if (auto integer = dyn_cast<IntegerType>(type.getElementType()))
    return stablehlo::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, APInt(integer.getWidth(), 1)));
  return spmd::zeroOf(builder, loc, like);
}

/// The planted mistake: what fills dimensions up is summed with the rest. The partitioner's masks are the only choices of a program without any.
void removeMasks(ModuleOp module) {
  SmallVector<stablehlo::SelectOp> masks;
  module.walk([&](stablehlo::SelectOp mask) { masks.push_back(mask); });
  for (stablehlo::SelectOp mask : masks) {
    mask.getResult().replaceAllUsesWith(mask.getOnTrue());
    mask.erase();
  }
}

class Run {
public:
  Run(MLIRContext &context, const Options &options, const std::string &text, const std::string &spread,
      const std::vector<std::string> &contents)
      : context(context), options(options), text(text), spread(spread), contents(contents) {}

  Outcome operator()() {
    std::string diagnostics;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        diagnostics += (diagnostics.empty() ? "" : "; ") + diagnostic.str();
      return success();
    });
    if (failed(compare()))
      outcome.error += (outcome.error.empty() || diagnostics.empty() ? "" : ": ") + diagnostics;
    if (outcome.error.empty() && outcome.results.empty() && !diagnostics.empty())
      outcome.error = diagnostics;
    return std::move(outcome);
  }

private:
  LogicalResult fail(const Twine &what) {
    outcome.error = what.str();
    return failure();
  }

  LogicalResult fail(const Twine &what, llvm::Error error) { return fail(what + ": " + llvm::toString(std::move(error))); }

  LogicalResult compare() {
    OwningOpRef<ModuleOp> single = parseSourceString<ModuleOp>(text, &context);
    if (!single)
      return fail("does not parse");
    OwningOpRef<ModuleOp> many = parseSourceString<ModuleOp>(spread, &context);
    if (!many)
      return fail("does not parse");
    auto partitions = (*many)->getAttrOfType<IntegerAttr>("mhlo.num_partitions");
    devices = partitions ? partitions.getInt() : 1;
    if (failed(runSingle(*single)))
      return failure();
    if (options.autoSharding && devices > 1 && failed(autosharding::autoShard(*many, {})))
      return fail("automatic sharding");
    return options.compiled ? runCompiled(*many) : runMany(*many);
  }

  LogicalResult runSingle(ModuleOp module) {
    if (failed(lowering::dropShardings(module)) || failed(tools::legalizeChlo(module)))
      return fail("one device: cannot be prepared");
    func::FuncOp entry = eval::entryFunction(module);
    if (entry.getNumArguments() != contents.size())
      return fail("expects " + Twine(entry.getNumArguments()) + " arguments, but got " + Twine(contents.size()));
    SmallVector<eval::Value> values;
    for (auto [type, bytes] : llvm::zip_equal(entry.getArgumentTypes(), contents)) {
      auto tensor = cast<RankedTensorType>(type);
      tools::Array &array = arguments.emplace_back();
      array.dtype = lowering::dtypeOf(tensor.getElementType());
      array.dims.assign(tensor.getShape().begin(), tensor.getShape().end());
      array.bytes = bytes;
      if (int64_t(bytes.size()) != array.numElements() * int64_t(runtime::byteSize(array.dtype)))
        return fail("an argument of " + Twine(bytes.size()) + " bytes does not fit its type");
      values.push_back(toValue(array, tensor.getElementType()));
    }
    auto results = eval::evaluate(entry, values);
    if (!results)
      return fail("one device", results.takeError());
    for (const eval::Value &value : *results)
      wholeResults.emplace_back(value.tensor().getShape().begin(), value.tensor().getShape().end());
    for (const eval::Value &value : *results)
      outcome.results.push_back({std::string(value.tensor().data(), value.tensor().numBytes()), ""});
    return success();
  }

  LogicalResult runMany(ModuleOp module) {
    calls::prepareCollectives(module);
    if (failed(spmd::partition(module, options.partition)) || failed(verify(module)) || failed(tools::legalizeChlo(module)))
      return fail("partitioning");
    if (options.omitsMasks)
      removeMasks(module);
    func::FuncOp entry = eval::entryFunction(module);
    std::vector<SmallVector<eval::Value>> values(devices);
    for (unsigned i = 0; i < arguments.size(); ++i) {
      auto local = cast<RankedTensorType>(entry.getArgumentTypes()[i]);
      auto tiles = tools::cutIntoTiles(arguments[i], specOf(local, entry.getArgAttrDict(i)), devices);
      if (!tiles)
        return fail("argument " + Twine(i) + ": " + std::string(tiles.status().message()));
      for (int64_t device = 0; device < devices; ++device)
        values[device].push_back(toValue((*tiles)[device], local.getElementType()));
    }
    auto results = eval::evaluateOnGrid(entry, values, 1, devices);
    if (!results)
      return fail(Twine(devices) + " devices", results.takeError());
    for (unsigned i = 0; i < entry.getNumResults(); ++i) {
      std::vector<tools::Array> parts;
      for (const auto &each : *results)
        parts.push_back(toArray(each[i].tensor()));
      if (failed(join(i, parts, specOf(cast<RankedTensorType>(entry.getResultTypes()[i]), entry.getResultAttrDict(i)))))
        return failure();
    }
    return success();
  }

  LogicalResult runCompiled(ModuleOp module) {
    CompileOptions compiling;
    compiling.entry = findEntry(module);
    compiling.threads = 1;
    auto compiled = compile(module, compiling);
    if (!compiled)
      return fail("compiling", compiled.takeError());
    auto program = std::make_shared<const runtime::Program>(std::move(*compiled));
    if (program->results.size() != wholeResults.size())
      return fail("the compiled program has " + Twine(program->results.size()) + " results instead of " + Twine(wholeResults.size()));
    auto run = tools::runProgram(program, arguments, /*numDevices=*/0, /*repeat=*/1, /*rngSeed=*/0, /*memoryLimit=*/0, /*profile=*/false, /*piecesFor=*/0, [](unsigned) {});
    if (!run)
      return fail("machine code: " + std::string(run.status().message()));
    for (unsigned i = 0; i < program->results.size(); ++i) {
      std::vector<tools::Array> parts;
      for (auto &results : run->results)
        parts.push_back(std::move(results[i]));
      if (failed(join(i, parts, program->results[i])))
        return failure();
    }
    return success();
  }

  LogicalResult join(unsigned result, ArrayRef<tools::Array> parts, const runtime::TensorSpec &spec) {
    std::vector<const tools::Array *> pointers;
    for (const tools::Array &part : parts)
      pointers.push_back(&part);
    auto whole = tools::joinTiles(pointers, spec, wholeResults[result]);
    if (!whole)
      return fail("result " + Twine(result) + ": " + std::string(whole.status().message()));
    if (failed(checkCopies(*whole, parts, spec, result)))
      return failure();
    outcome.results[result].second = std::move(whole->bytes);
    return success();
  }

  /// Joining takes each tile from one device: the others must hold the same.
  LogicalResult checkCopies(const tools::Array &whole, ArrayRef<tools::Array> parts, const runtime::TensorSpec &spec, unsigned result) {
    for (int64_t device = 0; device < devices; ++device)
      if (!tools::isTileOf(parts[device], whole, spec, device, devices))
        return fail("result " + Twine(result) + ": device " + Twine(device) + " holds something else than its copies");
    return success();
  }

  MLIRContext &context;
  const Options &options;
  const std::string &text, &spread;
  const std::vector<std::string> &contents;
  int64_t devices = 1;
  std::vector<tools::Array> arguments;
  std::vector<std::vector<int64_t>> wholeResults; ///< shapes
  Outcome outcome;
};

} // namespace

int main(int count, char **flags) {
  Options options;
  options.partition.filling = spoilOf;
  for (llvm::StringRef flag : llvm::ArrayRef(flags + 1, count - 1)) {
    if (flag == "--omit-masks")
      options.omitsMasks = true;
    else if (flag == "--keep-zeros")
      options.partition.filling = nullptr;
    else if (flag == "--compiled")
      options.compiled = true;
    else if (flag == "--auto-sharding")
      options.autoSharding = true;
    else
      return 2;
  }
  std::unique_ptr<MLIRContext> context;
  std::string text, spread;
  for (uint64_t index = 0; readText(text) && readText(spread); ++index) {
    // A context keeps every constant it has seen.
    if (index % 100 == 0) {
      DialectRegistry registry;
      registerAllDialects(registry);
      registerCompilerDialects(registry);
      context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
    }
    uint64_t number;
    if (!readNumber(number))
      return 1;
    std::vector<std::string> contents(number);
    for (std::string &each : contents)
      if (!readText(each))
        return 1;
    Outcome outcome = Run(*context, options, text, spread, contents)();
    if (!outcome.error.empty()) {
      write(uint64_t(1));
      write(outcome.error);
    } else {
      write(uint64_t(0));
      write(uint64_t(outcome.results.size()));
      for (auto &[one, joined] : outcome.results) {
        write(one);
        write(joined);
      }
    }
    std::fflush(stdout);
  }
  return 0;
}
