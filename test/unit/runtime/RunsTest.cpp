// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RunsTest.cpp - Which recordings of a folder are of the same run -----===//
#include "runtime/profile/Runs.h"

#include <gtest/gtest.h>

using namespace millrace::runtime::profile;

namespace {

/// A recording from second `begin` to `end`.
XSpace recordedFrom(uint64_t begin, uint64_t end, const std::string &host = "a") {
  XSpace space;
  Plane &plane = space.planes.emplace_back();
  plane.name = "Task Environment";
  plane.stats = {plane.number("profile_start_time", begin * 1'000'000'000), plane.number("profile_stop_time", end * 1'000'000'000)};
  space.hostnames.push_back(host);
  return space;
}

std::vector<bool> newestOf(const std::vector<XSpace> &spaces, const std::vector<std::string> &captures = {}) {
  std::vector<RecordedPart> parts;
  for (size_t i = 0; i < spaces.size(); ++i)
    parts.push_back({&spaces[i], captures.empty() ? std::string() : captures[i]});
  return areOfNewestRun(parts);
}

using Which = std::vector<bool>;

TEST(Runs, ThoseThatOverlapTheNewestOneAreOneRun) {
  EXPECT_EQ(newestOf({recordedFrom(100, 110), recordedFrom(130, 140), recordedFrom(135, 150), recordedFrom(112, 131)}), (Which{false, true, true, true}))
      << "the last one by way of the second";
  EXPECT_EQ(newestOf({recordedFrom(100, 110)}), Which{true});
  EXPECT_EQ(newestOf({}), Which{});
}

TEST(Runs, ACaptureIsOneRunWhateverItsClocksSay) {
  EXPECT_EQ(newestOf({recordedFrom(100, 110), recordedFrom(9130, 9140, "b"), recordedFrom(130, 140)}, {"first", "second", "second"}), (Which{false, true, true}));
}

TEST(Runs, ClocksOfHostsMayDiffer) {
  EXPECT_EQ(newestOf({recordedFrom(100, 110), recordedFrom(130, 140, "b"), recordedFrom(200, 210), recordedFrom(230, 240, "b")}),
            (Which{false, false, true, true}));
  EXPECT_EQ(newestOf({recordedFrom(100, 110, "b"), recordedFrom(2000, 2010)}), (Which{false, true})) << "an earlier run had another host";
}

TEST(Runs, FilesOfOthersHaveTheTimeOfTheirEvents) {
  std::vector<XSpace> spaces(3);
  for (size_t i = 0; i < 2; ++i) {
    Plane &plane = spaces[i].planes.emplace_back();
    plane.kinds.push_back({"event", "", {}});
    Plane::Line &line = plane.lines.emplace_back();
    line.start = int64_t(i) * 1'000'000'000;
    line.events.emplace_back().duration = 500'000'000'000; // half a second
  }
  EXPECT_EQ(newestOf(spaces), (Which{false, true, true})) << "the third one has no events";
}

} // namespace
