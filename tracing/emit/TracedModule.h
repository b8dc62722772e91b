// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TracedModule.h - A traced program in the compiler's context ----------===//
// Emission writes a program into the context in which it is compiled, so that no text is printed and parsed in between. This header includes no MLIR.
#pragma once
#include "runtime/base/Status.h"

#include <memory>
#include <string>

namespace millrace::tracing {

/// A module for one compilation, used by one thread at a time.
class TracedModule {
public:
  /// Makes an empty module for an Emitter. `programBytes` is the approximate size of its text (lowering/CompilerSession.h).
  explicit TracedModule(size_t programBytes);
  TracedModule(TracedModule &&) noexcept;
  TracedModule &operator=(TracedModule &&) noexcept;
  ~TracedModule();
  /// Parses a module with the locations of its text. Errors: Internal, with the line, if the text is no valid program.
  static runtime::StatusOr<TracedModule> parse(const std::string &text);

  /// Returns the StableHLO text with locations.
  std::string text() const;

  struct Impl; ///< tracing/emit/TracedModuleImpl.h
  std::unique_ptr<Impl> impl;
};

} // namespace millrace::tracing
