// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProfilerService.h - Recordings for other processes -------------------===//
// The service tensorflow.ProfilerService, with which TensorBoard, XProf, jax.collect_profile and torch_xla's xp.trace ask a process for a recording.
#pragma once
#include "runtime/profile/rpc/Grpc.h"

namespace millrace::runtime::profile::rpc {

/// Answers Profile, Terminate and Monitor (with UNIMPLEMENTED). A recording is written by this process, into its own file system, as
/// <repository_root>/<session_id>/<host_name>.xplane.pb, unless the request asks for it in the reply. One at a time: others are INTERNAL.
StatusOr<std::unique_ptr<Server>> serveProfiles(uint16_t port);

struct CaptureRequest {
  std::string repositoryRoot; ///< <log folder>/plugins/profile
  std::string session;        ///< name of the folder in it
  uint64_t durationMs = 1000, delayMs = 0;
  uint32_t hostTracerLevel = 2, deviceTracerLevel = 1, pythonTracerLevel = 0;
};
struct Capture {
  Outcome outcome = Outcome::Ok;
  std::string message; ///< of an error
  bool isEmpty = false; ///< nothing happened there meanwhile
};

/// Asks the process at `address` ("host:port") for a recording and waits for it.
Capture capture(const std::string &address, const CaptureRequest &request);

} // namespace millrace::runtime::profile::rpc
