// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- World.h - The processes of one program ------------------------------===//
// Launchers (torchrun, xmp.spawn, mpirun, srun) pass each process its rank in environment variables. Each process is a replica that traces programs
// of its own, with collectives that other processes take part in. The processes connect when the first collective runs, so that a process without
// collectives waits for no other.
#pragma once
#include "runtime/client/Client.h"
#include "runtime/transport/Store.h"

#include <functional>
#include <memory>

namespace millrace::tracing {

struct World {
  uint32_t rank = 0, size = 1;           ///< among all processes
  uint32_t localRank = 0, localSize = 1; ///< among the processes of this host

  /// Reads the rank and size of the world from RANK and WORLD_SIZE (torchrun), else PJRT_LOCAL_PROCESS_RANK and _COUNT (xmp.spawn), else the
  /// variables of Open MPI, MPICH and SLURM; without any of them this process is alone. The rank on this host is read from the corresponding
  /// variables; without them all processes are assumed to be on one host. Errors: InvalidArgument if the values are no rank in a world.
  static runtime::StatusOr<World> ofEnvironment();
};

/// Makes the store by which the processes find each other. Called once, by the thread that needs the first collective.
using StoreMaker = std::function<runtime::StatusOr<std::unique_ptr<runtime::transport::Store>>()>;
void setStoreMaker(StoreMaker maker);

/// Returns for each connected process, in the order of their ranks, the number of its host.
std::vector<uint32_t> slicesOf(const runtime::Processes &processes);

/// Adds the other processes to the options of this process's client, which already contain this process's devices.
runtime::Status joinWorld(const World &world, runtime::ClientOptions &options);

} // namespace millrace::tracing
