// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramMemory.cpp - What the values of a plan take on a device ------===//
#include "passes/autosharding/ProgramProblem.h"
#include "passes/autosharding/Work.h"

#include "dialects/stablehlo/Ops.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <limits>
#include <map>

using namespace mlir;
using namespace millrace::sharding;

namespace millrace::autosharding {

/// The largest number of groups of values that an error names. Unit: groups. Source: judgement: what can be changed is among the first.
static constexpr size_t kMostGroups = 4;

void ProgramProblem::hold(const Table &table, mlir::Value value, Type type, int64_t begin, int64_t end, int64_t bytes) {
  if (table.variable >= 0)
    variables[table.variable].members.push_back({value, type, table.shardings, begin, end, bytes});
}

/// Holds what has memory in the compiled program. A buffer is divided among the devices as the value that it holds.
void ProgramProblem::addCompiledMemory() {
  const int64_t end = memory->times + 1;
  for (size_t tensor = 0; tensor < graph.tensors.size(); ++tensor) {
    auto argument = dyn_cast_or_null<BlockArgument>(module.place(int(tensor)).value);
    if (!argument || !isa<func::FuncOp>(argument.getOwner()->getParentOp()))
      continue;
    hold(kept[tensor], argument, argument.getType(), 0, end);
  }
  for (const CompiledMemory::Buffer &buffer : memory->buffers) {
    const int tensor = buffer.value ? module.tensorOf(buffer.value) : -1;
    if (tensor >= 0 && kept[tensor].variable >= 0)
      hold(kept[tensor], buffer.value, buffer.value.getType(), buffer.begin, buffer.end, buffer.bytes);
    else
      fixed[{buffer.begin, buffer.end}] += buffer.bytes;
  }
  for (auto [boundary, table] : llvm::zip_equal(graph.boundaries, returned)) {
    const int tensor = boundary.results[0].tensor;
    if (tensor >= 0 && func::FuncOp(module.place(tensor).function).isPublic() && llvm::is_contained(memory->ownResults, module.place(tensor).result))
      hold(table, {}, typeOf(tensor), 0, end);
  }
  if (memory->constants > 0)
    fixed[{0, end}] += memory->constants;
}

void ProgramProblem::addMemory() {
  if (memory)
    return addCompiledMemory();
  int64_t end = int64_t(graph.nodes.size()) + 1;
  std::vector<int64_t> first(graph.tensors.size(), 0), last(graph.tensors.size(), 0);
  for (size_t tensor = 0; tensor < graph.tensors.size(); ++tensor) {
    const auto &touched = graph.tensors[tensor].touched;
    if (touched.empty())
      continue;
    first[tensor] = *llvm::min_element(touched);
    last[tensor] = *llvm::max_element(touched) + 1;
  }
  for (const GraphNode &boundary : graph.boundaries)
    if (boundary.operands[0].tensor >= 0)
      last[boundary.operands[0].tensor] = end;
  for (size_t tensor = 0; tensor < graph.tensors.size(); ++tensor) {
    mlir::Value value = module.place(int(tensor)).value;
    if (!value)
      continue;
    // A broadcast is computed by its reader.
    Operation *op = value.getDefiningOp();
    if (op && movesNothing(op))
      continue;
    bool isArgument = isa<BlockArgument>(value) && isa<func::FuncOp>(cast<BlockArgument>(value).getOwner()->getParentOp());
    hold(kept[tensor], value, value.getType(), isArgument ? 0 : first[tensor], isArgument ? end : last[tensor]);
  }
}

int64_t ProgramProblem::bytesOf(const Variable::Member &member, size_t choice) const {
  auto type = cast<RankedTensorType>(member.type);
  const int64_t elements = elementsOf(type.getShape(), known[member.shardings[choice]]);
  if (member.bytes < 0)
    return elements * elementBytes(type);
  return int64_t(double(member.bytes) * double(elements) / double(std::max<int64_t>(1, type.getNumElements())));
}

/// A node of the problem is live for one range of time. Further values of a variable get nodes of their own, whose choice is the variable's.
void ProgramProblem::limitMemory(int64_t limit) {
  problem.usageLimit = limit;
  std::map<size_t, PairCosts> equalities; // by the number of choices
  for (size_t number = 0; number < variables.size(); ++number) {
    size_t choices = variables[number].costs.size();
    std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> lives;
    for (const Variable::Member &member : variables[number].members) {
      std::vector<int64_t> &usages = lives[{member.begin, member.end}];
      usages.resize(choices);
      for (size_t choice = 0; choice < choices; ++choice)
        usages[choice] += bytesOf(member, choice);
    }
    bool isFirst = true;
    for (auto &[life, usages] : lives) {
      Node &node = isFirst ? problem.nodes[number] : problem.nodes.emplace_back();
      node.usages = usages;
      node.begin = life.first, node.end = life.second;
      if (!isFirst) {
        node.costs.assign(choices, 0);
        auto [equality, isNew] = equalities.try_emplace(choices);
        if (isNew) {
          equality->second.own().assign(choices * choices, kImpossible);
          for (size_t choice = 0; choice < choices; ++choice)
            equality->second.own()[choice * choices + choice] = 0;
        }
        problem.edges.push_back({uint32_t(number), uint32_t(problem.nodes.size() - 1), equality->second});
      }
      isFirst = false;
    }
  }
  for (auto [life, bytes] : fixed) {
    Node &node = problem.nodes.emplace_back();
    node.costs = {0};
    node.usages = {bytes};
    node.begin = life.first, node.end = life.second;
  }
}

llvm::DenseMap<mlir::Value, int64_t> ProgramProblem::bytesOfValues(ArrayRef<uint32_t> choices) const {
  llvm::DenseMap<mlir::Value, int64_t> bytes;
  for (size_t tensor = 0; tensor < graph.tensors.size(); ++tensor) {
    mlir::Value value = module.place(int(tensor)).value;
    Operation *op = value ? value.getDefiningOp() : nullptr;
    if (!value || kept[tensor].variable < 0 || (op && movesNothing(op)))
      continue;
    const TensorSharding &sharding = known[kept[tensor].shardings[choices[kept[tensor].variable]]];
    bytes[value] = elementsOf(cast<RankedTensorType>(value.getType()).getShape(), sharding) * elementBytes(value.getType());
  }
  return bytes;
}

int64_t ProgramProblem::bytesKept(ArrayRef<uint32_t> choices) const {
  int64_t kept = memory ? memory->constants : 0;
  for (auto [variable, choice] : llvm::zip(variables, choices))
    for (const Variable::Member &member : variable.members)
      if (memory && !member.value)
        kept += bytesOf(member, choice);
  return kept;
}

int64_t ProgramProblem::peak(ArrayRef<uint32_t> choices) const {
  std::map<int64_t, int64_t> changes; // changes of live bytes, by time
  for (auto [variable, choice] : llvm::zip(variables, choices))
    for (const Variable::Member &member : variable.members) {
      changes[member.begin] += bytesOf(member, choice);
      changes[member.end] -= bytesOf(member, choice);
    }
  for (auto [life, bytes] : fixed) {
    changes[life.first] += bytes;
    changes[life.second] -= bytes;
  }
  int64_t alive = 0, most = 0;
  for (auto [time, change] : changes)
    most = std::max(most, alive += change);
  return most;
}

std::string ProgramProblem::largestGroups() const {
  // Of every value the fewest bytes that a choice leaves, and the time at which these are the most.
  std::map<int64_t, int64_t> changes;
  auto leastOf = [&](const Variable &variable, const Variable::Member &member) {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (size_t choice = 0; choice < variable.costs.size(); ++choice)
      least = std::min(least, bytesOf(member, choice));
    return least;
  };
  auto add = [&](int64_t begin, int64_t end, int64_t bytes) {
    changes[begin] += bytes;
    changes[end] -= bytes;
  };
  for (const Variable &variable : variables)
    for (const Variable::Member &member : variable.members)
      add(member.begin, member.end, leastOf(variable, member));
  for (auto [life, bytes] : fixed)
    add(life.first, life.second, bytes);
  int64_t now = 0, most = -1, worst = 0;
  for (auto [time, change] : changes)
    if ((now += change) > most)
      most = now, worst = time;
  struct Group {
    std::string name;
    int64_t bytes = 0, number = 0;
  };
  std::map<std::string, Group> groups;
  for (const Variable &variable : variables)
    for (const Variable::Member &member : variable.members) {
      if (worst < member.begin || worst >= member.end)
        continue;
      Operation *op = member.value ? member.value.getDefiningOp() : nullptr;
      std::string name;
      llvm::raw_string_ostream(name) << (op ? op->getName().stripDialect() : member.value ? "argument" : "result") << " : " << member.type;
      Group &group = groups[name];
      group.name = name;
      group.bytes += leastOf(variable, member);
      ++group.number;
    }
  std::vector<Group> largest;
  for (auto &[name, group] : groups)
    largest.push_back(group);
  llvm::stable_sort(largest, [](const Group &one, const Group &other) { return one.bytes > other.bytes; });
  std::string text;
  for (const Group &group : ArrayRef(largest).take_front(kMostGroups))
    text += (text.empty() ? "" : ", ") + std::to_string(group.number) + " x " + group.name + " (" + std::to_string(group.bytes) + " bytes)";
  return text;
}

} // namespace millrace::autosharding
