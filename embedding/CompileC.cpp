// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CompileC.cpp - millrace_compile of the C ABI ------------------------===//
// The rest of the ABI is in runtime/embedding: this file alone needs the compiler.
#include "dialects/bytecode/Validate.h"
#include "lowering/CompilerSession.h"
#include "lowering/client/CompileThroughCache.h"
#include "passes/vhlo/PortableArtifact.h"
#include "runtime/embedding/Objects.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

using namespace millrace;

namespace {

runtime::Status compileText(llvm::StringRef code, const char *entry, millrace_program **result) {
  runtime::StatusOr<runtime::Cache *> cache = runtime::processCache();
  if (!cache)
    return cache.status();

  CompilerSession session(code.size());
  mlir::MLIRContext &context = session.context();
  const ErrorLog errors(context);
  // An unnamed buffer: locations read "program:2:7".
  mlir::OwningOpRef<mlir::ModuleOp> module =
      bytecode::parseModule(code, mlir::ParserConfig(&context), "program");
  if (!module || failed(vhlo::fromPortableFormat(*module))) {
    vhlo::reportNewerVersion(code, context);
    return errors.status(runtime::Code::InvalidArgument, errors.text().empty() ? "the program cannot be parsed" : "");
  }

  CompileRequest request;
  request.options.prepared = &session.passes();
  if (entry)
    request.options.entry = entry;
  runtime::StatusOr<CompiledProgram> found = compileThroughCache(*module, *cache, std::move(request), &errors);
  if (!found)
    return found.status();
  *result = new millrace_program{std::move(found->program)};
  return {};
}

} // namespace

extern "C" millrace_error *millrace_compile(const char *code, size_t size, const char *entry,
                                            millrace_program **program) {
  return runtime::toCError(compileText(llvm::StringRef(code, size), entry, program));
}
