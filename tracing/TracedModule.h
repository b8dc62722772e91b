// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TracedModule.h - A traced program in the compiler's context ----------===//
// Emission writes a program where it will be compiled, so that no text is printed and parsed in between. Needs no header of MLIR.
#pragma once
#include "runtime/base/Status.h"

#include <memory>
#include <string>

namespace millrace::tracing {

/// For one compilation, on one thread at a time.
class TracedModule {
public:
  /// An empty module, for an Emitter. `programBytes`: about the size of its text (lowering/CompilerSession.h).
  explicit TracedModule(size_t programBytes);
  TracedModule(TracedModule &&) noexcept;
  TracedModule &operator=(TracedModule &&) noexcept;
  ~TracedModule();
  /// The module of a text; locations as it says. Internal, with the line, if it is no valid program.
  static runtime::StatusOr<TracedModule> parse(const std::string &text);

  /// StableHLO text with locations.
  std::string text() const;

  struct Impl; ///< tracing/TracedModuleImpl.h
  std::unique_ptr<Impl> impl;
};

} // namespace millrace::tracing
