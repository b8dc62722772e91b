// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PprofTest.cpp - Recordings for pprof, and who owns the peak ----------===//
#include "runtime/profile/MemoryPeak.h"
#include "runtime/profile/Pprof.h"
#include "runtime/base/Proto.h"
#include "runtime/profile/Recorder.h"
#include "runtime/profile/ToXSpace.h"

#include <gtest/gtest.h>

#include <array>
#include <map>

using namespace millrace::runtime;
using namespace millrace::runtime::profile;

namespace {

const int allocator = 0;

Record change(uint64_t at, int64_t bytes, uint64_t inUse, uint64_t address, Purpose purpose = Purpose::Other, const char *place = nullptr) {
  Record record;
  record.kind = Kind::Memory;
  record.what = &allocator;
  record.start = record.end = at;
  record.a = uint64_t(bytes);
  record.b = inUse;
  record.c = address;
  record.index = uint32_t(purpose);
  record.d = place ? uint64_t(reinterpret_cast<uintptr_t>(intern(place))) : 0;
  return record;
}

XSpace spaceOf(std::vector<Record> records) {
  Recording recording;
  recording.timeline = {0, 1'000'000'000'000, 1'000'000'001'000, 1};
  recording.devices[&allocator] = 3;
  recording.threads.push_back({77, "python", std::move(records)});
  return toXSpace(recording, /*isWhole=*/false);
}

/// 100 bytes were there before; 40 come and go; the peak is 100 + 64 + 64 + 32.
XSpace memory() {
  return spaceOf({change(10, 40, 140, 0x1000, Purpose::Upload, "data.py:3"), change(20, -40, 100, 0x1000),
                  change(30, 64, 164, 0x1000, Purpose::Result, "train.py:12"), change(40, 64, 228, 0x2000, Purpose::Result, "train.py:12"),
                  change(50, 32, 260, 0x3000, Purpose::Intermediate, "program jit_step"), change(60, -64, 196, 0x2000),
                  change(70, 8, 204, 0x4000, Purpose::Upload, "data.py:3")});
}

/// What a profile says, by the names of the functions of each stack, the innermost first: "f (file:line);g".
std::map<std::string, std::vector<uint64_t>> stacksOf(const std::string &bytes) {
  std::vector<std::string> texts;
  std::map<uint64_t, std::array<uint64_t, 2>> functions; // name, file
  std::map<uint64_t, std::array<uint64_t, 2>> locations; // function, line
  std::vector<std::string_view> samples;
  proto::Reader profile(bytes);
  while (profile.next()) {
    uint64_t id = 0, name = 0, file = 0, function = 0, line = 0;
    proto::Reader inner(profile.bytes);
    if (profile.field == 6) {
      texts.emplace_back(profile.bytes);
    } else if (profile.field == 2) {
      samples.push_back(profile.bytes);
    } else if (profile.field == 5) {
      while (inner.next())
        (inner.field == 1 ? id : inner.field == 2 ? name : inner.field == 4 ? file : function) = inner.number;
      functions[id] = {name, file};
    } else if (profile.field == 4) {
      while (inner.next())
        if (inner.field == 1) {
          id = inner.number;
        } else if (inner.field == 4) {
          for (proto::Reader of(inner.bytes); of.next();)
            (of.field == 1 ? function : line) = of.number;
        }
      locations[id] = {function, line};
    }
  }
  EXPECT_FALSE(profile.isBroken);
  EXPECT_EQ(texts.at(0), "");
  auto numbers = [](std::string_view packed) {
    std::vector<uint64_t> values;
    uint64_t value = 0;
    unsigned shift = 0;
    for (char byte : packed) {
      value |= uint64_t(byte & 0x7f) << shift;
      shift = byte & 0x80 ? shift + 7 : 0;
      if (!shift) {
        values.push_back(value);
        value = 0;
      }
    }
    return values;
  };
  std::map<std::string, std::vector<uint64_t>> found;
  for (std::string_view sample : samples) {
    std::string stack;
    std::vector<uint64_t> values;
    for (proto::Reader of(sample); of.next();) {
      if (of.field == 2)
        values = numbers(of.bytes);
      if (of.field == 1)
        for (uint64_t id : numbers(of.bytes)) {
          auto [function, line] = locations.at(id);
          auto [name, file] = functions.at(function);
          stack += (stack.empty() ? "" : ";") + texts.at(name) + (file ? " (" + texts.at(file) + ":" + std::to_string(line) + ")" : "");
        }
    }
    found[stack] = values;
  }
  return found;
}

TEST(MemoryPeak, NamesTheOwners) {
  std::vector<MemoryPeak> peaks = memoryPeaks(memory());
  ASSERT_EQ(peaks.size(), 1u);
  EXPECT_EQ(peaks[0].device, "/device:CUSTOM:Millrace CPU:3");
  EXPECT_EQ(peaks[0].bytes, 260u);
  EXPECT_EQ(peaks[0].offset, 50'000);
  ASSERT_EQ(peaks[0].owners.size(), 3u);
  EXPECT_EQ(peaks[0].owners[0].purpose, "result");
  EXPECT_EQ(peaks[0].owners[0].source, "train.py:12");
  EXPECT_EQ(peaks[0].owners[0].bytes, 128u);
  EXPECT_EQ(peaks[0].owners[0].blocks, 2u);
  EXPECT_EQ(peaks[0].owners[1].purpose, ""); // before the recording
  EXPECT_EQ(peaks[0].owners[1].bytes, 100u);
  EXPECT_EQ(peaks[0].owners[2].source, "program jit_step");
  std::string text = toText(peaks, 2);
  EXPECT_NE(text.find("at its peak, 0.0 MB"), std::string::npos) << text;
  EXPECT_NE(text.find("(the first 2 of 3)"), std::string::npos) << text;
  EXPECT_NE(text.find("result  train.py:12"), std::string::npos) << text;
  EXPECT_NE(text.find("(had before the recording)"), std::string::npos) << text;
  EXPECT_TRUE(memoryPeaks(spaceOf({})).empty());
  EXPECT_EQ(toText({}, 3), "");
}

TEST(MemoryPeak, SurvivesTheFile) {
  millrace::runtime::StatusOr<XSpace> read = decodeXSpace(encode(memory()));
  ASSERT_TRUE(read.ok());
  std::vector<MemoryPeak> peaks = memoryPeaks(*read);
  ASSERT_EQ(peaks.size(), 1u);
  EXPECT_EQ(peaks[0].owners[0].bytes, 128u);
  EXPECT_EQ(peaks[0].owners[0].source, "train.py:12");
}

TEST(Pprof, MemoryAtItsPeak) {
  const std::string device = "/device:CUSTOM:Millrace CPU:3";
  EXPECT_EQ(stacksOf(pprofOfMemory(memory())),
            (std::map<std::string, std::vector<uint64_t>>{{"train.py:12 (train.py:12);result;" + device, {2, 128}},
                                                          {"program jit_step (program jit_step:0);intermediate;" + device, {1, 32}},
                                                          {"before the recording;" + device, {0, 100}}}));
}

TEST(Pprof, TimeOfThreadsIsTheirOwn) {
  auto region = [](const char *name, uint64_t start, uint64_t end) {
    Record record;
    record.kind = Kind::Region;
    record.what = intern(name);
    record.start = start;
    record.end = end;
    return record;
  };
  XSpace space = spaceOf({region("inner", 200, 500), region("inner", 600, 700), region("outer", 100, 900), region("alone", 950, 1000)});
  EXPECT_EQ(stacksOf(pprofOfTime(space)), (std::map<std::string, std::vector<uint64_t>>{
                                              {"inner;outer;python", {2, 400}}, {"outer;python", {1, 400}}, {"alone;python", {1, 50}}}));
}

} // namespace
