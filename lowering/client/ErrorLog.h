// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ErrorLog.h - The errors of one compilation, as text for its client ---===//
#pragma once

#include "runtime/base/Status.h"

#include "mlir/IR/Diagnostics.h"

#include <string>

namespace millrace {

/// Collects the errors that are reported in a context while it lives, one line each with the user's line:
/// "aten::mm (train.py:12): error: …", and their notes below. Takes all diagnostics: nothing is written to standard error.
class ErrorLog {
public:
  explicit ErrorLog(mlir::MLIRContext &context);

  /// The errors so far, and `summary` below them; either may be empty.
  runtime::Status status(runtime::Code code, const std::string &summary) const;
  const std::string &text() const { return errors; }

private:
  void collect(mlir::Diagnostic &diagnostic);

  std::string errors;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace millrace
