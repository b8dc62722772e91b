// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Align.h - One clock for recordings of several hosts ------------------===//
#pragma once
#include "runtime/profile/XSpace.h"

namespace millrace::runtime::profile {

/// Shifts recordings of other hosts to the clock of the first one's, by the collectives that both took part in: their members leave one at about
/// the same time. Recordings of one host have one clock already. Says of each that it shifted by how much, and of each of another host that has
/// nothing in common with the first that its clock is its own: in its warnings.
void alignClocks(std::vector<XSpace> &spaces);

} // namespace millrace::runtime::profile
