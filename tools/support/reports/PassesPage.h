// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PassesPage.h - What each stop of the compiler changed, as a page ----===//
#pragma once
#include "lowering/Compile.h"

#include <string>
#include <vector>

namespace millrace::tools {

/// A stop of the compiler (CompileOptions::onStop): of the whole program where `kernel` is empty, else of one kernel.
struct StopText {
  std::string stop, kernel, text;
};

/// One HTML file that needs no other: for the program, or a kernel that the reader chooses, two stops side by side as a difference of lines. Texts of
/// more than `kMostTextBytes` are cut, and the page says so.
std::string passesPage(const std::vector<StopText> &stops, const std::string &title);
inline constexpr size_t kMostTextBytes = 400'000;

/// Compiles `module`, which was read from `input`, and writes the page of its stops to `output` (standard output if that is empty). The exit status.
int writePassesPage(mlir::ModuleOp module, CompileOptions options, const std::string &input, const std::string &output);

} // namespace millrace::tools
