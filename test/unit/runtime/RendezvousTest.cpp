// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RendezvousTest.cpp - Every way a wait can end -----------------------===//
#include "runtime/collective/Collective.h"

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <thread>

using namespace millrace::runtime;

namespace {

int steps[4]; // addresses stand for steps

OperationId operation(int i, const char *name = "all_reduce") { return {&steps[i], name, "f.py:1"}; }

template <typename Body>
std::vector<Status> onMembers(uint32_t n, Body body) {
  std::vector<Status> statuses(n);
  std::vector<std::thread> threads;
  for (uint32_t m = 0; m < n; ++m)
    threads.emplace_back([&, m] { statuses[m] = body(m); });
  for (auto &t : threads)
    t.join();
  return statuses;
}

TEST(Rendezvous, ManyMeetingsInSequence) {
  const uint32_t n = 5;
  RunContext context(1, n, 30);
  std::vector<uint32_t> everybody = {0, 1, 2, 3, 4}, even = {0, 2, 4}, odd = {1, 3};
  auto statuses = onMembers(n, [&](uint32_t m) -> Status {
    for (int round = 0; round < 300; ++round) {
      int mine = int(m) + round;
      Status status = context.meet(m, everybody, operation(0), &mine, [&](const std::vector<const void *> &all, size_t) -> Status {
        for (uint32_t k = 0; k < n; ++k)
          if (*static_cast<const int *>(all[k]) != int(k) + round)
            return internalError("wrong contribution");
        return Status();
      });
      MILLRACE_TRY(status);
      MILLRACE_TRY(context.meet(m, m % 2 ? odd : even, operation(1), &mine,
                                [&](const std::vector<const void *> &all, size_t) -> Status {
                                  return all.size() == (m % 2 ? 2u : 3u) ? Status() : internalError("size");
                                }));
    }
    context.finish(m, Status());
    return Status();
  });
  for (const Status &s : statuses)
    EXPECT_TRUE(s.ok()) << s.toString();
}

Status meet(RunContext &context, uint32_t m, std::vector<uint32_t> group, OperationId id) {
  int value = 0;
  return context.meet(m, group, id, &value, [](const std::vector<const void *> &, size_t) { return Status(); });
}

// Who completes a meeting does the shares of those who have arrived and gone on; several meetings of one group are open at a time.
TEST(Rendezvous, SharesOfMembersThatAreElsewhere) {
  RunContext context(1, 2, 30);
  std::vector<uint32_t> both = {0, 1};
  int values[2] = {10, 20};
  std::vector<int> doneBy[2] = {{-1, -1}, {-1, -1}}; // per meeting and share
  auto work = [&](uint32_t member, int meeting) {
    return [&, member, meeting](const std::vector<const void *> &all, size_t share) {
      doneBy[meeting][share] = int(member);
      return *static_cast<const int *>(all[share]) == values[share] ? Status() : internalError("wrong contribution");
    };
  };
  std::atomic<bool> firstIsDone{false};
  auto statuses = onMembers(2, [&](uint32_t m) -> Status {
    auto first = context.arrive(m, both, operation(0), &values[m]), second = context.arrive(m, both, operation(1), &values[m]);
    if (!first || !second)
      return first.status();
    if (m == 0) {
      MILLRACE_TRY(context.complete(m, **first, work(m, 0)));
      firstIsDone = true;
    }
    while (!firstIsDone) // member 1 completes nothing before member 0 has
      std::this_thread::yield();
    if (m == 1)
      MILLRACE_TRY(context.complete(m, **first, work(m, 0)));
    MILLRACE_TRY(context.complete(m, **second, work(m, 1)));
    context.finish(m, Status());
    return Status();
  });
  for (const Status &s : statuses)
    EXPECT_TRUE(s.ok()) << s.toString();
  EXPECT_EQ(doneBy[0], (std::vector<int>{0, 0}));
  EXPECT_NE(doneBy[1][0], -1);
  EXPECT_NE(doneBy[1][1], -1);
}

// After leave() nobody reads what the member that failed had to give, whether the others have come or not.
TEST(Rendezvous, FailureBetweenTheHalves) {
  for (bool allArrive : {false, true}) {
    RunContext context(1, 2, 300);
    std::atomic<int> arrived{0};
    std::atomic<bool> left{false};
    auto statuses = onMembers(2, [&](uint32_t m) -> Status {
      auto value = std::make_unique<int>(7);
      if (m == 1 && !allArrive)
        while (!left)
          std::this_thread::yield();
      auto meeting = context.arrive(m, {0, 1}, operation(0), value.get());
      ++arrived;
      if (m == 1) {
        while (!left)
          std::this_thread::yield();
        Status status = meeting ? context.complete(m, **meeting, [&](const std::vector<const void *> &, size_t) {
          return internalError("a share of a meeting that is broken");
        }) : meeting.status();
        context.finish(m, status);
        return status;
      }
      while (allArrive && arrived < 2)
        std::this_thread::yield();
      context.leave(**meeting);
      value.reset();
      left = true;
      Status error = invalidArgument("boom");
      context.finish(m, error);
      return error;
    });
    EXPECT_EQ(statuses[1].message(), "device 0 failed: boom");
  }
}

TEST(Rendezvous, MissingParticipantFinished) {
  RunContext context(1, 3, 300);
  auto statuses = onMembers(3, [&](uint32_t m) -> Status {
    if (m == 2) {
      context.finish(m, Status());
      return Status();
    }
    return meet(context, m, {0, 1, 2}, operation(0));
  });
  EXPECT_NE(statuses[0].message().find("all_reduce at f.py:1 on device 0 waits for device 2, which has finished "
                                       "without taking part"),
            std::string::npos)
      << statuses[0].toString();
  EXPECT_FALSE(statuses[1].ok());
}

TEST(Rendezvous, MismatchNamesBoth) {
  RunContext context(1, 2, 300);
  auto statuses =
      onMembers(2, [&](uint32_t m) { return meet(context, m, {0, 1}, operation(int(m), m ? "all_gather" : "all_reduce")); });
  for (const Status &s : statuses) {
    EXPECT_NE(s.message().find("mismatched collectives"), std::string::npos) << s.toString();
    EXPECT_NE(s.message().find("all_gather at f.py:1"), std::string::npos) << s.toString();
    EXPECT_NE(s.message().find("all_reduce at f.py:1"), std::string::npos) << s.toString();
  }
}

// Broadcasts from different roots: their groups have the same members in another order.
TEST(Rendezvous, OtherOrdersOfAGroupAreNamed) {
  RunContext context(1, 2, 300);
  auto statuses = onMembers(2, [&](uint32_t m) {
    return meet(context, m, {m, 1 - m}, operation(int(m), "collective_broadcast"));
  });
  for (const Status &s : statuses)
    EXPECT_EQ(s.message(), "mismatched collectives: device 0 executes collective_broadcast at f.py:1 from device 0, but device 1 executes "
                           "collective_broadcast at f.py:1 from device 1");
}

// Each waits in another group: nobody can go on.
TEST(Rendezvous, CycleIsFoundAtOnce) {
  RunContext context(1, 3, 300);
  auto statuses = onMembers(3, [&](uint32_t m) { return meet(context, m, {m, (m + 1) % 3}, operation(0)); });
  for (const Status &s : statuses)
    EXPECT_NE(s.message().find("which waits in all_reduce at f.py:1"), std::string::npos) << s.toString();
}

TEST(Rendezvous, FailureOfAMember) {
  RunContext context(2, 1, 300);
  auto statuses = onMembers(2, [&](uint32_t m) -> Status {
    if (m == 0)
      return meet(context, m, {0, 1}, operation(0));
    Status error = invalidArgument("boom");
    context.finish(m, error);
    return error;
  });
  EXPECT_EQ(statuses[0].message(), "device 1 failed: boom");
}

TEST(Rendezvous, TimesOutWhenNothingProgresses) {
  RunContext context(1, 2, 0.2);
  Status status = meet(context, 0, {0, 1}, operation(0));
  EXPECT_EQ(status.code(), Code::DeadlineExceeded);
  EXPECT_NE(status.message().find("nothing has progressed for 0.2 s: all_reduce at f.py:1 on device 0 waits for "
                                  "device 1, which has not arrived"),
            std::string::npos)
      << status.toString();
}

TEST(Rendezvous, SendAndReceive) {
  RunContext context(1, 2, 300);
  auto statuses = onMembers(2, [&](uint32_t m) -> Status {
    for (int i = 0; i < 200; ++i) {
      if (m == 0) {
        context.send(0, 1, 5, std::to_string(i));
        auto reply = context.receive(0, 1, 6, operation(1, "recv"));
        if (!reply)
          return reply.status();
      } else {
        auto message = context.receive(1, 0, 5, operation(0, "recv"));
        if (!message)
          return message.status();
        if (*message != std::to_string(i))
          return internalError("got " + *message);
        context.send(1, 0, 6, "ok");
      }
    }
    context.finish(m, Status());
    return Status();
  });
  for (const Status &s : statuses)
    EXPECT_TRUE(s.ok()) << s.toString();
}

TEST(Rendezvous, ReceiveFromNobodyIsAnError) {
  RunContext context(1, 2, 300);
  auto statuses = onMembers(2, [&](uint32_t m) -> Status {
    if (m == 1) {
      context.finish(m, Status());
      return Status();
    }
    return context.receive(0, 1, 5, operation(0, "recv")).status();
  });
  EXPECT_NE(statuses[0].message().find("recv at f.py:1 on device 0 waits for device 1"), std::string::npos);
}

TEST(Collective, GroupsOfTheSpecification) {
  CollectiveStep s;
  using G = CollectiveStep::Groups;
  s.groups = {{0, 2}, {1, 3}};
  s.groupMode = G::CrossReplica; // 4 replicas x 2 partitions
  EXPECT_EQ(collectiveGroup(s, 2, 1, 4, 2), (std::vector<uint32_t>{1, 5}));
  s.groupMode = G::FlattenedIds;
  EXPECT_EQ(collectiveGroup(s, 0, 1, 4, 2), (std::vector<uint32_t>{1, 3}));
  EXPECT_EQ(collectiveGroup(s, 3, 1, 4, 2), std::vector<uint32_t>{});
  s.groups = {{0, 1}};
  s.groupMode = G::CrossReplicaAndPartition;
  EXPECT_EQ(collectiveGroup(s, 0, 0, 2, 2), (std::vector<uint32_t>{0, 2, 1, 3}));
  s.groupMode = G::CrossPartition;
  EXPECT_EQ(collectiveGroup(s, 1, 0, 2, 2), (std::vector<uint32_t>{2, 3}));
  s.groups = {};
  EXPECT_EQ(collectiveGroup(s, 1, 0, 2, 2), (std::vector<uint32_t>{2, 3}));
}

} // namespace
