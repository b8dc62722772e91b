// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ConstantProgram.cpp - A program that expects the same arguments again -//
#include "tracing/programs/ConstantProgram.h"

#include "dialects/millrace/Attributes.h"
#include "lowering/client/ErrorLog.h"
#include "runtime/client/PreparedBytes.h"
#include "tracing/Session.h"
#include "tracing/emit/TracedModule.h"
#include "tracing/emit/TracedModuleImpl.h"
#include "tracing/reports/Metrics.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

namespace millrace::tracing {

/// Returns the text without marks of constant arguments.
static std::string withoutMarks(std::string text) {
  const std::string mark = " {" + kConstantAttr.str() + "}";
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at))
    text.erase(at, mark.size());
  return text;
}

ConstantProgram::ConstantProgram(std::string text, std::string placed)
    : program(std::move(text)), placed(std::move(placed)), digest(Digest::of(program)),
      hasConstants(program.find(kConstantAttr.str()) != std::string::npos) {}

runtime::StatusOr<std::unique_ptr<ConstantProgram>> ConstantProgram::withConstants(std::string text, const std::vector<bool> &constants) {
  runtime::StatusOr<TracedModule> traced = TracedModule::parse(text);
  if (!traced)
    return runtime::invalidArgument(std::string(traced.status().message()));
  auto function = (*traced->impl->module).lookupSymbol<mlir::func::FuncOp>("main");
  if (!function)
    return runtime::invalidArgument("expects a module with a function @main");
  for (unsigned argument = 0; argument < function.getNumArguments() && argument < constants.size(); ++argument)
    if (constants[argument])
      function.setArgAttr(argument, kConstantAttr, mlir::UnitAttr::get(function.getContext()));
  std::string marked;
  llvm::raw_string_ostream stream(marked);
  (*traced->impl->module).print(stream);
  const bool hasPlaces = text.find(" loc(") != std::string::npos;
  auto made = std::make_unique<ConstantProgram>(std::move(marked), hasPlaces ? traced->text() : std::string());
  made->unmarked = std::move(text);
  return made;
}

runtime::StatusOr<std::shared_ptr<runtime::Executable>> ConstantProgram::executable() const {
  Session &session = Session::get();
  return constantsChange.load(std::memory_order_relaxed) ? session.keptProgram(withoutConstants().first, withoutConstants().second)
                                                         : session.keptProgram(digest, compiledText());
}

runtime::StatusOr<std::vector<runtime::BufferPtr>> ConstantProgram::launch(const std::vector<runtime::BufferPtr> &arguments,
                                                                           const runtime::ExecuteOptions &options) const {
  const bool counts = hasConstants && !constantsChange.load(std::memory_order_relaxed);
  runtime::StatusOr<std::shared_ptr<runtime::Executable>> made = executable();
  if (!made)
    return made.status();
  const uint64_t before = counts ? (*made)->preparations().changesInARow : 0, notKept = runtime::preparationsNotKept();
  runtime::StatusOr<std::vector<runtime::BufferPtr>> results = Session::get().launch(**made, arguments, options);
  if (counts && runtime::preparationsNotKept() > notKept && !constantsChange.exchange(true))
    Metrics::get().count("ConstantsBeyondLimit");
  if (counts)
    countPreparations(**made, before);
  return results;
}

const std::pair<Digest, std::string> &ConstantProgram::withoutConstants() const {
  std::call_once(plainIsMade, [&] {
    if (unmarked.empty())
      plain = {Digest::of(withoutMarks(program)), withoutMarks(compiledText())};
    else
      plain = {Digest::of(unmarked), unmarked};
  });
  return plain;
}

void ConstantProgram::countPreparations(const runtime::Executable &executable, uint64_t before) const {
  // Calls in a row whose constants had replaced those of calls before: then they are none. Unit: calls. Source: judgement, not measured alone: a
  // preparation costs about as much as packing in that call, and the program without constants is compiled once.
  constexpr uint64_t kMaxChangesInARow = 4;
  static std::atomic<uint64_t> counted{0};
  const uint64_t all = runtime::preparationsOfProcess(), known = counted.exchange(all);
  if (all > known)
    Metrics::get().count("PreparedConstants", int64_t(all - known));
  const uint64_t now = executable.preparations().changesInARow;
  if (now == 0)
    changes = 0;
  if (now <= before || ++changes < kMaxChangesInARow || constantsChange.exchange(true))
    return;
  Metrics::get().count("ConstantsChanged");
}

} // namespace millrace::tracing
