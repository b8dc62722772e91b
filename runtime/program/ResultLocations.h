// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ResultLocations.h - The lines that make a program's results ----------===//
// A kernel that makes a result may have been fused from operations of several lines, and its step has one location. The compiler keeps those of the
// results in the metadata of the program: profiles say by them whose memory a result is.
#pragma once
#include "runtime/program/Program.h"

namespace millrace::runtime {

/// Keeps an index into Program::locations per result, kNone where nothing is known.
void setResultLocations(Program &program, const std::vector<uint32_t> &indices);

/// What setResultLocations() kept; empty without it. The indices are checked: each is one of the program's locations, or kNone.
std::vector<uint32_t> resultLocations(const Program &program);

} // namespace millrace::runtime
