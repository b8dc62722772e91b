// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- World.h - The processes of one program ------------------------------===//
// Launchers (torchrun, xmp.spawn, mpirun, srun) tell each process its place in the environment. Each process is a replica that traces programs of its own;
// their collectives meet those of the others. The processes connect at the first of them: one that only computes by itself waits for nobody.
#pragma once
#include "runtime/client/Client.h"
#include "runtime/transport/Store.h"

#include <functional>
#include <memory>

namespace millrace::tracing {

struct World {
  uint32_t rank = 0, size = 1;           ///< of all processes
  uint32_t localRank = 0, localSize = 1; ///< of those on this host

  /// As the launcher says: RANK and WORLD_SIZE (torchrun), else PJRT_LOCAL_PROCESS_RANK and _COUNT (xmp.spawn), else the variables of Open MPI,
  /// MPICH and SLURM, else this process alone. On this host likewise; as if all were on one host where nothing is said. Errors: InvalidArgument
  /// for what is no place in a world.
  static runtime::StatusOr<World> ofEnvironment();
};

/// Makes the store that the processes find each other through. Called once, by the thread that needs the first collective.
using StoreMaker = std::function<runtime::StatusOr<std::unique_ptr<runtime::transport::Store>>()>;
void setStoreMaker(StoreMaker maker);

/// Of each process, which are connected, the number of its host, in the order of the processes.
std::vector<uint32_t> slicesOf(const runtime::Processes &processes);

/// Adds the other processes to the options of this one's client, which has all devices but those of the others already.
runtime::Status joinWorld(const World &world, runtime::ClientOptions &options);

} // namespace millrace::tracing
