// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TextOutput.cpp - Write text to a file or the terminal --------------===//
#include "tools/support/programs/TextOutput.h"

#include "tools/support/programs/Source.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

namespace millrace::tools {

int writeText(llvm::StringRef tool, llvm::StringRef path, llvm::StringRef text) {
  if (path.empty() || path == "-") {
    llvm::outs() << text;
    return 0;
  }
  std::error_code error;
  llvm::ToolOutputFile file(path, error, llvm::sys::fs::OpenFlags::OF_Text);
  if (error)
    return fail(tool, ("cannot write '" + path + "': " + error.message()).str());
  file.os() << text;
  file.keep();
  return 0;
}

} // namespace millrace::tools
