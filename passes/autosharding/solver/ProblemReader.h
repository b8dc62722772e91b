// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProblemReader.h - Problems in the contest's format ------------------===//
// {"problem": {"name": "x", "nodes": {"intervals": [[lo, hi], ...], "costs": [[...], ...], "usages": [[...], ...]},
//              "edges": {"nodes": [[a, b], ...], "costs": [[row-major], ...]}, "usage_limit": bytes}}
#pragma once

#include "passes/autosharding/solver/Problem.h"

#include <optional>
#include <string_view>

namespace millrace::autosharding {

/// Reads and verifies a problem. Fields that are not named above are skipped. If there is no result, `error` says at which byte, or in which node or
/// edge, what was expected and what was found.
std::optional<Problem> readProblem(std::string_view json, std::string &error);

/// Returns a text from which readProblem() reads a problem that is equal to `problem`.
std::string writeProblem(const Problem &problem);

} // namespace millrace::autosharding
