// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Recorder.h - What happens in this process, and when -----------------===//
// Threads append small records to chunks of their own, without locks. A thread that records nothing pays for one relaxed load and a branch.
// Records are kept while at least one Session is open; each session gets those of its own time. A forked child begins with an empty recorder
// that is switched off.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#if defined(__x86_64__)
#include <x86intrin.h>
#else
#include <ctime>
#endif

namespace millrace::runtime::profile {

struct ProgramInfo;

/// A text that lives as long as the process, once for all who use it.
using Name = std::string;
const Name *intern(std::string_view text);

enum class Kind : uint8_t {
  Region,   ///< of the user's program: what = Name, a = Name of its arguments' text or null
  Tracing,  ///< the front end: what = Name
  Compile,  ///< the compiler: what = Name, a = Name of the program or null
  Cache,    ///< a look-up: what = Name, a = Name of the reason of a miss or null
  Launch,   ///< what = ProgramInfo, a = number of the execution
  Execution,///< on a device: what = ProgramInfo, a = number of the execution, b = ticks when it was launched
  Kernel,   ///< on a device: what = ProgramInfo, index = kernel, a = number of the execution, b = location
  Step,     ///< on a device: what = ProgramInfo, index = ProgramInfo::steps, a as above, b = location, c = turns of a loop, or ticks of waiting
  Transfer, ///< what = Name, a = bytes
  Memory,   ///< what = the allocator, a = bytes (int64_t, negative if given back), b = bytes in use after that, c = address, index = Purpose,
            ///< d = Name of the place that asked for it or null
  Piece,    ///< a thread of the pool takes part in a step: what, index, a, device of the step (what = null: of none), b = 1 of a kernel, c = pieces
  Wait,     ///< for the other threads of the pool, at the end of a step: as Piece, without c
};

/// What memory is for.
enum class Purpose : uint8_t {
  Other,
  Upload,       ///< a value of the host
  Copy,         ///< of a value that another device has, or that somebody else still reads
  Result,       ///< of a program
  Intermediate, ///< values inside of a program, all together
  Dynamic,      ///< a value inside of a program whose size is known at run time
};
const char *nameOf(Purpose purpose);

struct Record {
  uint64_t start = 0, end = 0; ///< ticks
  const void *what = nullptr;
  uint64_t a = 0, b = 0, c = 0, d = 0;
  uint32_t index = 0;
  uint16_t device = 0;
  Kind kind = Kind::Region;
};
static_assert(sizeof(Record) == 64);

/// Of a counter that goes on at the same rate on all processors; Timeline says what they are in nanoseconds.
inline uint64_t ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1'000'000'000 + uint64_t(now.tv_nsec);
#endif
}

/// The lowest bit: whether somebody records. The others: how often recording has begun.
extern std::atomic<uint64_t> state;
inline bool isOn() { return state.load(std::memory_order_relaxed) & 1; }

/// Keeps `record` if somebody records; counts it as lost where there is no room. Details of executions have three quarters of the room.
void append(const Record &record);

/// Records the time from construction to destruction. `fill` sets what else there is to say; it is called only where somebody records, and the
/// time begins after that unless it sets `start`.
class ScopedRecord {
public:
  template <typename Fill>
  explicit ScopedRecord(Fill fill) {
    if (!isOn()) [[likely]]
      return;
    fill(record);
    if (!record.start)
      record.start = ticks();
  }
  ScopedRecord(const ScopedRecord &) = delete;
  ~ScopedRecord() {
    if (record.start) [[unlikely]]
      finish();
  }
  bool isRecorded() const { return record.start != 0; }

protected:
  Record record;

private:
  void finish();
};

/// The same of a name and what there is to say of it ("key=value, key=value"), which may be known only later.
class Scope : public ScopedRecord {
public:
  Scope(Kind kind, std::string_view name, std::string_view detail = {})
      : ScopedRecord([&](Record &made) {
          made.kind = kind;
          made.what = intern(name);
          made.a = addressOf(detail);
        }) {}
  void rename(std::string_view name);
  void setDetail(std::string_view detail) { record.a = isRecorded() ? addressOf(detail) : 0; }

private:
  static uint64_t addressOf(std::string_view detail);
};

/// `value` as the value of a key of a detail, where ", " and "=" have a meaning.
std::string asDetail(std::string_view value);

/// What this thread asks memory for while it lives. `place` says where the program asked for it, or null.
class MemoryFor {
public:
  explicit MemoryFor(Purpose purpose, const Name *place = nullptr) : outer(current) { current = {purpose, place}; }
  ~MemoryFor() { current = outer; }
  MemoryFor(const MemoryFor &) = delete;
  struct Use {
    Purpose purpose = Purpose::Other;
    const Name *place = nullptr;
  };
  static thread_local constinit Use current;

private:
  Use outer;
};

/// A front end that knows says which line of the user's program this thread is in; null where there is none. Asked only while somebody records.
void setPlaceSource(const Name *(*source)());
const Name *currentPlace();

/// The step that this thread executes, where it is recorded: pieces of it that other threads run are recorded as parts of it.
extern thread_local constinit const Record *currentStep;

/// The same where begin and end are two calls, as in Python: regions of a thread nest. `details`: "key=value, key=value". One that begins while
/// nobody records is not recorded.
void beginRegion(std::string_view name, std::string_view details);
/// Ends the innermost region; false if this thread is in none.
bool endRegion();

/// Ticks that this thread has waited for other devices and processes.
extern thread_local uint64_t waitedTicks;

/// Memory records of `allocator` belong to `device`.
void nameAllocator(const void *allocator, uint32_t device);

/// How ticks become nanoseconds of CLOCK_REALTIME.
struct Timeline {
  uint64_t startTicks = 0;
  int64_t startNs = 0, endNs = 0; ///< of the session
  double nsPerTick = 1;
  /// Picoseconds since the start; 0 for what was before.
  int64_t picoseconds(uint64_t at) const { return at <= startTicks ? 0 : int64_t(double(at - startTicks) * nsPerTick * 1000); }
};

/// What one session saw.
struct Recording {
  struct Thread {
    int64_t id = 0; ///< of the system
    std::string name;
    std::vector<Record> records; ///< in the order of their ends
  };
  Timeline timeline;
  std::vector<Thread> threads; ///< that recorded something
  std::unordered_map<const void *, uint32_t> devices; ///< of allocators
  uint64_t lost = 0; ///< records for which there was no room, since recording began
  /// Ticks of the first one that is a detail of an execution (kernel, memory, wait), and of the first other one; 0: none.
  uint64_t detailsLostAt = 0, othersLostAt = 0;
  size_t numRecords() const;
};

/// Recording is on while at least one lives. Thread-safe.
class Session {
public:
  /// Of all records of the process; a larger number of the sessions that are open counts. Unit: bytes. Source: judgement, not measured alone.
  static constexpr uint64_t kDefaultBytes = uint64_t(256) << 20;
  explicit Session(uint64_t maxBytes = kDefaultBytes);
  ~Session();
  Session(const Session &) = delete;
  /// Ends the session. Empty the second time, and in a forked child of the process that began it.
  Recording stop();

private:
  struct Anchor {
    uint64_t at = 0; ///< ticks
    int64_t monotonicNs = 0, realtimeNs = 0;
    static Anchor now();
  };
  Anchor begin;
  uint64_t limit = 0;
  uint64_t generation = 0; ///< of the process: forks count
  bool isOpen = true;
};

} // namespace millrace::runtime::profile
