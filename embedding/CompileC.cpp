// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompileC.cpp - millrace_compile of the C ABI ------------------------===//
// The rest of the ABI is in runtime/embedding: this file alone needs the compiler.
#include "dialects/bytecode/Validate.h"
#include "lowering/CacheKey.h"
#include "lowering/CompileForClient.h"
#include "lowering/CompilerSession.h"
#include "lowering/ModuleDump.h"
#include "passes/vhlo/PortableArtifact.h"
#include "runtime/cache/CachedProgram.h"
#include "runtime/embedding/Objects.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/raw_ostream.h"

using namespace millrace;

namespace {

runtime::Status compileText(llvm::StringRef code, const char *entry, millrace_program **result) {
  runtime::StatusOr<runtime::Cache *> cache = runtime::processCache();
  if (!cache)
    return cache.status();

  CompilerSession session(code.size());
  mlir::MLIRContext &context = session.context();
  std::string errors;
  mlir::ScopedDiagnosticHandler collect(&context, [&](mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
      return mlir::success();
    llvm::raw_string_ostream stream(errors);
    if (!errors.empty())
      stream << "\n";
    stream << diagnostic.getLocation() << ": " << diagnostic.str();
    for (mlir::Diagnostic &note : diagnostic.getNotes())
      stream << "\n  note: " << note.str();
    return mlir::success();
  });
  // An unnamed buffer: locations read "program:2:7".
  mlir::OwningOpRef<mlir::ModuleOp> module =
      bytecode::parseModule(code, mlir::ParserConfig(&context), "program");
  if (!module || failed(vhlo::fromPortableFormat(*module))) {
    vhlo::blameVersion(code, context);
    return runtime::invalidArgument(errors.empty() ? "the program cannot be parsed" : errors);
  }

  CompileOptions options;
  options.prepared = &session.passes();
  if (entry)
    options.entry = entry;
  options.kernelStore = runtime::kernelStore(**cache);
  runtime::CacheKey key;
  for (auto &[name, value] : cacheKeyParts(*module, options))
    key.add(name, value);
  const std::unique_ptr<ModuleDump> dump = ModuleDump::next(module->getName().value_or("module"));
  auto compileNow = [&]() -> runtime::StatusOr<runtime::Program> {
    if (dump)
      dump->follow(*module, options);
    llvm::Expected<runtime::Program> program = compileForClient(*module, options, module->getName().value_or("a program"));
    if (program)
      return std::move(*program);
    std::string summary = llvm::toString(program.takeError());
    return runtime::invalidArgument(errors.empty() ? summary : errors + "\n" + summary);
  };
  if (dump) { // what is to be seen happens in the compiler
    runtime::StatusOr<runtime::Program> program = compileNow();
    if (!program)
      return program.status();
    *result = new millrace_program{std::make_shared<const runtime::Program>(std::move(*program))};
    return {};
  }
  auto found = runtime::cachedProgram(**cache, key, compileNow);
  if (!found)
    return found.status();
  *result = new millrace_program{found->program};
  return {};
}

} // namespace

extern "C" millrace_error *millrace_compile(const char *code, size_t size, const char *entry,
                                            millrace_program **program) {
  return runtime::toCError(compileText(llvm::StringRef(code, size), entry, program));
}
