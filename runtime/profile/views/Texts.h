// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Texts.h - Numbers and places in sentences ---------------------------===//
#pragma once
#include <map>
#include <string>

namespace millrace::runtime::profile {

/// As printf; at most 511 bytes.
[[gnu::format(printf, 1, 2)]] std::string format(const char *pattern, ...);
std::string durationText(double ns);
std::string bytesText(double bytes);

/// What occurs most often; empty texts do not count.
std::string mostFrequent(const std::map<std::string, size_t> &counts);
/// Of "now:    add -> f32[3] (train.py:12);before: ..." and "constant 3.0 became 4.0 (train.py:12)" the place of what is new.
std::string placeOfDifference(const std::string &text);

} // namespace millrace::runtime::profile
