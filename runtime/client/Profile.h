// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Profile.h - Where the time of executions goes -----------------------===//
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace millrace::runtime {

/// Time of the steps of executions on one device. Loops, conditions and calls count as the steps inside of them.
struct Profile {
  struct Entry {
    uint64_t calls = 0, nanoseconds = 0;
    void add(uint64_t time) {
      ++calls;
      nanoseconds += time;
    }
  };
  std::vector<Entry> kernels;         ///< index into Program::kernels
  std::map<std::string, Entry> steps; ///< "copy", "custom_call cholesky", ...
};

/// While it lives, executions on device 0 of this process that begin are measured into `profile`: one at a time, of one
/// program. For tools; there is one scope at most. Wait for the executions before it ends.
class ProfileScope {
public:
  explicit ProfileScope(Profile &profile);
  ~ProfileScope();
  ProfileScope(const ProfileScope &) = delete;
};

} // namespace millrace::runtime
