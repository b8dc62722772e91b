// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Kineto.cpp - Our devices in the profiles of torch.profiler -----------===//
// torch.profiler collects what profilers of other devices know, which register themselves with its library, Kineto. A profile has a session of our
// recorder; when it ends, the session's planes become Kineto's activities: those of devices have rows of their own, those of threads join the
// rows of operators. All count as time of the processor, because that is what our devices are: torch has columns for few kinds of devices,
// and refuses to print tables with times of one that was not asked for.
#include "python/torch_xla/csrc/Kineto.h"
#define FMT_HEADER_ONLY // Kineto's headers format texts, and libtorch keeps its copy of that library to itself
#if __has_include(<kineto/libkineto.h>)
#include "python/torch_xla/csrc/Gil.h"
#include "runtime/profile/ChromeTrace.h"
#include "runtime/profile/MemoryListener.h"
#include "runtime/profile/ToXSpace.h"
#include "tracing/Session.h"

#include <c10/core/Allocator.h>
#include <kineto/libkineto.h>
#include <kineto/output_base.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace millrace::torch_shim {
namespace {

namespace profile = runtime::profile;
using libkineto::ActivityType;

/// Numbers of devices that are no processes: Linux has none that large.
constexpr int32_t kFirstDevice = 5'000'000;

//===--- Memory ------------------------------------------------------------===//
// torch.profiler keeps an account of memory per thread that it profiles, and ends a profile without a word to other threads: it would read what they
// are writing. So they leave their changes here, and a profiled thread tells of them when it takes or gives back memory itself, launches a program, or
// has waited for one. As for the devices of others, the account says which lines of the program cause changes, not when a device makes them.

struct MemoryChange {
  uint32_t device = 0;
  void *data = nullptr;
  int64_t bytes = 0;
  uint64_t inUse = 0;
};

struct UntoldMemory {
  std::mutex mutex;
  bool isWanted = false;             ///< a profile with memory is going on; guarded by mutex, as is the next
  std::vector<MemoryChange> changes; ///< of other threads, in their order

  static UntoldMemory &get() {
    static auto *made = new UntoldMemory; // threads of devices outlive everything
    return *made;
  }
  void want(bool wanted) {
    std::lock_guard lock(mutex);
    isWanted = wanted;
    changes.clear();
  }
  void leave(const MemoryChange &change) {
    std::lock_guard lock(mutex);
    if (isWanted)
      changes.push_back(change);
  }
  std::vector<MemoryChange> take() {
    std::lock_guard lock(mutex);
    return std::exchange(changes, {});
  }
};

/// The tables of torch.profiler have a column of devices' memory for a few kinds of devices only, of which PrivateUse1 is the one that belongs to nobody;
/// as XLA it would be in no column.
void tellTorch(const MemoryChange &change) {
  c10::reportMemoryUsageToProfiler(change.data, change.bytes, change.inUse, change.inUse,
                                   c10::Device(c10::DeviceType::PrivateUse1, c10::DeviceIndex(change.device)));
}

/// Called by the thread that takes or gives back memory.
void onMemory(uint32_t device, void *data, int64_t bytes, uint64_t inUse) {
  const MemoryChange change{device, data, bytes, inUse};
  if (!c10::memoryProfilingEnabled()) {
    UntoldMemory::get().leave(change);
    return;
  }
  tellTorchOfMemory();
  tellTorch(change);
}

//===--- Activities --------------------------------------------------------===//

class Session : public libkineto::IActivityProfilerSession {
public:
  void start() override {
    session.emplace();
    UntoldMemory::get().want(c10::memoryProfilingEnabled());
  }

  void stop() override {
    if (!session)
      return;
    UntoldMemory::get().want(false);
    // What was launched belongs to the profile. Its errors are told to who reads its results.
    if (PyGILState_Check()) {
      const WithoutGil released;
      (void)tracing::Session::get().wait();
    } else {
      (void)tracing::Session::get().wait();
    }
    space = profile::toXSpace(session->stop(), /*isWhole=*/false, {.hasPrograms = false});
    session.reset();
  }

  std::vector<std::string> errors() override { return space.errors; }

  void processTrace(libkineto::ActivityLogger &logger) override {
    for (const profile::Plane &plane : space.planes)
      if (plane.name.starts_with(profile::kDevicePlane))
        addDevice(plane, logger);
      else if (plane.name == profile::kHostPlane)
        addHost(plane, logger);
    for (const auto &activity : activities->activities)
      activity->log(logger);
  }

  std::unique_ptr<libkineto::DeviceInfo> getDeviceInfo() override { return nullptr; } // processTrace tells of several
  std::vector<libkineto::ResourceInfo> getResourceInfos() override { return {}; }
  std::unique_ptr<libkineto::CpuTraceBuffer> getTraceBuffer() override { return std::move(activities); }

private:
  void addDevice(const profile::Plane &plane, libkineto::ActivityLogger &logger) {
    const int32_t ordinal = int32_t(std::strtol(plane.name.c_str() + profile::kDevicePlane.size(), nullptr, 10));
    const int32_t device = kFirstDevice + ordinal;
    const int64_t time = plane.lines.empty() ? 0 : plane.lines[0].start;
    logger.handleDeviceInfo({device, device, "Millrace CPU:" + std::to_string(ordinal), "device " + std::to_string(ordinal)}, time);
    for (const profile::Plane::Line &line : plane.lines) {
      logger.handleResourceInfo({line.id, line.id, device, line.name}, time);
      for (const profile::Plane::Event &event : line.events)
        add(plane, line, event, ActivityType::PRIVATEUSE1_RUNTIME, device, int32_t(line.id));
    }
  }

  void addHost(const profile::Plane &plane, libkineto::ActivityLogger &logger) {
    for (const profile::Plane::Line &line : plane.lines) {
      if (line.name != "main")
        logger.handleResourceInfo({line.id, line.id, int64_t(getpid()), line.name}, line.start);
      for (const profile::Plane::Event &event : line.events) {
        const profile::Stat *category = plane.find(line, event, "category");
        if (category && plane.texts[category->text] == "region") // torch has recorded it already (xp.Trace is a record_function)
          continue;
        add(plane, line, event, ActivityType::PRIVATEUSE1_DRIVER, int32_t(getpid()), int32_t(line.id));
      }
    }
  }

  void add(const profile::Plane &plane, const profile::Plane::Line &line, const profile::Plane::Event &event, ActivityType type, int32_t device,
           int32_t resource) {
    activities->emplace_activity(activities->span, type, plane.kinds[event.kind].name);
    libkineto::GenericTraceActivity &made = *activities->activities.back();
    made.startTime = line.start + event.offset / 1000;
    made.endTime = made.startTime + event.duration / 1000;
    made.device = device;
    made.resource = made.threadId = resource;
    auto describe = [&](const profile::Stat &stat) {
      const std::string &name = plane.nameOf(stat);
      if (name == "_p" || name == "_c") { // the arrow from a launch to its execution
        made.flow.id = uint32_t(stat.number);
        made.flow.type = libkineto::kLinkAsyncCpuGpu;
        made.flow.start = name == "_p";
      }
      if (name.starts_with("_"))
        return;
      switch (stat.type) {
      case profile::Stat::Type::Real: made.addMetadata(name, stat.real); break;
      case profile::Stat::Type::Unsigned: made.addMetadata(name, stat.number); break;
      case profile::Stat::Type::Signed: made.addMetadata(name, stat.integer); break;
      case profile::Stat::Type::Bytes: break;
      case profile::Stat::Type::Text: made.addMetadataQuoted(name, escaped(plane.texts[stat.text])); break;
      }
    };
    for (uint32_t i = 0; i < event.numStats; ++i)
      describe(line.stats[event.firstStat + i]);
    for (const profile::Stat &stat : plane.kinds[event.kind].stats)
      describe(stat);
  }

  /// Kineto puts texts into JSON as they are.
  static std::string escaped(const std::string &text) {
    std::string json = profile::jsonText(text);
    return json.substr(1, json.size() - 2);
  }

  std::optional<profile::Session> session;
  profile::XSpace space;
  std::unique_ptr<libkineto::CpuTraceBuffer> activities = std::make_unique<libkineto::CpuTraceBuffer>();
};

class Profiler : public libkineto::IActivityProfiler {
public:
  const std::string &name() const override {
    static const std::string name = "Millrace";
    return name;
  }
  const std::set<ActivityType> &availableActivities() const override {
    static const std::set<ActivityType> types{ActivityType::PRIVATEUSE1_RUNTIME, ActivityType::PRIVATEUSE1_DRIVER};
    return types;
  }
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(const std::set<ActivityType> &types, const libkineto::Config &) override {
    // A profile of processors asks for these two.
    for (ActivityType type : availableActivities())
      if (types.count(type))
        return std::make_unique<Session>();
    return nullptr;
  }
  std::unique_ptr<libkineto::IActivityProfilerSession> configure(int64_t, int64_t, const std::set<ActivityType> &types,
                                                                 const libkineto::Config &config) override {
    return configure(types, config);
  }
};

[[maybe_unused]] const bool isRegistered = [] {
  libkineto::api().registerProfilerFactory([] { return std::make_unique<Profiler>(); });
  profile::setMemoryListener(onMemory);
  return true;
}();

} // namespace

void tellTorchOfMemory() {
  if (c10::memoryProfilingEnabled())
    for (const MemoryChange &change : UntoldMemory::get().take())
      tellTorch(change);
}

} // namespace millrace::torch_shim
#else
void millrace::torch_shim::tellTorchOfMemory() {}
#endif
