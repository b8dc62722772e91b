// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Main.cpp - The executable of one tool ------------------------------===//
// CMake compiles this file once per tool, with MILLRACE_TOOL being the function of Mains.h that it calls.
#include "tools/Mains.h"

int main(int argc, char **argv) { return millrace::tools::MILLRACE_TOOL(argc, argv); }
