// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Thin.cpp - Fewer events, for viewers with limits ---------------------===//
#include "runtime/profile/Thin.h"
#include "runtime/profile/MemoryEvents.h"
#include "runtime/profile/ToXSpace.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>

namespace millrace::runtime::profile {
namespace {

bool isCounter(const Plane::Line &line) { return line.name == "_counters_"; }

uint64_t valueOf(const Plane::Line &line, const Plane::Event &event) { return event.numStats ? line.stats[event.firstStat].number : 0; }

/// Calls `visit` with every line of events that can be left out.
template <typename Space, typename Visit>
void forLines(Space &space, Visit visit) {
  for (auto &plane : space.planes)
    if (!plane.name.starts_with(kMetadataPlane))
      for (auto &line : plane.lines)
        visit(plane, line);
}

/// The largest of every `group` neighbours.
std::vector<Plane::Event> peaksOf(const Plane::Line &line, size_t group) {
  std::vector<Plane::Event> kept;
  for (size_t i = 0; i < line.events.size(); i += group)
    kept.push_back(*std::max_element(line.events.begin() + ptrdiff_t(i), line.events.begin() + ptrdiff_t(std::min(i + group, line.events.size())),
                                     [&](const auto &a, const auto &b) { return valueOf(line, a) < valueOf(line, b); }));
  return kept;
}

/// Which slices stay: all longer ones, and of those that last exactly as long as many as the room is for.
struct Threshold {
  int64_t least = 0;
  uint64_t ofLeast = 0;
  bool drops = false;
};

Threshold thresholdOf(std::vector<std::pair<int64_t, uint64_t>> slices, uint64_t most) {
  uint64_t sum = 0;
  for (const auto &[duration, weight] : slices)
    sum += weight;
  if (sum <= most)
    return {};
  std::sort(slices.begin(), slices.end(), std::greater<>());
  uint64_t longer = 0;
  for (size_t i = 0; i < slices.size();) {
    uint64_t same = 0;
    size_t end = i;
    for (; end < slices.size() && slices[end].first == slices[i].first; ++end)
      same += slices[end].second;
    if (longer + same > most)
      return {slices[i].first, most - longer, true};
    longer += same;
    i = end;
  }
  return {};
}

} // namespace

XSpace thinned(XSpace space, const Room &room, std::string_view consequence) {
  const Weight weight = room.weight ? room.weight : [](const Plane &, const Plane::Line &, const Plane::Event &) { return uint64_t(1); };
  std::vector<std::pair<int64_t, uint64_t>> slices;
  uint64_t points = 0, mostPointsOfLine = 0;
  forLines(space, [&](const Plane &plane, const Plane::Line &line) {
    for (const Plane::Event &event : line.events)
      if (isCounter(line))
        points += weight(plane, line, event);
      else
        slices.emplace_back(event.duration, weight(plane, line, event));
    if (isCounter(line))
      mostPointsOfLine = std::max<uint64_t>(mostPointsOfLine, line.events.size());
  });
  const size_t before = space.numEvents();
  uint64_t ofSlices = room.slices, ofPoints = room.points;
  if (room.isShared) {
    const uint64_t sum = std::accumulate(slices.begin(), slices.end(), uint64_t(0), [](uint64_t sum, const auto &slice) { return sum + slice.second; });
    ofPoints = std::min(points, std::max(room.slices / 4, room.slices - std::min(room.slices, sum)));
  }
  size_t group = 1; // 0: no point fits
  uint64_t kept = points;
  while (kept > ofPoints) {
    if (group >= mostPointsOfLine) {
      group = 0;
      kept = 0;
      break;
    }
    group = std::max<size_t>(group + 1, size_t(double(group) * double(kept) / double(std::max<uint64_t>(1, ofPoints))));
    kept = 0;
    forLines(space, [&](const Plane &plane, const Plane::Line &line) {
      if (isCounter(line))
        for (const Plane::Event &event : peaksOf(line, group))
          kept += weight(plane, line, event);
    });
  }
  if (room.isShared)
    ofSlices -= kept;
  Threshold threshold = thresholdOf(std::move(slices), ofSlices);
  if (!threshold.drops && group == 1)
    return space;
  forLines(space, [&](const Plane &plane, Plane::Line &line) {
    if (isCounter(line)) {
      if (group != 1)
        line.events = group ? peaksOf(line, group) : std::vector<Plane::Event>();
      return;
    }
    if (threshold.drops)
      std::erase_if(line.events, [&](const Plane::Event &event) {
        if (event.duration != threshold.least)
          return event.duration < threshold.least;
        const uint64_t own = weight(plane, line, event);
        if (own > threshold.ofLeast)
          return true;
        threshold.ofLeast -= own;
        return false;
      });
  });
  space.warnings.push_back(std::to_string(before - space.numEvents()) + " of " + std::to_string(before) + " events, the shortest ones, " +
                           std::string(consequence));
  return space;
}

XSpace thinned(XSpace space, size_t most) {
  return thinned(std::move(space), {most, most, {}}, "are not drawn here; tables and the file for XProf have them");
}

//===--- Files of a bounded size -------------------------------------------===//

namespace {

/// Numbers what is used anew, in the order of the old numbers.
class Renumbering {
public:
  explicit Renumbering(size_t count) : isUsed(count) {}
  void use(size_t index) { isUsed[index] = true; }
  bool has(size_t index) const { return isUsed[index]; }
  /// Moves what is used to the front of `values`; number() is valid after that.
  template <typename Value>
  void apply(std::vector<Value> &values) {
    numbers.resize(isUsed.size());
    size_t next = 0;
    for (size_t i = 0; i < isUsed.size(); ++i)
      if (isUsed[i]) {
        numbers[i] = next;
        if (next != i)
          values[next] = std::move(values[i]);
        ++next;
      }
    values.resize(next);
  }
  size_t number(size_t index) const { return numbers[index]; }

private:
  std::vector<bool> isUsed;
  std::vector<size_t> numbers;
};

void dropUnused(Plane &plane) {
  Renumbering kinds(plane.kinds.size()), texts(plane.texts.size()), blobs(plane.blobs.size());
  for (Plane::Line &line : plane.lines) {
    std::vector<Stat> stats;
    for (Plane::Event &event : line.events) {
      kinds.use(event.kind);
      const auto first = line.stats.begin() + event.firstStat;
      event.firstStat = uint32_t(stats.size());
      stats.insert(stats.end(), first, first + event.numStats);
    }
    line.stats = std::move(stats);
  }
  auto forStats = [&](auto visit) {
    for (Plane::Line &line : plane.lines)
      for (Stat &stat : line.stats)
        visit(stat);
    for (size_t i = 0; i < plane.kinds.size(); ++i)
      for (Stat &stat : plane.kinds[i].stats)
        visit(stat);
    for (Stat &stat : plane.stats)
      visit(stat);
  };
  for (size_t i = 0; i < plane.kinds.size(); ++i)
    if (!kinds.has(i))
      plane.kinds[i].stats.clear();
  forStats([&](Stat &stat) {
    texts.use(stat.name);
    if (stat.type == Stat::Type::Text)
      texts.use(stat.text);
    else if (stat.type == Stat::Type::Bytes)
      blobs.use(stat.text);
  });
  kinds.apply(plane.kinds);
  texts.apply(plane.texts);
  blobs.apply(plane.blobs);
  forStats([&](Stat &stat) {
    stat.name = uint32_t(texts.number(stat.name));
    if (stat.type == Stat::Type::Text)
      stat.text = texts.number(stat.text);
    else if (stat.type == Stat::Type::Bytes)
      stat.text = blobs.number(stat.text);
  });
  for (Plane::Line &line : plane.lines)
    for (Plane::Event &event : line.events)
      event.kind = uint32_t(kinds.number(event.kind));
  plane.forgetTexts();
}

/// Removes the HLO and the graphs of the programs that ran least, so that those of the others have at most `most` bytes.
void fitPrograms(XSpace &space, uint64_t most) {
  std::map<std::string, int64_t> times;
  for (const Plane &plane : space.planes)
    for (const Plane::Line &line : plane.lines)
      if (plane.name.starts_with("/device:") && line.name == "XLA Modules")
        for (const Plane::Event &event : line.events)
          times[plane.kinds[event.kind].name] += event.duration;
  std::map<std::string, uint64_t> sizes;
  for (const Plane &plane : space.planes) {
    if (plane.name.starts_with(kMetadataPlane))
      for (const Plane::EventKind &kind : plane.kinds)
        for (const Stat &stat : kind.stats)
          if (stat.type == Stat::Type::Bytes)
            sizes[kind.name] += plane.blobs[stat.text].size();
    if (plane.name.starts_with(kProgramsPlane))
      for (const Stat &stat : plane.stats)
        if (stat.type == Stat::Type::Text)
          sizes[plane.nameOf(stat)] += plane.texts[stat.text].size();
  }
  std::vector<std::pair<int64_t, std::string>> order;
  uint64_t sum = 0;
  for (const auto &[title, size] : sizes) {
    order.emplace_back(times[title], title);
    sum += size;
  }
  if (sum <= most)
    return;
  std::sort(order.begin(), order.end());
  size_t dropped = 0;
  std::map<std::string, bool> isDropped;
  for (; dropped < order.size() && sum > most; ++dropped) {
    sum -= sizes[order[dropped].second];
    isDropped[order[dropped].second] = true;
  }
  for (Plane &plane : space.planes) {
    if (plane.name.starts_with(kMetadataPlane))
      for (Plane::Line &line : plane.lines)
        std::erase_if(line.events, [&](const Plane::Event &event) { return isDropped.contains(plane.kinds[event.kind].name); });
    if (plane.name.starts_with(kProgramsPlane))
      std::erase_if(plane.stats, [&](const Stat &stat) { return isDropped.contains(plane.nameOf(stat)); });
  }
  space.warnings.push_back("the HLO and the graphs of " + std::to_string(dropped) + " of " + std::to_string(order.size()) +
                           " programs, those that ran least, are not in this file, which would be too large");
}

/// The bytes of an event in a file, and its share of those of its kind and texts.
Weight bytesOfEvents(const XSpace &space) {
  struct Uses {
    std::vector<uint32_t> kinds, texts;
  };
  auto uses = std::make_shared<std::unordered_map<std::string, Uses>>(); // by plane, whose address changes
  auto each = [](const Plane &plane, const Plane::Line &line, const Plane::Event &event, auto visit) {
    for (uint32_t i = 0; i < event.numStats; ++i)
      if (const Stat &stat = line.stats[event.firstStat + i]; stat.type == Stat::Type::Text)
        visit(size_t(stat.text));
  };
  forLines(space, [&](const Plane &plane, const Plane::Line &line) {
    Uses &own = (*uses)[plane.name];
    own.kinds.resize(std::max(own.kinds.size(), plane.kinds.size()));
    own.texts.resize(std::max(own.texts.size(), plane.texts.size()));
    for (const Plane::Event &event : line.events) {
      ++own.kinds[event.kind];
      each(plane, line, event, [&](size_t text) { ++own.texts[text]; });
    }
  });
  return [uses, each, hasMemoryEvents = space.hasMemoryEvents](const Plane &plane, const Plane::Line &line, const Plane::Event &event) {
    const Uses &own = uses->at(plane.name);
    // Fact: bytes of an entry of a table around its text: three tags and sizes, and two times its number.
    constexpr double kAroundText = 14;
    double bytes = double(encodedBytes(plane, line, event)) + (double(plane.kinds[event.kind].name.size()) + kAroundText) / own.kinds[event.kind];
    if (isCounter(line) && hasMemoryEvents)
      bytes += kMemoryEventBytes;
    each(plane, line, event, [&](size_t text) { bytes += (double(plane.texts[text].size()) + kAroundText) / own.texts[text]; });
    return uint64_t(bytes);
  };
}

} // namespace

void dropUnused(XSpace &space) {
  for (Plane &plane : space.planes)
    dropUnused(plane);
}

std::string encodeWithin(XSpace &space, uint64_t most) {
  std::string bytes = encode(space);
  if (bytes.size() <= most)
    return bytes;
  fitPrograms(space, most / 2);
  dropUnused(space);
  bytes = encode(space);
  if (bytes.size() <= most)
    return bytes;
  const size_t numWarnings = space.warnings.size(), before = space.numEvents();
  // Texts that several events share make the result larger than the sum of the shares, so that the room shrinks until it fits; the last attempt leaves no
  // event. Unit: attempts. Source: judgement, not measured alone.
  constexpr int kAttempts = 6;
  // What is said of the events that are left out takes some room, too. Unit: bytes. Source: arithmetic: the sentence has less than 250.
  constexpr uint64_t kSentence = 300;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const Weight weight = bytesOfEvents(space);
    uint64_t sum = 0;
    forLines(space, [&](const Plane &plane, const Plane::Line &line) {
      for (const Plane::Event &event : line.events)
        sum += weight(plane, line, event);
    });
    const uint64_t others = bytes.size() > sum ? bytes.size() - sum : 0, target = most - most / 50 - std::min(kSentence, most / 2);
    const uint64_t room = target > others ? target - others : uint64_t(double(sum) * double(target) / double(bytes.size()));
    const bool isLast = attempt + 1 == kAttempts;
    space = thinned(std::move(space), {isLast ? 0 : room, 0, weight, /*isShared=*/true}, "");
    space.warnings.resize(numWarnings);
    dropUnused(space);
    bytes = encode(space);
    if (bytes.size() + kSentence <= most)
      break;
  }
  space.warnings.push_back(std::to_string(before - space.numEvents()) + " of " + std::to_string(before) +
                           " events, the shortest ones, are not in this file, which would be larger than " + std::to_string(most / 1'000'000) +
                           " MB: sums over short events and owners of memory are too small");
  return encode(space);
}

} // namespace millrace::runtime::profile
