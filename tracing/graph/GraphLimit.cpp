// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GraphLimit.cpp - Limit the number of graphs that a function records -===//
#include "tracing/graph/GraphLimit.h"

#include <utility>

namespace millrace::tracing {

std::string GraphLimit::exceeded(const std::string &got) {
  std::string text = "Maximum number of different graphs allowed per function exceeded: " + std::to_string(most) + "\n" + got;
  const Step &step = *std::exchange(at, nullptr);
  if (step.order.empty())
    return text + "\nExpected: the end of the function";
  if (step.order.size() == 1 && !step.isEnd)
    return text + "\nExpected: " + step.order[0]->text;
  text += "\nExpected either of:";
  for (const Step *known : step.order)
    text += "\n  - " + known->text;
  return step.isEnd ? text + "\n  - the end of the function" : text;
}

std::optional<std::string> GraphLimit::add(const Digest &operation, const std::function<std::string()> &text) {
  if (!at)
    return std::nullopt;
  if (auto known = at->next.find(operation); known != at->next.end()) {
    at = known->second.get();
    return std::nullopt;
  }
  if (found >= most)
    return exceeded("Got: " + text());
  auto made = std::make_unique<Step>();
  made->text = text();
  at->order.push_back(made.get());
  at = (at->next[operation] = std::move(made)).get();
  return std::nullopt;
}

std::optional<std::string> GraphLimit::end() {
  if (!at)
    return std::nullopt;
  if (!at->isEnd && found >= most)
    return exceeded("Reached the end of the function at: " + (at == &root ? std::string("its beginning") : at->text));
  if (!std::exchange(at->isEnd, true))
    ++found;
  at = nullptr;
  return std::nullopt;
}

} // namespace millrace::tracing
