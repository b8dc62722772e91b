// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ToXSpace.cpp - A recording as planes, lines and events --------------===//
#include "runtime/profile/ToXSpace.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/profile/ProgramInfo.h"
#include "runtime/profile/views/Texts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <limits.h>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <unistd.h>
#include <unordered_map>

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

/// Names of the stats that many events have.
enum StatName : uint8_t {
  kInUse, kChange, kAddress, kPurpose, kSource, kProgramId, kRunId, kModule, kOp, kQueue, kIterations, kWait, kBytes, kOrdinal, kPieces, kCategory,
  kProducerType, kProducer, kConsumerType, kConsumer, kNumStatNames
};
// Fact: what readers look for.
constexpr std::string_view kStatNames[] = {"bytes in use", "change", "address", "purpose", "source", "program_id", "run_id", "hlo_module", "hlo_op", "queue_ns",
                                           "iterations", "wait_ns", "bytes", "device_ordinal", "pieces", "category", "_pt", "_p", "_ct", "_c"};
static_assert(std::size(kStatNames) == kNumStatNames);

/// Adds events to the lines of one plane, each kind of event once. Texts and kinds are looked up by the address of what they are made of: a recording has
/// millions of events and some hundred of these.
class PlaneBuilder {
public:
  PlaneBuilder(std::string name, const Timeline &timeline) : timeline(timeline) {
    plane.name = std::move(name);
    names.fill(kUnknown);
  }

  Plane::Line &line(int64_t id, std::string_view name) {
    auto [found, isNew] = lineIndex.emplace(id, plane.lines.size());
    if (isNew) {
      Plane::Line &made = plane.lines.emplace_back();
      made.id = id;
      made.name = name;
      made.start = timeline.startNs;
      if (auto count = expected.find(id); count != expected.end())
        reserve(made, count->second);
    }
    return plane.lines[found->second];
  }
  /// Says that a line will have more events: memory that grows would be copied, and twice as much would be touched.
  void expect(int64_t line) { ++expected[line]; }
  static void reserve(Plane::Line &line, size_t events) {
    // Stats of an event, as a rule at most so many. Unit: stats. Source: arithmetic: executions, pieces and allocations have five, kernels four.
    constexpr size_t kStats = 5;
    line.events.reserve(events);
    line.stats.reserve(events * kStats);
  }

  /// The index of `text`, which is always at the same address.
  uint32_t text(const std::string &text) {
    auto [found, isNew] = textIndex.emplace(&text, 0);
    if (isNew)
      found->second = plane.text(text);
    return found->second;
  }
  Stat number(StatName name, uint64_t value) {
    Stat stat;
    stat.name = index(name);
    stat.number = value;
    return stat;
  }
  Stat integer(StatName name, int64_t value) {
    Stat stat = number(name, uint64_t(value));
    stat.type = Stat::Type::Signed;
    return stat;
  }
  /// `text`: its index.
  Stat text(StatName name, uint32_t text) {
    Stat stat = number(name, text);
    stat.type = Stat::Type::Text;
    return stat;
  }

  /// The index of a kind of its own for what is at an address; `fill` is called the first time.
  template <typename Fill>
  uint32_t kind(const void *of, Fill fill) {
    auto [found, isNew] = kindIndex.emplace(of, uint32_t(plane.kinds.size()));
    if (isNew) {
      Plane::EventKind made;
      fill(made);
      plane.kinds.push_back(std::move(made));
    }
    return found->second;
  }
  /// The index of the kind of that name, which is always at the same address; the other one puts something before it.
  uint32_t named(const std::string &name) {
    auto [found, isNew] = namedIndex.emplace(&name, 0);
    if (isNew)
      found->second = named(std::string_view(name));
    return found->second;
  }
  uint32_t named(const std::string &before, const std::string &name) {
    auto [found, isNew] = prefixedIndex.emplace(&name, 0);
    if (isNew)
      found->second = named(std::string_view(before + name));
    return found->second;
  }

  /// The indices of what events say of one program.
  struct OfProgram {
    explicit OfProgram(const ProgramInfo &program) : kernels(program.kernels.size(), kUnknown), steps(program.steps.size(), kUnknown) {}
    std::vector<uint32_t> kernels, steps; ///< their kinds
    std::vector<uint32_t> places;         ///< texts of locations; kNoPlace where there is none
  };
  static constexpr uint32_t kUnknown = ~uint32_t(0), kNoPlace = kUnknown - 1; ///< Fact: no indices
  OfProgram &of(const ProgramInfo &program) {
    if (lastProgram != &program) {
      lastProgram = &program;
      last = &programs.try_emplace(&program, program).first->second;
    }
    return *last;
  }
  /// The text of a location; kNoPlace where nothing is known.
  uint32_t place(const ProgramInfo &program, uint64_t location) {
    std::vector<uint32_t> &places = of(program).places;
    if (location >= program.locations.size())
      return kNoPlace;
    places.resize(program.locations.size(), kUnknown);
    uint32_t &found = places[location];
    if (found == kUnknown) {
      const std::string_view text = placeOf(program, location);
      found = text.empty() ? kNoPlace : plane.text(text);
    }
    return found;
  }

  /// Adds an event whose stats have been appended to those of its line.
  void add(Plane::Line &line, uint32_t kind, const Record &record, size_t firstStat) {
    Plane::Event &event = line.events.emplace_back();
    event.kind = kind;
    event.firstStat = uint32_t(firstStat);
    event.numStats = uint32_t(line.stats.size() - firstStat);
    event.offset = timeline.picoseconds(record.start);
    event.duration = timeline.picoseconds(record.end) - event.offset;
  }

  /// Events in the order of their begins; what contains others comes before them.
  Plane finish() {
    for (Plane::Line &line : plane.lines) {
      auto isBefore = [](const Plane::Event &a, const Plane::Event &b) {
        return std::tuple(a.offset, -a.duration, a.firstStat) < std::tuple(b.offset, -b.duration, b.firstStat);
      };
      if (!std::is_sorted(line.events.begin(), line.events.end(), isBefore))
        std::sort(line.events.begin(), line.events.end(), isBefore);
    }
    std::sort(plane.lines.begin(), plane.lines.end(), [](const Plane::Line &a, const Plane::Line &b) { return a.id < b.id; });
    return std::move(plane);
  }

  Plane plane;

private:
  uint32_t index(StatName name) {
    if (names[name] == kUnknown)
      names[name] = plane.text(kStatNames[name]);
    return names[name];
  }
  uint32_t named(std::string_view name) {
    return kind(intern(name), [&](Plane::EventKind &made) { made.name = name; });
  }

  const Timeline &timeline;
  std::array<uint32_t, kNumStatNames> names;
  std::map<int64_t, size_t> lineIndex, expected;
  std::unordered_map<const void *, uint32_t> kindIndex, namedIndex, prefixedIndex, textIndex;
  std::unordered_map<const ProgramInfo *, OfProgram> programs;
  const ProgramInfo *lastProgram = nullptr;
  OfProgram *last = nullptr;
};

/// Numbers of executions, so that those of several processes stay apart.
uint64_t flowOf(uint64_t execution) { return uint64_t(getpid()) << 40 | (execution & ((uint64_t(1) << 40) - 1)); }

std::string titleOf(const ProgramInfo &program) { return program.name + "(" + std::to_string(program.id) + ")"; }

void addMemory(PlaneBuilder &builder, const Record &record) {
  static const std::string inUse(kStatNames[kInUse]);
  static const std::array<std::string, 6> purposes = [] {
    std::array<std::string, 6> made;
    for (size_t i = 0; i < made.size(); ++i)
      made[i] = nameOf(Purpose(i));
    return made;
  }();
  const uint32_t kind = builder.named(inUse);
  Plane::Line &line = builder.line(kCounters, "_counters_");
  const size_t first = line.stats.size();
  line.stats.push_back(builder.number(kInUse, record.b));
  line.stats.push_back(builder.integer(kChange, int64_t(record.a)));
  line.stats.push_back(builder.number(kAddress, record.c));
  if (int64_t(record.a) >= 0) {
    line.stats.push_back(builder.text(kPurpose, builder.text(purposes[record.index])));
    if (record.d)
      line.stats.push_back(builder.text(kSource, builder.text(*nameAt(record.d))));
  }
  builder.add(line, kind, record, first);
}

void addExecution(PlaneBuilder &builder, const Record &record, const Timeline &timeline) {
  Plane &plane = builder.plane;
  const auto &program = *static_cast<const ProgramInfo *>(record.what);
  Plane::Line &line = builder.line(kModules, "XLA Modules");
  const size_t first = line.stats.size();
  const uint32_t kind = builder.kind(&program, [&](Plane::EventKind &made) {
    made.name = titleOf(program);
    made.stats = {plane.number(kStatNames[kProgramId], program.id)};
  });
  const int64_t queued = record.b ? timeline.picoseconds(record.start) - timeline.picoseconds(record.b) : 0;
  line.stats.push_back(builder.text(kModule, builder.text(program.name)));
  line.stats.push_back(builder.number(kRunId, record.a));
  line.stats.push_back(builder.integer(kQueue, queued / 1000));
  line.stats.push_back(builder.number(kConsumerType, 0));
  line.stats.push_back(builder.number(kConsumer, flowOf(record.a)));
  builder.add(line, kind, record, first);
}

Plane::EventKind kindOf(Plane &plane, const ProgramInfo &program, uint32_t index, bool isKernel) {
  Plane::EventKind made;
  if (isKernel) {
    const ProgramInfo::KernelInfo &kernel = program.kernels[index];
    made.name = kernel.name;
    made.stats = {plane.text("hlo_category", kernel.emitter), plane.text("operations", kernel.ops), plane.number("flops", uint64_t(kernel.flops)),
                  plane.number("bytes_accessed", uint64_t(kernel.bytesAccessed))};
    if (kernel.mostPieces)
      made.stats.push_back(plane.number("most_pieces", kernel.mostPieces));
  } else {
    const ProgramInfo::StepInfo &step = program.steps[index];
    made.name = step.name;
    made.stats = {plane.text("hlo_category", step.kind == ProgramInfo::StepInfo::Kind::Collective ? "collective" : "step")};
    if (step.kind == ProgramInfo::StepInfo::Kind::Collective) {
      made.stats.push_back(plane.number("bytes", step.bytes));
      made.stats.push_back(plane.number("peers", step.peers));
    }
  }
  made.stats.push_back(plane.number("program_id", program.id));
  return made;
}

/// Of a kernel or of another step.
void addStep(PlaneBuilder &builder, const Record &record, const Timeline &timeline) {
  const auto &program = *static_cast<const ProgramInfo *>(record.what);
  const bool isKernel = record.kind == Kind::Kernel;
  PlaneBuilder::OfProgram &known = builder.of(program);
  uint32_t &kind = isKernel ? known.kernels[record.index] : known.steps[record.index];
  if (kind == PlaneBuilder::kUnknown) {
    kind = uint32_t(builder.plane.kinds.size());
    builder.plane.kinds.push_back(kindOf(builder.plane, program, record.index, isKernel));
  }
  Plane::Line &line = builder.line(kOps, "XLA Ops");
  const size_t first = line.stats.size();
  // On the event, not on its kind, for readers that show no others (jax.profiler.ProfileData).
  line.stats.push_back(builder.text(kOp, builder.text(isKernel ? program.kernels[record.index].name : program.steps[record.index].name)));
  line.stats.push_back(builder.text(kModule, builder.text(program.name)));
  line.stats.push_back(builder.number(kRunId, record.a));
  if (const uint32_t place = builder.place(program, record.b); place != PlaneBuilder::kNoPlace)
    line.stats.push_back(builder.text(kSource, place));
  if (!isKernel && program.steps[record.index].kind == ProgramInfo::StepInfo::Kind::Loop)
    line.stats.push_back(builder.number(kIterations, record.c));
  if (!isKernel && program.steps[record.index].kind == ProgramInfo::StepInfo::Kind::Collective)
    line.stats.push_back(builder.integer(kWait, int64_t(double(record.c) * timeline.nsPerTick)));
  builder.add(line, kind, record, first);
}

void addDeviceRecord(PlaneBuilder &builder, const Record &record, const Timeline &timeline) {
  if (record.kind == Kind::Memory)
    addMemory(builder, record);
  else if (record.kind == Kind::Execution)
    addExecution(builder, record, timeline);
  else
    addStep(builder, record, timeline);
}

// Names and values that are no names of records.
const std::string kNoStep = "range of the host"; ///< of what the pool runs for the host
const std::string kPoolWait = "wait for the pool", kLaunch = "ExecuteComputation", kPieceText = "piece", kWaitText = "wait", kCompile = "Compile";
const std::string kCategories[] = {"region", "tracing", "compile", "cache"}; ///< by Kind

void addHostRecord(PlaneBuilder &builder, Plane::Line &line, const Record &record, const std::string &hostPrefix) {
  std::vector<Stat> &stats = line.stats;
  const size_t first = stats.size();
  if (record.kind == Kind::Launch) {
    const auto &program = *static_cast<const ProgramInfo *>(record.what);
    stats.push_back(builder.text(kModule, builder.text(program.name)));
    stats.push_back(builder.number(kProgramId, program.id));
    stats.push_back(builder.number(kRunId, record.a));
    stats.push_back(builder.number(kProducerType, 0));
    stats.push_back(builder.number(kProducer, flowOf(record.a)));
    builder.add(line, builder.named(hostPrefix, kLaunch), record, first);
    return;
  }
  if (record.kind == Kind::Piece || record.kind == Kind::Wait) {
    const bool isPiece = record.kind == Kind::Piece;
    const auto *program = static_cast<const ProgramInfo *>(record.what);
    const std::string &step = !program ? kNoStep : record.b ? program->kernels[record.index].name : program->steps[record.index].name;
    if (program) {
      stats.push_back(builder.text(kOp, builder.text(step)));
      stats.push_back(builder.text(kModule, builder.text(program->name)));
      stats.push_back(builder.number(kRunId, record.a));
      stats.push_back(builder.number(kOrdinal, record.device));
    }
    if (isPiece)
      stats.push_back(builder.number(kPieces, record.c));
    stats.push_back(builder.text(kCategory, builder.text(isPiece ? kPieceText : kWaitText)));
    builder.add(line, builder.named(isPiece ? step : kPoolWait), record, first);
    return;
  }
  const auto &name = *static_cast<const Name *>(record.what);
  if (record.kind == Kind::Transfer) {
    stats.push_back(builder.number(kBytes, record.a));
    stats.push_back(builder.number(kOrdinal, record.device));
    builder.add(line, builder.named(hostPrefix, name), record, first);
    return;
  }
  if (record.a)
    addDetails(builder.plane, *nameAt(record.a), stats);
  stats.push_back(builder.text(kCategory, builder.text(kCategories[size_t(record.kind)])));
  builder.add(line, record.kind == Kind::Compile && name == kCompile ? builder.named(hostPrefix, name) : builder.named(name), record, first);
}

/// An event without duration per program: jaxlib keeps of a plane what events refer to.
Plane metadata(const std::map<uint64_t, const ProgramInfo *> &programs, const Timeline &timeline) {
  PlaneBuilder builder{std::string(kMetadataPlane), timeline};
  Plane::Line &line = builder.line(0, "programs");
  for (const auto &[id, program] : programs) {
    if (program->hlo.empty())
      continue;
    Plane::Event event;
    event.kind = builder.kind(program, [&, id = id, program = program](Plane::EventKind &made) {
      made.name = titleOf(*program);
      made.stats = {builder.plane.bytes("Hlo Proto", program->hlo), builder.plane.number("program_id", id)};
    });
    line.events.push_back(event);
  }
  return builder.finish();
}

bool isOfDevice(Kind kind) { return kind == Kind::Execution || kind == Kind::Kernel || kind == Kind::Step || kind == Kind::Memory; }

int64_t lineOf(Kind kind) { return kind == Kind::Memory ? kCounters : kind == Kind::Execution ? kModules : kOps; }

/// The device of such a record; nothing for memory of somebody else.
std::optional<uint32_t> deviceOf(const Record &record, const Recording &recording) {
  if (record.kind != Kind::Memory)
    return record.device;
  auto found = recording.devices.find(record.what);
  return found == recording.devices.end() ? std::nullopt : std::optional(found->second);
}

/// "main", "runs device 0", else the name that the system knows.
std::string titleOf(const Recording::Thread &thread) {
  if (thread.id == int64_t(getpid()))
    return "main";
  for (const Record &record : thread.records)
    if (record.kind == Kind::Execution)
      return "runs device " + std::to_string(record.device);
  return thread.name.empty() ? "thread " + std::to_string(thread.id) : thread.name;
}

/// "7 events were lost: the recorder's memory was full. From 2.300 s on ...": what tables say counts for the time before.
std::string lostText(const Recording &recording) {
  const Timeline &timeline = recording.timeline;
  const double wallNs = double(std::max<int64_t>(1, timeline.endNs - timeline.startNs));
  std::string text = std::to_string(recording.lost) + " events were lost: the recorder's memory was full.";
  auto add = [&](const char *what, uint64_t at) {
    const double ns = double(timeline.picoseconds(at)) / 1000;
    text += format(" From %.3f s on ", ns / 1e9) + what +
            format(" are missing: the recording has those of the first %.1f %% of its time.", std::min(100.0, 100 * ns / wallNs));
  };
  if (recording.othersLostAt)
    add("executions, transfers and compilations", recording.othersLostAt);
  if (recording.detailsLostAt)
    add("kernels, memory and waits", recording.detailsLostAt);
  return text;
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
  auto builderOf = [&](uint32_t device) -> PlaneBuilder & {
    if (auto found = devices.find(device); found != devices.end())
      return found->second;
    return devices.try_emplace(device, std::string(kDevicePlane) + std::to_string(device), timeline).first->second;
  };
  PlaneBuilder host(std::string(kHostPlane), timeline);
  if (wanted.deviceLevel)
    for (const Recording::Thread &thread : recording.threads)
      for (const Record &record : thread.records)
        if (isOfDevice(record.kind))
          if (const std::optional<uint32_t> device = deviceOf(record, recording))
            builderOf(*device).expect(lineOf(record.kind));
  for (const Recording::Thread &thread : recording.threads) {
    Plane::Line *line = nullptr;
    for (const Record &record : thread.records) {
      if (isOfDevice(record.kind)) {
        if (!wanted.deviceLevel)
          continue;
        if (const std::optional<uint32_t> device = deviceOf(record, recording))
          addDeviceRecord(builderOf(*device), record, timeline);
        continue;
      }
      if (wanted.hostLevel < (record.kind == Kind::Region ? kUsersLevel : kExecutionLevel))
        continue;
      if (!line) {
        line = &host.line(thread.id, titleOf(thread));
        PlaneBuilder::reserve(*line, size_t(std::count_if(thread.records.begin(), thread.records.end(), [](const Record &each) { return !isOfDevice(each.kind); })));
      }
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
    space.warnings.push_back(lostText(recording));
  if (!recording.numRecords())
    space.warnings.push_back("nothing was recorded: no program of Millrace was compiled or run in this process meanwhile");
  return space;
}

} // namespace millrace::runtime::profile
