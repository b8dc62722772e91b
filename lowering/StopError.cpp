// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StopError.cpp - Where a compilation stopped, and because of what -----===//
#include "lowering/StopError.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace millrace::lowering {

std::string placeText(Location location) {
  std::string name, line;
  location->walk([&](Location inner) {
    if (auto named = dyn_cast<NameLoc>(inner); named && name.empty())
      name = named.getName().str();
    if (auto file = dyn_cast<FileLineColLoc>(inner); file && line.empty()) {
      line = file.getFilename().str() + ":" + std::to_string(file.getLine());
      if (file.getColumn()) // PyTorch's programs have none
        line += ":" + std::to_string(file.getColumn());
    }
    return WalkResult::advance();
  });
  return name.empty() ? line : line.empty() ? name : name + " (" + line + ")";
}

/// The name between the first pair of `quote`s of a text; empty if that is no name of an operation.
static StringRef quotedName(StringRef text, char quote) {
  StringRef name = text.split(quote).second.split(quote).first;
  bool isName = name.contains('.') && llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
  return isName ? name : StringRef();
}

/// The operation that an error is about: emitOpError() begins with its name, and MLIR adds the operation as a note to both kinds of errors.
static std::string operationOf(Diagnostic &error) {
  const std::string message = error.str();
  if (StringRef(message).starts_with("'"))
    if (StringRef name = quotedName(message, '\''); !name.empty())
      return name.str();
  for (Diagnostic &note : error.getNotes()) {
    const std::string text = note.str();
    if (StringRef rest = text; rest.consume_front("see current operation: "))
      return quotedName(rest, '"').str();
  }
  return "";
}

StopError::StopError(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error && !isSet && std::this_thread::get_id() == owner)
          keep(diagnostic);
        return failure(); // handlers that were there before report it
      }) {}

void StopError::keep(Diagnostic &error) {
  isSet = true;
  operation = operationOf(error);
  place = placeText(error.getLocation());
}

llvm::Error StopError::at(StringRef stop, Location whole, StringRef kernel) const {
  std::string text = "compilation stopped at '" + stop.str() + "'";
  if (!kernel.empty())
    text += " of kernel '" + kernel.str() + "'";
  const std::string where = place.empty() ? placeText(whole) : place;
  if (!operation.empty())
    text += ", at operation '" + operation + "'" + (where.empty() ? "" : " of " + where);
  else if (!where.empty())
    text += ", at " + where;
  return llvm::createStringError(text);
}

} // namespace millrace::lowering
