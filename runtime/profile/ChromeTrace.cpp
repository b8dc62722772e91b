// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ChromeTrace.cpp - Events for chrome://tracing and Perfetto ----------===//
#include "runtime/profile/ChromeTrace.h"
#include "runtime/profile/EventRanges.h"
#include "runtime/profile/Thin.h"
#include "runtime/profile/Utf8.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <limits>
#include <memory>
#include <numeric>

namespace millrace::runtime::profile {
namespace {

void appendReal(std::string &out, double value) {
  if (!std::isfinite(value)) { // JSON has no such number
    out += jsonText(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    return;
  }
  char buffer[32];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

void appendNumber(std::string &out, std::integral auto value) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

/// Picoseconds as microseconds, exactly.
void appendMicroseconds(std::string &out, int64_t picoseconds) {
  if (picoseconds < 0) {
    out += '-';
    picoseconds = -picoseconds;
  }
  appendNumber(out, picoseconds / 1'000'000);
  int64_t rest = picoseconds % 1'000'000;
  if (!rest)
    return;
  char digits[7] = {'.'};
  for (int i = 6; i; --i, rest /= 10)
    digits[i] = char('0' + rest % 10);
  int size = 7;
  while (digits[size - 1] == '0')
    --size;
  out.append(digits, size_t(size));
}

} // namespace

std::string jsonText(std::string_view text) {
  std::string out = "\"";
  out.reserve(text.size() + 2);
  while (!text.empty()) {
    const size_t size = characterAt(text);
    const char first = text.front();
    if (size == 0) {
      out += "\xEF\xBF\xBD";
    } else if (size > 1) {
      out += text.substr(0, size);
    } else if (first == '"' || first == '\\') {
      out += '\\';
      out += first;
    } else if (uint8_t(first) < 0x20 || first == 0x7F) {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\u%04x", unsigned(uint8_t(first)));
      out += buffer;
    } else {
      out += first;
    }
    text.remove_prefix(std::max<size_t>(1, size));
  }
  return out + "\"";
}

namespace {

// Lines of other clocks, which begin in 1970 for instance, are drawn so far away. Unit: nanoseconds. Source: 23 days, in picoseconds a number of 64 bits.
constexpr int64_t kFarthest = 2'000'000'000'000'000;

/// Names that begin with '_' are for the viewer: arrows, roots. "hlo_op" is the name of the event.
bool isArgument(std::string_view name) { return !name.starts_with("_") && name != "hlo_op"; }

/// Writes the events of one plane. What many of them have is made once.
class PlaneWriter {
public:
  /// `process`: the number of the plane. `start`: the time that becomes 0, in nanoseconds.
  PlaneWriter(const Plane &plane, size_t process, int64_t start) : plane(plane), start(start), process(std::to_string(process)) {
    for (const std::string &text : plane.texts)
      texts.push_back(jsonText(text));
    for (size_t i = 0; i < plane.texts.size(); ++i) {
      names.push_back(isArgument(plane.texts[i]) ? texts[i] + ":" : "");
      if (plane.texts[i] == "_p" || plane.texts[i] == "_c")
        roles.push_back({uint32_t(i), plane.texts[i][1] == 'p'});
    }
    std::sort(roles.begin(), roles.end(), [](const Role &a, const Role &b) { return a.isStart > b.isStart; });
    for (const Plane::EventKind &kind : plane.kinds) {
      Kind &made = kinds.emplace_back();
      made.name = jsonText(kind.name);
      for (const Stat &stat : kind.stats)
        appendArgument(made.arguments, stat);
    }
    for (const Plane::Line &line : plane.lines)
      places.push_back(",\"pid\":" + this->process + ",\"tid\":" + std::to_string(line.id) + ",\"ts\":");
  }

  bool isEmpty() const {
    return std::all_of(plane.lines.begin(), plane.lines.end(), [](const Plane::Line &line) { return line.events.empty(); });
  }

  /// Objects with the titles of the process; of a line those of its thread. Each has a separator behind it.
  std::string titles() const {
    return title("process_name", nullptr, "name", jsonText(plane.name)) + title("process_sort_index", nullptr, "sort_index", process);
  }
  std::string titles(size_t l) const {
    const Plane::Line &line = plane.lines[l];
    const std::string thread = std::to_string(line.id);
    return title("thread_name", &thread, "name", jsonText(line.name)) + title("thread_sort_index", &thread, "sort_index", std::to_string(l));
  }

  /// Appends the objects of an event; nothing where a counter has no value.
  void append(std::string &out, size_t l, const Plane::Event &event) const {
    const Plane::Line &line = plane.lines[l];
    const int64_t at = std::clamp(line.start - start, -kFarthest, kFarthest) * 1000 + event.offset; // picoseconds
    const Kind &kind = kinds[event.kind];
    if (isCounter(line)) {
      if (!event.numStats)
        return;
      const Stat &value = line.stats[event.firstStat];
      out += "{\"ph\":\"C\",\"name\":";
      out += kind.name;
      out += ",\"pid\":";
      out += process;
      out += ",\"ts\":";
      appendMicroseconds(out, at);
      out += ",\"args\":{";
      out += texts[value.name];
      out += ':';
      appendValue(out, value);
      out += "}}";
      return;
    }
    out += "{\"ph\":\"X\",\"name\":";
    out += kind.name;
    out += places[l];
    appendMicroseconds(out, at);
    out += ",\"dur\":";
    appendMicroseconds(out, event.duration);
    const size_t before = out.size();
    out += ",\"args\":{";
    const size_t first = out.size();
    for (uint32_t i = 0; i < event.numStats; ++i)
      appendArgument(out, line.stats[event.firstStat + i], first);
    if (!kind.arguments.empty()) {
      if (out.size() > first)
        out += ',';
      out += kind.arguments;
    }
    if (out.size() > first)
      out += '}';
    else
      out.resize(before);
    out += '}';
    for (const Role &role : roles)
      if (const Stat *flow = find(line, event, role.name)) {
        out += kSeparator;
        out += role.isStart ? "{\"ph\":\"s\"" : "{\"ph\":\"f\",\"bp\":\"e\"";
        out += ",\"name\":\"launch\",\"cat\":\"launch\",\"id\":\"";
        appendNumber(out, flow->number);
        out += '"';
        out += places[l];
        appendMicroseconds(out, at);
        out += '}';
      }
  }

  static bool isCounter(const Plane::Line &line) { return line.name == "_counters_"; }
  static constexpr std::string_view kSeparator = ",\n"; ///< Fact: between the objects of a list, where people may read them

private:
  struct Kind {
    std::string name, arguments;
  };
  /// Names of stats that begin and end arrows.
  struct Role {
    uint32_t name;
    bool isStart;
  };

  std::string title(const char *what, const std::string *ofThread, const char *key, const std::string &value) const {
    return std::string("{\"ph\":\"M\",\"name\":\"") + what + "\",\"pid\":" + process + (ofThread ? ",\"tid\":" + *ofThread : "") +
           ",\"args\":{" + jsonText(key) + ":" + value + "}}" + std::string(kSeparator);
  }

  const Stat *find(const Plane::Line &line, const Plane::Event &event, uint32_t name) const {
    for (uint32_t i = 0; i < event.numStats; ++i)
      if (line.stats[event.firstStat + i].name == name)
        return &line.stats[event.firstStat + i];
    for (const Stat &stat : plane.kinds[event.kind].stats)
      if (stat.name == name)
        return &stat;
    return nullptr;
  }

  /// Separates it from others that stand in `out` from `first` on.
  void appendArgument(std::string &out, const Stat &stat, size_t first = 0) const {
    if (names[stat.name].empty())
      return;
    if (out.size() > first)
      out += ',';
    out += names[stat.name];
    appendValue(out, stat);
  }

  void appendValue(std::string &out, const Stat &stat) const {
    switch (stat.type) {
    case Stat::Type::Real: return appendReal(out, stat.real);
    case Stat::Type::Unsigned: return appendNumber(out, stat.number);
    case Stat::Type::Signed: return appendNumber(out, stat.integer);
    case Stat::Type::Text: out += texts[stat.text]; return;
    case Stat::Type::Bytes: out += jsonText(std::to_string(plane.blobs[stat.text].size()) + " bytes"); return;
    }
  }

  const Plane &plane;
  const int64_t start;
  const std::string process;
  std::vector<std::string> texts; ///< of the plane, in quotes
  std::vector<std::string> names; ///< the same before a value; empty for what is no argument
  std::vector<Role> roles;        ///< arrows that begin come before those that end
  std::vector<Kind> kinds;
  std::vector<std::string> places; ///< of lines: what stands before the time of an event
};

/// The objects of a space.
class Writer {
public:
  Writer(const XSpace &space, int64_t start) : space(space) {
    planes.resize(space.planes.size());
    for (size_t p = 0; p < space.planes.size(); ++p)
      if (!space.planes[p].name.starts_with(kMetadataPlane) && !space.planes[p].lines.empty())
        if (auto made = std::make_unique<PlaneWriter>(space.planes[p], p + 1, start); !made->isEmpty())
          planes[p] = std::move(made);
    for (size_t p = 0; p < planes.size(); ++p)
      for (size_t l = 0; planes[p] && l < space.planes[p].lines.size(); ++l)
        appendRanges(ranges, p, l, space.planes[p].lines[l].events.size());
  }

  /// Bytes of the objects of each event, with what separates them from others.
  Weights weights() const {
    return weightsOf(space, [&](const EventRange &range, size_t e) -> size_t {
      static thread_local std::string object;
      object.clear();
      planes[range.plane]->append(object, range.line, space.planes[range.plane].lines[range.line].events[e]);
      return object.empty() ? 0 : object.size() + PlaneWriter::kSeparator.size();
    });
  }

  /// Bytes of all but the objects of events.
  uint64_t bytesOfOthers() const {
    uint64_t bytes = kBegin.size() + end().size() - PlaneWriter::kSeparator.size(); // none stands behind the last object
    for (const EventRange &range : ranges)
      bytes += titlesBefore(range).size();
    return bytes;
  }

  std::string write() const {
    std::vector<std::string> parts(ranges.size());
    forRanges(ranges, [&](size_t i) {
      const EventRange &range = ranges[i];
      std::string &part = parts[i] = titlesBefore(range);
      for (size_t e = range.begin; e < range.end; ++e) {
        const size_t before = part.size();
        planes[range.plane]->append(part, range.line, space.planes[range.plane].lines[range.line].events[e]);
        if (part.size() > before)
          part += PlaneWriter::kSeparator;
      }
    });
    const std::string last = end();
    size_t size = kBegin.size() + last.size();
    for (const std::string &part : parts)
      size += part.size();
    std::string out;
    out.reserve(size);
    out += kBegin;
    for (std::string &part : parts) {
      out += part;
      part = std::string();
    }
    out.resize(out.size() - (out.size() > kBegin.size() ? PlaneWriter::kSeparator.size() : 1)); // the end of a line that begins the last one, too
    return out += last;
  }

private:
  static constexpr std::string_view kBegin = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"; ///< Fact: the form of a trace

  /// Titles of the range's line before its first event, and those of the plane before its first line.
  std::string titlesBefore(const EventRange &range) const {
    if (range.begin)
      return {};
    const std::vector<Plane::Line> &lines = space.planes[range.plane].lines;
    const PlaneWriter &plane = *planes[range.plane];
    std::string out;
    if (std::all_of(lines.begin(), lines.begin() + ptrdiff_t(range.line), [](const Plane::Line &line) { return line.events.empty(); }))
      out += plane.titles();
    if (!PlaneWriter::isCounter(lines[range.line]))
      out += plane.titles(range.line);
    return out;
  }

  std::string end() const {
    std::string out = "\n]";
    for (size_t i = 0; i < space.warnings.size(); ++i)
      out += (i ? "," : ",\"otherData\":{") + jsonText("warning " + std::to_string(i + 1)) + ":" + jsonText(space.warnings[i]);
    return out + (space.warnings.empty() ? "}\n" : "}}\n");
  }

  const XSpace &space;
  std::vector<std::unique_ptr<PlaneWriter>> planes; ///< null for those that have no events to be drawn
  std::vector<EventRange> ranges;
};

} // namespace

std::string chromeTrace(const XSpace &space, size_t most) {
  int64_t start = std::numeric_limits<int64_t>::max();
  for (const Plane &plane : space.planes)
    for (const Plane::Line &line : plane.lines)
      if (!line.events.empty())
        start = std::min(start, line.start);
  Weights weights;
  uint64_t room = 0;
  {
    const Writer whole(space, start);
    weights = whole.weights();
    uint64_t sum = 0;
    for (const auto &plane : weights)
      for (const auto &line : plane)
        sum = std::accumulate(line.begin(), line.end(), sum);
    const uint64_t others = whole.bytesOfOthers();
    if (sum + others <= most)
      return whole.write();
    // The sentence about the events that are left out. Unit: bytes. Source: arithmetic: it has less than 200, and 40 stand around it.
    constexpr uint64_t kSentence = 300;
    room = most > others + kSentence ? most - others - kSentence : 0;
  }
  const XSpace fewer = thinned(space, {room, 0, &weights, /*isShared=*/true}, "are not drawn here; tables and the file for XProf have them");
  return Writer(fewer, start).write();
}

} // namespace millrace::runtime::profile
