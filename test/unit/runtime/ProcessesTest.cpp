// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProcessesTest.cpp - Collectives of several processes ----------------===//
// The processes are threads of this one with a mesh each: what they compute is compared, bit by bit, with one process that has all devices.
#include "TestPrograms.h"
#include "runtime/collective/Collective.h"
#include "runtime/collective/Processes.h"
#include "runtime/transport/Wire.h"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <thread>

using namespace millrace::runtime;

namespace {

using Kind = CollectiveStep::Kind;
using Reduction = CollectiveStep::Reduction;
using Groups = CollectiveStep::Groups;

/// The processes of one job.
struct Job {
  std::vector<std::shared_ptr<Processes>> processes;

  /// `processesOfHost`: so many follow each other; 0: all are of this one.
  explicit Job(uint32_t size, bool usesUnixSockets = true, uint32_t processesOfHost = 0) : processes(size) {
    transport::MemoryStore store;
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        transport::MeshOptions options;
        options.rank = rank, options.size = size, options.usesUnixSockets = usesUnixSockets;
        if (processesOfHost)
          options.host = "host " + std::to_string(rank / processesOfHost);
        auto mesh = transport::Mesh::connect(store, options);
        ASSERT_TRUE(mesh.ok()) << mesh.status().toString();
        processes[rank] = Processes::create(std::move(*mesh));
      });
    for (std::thread &thread : threads)
      thread.join();
  }
  ~Job() {
    for (auto &each : processes)
      if (each)
        each->stop();
  }

  /// One launch of a program with a replica per device, of which each process has as many: the context that every device sees.
  std::vector<std::shared_ptr<RunContext>> launch(uint32_t devicesOfEach, uint64_t agreement = 1, double timeout = 20, const char *name = "test") {
    uint32_t size = uint32_t(processes.size()), devices = size * devicesOfEach;
    std::vector<uint32_t> processOf(devices);
    for (uint32_t i = 0; i < devices; ++i)
      processOf[i] = i / devicesOfEach;
    std::vector<std::shared_ptr<RunContext>> contexts(devices);
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        auto launched = processes[rank]->launch(devices, 1, processOf, {agreement, 0, name, ""}, timeout);
        ASSERT_TRUE(launched.ok()) << launched.status().toString();
        for (uint32_t i = 0; i < devicesOfEach; ++i)
          contexts[rank * devicesOfEach + i] = *launched;
      });
    for (std::thread &thread : threads)
      thread.join();
    return contexts;
  }
};

struct Tensor {
  DType dtype = DType::F32;
  std::vector<int64_t> dims;
  std::vector<uint8_t> bytes;
  TensorView view() { return {bytes.data(), dtype, dims}; }
  bool operator==(const Tensor &) const = default;
};

Tensor empty(DType dtype, std::vector<int64_t> dims) {
  Tensor made{dtype, std::move(dims), {}};
  made.bytes.resize(made.view().bytes());
  return made;
}

/// Any bits for integers; for floats numbers whose sums depend on the order.
Tensor randomTensor(DType dtype, const std::vector<int64_t> &dims, uint32_t seed) {
  Tensor made = empty(dtype, dims);
  std::mt19937 random(seed);
  size_t bytes = byteSize(dtype);
  for (size_t i = 0; i < made.bytes.size() / bytes; ++i) {
    uint8_t *at = made.bytes.data() + i * bytes;
    float number = std::ldexp(float(int32_t(random())) / 2147483648.0f, int(random() % 9) - 4);
    double wide = double(number) * 1.0000001;
    uint32_t bits = std::bit_cast<uint32_t>(number);
    switch (dtype) {
    case DType::F32: std::memcpy(at, &number, 4); break;
    case DType::F64: std::memcpy(at, &wide, 8); break;
    case DType::BF16: bits >>= 16; std::memcpy(at, &bits, 2); break;
    case DType::C64: std::memcpy(at, &number, 4), number = -number * 3, std::memcpy(at + 4, &number, 4); break;
    case DType::I1: *at = random() & 1; break;
    default:
      for (size_t k = 0; k < bytes; ++k)
        at[k] = uint8_t(random());
    }
  }
  return made;
}

struct Case {
  std::string name;
  CollectiveStep step;
  std::vector<std::vector<int64_t>> operands, results; ///< dims, of every device
};

CollectiveStep step(Kind kind, std::vector<std::vector<int64_t>> groups = {}, Reduction reduction = Reduction::None) {
  CollectiveStep made;
  made.kind = kind, made.groups = std::move(groups), made.reduction = reduction, made.name = "collective";
  made.results = {0};
  return made;
}

/// What four devices do.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (auto [name, groups] : std::vector<std::pair<std::string, std::vector<std::vector<int64_t>>>>{
           {"All", {}}, {"Neighbours", {{0, 1}, {2, 3}}}, {"Crossed", {{2, 0}, {3, 1}}}, {"Uneven", {{3, 0, 2}, {1}}}}) {
    bool isUneven = name == "Uneven";
    int64_t members = groups.empty() ? 4 : 2;
    all.push_back({"AllReduce" + name, step(Kind::AllReduce, groups, Reduction::Sum), {{37, 129}}, {{37, 129}}});
    all.push_back({"AllReduceMax" + name, step(Kind::AllReduce, groups, Reduction::Max), {{5}}, {{5}}});
    all.push_back({"CollectiveReduce" + name, step(Kind::CollectiveReduce, groups, Reduction::Sum), {{300}}, {{300}}});
    CollectiveStep broadcast = step(Kind::CollectiveBroadcast, groups);
    all.push_back({"Broadcast" + name, broadcast, {{11, 3}}, {{11, 3}}});
    if (isUneven)
      continue;
    CollectiveStep gather = step(Kind::AllGather, groups);
    gather.dimension = 1;
    all.push_back({"AllGather" + name, gather, {{3, 5, 2}}, {{3, 5 * members, 2}}});
    CollectiveStep scatter = step(Kind::ReduceScatter, groups, Reduction::Sum);
    scatter.dimension = 1;
    all.push_back({"ReduceScatter" + name, scatter, {{6, 8, 9}}, {{6, 8 / members, 9}}});
    CollectiveStep exchange = step(Kind::AllToAll, groups);
    exchange.dimension = 0, exchange.dimension2 = 1, exchange.splitCount = members;
    all.push_back({"AllToAll" + name, exchange, {{2, 8}}, {{2 * members, 8 / members}}});
  }
  all.push_back({"Permute", step(Kind::CollectivePermute, {{0, 3}, {3, 1}, {1, 2}}), {{1000}}, {{1000}}});
  CollectiveStep root = step(Kind::CollectiveBroadcast, {{0, 1, 2, 3}});
  root.root = 2;
  all.push_back({"BroadcastOfThird", root, {{7}}, {{7}}});
  all.push_back({"Several", step(Kind::AllReduce, {}, Reduction::Sum), {{4}, {}, {0, 3}, {65}}, {{4}, {}, {0, 3}, {65}}});
  all.back().step.results = {0, 1, 2, 3};
  return all;
}

/// Results of all devices, [device][result].
std::vector<std::vector<Tensor>> run(const Case &test, DType dtype, const std::vector<std::shared_ptr<RunContext>> &contexts) {
  std::vector<std::vector<Tensor>> results(contexts.size());
  std::vector<std::thread> threads;
  for (uint32_t device = 0; device < contexts.size(); ++device)
    threads.emplace_back([&, device] {
      std::vector<Tensor> operands;
      for (size_t i = 0; i < test.operands.size(); ++i) {
        operands.push_back(randomTensor(dtype, test.operands[i], device * 100 + uint32_t(i)));
        results[device].push_back(empty(dtype, test.results[i]));
      }
      CollectiveCall call{test.step, {}, {}, nullptr, "f.py:1", device, 0};
      for (size_t i = 0; i < operands.size(); ++i)
        call.arguments.push_back(operands[i].view()), call.results.push_back(results[device][i].view());
      for (int round = 0; round < 3; ++round) {
        Status status = runCollective(*contexts[device], call);
        EXPECT_TRUE(status.ok()) << status.toString();
      }
      contexts[device]->finish(device, Status());
    });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}

TEST(Processes, BitsDoNotDependOnTheProcesses) {
  for (uint32_t size : {2u, 4u})
    for (bool usesUnixSockets : {true, false}) {
      Job job(size, usesUnixSockets);
      for (const Case &test : cases())
        for (DType dtype : {DType::F32, DType::BF16, DType::F64, DType::C64, DType::I8, DType::I32, DType::U64, DType::I1}) {
          bool hasNoOrder = dtype == DType::C64 && test.step.reduction == Reduction::Max;
          if (hasNoOrder)
            continue;
          std::vector<std::shared_ptr<RunContext>> alone(4, std::make_shared<RunContext>(4, 1, 20));
          ASSERT_EQ(run(test, dtype, job.launch(4 / size)), run(test, dtype, alone))
              << test.name << " of " << name(dtype) << " in " << size << " processes";
        }
    }
}

/// Collectives that the processes share by parts, some of them between hosts alone.
std::vector<Case> largeCases() {
  const int64_t large = 700001;
  std::vector<Case> all;
  for (auto [name, groups] : std::vector<std::pair<std::string, std::vector<std::vector<int64_t>>>>{
           {"All", {}}, {"Crossed", {{2, 0}, {3, 1}}}, {"Uneven", {{3, 0, 2}, {1}}}, {"Pair", {{1, 2}, {0}, {3}}}})
    all.push_back({"Large" + name, step(Kind::AllReduce, groups, Reduction::Sum), {{large}}, {{large}}});
  for (auto [name, groups, members] : std::vector<std::tuple<std::string, std::vector<std::vector<int64_t>>, int64_t>>{
           {"All", {}, 4}, {"Crossed", {{2, 0}, {3, 1}}, 2}}) {
    CollectiveStep gather = step(Kind::AllGather, groups);
    gather.dimension = 1;
    all.push_back({"LargeGather" + name, gather, {{3, 100001, 2}}, {{3, 100001 * members, 2}}});
  }
  CollectiveStep gatherTwo = step(Kind::AllGather, {});
  gatherTwo.results = {0, 1};
  all.push_back({"GatherOfTwo", gatherTwo, {{70000, 3}, {5}}, {{280000, 3}, {20}}});
  all.push_back({"LargeAndSmall", step(Kind::AllReduce, {}, Reduction::Sum), {{4}, {large}, {0, 3}, {65}, {3, 50000}}, {}});
  all.back().results = all.back().operands;
  all.back().step.results = {0, 1, 2, 3, 4};
  return all;
}

/// Devices of one process take the parts of others at their own pace: who is done first is gone, and its operand with it.
TEST(Processes, SeveralDevicesOfAProcessTakeParts) {
  Job job(3, /*usesUnixSockets=*/true, /*processesOfHost=*/2);
  CollectiveStep gather = step(Kind::AllGather, {});
  const Case test{"Gather", gather, {{70001}}, {{420006}}};
  std::vector<std::shared_ptr<RunContext>> alone(6, std::make_shared<RunContext>(6, 1, 20));
  const auto expected = run(test, DType::F32, alone);
  for (int round = 0; round < 10; ++round)
    ASSERT_TRUE(run(test, DType::F32, job.launch(2)) == expected);
}

TEST(Processes, BitsDoNotDependOnTheProcessesThatShareWork) {
  for (uint32_t size : {2u, 4u})
    for (uint32_t processesOfHost : size == 2 ? std::vector<uint32_t>{0, 1} : std::vector<uint32_t>{0, 2, 3}) {
      Job job(size, /*usesUnixSockets=*/true, processesOfHost);
      for (const Case &test : largeCases())
        for (DType dtype : {DType::F32, DType::BF16, DType::C64}) {
          std::vector<std::shared_ptr<RunContext>> alone(4, std::make_shared<RunContext>(4, 1, 20));
          ASSERT_TRUE(run(test, dtype, job.launch(4 / size)) == run(test, dtype, alone))
              << test.name << " of " << name(dtype) << " in " << size << " processes, " << processesOfHost << " per host";
        }
    }
}

/// Three processes with one member each, of which this one is process 0; it sends nothing.
class SilentMembers : public RemoteMembers {
public:
  uint32_t numProcesses() const override { return 3; }
  uint32_t self() const override { return 0; }
  uint32_t processOf(uint32_t member) const override { return member; }
  const std::string &hostOf(uint32_t process) const override { return hosts[process == 2]; }
  std::string describe(uint32_t process) const override { return "process " + std::to_string(process); }
  std::string activityOf(uint32_t) const override { return ""; }
  Status arrive(uint32_t, const std::vector<uint32_t> &, const OperationId &, const void *) override { return Status(); }
  Status send(uint32_t, uint32_t, int64_t, const std::string &) override { return Status(); }
  void finish(uint32_t, const Status &) override {}
  void idle(const IdleState &) override {}
  Status tellPart(const std::vector<uint32_t> &, uint64_t, const std::vector<iovec> &) override { return Status(); }
  void callLater(std::function<void()> task) override { tasks.emplace_back(std::move(task)); }
  void poll(const std::vector<uint32_t> &, const std::function<bool()> &) override {}
  ~SilentMembers() override {
    for (std::thread &task : tasks)
      task.join();
  }

private:
  const std::string hosts[2] = {"here", "elsewhere"};
  std::vector<std::thread> tasks;
};

/// Process 1 forwards what process 2 has sent to this host: that part overtakes the arrivals of both, which are sent by other ways.
TEST(Processes, AForwardedPartMayComeBeforeAllArrivals) {
  auto context = std::make_shared<RunContext>(3, 1, 20, std::make_unique<SilentMembers>());
  const std::vector<uint32_t> group = {0, 1, 2};
  const OperationId operation{nullptr, "all_reduce", "f.py:1", 7};
  auto partOf = [&](uint32_t process, uint64_t number) {
    std::shared_ptr<char> part(new char[1]{char('a' + process)}, std::default_delete<char[]>());
    context->remotePart(process, group, number, std::move(part), 1);
  };
  std::string taken;
  auto parted = std::make_shared<RunContext::Parted>();
  parted->share = [](const std::vector<const void *> &, size_t) { return Status(); };
  parted->own = [](const std::vector<const void *> &, size_t) { return std::vector<iovec>(); };
  parted->take = [&](const void *, uint32_t process, const char *part, uint64_t bytes) {
    taken += std::to_string(process) + std::string(part, bytes) + " ";
    return Status();
  };
  for (uint64_t number = 0; number < 2; ++number) {
    partOf(2, number);
    for (uint32_t member : {1, 2})
      context->remoteArrive(member, group, operation, std::make_shared<int>());
    std::thread later([&] { partOf(1, number); });
    Status status = context->meet(0, group, operation, &operation, parted->share, parted);
    later.join();
    EXPECT_TRUE(status.ok()) << status.toString();
  }
  EXPECT_EQ(taken, "1b 2c 1b 2c ");
  partOf(1, 0); // of a meeting that is over
  EXPECT_NE(context->meet(0, group, operation, &operation, parted->share, parted).message().find("sent a part of a result that nobody expects"), std::string::npos);
}

/// Runs `work` for every device and returns what each ends with; an error is told to the others as an executor does.
std::vector<std::string> outcomes(const std::vector<std::shared_ptr<RunContext>> &contexts,
                                  const std::function<Status(uint32_t device, RunContext &)> &work) {
  std::vector<std::string> texts(contexts.size());
  std::vector<std::thread> threads;
  for (uint32_t device = 0; device < contexts.size(); ++device)
    threads.emplace_back([&, device] {
      Status status = work(device, *contexts[device]);
      contexts[device]->finish(device, status);
      texts[device] = status.ok() ? "ok" : status.message();
    });
  for (std::thread &thread : threads)
    thread.join();
  return texts;
}

/// One collective of f32, in place of `kind`, at a line.
Status collective(uint32_t device, RunContext &context, Kind kind, const char *title, const char *line,
                  std::vector<std::vector<int64_t>> groups = {}, std::vector<int64_t> dims = {4}) {
  CollectiveStep made = step(kind, std::move(groups), kind == Kind::AllReduce || kind == Kind::CollectiveReduce ? Reduction::Sum : Reduction::None);
  made.name = title;
  made.splitCount = context.size(); // of an all_to_all
  Tensor operand = randomTensor(DType::F32, dims, device), result = empty(DType::F32, dims);
  return runCollective(context, {made, {operand.view()}, {result.view()}, nullptr, line, device, 0});
}

TEST(Processes, DifferentCollectivesAreNamedOnAll) {
  Job job(4);
  for (const std::string &text : outcomes(job.launch(1), [](uint32_t device, RunContext &context) {
         return device < 2 ? collective(device, context, Kind::AllReduce, "all_reduce", "f.py:1")
                           : collective(device, context, Kind::CollectiveBroadcast, "collective_broadcast", "f.py:2");
       })) {
    EXPECT_NE(text.find("mismatched collectives: device "), std::string::npos) << text;
    EXPECT_NE(text.find("executes all_reduce at f.py:1, but device "), std::string::npos) << text;
    EXPECT_NE(text.find("executes collective_broadcast at f.py:2"), std::string::npos) << text;
  }
}

TEST(Processes, DifferentShapesAreNamedOnAll) {
  Job job(2);
  for (const std::string &text : outcomes(job.launch(1), [](uint32_t device, RunContext &context) {
         return collective(device, context, Kind::AllReduce, "all_reduce", "f.py:1", {}, {device + 4});
       }))
    EXPECT_NE(text.find("operand 0 has another shape on device "), std::string::npos) << text;
}

TEST(Processes, PiecesThatDoNotFitAreNamedOnAll) {
  for (int64_t longer : {5, 300'000}) { // of which one is gathered in parts, but not by the other process
    Job job(3, /*usesUnixSockets=*/true, /*processesOfHost=*/2);
    for (const std::string &text : outcomes(job.launch(1), [&](uint32_t device, RunContext &context) {
           Tensor piece = randomTensor(DType::F32, {device == 1 ? longer : 4}, device), all = empty(DType::F32, {3 * piece.dims[0]});
           return runCollective(context, {step(Kind::AllGather), {piece.view()}, {all.view()}, nullptr, "f.py:1", device, 0});
         }))
      EXPECT_NE(text.find("along dimension 0: [4] of device 0, [" + std::to_string(longer) + "] of device 1, [4] of device 2"), std::string::npos) << text;
  }
}

TEST(Processes, DifferentSizesOfPartedOperandsAreNamedOnAll) {
  for (std::vector<int64_t> sizes : {std::vector<int64_t>{600000, 600001}, {600000, 4}}) {
    Job job(2);
    for (const std::string &text : outcomes(job.launch(1), [&](uint32_t device, RunContext &context) {
           CollectiveStep made = step(Kind::AllReduce, {}, Reduction::Sum);
           made.results = {0, 1};
           Tensor one = randomTensor(DType::F32, {600000}, device), two = randomTensor(DType::F32, {sizes[device]}, device);
           Tensor first = one, second = two;
           return runCollective(context, {made, {one.view(), two.view()}, {first.view(), second.view()}, nullptr, "f.py:1", device, 0});
         }))
      EXPECT_NE(text.find("operand 1 has another shape on device"), std::string::npos) << text;
  }
}

/// One device completes a large all_reduce at once, the other one only after it has heard of that.
TEST(Processes, PartsOfStartedCollectivesComeBeforeTheyAreDone) {
  Job job(2);
  for (int late : {0, 1}) {
    std::vector<Tensor> results(2, empty(DType::F32, {600000}));
    for (const std::string &text : outcomes(job.launch(1, uint64_t(10 + late)), [&](uint32_t device, RunContext &context) -> Status {
           CollectiveStep made = step(Kind::AllReduce, {}, Reduction::Sum);
           Tensor operand = randomTensor(DType::F32, {600000}, device);
           CollectiveCall call{made, {operand.view()}, {results[device].view()}, nullptr, "f.py:1", device, 0};
           auto meeting = startCollective(context, call);
           if (!meeting)
             return meeting.status();
           const OperationId message{&made, "recv", "f.py:2"};
           if (int(device) == late)
             if (auto bytes = context.receive(device, 1 - device, 0, message); !bytes)
               return bytes.status();
           Status status = finishCollective(context, call, **meeting);
           if (int(device) != late)
             context.send(device, 1 - device, 0, "done");
           return status;
         }))
      EXPECT_EQ(text, "ok");
    Tensor one = randomTensor(DType::F32, {600000}, 0), two = randomTensor(DType::F32, {600000}, 1), sum = empty(DType::F32, {600000});
    ASSERT_TRUE(reduceElements(Reduction::Sum, DType::F32, one.bytes.data(), two.bytes.data(), sum.bytes.data(), 600000));
    EXPECT_TRUE(results[0] == sum && results[1] == sum);
  }
}

TEST(Processes, DeadlocksAreRecognized) {
  Job job(2);
  auto begin = transport::Clock::now();
  auto name = [&](uint32_t rank) { return job.processes[0]->links().describe(rank); };
  std::vector<std::string> texts = outcomes(job.launch(1, 1, /*timeout=*/60), [](uint32_t device, RunContext &context) {
    // Each waits in a group that the other never comes to.
    return collective(device, context, Kind::AllReduce, "all_reduce", device ? "f.py:2" : "f.py:1",
                      device ? std::vector<std::vector<int64_t>>{{1, 0}} : std::vector<std::vector<int64_t>>{{0, 1}});
  });
  for (const std::string &text : texts)
    EXPECT_EQ(text, "missing participant: all_reduce at f.py:1 on device 0 waits for device 1 of " + name(1) + ", which has not arrived; " +
                        "all_reduce at f.py:2 on device 1 waits for device 0 of " + name(0) + ", which has not arrived");
  EXPECT_LT(std::chrono::duration<double>(transport::Clock::now() - begin).count(), 5);
}

TEST(Processes, WhoFinishesWithoutTakingPartIsNamed) {
  Job job(2);
  std::vector<std::string> texts = outcomes(job.launch(1, 1, 60), [](uint32_t device, RunContext &context) {
    return device ? Status() : collective(device, context, Kind::AllReduce, "all_reduce", "f.py:1");
  });
  EXPECT_EQ(texts[1], "ok");
  EXPECT_EQ(texts[0], "missing participant: all_reduce at f.py:1 on device 0 waits for device 1 of " +
                          job.processes[0]->links().describe(1) + ", which has finished without taking part");
}

TEST(Processes, AnErrorOfOneEndsTheWaitsOfAll) {
  Job job(4);
  std::vector<std::string> texts = outcomes(job.launch(1, 1, 60), [](uint32_t device, RunContext &context) {
    return device == 3 ? internalError("out of paper") : collective(device, context, Kind::AllReduce, "all_reduce", "f.py:1");
  });
  EXPECT_EQ(texts, (std::vector<std::string>{"device 3 failed: out of paper", "device 3 failed: out of paper", "device 3 failed: out of paper",
                                             "out of paper"}));
}

TEST(Processes, WhoLeavesIsNamedToThoseWhoWait) {
  Job job(2);
  auto contexts = job.launch(1, 1, 60);
  std::thread leaver([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    job.processes[1]->stop();
  });
  Status status = collective(0, *contexts[0], Kind::AllReduce, "all_reduce", "f.py:1");
  leaver.join();
  EXPECT_EQ(status.message(), job.processes[0]->links().describe(1) + " has left");
  auto again = job.processes[0]->launch(2, 1, {0, 1}, {1, 0, "test", ""}, 20);
  EXPECT_EQ(again.status().message(), job.processes[0]->links().describe(1) + " has left");
}

/// What an all_reduce ends with on each of the two processes of a job that launch with these agreements.
std::vector<Status> launchedWith(Job &job, const std::vector<Processes::Agreement> &agreements) {
  std::vector<Status> statuses(2);
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      auto launched = job.processes[rank]->launch(2, 1, {0, 1}, agreements[rank], 60);
      ASSERT_TRUE(launched.ok());
      statuses[rank] = collective(rank, **launched, Kind::AllReduce, "all_reduce", "f.py:1");
      (*launched)->finish(rank, statuses[rank]);
    });
  for (std::thread &thread : threads)
    thread.join();
  return statuses;
}

TEST(Processes, DifferentProgramsAreNamedOnAll) {
  Job job(2);
  for (const Status &status : launchedWith(job, {{10, 0, "'jit_evaluate'", ""}, {11, 0, "'jit_step'", ""}}))
    EXPECT_EQ(status.message(), "the processes launch different programs: " + job.processes[0]->links().describe(0) +
                                    " launches 'jit_evaluate', but " + job.processes[0]->links().describe(1) +
                                    " launches 'jit_step'; all have to launch the same ones in the same order");
}

TEST(Processes, DifferentArgumentsAreNamed) {
  Job job(2);
  const std::string whole = "tensor<4xf32>\ntensor<8xf32>\n";
  for (auto &[other, difference] : std::vector<std::pair<std::string, std::string>>{
           {"tensor<4xf32>\ntensor<6xf32>\n", " (argument 1 is tensor<8xf32> in the one and tensor<6xf32> in the other)"},
           {"tensor<4xf32>\n", " (the one has 2 arguments and the other 1)"},
           {whole, ""}})
    for (const Status &status : launchedWith(job, {{10, 0, "'jit_step'", "", "", whole}, {11, 0, "'jit_step'", "", "", other}}))
      EXPECT_EQ(status.message(), "the processes launch different programs: " + job.processes[0]->links().describe(0) +
                                      " launches 'jit_step', but " + job.processes[0]->links().describe(1) +
                                      " launches 'jit_step', with other shapes or collectives" + difference +
                                      "; all have to launch the same ones in the same order");
}

TEST(Processes, DifferentLaunchesOfOneProgramAreNamedOnAll) {
  Job job(2);
  for (const Status &status : launchedWith(job, {{7, 10, "'jit_step'", "launch id"}, {7, 11, "'jit_step'", "launch id"}}))
    EXPECT_EQ(status.message(), "the processes do not do the same: " + job.processes[0]->links().describe(0) + " launches 'jit_step', but " +
                                    job.processes[0]->links().describe(1) + " launches it with another launch id");
}

/// Gives a program its first argument, which has to have four elements.
void addCheckedArgument(test::Builder &b) {
  SlotId open = b.argument(DType::F32, {4});
  b.program.arguments[0].dims = {kDynamic};
  Slot &slot = b.main().slots[open];
  slot.dims = {Dim::runtime(0)}, slot.bytes = 0;
  b.main().numDims = 1;
  b.main().dimBindings = {{0, 0, 0, {}}};
  b.main().checks = {{DimExpr::dim(0), SizeCheck::Relation::Equal, DimExpr::constant(4)}};
}

/// All-reduces its second argument; the first one has to have four elements.
Program checkedSum() {
  test::Builder b;
  b.program.numReplicas = 2;
  addCheckedArgument(b);
  SlotId x = b.argument(DType::F32, {4}), z = b.result(DType::F32, {4});
  CollectiveStep sum = step(Kind::AllReduce, {}, Reduction::Sum);
  sum.arguments = {x}, sum.results = {z}, sum.name = "all_reduce";
  b.push({sum, kNone});
  return b.program;
}

TEST(Processes, WhoseArgumentsAreRefusedTellsTheOthers) {
  Job job(2);
  std::vector<Status> statuses(4); // of each process's launches, one after the other
  std::vector<std::thread> threads;
  const auto begin = std::chrono::steady_clock::now();
  for (uint32_t rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      ClientOptions options;
      options.timeoutSeconds = 100, options.processes = job.processes[rank], options.devicesOf = {1, 1}, options.rngSeed = 1;
      auto client = Client::create(options);
      ASSERT_TRUE(client.ok()) << client.status().toString();
      auto program = (*client)->load(checkedSum());
      ASSERT_TRUE(program.ok()) << program.status().toString();
      for (uint32_t launch = 0; launch < 2; ++launch) {
        const int64_t size = rank && !launch ? 5 : 4;
        auto launched = (*program)->execute({{test::toDevice<float>(**client, DType::F32, {size}, std::vector<float>(size_t(size))),
                                              test::toDevice<float>(**client, DType::F32, {4}, {1, 2, 3, float(rank)})}});
        Status &status = statuses[2 * rank + launch];
        status = launched ? launched->done[0].await() : launched.status();
        if (status.ok()) {
          EXPECT_EQ(test::toHost<float>(launched->results[0][0]), (std::vector<float>{2, 4, 6, 1}));
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  const std::string refused = "expects dimension 0 of argument 0 to be 4, but got 5: call it with an argument of such a size";
  EXPECT_EQ(statuses[0].message(), "all_reduce: device 1 failed: " + refused);
  EXPECT_EQ(statuses[2].message(), refused);
  EXPECT_TRUE(statuses[1].ok()) << statuses[1].toString() << ": the next launches belong together";
  EXPECT_TRUE(statuses[3].ok()) << statuses[3].toString();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(50)) << "the other process has waited for its timeout";
}

/// Gives a number of its own to each device and launch; its argument has to have four elements.
Program checkedSeed() {
  test::Builder b;
  b.program.numReplicas = 2;
  addCheckedArgument(b);
  SlotId seed = b.result(DType::U64, {});
  b.push({DeviceIdStep{DeviceIdStep::Kind::RandomSeed, seed}, kNone});
  return b.program;
}

/// What two processes get in their second launches; the arguments of the second one's first launch are refused if `refuses`.
std::vector<uint64_t> secondSeeds(bool refuses) {
  Job job(2);
  std::vector<uint64_t> seeds(2);
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      ClientOptions options;
      options.timeoutSeconds = 100, options.processes = job.processes[rank], options.devicesOf = {1, 1}, options.rngSeed = 1;
      auto client = Client::create(options);
      ASSERT_TRUE(client.ok()) << client.status().toString();
      auto program = (*client)->load(checkedSeed());
      ASSERT_TRUE(program.ok()) << program.status().toString();
      for (uint32_t launch = 0; launch < 2; ++launch) {
        const int64_t size = refuses && rank && !launch ? 5 : 4;
        auto launched = (*program)->execute({{test::toDevice<float>(**client, DType::F32, {size}, std::vector<float>(size_t(size)))}});
        EXPECT_EQ(launched.ok(), size == 4) << launched.status().toString();
        if (launched.ok() && launch)
          seeds[rank] = test::toHost<uint64_t>(launched->results[0][0])[0];
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return seeds;
}

TEST(Processes, RefusedLaunchesCountForRandomNumbers) { EXPECT_EQ(secondSeeds(true), secondSeeds(false)); }

TEST(Processes, MessagesBetweenDevices) {
  Job job(2);
  auto contexts = job.launch(1);
  OperationId operation{&job, "recv", "f.py:3"};
  contexts[0]->send(0, 1, 7, "first");
  contexts[0]->send(0, 1, 7, "");
  contexts[0]->send(0, 1, 8, "other channel");
  EXPECT_EQ(*contexts[1]->receive(1, 0, 8, operation), "other channel");
  EXPECT_EQ(*contexts[1]->receive(1, 0, 7, operation), "first");
  EXPECT_EQ(*contexts[1]->receive(1, 0, 7, operation), "");
}

/// Flips, cuts, repeats or exchanges some bytes.
std::string damaged(std::string bytes, std::mt19937 &random) {
  for (uint32_t changes = 1 + random() % 3; changes; --changes) {
    size_t at = bytes.empty() ? 0 : random() % bytes.size();
    switch (random() % 5) {
    case 0: bytes.resize(at); break;
    case 1: bytes.insert(at, 1 + random() % 9, char(random())); break;
    case 2: bytes.insert(at, bytes.substr(random() % (bytes.size() + 1), random() % 16)); break;
    default:
      if (!bytes.empty())
        bytes[at] = random() % 2 ? char(random()) : char(random() % 4);
    }
  }
  return bytes;
}

TEST(Processes, DamagedMessagesEndInErrors) {
  transport::MemoryStore store;
  StatusOr<std::unique_ptr<transport::Mesh>> meshes[2] = {internalError(""), internalError("")};
  auto join = [&](uint32_t rank) {
    transport::MeshOptions options;
    options.rank = rank, options.size = 2;
    meshes[rank] = transport::Mesh::connect(store, options);
  };
  std::thread first(join, 0), second(join, 1);
  first.join(), second.join();
  ASSERT_TRUE(meshes[0].ok() && meshes[1].ok());
  // The other process is one that answers with what it has heard, damaged.
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<transport::Message> heard;
  auto processes = Processes::create(std::move(*meshes[0]));
  transport::Mesh &liar = **meshes[1];
  liar.start(
      [&](uint32_t, transport::Message message) {
        std::lock_guard lock(mutex);
        heard.push_back(std::move(message));
        changed.notify_all();
      },
      [](uint32_t, const Status &) {});
  const Kind kinds[] = {Kind::AllReduce, Kind::AllGather, Kind::AllToAll, Kind::CollectiveBroadcast, Kind::CollectiveReduce};
  const int rounds = std::getenv("MILLRACE_LONG") ? 2400 : 60; // a million messages, or 25,000
  std::mt19937 random(7);
  for (int round = 0; round < rounds; ++round) {
    const bool isParted = round % 6 == 5; // large enough for that
    const int messages = isParted ? 50 : 500;
    size_t before;
    {
      std::lock_guard lock(mutex);
      before = heard.size();
    }
    auto launched = processes->launch(4, 1, {0, 0, 1, 1}, {1, 0, "test", ""}, 60);
    ASSERT_TRUE(launched.ok()) << launched.status().toString();
    RunContext &context = **launched;
    context.send(0, 2, 5, "mail");
    std::vector<std::thread> devices;
    for (uint32_t device : {0u, 1u})
      devices.emplace_back([&, device] {
        context.finish(device, isParted ? collective(device, context, Kind::AllReduce, "collective", "f.py:1", {}, {300'000})
                                        : collective(device, context, kinds[round % std::size(kinds)], "collective", "f.py:1"));
      });
    {
      std::unique_lock lock(mutex);
      ASSERT_TRUE(changed.wait_for(lock, std::chrono::seconds(20), [&] { return heard.size() >= before + 4; }));
    }
    for (int i = 0; i < messages; ++i) {
      transport::Message message;
      {
        std::lock_guard lock(mutex);
        size_t window = std::min<size_t>(heard.size(), 12);
        message = heard[heard.size() - 1 - random() % window];
      }
      std::string head = message.head;
      if (head.size() > 24 && random() % 2) // from a member of its own, which takes it further
        head[20] = char(2 + random() % 2);
      head = damaged(head, random);
      uint64_t bytes = random() % 4 ? message.payloadBytes : random() % (message.payloadBytes + 1);
      ASSERT_TRUE(liar.send(0, random() % 8 ? message.kind : random() % 9, head, {{message.payload.get(), bytes}}).ok());
    }
    context.fail(aborted("the round is over"));
    for (std::thread &device : devices)
      device.join();
  }
  // All of that came over a connection that is still in order.
  EXPECT_TRUE(processes->links().statusOf(1).ok());
  processes->stop();
}

} // namespace
