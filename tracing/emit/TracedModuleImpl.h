// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TracedModuleImpl.h - Contents of a TracedModule, with MLIR's types --===//
#pragma once
#include "lowering/CompilerSession.h"
#include "tracing/emit/TracedModule.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace millrace::tracing {

struct TracedModule::Impl {
  explicit Impl(size_t programBytes) : session(programBytes) {}
  CompilerSession session;
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< destroyed before the session; null until it is emitted or parsed
};

} // namespace millrace::tracing
