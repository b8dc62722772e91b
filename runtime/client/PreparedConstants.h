// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PreparedConstants.h - What programs compute once of constant arguments (private) -===//
#pragma once
#include "runtime/client/Buffer.h"

#include <list>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace millrace::runtime {

/// Counts bytes as kept for its lifetime.
class KeptBytes {
public:
  /// Counts the bytes. Returns false, and counts nothing, if they would exceed the limit.
  bool count(uint64_t bytes);
  KeptBytes() = default;
  KeptBytes(KeptBytes &&other) noexcept : counted(std::exchange(other.counted, 0)) {}
  ~KeptBytes();

private:
  uint64_t counted = 0;
};

/// The results of a program's preparation, per device.
struct Executable::Prepared {
  /// The results for one list of arguments. Several layers of a model may use one program in turn.
  struct Set {
    KeptBytes bytes;
    std::vector<std::weak_ptr<Buffer::Value>> from; ///< the arguments; a buffer that is alive still has the same value
    std::vector<BufferPtr> results;
    bool isOf(const std::vector<std::shared_ptr<Buffer::Value>> &values) const;
    bool isGone() const;
    bool hasFailed() const;
  };
  std::shared_ptr<Executable> program;
  mutable std::mutex mutex;
  std::map<uint32_t, std::list<Set>> sets; ///< by device, the most recently used sets first; guarded by mutex
  Preparations counts;                     ///< guarded by mutex

  Prepared();
  ~Prepared();
  Prepared(const Prepared &) = delete;
  Prepared &operator=(const Prepared &) = delete;

  /// Returns the bytes of one set.
  uint64_t bytes() const;
  /// Drops the sets of all other programs that nobody executes now whose arguments are gone.
  void dropGoneOfOthers() const;

private:
  static inline std::mutex allMutex;
  static inline std::set<Prepared *> all; ///< guarded by allMutex
};

} // namespace millrace::runtime
