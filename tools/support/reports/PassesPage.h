// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PassesPage.h - HTML page of the changes by each stop ----------------===//
#pragma once
#include "lowering/Compile.h"

#include <string>
#include <vector>

namespace millrace::tools {

/// The text of a stop of the compiler (CompileOptions::onStop): of the whole program if `kernel` is empty, else of one kernel.
struct StopText {
  std::string stop, kernel, text;
};

/// Returns one HTML file: for the program, or a kernel that the reader chooses, it compares two stops line by line. Texts of more than
/// `kMostTextBytes` are cut, and the page says so.
std::string passesPage(const std::vector<StopText> &stops, const std::string &title);
inline constexpr size_t kMostTextBytes = 400'000;

/// Compiles `module`, which was read from `input`, and writes the page of its stops to `output`, or to standard output if that is empty. Returns the
/// exit status.
int writePassesPage(mlir::ModuleOp module, CompileOptions options, const std::string &input, const std::string &output);

} // namespace millrace::tools
