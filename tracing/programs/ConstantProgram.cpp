// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ConstantProgram.cpp - A program that expects the same arguments again -//
#include "tracing/programs/ConstantProgram.h"

#include "dialects/millrace/Attributes.h"
#include "runtime/client/PreparedBytes.h"
#include "tracing/Session.h"
#include "tracing/reports/Metrics.h"

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
  std::call_once(plainIsMade, [&] { plain = {Digest::of(withoutMarks(program)), withoutMarks(compiledText())}; });
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
