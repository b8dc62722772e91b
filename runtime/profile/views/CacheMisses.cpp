// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CacheMisses.cpp - Programs that the cache should have had -----------===//
#include "runtime/profile/views/Lanes.h"
#include "runtime/profile/views/Texts.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace millrace::runtime::profile {
namespace {

/// The user's line of the compilation that took longest.
std::string placeOfMisses(const Views &views) {
  const Compilation *longest = nullptr;
  for (const Compilation &each : views.compilations)
    if (each.cache != "hit" && !each.source.empty() && (!longest || each.ns > longest->ns))
      longest = &each;
  return longest ? longest->source : "";
}

/// Whether a miss says that another program was asked for, which "recompile" looks at: "... differs in: pjrt layouts; program".
bool isOtherProgram(const std::string &why) {
  constexpr std::string_view begins = "differs in: ", name = "program";
  const size_t at = why.find(begins);
  if (at == std::string::npos)
    return false;
  for (size_t begin = at + begins.size(); begin < why.size();) {
    const size_t end = std::min(why.find("; ", begin), why.size());
    if (std::string_view(why).substr(begin, end - begin) == name)
      return true;
    begin = end + 2;
  }
  return false;
}

/// The hash of the graph that an event compiles; empty where there is none.
std::string graphAround(const Events &events, const Event &event) {
  std::string graph;
  for (int at = event.parent; at >= 0 && graph.empty(); at = events[size_t(at)].parent)
    graph = events[size_t(at)].text("graph");
  return graph;
}

} // namespace

void addCaches(const Lanes &lanes, Views &views) {
  struct Group {
    size_t count = 0;
    double ns = 0;
    std::set<std::string> planes;
  };
  std::map<std::string, Group> byReason, byProgram;
  std::string pendingReason;
  for (const Events &events : lanes.host) {
    double pending = 0;
    for (const Event &event : events) {
      if (event.name() == "cache miss") {
        std::string why = event.text("why");
        if (why.find("the cache is off") != std::string::npos || why.find("damaged") != std::string::npos ||
            why.find("differs in") != std::string::npos) {
          Group &group = byReason[why];
          ++group.count;
          group.planes.insert(why);
        }
        pendingReason = why;
        pending = 1;
      } else if (isCompile(event.name()) && !isInside(events, event, {"Compile"})) {
        if (pending && byReason.contains(pendingReason))
          byReason[pendingReason].ns += event.ns();
        pending = 0;
        Group &group = byProgram[event.text("program") + "\n" + graphAround(events, event)];
        ++group.count;
        group.ns += event.ns();
        group.planes.insert(event.plane->name);
      }
    }
  }
  for (const auto &[why, group] : byReason) {
    if (group.count < kHabit || isOtherProgram(why))
      continue;
    add(views, {"cache", "The cache of programs misses " + std::to_string(group.count) + " times: " + why + ".", placeOfMisses(views),
                durationText(group.ns) + " of compiling that a hit would save.",
                "What differs must be the same in each process and run: versions, options and environment; MILLRACE_CACHE and MILLRACE_CACHE_DIR say "
                "which cache is used.",
                "compilations", group.ns});
  }
  double ns = 0;
  size_t count = 0;
  std::string name; // programs of PyTorch have none
  for (const auto &[program, group] : byProgram)
    if (group.planes.size() > 1 && program.substr(program.find('\n') + 1).size()) {
      ns += group.ns * double(group.planes.size() - 1) / double(group.planes.size());
      ++count;
      if (name.empty())
        name = program.substr(0, program.find('\n'));
    }
  if (count)
    add(views, {"cache",
                std::to_string(count) + (count == 1 ? " program is" : " programs are") + " compiled in more than one process" +
                    (name.empty() ? "." : ", such as " + name + "."),
                placeOfMisses(views), durationText(ns) + " that a cache which all share would save.",
                "Give the processes one folder, MILLRACE_CACHE_DIR, that all can write (torch_xla.runtime.initialize_cache).", "compilations", ns});
}

} // namespace millrace::runtime::profile
