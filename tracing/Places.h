// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Places.h - Where the user's program is when something happens --------===//
#pragma once
#include "tracing/Analysis.h"

#include <map>

namespace millrace::tracing {

/// The innermost line of the stack that is neither the package's nor PyTorch's: "train.py:12", or "".
std::string userPlace(const std::vector<Place> &stack);

/// Notes that the user's program is at its place when `what` happens ("compile", "read" of a value, "aten::name" on the CPU), while debugLevel() is
/// not 0. `stack`: of this thread.
void countPlace(const std::string &what, const std::vector<Place> &stack);
/// How often, by what and place ("train.py:12").
std::map<std::pair<std::string, std::string>, int64_t> countedPlaces();

} // namespace millrace::tracing
