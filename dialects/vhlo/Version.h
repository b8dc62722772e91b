// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Version.h - Versions of the portable format ------------------------===//
#pragma once
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <tuple>

namespace millrace::vhlo {

/// A version X.Y.Z of StableHLO's portable format. The operation set changes with X.Y only.
struct Version {
  int major = 0, minor = 0, patch = 0;

  constexpr Version() = default;
  constexpr Version(int major, int minor, int patch = 0) : major(major), minor(minor), patch(patch) {}

  /// Parses `X.Y.Z`; none for anything else.
  static std::optional<Version> parse(llvm::StringRef text);
  std::string str() const;
  /// Returns X.Y.0, which determines the set of operations.
  Version withoutPatch() const { return {major, minor}; }

  friend bool operator==(const Version &a, const Version &b) { return a.tied() == b.tied(); }
  friend bool operator<(const Version &a, const Version &b) { return a.tied() < b.tied(); }
  friend bool operator<=(const Version &a, const Version &b) { return !(b < a); }

private:
  std::tuple<int, int, int> tied() const { return {major, minor, patch}; }
};

inline constexpr Version minimumVersion{0, 9};
inline constexpr Version currentVersion{1, 20};

/// Returns the MLIR bytecode format that readers of `version` understand.
int bytecodeFormat(Version version);

} // namespace millrace::vhlo
