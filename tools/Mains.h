// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Mains.h - The command-line tools as functions ----------------------===//
// The code of the tools lies in a library, and their executables are one call each: a wheel then holds the compiler once for all of them.
#pragma once

namespace millrace::tools {

/// Each runs a tool with the arguments of its process and returns the exit status. A process calls one of them, once: their options are
/// registered with LLVM, which accepts a name once.
int xlaOpt(int argc, char **argv);
int xlaTranslate(int argc, char **argv);
int xlaCompile(int argc, char **argv);
int xlaRun(int argc, char **argv);
int xlaProf(int argc, char **argv);

} // namespace millrace::tools
