// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Source.cpp - Program files: StableHLO text, bytecode, compiled -----===//
#include "tools/support/programs/Source.h"

#include "dialects/bytecode/Validate.h"
#include "dialects/stablehlo/verify/TypeRules.h"
#include "lowering/Compile.h"
#include "passes/vhlo/PortableArtifact.h"
#include "tools/RegisterAll.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <fstream>

using namespace mlir;

namespace millrace::tools {

static constexpr llvm::StringLiteral kCompiledMagic = "MILLRACE";

/// Returns why `bytes` are no StableHLO module; empty if the parser can try to read them.
static llvm::StringRef notAModule(llvm::StringRef bytes) {
  if (bytes.starts_with(kCompiledMagic))
    return "this is a compiled program: xla-run runs it; here StableHLO is expected";
  if (!bytecode::isBytecode(bytes) && bytes.take_front(4096).contains('\0'))
    return "this is no StableHLO: neither text nor MLIR's bytecode";
  return "";
}

Session::Session() {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerCompilerDialects(registry);
  mlirContext = std::make_unique<MLIRContext>(registry);
  sources = std::make_unique<llvm::SourceMgr>();
  handler = std::make_unique<SourceMgrDiagnosticHandler>(*sources, mlirContext.get(), llvm::errs());
}

Session::~Session() = default;

OwningOpRef<ModuleOp> Session::load(const std::string &path) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(path, &error);
  if (!file) {
    llvm::WithColor::error(llvm::errs()) << error << "\n";
    return nullptr;
  }
  if (llvm::StringRef why = notAModule(file->getBuffer()); !why.empty()) {
    llvm::WithColor::error(llvm::errs(), path) << why << "\n";
    return nullptr;
  }
  file = bytecode::checkedBuffer(std::move(file), error);
  if (!file) {
    llvm::WithColor::error(llvm::errs(), path) << error << "\n";
    return nullptr;
  }
  sources->AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(*sources, mlirContext.get());
  // The types are checked before arguments of such types are made.
  bool isGood = module && succeeded(vhlo::fromPortableFormat(*module)) &&
                succeeded(stablehlo::verifyTypes(*module, /*onlyKnown=*/true));
  if (isGood)
    return module;
  vhlo::reportNewerVersion(sources->getMemoryBuffer(sources->getMainFileID())->getBuffer(), *mlirContext);
  return nullptr;
}

bool isCompiledProgram(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  char magic[kCompiledMagic.size()] = {};
  file.read(magic, sizeof(magic));
  return file && llvm::StringRef(magic, sizeof(magic)) == kCompiledMagic;
}

int fail(llvm::StringRef tool, llvm::StringRef message) {
  llvm::errs() << tool << ": error: " << message << "\n";
  return 1;
}

} // namespace millrace::tools
