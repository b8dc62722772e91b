// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PortableArtifact.cpp - StableHLO programs as portable bytecode -----===//
// The container is MLIR bytecode; its producer string names the version.
#include "passes/vhlo/PortableArtifact.h"

#include "dialects/bytecode/Validate.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "passes/vhlo/Legality.h"
#include "passes/vhlo/Passes.h"
#include "passes/vhlo/Rebuild.h"

using namespace mlir;

namespace millrace::vhlo {

static constexpr StringLiteral producerPrefix = "StableHLO_v";

std::optional<Version> artifactVersion(StringRef bytes) {
  // The artifact begins with the magic number, the version of the format and the producer. The version is one byte in every format.
  if (!bytecode::isBytecode(bytes))
    return std::nullopt;
  StringRef producer = bytes.drop_front(4).take_front(64).drop_front(1);
  producer = producer.substr(0, producer.find('\0'));
  return producer.consume_front(producerPrefix) ? Version::parse(producer) : std::nullopt;
}

void reportNewerVersion(StringRef bytes, MLIRContext &context) {
  std::optional<Version> version = artifactVersion(bytes);
  if (version && currentVersion < version->withoutPatch())
    emitError(UnknownLoc::get(&context)) << "the artifact was written for StableHLO " << version->str()
                                         << ", this reader knows versions up to " << currentVersion.str();
}

OwningOpRef<ModuleOp> readPortableArtifact(StringRef bytes, MLIRContext &context) {
  context.loadDialect<func::FuncDialect, VhloDialect>(); // the dialect depends on StableHLO
  OwningOpRef<ModuleOp> module = bytecode::parseModule(bytes, ParserConfig(&context), "<portable artifact>");
  if (module && succeeded(fromPortableFormat(*module)))
    return module;
  reportNewerVersion(bytes, context);
  return nullptr;
}

LogicalResult fromPortableFormat(ModuleOp module) {
  module.getContext()->loadDialect<func::FuncDialect>();
  WalkResult walk = module.walk([](Operation *op) { return opDef(op) ? WalkResult::interrupt() : WalkResult::advance(); });
  if (!walk.wasInterrupted())
    return success();
  return failure(failed(convertToVersion(module, currentVersion)) || failed(legalizeToStablehlo(module)) ||
                 failed(verify(module)));
}

LogicalResult writePortableArtifact(ModuleOp module, StringRef targetVersion, raw_ostream &os,
                                    const WriteOptions &options) {
  std::string text = targetVersion == "current" ? currentVersion.str() : targetVersion.str();
  FailureOr<Version> target = parseTargetVersion(text, [&] { return emitError(module.getLoc()); });
  if (failed(target))
    return failure();
  module.getContext()->loadDialect<VhloDialect>();
  OwningOpRef<ModuleOp> copy = module.clone();
  if (failed(legalizeToVhlo(*copy, options.allowOtherDialects)))
    return failure();
  // The writers whose bytes are compared with Millrace's support versions up to 1.17: changes after it must not affect the order of uses.
  constexpr Version compared{1, 17};
  if (failed(convertToVersion(*copy, target->withoutPatch() < compared ? compared : *target)))
    return failure();
  orderUses(*copy);
  if (failed(convertToVersion(*copy, *target)))
    return failure();
  std::string producer = (producerPrefix + target->str()).str(); // the configuration does not own the text
  BytecodeWriterConfig config(producer);
  config.setDesiredBytecodeVersion(bytecodeFormat(*target));
  return writeBytecodeToFile(*copy, os, config);
}

} // namespace millrace::vhlo
