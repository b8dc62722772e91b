// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ObjectEmitter.h - Compile the LLVM dialect to object code ----------===//
#pragma once

#include "lowering/cpu/CpuTarget.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace millrace::lowering {

struct ObjectOptions {
  bool vectorizeLoops = false; ///< scalar loops over many elements: LLVM's full pipeline; else a short clean-up
  /// Set for the emitters' vector code, whose addresses are strength-reduced and whose instructions are ordered already: the passes that would do
  /// that (40 % of the time of code generation) are left out.
  bool quick = false;
  /// Instructions keep their order: register tiles fill the registers, and a scheduler that loads all operands of a step first would spill the
  /// accumulators.
  bool inOrder = false;
  bool interleave = false; ///< interleave the computations of consecutive vectors (InterleaveChains.h)
  bool unfinished = false; ///< quick machine code: no optimization after LLVM IR
  bool keepBitcode = false; ///< for ObjectEmitter::finish()
};

/// The object code of one module, with intermediate texts on request.
struct ObjectResult {
  std::string object;
  std::string llvmIr, assembly; ///< filled if wanted
  std::string bitcode;          ///< filled if kept
};

/// Translates modules in the LLVM dialect to ELF objects. One emitter per thread: it owns a target machine, and every call uses its own LLVM context.
class ObjectEmitter {
public:
  static llvm::Expected<std::unique_ptr<ObjectEmitter>> create(const CpuTarget &target);
  ~ObjectEmitter();

  /// `module` needs the translation interfaces of the dialects LLVM and builtin (registerTranslations).
  llvm::Expected<ObjectResult> emit(mlir::ModuleOp module, const ObjectOptions &options, bool wantTexts = false);

  /// Returns the object that emit() would have generated without `unfinished`, from its bitcode. Results of both objects have equal bits.
  llvm::Expected<std::string> finish(llvm::StringRef bitcode, ObjectOptions options);

  const CpuTarget &cpu() const { return target; }

private:
  ObjectEmitter();
  /// Changes `ir`.
  llvm::Error generate(llvm::Module &ir, const ObjectOptions &options, bool asText, std::string &output);

  CpuTarget target;
  std::unique_ptr<llvm::TargetMachine> machine;
  struct CleanUp;
  std::unique_ptr<CleanUp> cleanUp; ///< for all modules without heavy loops
};

} // namespace millrace::lowering
