// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProfileFilesTest.cpp - Recordings as XSpace and as Chrome's JSON ----===//
#include "runtime/base/ThreadPool.h"
#include "runtime/profile/ChromeTrace.h"
#include "runtime/profile/Compare.h"
#include "runtime/profile/EventRanges.h"
#include "runtime/profile/MemoryEvents.h"
#include "runtime/profile/MemoryPeak.h"
#include "runtime/profile/Page.h"
#include "runtime/profile/ProgramInfo.h"
#include "runtime/profile/Summary.h"
#include "runtime/profile/Thin.h"
#include "runtime/profile/ToXSpace.h"
#include "runtime/profile/Utf8.h"
#include "runtime/profile/Views.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>
#include <unistd.h>

using namespace millrace::runtime;
using namespace millrace::runtime::profile;

namespace {

/// A recording of one program, with ticks that are nanoseconds: launched at 100, run on device 2 from 300 to 900.
Recording sample() {
  Program program;
  program.name = "jit_step";
  program.kernels.push_back({"k0", "dot_1", {"stablehlo.dot_general", "stablehlo.add", "stablehlo.add"}, 2000, 512});
  program.metadata.emplace_back("emitter k0", "contraction");
  program.locations = {"train.py:12:3", "train.py:12"};
  Function &main = program.functions.emplace_back();
  CollectiveStep collective;
  collective.name = "all_reduce";
  collective.groups = {{0, 1, 2}, {3, 4, 5}};
  main.steps.push_back({collective, 1});
  static const ProgramInfo *info = describe(program);
  Recording recording;
  recording.timeline = {0, 1'000'000'000'000, 1'000'000'001'000, 1};
  auto record = [&](Kind kind, uint64_t start, uint64_t end, const void *what, uint64_t a, uint64_t b = 0, uint64_t c = 0) {
    Record made;
    made.kind = kind;
    made.start = start;
    made.end = end;
    made.what = what;
    made.a = a;
    made.b = b;
    made.c = c;
    made.device = 2;
    return made;
  };
  static const int allocator = 0, stranger = 0;
  recording.devices[&allocator] = 2;
  recording.threads.push_back({int64_t(getpid()), "python",
                               {record(Kind::Launch, 100, 200, info, 7), record(Kind::Transfer, 210, 220, intern("TransferToDevice"), 64),
                                record(Kind::Region, 50, 250, intern("step \"one\""), uint64_t(uintptr_t(intern("step_num=3, note=first"))))}});
  recording.threads.push_back({4242, "python",
                               {record(Kind::Memory, 310, 310, &allocator, uint64_t(int64_t(-64)), 1024), record(Kind::Memory, 310, 310, &stranger, 1, 1),
                                record(Kind::Kernel, 400, 600, info, 7, 0), record(Kind::Step, 600, 800, info, 7, 1, 150),
                                record(Kind::Execution, 300, 900, info, 7, 150)}});
  return recording;
}

std::string textOf(const Plane &plane, const Plane::Line &line, const Plane::Event &event, std::string_view name) {
  const Stat *stat = plane.find(line, event, name);
  if (!stat)
    return "none";
  return stat->type == Stat::Type::Text     ? plane.texts[stat->text]
         : stat->type == Stat::Type::Signed ? std::to_string(stat->integer)
         : stat->type == Stat::Type::Real   ? std::to_string(stat->real)
                                            : std::to_string(stat->number);
}

void expectSample(const XSpace &space) {
  ASSERT_EQ(space.planes.size(), 5u);
  const Plane &device = space.planes[0], &host = space.planes[1], &programs = space.planes[2], &metadata = space.planes[3], &environment = space.planes[4];
  EXPECT_EQ(metadata.name, kMetadataPlane);
  ASSERT_EQ(metadata.kinds.size(), 1u);
  const Stat *hlo = metadata.find(metadata.kinds[0].stats, "Hlo Proto");
  ASSERT_TRUE(hlo && hlo->type == Stat::Type::Bytes);
  EXPECT_NE(metadata.blobs[hlo->text].find("all_reduce"), std::string::npos);
  EXPECT_EQ(programs.name, kProgramsPlane);
  ASSERT_EQ(programs.stats.size(), 1u);
  EXPECT_NE(programs.texts[programs.stats[0].text].find("all_reduce"), std::string::npos) << programs.texts[programs.stats[0].text];
  EXPECT_EQ(device.name, "/device:CUSTOM:Millrace CPU:2");
  EXPECT_EQ(host.name, "/host:CPU");
  EXPECT_EQ(environment.name, "Task Environment");
  ASSERT_EQ(device.lines.size(), 3u);
  const Plane::Line &modules = device.lines[0], &ops = device.lines[1], &counters = device.lines[2];
  EXPECT_EQ(modules.name, "XLA Modules");
  EXPECT_EQ(modules.start, 1'000'000'000'000);
  ASSERT_EQ(modules.events.size(), 1u);
  EXPECT_TRUE(device.kinds[modules.events[0].kind].name.starts_with("jit_step("));
  EXPECT_EQ(modules.events[0].offset, 300'000);
  EXPECT_EQ(modules.events[0].duration, 600'000);
  EXPECT_EQ(textOf(device, modules, modules.events[0], "queue_ns"), "150");
  EXPECT_EQ(textOf(device, modules, modules.events[0], "run_id"), "7");
  EXPECT_EQ(ops.name, "XLA Ops");
  ASSERT_EQ(ops.events.size(), 2u);
  EXPECT_EQ(device.kinds[ops.events[0].kind].name, "dot_1");
  EXPECT_EQ(textOf(device, ops, ops.events[0], "source"), "train.py:12");
  EXPECT_EQ(textOf(device, ops, ops.events[0], "hlo_category"), "contraction");
  EXPECT_EQ(textOf(device, ops, ops.events[0], "operations"), "stablehlo.dot_general, stablehlo.add");
  EXPECT_EQ(textOf(device, ops, ops.events[0], "flops"), "2000");
  EXPECT_EQ(textOf(device, ops, ops.events[0], "hlo_module"), "jit_step");
  EXPECT_EQ(device.kinds[ops.events[1].kind].name, "all_reduce");
  EXPECT_EQ(textOf(device, ops, ops.events[1], "source"), "train.py:12");
  EXPECT_EQ(textOf(device, ops, ops.events[1], "peers"), "3");
  EXPECT_EQ(textOf(device, ops, ops.events[1], "wait_ns"), "150");
  ASSERT_EQ(counters.events.size(), 1u); // the other allocator is that of no device
  EXPECT_EQ(textOf(device, counters, counters.events[0], "bytes in use"), "1024");
  EXPECT_EQ(textOf(device, counters, counters.events[0], "change"), "-64");
  ASSERT_EQ(host.lines.size(), 1u);
  EXPECT_EQ(host.lines[0].name, "main");
  ASSERT_EQ(host.lines[0].events.size(), 3u);
  EXPECT_EQ(host.kinds[host.lines[0].events[0].kind].name, "step \"one\""); // begins first
  EXPECT_EQ(textOf(host, host.lines[0], host.lines[0].events[0], "step_num"), "3");
  EXPECT_EQ(textOf(host, host.lines[0], host.lines[0].events[0], "note"), "first");
  EXPECT_EQ(host.kinds[host.lines[0].events[1].kind].name, "ExecuteComputation");
  EXPECT_EQ(textOf(host, host.lines[0], host.lines[0].events[1], "_p"), textOf(device, modules, modules.events[0], "_c"));
  EXPECT_EQ(host.kinds[host.lines[0].events[2].kind].name, "TransferToDevice");
  const Stat *start = environment.find(environment.stats, "profile_start_time");
  ASSERT_TRUE(start);
  EXPECT_EQ(start->number, 1'000'000'000'000u);
}

TEST(ProfileFiles, RecordingsBecomePlanes) { expectSample(toXSpace(sample(), true)); }

TEST(ProfileFiles, XSpaceGoesThereAndBack) {
  XSpace space = toXSpace(sample(), true);
  space.warnings.push_back("a warning");
  std::string bytes = encode(space);
  StatusOr<XSpace> again = decodeXSpace(bytes);
  ASSERT_TRUE(again.ok()) << again.status().toString();
  expectSample(*again);
  EXPECT_EQ(again->warnings, space.warnings);
  EXPECT_EQ(again->hostnames, space.hostnames);
  EXPECT_EQ(encode(*again), bytes);
}

TEST(ProfileFiles, DamagedFilesAreErrors) {
  const std::string bytes = encode(toXSpace(sample(), true));
  size_t errors = 0;
  for (size_t size = 0; size < bytes.size(); ++size)
    errors += !decodeXSpace(bytes.substr(0, size)).ok(); // between two fields it is a shorter message
  EXPECT_GT(errors, bytes.size() * 9 / 10);
  for (size_t at = 0; at < bytes.size(); ++at)
    for (uint8_t change : {0x01, 0x80, 0xFF}) {
      std::string damaged = bytes;
      damaged[at] = char(uint8_t(damaged[at]) ^ change);
      if (StatusOr<XSpace> read = decodeXSpace(damaged); read.ok())
        EXPECT_FALSE(chromeTrace(*read).empty());
    }
}

TEST(ProfileFiles, TimesThatNoNumberHoldsAreDamage) {
  const XSpace good = toXSpace(sample(), true);
  auto isRead = [&](auto change) {
    XSpace space = good;
    Plane::Line &line = space.planes[0].lines[0];
    change(line, line.events[0]);
    return decodeXSpace(encode(space)).ok();
  };
  EXPECT_TRUE(isRead([](Plane::Line &, Plane::Event &) {}));
  EXPECT_FALSE(isRead([](Plane::Line &, Plane::Event &event) { event.offset = INT64_MAX; }));
  EXPECT_FALSE(isRead([](Plane::Line &, Plane::Event &event) { event.duration = INT64_MAX; }));
  EXPECT_FALSE(isRead([](Plane::Line &, Plane::Event &event) { event.duration = -1; }));
  EXPECT_FALSE(isRead([](Plane::Line &line, Plane::Event &) { line.start = INT64_MAX; }));
  EXPECT_FALSE(isRead([](Plane::Line &line, Plane::Event &) { line.start = INT64_MIN; }));
  XSpace mixed = good;
  mixed.planes[0].lines[0].start = 0; // of another clock
  EXPECT_NE(chromeTrace(mixed).find("\"dur\":0.6,"), std::string::npos);
  EXPECT_NE(chromeTrace(mixed).find("\"ts\":1000000000"), std::string::npos) << "the others begin 1000 s later: " << chromeTrace(mixed).substr(0, 2000);
}

TEST(ProfileFiles, FilesOfOthersAreWrittenAsUtf8) {
  XSpace space = toXSpace(sample(), true);
  Plane &device = space.planes[0];
  device.name += "\xFF";
  device.lines[0].name += "\xC3";
  device.kinds[0].name = "a\xFFz";
  device.kinds[0].displayName = "\xED\xA0\x80";
  for (std::string &text : device.texts)
    text += "\x80";
  device.forgetTexts();
  space.warnings = {"\xFE"};
  space.hostnames = {"host\xFF"};
  StatusOr<XSpace> again = decodeXSpace(encode(space));
  ASSERT_TRUE(again.ok());
  const std::string bad = "\xEF\xBF\xBD";
  const Plane &read = again->planes[0];
  EXPECT_TRUE(read.name.ends_with("2" + bad)) << read.name;
  EXPECT_EQ(read.lines[0].name, "XLA Modules" + bad);
  EXPECT_EQ(read.kinds[0].name, "a" + bad + "z");
  EXPECT_EQ(read.kinds[0].displayName, bad + bad + bad);
  for (const std::string &text : read.texts)
    EXPECT_TRUE(text.ends_with(bad)) << text;
  EXPECT_EQ(again->warnings, std::vector<std::string>{bad});
  EXPECT_EQ(again->hostnames, std::vector<std::string>{"host" + bad});
}

TEST(ProfileFiles, ChromeTraceHasSlicesArrowsAndCounters) {
  std::string json = chromeTrace(toXSpace(sample(), true));
  auto has = [&](const std::string &text) { return json.find(text) != std::string::npos; };
  EXPECT_TRUE(json.starts_with("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"));
  EXPECT_TRUE(has("\"ph\":\"X\",\"name\":\"dot_1\",\"pid\":1,\"tid\":2,\"ts\":0.4,\"dur\":0.2,")) << json;
  EXPECT_TRUE(has("\"source\":\"train.py:12\"")) << json;
  EXPECT_TRUE(has("\"name\":\"step \\\"one\\\"\"")) << json;
  EXPECT_TRUE(has("{\"ph\":\"C\",\"name\":\"bytes in use\",\"pid\":1,\"ts\":0.31,\"args\":{\"bytes in use\":1024}}")) << json;
  EXPECT_TRUE(has("{\"ph\":\"s\",\"name\":\"launch\"")) << json;
  EXPECT_TRUE(has("{\"ph\":\"f\",\"bp\":\"e\",\"name\":\"launch\"")) << json;
  EXPECT_FALSE(has("\"metadata\"")) << "chrome://tracing shows an empty page then";
  EXPECT_FALSE(has("\"_p\"")) << json;
}

TEST(ProfileFiles, JsonTextIsValidWhateverComes) {
  EXPECT_EQ(jsonText("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\u000a\\u0001\"");
  EXPECT_EQ(jsonText("gr\xC3\xBC\xC3\x9F"), "\"gr\xC3\xBC\xC3\x9F\"");
  EXPECT_EQ(jsonText("\xFFx\xC3"), "\"\xEF\xBF\xBDx\xEF\xBF\xBD\"");
  EXPECT_EQ(jsonText("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""); // a surrogate
}

TEST(ProfileFiles, TheLongestEventsStay) {
  XSpace space = toXSpace(sample(), true);
  ASSERT_EQ(space.numEvents(), 7u);
  EXPECT_TRUE(thinned(space, 6).warnings.empty()); // six slices, one point
  XSpace few = thinned(space, 3);
  EXPECT_EQ(few.numEvents(), 4u);
  ASSERT_EQ(few.warnings.size(), 1u);
  EXPECT_TRUE(few.warnings[0].starts_with("3 of 7 events, the shortest ones, are not drawn")) << few.warnings[0];
  EXPECT_EQ(few.planes[0].lines[0].events.size(), 1u); // 600 ns
  EXPECT_EQ(few.planes[0].lines[1].events.size(), 2u); // two of three that take 200 ns
  EXPECT_EQ(few.planes[1].lines[0].events.size(), 0u);
  Plane::Line &counters = space.planes[0].lines[2];
  Plane::Event point = counters.events[0];
  for (uint64_t value : {1, 5, 2}) {
    Stat stat = counters.stats[0];
    stat.number = value;
    point.firstStat = uint32_t(counters.stats.size());
    point.numStats = 1;
    counters.stats.push_back(stat);
    counters.events.push_back(point);
  }
  few = thinned(space, 2);
  const Plane::Line &left = few.planes[0].lines[2];
  ASSERT_EQ(left.events.size(), 2u); // of 1024, 1, 5, 2 the peaks of pairs
  EXPECT_EQ(left.stats[left.events[0].firstStat].number, 1024u);
  EXPECT_EQ(left.stats[left.events[1].firstStat].number, 5u);
}

/// Slices of 1 us, 2 us, ... with long names of their own, and as many points of a counter.
XSpace wordy(size_t count) {
  XSpace space;
  Plane &device = space.planes.emplace_back();
  device.name = std::string(kDevicePlane) + "0";
  device.lines.resize(2);
  device.lines[0].name = "XLA Ops";
  device.lines[0].id = kOps;
  device.lines[1].name = "_counters_";
  device.lines[1].id = kCounters;
  for (Plane::Line &line : device.lines)
    line.start = 1'000'000'000'000;
  device.kinds.push_back({"bytes in use", "", {}});
  int64_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    device.kinds.push_back({"operation " + std::to_string(i) + std::string(500, 'n'), "", {}});
    Plane::Event slice, point;
    slice.kind = uint32_t(i + 1);
    slice.firstStat = uint32_t(device.lines[0].stats.size());
    slice.numStats = 1;
    slice.offset = at;
    slice.duration = int64_t(i + 1) * 1'000'000;
    device.lines[0].stats.push_back(device.text("source", "file " + std::to_string(i) + std::string(300, 's')));
    device.lines[0].events.push_back(slice);
    point.firstStat = uint32_t(device.lines[1].stats.size());
    point.numStats = 3;
    point.offset = at;
    device.lines[1].stats.push_back(device.number("bytes in use", 1'000'000 + i));
    device.lines[1].stats.push_back(device.integer("change", i % 2 ? -64 : 64));
    device.lines[1].stats.push_back(device.number("address", 4096));
    device.lines[1].events.push_back(point);
    at += slice.duration;
  }
  return space;
}

TEST(ProfileFiles, ATraceHasAtMostSoManyBytes) {
  const XSpace space = wordy(2000);
  const std::string whole = chromeTrace(space);
  EXPECT_GT(whole.size(), 1'500'000u);
  for (size_t most : {200'000u, 20'000u, 2'000u}) {
    const std::string json = chromeTrace(space, most);
    EXPECT_LE(json.size(), most);
    EXPECT_GE(json.size(), most - 1500) << "one more slice would have had room";
    EXPECT_TRUE(json.ends_with("}\n"));
    EXPECT_NE(json.find(" of 4000 events, the shortest ones, are not drawn here"), std::string::npos);
    EXPECT_EQ(json.find("operation 0n"), std::string::npos);
  }
  const std::string json = chromeTrace(space, 200'000);
  EXPECT_NE(json.find("operation 1999n"), std::string::npos) << "the longest one";
  EXPECT_NE(json.find("\"bytes in use\":1001999"), std::string::npos) << "the peak";
  EXPECT_EQ(chromeTrace(space, whole.size()), whole);
}

TEST(ProfileFiles, LongLinesAreWrittenInParts) {
  XSpace space;
  space.planes.resize(2);
  Plane &device = space.planes[0], &host = space.planes[1];
  device.name = std::string(kDevicePlane) + "0";
  host.name = kHostPlane;
  constexpr size_t kCount = 3 * EventRange::kEvents + 7;
  for (Plane *plane : {&device, &host}) {
    plane->lines.resize(3);
    Plane::Line &empty = plane->lines[0], &line = plane->lines[1], &counters = plane->lines[2];
    empty.name = "empty";
    line.name = "XLA Ops";
    line.id = kOps;
    counters.name = "_counters_";
    counters.id = kCounters;
    plane->kinds = {{"operation", "", {plane->text("category", "a \"step\"")}}, {"bytes in use", "", {}}};
    for (size_t i = 0; i < kCount; ++i) {
      Plane::Event slice, point;
      slice.firstStat = uint32_t(line.stats.size());
      slice.numStats = 2;
      slice.offset = int64_t(i) * 1'000'000;
      slice.duration = int64_t(i % 3) * 500'000;
      line.stats.push_back(plane->number("_p", i));
      line.stats.push_back(plane->integer("turn", -int64_t(i)));
      line.events.push_back(slice);
      point.kind = 1;
      point.offset = slice.offset;
      point.firstStat = uint32_t(counters.stats.size());
      point.numStats = 3;
      counters.stats.push_back(plane->number("bytes in use", i));
      counters.stats.push_back(plane->integer("change", 8));
      counters.stats.push_back(plane->number("address", 8 * i));
      counters.events.push_back(point);
    }
  }
  const Encoder encoder(space);
  const std::string bytes = encoder.bytes();
  EXPECT_EQ(bytes.size(), encoder.size());
  StatusOr<XSpace> again = decodeXSpace(bytes);
  ASSERT_TRUE(again.ok()) << again.status().toString();
  EXPECT_TRUE(encode(*again) == bytes);
  ASSERT_EQ(again->planes.size(), 2u);
  for (const Plane &plane : again->planes) {
    ASSERT_EQ(plane.lines.size(), 3u);
    ASSERT_EQ(plane.lines[1].events.size(), kCount);
    for (size_t i = 0; i < kCount; i += 1000) {
      EXPECT_EQ(plane.lines[1].events[i].offset, int64_t(i) * 1'000'000);
      EXPECT_EQ(textOf(plane, plane.lines[1], plane.lines[1].events[i], "turn"), std::to_string(-int64_t(i)));
      EXPECT_EQ(textOf(plane, plane.lines[2], plane.lines[2].events[i], "bytes in use"), std::to_string(i));
    }
  }
  const std::string json = chromeTrace(space);
  EXPECT_EQ(chromeTrace(space, json.size()).size(), json.size()) << "its size is known before it is written";
  EXPECT_LT(chromeTrace(space, json.size() - 1).size(), json.size());
  size_t at = 0;
  for (const char *process : {"1", "2"})
    for (size_t i = 0; i < kCount; ++i) {
      const std::string slice = "\n{\"ph\":\"X\",\"name\":\"operation\",\"pid\":" + std::string(process) + ",\"tid\":2,\"ts\":" + std::to_string(i) + ",\"dur\":" +
                                (i % 3 == 0 ? "0" : i % 3 == 1 ? "0.5" : "1") + ",\"args\":{\"turn\":" + std::to_string(-int64_t(i)) +
                                ",\"category\":\"a \\\"step\\\"\"}},\n{\"ph\":\"s\",\"name\":\"launch\",";
      at = json.find(slice, at);
      ASSERT_NE(at, std::string::npos) << slice;
    }
}

TEST(ProfileFiles, AFileHasAtMostSoManyBytes) {
  const XSpace space = wordy(2000);
  const size_t whole = encode(space).size();
  EXPECT_GT(whole, 1'500'000u);
  for (size_t most : {size_t(400'000), size_t(50'000)}) {
    XSpace fewer = space;
    const std::string bytes = encodeWithin(fewer, most);
    EXPECT_EQ(bytes, encode(fewer));
    EXPECT_LE(bytes.size(), most);
    EXPECT_GE(bytes.size(), most * 7 / 10);
    ASSERT_EQ(fewer.warnings.size(), 1u);
    EXPECT_NE(fewer.warnings[0].find(" of 4000 events, the shortest ones, are not in this file"), std::string::npos) << fewer.warnings[0];
    StatusOr<XSpace> again = decodeXSpace(bytes);
    ASSERT_TRUE(again.ok()) << again.status().toString();
    const Plane &device = again->planes[0];
    const Plane::Event &last = device.lines[0].events.back();
    EXPECT_TRUE(device.kinds[last.kind].name.starts_with("operation 1999n"));
    EXPECT_TRUE(textOf(device, device.lines[0], last, "source").starts_with("file 1999s"));
    EXPECT_EQ(textOf(device, device.lines[1], device.lines[1].events.back(), "bytes in use"), "1001999");
  }
  XSpace same = space;
  EXPECT_EQ(encodeWithin(same, whole).size(), whole);
  EXPECT_TRUE(same.warnings.empty());
}

TEST(ProfileFiles, ProgramsThatRanLongestKeepTheirHlo) {
  XSpace space;
  space.planes.resize(2);
  Plane &device = space.planes[0], &metadata = space.planes[1];
  device.name = std::string(kDevicePlane) + "0";
  metadata.name = kMetadataPlane;
  Plane::Line &modules = device.lines.emplace_back(), &programs = metadata.lines.emplace_back();
  modules.name = "XLA Modules";
  for (uint32_t i = 0; i < 10; ++i) {
    const std::string title = "program(" + std::to_string(i) + ")";
    Plane::Event run;
    run.kind = i;
    run.offset = i * 1'000'000;
    run.duration = 1000 * (i == 3 || i == 7 ? 900 : 100);
    device.kinds.push_back({title, "", {}});
    modules.events.push_back(run);
    metadata.kinds.push_back({title, "", {metadata.bytes("Hlo Proto", std::string(100'000, char('a' + i)))}});
    run.duration = 0;
    programs.events.push_back(run);
  }
  EXPECT_LE(encodeWithin(space, 500'000).size(), 500'000u);
  ASSERT_EQ(space.warnings.size(), 1u);
  EXPECT_TRUE(space.warnings[0].starts_with("the HLO and the graphs of 8 of 10 programs, those that ran least, are not in this file")) << space.warnings[0];
  std::vector<std::string> kept;
  for (const Plane::EventKind &kind : space.planes[1].kinds)
    kept.push_back(kind.name);
  EXPECT_EQ(kept, (std::vector<std::string>{"program(3)", "program(7)"}));
  EXPECT_EQ(space.planes[0].lines[0].events.size(), 10u) << "events have room";
}

TEST(ProfileFiles, MemoryIsToldAsXProfReadsIt) {
  XSpace space = toXSpace(sample(), true);
  Plane memory = memoryEvents(space);
  ASSERT_EQ(memory.lines.size(), 1u);
  const Plane::Line &line = memory.lines[0];
  EXPECT_EQ(line.name, "memory of Millrace CPU:2");
  ASSERT_EQ(line.events.size(), 1u);
  EXPECT_EQ(memory.kinds[line.events[0].kind].name, "MemoryDeallocation");
  EXPECT_EQ(line.events[0].offset, 310'000);
  EXPECT_EQ(textOf(memory, line, line.events[0], "bytes_allocated"), "1024");
  EXPECT_EQ(textOf(memory, line, line.events[0], "requested_bytes"), "64");
  EXPECT_EQ(textOf(memory, line, line.events[0], "allocator_name"), "Millrace CPU:2");
  EXPECT_NE(encode(space).find("MemoryDeallocation"), std::string::npos);
  space.hasMemoryEvents = false;
  EXPECT_EQ(encode(space).find("MemoryDeallocation"), std::string::npos);
}

TEST(ProfileFiles, TheLargestBlocksAreToldWithTheirEnds) {
  XSpace space;
  Plane &device = space.planes.emplace_back();
  device.name = std::string(kDevicePlane) + "0";
  device.kinds.push_back({"bytes in use", "", {}});
  Plane::Line &line = device.lines.emplace_back();
  line.name = "_counters_";
  uint64_t inUse = 0;
  auto change = [&](int64_t bytes, uint64_t address) {
    inUse += uint64_t(bytes);
    Plane::Event point;
    point.firstStat = uint32_t(line.stats.size());
    point.numStats = 3;
    point.offset = int64_t(line.events.size()) * 1000;
    line.stats.push_back(device.number("bytes in use", inUse));
    line.stats.push_back(device.integer("change", bytes));
    line.stats.push_back(device.number("address", address));
    line.events.push_back(point);
  };
  change(1000, 1);
  for (uint64_t i = 0; i < 10; ++i)
    change(64, 100 + i);
  for (uint64_t i = 0; i < 10; ++i)
    change(-64, 100 + i);
  change(-1000, 1);
  change(8, 2);
  EXPECT_EQ(memoryEvents(space).lines.at(0).events.size(), 23u);
  const Plane few = memoryEvents(space, 7);
  std::map<std::string, int> live;
  for (const Plane::Event &event : few.lines.at(0).events)
    live[textOf(few, few.lines[0], event, "addr")] += event.kind == 0 ? 1 : -1;
  EXPECT_EQ(live, (std::map<std::string, int>{{"1", 0}, {"100", 0}, {"101", 0}})); // of the small ones no half is told
  EXPECT_EQ(textOf(few, few.lines[0], few.lines[0].events.back(), "peak_bytes_in_use"), "1640") << "also of blocks that are left out";
}

TEST(ProfileFiles, LevelsSayWhatIsToldOf) {
  auto namesOf = [](const Wanted &wanted) {
    std::vector<std::string> names;
    for (const Plane &plane : toXSpace(sample(), true, wanted).planes) {
      if (plane.name.starts_with(kDevicePlane))
        names.push_back("device");
      if (plane.name == kHostPlane)
        for (const Plane::Line &line : plane.lines)
          for (const Plane::Event &event : line.events)
            names.push_back(plane.kinds[event.kind].name);
    }
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(namesOf({}), (Names{"device", "step \"one\"", "ExecuteComputation", "TransferToDevice"}));
  EXPECT_EQ(namesOf({.hostLevel = 1}), (Names{"device", "step \"one\""}));
  EXPECT_EQ(namesOf({.hostLevel = 0}), Names{"device"});
  EXPECT_EQ(namesOf({.deviceLevel = 0}), (Names{"step \"one\"", "ExecuteComputation", "TransferToDevice"}));
  EXPECT_EQ(namesOf({.hostLevel = 0, .deviceLevel = 0}), Names{});
}

TEST(ProfileFiles, OptionsAreThoseOfXla) {
  auto read = [](const std::string &bytes) {
    Wanted wanted{7, 7, false};
    EXPECT_TRUE(readProfileOptions(bytes, wanted));
    return std::tuple(wanted.hostLevel, wanted.deviceLevel, wanted.hasPrograms);
  };
  EXPECT_EQ(read(""), std::tuple(2u, 1u, true));
  EXPECT_EQ(read({"\x10\x03\x18\x00", 4}), std::tuple(2u, 1u, true)) << "without a version nothing counts";
  EXPECT_EQ(read({"\x28\x01", 2}), std::tuple(0u, 0u, false)) << "with one a field that is missing is zero";
  EXPECT_EQ(read({"\x28\x01\x10\x03\x18\x01\x38\x01", 8}), std::tuple(3u, 1u, true));
  Wanted wanted;
  EXPECT_FALSE(readProfileOptions("\x28", wanted));
}

TEST(ProfileFiles, ASerialKernelIsNamedWithoutMeasurements) {
  XSpace space = toXSpace(sample(), true);
  Plane &device = space.planes[0];
  ASSERT_EQ(device.stats.size(), 1u);
  EXPECT_EQ(device.nameOf(device.stats[0]), "threads");
  EXPECT_EQ(device.stats[0].number, ThreadPool::global().size());
  device.stats[0].number = 4;
  device.lines[0].events[0].duration = device.lines[1].events[0].duration = 1'000'000'000; // 1 ms
  device.kinds[device.lines[1].events[0].kind].stats.push_back(device.number("most_pieces", 1));
  auto findingsOf = [](const XSpace &space) {
    std::vector<std::string> titles;
    for (const Finding &finding : viewsOf(space, summarize(space)).findings)
      if (finding.kind == "serial")
        titles.push_back(finding.title);
    return titles;
  };
  EXPECT_EQ(findingsOf(space), std::vector<std::string>{"Kernel dot_1 runs on one thread of 4, and takes 100 % of the devices' time."});
  StatusOr<XSpace> again = decodeXSpace(encode(space));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(findingsOf(*again).size(), 1u) << "files keep it";
  EXPECT_NE(htmlPage(space, "title").find("\"threads\":4"), std::string::npos);
}

TEST(ProfileFiles, TablesCountOwnTimesOnce) {
  Summary summary = summarize(toXSpace(sample(), true));
  EXPECT_EQ(summary.wallNs, 850); // from 50 to 900
  ASSERT_EQ(summary.devices.size(), 1u);
  EXPECT_EQ(summary.devices[0].executions, 1u);
  EXPECT_EQ(summary.devices[0].busyNs, 600);
  EXPECT_EQ(summary.devices[0].queueNs, 150);
  EXPECT_EQ(summary.devices[0].peakBytes, 1024u);
  ASSERT_EQ(summary.steps.size(), 2u);
  EXPECT_EQ(summary.steps[0].ns + summary.steps[1].ns, 400);
  EXPECT_EQ(summary.steps[0].name, "all_reduce"); // as long as the product: by name
  EXPECT_EQ(summary.steps[0].waitNs, 150);
  EXPECT_EQ(summary.steps[1].flops, 2000);
  ASSERT_EQ(summary.lines.size(), 1u);
  EXPECT_EQ(summary.lines[0].ns, 400);
  for (const Summary::Row &row : summary.host)
    if (row.name == "step \"one\"")
      EXPECT_EQ(row.ns, 90); // 200, without the launch and the transfer in it
  EXPECT_NE(verdict(summary).find("wait for each other"), std::string::npos) << verdict(summary);
  EXPECT_TRUE(verdict(summary).starts_with("Of 0.0 ms, devices run programs for 71 %")) << verdict(summary);
  summary.wallNs = 92e9;
  EXPECT_TRUE(verdict(summary).starts_with("Of 92.0 s, devices")) << verdict(summary);
}

TEST(ProfileFiles, TerminalsObeyNoName) {
  using namespace std::string_literals;
  EXPECT_EQ(forTerminal("dot_1 gr\xC3\xBC\xC3\x9F"), "dot_1 gr\xC3\xBC\xC3\x9F");
  EXPECT_EQ(forTerminal("\x1b[2J\r\n\0\x7F"s), "\\x1b[2J\\x0d\\n\\x00\\x7f");
  EXPECT_EQ(forTerminal("a\xC2\x9B\xFFz"), "a\\x9b\xEF\xBF\xBDz") << "a control of one byte in other encodings; no character";
  EXPECT_EQ(forTerminal("0123456789", 10), "0123456789");
  EXPECT_EQ(forTerminal("folder/folder/train.py:12", 10), "folde\xE2\x80\xA6y:12") << "ends of places have the line";
  XSpace space = toXSpace(sample(), true);
  const std::string name = "\x1b]0;title\x07" + std::string(100'000, 'n') + "\n";
  for (Plane &plane : space.planes)
    for (Plane::EventKind &kind : plane.kinds)
      kind.name = name;
  space.planes[0].name += "\x1b[1m";
  space.warnings.push_back(name);
  const Summary summary = summarize(space);
  const std::string text = toText(summary, 20, toText(viewsOf(space, summary), 3)) + toText(memoryPeaks(space), 20) + toText(compare(summary, summary), 20);
  EXPECT_EQ(text.find_first_of("\x1b\x07\r"), std::string::npos);
  EXPECT_NE(text.find("\\x1b]0;title\\x07nnn"), std::string::npos);
  EXPECT_LT(text.size(), 20'000u);
  EXPECT_NE(toJson(summary).find(std::string(100'000, 'n')), std::string::npos) << "the whole name";
}

TEST(ProfileFiles, PagesEscapeWhatTheyShow) {
  XSpace space = toXSpace(sample(), true);
  space.warnings.push_back("</script><b>");
  space.warnings.push_back("<!--<script>"); // opens what only the end of a comment closes
  std::string page = htmlPage(space, "a <b> & @DATA@");
  EXPECT_NE(page.find("<title>a &lt;b&gt; &amp; "), std::string::npos);
  EXPECT_EQ(page.find("</script><b>"), std::string::npos);
  EXPECT_EQ(page.find("<!--"), std::string::npos);
  EXPECT_NE(page.find("id=\"data\">{\"summary\""), std::string::npos); // not where the title has the mark
  EXPECT_NE(page.find("\\u003c/script><b>"), std::string::npos);
}

TEST(ProfileFiles, EmptyRecordingsSayWhy) {
  Recording recording;
  recording.lost = 3;
  XSpace space = toXSpace(recording, false);
  ASSERT_EQ(space.warnings.size(), 2u);
  EXPECT_NE(space.warnings[0].find("3 events were lost"), std::string::npos);
  EXPECT_NE(space.warnings[1].find("nothing was recorded"), std::string::npos);
}

TEST(ProfileFiles, FullMemorySaysWhatTimeIsCovered) {
  Recording recording = sample(); // of 1000 ns
  recording.lost = 12;
  recording.othersLostAt = 230;
  EXPECT_EQ(toXSpace(recording, true).warnings,
            std::vector<std::string>{"12 events were lost: the recorder's memory was full. From 0.000 s on executions, transfers and compilations are missing: "
                                     "the recording has those of the first 23.0 % of its time."});
  recording.othersLostAt = 0;
  recording.detailsLostAt = 605;
  EXPECT_NE(toXSpace(recording, true).warnings.at(0).find(" kernels, memory and waits are missing: the recording has those of the first 60.5 %"), std::string::npos);
}

} // namespace
