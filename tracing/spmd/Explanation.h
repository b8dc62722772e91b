// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Explanation.h - The report of explainSharding() as a page -----------===//
#pragma once

#include <string>

namespace millrace::tracing {

/// Converts the text of explainSharding() (Sharding.h) to an HTML page without references to other files.
std::string explanationPage(const std::string &report, const std::string &title);

} // namespace millrace::tracing
