// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PlanPage.cpp - HTML page of a plan and its modelled step ------------===//
#include "passes/autosharding/PlanPage.h"
#include "passes/autosharding/JsonNumber.h"
#include "passes/autosharding/PlanPageTemplate.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <map>

namespace millrace::autosharding {

namespace {

/// The largest number of lines of the source that are printed, because equal tensors of many layers are one entry. Unit: lines of one tensor.
/// Source: judgement: a page stays readable.
constexpr size_t kMostLines = 3;

std::string milliseconds(double seconds) { return llvm::formatv("{0:f3} ms", seconds * 1e3).str(); }

/// Returns the tensor's name, its sharding, and the costs of alternatives.
std::string textOf(const PlannedTensor &tensor) {
  std::string text = llvm::formatv("{0} {1}, {2} bytes on a device, {3}{4}\n", tensor.name, tensor.sharding, tensor.bytes, milliseconds(tensor.seconds),
                                   tensor.isAnnotated ? ", annotated" : "");
  if (tensor.alternatives.empty())
    text += tensor.isAnnotated ? "  the annotation leaves nothing to choose\n" : "  no other choice is left\n";
  for (const PlannedTensor::Alternative &other : tensor.alternatives)
    text += std::isinf(other.more) ? llvm::formatv("  {0}: impossible as all else is planned\n", other.sharding).str()
                                   : llvm::formatv("  {0}: {1}{2}\n", other.sharding, other.more < 0 ? "" : "+", milliseconds(other.more)).str();
  return text;
}

} // namespace

void printPlan(const AutoShardingReport &planned, llvm::ArrayRef<RankedMesh> ranked, llvm::raw_ostream &os) {
  double all = planned.computing + planned.communicating;
  os << llvm::formatv("The plan: {0} expected, {1} of them computing, {2} communicating ({3:f0} bytes received){4}; {5} bytes of values at the worst time{6}{7}\n",
                      milliseconds(all), milliseconds(planned.computing), milliseconds(planned.communicating), planned.bytes, gapText(planned),
                      planned.peak, recomputationText(planned), uncheckedText(planned));
  if (std::string text = candidatesText(planned); !text.empty())
    os << "Of the candidates " << text << "\n";
  for (const RankedMesh &each : ranked)
    os << "  " << milliseconds(each.seconds) << " expected with --mesh=" << each.mesh << "\n";
  if (planned.tensors.empty()) {
    os << "Shardings follow from the annotations\n\n";
    return;
  }
  os << "\nTensors, with the time of the operation that makes them and of what their readers reshard; below what a step takes more if this one "
        "alone is split otherwise:\n";
  std::vector<std::pair<std::string, std::vector<std::string>>> same;
  std::map<std::string, size_t> known;
  for (const PlannedTensor &tensor : planned.tensors) {
    std::string text = textOf(tensor);
    auto [found, isNew] = known.try_emplace(text, same.size());
    if (isNew)
      same.push_back({text, {}});
    same[found->second].second.push_back(tensor.line);
  }
  for (auto &[text, lines] : same) {
    size_t count = lines.size();
    llvm::erase_if(lines, [](const std::string &line) { return line.empty(); });
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    auto [head, rest] = llvm::StringRef(text).split('\n');
    os << head;
    if (count > 1)
      os << "  (" << count << " times)";
    for (size_t i = 0; i < std::min(kMostLines, lines.size()); ++i)
      os << (i ? ", " : "  ") << lines[i];
    if (lines.size() > kMostLines)
      os << ", ...";
    os << "\n" << rest;
  }
  os << "\n";
}

std::string planPage(const Simulation &simulation, const AutoShardingReport *planned, llvm::ArrayRef<RankedMesh> ranked, const Machine &machine,
                     llvm::StringRef title) {
  std::string data;
  llvm::raw_string_ostream stream(data);
  llvm::json::OStream json(stream);
  json.object([&] {
    json.attribute("machine", machine.name);
    json.attribute("seconds", finite(simulation.seconds()));
    json.attribute("flops", finite(simulation.flops));
    json.attribute("rate", machine.flopsPerSecond);
    json.attribute("memory", machine.memoryBytes);
    json.attribute("arguments", simulation.argumentBytes);
    json.attribute("peak", simulation.peakBytes);
    json.attributeArray("parts", [&] {
      for (const SimulatedPart &part : simulation.parts())
        json.array([&] { json.value(part.name), json.value(finite(part.seconds)), json.value(finite(part.bytes)), json.value(part.count); });
    });
    // Begin and seconds, kind (0: computing, 1: communicating), names by number, live bytes, received bytes, waiting seconds.
    std::map<std::string, int64_t> numbers;
    std::vector<std::string> names;
    auto number = [&](const std::string &name) {
      auto [found, isNew] = numbers.try_emplace(name, int64_t(names.size()));
      if (isNew)
        names.push_back(name);
      return found->second;
    };
    json.attributeArray("steps", [&] {
      for (const SimulatedStep &step : simulation.steps)
        json.array([&] {
          json.value(finite(step.begin)), json.value(finite(step.seconds)), json.value(int64_t(step.isCollective)), json.value(number(step.name));
          json.value(number(step.line)), json.value(step.alive), json.value(finite(step.bytes)), json.value(finite(step.waiting));
        });
    });
    json.attributeArray("names", [&] {
      for (const std::string &name : names)
        json.value(llvm::json::fixUTF8(name));
    });
    json.attributeArray("meshes", [&] {
      for (const RankedMesh &each : ranked)
        json.array([&] { json.value(llvm::json::fixUTF8(each.mesh)), json.value(finite(each.seconds)); });
    });
    if (planned)
      json.attributeObject("plan", [&] {
        json.attribute("seconds", finite(planned->computing + planned->communicating));
        json.attribute("gap", finite(planned->gap));
        json.attribute("bound", finite(planned->bound));
        json.attribute("peak", planned->peak);
        json.attributeArray("candidates", [&] {
          for (const ComparedCandidate &each : planned->candidates)
            json.array([&] {
              json.value(name(each.candidate)), json.value(each.isTaken), json.value(each.seconds ? finite(*each.seconds) : llvm::json::Value(nullptr));
              json.value(each.peak), json.value(llvm::json::fixUTF8(each.whyNot));
            });
        });
        json.attribute("recomputed", planned->recomputedValues);
        json.attribute("recomputing", finite(planned->recomputing));
        json.attributeArray("tensors", [&] {
          for (const PlannedTensor &tensor : planned->tensors)
            json.array([&] {
              json.value(llvm::json::fixUTF8(tensor.name)), json.value(llvm::json::fixUTF8(tensor.line)), json.value(llvm::json::fixUTF8(tensor.sharding));
              json.value(tensor.bytes), json.value(finite(tensor.seconds));
              json.array([&] {
                for (const PlannedTensor::Alternative &other : tensor.alternatives)
                  json.array([&] {
                    json.value(llvm::json::fixUTF8(other.sharding));
                    json.value(finite(other.more));
                  });
              });
            });
        });
      });
  });
  // A name may contain text that ends a script element.
  std::string safe;
  for (char each : data)
    safe += each == '<' ? std::string("\\u003c") : std::string(1, each);
  std::string name;
  for (char each : title)
    name += each == '<' ? "&lt;" : each == '&' ? "&amp;" : std::string(1, each);
  std::string page = kPlanPageTemplate;
  for (auto [mark, text] : {std::pair<llvm::StringRef, llvm::StringRef>("@TITLE@", name), {"@DATA@", safe}})
    for (size_t at = 0; (at = page.find(mark.str(), at)) != std::string::npos; at += text.size()) {
      page.replace(at, mark.size(), text.str());
      if (mark == "@DATA@")
        break;
    }
  return page;
}

} // namespace millrace::autosharding
