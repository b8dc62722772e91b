// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ToXSpace.cpp - A recording as planes, lines and events --------------===//
#include "runtime/profile/ToXSpace.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/profile/ProgramInfo.h"

#include <algorithm>
#include <charconv>
#include <limits.h>
#include <map>
#include <mutex>
#include <tuple>
#include <unistd.h>

namespace millrace::runtime::profile {
namespace {

std::mutex prefixMutex;
std::string &prefix() {
  static auto *text = new std::string;
  return *text;
}

const Name *nameAt(uint64_t address) { return reinterpret_cast<const Name *>(uintptr_t(address)); }

/// "step_num=3, note=first" as stats; a text without '=' is one stat named "detail".
void addDetails(Plane &plane, std::string_view text, std::vector<Stat> &stats) {
  while (!text.empty()) {
    size_t comma = std::min(text.find(", "), text.size());
    std::string_view item = text.substr(0, comma);
    text.remove_prefix(std::min(text.size(), comma + 2));
    size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      stats.push_back(plane.text("detail", item));
      continue;
    }
    std::string_view key = item.substr(0, equals), value = item.substr(equals + 1);
    int64_t number;
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc() && end == value.data() + value.size())
      stats.push_back(plane.integer(key, number));
    else
      stats.push_back(plane.text(key, value));
  }
}

/// Adds events to the lines of one plane, each kind of event once.
class PlaneBuilder {
public:
  PlaneBuilder(std::string name, const Timeline &timeline) : timeline(timeline) { plane.name = std::move(name); }

  Plane::Line &line(int64_t id, std::string_view name) {
    auto [found, isNew] = lineIndex.emplace(id, plane.lines.size());
    if (isNew) {
      Plane::Line &made = plane.lines.emplace_back();
      made.id = id;
      made.name = name;
      made.start = timeline.startNs;
    }
    return plane.lines[found->second];
  }

  using Key = std::tuple<const void *, uint64_t, uint64_t>;
  /// The index of a kind; `fill` is called the first time.
  template <typename Fill>
  uint32_t kind(const Key &key, Fill fill) {
    auto [found, isNew] = kindIndex.emplace(key, uint32_t(plane.kinds.size()));
    if (isNew) {
      Plane::EventKind made;
      fill(made);
      plane.kinds.push_back(std::move(made));
    }
    return found->second;
  }
  uint32_t named(std::string_view name) {
    return kind({intern(name), 0, 0}, [&](Plane::EventKind &made) { made.name = name; });
  }

  void add(Plane::Line &line, uint32_t kind, const Record &record, const std::vector<Stat> &stats) {
    Plane::Event event;
    event.kind = kind;
    event.firstStat = uint32_t(line.stats.size());
    event.numStats = uint32_t(stats.size());
    event.offset = timeline.picoseconds(record.start);
    event.duration = timeline.picoseconds(record.end) - event.offset;
    line.stats.insert(line.stats.end(), stats.begin(), stats.end());
    line.events.push_back(event);
  }

  /// Events in the order of their begins; what contains others comes before them.
  Plane finish() {
    for (Plane::Line &line : plane.lines)
      std::sort(line.events.begin(), line.events.end(), [](const Plane::Event &a, const Plane::Event &b) {
        return std::tuple(a.offset, -a.duration, a.firstStat) < std::tuple(b.offset, -b.duration, b.firstStat);
      });
    std::sort(plane.lines.begin(), plane.lines.end(), [](const Plane::Line &a, const Plane::Line &b) { return a.id < b.id; });
    return std::move(plane);
  }

  Plane plane;

private:
  const Timeline &timeline;
  std::map<int64_t, size_t> lineIndex;
  std::map<Key, uint32_t> kindIndex;
};

/// Numbers of executions, so that those of several processes stay apart.
uint64_t flowOf(uint64_t execution) { return uint64_t(getpid()) << 40 | (execution & ((uint64_t(1) << 40) - 1)); }

std::string titleOf(const ProgramInfo &program) { return program.name + "(" + std::to_string(program.id) + ")"; }

void addDeviceRecord(PlaneBuilder &builder, const Record &record, const Timeline &timeline) {
  Plane &plane = builder.plane;
  if (record.kind == Kind::Memory) {
    uint32_t kind = builder.named("bytes in use");
    std::vector<Stat> stats{plane.number("bytes in use", record.b), plane.integer("change", int64_t(record.a)), plane.number("address", record.c)};
    if (int64_t(record.a) >= 0) {
      stats.push_back(plane.text("purpose", nameOf(Purpose(record.index))));
      if (record.d)
        stats.push_back(plane.text("source", *nameAt(record.d)));
    }
    builder.add(builder.line(kCounters, "_counters_"), kind, record, stats);
    return;
  }
  const auto &program = *static_cast<const ProgramInfo *>(record.what);
  Stat run = plane.number("run_id", record.a);
  if (record.kind == Kind::Execution) {
    uint32_t kind = builder.kind({&program, 0, 0}, [&](Plane::EventKind &made) {
      made.name = titleOf(program);
      made.stats = {plane.number("program_id", program.id)};
    });
    const int64_t queued = record.b ? timeline.picoseconds(record.start) - timeline.picoseconds(record.b) : 0;
    builder.add(builder.line(kModules, "XLA Modules"), kind, record,
                {plane.text("hlo_module", program.name), run, plane.integer("queue_ns", queued / 1000), plane.number("_ct", 0),
                 plane.number("_c", flowOf(record.a))});
    return;
  }
  const bool isKernel = record.kind == Kind::Kernel;
  uint32_t kind = builder.kind({&program, uint64_t(record.index) << 1 | isKernel, 1}, [&](Plane::EventKind &made) {
    if (isKernel) {
      const ProgramInfo::KernelInfo &kernel = program.kernels[record.index];
      made.name = kernel.name;
      made.stats = {plane.text("hlo_category", kernel.emitter), plane.text("operations", kernel.ops),
                    plane.number("flops", uint64_t(kernel.flops)), plane.number("bytes_accessed", uint64_t(kernel.bytesAccessed))};
      if (kernel.mostPieces)
        made.stats.push_back(plane.number("most_pieces", kernel.mostPieces));
    } else {
      const ProgramInfo::StepInfo &step = program.steps[record.index];
      made.name = step.name;
      made.stats = {plane.text("hlo_category", step.kind == ProgramInfo::StepInfo::Kind::Collective ? "collective" : "step")};
      if (step.kind == ProgramInfo::StepInfo::Kind::Collective) {
        made.stats.push_back(plane.number("bytes", step.bytes));
        made.stats.push_back(plane.number("peers", step.peers));
      }
    }
    made.stats.push_back(plane.number("program_id", program.id));
  });
  // On the event, not on its kind, for readers that show no others (jax.profiler.ProfileData).
  std::vector<Stat> stats{plane.text("hlo_op", plane.kinds[kind].name), plane.text("hlo_module", program.name), run};
  if (std::string_view place = placeOf(program, record.b); !place.empty())
    stats.push_back(plane.text("source", place));
  if (!isKernel && program.steps[record.index].kind == ProgramInfo::StepInfo::Kind::Loop)
    stats.push_back(plane.number("iterations", record.c));
  if (!isKernel && program.steps[record.index].kind == ProgramInfo::StepInfo::Kind::Collective)
    stats.push_back(plane.integer("wait_ns", int64_t(double(record.c) * timeline.nsPerTick)));
  builder.add(builder.line(kOps, "XLA Ops"), kind, record, stats);
}

/// Of what the pool runs for the host.
const std::string kNoStep = "range of the host";

void addHostRecord(PlaneBuilder &builder, Plane::Line &line, const Record &record, const std::string &hostPrefix) {
  Plane &plane = builder.plane;
  std::vector<Stat> stats;
  if (record.kind == Kind::Launch) {
    const auto &program = *static_cast<const ProgramInfo *>(record.what);
    stats = {plane.text("hlo_module", program.name), plane.number("program_id", program.id), plane.number("run_id", record.a),
             plane.number("_pt", 0), plane.number("_p", flowOf(record.a))};
    builder.add(line, builder.named(hostPrefix + "ExecuteComputation"), record, stats);
    return;
  }
  if (record.kind == Kind::Piece || record.kind == Kind::Wait) {
    const auto *program = static_cast<const ProgramInfo *>(record.what);
    const std::string &step = !program ? kNoStep : record.b ? program->kernels[record.index].name : program->steps[record.index].name;
    if (program)
      stats = {plane.text("hlo_op", step), plane.text("hlo_module", program->name), plane.number("run_id", record.a),
               plane.number("device_ordinal", record.device)};
    if (record.kind == Kind::Piece)
      stats.push_back(plane.number("pieces", record.c));
    stats.push_back(plane.text("category", record.kind == Kind::Piece ? "piece" : "wait"));
    builder.add(line, builder.named(record.kind == Kind::Piece ? step : "wait for the pool"), record, stats);
    return;
  }
  const auto &name = *static_cast<const Name *>(record.what);
  if (record.kind == Kind::Transfer) {
    stats = {plane.number("bytes", record.a), plane.number("device_ordinal", record.device)};
    builder.add(line, builder.named(hostPrefix + name), record, stats);
    return;
  }
  if (record.a)
    addDetails(plane, *nameAt(record.a), stats);
  const char *const categories[] = {"region", "tracing", "compile", "cache"};
  stats.push_back(plane.text("category", categories[size_t(record.kind)]));
  builder.add(line, builder.named(record.kind == Kind::Compile && name == "Compile" ? hostPrefix + name : name), record, stats);
}

/// An event without duration per program: jaxlib keeps of a plane what events refer to.
Plane metadata(const std::map<uint64_t, const ProgramInfo *> &programs, const Timeline &timeline) {
  PlaneBuilder builder{std::string(kMetadataPlane), timeline};
  Plane::Line &line = builder.line(0, "programs");
  for (const auto &[id, program] : programs) {
    if (program->hlo.empty())
      continue;
    Plane::Event event;
    event.kind = builder.kind({program, 0, 0}, [&, id = id, program = program](Plane::EventKind &made) {
      made.name = titleOf(*program);
      made.stats = {builder.plane.bytes("Hlo Proto", program->hlo), builder.plane.number("program_id", id)};
    });
    line.events.push_back(event);
  }
  return builder.finish();
}

bool isOfDevice(Kind kind) { return kind == Kind::Execution || kind == Kind::Kernel || kind == Kind::Step || kind == Kind::Memory; }

/// "main", "runs device 0", else the name that the system knows.
std::string titleOf(const Recording::Thread &thread) {
  if (thread.id == int64_t(getpid()))
    return "main";
  for (const Record &record : thread.records)
    if (record.kind == Kind::Execution)
      return "runs device " + std::to_string(record.device);
  return thread.name.empty() ? "thread " + std::to_string(thread.id) : thread.name;
}

// Fact: values of host_tracer_level from which on there are regions of the user's program, and what the client and the compiler do.
constexpr uint64_t kUsersLevel = 1, kExecutionLevel = 2;

} // namespace

void setHostPrefix(std::string text) {
  std::lock_guard lock(prefixMutex);
  prefix() = std::move(text);
}

XSpace toXSpace(const Recording &recording, bool isWhole, const Wanted &wanted) {
  const Timeline &timeline = recording.timeline;
  std::string hostPrefix;
  {
    std::lock_guard lock(prefixMutex);
    hostPrefix = prefix();
  }
  std::map<uint32_t, PlaneBuilder> devices;
  PlaneBuilder host(std::string(kHostPlane), timeline);
  for (const Recording::Thread &thread : recording.threads) {
    Plane::Line *line = nullptr;
    for (const Record &record : thread.records) {
      if (isOfDevice(record.kind)) {
        if (!wanted.deviceLevel)
          continue;
        uint32_t device = record.device;
        if (record.kind == Kind::Memory) {
          auto found = recording.devices.find(record.what);
          if (found == recording.devices.end()) // not that of a device
            continue;
          device = found->second;
        }
        auto found = devices.try_emplace(device, std::string(kDevicePlane) + std::to_string(device), timeline).first;
        addDeviceRecord(found->second, record, timeline);
        continue;
      }
      if (wanted.hostLevel < (record.kind == Kind::Region ? kUsersLevel : kExecutionLevel))
        continue;
      if (!line)
        line = &host.line(thread.id, titleOf(thread));
      addHostRecord(host, *line, record, hostPrefix);
    }
  }
  XSpace space;
  space.hasMemoryEvents = wanted.hostLevel >= kExecutionLevel;
  std::map<uint64_t, const ProgramInfo *> programs; ///< that ran, by id
  for (const Recording::Thread &thread : recording.threads)
    for (const Record &record : thread.records)
      if (record.kind == Kind::Execution)
        programs.emplace(static_cast<const ProgramInfo *>(record.what)->id, static_cast<const ProgramInfo *>(record.what));
  for (auto &[device, builder] : devices) {
    if (!programs.empty()) // otherwise there may be no pool
      builder.plane.stats.push_back(builder.plane.number(kThreadsStat, ThreadPool::global().size()));
    space.planes.push_back(builder.finish());
  }
  if (wanted.hostLevel)
    space.planes.push_back(host.finish());
  if (!programs.empty()) {
    Plane &graphs = space.planes.emplace_back();
    graphs.name = kProgramsPlane;
    for (const auto &[id, program] : programs)
      graphs.stats.push_back(graphs.text(titleOf(*program), program->graph));
  }
  if (wanted.hasPrograms && !programs.empty())
    space.planes.push_back(metadata(programs, timeline));
  if (isWhole) {
    Plane &environment = space.planes.emplace_back();
    environment.name = kEnvironmentPlane;
    environment.stats = {environment.number("profile_start_time", uint64_t(timeline.startNs)),
                         environment.number("profile_stop_time", uint64_t(timeline.endNs))};
    char name[HOST_NAME_MAX + 1] = "localhost";
    gethostname(name, sizeof name - 1);
    space.hostnames.push_back(name);
  }
  if (recording.lost)
    space.warnings.push_back(std::to_string(recording.lost) + " events were lost: the recorder's memory was full. Kernels, memory and waits of late executions are missing.");
  if (!recording.numRecords())
    space.warnings.push_back("nothing was recorded: no program of Millrace was compiled or run in this process meanwhile");
  return space;
}

} // namespace millrace::runtime::profile
