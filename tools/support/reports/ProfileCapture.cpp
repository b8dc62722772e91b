// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProfileCapture.cpp - `xla-prof capture` -------------------------------===//
#include "tools/support/reports/ProfileCapture.h"

#include "runtime/profile/rpc/ProfilerService.h"
#include "tools/support/programs/Source.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <thread>
#include <vector>

namespace millrace::tools {

namespace rpc = runtime::profile::rpc;

/// The name that XProf's own client gives a recording: the time in this machine's zone.
static std::string nameOfNow() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char text[32];
  return std::string(text, std::strftime(text, sizeof text, "%Y_%m_%d_%H_%M_%S", &parts));
}

int captureProfile(const ProfileCaptureOptions &options) {
  llvm::SmallVector<llvm::StringRef> addresses;
  llvm::StringRef(options.addresses).split(addresses, ',');
  rpc::CaptureRequest request;
  // A relative path would be relative to the folder of the process that writes.
  request.repositoryRoot = std::filesystem::absolute(options.folder).lexically_normal().string() + "/plugins/profile";
  request.session = nameOfNow();
  request.durationMs = options.durationMs;
  request.delayMs = options.delayMs;
  std::vector<rpc::Capture> captures(addresses.size());
  std::vector<std::thread> askers; // the recordings shall be of the same time
  for (size_t i = 0; i < addresses.size(); ++i)
    askers.emplace_back([&, i] { captures[i] = rpc::capture(addresses[i].str(), request); });
  for (std::thread &asker : askers)
    asker.join();
  int status = 0;
  for (size_t i = 0; i < addresses.size(); ++i) {
    const rpc::Capture &each = captures[i];
    if (each.outcome == rpc::Outcome::Unavailable)
      status = fail("xla-prof", each.message + "; does a program there serve recordings (xp.start_server, jax.profiler.start_server)?");
    else if (each.outcome != rpc::Outcome::Ok)
      status = fail("xla-prof", addresses[i].str() + ": " + each.message);
    else if (each.isEmpty)
      status = fail("xla-prof", addresses[i].str() + ": nothing ran there meanwhile, so there is no recording: is it the process that computes?");
    if (each.outcome != rpc::Outcome::Ok || each.isEmpty)
      continue;
    std::string host = addresses[i].str();
    std::replace(host.begin(), host.end(), ':', '_');
    std::printf("%s/%s/%s.xplane.pb\n", request.repositoryRoot.c_str(), request.session.c_str(), host.c_str());
  }
  return status;
}

} // namespace millrace::tools
