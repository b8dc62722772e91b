// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pprof.cpp - Recordings for pprof --------------------------------------===//
// Field numbers are those of pprof's profile.proto: Profile 1 sample_type 2 sample 4 location 5 function 6 string_table 9 time_nanos
// 10 duration_nanos; ValueType 1 type 2 unit; Sample 1 location_id 2 value 3 label; Label 1 key 2 str; Location 1 id 4 line; Line 1 function_id
// 2 line; Function 1 id 2 name 3 system_name 4 filename.
#include "runtime/profile/Pprof.h"
#include "runtime/profile/MemoryPeak.h"
#include "runtime/base/Proto.h"
#include "runtime/profile/ToXSpace.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <utility>

namespace millrace::runtime::profile {
namespace {

/// "train.py:12" -> ("train.py", 12); what is no place of a file keeps its whole text, and line 0.
std::pair<std::string_view, uint64_t> fileAndLine(std::string_view place) {
  const size_t colon = place.rfind(':');
  uint64_t line = 0;
  if (colon == std::string_view::npos)
    return {place, 0};
  auto [end, error] = std::from_chars(place.data() + colon + 1, place.data() + place.size(), line);
  return error == std::errc() && end == place.data() + place.size() ? std::pair(place.substr(0, colon), line) : std::pair(place, uint64_t(0));
}

class Builder {
public:
  Builder(std::initializer_list<std::pair<std::string_view, std::string_view>> types) {
    text("");
    for (auto [type, unit] : types) {
      std::string value;
      proto::putNumber(value, 1, text(type));
      proto::putNumber(value, 2, text(unit));
      proto::putBytes(out, 1, value);
    }
  }

  /// A function, with the place in the user's program where there is one.
  uint64_t location(std::string_view name, std::string_view place = {}) {
    auto [file, line] = place.empty() ? std::pair(std::string_view(), uint64_t(0)) : fileAndLine(place);
    auto [found, isNew] = locations.try_emplace({text(name), text(file), line}, locations.size() + 1);
    if (isNew) {
      std::string function, inner, location;
      proto::putNumber(function, 1, found->second);
      proto::putNumber(function, 2, text(name));
      proto::putNumber(function, 3, text(name));
      proto::putNumber(function, 4, text(file));
      proto::putBytes(functions, 5, function);
      proto::putNumber(inner, 1, found->second);
      proto::putNumber(inner, 2, line);
      proto::putNumber(location, 1, found->second);
      proto::putBytes(location, 4, inner);
      proto::putBytes(functions, 4, location);
    }
    return found->second;
  }

  /// `stack`: the innermost first. Samples of one stack and label are one.
  void add(const std::vector<uint64_t> &stack, std::string_view labelKey, std::string_view label, uint64_t first, uint64_t second) {
    auto &values = samples[{stack, text(labelKey), text(label)}];
    values.first += first;
    values.second += second;
  }

  std::string finish(int64_t startNs, int64_t durationNs) {
    for (const auto &[key, values] : samples) {
      std::string sample, packed, label;
      for (uint64_t id : std::get<0>(key))
        proto::putVarint(packed, id);
      proto::putBytes(sample, 1, packed);
      packed.clear();
      proto::putVarint(packed, values.first);
      proto::putVarint(packed, values.second);
      proto::putBytes(sample, 2, packed);
      proto::putNumber(label, 1, std::get<1>(key));
      proto::putNumber(label, 2, std::get<2>(key));
      proto::putBytes(sample, 3, label);
      proto::putBytes(out, 2, sample);
    }
    out += functions;
    for (const std::string *text : texts)
      proto::putBytes(out, 6, *text);
    proto::putNumber(out, 9, uint64_t(startNs));
    proto::putNumber(out, 10, uint64_t(durationNs));
    return std::move(out);
  }

private:
  uint64_t text(std::string_view content) {
    auto [found, isNew] = textIndex.try_emplace(std::string(content), texts.size());
    if (isNew)
      texts.push_back(&found->first);
    return found->second;
  }
  std::string out, functions;
  std::map<std::string, uint64_t> textIndex;
  std::vector<const std::string *> texts; ///< keys of textIndex, in the order of their numbers
  std::map<std::tuple<uint64_t, uint64_t, uint64_t>, uint64_t> locations;
  std::map<std::tuple<std::vector<uint64_t>, uint64_t, uint64_t>, std::pair<uint64_t, uint64_t>> samples;
};

/// When the first event begins, and how long it is until the last one ends, in nanoseconds.
std::pair<int64_t, int64_t> spanOf(const XSpace &space) {
  int64_t first = std::numeric_limits<int64_t>::max(), last = 0;
  for (const Plane &plane : space.planes)
    for (const Plane::Line &line : plane.lines)
      for (const Plane::Event &event : line.events) {
        first = std::min(first, line.start + event.offset / 1000);
        last = std::max(last, line.start + (event.offset + event.duration) / 1000);
      }
  return last > first ? std::pair(first, last - first) : std::pair<int64_t, int64_t>(0, 0);
}

/// Calls `visit(chain, picoseconds)` for every event: itself and the events around it, the innermost first, and its own time. Events are in the order
/// of their begins.
template <typename Visit>
void forOwnTimes(const Plane::Line &line, Visit visit) {
  struct Open {
    size_t event;
    int64_t inside = 0; ///< time of what lies directly inside
  };
  std::vector<Open> open;
  std::vector<size_t> chain;
  auto endOf = [&](size_t i) { return line.events[i].offset + line.events[i].duration; };
  auto close = [&] {
    const Open last = open.back();
    chain.clear();
    for (size_t i = open.size(); i-- > 0;)
      chain.push_back(open[i].event);
    open.pop_back();
    visit(chain, std::max<int64_t>(0, line.events[last.event].duration - last.inside));
    if (!open.empty())
      open.back().inside += line.events[last.event].duration;
  };
  for (size_t i = 0; i < line.events.size(); ++i) {
    while (!open.empty() && endOf(open.back().event) < line.events[i].offset + std::max<int64_t>(line.events[i].duration, 1))
      close();
    open.push_back({i});
  }
  while (!open.empty())
    close();
}

} // namespace

std::string pprofOfTime(const XSpace &space) {
  Builder builder{{"samples", "count"}, {"time", "nanoseconds"}};
  std::vector<uint64_t> stack;
  for (const Plane &plane : space.planes) {
    const bool isDevice = plane.name.starts_with("/device:");
    if (!isDevice && !plane.name.starts_with(kHostPlane))
      continue;
    for (const Plane::Line &line : plane.lines) {
      if (isDevice && line.name != "XLA Ops")
        continue;
      auto textOf = [&](const Plane::Event &event, std::string_view name) -> std::string_view {
        const Stat *stat = plane.find(line, event, name);
        return stat && stat->type == Stat::Type::Text ? std::string_view(plane.texts[stat->text]) : std::string_view();
      };
      const uint64_t bottom = builder.location(isDevice ? plane.name : line.name);
      forOwnTimes(line, [&](const std::vector<size_t> &chain, int64_t picoseconds) {
        stack.clear();
        for (size_t i : chain)
          stack.push_back(builder.location(plane.kinds[line.events[i].kind].name, textOf(line.events[i], "source")));
        const Plane::Event &event = line.events[chain.front()];
        if (isDevice) {
          if (std::string_view source = textOf(event, "source"); !source.empty())
            stack.push_back(builder.location(source, source));
          if (std::string_view module = textOf(event, "hlo_module"); !module.empty())
            stack.push_back(builder.location(module));
        }
        stack.push_back(bottom);
        builder.add(stack, "category", textOf(event, isDevice ? "hlo_category" : "category"), 1, uint64_t(picoseconds / 1000));
      });
    }
  }
  auto [start, duration] = spanOf(space);
  return builder.finish(start, duration);
}

std::string pprofOfMemory(const XSpace &space) {
  Builder builder{{"objects", "count"}, {"space", "bytes"}};
  for (const MemoryPeak &peak : memoryPeaks(space))
    for (const MemoryPeak::Owner &owner : peak.owners) {
      const std::string purpose = owner.purpose.empty() ? "before the recording" : owner.purpose;
      std::vector<uint64_t> stack;
      if (!owner.source.empty())
        stack.push_back(builder.location(owner.source, owner.source));
      stack.push_back(builder.location(purpose));
      stack.push_back(builder.location(peak.device));
      builder.add(stack, "purpose", purpose, owner.blocks, owner.bytes);
    }
  auto [start, duration] = spanOf(space);
  return builder.finish(start, duration);
}

} // namespace millrace::runtime::profile
