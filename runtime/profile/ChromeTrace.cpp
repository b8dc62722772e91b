// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ChromeTrace.cpp - Events for chrome://tracing and Perfetto ----------===//
#include "runtime/profile/ChromeTrace.h"
#include "runtime/profile/Thin.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

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

std::string chromeTrace(const XSpace &whole, size_t most) {
  const bool isLarge = whole.numEvents() > most;
  const XSpace fewer = isLarge ? thinned(whole, most) : XSpace();
  const XSpace &space = isLarge ? fewer : whole;
  int64_t start = std::numeric_limits<int64_t>::max();
  for (const Plane &plane : space.planes)
    for (const Plane::Line &line : plane.lines)
      if (!line.events.empty())
        start = std::min(start, line.start);
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  bool isFirst = true;
  auto begin = [&] {
    out += isFirst ? "\n" : ",\n";
    isFirst = false;
  };
  auto meta = [&](const char *what, size_t process, const std::string *thread, const std::string &key, const std::string &value) {
    begin();
    out += std::string("{\"ph\":\"M\",\"name\":\"") + what + "\",\"pid\":" + std::to_string(process);
    if (thread)
      out += ",\"tid\":" + *thread;
    out += ",\"args\":{" + jsonText(key) + ":" + value + "}}";
  };
  for (size_t p = 0; p < space.planes.size(); ++p) {
    const Plane &plane = space.planes[p];
    if (plane.name.starts_with(kMetadataPlane) || std::all_of(plane.lines.begin(), plane.lines.end(), [](const Plane::Line &line) { return line.events.empty(); }))
      continue;
    const size_t process = p + 1;
    const std::string processText = std::to_string(process);
    meta("process_name", process, nullptr, "name", jsonText(plane.name));
    meta("process_sort_index", process, nullptr, "sort_index", processText);
    for (size_t l = 0; l < plane.lines.size(); ++l) {
      const Plane::Line &line = plane.lines[l];
      const std::string thread = std::to_string(line.id);
      const int64_t shift = (line.start - start) * 1000; // picoseconds
      if (line.name == "_counters_") {
        for (const Plane::Event &event : line.events) {
          if (!event.numStats)
            continue;
          const Stat &value = line.stats[event.firstStat];
          begin();
          out += "{\"ph\":\"C\",\"name\":" + jsonText(plane.kinds[event.kind].name) + ",\"pid\":" + processText + ",\"ts\":";
          appendMicroseconds(out, shift + event.offset);
          out += ",\"args\":{" + jsonText(plane.nameOf(value)) + ":";
          appendValue(out, plane, value);
          out += "}}";
        }
        continue;
      }
      meta("thread_name", process, &thread, "name", jsonText(line.name));
      meta("thread_sort_index", process, &thread, "sort_index", std::to_string(l));
      for (const Plane::Event &event : line.events) {
        const std::string where = ",\"pid\":" + processText + ",\"tid\":" + thread + ",\"ts\":";
        begin();
        out += "{\"ph\":\"X\",\"name\":" + jsonText(plane.kinds[event.kind].name) + where;
        appendMicroseconds(out, shift + event.offset);
        out += ",\"dur\":";
        appendMicroseconds(out, event.duration);
        appendArguments(out, plane, line, event);
        out += "}";
        for (const char *role : {"_p", "_c"})
          if (const Stat *flow = plane.find(line, event, role)) {
            const bool isStart = role[1] == 'p';
            begin();
            out += std::string("{\"ph\":\"") + (isStart ? "s" : "f\",\"bp\":\"e") + "\",\"name\":\"launch\",\"cat\":\"launch\",\"id\":\"" +
                   std::to_string(flow->number) + "\"" + where;
            appendMicroseconds(out, shift + event.offset);
            out += "}";
          }
      }
    }
  }
  out += "\n]";
  if (!space.warnings.empty()) {
    out += ",\"otherData\":{";
    for (size_t i = 0; i < space.warnings.size(); ++i)
      out += (i ? "," : "") + jsonText("warning " + std::to_string(i + 1)) + ":" + jsonText(space.warnings[i]);
    out += "}";
  }
  return out + "}\n";
}

} // namespace millrace::runtime::profile
