// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TracedModule.cpp - A traced program in the compiler's context --------===//
#include "tracing/emit/TracedModule.h"

#include "lowering/client/ErrorLog.h"
#include "tracing/emit/TracedModuleImpl.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

namespace millrace::tracing {

TracedModule::TracedModule(size_t programBytes) : impl(std::make_unique<Impl>(programBytes)) {}
TracedModule::TracedModule(TracedModule &&) noexcept = default;
TracedModule &TracedModule::operator=(TracedModule &&) noexcept = default;
TracedModule::~TracedModule() = default;

runtime::StatusOr<TracedModule> TracedModule::parse(const std::string &text) {
  TracedModule made(text.size());
  const ErrorLog errors(made.impl->session.context());
  made.impl->module = mlir::parseSourceString<mlir::ModuleOp>(text, &made.impl->session.context());
  if (!made.impl->module)
    return runtime::internalError("the traced program cannot be parsed: " + errors.text());
  return made;
}

std::string TracedModule::text() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*impl->module)->print(stream, mlir::OpPrintingFlags().enableDebugInfo());
  return text;
}

} // namespace millrace::tracing
