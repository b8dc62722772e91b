// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ConstantFlag.cpp - The flag --constant -----------------------------===//
#include "tools/support/flags/ConstantFlag.h"

#include "dialects/millrace/Arguments.h"
#include "dialects/millrace/Attributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace millrace::tools {

llvm::Error markConstants(ModuleOp module, const std::string &entry, const std::string &which) {
  if (which.empty())
    return llvm::Error::success();
  auto function = module.lookupSymbol<func::FuncOp>(entry);
  if (!function)
    return llvm::createStringError("--constant: the module has no function @" + entry);
  auto mark = [&](unsigned argument) { function.setArgAttr(argument, kConstantAttr, UnitAttr::get(module.getContext())); };
  unsigned count = function.getNumArguments();
  if (which == "all") {
    for (unsigned argument = 0; argument < count; ++argument)
      if (!isDonated(function, argument))
        mark(argument);
    return llvm::Error::success();
  }
  for (StringRef range : llvm::split(which, ',')) {
    auto [first, last] = range.split('-');
    unsigned begin = 0, end = 0;
    if (first.getAsInteger(10, begin) || (last.empty() ? range.contains('-') : last.getAsInteger(10, end)))
      return llvm::createStringError("--constant expects all, or numbers and ranges of arguments, 1,3-5, but got '" + which + "'");
    end = last.empty() ? begin : end;
    if (end < begin || end >= count)
      return llvm::createStringError("--constant names argument " + llvm::Twine(end < begin ? begin : end) + ", but @" + entry + " has " + llvm::Twine(count) +
                                     " arguments");
    for (unsigned argument = begin; argument <= end; ++argument) {
      if (isDonated(function, argument))
        return llvm::createStringError("--constant names argument " + llvm::Twine(argument) + ", which is donated");
      mark(argument);
    }
  }
  return llvm::Error::success();
}

} // namespace millrace::tools
