// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CustomCall.h - Custom calls as operations of a graph ----------------===//
#pragma once
#include "tracing/graph/Graph.h"

namespace millrace::tracing {

struct CustomCall {
  std::string target;
  std::vector<Shape> results;
  bool hasSideEffect = false;
  std::string backendConfig;
  int32_t apiVersion = 0;
  std::vector<std::pair<std::string, std::string>> frontendAttributes;
};
std::vector<Value> customCall(const CustomCall &call, const std::vector<Value> &operands);

} // namespace millrace::tracing
