// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- World.cpp - The processes of one program ----------------------------===//
#include "tracing/spmd/World.h"

#include "runtime/base/Environment.h"
#include "runtime/collective/Processes.h"
#include "runtime/transport/Mesh.h"
#include "runtime/transport/Wire.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

namespace millrace::tracing {
namespace {

namespace transport = runtime::transport;

constexpr uint32_t kMostProcesses = runtime::kMaxDevices; ///< each process has at least one device

using Variable = runtime::environment::Name<runtime::environment::Type::Text>;

runtime::StatusOr<uint32_t> numberOf(Variable variable, const std::string &text, uint32_t limit) {
  uint32_t value = 0;
  const char *end = text.data() + text.size();
  if (auto [at, error] = std::from_chars(text.data(), end, value); error != std::errc() || at != end || value >= limit)
    return runtime::invalidArgument(std::string(variable.text) + ": expects a number below " + std::to_string(limit) + ", but got '" + text + "'");
  return value;
}

struct Place {
  uint32_t rank, size;
};

/// Returns the rank and size from a pair of variables; nothing if one of them is not set.
runtime::StatusOr<std::optional<Place>> placeIn(Variable rankName, Variable sizeName) {
  const std::string rank = runtime::environment::text(rankName), size = runtime::environment::text(sizeName);
  if (rank.empty() || size.empty())
    return std::optional<Place>();
  runtime::StatusOr<uint32_t> count = numberOf(sizeName, size, kMostProcesses + 1);
  if (!count)
    return count.status();
  if (*count == 0)
    return runtime::invalidArgument(std::string(sizeName.text) + " is 0: expects the number of processes");
  runtime::StatusOr<uint32_t> own = numberOf(rankName, rank, *count);
  if (!own)
    return own.status();
  return std::optional<Place>(Place{*own, *count});
}

StoreMaker &storeMaker() {
  static auto *maker = new StoreMaker;
  return *maker;
}

std::string noteFor(uint32_t devices) {
  transport::Writer writer;
  writer.number(devices);
  return std::move(writer.bytes);
}

runtime::StatusOr<std::unique_ptr<transport::Mesh>> connect(const World &world, transport::MeshOptions options, uint32_t devices) {
  if (!storeMaker())
    return runtime::failedPrecondition("the processes have no store by which to find each other");
  runtime::StatusOr<std::unique_ptr<transport::Store>> store = storeMaker()();
  if (!store)
    return store.status();
  options.rank = world.rank, options.size = world.size;
  const std::string own = noteFor(devices);
  runtime::StatusOr<std::unique_ptr<transport::Mesh>> mesh = transport::Mesh::connect(**store, options, own);
  for (uint32_t rank = 0; mesh && rank < world.size; ++rank)
    if (rank != world.rank && (*mesh)->noteOf(rank) != own)
      return runtime::invalidArgument((*mesh)->describe(rank) + " has another number of devices than process " + std::to_string(world.rank) +
                                      ", which has " + std::to_string(devices) + ": CPU_NUM_DEVICES has to be the same in all");
  return mesh;
}

/// The variables in which a launcher passes the rank of a process.
struct PlaceNames {
  Variable rank, size;
};
// In the order of their precedence: torchrun; xmp.spawn; Open MPI; MPICH, Intel MPI and others with its process manager; srun.
constexpr PlaceNames ofAll[] = {{"RANK", "WORLD_SIZE"},
                                {"PJRT_LOCAL_PROCESS_RANK", "PJRT_LOCAL_PROCESS_COUNT"},
                                {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                {"PMI_RANK", "PMI_SIZE"},
                                {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
constexpr PlaceNames onHost[] = {{"PJRT_LOCAL_PROCESS_RANK", "PJRT_LOCAL_PROCESS_COUNT"},
                                 {"LOCAL_RANK", "LOCAL_WORLD_SIZE"},
                                 {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                                 {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"}};

template <size_t count>
runtime::StatusOr<std::optional<Place>> firstPlaceIn(const PlaceNames (&names)[count]) {
  for (const PlaceNames &each : names) {
    runtime::StatusOr<std::optional<Place>> place = placeIn(each.rank, each.size);
    if (!place || *place)
      return place;
  }
  return std::optional<Place>();
}

} // namespace

runtime::StatusOr<World> World::ofEnvironment() {
  World world;
  runtime::StatusOr<std::optional<Place>> all = firstPlaceIn(ofAll), here = all ? firstPlaceIn(onHost) : all;
  if (!here)
    return here.status();
  if (*all) {
    world.rank = world.localRank = (*all)->rank, world.size = world.localSize = (*all)->size;
    if (*here)
      world.localRank = (*here)->rank, world.localSize = (*here)->size;
  }
  return world;
}

std::vector<uint32_t> slicesOf(const runtime::Processes &processes) {
  const runtime::transport::Mesh &links = processes.links();
  std::vector<std::string> hosts;
  std::vector<uint32_t> numbers;
  for (uint32_t rank = 0; rank < links.size(); ++rank) {
    auto found = std::find(hosts.begin(), hosts.end(), links.hostOf(rank));
    numbers.push_back(uint32_t(found - hosts.begin()));
    if (found == hosts.end())
      hosts.push_back(links.hostOf(rank));
  }
  return numbers;
}

void setStoreMaker(StoreMaker maker) { storeMaker() = std::move(maker); }

runtime::Status joinWorld(const World &world, runtime::ClientOptions &options) {
  if (world.size == 1)
    return {};
  runtime::StatusOr<transport::MeshOptions> mesh = transport::meshOptionsFromEnvironment();
  if (!mesh)
    return mesh.status();
  mesh->connectSeconds = options.timeoutSeconds;
  options.devicesOf.assign(world.size, options.numDevices);
  options.rngSeed = 0; // all processes start with the same seed; PyTorch's generators have keys of their own
  options.processes = runtime::Processes::later(
      world.rank, world.size, [world, mesh = *mesh, devices = options.numDevices] { return connect(world, mesh, devices); });
  return {};
}

} // namespace millrace::tracing
