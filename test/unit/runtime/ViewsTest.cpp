// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ViewsTest.cpp - What recordings say is worth changing ---------------===//
#include "runtime/profile/ToXSpace.h"
#include "runtime/profile/Views.h"

#include <gtest/gtest.h>

#include <tuple>

using namespace millrace::runtime::profile;

namespace {

/// A recording of one host thread and one device, with times in milliseconds.
class Recorded {
public:
  Recorded() {
    space.planes.resize(2);
    space.planes[0].name = "/host:CPU";
    space.planes[0].lines.emplace_back().name = "main";
    space.planes[1].name = "/device:CUSTOM:Millrace CPU:0";
    space.planes[1].lines.emplace_back().name = "XLA Modules";
  }
  Recorded &host(const std::string &name, double begin, double end, std::vector<std::pair<std::string, std::string>> texts = {}) {
    add(space.planes[0], name, begin, end, texts);
    return *this;
  }
  Recorded &run(double begin, double end, const std::string &program = "step", int number = 1) {
    add(space.planes[1], program + "(" + std::to_string(number) + ")", begin, end, {{"hlo_module", program}});
    return *this;
  }
  /// A program whose graph the recording has.
  Recorded &program(const std::string &title) {
    if (space.planes.size() == 2)
      space.planes.emplace_back().name = kProgramsPlane;
    space.planes[2].stats.push_back(space.planes[2].text(title, "{}"));
    return *this;
  }
  /// Bytes of the device that are in use from this time on.
  Recorded &inUse(double at, int64_t bytes, int64_t change) {
    Plane &plane = space.planes[1];
    if (plane.lines.size() == 1)
      plane.lines.emplace_back().name = "_counters_";
    add(plane, "bytes in use", at, at, {});
    Plane::Line &line = plane.lines[1];
    line.events.push_back(plane.lines[0].events.back());
    plane.lines[0].events.pop_back();
    line.events.back().firstStat = uint32_t(line.stats.size());
    line.events.back().numStats = 3;
    line.stats.push_back(plane.integer("bytes in use", bytes));
    line.stats.push_back(plane.integer("change", change));
    line.stats.push_back(plane.number("address", uint64_t(bytes)));
    return *this;
  }
  /// This recording and those of two more processes as one.
  Recorded beside(const Recorded &second, const Recorded &third) const {
    Recorded made;
    made.space.planes.clear();
    int rank = 0;
    for (const Recorded *each : {this, &second, &third}) {
      for (Plane plane : each->space.planes) {
        plane.name += " (rank" + std::to_string(rank) + ".7)";
        made.space.planes.push_back(std::move(plane));
      }
      ++rank;
    }
    return made;
  }
  Summary summary() const { return summarize(space); }
  Views views() const { return viewsOf(space, summary()); }
  /// The finding of that kind; one without a title if there is none.
  Finding finding(const std::string &kind) const {
    for (Finding &each : views().findings)
      if (each.kind == kind)
        return each;
    return {};
  }

private:
  static void add(Plane &plane, const std::string &name, double begin, double end, const std::vector<std::pair<std::string, std::string>> &texts) {
    Plane::Line &line = plane.lines[0];
    Plane::Event event;
    event.kind = uint32_t(plane.kinds.size());
    plane.kinds.push_back({name, "", {}});
    event.offset = int64_t(begin * 1e9);
    event.duration = int64_t((end - begin) * 1e9);
    event.firstStat = uint32_t(line.stats.size());
    event.numStats = uint32_t(texts.size());
    for (const auto &[key, value] : texts)
      line.stats.push_back(plane.text(key, value));
    line.events.push_back(event);
  }
  XSpace space;
};

const std::pair<std::string, std::string> kLine = {"source", "train.py:12"};

TEST(Reads, TheWorkThatIsAwaitedIsNoCost) {
  // A step of 100 ms is launched, and the host waits for its loss; the device has nothing to do for 3 ms until it has the next step.
  Recorded recorded;
  for (int step = 0; step < 5; ++step)
    recorded.run(103 * step, 103 * step + 100).host("ReadByHost", 103 * step + 1, 103 * step + 101, {kLine});
  const Finding found = recorded.finding("read");
  EXPECT_EQ(found.source, "train.py:12");
  EXPECT_NEAR(found.ns, (4 * 3 + 1) * 1e6, 1) << "nothing follows the last step";
  EXPECT_NE(found.evidence.find("waits 500.0 ms"), std::string::npos) << found.evidence;
  EXPECT_NE(found.evidence.find("nothing to do for 13.0 ms"), std::string::npos) << found.evidence;
  EXPECT_NE(found.evidence.find("13.0 ms would be saved"), std::string::npos) << found.evidence;
}

TEST(Reads, ReadsCostNoMoreThanTheDeviceWorked) {
  // The host needs 50 ms to prepare a step of 2 ms: without the reads it still would.
  Recorded recorded;
  for (int step = 0; step < 5; ++step)
    recorded.run(53 * step, 53 * step + 2).host("ReadByHost", 53 * step, 53 * step + 3, {kLine});
  EXPECT_NEAR(recorded.finding("read").ns, (4 * (1 + 2) + 1) * 1e6, 1);
}

TEST(Reads, CompilationsAfterwardsHaveTheirOwnFinding) {
  Recorded recorded;
  for (int step = 0; step < 5; ++step)
    recorded.run(140 * step, 140 * step + 100)
        .host("ReadByHost", 140 * step + 1, 140 * step + 101, {kLine})
        .host("new graph", 140 * step + 104, 140 * step + 139, {kLine});
  EXPECT_NEAR(recorded.finding("read").ns, (4 * (1 + 4) + 1) * 1e6, 1);
  EXPECT_NEAR(recorded.finding("recompile").ns, 4 * 35e6, 1);
}

TEST(Reads, TheHostMayWaitWithoutReading) {
  Recorded recorded;
  for (int step = 0; step < 5; ++step)
    recorded.run(103 * step, 103 * step + 100).host("WaitByHost", 103 * step + 1, 103 * step + 101, {kLine});
  EXPECT_EQ(recorded.finding("read").title.find("The host waits for values 5 times at one line"), 0u);
}

TEST(Reads, ReadsOfMemoryHaveTheLineAlsoInsideOfJaxesRegion) {
  for (bool isInJaxesRegion : {false, true}) {
    Recorded recorded;
    for (int step = 0; step < 5; ++step) {
      recorded.run(103 * step, 103 * step + 100);
      if (isInJaxesRegion)
        recorded.host("np.asarray(jax.Array)", 103 * step + 0.5, 103 * step + 101.5);
      recorded.host("ReadMemoryByHost", 103 * step + 1, 103 * step + 101, {kLine});
    }
    std::vector<std::string> sources;
    for (const Finding &each : recorded.views().findings)
      if (each.kind == "read")
        sources.push_back(each.source);
    EXPECT_EQ(sources, std::vector<std::string>{"train.py:12"}) << isInJaxesRegion;
  }
}

TEST(Reads, ReadsOfMemoryDoNotHideThoseWithoutALine) {
  Recorded recorded;
  for (int step = 0; step < 10; ++step)
    recorded.run(103 * step, 103 * step + 100).host(step < 5 ? "ReadMemoryByHost" : "np.asarray(jax.Array)", 103 * step + 1, 103 * step + 101, {kLine});
  size_t reads = 0;
  for (const Finding &each : recorded.views().findings)
    reads += each.kind == "read";
  EXPECT_EQ(reads, 2u) << "five reads of one line, and five of the program's results";
}

TEST(Programs, TheCostliestComesFirst) {
  Recorded recorded;
  recorded.program("init(1)").program("step(2)").program("never(3)").program("eval(4)");
  recorded.run(0, 5, "init", 1).run(10, 90, "step", 2).run(100, 110, "eval", 4).run(120, 130, "eval", 4);
  std::vector<std::string> names;
  for (const auto &[name, graph] : recorded.views().programs)
    names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"step(2)", "eval(4)", "init(1)", "never(3)"}));
}

TEST(Fallbacks, TheWorkThatIsAwaitedIsNoCost) {
  Recorded recorded;
  for (int step = 0; step < 5; ++step)
    recorded.run(103 * step, 103 * step + 100).host("OperatorOnCpu", 103 * step + 1, 103 * step + 101, {{"operator", "aten::nms"}, kLine});
  const Finding found = recorded.finding("fallback");
  EXPECT_NEAR(found.ns, (4 * 3 + 1) * 1e6, 1);
  EXPECT_EQ(found.source, "train.py:12");
}

TEST(Recompilations, AConstantThatDiffersIsNamedWithItsLine) {
  Recorded recorded;
  for (int step = 0; step < 4; ++step) {
    const std::string from = std::to_string(step + 2) + ".0", to = std::to_string(step + 3) + ".0";
    recorded.host("new graph", 10 * step, 10 * step + 5,
                  {{"source", "train.py:20"},
                   {"difference", "now:    aten::pow -> f32[4] (train.py:12) before: aten::pow -> f32[4] (train.py:12) constant exponent of aten::pow: " +
                                      from + " became " + to + " at train.py:12"}});
  }
  const Finding found = recorded.finding("recompile");
  EXPECT_EQ(found.source, "train.py:12");
  EXPECT_NE(found.evidence.find("again; constant exponent of aten::pow: 2.0 became 3.0 at train.py:12."), std::string::npos) << found.evidence;
  EXPECT_NE(found.advice.find("torch.tensor(value, device='xla')"), std::string::npos);
}

TEST(Recompilations, EachProcessMayCompileTheSame) {
  // Three processes warm up with two graphs each, of which the second is no habit of any.
  Recorded first, second, third;
  for (Recorded *each : {&first, &second, &third})
    each->host("new graph", 0, 5, {kLine}).host("new graph", 10, 14, {kLine});
  EXPECT_EQ(first.beside(second, third).finding("recompile").title, "");
  // One that goes on compiling has the habit; all but the longest compilation of each process are done again.
  first.host("new graph", 20, 23, {kLine});
  const Finding found = first.beside(second, third).finding("recompile");
  EXPECT_EQ(found.title.find("7 graphs are compiled for one place"), 0u) << found.title;
  EXPECT_NEAR(found.ns, (4 + 3) * 1e6, 1) << "processes compile at the same time: that of the first one";
  EXPECT_NE(found.evidence.find("7.0 ms of compiling again in the process that does it most"), std::string::npos) << found.evidence;
}

TEST(Recompilations, ProgramsOfJaxAreComparedByName) {
  Recorded recorded;
  for (int step = 0; step < 4; ++step)
    recorded
        .host("new program", 10 * step, 10 * step + 6,
              {{"program", "jit_step"}, {"difference", step ? "constant 3.0 became 4.0 (train.py:7)" : ""}})
        .host("cache miss", 10 * step + 0.5, 10 * step + 0.8, {{"why", "no entry"}})
        .host("Compile", 10 * step + 1, 10 * step + 5, {{"program", "jit_step"}})
        .run(10 * step + 7, 10 * step + 8);
  for (const Compilation &each : recorded.views().compilations)
    EXPECT_EQ(each.cache, "no entry");
  const Finding found = recorded.finding("recompile");
  EXPECT_EQ(found.source, "train.py:7");
  EXPECT_NE(found.evidence.find("constant 3.0 became 4.0"), std::string::npos) << found.evidence;
  EXPECT_NE(found.advice.find("static argument"), std::string::npos);
}

TEST(Recompilations, ProgramsThatPrepareTheWorkAreNone) {
  auto compiled = [](Recorded &recorded, double at, int runs) {
    recorded.host("Compile", at, at + 5, {{"program", "init"}});
    for (int n = 0; n < runs; ++n)
      recorded.run(at + 5 + n, at + 5.5 + n, "init");
  };
  for (const auto &[runs, isBefore, isFound] : {std::tuple(1, true, true), {3, true, false}, {3, false, true}}) {
    Recorded recorded; // 4 compilations for 12 executions make parameters, but not if they go on while the work is done
    if (!isBefore)
      recorded.run(0, 9);
    for (int n = 0; n < 4; ++n)
      compiled(recorded, 10 + 10 * n, runs);
    for (int n = 0; n < 4; ++n)
      recorded.run(60 + 10 * n, 69 + 10 * n);
    EXPECT_EQ(!recorded.finding("recompile").title.empty(), isFound) << runs << " " << isBefore;
  }
}

TEST(Caches, AnotherProgramIsNoMissThatCouldBeAvoided) {
  for (const auto &[differs, isFound] : {std::pair("program", false), {"pjrt layouts; program", false}, {"target; program shape", true}}) {
    Recorded recorded;
    for (int n = 0; n < 4; ++n)
      recorded.host("cache miss", 10 * n, 10 * n + 1, {{"why", std::string("the most similar entry differs in: ") + differs}})
          .host("Compile", 10 * n + 1, 10 * n + 5, {{"program", "step"}});
    EXPECT_EQ(!recorded.finding("cache").title.empty(), isFound) << differs;
  }
}

TEST(Leaks, ParametersThatAreMadeAreNone) {
  const int64_t size = 1 << 20;
  int64_t bytes = 0;
  Recorded recorded;
  for (int n = 0; n < 15; ++n) {
    recorded.inUse(10 * n, bytes += size, size);
    recorded.run(10 * n + 1, 10 * n + 2, "init");
  }
  for (int n = 0; n < 10; ++n)
    recorded.run(200 + 50 * n, 240 + 50 * n);
  EXPECT_EQ(recorded.finding("leak").title, "");
  for (int n = 10; n < 30; ++n) {
    recorded.inUse(200 + 50 * n, bytes += size, size);
    recorded.run(201 + 50 * n, 240 + 50 * n);
  }
  EXPECT_NE(recorded.finding("leak").title.find("with each execution of step"), std::string::npos);
}

TEST(Verdicts, CompilersOfManyProcessesTakeNoMoreThanTheTime) {
  Recorded first, second, third;
  for (Recorded *each : {&first, &second, &third})
    each->host("Compile", 0, 90).host("Compile", 1, 80).host("TransferToDevice", 90, 95).run(95, 100);
  const Recorded all = first.beside(second, third);
  EXPECT_TRUE(verdict(all.summary()).starts_with("Of 100.0 ms, devices run programs for 5 %, the compiler works for 90 % (6 programs), transfers take 5 %."))
      << verdict(all.summary());
  EXPECT_EQ(all.summary().compileNs, 3 * 169e6) << "of all threads";
}

TEST(Verdicts, AShortJobCompilesMuchForWhatItRuns) {
  Recorded brief;
  for (int program = 0; program < 6; ++program) {
    const std::string name = "program" + std::to_string(program);
    brief.host("Compile", 20 * program, 20 * program + 9, {{"program", name}}).run(20 * program + 10, 20 * program + 15, name);
  }
  EXPECT_EQ(verdict(brief.summary()).find("is compiled for every"), std::string::npos) << verdict(brief.summary());
  Recorded changing;
  for (int step = 0; step < 6; ++step)
    changing.host("Compile", 20 * step, 20 * step + 9, {{"program", "step"}}).run(20 * step + 10, 20 * step + 15);
  EXPECT_NE(verdict(changing.summary()).find("A program is compiled for every 1.0 that run"), std::string::npos) << verdict(changing.summary());
}

TEST(Findings, WhatManyProcessesDoAtTheSameTimeCostsOnce) {
  // Two steps' lines cost each process 4 ms; one of them costs the first process 10 ms, too.
  const std::pair<std::string, std::string> large = {"source", "train.py:9"}, small = {"source", "train.py:5"};
  Recorded first, second, third;
  for (Recorded *each : {&first, &second, &third})
    for (int step = 0; step < 5; ++step) {
      each->run(120 * step, 120 * step + 100);
      each->host("ReadByHost", 120 * step + 1, 120 * step + 101, {small});
      if (each == &first)
        each->host("OperatorOnCpu", 120 * step + 101, 120 * step + 103, {{"operator", "aten::nms"}, large});
    }
  const Recorded all = first.beside(second, third);
  EXPECT_NEAR(all.finding("read").ns, first.finding("read").ns, 1);
  EXPECT_NEAR(all.finding("fallback").ns, first.finding("fallback").ns, 1);
}

TEST(Findings, WhatCostsNextToNothingIsNotNamedFirst) {
  Recorded recorded;
  recorded.run(0, 10'000);
  for (int step = 0; step < 5; ++step)
    recorded.host("new graph", 100 * step, 100 * step + 1, {kLine});
  const std::string text = toText(recorded.views(), 3);
  EXPECT_EQ(text, "Less than 1 % of the time goes into 1 more finding: --findings has all.\n");
  for (int step = 0; step < 5; ++step)
    recorded.host("new graph", 1000 + 100 * step, 1000 + 100 * step + 90, {{"source", "train.py:15"}});
  const std::string more = toText(recorded.views(), 3);
  EXPECT_TRUE(more.starts_with("1. 5 graphs are compiled for one place, where train.py:15 cuts the graph.")) << more;
  EXPECT_NE(more.find("\nLess than 1 %"), std::string::npos) << more;
}

} // namespace
