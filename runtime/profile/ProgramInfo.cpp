// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramInfo.cpp - What records say of programs ----------------------===//
#include "runtime/profile/ProgramInfo.h"
#include "runtime/profile/ProgramGraph.h"
#include "runtime/profile/ProgramHlo.h"
#include "runtime/program/ResultLocations.h"

#include <algorithm>
#include <deque>
#include <mutex>

namespace millrace::runtime::profile {
namespace {

struct Namer {
  std::string operator()(const KernelStep &) { return "kernel"; }
  std::string operator()(const LoopStep &) { return "while"; }
  std::string operator()(const CondStep &) { return "case"; }
  std::string operator()(const CallStep &) { return "call"; }
  std::string operator()(const CopyStep &) { return "copy"; }
  std::string operator()(const FillStep &) { return "fill"; }
  std::string operator()(const SetDimsStep &) { return "set_dims"; }
  std::string operator()(const CollectiveStep &s) {
    std::string name = s.name.empty() ? "collective" : s.name;
    return s.phase == CollectiveStep::Phase::Start ? name + " start" : name;
  }
  std::string operator()(const CustomCallStep &s) { return "custom_call " + s.target; }
  std::string operator()(const DeviceIdStep &) { return "device_id"; }
  std::string operator()(const TransferStep &s) {
    const char *const names[] = {"infeed", "outfeed", "send", "recv"};
    return names[size_t(s.kind)];
  }
};

void addSteps(ProgramInfo &info, const Function &function, const Steps &steps) {
  for (const Step &step : steps) {
    if (auto *kernel = std::get_if<KernelStep>(&step.body)) {
      uint64_t &pieces = info.kernels[kernel->kernel].mostPieces;
      pieces = std::max(pieces, mostPieces(*kernel));
      continue;
    }
    ProgramInfo::StepInfo made;
    made.name = stepName(step);
    if (auto *loop = std::get_if<LoopStep>(&step.body)) {
      made.kind = ProgramInfo::StepInfo::Kind::Loop;
      addSteps(info, function, loop->cond);
      addSteps(info, function, loop->body);
    } else if (auto *cond = std::get_if<CondStep>(&step.body)) {
      for (const Steps &branch : cond->branches)
        addSteps(info, function, branch);
    } else if (auto *collective = std::get_if<CollectiveStep>(&step.body)) {
      made.kind = ProgramInfo::StepInfo::Kind::Collective;
      for (SlotId id : collective->arguments)
        made.bytes += function.slots[id].bytes;
      for (const auto &group : collective->groups)
        made.peers = std::max(made.peers, uint32_t(group.size()));
    }
    info.stepIndex.emplace(&step, uint32_t(info.steps.size()));
    info.steps.push_back(std::move(made));
  }
}

} // namespace

/// What says where the user's program asked for it. The column is of no use to a person.
std::string_view placeOf(const ProgramInfo &program, uint64_t location) {
  if (location >= program.locations.size())
    return {};
  std::string_view text = program.locations[location];
  auto withoutNumber = [](std::string_view whole) {
    size_t colon = whole.find_last_not_of("0123456789");
    return colon != std::string_view::npos && whole[colon] == ':' && colon + 1 < whole.size() ? whole.substr(0, colon) : whole;
  };
  std::string_view shorter = withoutNumber(text);
  return withoutNumber(shorter) != shorter ? shorter : text; // "train.py:12:3", but "train.py:12" as it is
}

std::string stepName(const Step &step) { return std::visit(Namer(), step.body); }

const ProgramInfo *describe(const Program &program) {
  static std::mutex mutex;
  static auto *all = new std::deque<ProgramInfo>; // records of threads that run while the process ends point to them
  ProgramInfo info;
  info.name = program.name.empty() ? "program" : program.name;
  info.locations = program.locations;
  std::unordered_map<std::string_view, std::string_view> emitters;
  for (const auto &[key, value] : program.metadata)
    if (key.starts_with("emitter "))
      emitters.emplace(std::string_view(key).substr(8), value);
  for (const Kernel &kernel : program.kernels) {
    ProgramInfo::KernelInfo &made = info.kernels.emplace_back();
    made.name = kernel.name.empty() ? kernel.symbol : kernel.name;
    // A fused kernel may execute hundreds of operations: each name once.
    std::vector<std::string_view> seen;
    for (const std::string &op : kernel.ops)
      if (std::find(seen.begin(), seen.end(), op) == seen.end()) {
        made.ops += (seen.empty() ? "" : ", ") + op;
        seen.push_back(op);
      }
    auto found = emitters.find(kernel.symbol);
    made.emitter = found == emitters.end() ? "generic" : std::string(found->second);
    made.flops = kernel.flops;
    made.bytesAccessed = kernel.bytesAccessed;
  }
  for (const Function &function : program.functions)
    addSteps(info, function, function.steps);
  info.place = intern("program " + info.name);
  info.resultPlaces.assign(program.results.size(), info.place);
  const Function &entry = program.functions[program.entry];
  for (const Step &step : entry.steps)
    if (auto *kernel = std::get_if<KernelStep>(&step.body); kernel && !placeOf(info, step.location).empty())
      for (SlotId output : kernel->outputs)
        for (size_t r = 0; r < info.resultPlaces.size(); ++r)
          if (entry.results[r] == output)
            info.resultPlaces[r] = intern(placeOf(info, step.location));
  // A kernel may have been fused from several lines, and its location is that of one of them.
  const std::vector<uint32_t> lines = resultLocations(program);
  for (size_t r = 0; r < std::min(lines.size(), info.resultPlaces.size()); ++r)
    if (std::string_view place = placeOf(info, lines[r]); !place.empty())
      info.resultPlaces[r] = intern(place);
  info.graph = graphJson(program);
  info.hlo = hloProto(program);
  std::lock_guard lock(mutex);
  info.id = all->size() + 1;
  return &all->emplace_back(std::move(info));
}

} // namespace millrace::runtime::profile
