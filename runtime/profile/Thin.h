// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Thin.h - Fewer events, for viewers with limits -----------------------===//
#pragma once
#include "runtime/profile/XSpace.h"

namespace millrace::runtime::profile {

/// The same with at most `most` slices, the longest ones, and as many points of counters, the largest one of each that stand beside each other.
/// A warning says how many are left out.
XSpace thinned(XSpace space, size_t most);

} // namespace millrace::runtime::profile
