// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Validate.cpp - Is this program safe to execute? ---------------------===//
// After validate() succeeds the executor indexes tables and memory without checks of its own, except for what depends
// on run-time dims.
#include "runtime/base/Alignment.h"
#include "runtime/program/Format.h"
#include "runtime/program/Limits.h"

#include <algorithm>
#include <map>
#include <set>

namespace millrace::runtime {
namespace {

std::string str(uint64_t value) { return std::to_string(value); }

/// The checks of one function. Every check returns the first violation.
class Checker {
public:
  Checker(const Program &program, const Function &function) : program(program), f(function) {}
  Status run();

private:
  Status error(std::string message) const {
    std::string where = "function '" + f.name + "'";
    if (std::string_view place = locationOf(program, location); !place.empty())
      where += " at " + std::string(place);
    return invalidArgument(where + ": " + message);
  }
  Status checkSlots();
  Status checkSteps(const Steps &steps, unsigned depth);
  Status checkId(SlotId id) const {
    return id < f.slots.size() ? Status() : error("slot " + str(id) + " of " + str(f.slots.size()));
  }
  Status checkRead(const std::vector<SlotId> &ids) const {
    for (SlotId id : ids)
      MILLRACE_TRY(checkId(id));
    return Status();
  }
  Status checkWrite(SlotId id) const {
    MILLRACE_TRY(checkId(id));
    Slot::Kind kind = f.slots[id].kind == Slot::Kind::View ? f.slots[f.slots[id].index].kind : f.slots[id].kind;
    if (kind == Slot::Kind::Argument || kind == Slot::Kind::Constant)
      return error("slot " + str(id) + " is written but read-only");
    return Status();
  }
  Status checkWrite(const std::vector<SlotId> &ids) const {
    for (SlotId id : ids)
      MILLRACE_TRY(checkWrite(id));
    return Status();
  }
  Status checkExpr(const DimExpr &expr) const;
  Status checkSizeChecks(const std::vector<SizeCheck> &checks) const;
  /// Checks that two shapes agree as far as they are static.
  Status checkSameShape(const Slot &a, const Slot &b, const char *what) const {
    if (a.dtype != b.dtype)
      return error(std::string(what) + ": element types " + std::string(name(a.dtype)) + " and " +
                   std::string(name(b.dtype)) + " differ");
    if (a.isStatic() && b.isStatic() && a.bytes != b.bytes)
      return error(std::string(what) + ": sizes " + str(a.bytes) + " and " + str(b.bytes) + " differ");
    return Status();
  }
  /// Checks that the executor may put a table of so many entries on the stack.
  Status checkTable(uint64_t entries, const char *what) const {
    return entries <= kMaxTableEntries ? Status() : error(str(entries) + " " + what + ", at most " + str(kMaxTableEntries) + " are possible");
  }
  Status checkSameRank(const Slot &a, const Slot &b, const char *what) const {
    MILLRACE_TRY(checkSameShape(a, b, what));
    if (a.dims.size() != b.dims.size())
      return error(std::string(what) + ": ranks " + str(a.dims.size()) + " and " + str(b.dims.size()) + " differ");
    return Status();
  }
  Status checkScalar(SlotId id, std::initializer_list<DType> types, const char *what) const {
    MILLRACE_TRY(checkId(id));
    const Slot &s = f.slots[id];
    if (!s.isStatic() || s.bytes != byteSize(s.dtype) || std::find(types.begin(), types.end(), s.dtype) == types.end())
      return error(std::string(what) + " (slot " + str(id) + ") has a wrong type");
    return Status();
  }
  Status check(const KernelStep &s, unsigned);
  Status check(const LoopStep &s, unsigned depth);
  Status check(const CondStep &s, unsigned depth);
  Status check(const CallStep &s, unsigned);
  Status check(const CopyStep &s, unsigned);
  Status check(const FillStep &s, unsigned);
  Status check(const SetDimsStep &s, unsigned);
  Status check(const CollectiveStep &s, unsigned);
  Status checkPair(const CollectiveStep &s, std::map<uint32_t, const CollectiveStep *> &started);
  Status check(const CustomCallStep &s, unsigned);
  Status check(const DeviceIdStep &s, unsigned);
  Status check(const TransferStep &s, unsigned);

  const Program &program;
  const Function &f;
  uint32_t location = kNone;
  std::set<uint32_t> pairs; ///< ids of the function's collectives in two halves
};

/// Returns a type such as "f32[2,3]".
std::string shapeText(const Slot &s) {
  std::string text = std::string(name(s.dtype)) + "[";
  for (size_t d = 0; d < s.dims.size(); ++d)
    text += (d ? "," : "") + std::to_string(s.dims[d].value);
  return text + "]";
}

Status Checker::checkSlots() {
  for (size_t i = 0; i < f.slots.size(); ++i) {
    const Slot &s = f.slots[i];
    std::string where = "slot " + str(i);
    if (s.dtype == DType::Invalid)
      return error(where + " has no element type");
    if (s.dims.size() > 64)
      return error(where + " has rank " + str(s.dims.size()) + ", at most 64 is possible");
    for (const Dim &d : s.dims)
      if (d.isRuntime ? uint64_t(d.value) >= f.numDims : d.value < 0)
        return error(where + " has dimension " + std::to_string(d.value) + " out of range");
    if (s.isStatic()) {
      const std::optional<uint64_t> bytes = bytesOfSizes(byteSize(s.dtype), s.dims.size(), [&](size_t d) { return s.dims[d].value; });
      if (!bytes)
        return error(where + " of shape " + shapeText(s) + " takes more than " + str(maxValueBytes) + " bytes");
      if (*bytes != s.bytes)
        return error(where + ": expects " + str(*bytes) + " bytes for its shape, but got " + str(s.bytes));
    } else if (s.kind == Slot::Kind::Arena || s.kind == Slot::Kind::Constant || s.kind == Slot::Kind::View) {
      return error(where + " has run-time dims but a kind that is static");
    }
    switch (s.kind) {
    case Slot::Kind::Argument:
      if (s.index >= f.arguments.size() || f.arguments[s.index] != i)
        return error(where + " is not argument " + str(s.index));
      break;
    case Slot::Kind::Result:
      if (s.index >= f.results.size() || f.results[s.index] != i)
        return error(where + " is not result " + str(s.index));
      break;
    case Slot::Kind::Constant:
      if (s.index >= program.constants.size())
        return error(where + ": constant " + str(s.index) + " of " + str(program.constants.size()));
      if (program.constants[s.index].size != s.bytes)
        return error(where + ": constant " + str(s.index) + " has " + str(program.constants[s.index].size) +
                     " bytes, the slot " + str(s.bytes));
      break;
    case Slot::Kind::Arena:
      if (s.offset % kBufferAlignment != 0 || s.offset > f.arenaBytes || s.bytes > f.arenaBytes - s.offset)
        return error(where + ": bytes [" + str(s.offset) + ", +" + str(s.bytes) + ") are not in the arena of " +
                     str(f.arenaBytes));
      break;
    case Slot::Kind::Dynamic:
      break;
    case Slot::Kind::View: {
      if (s.index >= f.slots.size() || f.slots[s.index].kind == Slot::Kind::View || !f.slots[s.index].isStatic() ||
          f.slots[s.index].kind == Slot::Kind::Dynamic)
        return error(where + " views slot " + str(s.index) + ", which cannot be viewed");
      const Slot &base = f.slots[s.index];
      size_t element = std::max<size_t>(1, isComplex(s.dtype) ? byteSize(s.dtype) / 2 : byteSize(s.dtype));
      if (s.offset > base.bytes || s.bytes > base.bytes - s.offset || s.offset % element != 0)
        return error(where + ": bytes [" + str(s.offset) + ", +" + str(s.bytes) + ") are not in slot " + str(s.index));
      break;
    }
    }
  }
  for (size_t i = 0; i < f.arguments.size(); ++i)
    if (f.arguments[i] >= f.slots.size() || f.slots[f.arguments[i]].kind != Slot::Kind::Argument ||
        f.slots[f.arguments[i]].index != i)
      return error("argument " + str(i) + " has no slot");
  for (size_t i = 0; i < f.results.size(); ++i)
    if (f.results[i] >= f.slots.size() || f.slots[f.results[i]].kind != Slot::Kind::Result ||
        f.slots[f.results[i]].index != i)
      return error("result " + str(i) + " has no slot");
  return Status();
}

Status Checker::checkExpr(const DimExpr &expr) const {
  size_t depth = 0;
  for (const DimExpr::Term &t : expr.terms) {
    if (t.op == DimExpr::Op::Constant) {
      ++depth;
    } else if (t.op == DimExpr::Op::Dim) {
      if (uint64_t(t.value) >= f.numDims)
        return error("expression uses dim " + std::to_string(t.value) + " of " + str(f.numDims));
      ++depth;
    } else if (depth < 2) {
      return error("malformed dim expression");
    } else {
      --depth;
    }
    if (depth > kMaxSizeStack)
      return error("dim expression is nested too deeply");
  }
  return depth == 1 ? Status() : error("malformed dim expression");
}

Status Checker::checkSizeChecks(const std::vector<SizeCheck> &checks) const {
  for (const SizeCheck &c : checks) {
    MILLRACE_TRY(checkExpr(c.size));
    MILLRACE_TRY(checkExpr(c.bound));
    if (c.location != kNone && c.location >= program.locations.size())
      return error("location " + str(c.location) + " of " + str(program.locations.size()));
  }
  return Status();
}

Status Checker::check(const KernelStep &s, unsigned) {
  if (s.kernel >= program.kernels.size())
    return error("kernel " + str(s.kernel) + " of " + str(program.kernels.size()));
  MILLRACE_TRY(checkTable(s.inputs.size() + s.outputs.size() + 1, "operands, results and scratch of a kernel"));
  MILLRACE_TRY(checkTable(s.dims.size(), "sizes of a kernel"));
  MILLRACE_TRY(checkRead(s.inputs));
  MILLRACE_TRY(checkWrite(s.outputs));
  for (uint32_t d : s.dims)
    if (d >= f.numDims)
      return error("kernel uses dim " + str(d) + " of " + str(f.numDims));
  if (s.granularity == 0)
    return error("kernel granularity is 0");
  if (s.scratchBytes > maxValueBytes)
    return error("kernel scratch of " + str(s.scratchBytes) + " bytes");
  return checkExpr(s.end);
}

Status Checker::check(const LoopStep &s, unsigned depth) {
  MILLRACE_TRY(checkScalar(s.predicate, {DType::I1}, "loop predicate"));
  MILLRACE_TRY(checkTable(s.carried.size(), "states of a loop"));
  std::set<SlotId> states;
  uint64_t sizes = 0;
  for (const LoopStep::Carried &c : s.carried) {
    MILLRACE_TRY(checkWrite(c.state));
    MILLRACE_TRY(checkId(c.next));
    if (f.slots[c.state].kind == Slot::Kind::View)
      return error("loop state in slot " + str(c.state) + " is a view");
    if (!states.insert(c.state).second)
      return error("two loop states in slot " + str(c.state));
    MILLRACE_TRY(checkSameRank(f.slots[c.state], f.slots[c.next], "loop state"));
    sizes += f.slots[c.next].dims.size();
  }
  MILLRACE_TRY(checkTable(sizes, "sizes of a loop's states"));
  MILLRACE_TRY(checkSteps(s.cond, depth + 1));
  return checkSteps(s.body, depth + 1);
}

Status Checker::check(const CondStep &s, unsigned depth) {
  MILLRACE_TRY(checkScalar(s.index, {DType::I1, DType::I32}, "branch index"));
  if (s.branches.empty() || (f.slots[s.index].dtype == DType::I1 && s.branches.size() != 2))
    return error("branch step with " + str(s.branches.size()) + " branches");
  for (const Steps &branch : s.branches)
    MILLRACE_TRY(checkSteps(branch, depth + 1));
  return Status();
}

Status Checker::check(const CallStep &s, unsigned) {
  if (s.function >= program.functions.size())
    return error("calls function " + str(s.function) + " of " + str(program.functions.size()));
  const Function &callee = program.functions[s.function];
  if (s.arguments.size() != callee.arguments.size() || s.results.size() != callee.results.size())
    return error("calls '" + callee.name + "' with " + str(s.arguments.size()) + " arguments and " +
                 str(s.results.size()) + " results");
  MILLRACE_TRY(checkRead(s.arguments));
  MILLRACE_TRY(checkWrite(s.results));
  for (size_t i = 0; i < s.arguments.size(); ++i)
    if (callee.arguments[i] < callee.slots.size())
      MILLRACE_TRY(checkSameRank(f.slots[s.arguments[i]], callee.slots[callee.arguments[i]], "call argument"));
  for (size_t i = 0; i < s.results.size(); ++i)
    if (callee.results[i] < callee.slots.size()) {
      const Slot &mine = f.slots[s.results[i]], &other = callee.slots[callee.results[i]];
      MILLRACE_TRY(checkSameRank(mine, other, "call result"));
      if (mine.isStatic() && mine.kind != Slot::Kind::Dynamic && !other.isStatic())
        return error("call of '" + callee.name + "': result " + str(i) + " has run-time dims in the callee only");
    }
  if (s.arenaOffset % kBufferAlignment != 0 || s.arenaOffset > f.arenaBytes || callee.arenaBytes > f.arenaBytes - s.arenaOffset)
    return error("the arena of '" + callee.name + "' (" + str(callee.arenaBytes) + " bytes at " + str(s.arenaOffset) +
                 ") is not inside the caller's (" + str(f.arenaBytes) + " bytes)");
  return Status();
}

Status Checker::check(const CopyStep &s, unsigned) {
  MILLRACE_TRY(checkId(s.source));
  MILLRACE_TRY(checkWrite(s.destination));
  return checkSameShape(f.slots[s.source], f.slots[s.destination], "copy");
}

Status Checker::check(const FillStep &s, unsigned) {
  MILLRACE_TRY(checkWrite(s.destination));
  if (s.pattern.empty() || s.pattern.size() != byteSize(f.slots[s.destination].dtype))
    return error("fill pattern of " + str(s.pattern.size()) + " bytes");
  return Status();
}

Status Checker::check(const SetDimsStep &s, unsigned) {
  for (const SetDimsStep::Entry &e : s.entries) {
    if (e.dim >= f.numDims)
      return error("sets dim " + str(e.dim) + " of " + str(f.numDims));
    if (e.source == kNone) {
      MILLRACE_TRY(checkExpr(e.expr));
      continue;
    }
    MILLRACE_TRY(checkId(e.source));
    const Slot &source = f.slots[e.source];
    if (!isInteger(source.dtype))
      return error("dim read from a tensor of " + std::string(name(source.dtype)));
    if (source.isStatic() && e.element >= source.bytes / byteSize(source.dtype))
      return error("dim read from element " + str(e.element) + " of slot " + str(e.source));
  }
  return checkSizeChecks(s.checks);
}

Status Checker::check(const CollectiveStep &s, unsigned) {
  using Kind = CollectiveStep::Kind;
  MILLRACE_TRY(checkRead(s.arguments));
  MILLRACE_TRY(checkWrite(s.results));
  if (s.results.empty() || s.arguments.size() != s.results.size() + s.dynamicRoot)
    return error("collective with " + str(s.arguments.size()) + " operands and " + str(s.results.size()) + " results");
  bool reduces = s.kind == Kind::AllReduce || s.kind == Kind::ReduceScatter || s.kind == Kind::CollectiveReduce;
  if (reduces && s.reducer == kNone && s.reduction == CollectiveStep::Reduction::None)
    return error("collective without reduction");
  if (s.reducer != kNone && s.reducer >= program.kernels.size())
    return error("reducer kernel " + str(s.reducer) + " of " + str(program.kernels.size()));
  if (s.reducer != kNone && s.reducerEnd < 1)
    return error("reducer over a range of " + std::to_string(s.reducerEnd));
  if (s.dynamicRoot) {
    const Slot &root = f.slots[s.arguments.back()];
    uint64_t size = byteSize(root.dtype);
    if (!isInteger(root.dtype) || (root.isStatic() && root.bytes != size && root.bytes != size * s.results.size()))
      return error("roots that are neither one integer nor one for each result");
  }
  for (size_t i = 0; i < s.results.size(); ++i) {
    const Slot &a = f.slots[s.arguments[i]], &r = f.slots[s.results[i]];
    if (s.kind == Kind::AllGather || s.kind == Kind::AllToAll || s.kind == Kind::ReduceScatter) {
      if (a.dtype != r.dtype || a.dims.size() != r.dims.size())
        return error("collective changes the element type or rank");
      for (int64_t d : {s.dimension, s.kind == Kind::AllToAll ? s.dimension2 : 0})
        if (d < 0 || uint64_t(d) >= a.dims.size())
          return error("collective dimension " + std::to_string(d) + " of " + str(a.dims.size()));
    } else {
      MILLRACE_TRY(checkSameShape(a, r, "collective"));
    }
  }
  if (s.kind == Kind::AllToAll && s.splitCount <= 0)
    return error("all_to_all with split count " + std::to_string(s.splitCount));
  for (const auto &group : s.groups)
    if (s.kind == Kind::CollectivePermute && group.size() != 2)
      return error("collective_permute pair of " + str(group.size()) + " ids");
  return Status();
}

Status Checker::check(const CustomCallStep &s, unsigned) {
  MILLRACE_TRY(checkRead(s.arguments));
  MILLRACE_TRY(checkWrite(s.results));
  const auto &targets = program.customCallTargets;
  if (std::find(targets.begin(), targets.end(), s.target) == targets.end())
    return error("custom call target '" + s.target + "' is not listed in the program");
  auto checkLayouts = [&](const std::vector<std::vector<int64_t>> &layouts, const std::vector<SlotId> &ids) {
    if (!layouts.empty() && layouts.size() != ids.size())
      return false;
    for (size_t i = 0; i < layouts.size(); ++i) {
      std::set<int64_t> seen(layouts[i].begin(), layouts[i].end());
      size_t rank = f.slots[ids[i]].dims.size();
      if (layouts[i].size() != rank || seen.size() != rank || (rank && (*seen.begin() != 0 || *seen.rbegin() != int64_t(rank) - 1)))
        return false;
    }
    return true;
  };
  if (!checkLayouts(s.argumentLayouts, s.arguments) || !checkLayouts(s.resultLayouts, s.results))
    return error("custom call '" + s.target + "' has a malformed layout");
  for (auto [operand, result] : s.aliases) {
    if (operand >= s.arguments.size() || result >= s.results.size())
      return error("custom call '" + s.target + "' aliases an operand or result it does not have");
    MILLRACE_TRY(checkSameShape(f.slots[s.arguments[operand]], f.slots[s.results[result]], "custom call alias"));
  }
  return Status();
}

Status Checker::check(const DeviceIdStep &s, unsigned) {
  MILLRACE_TRY(checkWrite(s.destination));
  if (s.kind == DeviceIdStep::Kind::RandomSeed)
    return checkScalar(s.destination, {DType::U64}, "random seed");
  return checkScalar(s.destination, {DType::U32}, "device id");
}

Status Checker::check(const TransferStep &s, unsigned) {
  bool writes = s.kind == TransferStep::Kind::Infeed || s.kind == TransferStep::Kind::Recv;
  return writes ? checkWrite(s.slots) : checkRead(s.slots);
}

Status Checker::checkSteps(const Steps &steps, unsigned depth) {
  if (depth > maxNesting)
    return error("steps are nested more than " + str(maxNesting) + " deep");
  std::map<uint32_t, const CollectiveStep *> started;
  for (const Step &s : steps) {
    if (s.location != kNone && s.location >= program.locations.size())
      return error("location " + str(s.location) + " of " + str(program.locations.size()));
    location = s.location;
    MILLRACE_TRY(std::visit([&](const auto &body) { return check(body, depth); }, s.body));
    if (const auto *collective = std::get_if<CollectiveStep>(&s.body))
      MILLRACE_TRY(checkPair(*collective, started));
  }
  if (!started.empty())
    return error("pair " + str(started.begin()->first) + " of a collective is started, but not done in the same list of steps");
  return Status();
}

Status Checker::checkPair(const CollectiveStep &s, std::map<uint32_t, const CollectiveStep *> &started) {
  using Phase = CollectiveStep::Phase;
  if (s.phase == Phase::Both)
    return Status();
  if (s.phase == Phase::Start) {
    if (!pairs.insert(s.pair).second)
      return error("pair " + str(s.pair) + " of a collective is started twice");
    started[s.pair] = &s;
    return Status();
  }
  auto start = started.find(s.pair);
  if (start == started.end())
    return error("pair " + str(s.pair) + " of a collective is done, but not started in the same list of steps");
  CollectiveStep expected = *start->second;
  expected.phase = Phase::Done;
  if (!(s == expected))
    return error("the halves of pair " + str(s.pair) + " are different collectives");
  started.erase(start);
  return Status();
}

Status Checker::run() {
  if (f.arenaBytes > maxValueBytes)
    return error("temporaries of " + str(f.arenaBytes) + " bytes, at most " + str(maxValueBytes) + " are possible");
  if (f.numDims > (1u << 24))
    return error(str(f.numDims) + " run-time dims");
  MILLRACE_TRY(checkSlots());
  for (const DimBinding &b : f.dimBindings) {
    if (b.dim >= f.numDims)
      return error("binds dim " + str(b.dim) + " of " + str(f.numDims));
    if (b.argument == kNone)
      MILLRACE_TRY(checkExpr(b.expr));
    else if (b.argument >= f.arguments.size() || b.axis >= f.slots[f.arguments[b.argument]].dims.size())
      return error("binds a dim to axis " + str(b.axis) + " of argument " + str(b.argument) + ", which does not exist");
  }
  MILLRACE_TRY(checkSizeChecks(f.checks));
  return checkSteps(f.steps, 0);
}

/// Checks that calls are acyclic, depth-first: functions on the stack are 1, finished ones 2.
Status checkAcyclic(const Program &program) {
  std::vector<std::vector<uint32_t>> callees(program.functions.size());
  auto collect = [&](auto &self, const Steps &steps, std::vector<uint32_t> &list) -> void {
    for (const Step &s : steps) {
      if (const auto *call = std::get_if<CallStep>(&s.body))
        list.push_back(call->function);
      if (const auto *loop = std::get_if<LoopStep>(&s.body)) {
        self(self, loop->cond, list);
        self(self, loop->body, list);
      }
      if (const auto *cond = std::get_if<CondStep>(&s.body))
        for (const Steps &branch : cond->branches)
          self(self, branch, list);
    }
  };
  for (size_t i = 0; i < program.functions.size(); ++i)
    collect(collect, program.functions[i].steps, callees[i]);
  std::vector<uint8_t> state(program.functions.size(), 0);
  for (uint32_t root = 0; root < program.functions.size(); ++root) {
    if (state[root])
      continue;
    std::vector<std::pair<uint32_t, size_t>> stack = {{root, 0}};
    state[root] = 1;
    while (!stack.empty()) {
      auto &[index, next] = stack.back();
      if (next == callees[index].size()) {
        state[index] = 2;
        stack.pop_back();
        continue;
      }
      uint32_t callee = callees[index][next++];
      if (state[callee] == 1)
        return invalidArgument("function '" + program.functions[callee].name + "' calls itself");
      if (state[callee] == 0) {
        state[callee] = 1;
        stack.push_back({callee, 0});
        if (stack.size() > 1000)
          return invalidArgument("calls are nested more than 1000 deep");
      }
    }
  }
  return Status();
}

Status checkSpec(const TensorSpec &spec, const Slot &slot, const std::string &what) {
  if (spec.dtype != slot.dtype || spec.dims.size() != slot.dims.size())
    return invalidArgument(what + ": the slot has another type than the program states");
  if (!spec.bounds.empty() && spec.bounds.size() != spec.dims.size())
    return invalidArgument(what + ": expects " + str(spec.dims.size()) + " bounds, but got " + str(spec.bounds.size()));
  for (size_t i = 0; i < spec.dims.size(); ++i) {
    if (spec.dims[i] != kDynamic && spec.dims[i] < 0)
      return invalidArgument(what + ": dimension " + std::to_string(spec.dims[i]));
    if (slot.dims[i].isRuntime != (spec.dims[i] == kDynamic) ||
        (!slot.dims[i].isRuntime && slot.dims[i].value != spec.dims[i]))
      return invalidArgument(what + ": the slot has another shape than the program states");
  }
  if (!spec.minorToMajor.empty()) {
    bool rowMajor = spec.minorToMajor.size() == spec.dims.size();
    for (size_t i = 0; rowMajor && i < spec.dims.size(); ++i)
      rowMajor = spec.minorToMajor[i] == int64_t(spec.dims.size() - 1 - i);
    if (!rowMajor)
      return unimplemented(what + ": only row-major layouts are supported");
  }
  return Status();
}

/// Checks that the function exists, reads arguments of the program that keep their memory, and returns the values that the entry function reads.
Status checkPreparation(const Program &program) {
  const Preparation &preparation = program.preparation;
  if (!preparation.exists())
    return preparation.results.empty() && preparation.arguments.empty() ? Status() : invalidArgument("a preparation without a function");
  if (preparation.function >= program.functions.size() || preparation.function == program.entry)
    return invalidArgument("the preparation is function " + str(preparation.function) + ", which does not exist or is the entry function");
  const Function &function = program.functions[preparation.function], &entry = program.functions[program.entry];
  if (function.arguments.size() != preparation.arguments.size() || function.results.size() != preparation.results.size())
    return invalidArgument("the preparation has another number of arguments or results than the program states");
  for (size_t i = 0; i < preparation.arguments.size(); ++i) {
    uint32_t k = preparation.arguments[i];
    if (k >= program.arguments.size() || program.arguments[k].donated)
      return invalidArgument("the preparation reads argument " + str(k) + ", which does not exist or is donated");
    MILLRACE_TRY(checkSpec(program.arguments[k], function.slots[function.arguments[i]], "argument " + str(i) + " of the preparation"));
  }
  for (size_t i = 0; i < preparation.results.size(); ++i) {
    const TensorSpec &spec = preparation.results[i];
    MILLRACE_TRY(checkSpec(spec, function.slots[function.results[i]], "result " + str(i) + " of the preparation"));
    MILLRACE_TRY(checkSpec(spec, entry.slots[entry.arguments[program.arguments.size() + i]], "prepared argument " + str(i)));
    if (std::find(spec.dims.begin(), spec.dims.end(), kDynamic) != spec.dims.end())
      return invalidArgument("result " + str(i) + " of the preparation has a run-time shape");
  }
  return Status();
}

} // namespace

Status validate(const Program &program) {
  if (program.functions.empty() || program.entry >= program.functions.size())
    return invalidArgument("program without entry function");
  if (program.numReplicas == 0 || program.numPartitions == 0 ||
      uint64_t(program.numReplicas) * program.numPartitions > (1u << 20))
    return invalidArgument("program for " + str(program.numReplicas) + " replicas and " + str(program.numPartitions) +
                           " partitions");
  if (!program.locationSources.empty() && program.locationSources.size() != program.locations.size())
    return invalidArgument("expects the source of each of " + str(program.locations.size()) + " locations, but got " +
                           str(program.locationSources.size()));
  for (const Kernel &kernel : program.kernels) {
    if (kernel.symbol.empty())
      return invalidArgument("kernel '" + kernel.name + "' has no symbol");
    if (kernel.location != kNone && kernel.location >= program.locations.size())
      return invalidArgument("kernel '" + kernel.name + "': location " + str(kernel.location) + " of " + str(program.locations.size()));
  }
  if (!program.kernels.empty() && program.objects.empty())
    return invalidArgument("program with kernels but without objects");
  for (const auto *list : {&program.constants, &program.objects})
    for (const Constant &c : *list)
      if (!c.data && c.size)
        return invalidArgument("constant without data");
  // The slots of calls are checked first, because Checker follows calls one level.
  for (const Function &f : program.functions) {
    for (SlotId id : f.arguments)
      if (id >= f.slots.size())
        return invalidArgument("function '" + f.name + "': argument slot " + str(id) + " of " + str(f.slots.size()));
    for (SlotId id : f.results)
      if (id >= f.slots.size())
        return invalidArgument("function '" + f.name + "': result slot " + str(id) + " of " + str(f.slots.size()));
  }
  for (const Function &f : program.functions)
    MILLRACE_TRY(Checker(program, f).run());
  MILLRACE_TRY(checkAcyclic(program));

  const Function &entry = program.functions[program.entry];
  const Preparation &preparation = program.preparation;
  if (entry.arguments.size() != program.arguments.size() + preparation.results.size() || entry.results.size() != program.results.size())
    return invalidArgument("the entry function has another number of arguments or results than the program");
  for (size_t i = 0; i < program.arguments.size(); ++i)
    MILLRACE_TRY(checkSpec(program.arguments[i], entry.slots[entry.arguments[i]], "argument " + str(i)));
  MILLRACE_TRY(checkPreparation(program));
  // A launch binds dims before it prepares values, whose sizes are known.
  for (const DimBinding &b : entry.dimBindings)
    if (b.argument != kNone && b.argument >= program.arguments.size())
      return invalidArgument("the entry function binds a dim to prepared argument " + str(b.argument - program.arguments.size()));
  std::set<uint32_t> aliased;
  for (size_t i = 0; i < program.results.size(); ++i) {
    const Result &r = program.results[i];
    MILLRACE_TRY(checkSpec(r, entry.slots[entry.results[i]], "result " + str(i)));
    if (r.aliasArgument == kNone)
      continue;
    if (r.aliasArgument >= program.arguments.size() || !aliased.insert(r.aliasArgument).second)
      return invalidArgument("result " + str(i) + " aliases argument " + str(r.aliasArgument) +
                             ", which does not exist or is aliased twice");
    const Argument &a = program.arguments[r.aliasArgument];
    if (a.dtype != r.dtype || a.dims != r.dims ||
        std::find(r.dims.begin(), r.dims.end(), kDynamic) != r.dims.end())
      return invalidArgument("result " + str(i) + " aliases argument " + str(r.aliasArgument) +
                             " of another or a run-time shape");
  }
  return Status();
}

} // namespace millrace::runtime
