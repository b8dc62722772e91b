// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GraphLimitTest.cpp - Sequences of operations are counted ------------===//
#include "tracing/graph/GraphLimit.h"

#include <gtest/gtest.h>

using millrace::tracing::Digest;
using millrace::tracing::GraphLimit;

namespace {

/// What is wrong with a call that records these operations, or "".
std::string call(GraphLimit &limit, const std::vector<std::string> &operations) {
  limit.begin();
  for (const std::string &operation : operations)
    if (std::optional<std::string> problem = limit.add(Digest::of(operation), [&] { return operation; }))
      return *problem;
  return limit.end().value_or("");
}

const std::string kOne = "Maximum number of different graphs allowed per function exceeded: 1\n";
const std::string kTwo = "Maximum number of different graphs allowed per function exceeded: 2\n";

TEST(GraphLimit, EqualSequencesAreOneGraph) {
  GraphLimit limit(1);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(call(limit, {"add", "mul"}), "");
  EXPECT_EQ(limit.graphs(), 1u);
}

TEST(GraphLimit, TheOperationThatPartsIsNamed) {
  GraphLimit limit(1);
  EXPECT_EQ(call(limit, {"add", "mul", "sub"}), "");
  EXPECT_EQ(call(limit, {"add", "div"}), kOne + "Got: div\nExpected: mul");
  EXPECT_EQ(call(limit, {"add", "mul", "sub", "neg"}), kOne + "Got: neg\nExpected: the end of the function");
  EXPECT_EQ(call(limit, {"add"}), kOne + "Reached the end of the function at: add\nExpected: mul");
  EXPECT_EQ(call(limit, {}), kOne + "Reached the end of the function at: its beginning\nExpected: add");
  EXPECT_EQ(call(limit, {"add", "mul", "sub"}), "") << "what was refused leaves nothing behind";
}

TEST(GraphLimit, SeveralWaysToGoOn) {
  GraphLimit limit(2);
  EXPECT_EQ(call(limit, {"add", "mul"}), "");
  EXPECT_EQ(call(limit, {"add", "sub"}), "");
  EXPECT_EQ(limit.graphs(), 2u);
  EXPECT_EQ(call(limit, {"add", "div"}), kTwo + "Got: div\nExpected either of:\n  - mul\n  - sub");
  EXPECT_EQ(call(limit, {"add"}), kTwo + "Reached the end of the function at: add\nExpected either of:\n  - mul\n  - sub");
  GraphLimit early(2);
  EXPECT_EQ(call(early, {"add"}), "");
  EXPECT_EQ(call(early, {"add", "mul"}), "");
  EXPECT_EQ(call(early, {"add", "div"}), kTwo + "Got: div\nExpected either of:\n  - mul\n  - the end of the function");
}

TEST(GraphLimit, WhatWasAbandonedIsNoGraph) {
  GraphLimit limit(1);
  limit.begin();
  EXPECT_FALSE(limit.add(Digest::of("add"), [] { return "add"; }));
  limit.abandon();
  EXPECT_FALSE(limit.add(Digest::of("mul"), [] { return "mul"; })) << "no call is under way";
  EXPECT_FALSE(limit.end());
  EXPECT_EQ(limit.graphs(), 0u);
  EXPECT_EQ(call(limit, {"sub"}), "");
}

} // namespace
