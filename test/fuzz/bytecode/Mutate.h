// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Mutate.h - Damaged versions of a bytecode file ---------------------===//
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace millrace::fuzz {

/// Damaged version `index` of a file of `corpus`: the same for the same seed and corpus. Truncations, flipped bits, edited
/// bytes and varints, removed, repeated and foreign ranges; half of the edits are aimed at one section, so that the short
/// sections that steer the reader are hit as often as the long ones. `origin` is the number of the file.
std::string mutate(const std::vector<std::string> &corpus, uint64_t seed, uint64_t index, size_t &origin);

} // namespace millrace::fuzz
