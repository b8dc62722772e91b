// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProfilerService.cpp - Recordings for other processes -----------------===//
// Fields of ProfileRequest: 1 duration_ms, 4 opts (ProfileOptions: 2, 3, 4 levels, 5 version, 7 enable_hlo_proto, 8 start_timestamp_ns,
// 9 duration_ms), 5 repository_root, 6 session_id, 7 host_name, 9 emit_xspace. Of ProfileResponse: 7 empty_trace, 8 xspace. Of TerminateRequest:
// 1 session_id.
#include "runtime/profile/rpc/ProfilerService.h"
#include "runtime/base/File.h"
#include "runtime/base/Proto.h"
#include "runtime/profile/ToXSpace.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

namespace millrace::runtime::profile::rpc {
namespace {

using namespace std::chrono_literals;
using proto::Reader;

/// A capture that is asked for a longer time, or for a later one, is refused. Unit: milliseconds. Source: judgement: a day.
constexpr uint64_t kMostMs = uint64_t(24) * 3600 * 1000;

struct ProfileRequest {
  uint64_t durationMs = 0, startNs = 0;
  std::string root, session, host;
  bool emits = false;
  Wanted wanted;
};

bool read(std::string_view bytes, ProfileRequest &request) {
  Reader reader(bytes);
  while (reader.next()) {
    switch (reader.field) {
    case 1: request.durationMs = reader.number; break;
    case 4: {
      if (!readProfileOptions(reader.bytes, request.wanted))
        return false;
      Reader options(reader.bytes);
      while (options.next()) {
        if (options.field == 8)
          request.startNs = options.number;
        if (options.field == 9 && options.number)
          request.durationMs = options.number;
      }
      break;
    }
    case 5: request.root = reader.bytes; break;
    case 6: request.session = reader.bytes; break;
    case 7: request.host = reader.bytes; break;
    case 9: request.emits = reader.number != 0; break;
    default: break;
    }
  }
  return !reader.isBroken;
}

/// What all calls of one server know of each other.
struct Service {
  std::mutex mutex;
  bool isRecording = false; ///< guarded by mutex, as are the next
  std::string recorded;     ///< the session that records
  bool isTerminated = false; ///< it shall end now

  Reply profile(const Request &request) {
    ProfileRequest asked;
    if (!read(request.bytes, asked))
      return {Outcome::InvalidArgument, "the ProfileRequest is damaged", ""};
    if (asked.durationMs > kMostMs)
      return {Outcome::InvalidArgument, "expects duration_ms of at most a day, but got " + std::to_string(asked.durationMs), ""};
    auto isPart = [](const std::string &name) { return name.find('/') == std::string::npos && name != ".." && name != "."; };
    if (!isPart(asked.session) || !isPart(asked.host))
      return {Outcome::InvalidArgument, "expects names for session_id and host_name, but got '" + asked.session + "' and '" + asked.host + "'", ""};
    {
      std::lock_guard lock(mutex);
      if (isRecording)
        return {Outcome::Internal, "another recording of this process has not ended yet", ""};
      isRecording = true;
      recorded = asked.session;
      isTerminated = false;
    }
    Reply reply = record(request, asked);
    std::lock_guard lock(mutex);
    isRecording = false;
    return reply;
  }

  Reply record(const Request &request, const ProfileRequest &asked) {
    auto isOver = [&] {
      std::lock_guard lock(mutex);
      return request.isCancelled->load() || isTerminated;
    };
    auto waitUntil = [&](std::chrono::system_clock::time_point when) {
      while (!isOver() && std::chrono::system_clock::now() < when)
        std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(10ms, when - std::chrono::system_clock::now()));
    };
    const auto now = std::chrono::system_clock::now();
    const auto start = std::chrono::system_clock::time_point(std::chrono::nanoseconds(asked.startNs));
    if (asked.startNs && start > now && start < now + std::chrono::milliseconds(kMostMs))
      waitUntil(start);
    XSpace space;
    {
      Session session;
      waitUntil(std::chrono::system_clock::now() + std::chrono::milliseconds(asked.durationMs));
      if (request.isCancelled->load())
        return {Outcome::Cancelled, "nobody waits for the recording", ""};
      space = toXSpace(session.stop(), /*isWhole=*/true, asked.wanted);
    }
    Reply reply;
    const bool isEmpty = space.numEvents() == 0;
    const std::string bytes = encode(space);
    if (asked.emits) {
      proto::putNumber(reply.bytes, 7, isEmpty);
      proto::putBytes(reply.bytes, 8, bytes);
      return reply;
    }
    if (!isEmpty) {
      if (asked.root.empty())
        return {Outcome::InvalidArgument, "expects a repository_root, or emit_xspace", ""};
      std::string host = asked.host.empty() ? (space.hostnames.empty() ? "localhost" : space.hostnames[0]) : asked.host;
      std::replace(host.begin(), host.end(), ':', '_'); // "localhost:9012"
      const std::string folder = asked.root + "/" + asked.session;
      Status status = createFolders(folder);
      if (status.ok())
        status = writeFileAtomically(folder + "/" + host + ".xplane.pb", bytes);
      if (!status.ok())
        return {Outcome::Internal, "the recording cannot be written: " + std::string(status.message()), ""};
    }
    proto::putNumber(reply.bytes, 7, isEmpty);
    return reply;
  }

  Reply terminate(const Request &request) {
    Reader reader(request.bytes);
    std::string session;
    while (reader.next())
      if (reader.field == 1)
        session = reader.bytes;
    std::lock_guard lock(mutex);
    isTerminated |= isRecording && session == recorded;
    return {};
  }
};

} // namespace

StatusOr<std::unique_ptr<Server>> serveProfiles(uint16_t port) {
  return Server::start(port, [service = std::make_shared<Service>()](const Request &request) -> Reply {
    constexpr std::string_view prefix = "/tensorflow.ProfilerService/";
    if (!request.path.starts_with(prefix))
      return {Outcome::Unimplemented, "expects a call of tensorflow.ProfilerService, but got " + request.path, ""};
    std::string_view method = std::string_view(request.path).substr(prefix.size());
    if (method == "Profile")
      return service->profile(request);
    if (method == "Terminate")
      return service->terminate(request);
    return {Outcome::Unimplemented, std::string(method) + " is not implemented", ""};
  });
}

Capture capture(const std::string &address, const CaptureRequest &request) {
  std::string options, bytes;
  proto::putNumber(options, 2, request.hostTracerLevel);
  proto::putNumber(options, 3, request.deviceTracerLevel);
  proto::putNumber(options, 4, request.pythonTracerLevel);
  proto::putNumber(options, 5, 1);
  proto::putNumber(options, 7, 1);
  if (request.delayMs) {
    const auto start = std::chrono::system_clock::now() + std::chrono::milliseconds(request.delayMs);
    proto::putNumber(options, 8, uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(start.time_since_epoch()).count()));
  }
  proto::putNumber(options, 9, request.durationMs);
  proto::putNumber(bytes, 1, request.durationMs);
  proto::putBytes(bytes, 4, options);
  proto::putText(bytes, 5, request.repositoryRoot);
  proto::putText(bytes, 6, request.session);
  proto::putText(bytes, 7, address);
  const double seconds = std::max(60.0, 2e-3 * double(request.durationMs)) + 1e-3 * double(request.delayMs);
  Reply reply = call(address, "/tensorflow.ProfilerService/Profile", bytes, seconds);
  Capture result{reply.outcome, std::move(reply.message), false};
  Reader reader(reply.bytes);
  while (reader.next())
    if (reader.field == 7)
      result.isEmpty = reader.number != 0;
  return result;
}

} // namespace millrace::runtime::profile::rpc
