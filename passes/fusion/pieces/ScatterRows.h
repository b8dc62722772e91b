// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScatterRows.h - How threads share a scatter with long rows ---------===//
// One rule for who cuts the columns of such a scatter (lowering/linalg/Scatter.cpp) and who leaves it alone for that reason (SplitScatters.cpp).
#pragma once

#include <cstdint>

namespace millrace::fusion {

/// A part of a scattered row has no fewer elements, so that it is a few whole vectors. Unit: elements. Source: judgement, not measured alone; commit
/// f0202b4 has the figures of the whole change.
inline constexpr int64_t kMinScatterPart = 64;

/// A row of `elements` that are scattered together has two parts at least that threads can share.
inline bool hasSharedScatterRows(int64_t elements) { return elements >= 2 * kMinScatterPart; }

} // namespace millrace::fusion
