// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramGraph.cpp - Steps of a program and what goes between them ----===//
#include "runtime/profile/ProgramGraph.h"
#include "runtime/profile/ChromeTrace.h"
#include "runtime/profile/ProgramInfo.h"

#include <unordered_map>

namespace millrace::runtime::profile {
namespace {

class GraphWriter {
public:
  explicit GraphWriter(const Program &program) : program(program) {
    for (const auto &[key, value] : program.metadata)
      if (key.starts_with("emitter "))
        emitters.emplace(std::string_view(key).substr(8), value);
  }

  std::string run() {
    const Function &entry = program.functions[program.entry];
    Writers writers;
    const size_t count = program.arguments.size();
    for (size_t i = 0; i < entry.arguments.size(); ++i) {
      // What the preparation makes are further arguments, which no caller passes.
      const bool isPassed = i < count;
      const TensorSpec &spec = isPassed ? program.arguments[i] : program.preparation.results[i - count];
      const std::string name = isPassed ? program.arguments[i].name : "prepared " + std::to_string(i - count);
      writers[entry.arguments[i]] = node(name.empty() ? "argument " + std::to_string(i) : name, "argument", "", kNone, 0, shapeText(spec),
                                         isPassed ? program.arguments[i].sharding : "");
    }
    steps(entry, entry.steps, writers, 0);
    for (size_t i = 0; i < entry.results.size(); ++i)
      edge(entry, entry.results[i], writers,
           node("result " + std::to_string(i), "result", "", kNone, 0, shapeText(program.results[i]), program.results[i].sharding));
    return "{\"nodes\":[" + nodes + "],\"edges\":[" + edges + "],\"left_out\":" + std::to_string(leftOut) + "}";
  }

private:
  using Writers = std::unordered_map<SlotId, uint32_t>;

  /// "f32[8,16]{1,0}" with its layout; "?" for sizes that are known at run time.
  static std::string shapeText(DType dtype, const std::vector<int64_t> &dims, const std::vector<int64_t> &minorToMajor) {
    std::string out = std::string(name(dtype)) + "[", layout = "{";
    for (size_t d = 0; d < dims.size(); ++d) {
      out += (d ? "," : "") + (dims[d] < 0 ? std::string("?") : std::to_string(dims[d]));
      const int64_t next = d < minorToMajor.size() ? minorToMajor[d] : int64_t(dims.size() - 1 - d);
      layout += (d ? "," : "") + std::to_string(next);
    }
    return out + "]" + layout + "}";
  }
  static std::string shapeText(const TensorSpec &spec) { return shapeText(spec.dtype, spec.dims, spec.minorToMajor); }
  static std::string shapeText(const Function &function, const std::vector<SlotId> &slots) {
    std::string out;
    for (SlotId id : slots) {
      const Slot &slot = function.slots[id];
      std::vector<int64_t> dims;
      for (const Dim &dim : slot.dims)
        dims.push_back(dim.isRuntime ? -1 : dim.value);
      out += (out.empty() ? "" : ", ") + shapeText(slot.dtype, dims, {});
    }
    return slots.size() > 1 ? "(" + out + ")" : out;
  }

  uint32_t node(const std::string &name, std::string_view kind, std::string_view operations, uint32_t location, unsigned depth,
                const std::string &shape, const std::string &sharding = "") {
    if (count == kMostGraphNodes) {
      ++leftOut;
      return kNone;
    }
    const std::string place(locationOf(program, location));
    nodes += (nodes.empty() ? "" : ",\n") + std::string("[") + jsonText(name) + "," + jsonText(kind) + "," + jsonText(operations) + "," +
             jsonText(place) + "," + std::to_string(depth) + "," + jsonText(shape) + "," + jsonText(sharding) + "]";
    return count++;
  }

  static SlotId memoryOf(const Function &function, SlotId id) {
    return function.slots[id].kind == Slot::Kind::View ? function.slots[id].index : id;
  }

  void edge(const Function &function, SlotId read, Writers &writers, uint32_t to) {
    auto found = writers.find(memoryOf(function, read));
    if (found == writers.end() || found->second == to || found->second == kNone || to == kNone)
      return; // a constant, or what did not fit
    edges += (edges.empty() ? "" : ",") + std::to_string(found->second) + "," + std::to_string(to) + "," + std::to_string(function.slots[read].bytes);
  }

  void steps(const Function &function, const Steps &all, Writers &writers, unsigned depth) {
    for (const Step &step : all) {
      if (auto *kernel = std::get_if<KernelStep>(&step.body)) {
        const Kernel &code = program.kernels[kernel->kernel];
        std::string operations;
        for (size_t i = 0; i < code.ops.size() && operations.size() < 200; ++i)
          operations += (i ? ", " : "") + code.ops[i];
        auto emitter = emitters.find(code.symbol);
        uint32_t to = node(code.name.empty() ? code.symbol : code.name, emitter == emitters.end() ? "generic" : emitter->second, operations,
                           step.location, depth, shapeText(function, kernel->outputs));
        for (SlotId id : kernel->inputs)
          edge(function, id, writers, to);
        for (SlotId id : kernel->outputs)
          writers[memoryOf(function, id)] = to;
        continue;
      }
      std::vector<SlotId> reads, writes;
      std::visit([&](const auto &body) { slotsOf(body, reads, writes); }, step.body);
      const bool isCollective = std::holds_alternative<CollectiveStep>(step.body);
      if (std::holds_alternative<SetDimsStep>(step.body))
        continue;
      uint32_t to = node(stepName(step), isCollective ? "collective" : "step", "", step.location, depth, shapeText(function, writes));
      for (SlotId id : reads)
        edge(function, id, writers, to);
      if (auto *loop = std::get_if<LoopStep>(&step.body)) {
        for (const auto &carried : loop->carried) {
          edge(function, carried.state, writers, to);
          writers[memoryOf(function, carried.state)] = to;
        }
        steps(function, loop->cond, writers, depth + 1);
        steps(function, loop->body, writers, depth + 1);
        for (const auto &carried : loop->carried)
          writers[memoryOf(function, carried.state)] = to;
      } else if (auto *cond = std::get_if<CondStep>(&step.body)) {
        for (const Steps &branch : cond->branches)
          steps(function, branch, writers, depth + 1);
      } else if (auto *call = std::get_if<CallStep>(&step.body)) {
        const Function &callee = program.functions[call->function];
        Writers inner;
        for (size_t i = 0; i < callee.arguments.size(); ++i)
          inner[callee.arguments[i]] = to;
        steps(callee, callee.steps, inner, depth + 1);
      }
      for (SlotId id : writes)
        writers[memoryOf(function, id)] = to;
    }
  }

  static void slotsOf(const KernelStep &, std::vector<SlotId> &, std::vector<SlotId> &) {}
  static void slotsOf(const LoopStep &, std::vector<SlotId> &, std::vector<SlotId> &) {}
  static void slotsOf(const SetDimsStep &, std::vector<SlotId> &, std::vector<SlotId> &) {}
  static void slotsOf(const CondStep &s, std::vector<SlotId> &reads, std::vector<SlotId> &) { reads = {s.index}; }
  static void slotsOf(const CallStep &s, std::vector<SlotId> &reads, std::vector<SlotId> &writes) { reads = s.arguments, writes = s.results; }
  static void slotsOf(const CopyStep &s, std::vector<SlotId> &reads, std::vector<SlotId> &writes) { reads = {s.source}, writes = {s.destination}; }
  static void slotsOf(const FillStep &s, std::vector<SlotId> &, std::vector<SlotId> &writes) { writes = {s.destination}; }
  static void slotsOf(const DeviceIdStep &s, std::vector<SlotId> &, std::vector<SlotId> &writes) { writes = {s.destination}; }
  static void slotsOf(const CollectiveStep &s, std::vector<SlotId> &reads, std::vector<SlotId> &writes) { reads = s.arguments, writes = s.results; }
  static void slotsOf(const CustomCallStep &s, std::vector<SlotId> &reads, std::vector<SlotId> &writes) { reads = s.arguments, writes = s.results; }
  static void slotsOf(const TransferStep &s, std::vector<SlotId> &reads, std::vector<SlotId> &writes) {
    const bool isRead = s.kind == TransferStep::Kind::Outfeed || s.kind == TransferStep::Kind::Send;
    (isRead ? reads : writes) = s.slots;
  }

  const Program &program;
  std::unordered_map<std::string_view, std::string_view> emitters;
  std::string nodes, edges;
  uint32_t count = 0;
  size_t leftOut = 0;
};

} // namespace

std::string graphJson(const Program &program) { return GraphWriter(program).run(); }

uint64_t mostPieces(const KernelStep &step) {
  if (!step.end.isConstant())
    return 0;
  if (step.picosecondsPerIteration == 0)
    return 1;
  const auto end = uint64_t(std::max<int64_t>(1, step.end.terms[0].value)), piece = std::max<uint64_t>(1, step.granularity);
  return (end + piece - 1) / piece;
}

} // namespace millrace::runtime::profile
