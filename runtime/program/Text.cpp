// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Text.cpp - A program as text, one step per line ---------------------===//
#include "runtime/program/Program.h"

#include <algorithm>
#include <array>

namespace millrace::runtime {
namespace {

const char *const slotKinds[] = {"argument", "result", "constant", "arena", "dynamic", "view"};
const char *const collectiveKinds[] = {"all_reduce",         "all_gather",           "all_to_all",
                                       "reduce_scatter",     "collective_permute",   "collective_broadcast",
                                       "collective_reduce"};
const char *const reductions[] = {"none", "sum", "product", "min", "max", "and", "or", "xor"};
const char *const transfers[] = {"infeed", "outfeed", "send", "recv"};

class Printer {
public:
  explicit Printer(const Program &program) : program(program) {}
  std::string run();

private:
  static std::string spec(const TensorSpec &s) {
    std::string text = "tensor<";
    for (size_t i = 0; i < s.dims.size(); ++i)
      text += (s.dims[i] == kDynamic ? std::string("?") : std::to_string(s.dims[i])) + "x";
    text += std::string(name(s.dtype)) + ">";
    for (size_t i = 0; i < s.bounds.size(); ++i)
      if (s.bounds[i] != kDynamic)
        text += " bound[" + std::to_string(i) + "]=" + std::to_string(s.bounds[i]);
    if (!s.sharding.empty())
      text += " sharding=" + s.sharding;
    return text;
  }
  static std::string ids(const std::vector<uint32_t> &list, char sigil) {
    std::string text;
    for (uint32_t id : list)
      text += (text.empty() ? "" : ", ") + std::string(1, sigil) + std::to_string(id);
    return text;
  }
  static std::string expr(const DimExpr &e) {
    static const char *const names[] = {"", "", " + ", " - ", " * ", " floordiv ", " ceildiv ", " mod ", " min ", " max "};
    std::vector<std::string> stack;
    for (const DimExpr::Term &t : e.terms) {
      if (t.op == DimExpr::Op::Constant) {
        stack.push_back(std::to_string(t.value));
      } else if (t.op == DimExpr::Op::Dim) {
        stack.push_back("d" + std::to_string(t.value));
      } else if (stack.size() >= 2) {
        std::string rhs = stack.back();
        stack.pop_back();
        stack.back() = "(" + stack.back() + names[size_t(t.op)] + rhs + ")";
      }
    }
    return stack.empty() ? "?" : stack.back();
  }
  static std::string check(const SizeCheck &c) {
    static const char *const relations[] = {" = ", " >= ", " <= ", " = 1 or "};
    return "check " + expr(c.size) + relations[size_t(c.relation)] + expr(c.bound);
  }
  void steps(const Steps &list, const std::string &indent) {
    for (const Step &s : list) {
      out += indent;
      std::visit([&](const auto &body) { print(body, indent); }, s.body);
      if (std::string_view place = locationOf(program, s.location); !place.empty())
        out += "  // " + std::string(place);
      out += "\n";
    }
  }
  void print(const KernelStep &s, const std::string &) {
    const std::string &n = s.kernel < program.kernels.size() ? program.kernels[s.kernel].name : missing;
    out += "kernel " + n + "(" + ids(s.inputs, '%') + ") -> (" + ids(s.outputs, '%') + ")";
    if (!s.dims.empty())
      out += " dims(" + ids(s.dims, 'd') + ")";
    out += " range " + expr(s.end);
    if (s.scratchBytes)
      out += " scratch " + std::to_string(s.scratchBytes);
  }
  void print(const LoopStep &s, const std::string &indent) {
    out += "loop carried(";
    for (size_t i = 0; i < s.carried.size(); ++i)
      out += (i ? ", %" : "%") + std::to_string(s.carried[i].state) + " := %" + std::to_string(s.carried[i].next);
    out += ") while %" + std::to_string(s.predicate) + " {\n";
    steps(s.cond, indent + "  ");
    out += indent + "} do {\n";
    steps(s.body, indent + "  ");
    out += indent + "}";
  }
  void print(const CondStep &s, const std::string &indent) {
    out += "branch %" + std::to_string(s.index);
    for (const Steps &branch : s.branches) {
      out += " {\n";
      steps(branch, indent + "  ");
      out += indent + "}";
    }
  }
  void print(const CallStep &s, const std::string &) {
    const std::string &n = s.function < program.functions.size() ? program.functions[s.function].name : missing;
    out += "call " + n + "(" + ids(s.arguments, '%') + ") -> (" + ids(s.results, '%') + ") arena " +
           std::to_string(s.arenaOffset);
  }
  void print(const CopyStep &s, const std::string &) {
    out += "copy %" + std::to_string(s.source) + " -> %" + std::to_string(s.destination);
  }
  void print(const FillStep &s, const std::string &) { out += "fill -> %" + std::to_string(s.destination); }
  void print(const SetDimsStep &s, const std::string &) {
    out += "set_dims";
    for (const SetDimsStep::Entry &e : s.entries)
      out += " d" + std::to_string(e.dim) + " := " +
             (e.source == kNone ? expr(e.expr) : "%" + std::to_string(e.source) + "[" + std::to_string(e.element) + "]");
    for (const SizeCheck &c : s.checks)
      out += " " + check(c);
  }
  void print(const CollectiveStep &s, const std::string &) {
    if (s.phase != CollectiveStep::Phase::Both)
      out += (s.phase == CollectiveStep::Phase::Start ? "start " : "done ") + std::to_string(s.pair) + " ";
    out += std::string(collectiveKinds[size_t(s.kind)]) + "(" + ids(s.arguments, '%') + ") -> (" + ids(s.results, '%') +
           ")";
    if (s.reduction != CollectiveStep::Reduction::None)
      out += std::string(" ") + reductions[size_t(s.reduction)];
    if (s.reducer != kNone)
      out += " reducer " + (s.reducer < program.kernels.size() ? program.kernels[s.reducer].name : missing);
    out += " groups[";
    for (const auto &group : s.groups) {
      out += "[";
      for (size_t i = 0; i < group.size(); ++i)
        out += (i ? ", " : "") + std::to_string(group[i]);
      out += "]";
    }
    out += "] channel " + std::to_string(s.channel);
  }
  void print(const CustomCallStep &s, const std::string &) {
    out += "custom_call @" + s.target + "(" + ids(s.arguments, '%') + ") -> (" + ids(s.results, '%') + ")";
  }
  void print(const DeviceIdStep &s, const std::string &) {
    const char *const kinds[] = {"partition_id", "replica_id", "random_seed"};
    out += std::string(kinds[size_t(s.kind)]) + " -> %" + std::to_string(s.destination);
  }
  void print(const TransferStep &s, const std::string &) {
    out += std::string(transfers[size_t(s.kind)]) + "(" + ids(s.slots, '%') + ") channel " + std::to_string(s.channel);
  }

  const Program &program;
  const std::string missing = "<missing>";
  std::string out;
};

std::string Printer::run() {
  out += "program \"" + program.name + "\" by " + program.producer + "\n";
  out += "target " + program.target.triple + " " + program.target.cpu + "\n";
  for (size_t i = 0; i < program.arguments.size(); ++i)
    out += "argument " + std::to_string(i) + ": " + spec(program.arguments[i]) +
           (program.arguments[i].donated ? " donated" : "") + "\n";
  for (size_t i = 0; i < program.results.size(); ++i) {
    out += "result " + std::to_string(i) + ": " + spec(program.results[i]);
    if (program.results[i].aliasArgument != kNone)
      out += " aliases argument " + std::to_string(program.results[i].aliasArgument);
    out += "\n";
  }
  if (program.preparation.exists()) {
    out += "prepare @" + program.functions[program.preparation.function].name + " of arguments";
    for (uint32_t k : program.preparation.arguments)
      out += " " + std::to_string(k);
    out += "\n";
    for (size_t i = 0; i < program.preparation.results.size(); ++i)
      out += "prepared " + std::to_string(i) + ": " + spec(program.preparation.results[i]) + "\n";
  }
  for (size_t i = 0; i < program.constants.size(); ++i)
    out += "constant " + std::to_string(i) + ": " + std::to_string(program.constants[i].size) + " bytes\n";
  for (const Function &f : program.functions) {
    out += "function " + f.name + " arena " + std::to_string(f.arenaBytes) + " dims " + std::to_string(f.numDims) + "\n";
    for (size_t i = 0; i < f.slots.size(); ++i) {
      const Slot &s = f.slots[i];
      out += "  %" + std::to_string(i) + " = " + slotKinds[size_t(s.kind)];
      if (s.kind != Slot::Kind::Arena && s.kind != Slot::Kind::Dynamic)
        out += " " + std::to_string(s.index);
      if (s.kind == Slot::Kind::Arena || s.kind == Slot::Kind::View)
        out += " +" + std::to_string(s.offset);
      out += " : ";
      for (const Dim &d : s.dims)
        out += (d.isRuntime ? "d" : "") + std::to_string(d.value) + "x";
      out += std::string(name(s.dtype)) + "\n";
    }
    for (const DimBinding &b : f.dimBindings)
      out += "  d" + std::to_string(b.dim) + " := " +
             (b.argument == kNone ? expr(b.expr)
                                  : "argument " + std::to_string(b.argument) + " axis " + std::to_string(b.axis)) +
             "\n";
    for (const SizeCheck &c : f.checks)
      out += "  " + check(c) + (locationOf(program, c.location).empty() ? "" : "  // " + std::string(locationOf(program, c.location))) + "\n";
    steps(f.steps, "  ");
  }
  return out;
}

} // namespace

std::string toText(const Program &program) { return Printer(program).run(); }

} // namespace millrace::runtime
