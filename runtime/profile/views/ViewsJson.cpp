// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ViewsJson.cpp - Conclusions for pages and scripts -------------------===//
#include "runtime/profile/ChromeTrace.h"
#include "runtime/profile/views/Lanes.h"
#include "runtime/profile/views/Texts.h"

#include <cmath>

namespace millrace::runtime::profile {
namespace {

std::string jsonNumber(double value) { return format("%.0f", std::isfinite(value) ? value : 0); }

/// Fields of one object.
class Fields {
public:
  Fields &text(const char *name, const std::string &value) { return raw(name, jsonText(value)); }
  Fields &number(const char *name, double value) { return raw(name, jsonNumber(value)); }
  Fields &count(const char *name, uint64_t value) { return raw(name, std::to_string(value)); }
  Fields &raw(const char *name, const std::string &json) {
    out += (out.empty() ? "\"" : ",\"") + std::string(name) + "\":" + json;
    return *this;
  }
  std::string object() const { return "{" + out + "}"; }

private:
  std::string out;
};

template <typename List, typename ToText> std::string list(const List &all, ToText toText) {
  std::string out = "[";
  for (const auto &each : all)
    out += (out.size() > 1 ? ",\n" : "") + toText(each);
  return out + "]";
}

std::string json(const Finding &f) {
  return Fields()
      .text("kind", f.kind)
      .text("title", f.title)
      .text("source", f.source)
      .text("evidence", f.evidence)
      .text("advice", f.advice)
      .text("page", f.page)
      .text("cost", f.cost)
      .number("ns", f.ns)
      .object();
}
std::string json(const Compilation &c) {
  return Fields()
      .number("at", c.at)
      .number("ns", c.ns)
      .text("program", c.program)
      .text("source", c.source)
      .text("cause", c.cause)
      .text("difference", c.difference)
      .text("cache", c.cache)
      .object();
}
std::string json(const CollectiveUse &c) {
  auto ofDevice = [](const CollectiveUse::OfDevice &d) {
    return Fields().text("device", d.device).number("ns", d.ns).number("wait_ns", d.waitNs).object();
  };
  return Fields()
      .text("name", c.name)
      .text("source", c.source)
      .count("calls", c.calls)
      .count("bytes", c.bytes)
      .raw("devices", list(c.devices, ofDevice))
      .object();
}
std::string json(const MemoryOwner &o) {
  return Fields()
      .text("device", o.device)
      .text("purpose", o.purpose)
      .text("source", o.source)
      .count("bytes", o.bytes)
      .count("blocks", o.blocks)
      .object();
}
std::string json(const MemorySeries &m) {
  return Fields()
      .text("device", m.device)
      .raw("purposes", list(m.purposes, [](const std::string &p) { return jsonText(p); }))
      .raw("points", list(m.points, [](const auto &point) { return list(point, jsonNumber); }))
      .object();
}

} // namespace

std::string toJson(const Roofs &roofs) {
  std::string out = format("{\"gflops\":%.1f,\"bf16_gflops\":%.1f,\"threads\":%u,\"levels\":[", roofs.gflops, roofs.bf16Gflops, roofs.threads);
  for (size_t i = 0; i < roofs.levels.size(); ++i)
    out += format("%s{\"bytes\":%.0f,\"gbps\":%.1f}", i ? "," : "", roofs.levels[i].bytes, roofs.levels[i].gbps);
  return out + "]}";
}

std::string toJson(const Views &views) {
  auto toText = [](const auto &each) { return json(each); };
  auto part = [](const auto &each) { return Fields().text("name", each.first).number("ns", each.second).object(); };
  auto program = [](const auto &each) { return Fields().text("name", each.first).raw("graph", each.second).object(); };
  return Fields()
      .raw("findings", list(views.findings, toText))
      .raw("split", list(views.split, part))
      .raw("compilations", list(views.compilations, toText))
      .raw("collectives", list(views.collectives, toText))
      .raw("owners", list(views.owners, toText))
      .raw("memory", list(views.memory, toText))
      .raw("programs", list(views.programs, program))
      .object();
}

} // namespace millrace::runtime::profile
