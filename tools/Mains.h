// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Mains.h - The command-line tools as functions ----------------------===//
// The code of the tools is in a library, and each executable is one call, so that a wheel contains the compiler once for all of them.
#pragma once

namespace millrace::tools {

/// Each function runs a tool with the arguments of its process and returns the exit status. A process must call only one of them, once, because their
/// options are registered with LLVM, which accepts a name once.
int xlaOpt(int argc, char **argv);
int xlaTranslate(int argc, char **argv);
int xlaCompile(int argc, char **argv);
int xlaRun(int argc, char **argv);
int xlaProf(int argc, char **argv);

} // namespace millrace::tools
