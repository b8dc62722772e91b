// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Plan.cpp - What is worked out once per program ----------------------===//
#include "runtime/base/Alignment.h"
#include "runtime/base/Hash.h"
#include "runtime/client/Executor.h"
#include "runtime/client/SizeChecks.h"
#include "runtime/collective/RemoteCalls.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace millrace::runtime {
namespace {

/// Calls `visit` for every slot that the steps and their nested steps mention.
template <typename Visit>
void forEachSlot(const Step &step, Visit visit);

template <typename Visit>
void forEachSlot(const Steps &steps, Visit visit) {
  for (const Step &s : steps)
    forEachSlot(s, visit);
}

template <typename Visit>
struct SlotVisitor {
  Visit visit;
  void list(const std::vector<SlotId> &ids) {
    for (SlotId id : ids)
      visit(id);
  }
  void operator()(const KernelStep &s) { list(s.inputs), list(s.outputs); }
  void operator()(const LoopStep &s) {
    visit(s.predicate);
    for (const LoopStep::Carried &c : s.carried)
      visit(c.state), visit(c.next);
    forEachSlot(s.cond, visit);
    forEachSlot(s.body, visit);
  }
  void operator()(const CondStep &s) {
    visit(s.index);
    for (const Steps &branch : s.branches)
      forEachSlot(branch, visit);
  }
  void operator()(const CallStep &s) { list(s.arguments), list(s.results); }
  void operator()(const CopyStep &s) { visit(s.source), visit(s.destination); }
  void operator()(const FillStep &s) { visit(s.destination); }
  void operator()(const SetDimsStep &s) {
    for (const SetDimsStep::Entry &e : s.entries)
      if (e.source != kNone)
        visit(e.source);
  }
  void operator()(const CollectiveStep &s) { list(s.arguments), list(s.results); }
  void operator()(const CustomCallStep &s) { list(s.arguments), list(s.results); }
  void operator()(const DeviceIdStep &s) { visit(s.destination); }
  void operator()(const TransferStep &s) { list(s.slots); }
};

template <typename Visit>
void forEachSlot(const Step &step, Visit visit) {
  std::visit(SlotVisitor<Visit>{visit}, step.body);
}

/// Returns the cost of steps without loops for the run-time dimensions `dims`; ~0 if `dims` is null and the cost depends on them.
uint64_t costOfSteps(const Steps &steps, const int64_t *dims) {
  constexpr uint64_t unknown = ~uint64_t(0), limit = uint64_t(1) << 50;
  uint64_t total = 0;
  for (const Step &s : steps) {
    if (const auto *kernel = std::get_if<KernelStep>(&s.body)) {
      if ((!dims && !kernel->end.isConstant()) || kernel->picosecondsPerIteration == 0)
        return unknown;
      StatusOr<int64_t> end = evaluate(kernel->end, dims);
      if (!end)
        return unknown;
      unsigned __int128 product =
          (unsigned __int128)kernel->picosecondsPerIteration * uint64_t(std::max<int64_t>(0, *end));
      if (product > limit)
        return unknown;
      total += uint64_t(product) + 100'000;
    } else if (std::holds_alternative<CopyStep>(s.body) || std::holds_alternative<FillStep>(s.body) ||
               std::holds_alternative<DeviceIdStep>(s.body)) {
      total += 1'000'000;
    } else {
      return unknown;
    }
    if (total > limit)
      return unknown;
  }
  return total;
}

class Planner {
public:
  explicit Planner(Plan &plan) : plan(plan), program(*plan.program) {}

  Status run() {
    agree(program.numReplicas);
    agree(program.numPartitions);
    agreeOnTypes(program.arguments);
    agreeOnTypes(program.results);
    plan.functions.resize(program.functions.size());
    for (size_t i = 0; i < program.functions.size(); ++i)
      MILLRACE_TRY(planFunction(program.functions[i], plan.functions[i]));
    std::vector<uint8_t> done(program.functions.size(), 0);
    for (uint32_t i = 0; i < program.functions.size(); ++i)
      stackBytes(i, done);
    const Function &entry = program.functions[program.entry];
    plan.picoseconds = costOfSteps(entry.steps, nullptr);
    plan.hasDimsOfArguments = entry.numDims > 0 && std::all_of(entry.steps.begin(), entry.steps.end(), [](const Step &s) {
      return std::holds_alternative<KernelStep>(s.body) || std::holds_alternative<CopyStep>(s.body) || std::holds_alternative<FillStep>(s.body);
    });
    return Status();
  }

private:
  Status planFunction(const Function &f, Plan::FunctionPlan &fp) {
    fp.isCell.resize(f.slots.size());
    for (size_t i = 0; i < f.slots.size(); ++i) {
      const Slot &s = f.slots[i];
      fp.isCell[i] = s.kind == Slot::Kind::Dynamic || (s.kind == Slot::Kind::Result && !s.isStatic());
      fp.hasCells |= fp.isCell[i];
    }
    // A slot takes a pointer, a pointer to a cell, and its own cell; the dimensions follow. The size is rounded so that frames stay aligned.
    uint64_t perSlot = sizeof(void *) + (fp.hasCells ? sizeof(DynamicCell *) + sizeof(DynamicCell) : 0);
    fp.frameBytes = alignedBytes(f.slots.size() * perSlot + f.numDims * sizeof(int64_t));
    if (fp.hasCells) {
      std::vector<size_t> last(f.slots.size(), 0);
      std::vector<uint8_t> used(f.slots.size(), 0);
      for (size_t i = 0; i < f.steps.size(); ++i)
        forEachSlot(f.steps[i], [&](SlotId id) { last[id] = i, used[id] = 1; });
      fp.freeAfter.resize(f.steps.size());
      for (SlotId id = 0; id < f.slots.size(); ++id)
        if (f.slots[id].kind == Slot::Kind::Dynamic && used[id])
          fp.freeAfter[last[id]].push_back(id);
    }
    return planSteps(f, f.steps);
  }

  void agree(uint64_t value) { plan.agreement = hash64(&value, sizeof value, plan.agreement); }
  template <typename Spec>
  void agreeOnTypes(const std::vector<Spec> &specs) {
    for (const Spec &spec : specs) {
      agree(uint64_t(spec.dtype));
      for (int64_t dim : spec.dims)
        agree(uint64_t(dim));
    }
    agree(specs.size());
  }

  Status planSteps(const Function &f, const Steps &steps) {
    for (const Step &s : steps) {
      if (const auto *loop = std::get_if<LoopStep>(&s.body)) {
        planLoop(f, *loop);
        MILLRACE_TRY(planSteps(f, loop->cond));
        MILLRACE_TRY(planSteps(f, loop->body));
      } else if (const auto *cond = std::get_if<CondStep>(&s.body)) {
        for (const Steps &branch : cond->branches)
          MILLRACE_TRY(planSteps(f, branch));
      } else if (const auto *call = std::get_if<CustomCallStep>(&s.body)) {
        plan.mayWaitForCaller |= isForeignCustomCall(call->target);
        // A factory may call foreign code; its error gets the location, as an error of findCustomCall does.
        StatusOr<CustomCallFactory> factory = findCustomCall(call->target);
        StatusOr<CustomCallHandler> handler =
            factory ? (*factory)(*call) : StatusOr<CustomCallHandler>(factory.status());
        if (!handler)
          return locationOf(program, s.location).empty() ? handler.status() : handler.status().withContext(locationOf(program, s.location));
        plan.customCalls.emplace(call, *handler);
      } else if (const auto *collective = std::get_if<CollectiveStep>(&s.body)) {
        plan.meetsOthers = true;
        agree(signatureOf(*collective));
      } else if (const auto *transfer = std::get_if<TransferStep>(&s.body)) {
        agree(uint64_t(transfer->kind));
        agree(uint64_t(transfer->channel));
        (transfer->isHostTransfer ? plan.mayWaitForCaller : plan.meetsOthers) = true;
      }
    }
    return Status();
  }

  /// Returns the slots that exchange memory, beginning with pair `head`, when each slot takes the memory of the next: a state takes that of another
  /// state, which takes that of a third, and so on, up to a slot that is no state or is the first one again. Empty if one of the slots does not own
  /// its memory.
  static std::vector<SlotId> rotationFrom(const Function &f, const LoopStep &loop, size_t head) {
    std::vector<SlotId> slots{loop.carried[head].state};
    for (SlotId next = loop.carried[head].next; next != slots.front();) {
      if (std::count(slots.begin(), slots.end(), next))
        return {};
      slots.push_back(next);
      auto pair = std::find_if(loop.carried.begin(), loop.carried.end(), [&](const LoopStep::Carried &c) { return c.state == next; });
      if (pair == loop.carried.end())
        break;
      next = pair->next;
    }
    auto isFixed = [&](SlotId id) {
      const Slot &slot = f.slots[id];
      return slot.isStatic() && (slot.kind == Slot::Kind::Arena || slot.kind == Slot::Kind::Result) && slot.bytes == f.slots[slots.front()].bytes &&
             std::count_if(loop.carried.begin(), loop.carried.end(), [&](const LoopStep::Carried &c) { return c.next == id; }) <= 1;
    };
    return std::all_of(slots.begin(), slots.end(), isFixed) ? slots : std::vector<SlotId>();
  }

  /// Finds the rotations of more slots than the two of one pair.
  static void planRotations(const Function &f, const LoopStep &loop, const std::multiset<SlotId> &nexts, Plan::Loop &result) {
    std::set<SlotId> known;
    auto add = [&](size_t head) {
      const LoopStep::Carried &pair = loop.carried[head];
      if (pair.state == pair.next || known.count(pair.state))
        return;
      std::vector<SlotId> slots = rotationFrom(f, loop, head);
      bool isCycle = nexts.count(pair.state);
      if (slots.size() < (isCycle ? 2 : 3))
        return;
      known.insert(slots.begin(), slots.end());
      result.rotations.push_back(std::move(slots));
    };
    for (size_t i = 0; i < loop.carried.size(); ++i)
      if (!nexts.count(loop.carried[i].state))
        add(i);
    // A remaining pair whose state is the next of another pair is in a cycle, or follows a pair that is copied.
    for (size_t i = 0; i < loop.carried.size(); ++i)
      if (rotatesOn(loop, i))
        add(i);
  }

  /// Returns true if following the next slots leads back to pair `head`.
  static bool rotatesOn(const LoopStep &loop, size_t head) {
    SlotId at = loop.carried[head].next;
    for (size_t steps = 0; steps < loop.carried.size() && at != loop.carried[head].state; ++steps) {
      auto pair = std::find_if(loop.carried.begin(), loop.carried.end(), [&](const LoopStep::Carried &c) { return c.state == at; });
      if (pair == loop.carried.end())
        return false;
      at = pair->next;
    }
    return at == loop.carried[head].state;
  }

  /// Plans a loop. Slots may exchange addresses if they own their memory; views follow.
  void planLoop(const Function &f, const LoopStep &loop) {
    Plan::Loop result;
    std::set<SlotId> states;
    std::multiset<SlotId> nexts;
    for (const LoopStep::Carried &c : loop.carried)
      states.insert(c.state), nexts.insert(c.next);
    auto owns = [&](SlotId id) {
      Slot::Kind kind = f.slots[id].kind;
      return kind == Slot::Kind::Arena || kind == Slot::Kind::Result || kind == Slot::Kind::Dynamic;
    };
    auto isCell = [&](SlotId id) {
      return f.slots[id].kind == Slot::Kind::Dynamic ||
             (f.slots[id].kind == Slot::Kind::Result && !f.slots[id].isStatic());
    };
    planRotations(f, loop, nexts, result);
    std::set<SlotId> rotating;
    for (const std::vector<SlotId> &slots : result.rotations)
      rotating.insert(slots.begin(), slots.end());
    for (const LoopStep::Carried &c : loop.carried) {
      const Slot &state = f.slots[c.state], &next = f.slots[c.next];
      result.hasDims |= !state.isStatic() || !next.isStatic();
      if (c.state == c.next) {
        result.carries.push_back(Plan::Loop::Carry::Nothing);
      } else if (rotating.count(c.state)) {
        result.carries.push_back(Plan::Loop::Carry::Rotate);
      } else if (owns(c.state) && owns(c.next) && !states.count(c.next) && nexts.count(c.next) == 1 &&
                 isCell(c.state) == isCell(c.next)) {
        result.carries.push_back(Plan::Loop::Carry::Swap);
      } else {
        result.carries.push_back(Plan::Loop::Carry::Copy);
        result.staged |= states.count(c.next) != 0;
        if (state.isStatic())
          result.stagingBytes += alignedBytes(state.bytes);
      }
    }
    std::set<SlotId> moving = rotating;
    for (size_t i = 0; i < loop.carried.size(); ++i)
      if (result.carries[i] == Plan::Loop::Carry::Swap)
        moving.insert({loop.carried[i].state, loop.carried[i].next});
    for (SlotId id = 0; id < f.slots.size(); ++id)
      if (f.slots[id].kind == Slot::Kind::View && moving.count(f.slots[id].index))
        result.views.push_back(id);
    if (result.staged)
      plan.stagingBytes = std::max(plan.stagingBytes, result.stagingBytes);
    else if (!result.hasDims)
      result.small = planSmallLoop(program, *plan.code, f, loop, copiesOf(loop, result));
    plan.loops.emplace(&loop, std::move(result));
  }

  static LoopCopies copiesOf(const LoopStep &loop, const Plan::Loop &planned) {
    LoopCopies result;
    for (size_t i = 0; i < loop.carried.size(); ++i)
      if (planned.carries[i] == Plan::Loop::Carry::Copy)
        result.copies.push_back(loop.carried[i]);
      else if (planned.carries[i] == Plan::Loop::Carry::Swap)
        result.period = std::lcm(result.period, 2u);
    for (const std::vector<SlotId> &slots : planned.rotations)
      result.period = std::lcm(result.period, uint32_t(slots.size()));
    return result;
  }

  static void callees(const Steps &steps, std::vector<uint32_t> &list) {
    for (const Step &s : steps) {
      if (const auto *call = std::get_if<CallStep>(&s.body)) {
        list.push_back(call->function);
      } else if (const auto *loop = std::get_if<LoopStep>(&s.body)) {
        callees(loop->cond, list);
        callees(loop->body, list);
      } else if (const auto *cond = std::get_if<CondStep>(&s.body)) {
        for (const Steps &branch : cond->branches)
          callees(branch, list);
      }
    }
  }

  uint64_t stackBytes(uint32_t index, std::vector<uint8_t> &done) { // the validator guarantees that calls are acyclic and at most 1000 deep
    Plan::FunctionPlan &fp = plan.functions[index];
    if (!done[index]) {
      done[index] = 1;
      uint64_t deepest = 0;
      std::vector<uint32_t> list;
      callees(program.functions[index].steps, list);
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
      for (uint32_t callee : list)
        deepest = std::max(deepest, stackBytes(callee, done));
      fp.stackBytes = fp.frameBytes + deepest;
    }
    return fp.stackBytes;
  }

  Plan &plan;
  const Program &program;
};

} // namespace

StatusOr<std::shared_ptr<const Plan>> Plan::create(std::shared_ptr<const Program> program,
                                                   std::shared_ptr<LoadedCode> code) {
  for (const std::string &target : program->customCallTargets)
    if (StatusOr<CustomCallFactory> handler = findCustomCall(target); !handler) {
      // If a step uses the target, the error of the step has the source location.
      bool used = false;
      auto search = [&](auto &self, const Steps &steps) -> void {
        for (const Step &s : steps) {
          if (const auto *call = std::get_if<CustomCallStep>(&s.body))
            used |= call->target == target;
          else if (const auto *loop = std::get_if<LoopStep>(&s.body))
            self(self, loop->cond), self(self, loop->body);
          else if (const auto *cond = std::get_if<CondStep>(&s.body))
            for (const Steps &branch : cond->branches)
              self(self, branch);
        }
      };
      for (const Function &f : program->functions)
        search(search, f.steps);
      if (!used)
        return handler.status();
    }
  auto plan = std::make_shared<Plan>();
  plan->program = std::move(program);
  plan->code = std::move(code);
  MILLRACE_TRY(Planner(*plan).run());
  return std::shared_ptr<const Plan>(std::move(plan));
}

Status Plan::dimsFor(const std::vector<const std::vector<int64_t> *> &arguments, std::vector<int64_t> &dims) const {
  const Function &entry = program->functions[program->entry];
  dims.assign(entry.numDims, 0);
  for (const DimBinding &binding : entry.dimBindings) {
    if (binding.argument != kNone) {
      dims[binding.dim] = (*arguments[binding.argument])[binding.axis];
      continue;
    }
    StatusOr<int64_t> size = evaluate(binding.expr, dims.data());
    if (!size)
      return size.status();
    dims[binding.dim] = *size;
  }
  for (size_t k = 0; k < arguments.size(); ++k) {
    const Slot &slot = entry.slots[entry.arguments[k]];
    for (size_t axis = 0; axis < slot.dims.size(); ++axis) {
      const int64_t expected = slot.dims[axis].isRuntime ? dims[slot.dims[axis].value] : slot.dims[axis].value, actual = (*arguments[k])[axis];
      if (expected != actual)
        return wrongSize(*program, entry, k, axis, expected, actual);
    }
  }
  FailedCheck failed = evaluateChecks(*program, entry, entry.checks, dims.data());
  if (failed.status.ok())
    return Status();
  std::string_view place = locationOf(*program, failed.location);
  return place.empty() ? failed.status : failed.status.withContext(place);
}

uint64_t Plan::picosecondsFor(const std::vector<int64_t> &dims) const {
  return costOfSteps(program->functions[program->entry].steps, dims.data());
}

ArenaLayout::ArenaLayout(const Plan &plan) {
  uint32_t entry = plan.program->entry;
  stack = alignedBytes(plan.program->functions[entry].arenaBytes);
  staging = stack + plan.functions[entry].stackBytes;
  bytes = staging + plan.stagingBytes;
}

} // namespace millrace::runtime
