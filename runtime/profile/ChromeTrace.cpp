// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ChromeTrace.cpp - Events for chrome://tracing and Perfetto ----------===//
#include "runtime/profile/ChromeTrace.h"
#include "runtime/profile/Thin.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

namespace millrace::runtime::profile {
namespace {

/// Bytes of the character that begins here, 0 where none does. Overlong forms and surrogates are none.
size_t characterAt(std::string_view text) {
  const auto at = [&](size_t i) { return i < text.size() ? uint8_t(text[i]) : 0; };
  const auto follows = [&](size_t i) { return (at(i) & 0xC0) == 0x80; };
  const uint8_t first = at(0);
  if (first < 0x80)
    return 1;
  if (first >= 0xC2 && first <= 0xDF)
    return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF)
    return follows(1) && follows(2) && !(first == 0xE0 && at(1) < 0xA0) && !(first == 0xED && at(1) > 0x9F) ? 3 : 0;
  if (first >= 0xF0 && first <= 0xF4)
    return follows(1) && follows(2) && follows(3) && !(first == 0xF0 && at(1) < 0x90) && !(first == 0xF4 && at(1) > 0x8F) ? 4 : 0;
  return 0;
}

void appendReal(std::string &out, double value) {
  if (!std::isfinite(value)) { // JSON has no such number
    out += jsonText(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    return;
  }
  char buffer[32];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

/// Picoseconds as microseconds, exactly.
void appendMicroseconds(std::string &out, int64_t picoseconds) {
  if (picoseconds < 0) {
    out += '-';
    picoseconds = -picoseconds;
  }
  out += std::to_string(picoseconds / 1'000'000);
  if (int64_t rest = picoseconds % 1'000'000) {
    char buffer[16];
    int size = std::snprintf(buffer, sizeof buffer, ".%06lld", (long long)rest);
    while (buffer[size - 1] == '0')
      --size;
    out.append(buffer, size_t(size));
  }
}

void appendValue(std::string &out, const Plane &plane, const Stat &stat) {
  switch (stat.type) {
  case Stat::Type::Real: return appendReal(out, stat.real);
  case Stat::Type::Unsigned: out += std::to_string(stat.number); return;
  case Stat::Type::Signed: out += std::to_string(stat.integer); return;
  case Stat::Type::Text: out += jsonText(plane.texts[stat.text]); return;
  case Stat::Type::Bytes: out += jsonText(std::to_string(plane.blobs[stat.text].size()) + " bytes"); return;
  }
}

/// Names that begin with '_' are for the viewer: arrows, roots. "hlo_op" is the name of the event.
void appendArguments(std::string &out, const Plane &plane, const Plane::Line &line, const Plane::Event &event) {
  bool isFirst = true;
  auto add = [&](const Stat &stat) {
    if (plane.nameOf(stat).starts_with("_") || plane.nameOf(stat) == "hlo_op")
      return;
    out += isFirst ? ",\"args\":{" : ",";
    isFirst = false;
    out += jsonText(plane.nameOf(stat)) + ":";
    appendValue(out, plane, stat);
  };
  for (uint32_t i = 0; i < event.numStats; ++i)
    add(line.stats[event.firstStat + i]);
  for (const Stat &stat : plane.kinds[event.kind].stats)
    add(stat);
  if (!isFirst)
    out += "}";
}

} // namespace

std::string jsonText(std::string_view text) {
  std::string out = "\"";
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

/// Writes a trace, or tells how many bytes each part of it takes.
class Writer {
public:
  /// `start`: the time that becomes 0, in nanoseconds.
  Writer(const XSpace &space, int64_t start) : space(space), start(start) {}

  /// Returns nullopt as soon as the text has more than `most` bytes.
  std::optional<std::string> write(size_t most) {
    std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    bool isFirst = true;
    auto put = [&](const std::string &text) {
      out += isFirst ? "\n" : ",\n";
      isFirst = false;
      out += text;
    };
    const bool isWhole = forParts(
        [&](const std::string &titles) { put(titles); },
        [&](const Plane &plane, const Plane::Line &line, const Plane::Event &event) {
          object.clear();
          append(plane, line, event);
          if (!object.empty())
            put(object);
          return out.size() <= most;
        });
    if (!isWhole)
      return std::nullopt;
    out += "\n]";
    if (!space.warnings.empty()) {
      out += ",\"otherData\":{";
      for (size_t i = 0; i < space.warnings.size(); ++i)
        out += (i ? "," : "") + jsonText("warning " + std::to_string(i + 1)) + ":" + jsonText(space.warnings[i]);
      out += "}";
    }
    out += "}\n";
    return out.size() <= most ? std::optional(std::move(out)) : std::nullopt;
  }

  /// Bytes of the titles of processes and threads, and of what stands around all events.
  uint64_t bytesOfTitles() {
    uint64_t bytes = 0;
    forParts([&](const std::string &titles) { bytes += titles.size() + kSeparator; },
             [](const Plane &, const Plane::Line &, const Plane::Event &) { return true; });
    for (const std::string &warning : space.warnings)
      bytes += jsonText(warning).size();
    return bytes;
  }

  /// Bytes of an event. The plane may be that of a copy of the space, so that its number is not known: that of the last plane has as many digits.
  uint64_t bytesOf(const Plane &plane, const Plane::Line &line, const Plane::Event &event) {
    processText = std::to_string(space.planes.size());
    thread = std::to_string(line.id);
    object.clear();
    append(plane, line, event);
    return object.empty() ? 0 : object.size() + kSeparator;
  }

private:
  static constexpr uint64_t kSeparator = 2; ///< Fact: ",\n"

  /// Calls `titled` with the titles of each process and thread that has events, and `visit` with each event until it returns false.
  template <typename Titled, typename Visit>
  bool forParts(Titled titled, Visit visit) {
    for (size_t p = 0; p < space.planes.size(); ++p) {
      const Plane &plane = space.planes[p];
      if (plane.name.starts_with(kMetadataPlane) || std::all_of(plane.lines.begin(), plane.lines.end(), [](const Plane::Line &line) { return line.events.empty(); }))
        continue;
      processText = std::to_string(p + 1);
      titled(title("process_name", nullptr, "name", jsonText(plane.name)));
      titled(title("process_sort_index", nullptr, "sort_index", processText));
      for (size_t l = 0; l < plane.lines.size(); ++l) {
        const Plane::Line &line = plane.lines[l];
        if (line.events.empty())
          continue;
        thread = std::to_string(line.id);
        if (line.name != "_counters_") {
          titled(title("thread_name", &thread, "name", jsonText(line.name)));
          titled(title("thread_sort_index", &thread, "sort_index", std::to_string(l)));
        }
        for (const Plane::Event &event : line.events)
          if (!visit(plane, line, event))
            return false;
      }
    }
    return true;
  }

  std::string title(const char *what, const std::string *ofThread, const char *key, const std::string &value) const {
    return std::string("{\"ph\":\"M\",\"name\":\"") + what + "\",\"pid\":" + processText + (ofThread ? ",\"tid\":" + *ofThread : "") +
           ",\"args\":{" + jsonText(key) + ":" + value + "}}";
  }

  void append(const Plane &plane, const Plane::Line &line, const Plane::Event &event) {
    const int64_t at = (line.start - start) * 1000 + event.offset; // picoseconds
    if (line.name == "_counters_") {
      if (!event.numStats)
        return;
      const Stat &value = line.stats[event.firstStat];
      object += "{\"ph\":\"C\",\"name\":" + jsonText(plane.kinds[event.kind].name) + ",\"pid\":" + processText + ",\"ts\":";
      appendMicroseconds(object, at);
      object += ",\"args\":{" + jsonText(plane.nameOf(value)) + ":";
      appendValue(object, plane, value);
      object += "}}";
      return;
    }
    const std::string where = ",\"pid\":" + processText + ",\"tid\":" + thread + ",\"ts\":";
    object += "{\"ph\":\"X\",\"name\":" + jsonText(plane.kinds[event.kind].name) + where;
    appendMicroseconds(object, at);
    object += ",\"dur\":";
    appendMicroseconds(object, event.duration);
    appendArguments(object, plane, line, event);
    object += "}";
    for (const char *role : {"_p", "_c"})
      if (const Stat *flow = plane.find(line, event, role)) {
        const bool isStart = role[1] == 'p';
        object += std::string(",\n{\"ph\":\"") + (isStart ? "s" : "f\",\"bp\":\"e") + "\",\"name\":\"launch\",\"cat\":\"launch\",\"id\":\"" +
                  std::to_string(flow->number) + "\"" + where;
        appendMicroseconds(object, at);
        object += "}";
      }
  }

  const XSpace &space;
  int64_t start;
  std::string processText, thread, object;
};

} // namespace

std::string chromeTrace(const XSpace &space, size_t most) {
  int64_t start = std::numeric_limits<int64_t>::max();
  for (const Plane &plane : space.planes)
    for (const Plane::Line &line : plane.lines)
      if (!line.events.empty())
        start = std::min(start, line.start);
  Writer writer(space, start);
  // Fewer bytes no slice has. Fact: {"ph":"X","name":"","pid":1,"tid":1,"ts":0,"dur":0}, and a line's end.
  constexpr size_t kLeastBytes = 54;
  if (space.numEvents() <= most / kLeastBytes)
    if (std::optional<std::string> whole = writer.write(most))
      return std::move(*whole);
  // What stands around the events, and the sentence about those that are left out. Unit: bytes. Source: arithmetic: 62, and less than 200.
  constexpr uint64_t kAround = 512;
  const uint64_t fixed = writer.bytesOfTitles() + kAround, room = most > fixed ? most - fixed : 0;
  const Weight weight = [&](const Plane &plane, const Plane::Line &line, const Plane::Event &event) { return writer.bytesOf(plane, line, event); };
  const XSpace fewer = thinned(space, {room, 0, weight, /*isShared=*/true}, "are not drawn here; tables and the file for XProf have them");
  return Writer(fewer, start).write(std::numeric_limits<size_t>::max()).value();
}

} // namespace millrace::runtime::profile
