// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StopError.h - Where a compilation stopped, and because of what -------===//
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/Error.h"

#include <string>
#include <thread>

namespace millrace::lowering {

/// Where the user's program asks for what has this location: "aten::mm (train.py:12)", "train.py:12:5", or empty where it does not say.
std::string placeText(mlir::Location location);

/// While it lives, it keeps the first error that its thread reports in a context, and leaves all errors to the handlers that were there before.
/// A compilation has one, and each thread that compiles kernels has its own.
class StopError {
public:
  explicit StopError(mlir::MLIRContext *context);

  /// The error of a compilation that failed before `stop`: "compilation stopped at 'linalg' of kernel 'dot', at operation
  /// 'stablehlo.dot_general' of train.py:12:5". `whole`: the location of what was compiled, for passes that fail and do not say where.
  llvm::Error at(llvm::StringRef stop, mlir::Location whole, llvm::StringRef kernel = "") const;
  /// Forgets what was kept: what follows is another kernel.
  void restart() { isSet = false, operation.clear(), place.clear(); }

private:
  void keep(mlir::Diagnostic &error);

  std::thread::id owner = std::this_thread::get_id();
  bool isSet = false;
  std::string operation, place;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace millrace::lowering
