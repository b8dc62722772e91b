// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ConstantProgram.h - A program that expects the same arguments again -===//
// Some arguments of its StableHLO text may be marked as constant (millrace.constant): what depends on them alone is prepared once. Calls that pass
// other ones stay right; after a few of these in a row, or when the process keeps as many prepared bytes as it may, the same program without the marks
// takes its place.
#pragma once
#include "tracing/graph/Graph.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace millrace::tracing {

class ConstantProgram {
public:
  ConstantProgram() = default;
  explicit ConstantProgram(std::string text) : ConstantProgram(std::move(text), std::string()) {}
  /// `placed` is the same program with the user's lines as locations, and is what is compiled: the lines are no part of the key.
  ConstantProgram(std::string text, std::string placed);
  /// Marks the arguments of @main that `constants` names, by position; the text as given takes their place where they turn out not to be constant.
  /// Arguments past the end of `constants` have no mark. InvalidArgument: the text is no module with a function @main.
  static runtime::StatusOr<std::unique_ptr<ConstantProgram>> withConstants(std::string text, const std::vector<bool> &constants);

  const std::string &text() const { return program; }
  const Digest &key() const { return digest; }
  /// The session keeps what the text was compiled to, or compiles it again.
  runtime::StatusOr<std::shared_ptr<runtime::Executable>> executable() const;
  /// Asynchronous. Counts PreparedConstants, ConstantsChanged and ConstantsBeyondLimit.
  runtime::StatusOr<std::vector<runtime::BufferPtr>> launch(const std::vector<runtime::BufferPtr> &arguments,
                                                            const runtime::ExecuteOptions &options) const;

private:
  /// The program that expects other buffers in every call.
  const std::pair<Digest, std::string> &withoutConstants() const;
  /// After a call: `before` is the executable's number of changes in a row before it.
  void countPreparations(const runtime::Executable &executable, uint64_t before) const;

  const std::string &compiledText() const { return placed.empty() ? program : placed; }

  std::string program, placed; ///< without and with places; the latter is empty where none are known
  std::string unmarked;        ///< the text that was given to withConstants(), else empty
  Digest digest;               ///< of `program`
  bool hasConstants = false;
  mutable std::atomic<bool> constantsChange{false}; ///< too often for preparing them, or they are too large
  mutable std::atomic<uint64_t> changes{0}; ///< calls in a row that changed them; the executable may have had other callers
  mutable std::once_flag plainIsMade;
  mutable std::pair<Digest, std::string> plain; ///< withoutConstants(): the digest of the text, and the one with places
};

} // namespace millrace::tracing
