// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Environment.cpp - MILLRACE_PROFILE=FOLDER ----------------------------===//
#include "runtime/profile/Environment.h"
#include "runtime/base/Environment.h"
#include "runtime/base/File.h"
#include "runtime/base/Progress.h"
#include "runtime/profile/ChromeTrace.h"
#include "runtime/profile/Termination.h"
#include "runtime/profile/Thin.h"
#include "runtime/profile/ToXSpace.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <limits.h>
#include <memory>
#include <mutex>
#include <optional>
#include <unistd.h>

namespace millrace::runtime::profile {
namespace {

/// Bytes of a process's records. Unit: bytes. Source: benchmarks.recording_cost: 256 MiB became a file of 198 MB; files stay below 100.
constexpr uint64_t kBytesOfProcess = uint64_t(112) << 20;
/// Bytes of a file *.xplane.pb. Most recordings need less: those with long names, or with the HLO of thousands of programs, need more. Unit: bytes.
/// Source: judgement: a file stays below 100 MB.
constexpr uint64_t kMostFileBytes = 98'000'000;

/// The recording of one process.
struct OfProcess {
  OfProcess(pid_t process, const OfProcess *parent) : process(process), parent(parent) {}
  const pid_t process;
  const OfProcess *const parent; ///< the recording of the process that this one was forked from, which is never ended here; or null
  std::mutex mutex;
  bool hasBegun = false;
  std::string path;
  std::optional<Session> session;
  std::optional<BeforeTermination> written; ///< until the files are
};
/// Returns the recording of this process. A fork has one of its own from the start: another thread of its parent may hold the lock of the parent's,
/// and would never release it here.
OfProcess &ofProcess() {
  static std::atomic<OfProcess *> last{nullptr};
  OfProcess *known = last.load(std::memory_order_acquire);
  const pid_t self = getpid();
  while (!known || known->process != self) {
    auto made = std::make_unique<OfProcess>(self, known);
    if (last.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel))
      known = made.release();
  }
  return *known;
}

void writeAtEnd() {
  OfProcess &own = ofProcess();
  std::lock_guard lock(own.mutex);
  if (!own.session)
    return;
  Progress progress("MILLRACE_PROFILE: writing " + own.path);
  Recording recording = own.session->stop();
  own.session.reset();
  progress.show(std::to_string(recording.numRecords()) + " records");
  XSpace space = toXSpace(recording, /*isWhole=*/true);
  recording = Recording(); // the files need its memory
  if (Status status = writeFiles(space, own.path); !status.ok())
    std::fprintf(stderr, "millrace: MILLRACE_PROFILE: %s\n", std::string(status.message()).c_str());
  for (const std::string &warning : space.warnings)
    std::fprintf(stderr, "millrace: MILLRACE_PROFILE: %s\n", warning.c_str());
  own.written.reset();
}

std::atomic<bool> isHidden{false};
std::atomic<ReaderPlace> readerPlace{nullptr};

} // namespace

void hideFromFrameworks() { isHidden = true; }
bool isOfferedToFrameworks() { return !isHidden; }

void setReaderPlace(ReaderPlace place) { readerPlace.store(place, std::memory_order_release); }
std::string placeOfReader() {
  const ReaderPlace place = isOn() ? readerPlace.load(std::memory_order_acquire) : nullptr;
  char text[PATH_MAX];
  return place ? std::string(text, std::min(sizeof text, place(text, sizeof text))) : std::string();
}

void endFromEnvironment() { writeAtEnd(); }

Status writeFiles(XSpace &space, const std::string &path) {
  MILLRACE_TRY(writeFileAtomically(path + ".xplane.pb", encodeWithin(space, kMostFileBytes)));
  return writeFileAtomically(path + ".trace.json", chromeTrace(space));
}

Status startFromEnvironment(uint32_t rank) {
  const std::string folder = environment::text("MILLRACE_PROFILE");
  if (folder.empty())
    return Status();
  OfProcess &own = ofProcess();
  std::lock_guard lock(own.mutex);
  if (own.hasBegun)
    return Status();
  if (Status status = createFolders(folder); !status.ok())
    return status.withContext("MILLRACE_PROFILE expects a folder for the recordings");
  static std::atomic<bool> isRegistered{false}; // forked children inherit what atexit() was told
  if (!isRegistered.exchange(true))
    std::atexit(writeAtEnd);
  own.hasBegun = true;
  char whole[PATH_MAX]; // the program may change its folder before it ends
  own.path = std::string(realpath(folder.c_str(), whole) ? whole : folder) + "/rank" + std::to_string(rank) + "." + std::to_string(own.process);
  own.session.emplace(kBytesOfProcess);
  own.written.emplace(writeAtEnd);
  return Status();
}

} // namespace millrace::runtime::profile

extern "C" __attribute__((visibility("default"))) void millrace_begin_region(const char *name, const char *details) {
  millrace::runtime::profile::beginRegion(name, details);
}
extern "C" __attribute__((visibility("default"))) int millrace_end_region() { return millrace::runtime::profile::endRegion(); }
extern "C" __attribute__((visibility("default"))) void millrace_end_recording() { millrace::runtime::profile::endFromEnvironment(); }
extern "C" __attribute__((visibility("default"))) void millrace_hide_profiler() { millrace::runtime::profile::hideFromFrameworks(); }
extern "C" __attribute__((visibility("default"))) void millrace_set_reader_place(millrace::runtime::profile::ReaderPlace place) {
  millrace::runtime::profile::setReaderPlace(place);
}
