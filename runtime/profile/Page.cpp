// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Page.cpp - A recording as one HTML file ------------------------------===//
#include "runtime/profile/Page.h"
#include "runtime/base/HtmlPage.h"
#include "runtime/base/PageGraph.h"
#include "runtime/base/PageStyle.h"
#include "runtime/profile/ChromeTrace.h"
#include "runtime/profile/PageTemplate.h"
#include "runtime/profile/Summary.h"
#include "runtime/profile/Thin.h"
#include "runtime/profile/Views.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>

namespace millrace::runtime::profile {
namespace {

/// The timeline: {"lines":[{"name","plane","events":[start, duration, text, detail, ...]}], "counters":[...], "texts":[...], "arrows":[...]}, times
/// in nanoseconds since the first event. One number after the other: objects would be ten times as large.
std::string timeline(const XSpace &space) {
  int64_t start = std::numeric_limits<int64_t>::max();
  for (const Plane &plane : space.planes)
    for (const Plane::Line &line : plane.lines)
      if (!line.events.empty())
        start = std::min(start, line.start + line.events.front().offset / 1000);
  std::unordered_map<std::string, size_t> textIndex;
  std::vector<std::string> texts;
  auto textOf = [&](const std::string &text) {
    auto [found, isNew] = textIndex.emplace(text, texts.size());
    if (isNew)
      texts.push_back(text);
    return std::to_string(found->second);
  };
  struct End {
    size_t line;
    int64_t at;
  };
  std::map<uint64_t, std::pair<std::vector<End>, std::vector<End>>> flows;
  std::string lines, counters;
  size_t numLines = 0;
  for (const Plane &plane : space.planes) {
    for (const Plane::Line &line : plane.lines) {
      if (line.events.empty() || plane.name.starts_with(kMetadataPlane))
        continue;
      const bool isCounter = line.name == "_counters_";
      std::string events;
      for (const Plane::Event &event : line.events) {
        const int64_t at = line.start - start + event.offset / 1000;
        if (isCounter) {
          if (event.numStats)
            events += (events.empty() ? "" : ",") + std::to_string(at) + "," + std::to_string(line.stats[event.firstStat].number);
          continue;
        }
        std::string detail;
        auto add = [&](const Stat &stat) {
          const std::string &name = plane.nameOf(stat);
          if (name.starts_with("_") || name == "run_id" || name == "program_id" || name == "hlo_op")
            return;
          detail += (detail.empty() ? "" : "\n") + name + ": " +
                    (stat.type == Stat::Type::Text     ? plane.texts[stat.text]
                     : stat.type == Stat::Type::Bytes  ? std::to_string(plane.blobs[stat.text].size()) + " bytes"
                     : stat.type == Stat::Type::Real   ? std::to_string(stat.real)
                     : stat.type == Stat::Type::Signed ? std::to_string(stat.integer)
                                                       : std::to_string(stat.number));
        };
        for (uint32_t i = 0; i < event.numStats; ++i) {
          const Stat &stat = line.stats[event.firstStat + i];
          if (plane.nameOf(stat) == "_p")
            flows[stat.number].first.push_back({numLines, at});
          else if (plane.nameOf(stat) == "_c")
            flows[stat.number].second.push_back({numLines, at});
          else
            add(stat);
        }
        for (const Stat &stat : plane.kinds[event.kind].stats)
          add(stat);
        events += (events.empty() ? "" : ",") + std::to_string(at) + "," + std::to_string(event.duration / 1000) + "," +
                  textOf(plane.kinds[event.kind].name) + "," + textOf(detail);
      }
      if (events.empty())
        continue;
      std::string made = "{\"plane\":" + jsonText(plane.name) + ",\"name\":" + jsonText(line.name) + ",\"events\":[" + events + "]}";
      std::string &list = isCounter ? counters : lines;
      list += (list.empty() ? "" : ",\n") + made;
      numLines += !isCounter;
    }
  }
  std::string arrows;
  for (const auto &[id, ends] : flows)
    if (!ends.first.empty())
      for (const End &to : ends.second)
        arrows += (arrows.empty() ? "" : ",") + std::to_string(ends.first[0].line) + "," + std::to_string(ends.first[0].at) + "," +
                  std::to_string(to.line) + "," + std::to_string(to.at);
  std::string out = "{\"lines\":[" + lines + "],\"counters\":[" + counters + "],\"arrows\":[" + arrows + "],\"texts\":[";
  for (size_t i = 0; i < texts.size(); ++i)
    out += (i ? "," : "") + jsonText(texts[i]);
  return out + "]}";
}

} // namespace

std::string htmlPage(const XSpace &space, const std::string &title, const Roofs &roofs, size_t drawnEvents) {
  Summary summary = summarize(space);
  const Views views = viewsOf(space, summary, roofs);
  XSpace drawn = thinned(space, drawnEvents);
  summary.warnings = drawn.warnings;
  std::string events = timeline(drawn);
  std::string page = std::string(kPageBody) + kPageViews + kPageTimeline + kPageGraph + kPageEnd;
  putInPage(page, "@STYLE@", kPageStyle);
  putInPage(page, "@TOOLS@", kPageTools);
  putInPage(page, "@GRAPH@", kGraphBody);
  putInPage(page, "@TITLE@", inHtml(title)); // before the data, which may contain marks
  const std::string mark = "@DATA@";
  page.replace(page.rfind(mark), mark.size(), inScript("{\"summary\":" + toJson(summary) + ",\n\"views\":" + toJson(views) + ",\n\"roofs\":" +
                                                       toJson(withThreads(roofs, space)) + ",\n\"timeline\":" + events + "}"));
  return page;
}

} // namespace millrace::runtime::profile
