// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TracedModuleImpl.h - What a TracedModule is for those who know MLIR --===//
#pragma once
#include "lowering/CompilerSession.h"
#include "tracing/TracedModule.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace millrace::tracing {

struct TracedModule::Impl {
  explicit Impl(size_t programBytes) : session(programBytes) {}
  CompilerSession session;
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< goes before the session; null until it is emitted or parsed
};

} // namespace millrace::tracing
