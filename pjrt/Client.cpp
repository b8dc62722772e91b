// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Client.cpp - Plug-in, client and its options ------------------------===//
#include "lowering/CacheKey.h"
#include "pjrt/Slots.h"

#include <charconv>

namespace millrace::pjrt {
namespace {

void *getUserData(Memory *memory, const void *key) {
  std::lock_guard lock(memory->mutex);
  auto it = memory->userData.find(key);
  return it == memory->userData.end() ? nullptr : it->second.data;
}
void setUserData(Memory *memory, const void *key, void *data, void (*destroy)(void *)) {
  Memory::UserData old{nullptr, nullptr};
  {
    std::lock_guard lock(memory->mutex);
    Memory::UserData &entry = memory->userData[key];
    old = entry;
    entry = {data, destroy};
  }
  if (old.destroy)
    old.destroy(old.data);
}
constexpr MemoryFunctions memoryFunctions = {sizeof(MemoryFunctions), nullptr, sizeof(Memory), getUserData, setUserData};

struct Options {
  rt::ClientOptions client;
  uint32_t numNodes = 1, nodeId = 0;
  std::optional<uint32_t> partitionIndex;
};

/// Reads the options of Client_Create: num_devices, memory_limit (bytes per device; else that of the environment), timeout (seconds), rng_seed; with
/// several processes also num_nodes, node_id, and partition_index (the slice of this process; else that of its host).
rt::StatusOr<Options> clientOptionsFrom(const NamedValue *values, size_t count) {
  Options all;
  rt::ClientOptions &options = all.client;
  rt::StatusOr<uint64_t> limit = rt::memoryLimitFromEnvironment();
  if (!limit)
    return limit.status();
  options.memoryLimit = *limit;
  rt::StatusOr<double> timeout = rt::collectiveTimeoutFromEnvironment();
  if (!timeout)
    return timeout.status();
  options.timeoutSeconds = *timeout;
  for (size_t i = 0; i < count; ++i) {
    std::string_view name = nameOf(values[i]);
    if (name != "num_devices" && name != "memory_limit" && name != "timeout" && name != "rng_seed" &&
        name != "num_nodes" && name != "node_id" && name != "partition_index")
      return rt::invalidArgument("unknown client option '" + std::string(name) +
                                 "'; the options are num_devices, memory_limit (bytes per device), timeout (seconds) and rng_seed");
    rt::StatusOr<int64_t> number = integerFrom(values[i]);
    if (!number)
      return number.status();
    bool isCount = name == "num_devices" || name == "num_nodes" || name == "node_id" || name == "partition_index";
    if (*number < 0 || (name == "num_devices" && *number == 0) || (isCount && *number > int64_t(rt::kMaxDevices)))
      return rt::invalidArgument("option " + std::string(name) + " is out of range: " + std::to_string(*number));
    if (name == "num_devices")
      options.numDevices = uint32_t(*number);
    else if (name == "memory_limit")
      options.memoryLimit = uint64_t(*number);
    else if (name == "timeout")
      options.timeoutSeconds = double(*number);
    else if (name == "rng_seed")
      options.rngSeed = uint64_t(*number);
    else if (name == "num_nodes")
      all.numNodes = uint32_t(*number);
    else if (name == "node_id")
      all.nodeId = uint32_t(*number);
    else if (name == "partition_index")
      all.partitionIndex = uint32_t(*number);
  }
  if (all.numNodes > 1 && all.nodeId >= all.numNodes)
    return rt::invalidArgument("node_id is " + std::to_string(all.nodeId) + ", but there are " + std::to_string(all.numNodes) + " processes");
  return all;
}

} // namespace

std::string_view platformVersion() {
  // JAX's persistent cache identifies the compiler by this text, so programs of another build are not found.
  static const std::string text = [] {
    std::string made = "Millrace " MILLRACE_VERSION " (" + rt::hostCpu();
    constexpr size_t kShort = 16;
    for (const auto &[name, id] : compilerVersions())
      if (name == "build id of libmillrace.so")
        made += "; build " + id.substr(0, kShort);
    return made + ")";
  }();
  return text;
}

std::string_view nameOf(const NamedValue &value) { return {value.name, value.name_size}; }

rt::StatusOr<int64_t> integerFrom(const NamedValue &value) {
  if (value.type == NamedValue::Int64)
    return value.int64_value;
  if (value.type == NamedValue::String) {
    int64_t number = 0;
    const char *end = value.string_value + value.value_size;
    auto [position, error] = std::from_chars(value.string_value, end, number);
    if (error == std::errc() && position == end)
      return number;
  }
  return rt::invalidArgument("expects option " + std::string(nameOf(value)) + " to be an integer");
}

namespace slots {

rt::Status Plugin_Initialize(Plugin_Initialize_Args &) { return {}; }
rt::Status Plugin_Attributes(Plugin_Attributes_Args &args) {
  auto list = [](std::string_view name, const int64_t *values) {
    NamedValue value{};
    value.struct_size = sizeof(NamedValue);
    value.name = name.data();
    value.name_size = name.size();
    value.type = NamedValue::Int64List;
    value.int64_array_value = values;
    value.value_size = 3;
    return value;
  };
  // The client writes programs in the older of this version and its own.
  static const int64_t current[3] = {1, 17, 0}, minimum[3] = {0, 9, 0};
  static const NamedValue attributes[] = {list("stablehlo_current_version", current),
                                          list("stablehlo_minimum_version", minimum)};
  args.attributes = attributes;
  args.num_attributes = 2;
  return {};
}

rt::Status Client_Create(Client_Create_Args &args) {
  rt::StatusOr<Options> all = clientOptionsFrom(args.create_options, args.num_options);
  if (!all)
    return all.status();
  rt::ClientOptions &options = all->client;
  std::vector<ProcessDevices> processes = {{options.numDevices, 0}};
  if (all->numNodes > 1) {
    rt::StatusOr<Job> job = joinJob(args, all->nodeId, all->numNodes, options.numDevices, all->partitionIndex, options.rngSeed);
    if (!job)
      return job.status();
    processes = job->devices;
    options.processes = std::move(job->processes);
    options.rngSeed = job->rngSeed;
    for (const ProcessDevices &each : processes)
      options.devicesOf.push_back(each.count);
  }
  rt::StatusOr<std::shared_ptr<rt::Client>> created = rt::Client::create(options);
  if (!created)
    return created.status();
  auto client = std::make_unique<Client>();
  client->client = std::move(*created);
  client->topology = std::make_unique<Topology>(processes);
  for (DeviceDescription *description : client->topology->descriptions) {
    auto &made = client->ownedDevices.emplace_back(std::make_unique<Device>());
    rt::Device *device = client->client->device(uint32_t(description->id));
    made->device = device;
    made->description = description;
    made->client = client.get();
    client->devices.push_back(made.get());
    if (!device)
      continue;
    client->addressable.push_back(made.get());
    for (const rt::MemorySpace &space : device->memories()) {
      auto &memory = client->ownedMemories.emplace_back(std::make_unique<Memory>());
      memory->functions = &memoryFunctions;
      memory->space = &space;
      memory->device = made.get();
      memory->text = "CpuMemory(id=" + std::to_string(space.id) + ", kind=" + space.kind +
                     ", device=" + std::to_string(device->id()) + ")";
      made->memories.push_back(memory.get());
      client->memories.push_back(memory.get());
    }
  }
  args.client = client.release();
  return {};
}
rt::Status Client_Destroy(Client_Destroy_Args &args) {
  delete args.object;
  return {};
}
rt::Status Client_PlatformName(Client_PlatformName_Args &args) {
  giveString(args, kPlatformName);
  return {};
}
rt::Status Client_ProcessIndex(Client_ProcessIndex_Args &args) {
  args.result = int(args.object->client->processIndex());
  return {};
}
rt::Status Client_PlatformVersion(Client_PlatformVersion_Args &args) {
  giveString(args, platformVersion());
  return {};
}
rt::Status Client_Devices(Client_Devices_Args &args) {
  giveList(args, args.object->devices);
  return {};
}
rt::Status Client_AddressableDevices(Client_AddressableDevices_Args &args) {
  giveList(args, args.object->addressable);
  return {};
}
rt::Status Client_LookupDevice(Client_LookupDevice_Args &args) {
  const std::vector<Device *> &devices = args.client->devices;
  if (args.id < 0 || size_t(args.id) >= devices.size())
    return rt::invalidArgument("there is no device " + std::to_string(args.id) + ", only " +
                               std::to_string(devices.size()) + " devices");
  args.device = devices[size_t(args.id)];
  return {};
}
rt::Status Client_LookupAddressableDevice(Client_LookupAddressableDevice_Args &args) {
  const std::vector<Device *> &devices = args.client->addressable;
  if (args.id < 0 || size_t(args.id) >= devices.size())
    return rt::invalidArgument("this process has no device " + std::to_string(args.id) + ", only " + std::to_string(devices.size()) + " devices");
  args.device = devices[size_t(args.id)];
  return {};
}
rt::Status Client_AddressableMemories(Client_AddressableMemories_Args &args) {
  giveList(args, args.object->memories);
  return {};
}
rt::Status Client_TopologyDescription(Client_TopologyDescription_Args &args) {
  args.result = args.object->topology.get();
  return {};
}
rt::Status Client_DefaultDeviceAssignment(Client_DefaultDeviceAssignment_Args &args) {
  if (args.num_replicas < 1 || args.num_partitions < 1)
    return rt::invalidArgument("expects at least one replica and one partition");
  size_t needed = size_t(args.num_replicas) * size_t(args.num_partitions);
  if (needed > args.client->devices.size())
    return rt::invalidArgument(std::to_string(args.num_replicas) + " replicas x " +
                               std::to_string(args.num_partitions) + " partitions need more than the " +
                               std::to_string(args.client->devices.size()) + " devices there are");
  if (needed > args.default_assignment_size)
    return rt::invalidArgument("no room for " + std::to_string(needed) + " device ids");
  for (size_t i = 0; i < needed; ++i)
    args.default_assignment[i] = int(i);
  return {};
}
rt::Status Client_UpdateGlobalProcessInfo(Client_UpdateGlobalProcessInfo_Args &) {
  return {}; // the processes' mesh detects lost processes sooner
}
// Devices can read all memory of this process.
rt::Status Client_DmaMap(Client_DmaMap_Args &) { return {}; }
rt::Status Client_DmaUnmap(Client_DmaUnmap_Args &) { return {}; }

} // namespace slots
} // namespace millrace::pjrt
