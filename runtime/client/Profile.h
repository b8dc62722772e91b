// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Profile.h - Measured times of the steps of executions --------------===//
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace millrace::runtime {

/// Times of the steps of executions on one device. Loops, conditions and calls are measured as the steps that they contain.
struct Profile {
  struct Entry {
    uint64_t calls = 0, nanoseconds = 0;
    void add(uint64_t time) {
      ++calls;
      nanoseconds += time;
    }
  };
  std::vector<Entry> kernels;         ///< by index into Program::kernels
  std::map<std::string, Entry> steps; ///< "copy", "custom_call cholesky", ...

  /// Launches of a kernel that were cut into equally many pieces, and the time of each piece, summed over the launches.
  struct Pieces {
    uint64_t launches = 0;
    std::vector<uint64_t> nanoseconds;
  };
  /// If not 0, kernels are cut into pieces as for so many threads, and the pieces run one after the other on the calling thread, each measured. The
  /// times predict the execution on a machine with so many cores (benchmarks.scaling --predict).
  unsigned piecesFor = 0;
  std::vector<std::map<size_t, Pieces>> pieces; ///< by index into Program::kernels, then by the number of pieces of a launch
};

/// Measures the executions on device 0 of this process that begin in its lifetime into `profile`: one at a time, of one program. For tools. There is
/// at most one scope. Its user waits for the executions before it ends.
class ProfileScope {
public:
  explicit ProfileScope(Profile &profile);
  ~ProfileScope();
  ProfileScope(const ProfileScope &) = delete;
};

} // namespace millrace::runtime
