// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Explanation.h - What explainSharding says, as a page ---------------===//
#pragma once

#include <string>

namespace millrace::tracing {

/// The text of explainSharding() (Sharding.h) as an HTML page that needs no other file.
std::string explanationPage(const std::string &report, const std::string &title);

} // namespace millrace::tracing
