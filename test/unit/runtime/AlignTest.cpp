// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AlignTest.cpp - One clock for recordings of several hosts ------------===//
#include "runtime/profile/Align.h"

#include <gtest/gtest.h>

using namespace millrace::runtime::profile;

namespace {

/// A device whose all_reduce ends at these microseconds, by the clock of `host`.
XSpace recording(const std::string &host, const std::vector<int64_t> &ends, const std::string &module = "jit_step") {
  XSpace space;
  space.hostnames = {host};
  Plane &plane = space.planes.emplace_back();
  plane.name = "/device:CUSTOM:Millrace CPU:0";
  plane.kinds.push_back({"all_reduce", "", {plane.text("hlo_category", "collective")}});
  Plane::Line &line = plane.lines.emplace_back();
  line.name = "XLA Ops";
  line.start = 1'000'000'000;
  for (int64_t end : ends) {
    Plane::Event event;
    event.offset = (end - 3) * 1'000'000;
    event.duration = 3'000'000;
    event.firstStat = uint32_t(line.stats.size());
    event.numStats = 1;
    line.stats.push_back(plane.text("hlo_module", module));
    line.events.push_back(event);
  }
  return space;
}

constexpr int64_t kStart = 1'000'000'000;

TEST(AlignClocks, HostsGetTheFirstOnesClock) {
  // The second host's clock is 5 ms behind, and its recording begins two collectives later; a third process is of the second host, too.
  std::vector<XSpace> spaces{recording("a", {10000, 10700, 11200, 12900, 13100, 14800, 15000}), recording("a", {10001, 10700}),
                             recording("b", {6201, 7900, 8100, 9801, 10000}), recording("b", {1})};
  alignClocks(spaces);
  EXPECT_EQ(spaces[0].planes[0].lines[0].start, kStart);
  EXPECT_EQ(spaces[1].planes[0].lines[0].start, kStart);
  EXPECT_EQ(spaces[2].planes[0].lines[0].start, kStart + 5'000'000);
  EXPECT_EQ(spaces[3].planes[0].lines[0].start, kStart + 5'000'000);
  EXPECT_TRUE(spaces[0].warnings.empty() && spaces[1].warnings.empty());
  ASSERT_EQ(spaces[2].warnings.size(), 1u);
  EXPECT_EQ(spaces[2].warnings[0], "the clock of b was shifted by 5.000 ms, by the collectives that it shares with a");
}

TEST(AlignClocks, EqualStepsTakeTheSmallestShift) {
  std::vector<XSpace> spaces{recording("a", {1000, 2000, 3000, 4000, 5000, 6000}), recording("b", {1100, 2100, 3100, 4100, 5100, 6100})};
  alignClocks(spaces);
  EXPECT_EQ(spaces[1].planes[0].lines[0].start, kStart - 100'000);
}

TEST(AlignClocks, NothingInCommonIsSaid) {
  std::vector<XSpace> spaces{recording("a", {1000, 2000}), recording("b", {1000, 2000}, "jit_other")};
  alignClocks(spaces);
  EXPECT_EQ(spaces[1].planes[0].lines[0].start, kStart);
  ASSERT_EQ(spaces[1].warnings.size(), 1u);
  EXPECT_EQ(spaces[1].warnings[0], "the clock of b is its own: it has no collective in common with a");
  std::vector<XSpace> none;
  alignClocks(none);
}

} // namespace
