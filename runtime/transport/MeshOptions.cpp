// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MeshOptions.cpp - What the environment says about connections -------===//
#include "runtime/base/Environment.h"
#include "runtime/transport/Mesh.h"

#include <cstdlib>

namespace millrace::runtime::transport {

/// Least number of characters of MILLRACE_SECRET: 64 bits if they are hexadecimal digits.
static constexpr size_t shortestSecret = 16;

StatusOr<MeshOptions> meshOptionsFromEnvironment() {
  MeshOptions options;
  for (const std::string &value : {environment::text("MILLRACE_INTERFACE"), environment::text("GLOO_SOCKET_IFNAME")})
    if (!value.empty()) {
      options.interface = value;
      break;
    }
  if (const std::string name = environment::text("MILLRACE_TRANSPORT"); !name.empty()) {
    const bool isCarrier = name == "mpi" || name == "gloo" || name.find('/') != std::string::npos;
    if (name != "tcp" && name != "unix" && name != "auto" && !isCarrier)
      return invalidArgument("MILLRACE_TRANSPORT is '" + name +
                             "'; expects auto (memory and sockets of the host where possible), unix (its sockets alone), tcp, mpi, gloo or the path of "
                             "a carrier");
    if (isCarrier)
      options.carrier = name;
    options.usesUnixSockets = name != "tcp";
    options.usesSharedMemory = name == "auto";
  }
  if (std::string host = environment::text("MILLRACE_HOST_ID"); !host.empty())
    options.host = std::move(host);
  if (std::string secret = environment::text("MILLRACE_SECRET"); !secret.empty()) {
    options.secret = std::move(secret);
    if (options.secret.size() < shortestSecret) // a short secret could be guessed from the proofs in the store
      return invalidArgument("MILLRACE_SECRET has " + std::to_string(options.secret.size()) + " characters; expects at least " +
                             std::to_string(shortestSecret) + " that nobody can guess, for example of `openssl rand -hex 32`");
  }
  if (const std::string value = environment::text("MILLRACE_TCP_LANES"); !value.empty()) {
    char *end;
    const unsigned long lanes = std::strtoul(value.c_str(), &end, 10);
    if (*end || value[0] < '0' || value[0] > '9' || lanes > maxLanes)
      return invalidArgument("MILLRACE_TCP_LANES is '" + value + "'; expects a number from 0 to " + std::to_string(maxLanes));
    options.lanes = uint32_t(lanes);
  }
  if (const std::string text = environment::text("MILLRACE_LIVENESS"); !text.empty()) {
    if (text != "0" && text != "1")
      return invalidArgument("MILLRACE_LIVENESS is '" + text + "'; expects 0 or 1");
    options.watches = text == "1";
  }
  return options;
}

} // namespace millrace::runtime::transport
