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

  /// Launches of a kernel that were cut into equally many pieces, and the time of each piece, summed over the launches.
  struct Pieces {
    uint64_t launches = 0;
    std::vector<uint64_t> nanoseconds;
  };
  /// Kernels are cut as for so many threads, and their pieces run one after the other on the calling thread, each measured; 0: they run as
  /// always. From the times follows how long a machine with so many cores would take (benchmarks.scaling --predict).
  unsigned piecesFor = 0;
  std::vector<std::map<size_t, Pieces>> pieces; ///< index into Program::kernels; by the number of pieces of a launch
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
