// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- XSpace.h - Events of devices and threads, as XProf stores them ------===//
// The message XSpace of XProf and TensorBoard: planes (devices, the host) of lines (threads, streams) of events. Written and read here without
// libraries: those that there are register their messages for the whole process.
#pragma once
#include "runtime/base/Status.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace millrace::runtime::profile {

/// A value with a name, of an event, a kind of events, or a plane.
struct Stat {
  enum class Type : uint8_t { Real, Unsigned, Signed, Text, Bytes };
  uint32_t name = 0; ///< index into Plane::texts
  Type type = Type::Unsigned;
  union {
    double real;
    uint64_t number;
    int64_t integer;
    uint64_t text; ///< index into Plane::texts; of Bytes into Plane::blobs
  };
  Stat() : number(0) {}
};

struct Plane {
  struct EventKind {
    std::string name, displayName;
    std::vector<Stat> stats;
  };
  struct Event {
    uint32_t kind = 0; ///< index into Plane::kinds
    uint32_t firstStat = 0, numStats = 0; ///< in Line::stats
    int64_t offset = 0, duration = 0; ///< picoseconds, from Line::start
  };
  struct Line {
    int64_t id = 0;
    std::string name;
    int64_t start = 0; ///< nanoseconds of CLOCK_REALTIME
    std::vector<Event> events;
    std::vector<Stat> stats;
  };
  std::string name;
  std::vector<Line> lines;
  std::vector<EventKind> kinds;
  std::vector<Stat> stats;
  std::vector<std::string> texts; ///< names of stats, and texts that they have as values
  std::vector<std::string> blobs; ///< values that are bytes

  uint32_t text(std::string_view content);
  Stat real(std::string_view name, double value);
  Stat number(std::string_view name, uint64_t value);
  Stat integer(std::string_view name, int64_t value);
  Stat text(std::string_view name, std::string_view value);
  Stat bytes(std::string_view name, std::string value);
  const std::string &nameOf(const Stat &stat) const { return texts[stat.name]; }
  /// Of an event first, else of its kind; null if neither has it.
  const Stat *find(const Line &line, const Event &event, std::string_view name) const;
  const Stat *find(const std::vector<Stat> &stats, std::string_view name) const;
  /// To be called after `texts` has been changed by others than text().
  void forgetTexts() { textIndex.clear(); }

private:
  /// Finds texts by parts of other texts, without a copy of them.
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> textIndex; ///< of `texts`, as far as it has been asked
};

/// Of programs ("Hlo Proto"): its events take no time, and belong into no table or timeline.
inline constexpr std::string_view kMetadataPlane = "/host:metadata";
inline constexpr std::string_view kHostPlane = "/host:CPU"; ///< of the threads

struct XSpace {
  std::vector<Plane> planes;
  std::vector<std::string> errors, warnings, hostnames;
  bool hasMemoryEvents = true; ///< files also tell of memory as XProf reads it (MemoryEvents.h)
  size_t numEvents() const; ///< without those of kMetadataPlane
};

/// The message of a space, for a file *.xplane.pb. The plane of the host also gets what the counters of memory say in the form that XProf reads. The size
/// is known before anything is written.
class Encoder {
public:
  /// The space must live as long as this object.
  explicit Encoder(const XSpace &space);
  ~Encoder();
  Encoder(const Encoder &) = delete;
  uint64_t size() const;
  std::string bytes() const;

private:
  struct Layout;
  std::unique_ptr<Layout> layout;
};
inline std::string encode(const XSpace &space) { return Encoder(space).bytes(); }
/// The bytes of one event there.
uint64_t encodedBytes(const Plane &plane, const Plane::Line &line, const Plane::Event &event);

/// Inverse of encode, for files of XProf, too: of their fields it keeps those that XSpace has. Lines that repeat what counters say are left out.
/// DataLoss for what is no such message.
StatusOr<XSpace> decodeXSpace(std::string_view bytes);

} // namespace millrace::runtime::profile
