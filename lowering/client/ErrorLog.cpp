// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ErrorLog.cpp - The errors of one compilation, as text for its client -===//
#include "lowering/client/ErrorLog.h"

#include "lowering/StopError.h"

#include "llvm/ADT/StringRef.h"

using namespace mlir;

namespace millrace {

ErrorLog::ErrorLog(MLIRContext &context) : handler(&context, [this](Diagnostic &diagnostic) {
                                             if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
                                               collect(diagnostic);
                                             return success();
                                           }) {}

void ErrorLog::collect(Diagnostic &diagnostic) {
  const std::string place = lowering::placeText(diagnostic.getLocation());
  errors += (errors.empty() ? "" : "\n") + (place.empty() ? "" : place + ": ") + "error: " + diagnostic.str();
  for (Diagnostic &note : diagnostic.getNotes())
    // MLIR prints the whole operation, constants included; the last line names it (StopError).
    if (const std::string text = note.str(); !llvm::StringRef(text).starts_with("see current operation: "))
      errors += "\n  note: " + text;
}

runtime::Status ErrorLog::status(runtime::Code code, const std::string &summary) const {
  return {code, errors.empty() ? summary : summary.empty() ? errors : errors + "\n" + summary};
}

} // namespace millrace
