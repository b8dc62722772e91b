// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ModuleDump.h - XLA_FLAGS=--xla_dump_to=FOLDER ------------------------===//
// Files of every module that is compiled, whoever asks for it: FOLDER/module_NNNN.NAME.before_optimizations.{txt,mlir} (HLO and StableHLO),
// .after_optimizations.{txt,mlir} (HLO of the simplified module, and its kernels), .ir-with-opt.ll and .s of all kernels. --xla_dump_hlo_as_text is
// the default, --xla_dump_hlo_as_dot writes graphs for graphviz, --xla_dump_hlo_as_html such graphs as pages, --xla_dump_hlo_as_proto HLO as XLA's
// protocol buffers (*.hlo.pb); --xla_dump_hlo_module_re and --xla_dump_hlo_pass_re choose modules by name and passes
// after which there is a file (NNNN.after_PASS.mlir); --xla_dump_max_hlo_modules, --xla_dump_include_timestamp. Without --xla_dump_to, or with "-",
// texts go to standard output.
#pragma once
#include "lowering/Compile.h"

#include <memory>
#include <string>

namespace millrace {

class ModuleDump {
public:
  /// Null, unless XLA_FLAGS asks for files of modules of that name. Every call is another module. `process` stands before names of files, "process_1.".
  static std::unique_ptr<ModuleDump> next(llvm::StringRef name, llvm::StringRef process = "");
  ModuleDump(const ModuleDump &) = delete;
  ~ModuleDump();

  /// Writes `module` as it is, and makes `options` tell of its compilation, which follows on this thread before the dump is destroyed.
  void follow(mlir::ModuleOp module, CompileOptions &options);
  /// Of the passes of the module that is followed on this thread, if there is one.
  static void afterPass(llvm::StringRef pass, mlir::Operation *op);

private:
  ModuleDump() = default;
  void write(llvm::StringRef suffix, llvm::StringRef text) const;
  void writeModule(llvm::StringRef stage);
  std::string folder, prefix, passPattern;
  bool isText = false, isDot = false, isProto = false, isHtml = false;
  unsigned passes = 0; ///< files of passes so far
  mlir::ModuleOp module;
  std::string machineIr, assembly;
};

/// HLO text of `module`, which stays as it is; empty where HLO has no form for something in it.
std::string hloTextOf(mlir::ModuleOp module);

} // namespace millrace
