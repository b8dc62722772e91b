// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ViewsJson.cpp - Conclusions for pages and scripts -------------------===//
#include "runtime/profile/Json.h"
#include "runtime/profile/views/Lanes.h"

namespace millrace::runtime::profile {
namespace {

using json::Fields;
using json::list;

std::string objectOf(const Finding &f) {
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
std::string objectOf(const Compilation &c) {
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
std::string objectOf(const CollectiveUse &c) {
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
std::string objectOf(const MemoryOwner &o) {
  return Fields()
      .text("device", o.device)
      .text("purpose", o.purpose)
      .text("source", o.source)
      .count("bytes", o.bytes)
      .count("blocks", o.blocks)
      .object();
}
std::string objectOf(const MemorySeries &m) {
  return Fields()
      .text("device", m.device)
      .raw("purposes", json::texts(m.purposes))
      .raw("points", list(m.points, [](const auto &point) { return list(point, [](double value) { return json::number(value); }); }))
      .object();
}

} // namespace

std::string toJson(const Roofs &roofs) {
  auto level = [](const Roofs::Level &each) { return Fields().number("bytes", each.bytes).number("gbps", each.gbps, 1).object(); };
  return Fields()
      .number("gflops", roofs.gflops, 1)
      .number("bf16_gflops", roofs.bf16Gflops, 1)
      .count("threads", roofs.threads)
      .raw("levels", list(roofs.levels, level))
      .object();
}

std::string toJson(const Views &views) {
  auto toText = [](const auto &each) { return objectOf(each); };
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
