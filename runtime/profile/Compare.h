// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compare.h - What is slower in one recording than in another ----------===//
#pragma once
#include "runtime/profile/Summary.h"

namespace millrace::runtime::profile {

/// Two recordings of the same work, step by step. Times are nanoseconds of one execution of the program, so that recordings of different lengths
/// can be compared.
struct Comparison {
  struct Row {
    const Summary::Row *before = nullptr, *after = nullptr; ///< of the summaries; null: that recording has no such step
    double beforeNs = 0, afterNs = 0; ///< per execution of its program
    double costNs = 0;                ///< that the difference makes in the second recording; negative: saved
    std::string why;                  ///< "made by 'generic', not by 'contraction'; 2.0 threads, not 8.0"
    const Summary::Row &known() const { return after ? *after : *before; }
  };
  struct Program {
    std::string name;
    uint64_t beforeRuns = 0, afterRuns = 0;
    double beforeNs = 0, afterNs = 0; ///< of its steps, per execution
  };
  std::vector<Row> rows; ///< by how much they differ
  std::vector<Program> programs;
};

/// Steps belong together if program and name are the same; else if program and operations or program and line are, the most expensive ones first.
/// The result refers to both summaries.
Comparison compare(const Summary &before, const Summary &after);

std::string toText(const Comparison &comparison, size_t top);
std::string toJson(const Comparison &comparison);
/// A page that needs no other file: both recordings, step by step, and under their operations per byte. `titles` stand at its top.
std::string htmlPage(const Comparison &comparison, const std::string &before, const std::string &after);

} // namespace millrace::runtime::profile
