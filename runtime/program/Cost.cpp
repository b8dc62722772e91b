// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Cost.cpp - Work of a whole program ----------------------------------===//
#include "runtime/program/Cost.h"

#include <optional>

namespace millrace::runtime {
namespace {

class Sum {
public:
  explicit Sum(const Program &program) : program(program), functions(program.functions.size()) {}

  ProgramCost of(uint32_t function) {
    if (!functions[function])
      functions[function] = of(program.functions[function].steps);
    return *functions[function];
  }

private:
  ProgramCost of(const Steps &steps) {
    ProgramCost total;
    auto add = [&](ProgramCost part) {
      total.flops += part.flops;
      total.bytesAccessed += part.bytesAccessed;
    };
    for (const Step &step : steps) {
      if (auto *call = std::get_if<KernelStep>(&step.body))
        add({program.kernels[call->kernel].flops, program.kernels[call->kernel].bytesAccessed});
      else if (auto *call = std::get_if<CallStep>(&step.body))
        add(of(call->function));
      else if (auto *loop = std::get_if<LoopStep>(&step.body))
        add(of(loop->cond)), add(of(loop->body));
      else if (auto *cond = std::get_if<CondStep>(&step.body)) {
        ProgramCost most;
        for (const Steps &branch : cond->branches)
          if (ProgramCost cost = of(branch); cost.flops + cost.bytesAccessed > most.flops + most.bytesAccessed)
            most = cost;
        add(most);
      }
    }
    return total;
  }

  const Program &program;
  std::vector<std::optional<ProgramCost>> functions;
};

} // namespace

ProgramCost costOf(const Program &program) {
  return program.entry < program.functions.size() ? Sum(program).of(program.entry) : ProgramCost();
}

} // namespace millrace::runtime
