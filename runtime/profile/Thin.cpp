// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Thin.cpp - Fewer events, for viewers with limits ---------------------===//
#include "runtime/profile/Thin.h"
#include "runtime/profile/MemoryEvents.h"
#include "runtime/profile/ToXSpace.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace millrace::runtime::profile {
namespace {

bool isCounter(const Plane::Line &line) { return line.name == "_counters_"; }

uint64_t valueOf(const Plane::Line &line, const Plane::Event &event) { return event.numStats ? line.stats[event.firstStat].number : 0; }

/// Calls `visit` with every line of events that can be left out, and with the indices of its plane and itself.
template <typename Visit>
void forLines(const XSpace &space, Visit visit) {
  for (size_t p = 0; p < space.planes.size(); ++p)
    if (!space.planes[p].name.starts_with(kMetadataPlane))
      for (size_t l = 0; l < space.planes[p].lines.size(); ++l)
        visit(p, l, space.planes[p].lines[l]);
}

/// Returns a copy of the space in which the lines that forLines() visits have no events.
XSpace withoutEvents(const XSpace &space) {
  XSpace made;
  made.errors = space.errors;
  made.warnings = space.warnings;
  made.hostnames = space.hostnames;
  made.hasMemoryEvents = space.hasMemoryEvents;
  for (const Plane &plane : space.planes) {
    Plane &copy = made.planes.emplace_back();
    copy.name = plane.name;
    copy.kinds = plane.kinds;
    copy.stats = plane.stats;
    copy.texts = plane.texts;
    copy.blobs = plane.blobs;
    if (plane.name.starts_with(kMetadataPlane)) {
      copy.lines = plane.lines;
      continue;
    }
    for (const Plane::Line &line : plane.lines)
      copy.lines.push_back({line.id, line.name, line.start, {}, {}});
  }
  return made;
}

/// Calls `visit` with the index of the largest of every `group` neighbours.
template <typename Visit>
void forPeaks(const Plane::Line &line, size_t group, Visit visit) {
  for (size_t begin = 0; begin < line.events.size(); begin += group) {
    size_t largest = begin;
    for (size_t i = begin + 1; i < std::min(begin + group, line.events.size()); ++i)
      if (valueOf(line, line.events[i]) > valueOf(line, line.events[largest]))
        largest = i;
    visit(largest);
  }
}

/// The slices that are kept: all that are longer than `least`, and those of exactly that duration until their weights reach `ofLeast`.
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
  // Finds the longest slice that has no room, by bisection of the slices in order of their durations.
  uint64_t longer = 0;
  auto begin = slices.begin(), end = slices.end();
  while (end - begin > 1) {
    const auto middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end, std::greater<>());
    const uint64_t half = std::accumulate(begin, middle, uint64_t(0), [](uint64_t sum, const auto &slice) { return sum + slice.second; });
    if (longer + half > most) {
      end = middle;
    } else {
      longer += half;
      begin = middle;
    }
  }
  const int64_t least = begin->first;
  uint64_t ofLeast = most;
  for (const auto &[duration, weight] : slices)
    if (duration > least)
      ofLeast -= weight;
  return {least, ofLeast, true};
}

} // namespace

XSpace thinned(const XSpace &space, const Room &room, std::string_view consequence) {
  std::vector<std::pair<int64_t, uint64_t>> slices;
  uint64_t points = 0, mostPointsOfLine = 0;
  auto weightOf = [&](size_t plane, size_t line, size_t event) { return room.weights ? (*room.weights)[plane][line][event] : 1; };
  forLines(space, [&](size_t p, size_t l, const Plane::Line &line) {
    for (size_t e = 0; e < line.events.size(); ++e)
      if (isCounter(line))
        points += weightOf(p, l, e);
      else
        slices.emplace_back(line.events[e].duration, weightOf(p, l, e));
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
    forLines(space, [&](size_t p, size_t l, const Plane::Line &line) {
      if (isCounter(line))
        forPeaks(line, group, [&](size_t e) { kept += weightOf(p, l, e); });
    });
  }
  if (room.isShared)
    ofSlices -= kept;
  Threshold threshold = thresholdOf(std::move(slices), ofSlices);
  if (!threshold.drops && group == 1)
    return space;
  XSpace fewer = withoutEvents(space);
  forLines(space, [&](size_t p, size_t l, const Plane::Line &line) {
    Plane::Line &made = fewer.planes[p].lines[l];
    auto keep = [&](size_t e) {
      Plane::Event &event = made.events.emplace_back(line.events[e]);
      const auto first = line.stats.begin() + event.firstStat;
      event.firstStat = uint32_t(made.stats.size());
      made.stats.insert(made.stats.end(), first, first + event.numStats);
    };
    if (isCounter(line)) {
      if (group)
        forPeaks(line, group, keep);
      return;
    }
    for (size_t e = 0; e < line.events.size(); ++e) {
      const int64_t duration = line.events[e].duration;
      if (threshold.drops && duration <= threshold.least) {
        const uint64_t own = weightOf(p, l, e);
        if (duration < threshold.least || own > threshold.ofLeast)
          continue;
        threshold.ofLeast -= own;
      }
      keep(e);
    }
  });
  fewer.warnings.push_back(std::to_string(before - fewer.numEvents()) + " of " + std::to_string(before) + " events, the shortest ones, " +
                           std::string(consequence));
  return fewer;
}

XSpace thinned(const XSpace &space, size_t most) {
  return thinned(space, {most, most, nullptr}, "are not drawn here; tables and the file for XProf have them");
}

//===--- Files of a bounded size -------------------------------------------===//

namespace {

/// Renumbers the used entries of a table, in their order.
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

/// The bytes of each event in a file, and its share of those of its kind and texts.
Weights bytesOfEvents(const XSpace &space) {
  struct Uses {
    std::vector<uint32_t> kinds, texts;
  };
  std::vector<Uses> uses;
  for (const Plane &plane : space.planes) {
    Uses &own = uses.emplace_back();
    own.kinds.resize(plane.kinds.size());
    own.texts.resize(plane.texts.size());
    for (const Plane::Line &line : plane.lines)
      for (const Plane::Event &event : line.events) {
        ++own.kinds[event.kind];
        for (uint32_t i = 0; i < event.numStats; ++i)
          if (const Stat &stat = line.stats[event.firstStat + i]; stat.type == Stat::Type::Text)
            ++own.texts[stat.text];
      }
  }
  return weightsOf(space, [&](const EventRange &range, size_t e) {
    const Plane &plane = space.planes[range.plane];
    const Plane::Line &line = plane.lines[range.line];
    const Plane::Event &event = line.events[e];
    const Uses &own = uses[range.plane];
    // Fact: bytes of an entry of a table around its text: three tags and sizes, and two times its number.
    constexpr double kAroundText = 14;
    double bytes = double(encodedBytes(plane, line, event)) + (double(plane.kinds[event.kind].name.size()) + kAroundText) / own.kinds[event.kind];
    if (isCounter(line) && space.hasMemoryEvents)
      bytes += kMemoryEventBytes;
    for (uint32_t i = 0; i < event.numStats; ++i)
      if (const Stat &stat = line.stats[event.firstStat + i]; stat.type == Stat::Type::Text)
        bytes += (double(plane.texts[stat.text].size()) + kAroundText) / own.texts[stat.text];
    return bytes;
  });
}

} // namespace

void dropUnused(XSpace &space) {
  for (Plane &plane : space.planes)
    dropUnused(plane);
}

std::string encodeWithin(XSpace &space, uint64_t most) {
  if (const Encoder whole(space); whole.size() <= most)
    return whole.bytes();
  fitPrograms(space, most / 2);
  dropUnused(space);
  uint64_t size = 0;
  if (const Encoder whole(space); (size = whole.size()) <= most)
    return whole.bytes();
  const size_t numWarnings = space.warnings.size(), before = space.numEvents();
  // Texts that several events share make the result larger than the sum of the shares, so that the room shrinks until it fits; the last attempt leaves no
  // event. Unit: attempts. Source: judgement, not measured alone.
  constexpr int kAttempts = 6;
  // The warning about the events that are left out takes some room, too. Unit: bytes. Source: arithmetic: the sentence has less than 250.
  constexpr uint64_t kSentence = 300;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const Weights weights = bytesOfEvents(space);
    uint64_t sum = 0;
    forLines(space, [&](size_t p, size_t l, const Plane::Line &) { sum = std::accumulate(weights[p][l].begin(), weights[p][l].end(), sum); });
    const uint64_t others = size > sum ? size - sum : 0, target = most - most / 50 - std::min(kSentence, most / 2);
    const uint64_t room = target > others ? target - others : uint64_t(double(sum) * double(target) / double(size));
    const bool isLast = attempt + 1 == kAttempts;
    space = thinned(space, {isLast ? 0 : room, 0, &weights, /*isShared=*/true}, "");
    space.warnings.resize(numWarnings);
    dropUnused(space);
    size = Encoder(space).size();
    if (size + kSentence <= most)
      break;
  }
  space.warnings.push_back(std::to_string(before - space.numEvents()) + " of " + std::to_string(before) +
                           " events, the shortest ones, are not in this file, which would be larger than " + std::to_string(most / 1'000'000) +
                           " MB: sums over short events and owners of memory are too small");
  return encode(space);
}

} // namespace millrace::runtime::profile
