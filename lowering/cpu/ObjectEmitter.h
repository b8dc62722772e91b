// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ObjectEmitter.h - LLVM dialect to relocatable object code ----------===//
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
  /// Vector code of the emitters: addresses are advanced and instructions are in order already, so that the passes which would do
  /// that (40 % of the time of code generation) are left out.
  bool quick = false;
  /// Instructions stay in the order they are written in: register tiles fill the registers, and a scheduler that loads all factors of a step
  /// first makes sums wait in memory.
  bool inOrder = false;
  bool interleave = false; ///< several vectors are computed one after the other: they are to take turns (InterleaveChains.h)
  bool unfinished = false; ///< machine code for the time being: no optimization after LLVM IR
  bool keepBitcode = false; ///< for ObjectEmitter::finish()
};

/// What came out of one module, with the intermediate texts on request.
struct ObjectResult {
  std::string object;
  std::string llvmIr, assembly; ///< filled if wanted
  std::string bitcode;          ///< filled if kept
};

/// Translates modules in the LLVM dialect to ELF objects. One emitter per thread: owns an LLVMContext-free target
/// machine; every call uses an LLVM context of its own.
class ObjectEmitter {
public:
  static llvm::Expected<std::unique_ptr<ObjectEmitter>> create(const CpuTarget &target);
  ~ObjectEmitter();

  /// `module` needs the translation interfaces of the dialects LLVM and builtin (registerTranslations).
  llvm::Expected<ObjectResult> emit(mlir::ModuleOp module, const ObjectOptions &options, bool wantTexts = false);

  /// The object that emit() would have made, had `options` not said unfinished, from its bitcode. Results of both have the same bits.
  llvm::Expected<std::string> finish(llvm::StringRef bitcode, ObjectOptions options);

  const CpuTarget &cpu() const { return target; }

private:
  ObjectEmitter();
  /// Changes `ir`.
  llvm::Error generate(llvm::Module &ir, const ObjectOptions &options, bool asText, std::string &output);

  CpuTarget target;
  std::unique_ptr<llvm::TargetMachine> machine;
  struct CleanUp;
  std::unique_ptr<CleanUp> cleanUp; ///< of all modules but those with heavy loops
};

} // namespace millrace::lowering
