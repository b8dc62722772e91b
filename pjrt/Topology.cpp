// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Topology.cpp - What programs can be compiled for --------------------===//
// A topology is a number of devices of this machine's processor. Serialized, it is one line of text:
//   millrace topology 1; 8 devices; x86_64-pc-linux-gnu; znver4; avx,avx2,...
// or, where several processes have them, with the number and the slice of each one's, "4@0+4@1 devices".
// so that caches of the caller do not mix programs of different machines or versions.
#include "pjrt/Slots.h"
#include "runtime/base/Hash.h"
#include "runtime/loader/Loader.h"

#include <charconv>

namespace millrace::pjrt {
namespace {

constexpr std::string_view prefix = "millrace topology 1; ";

std::string machine() {
  std::string text = " devices; " + rt::hostTriple() + "; " + rt::hostCpu() + "; ";
  for (const std::string &feature : rt::hostFeatures())
    text += feature + ",";
  text += "; Millrace " MILLRACE_VERSION " (" + rt::hostCpu() + ")"; // of any build, since the topology's form depends on the version only
  return text;
}

rt::StatusOr<unsigned> deviceCount(std::string_view text) {
  unsigned count = 0;
  auto [position, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || position != text.data() + text.size() || count == 0 || count > rt::kMaxDevices)
    return rt::invalidArgument("expects a topology's name to be its number of devices, but got '" + std::string(text) + "'");
  return count;
}

} // namespace

Topology::Topology(const std::vector<ProcessDevices> &processes) : processes(processes) {
  for (size_t process = 0; process < processes.size(); ++process)
    for (unsigned i = 0; i < processes[process].count; ++i) {
      int64_t slice = processes.size() > 1 ? int64_t(processes[process].slice) : -1;
      owned.push_back(std::make_unique<DeviceDescription>(int(owned.size()), int(process), slice));
      descriptions.push_back(owned.back().get());
    }
}

std::string Topology::serialize() const {
  std::string devices;
  if (processes.size() == 1)
    devices = std::to_string(descriptions.size());
  else
    for (const ProcessDevices &each : processes)
      devices += (devices.empty() ? "" : "+") + std::to_string(each.count) + "@" + std::to_string(each.slice);
  return std::string(prefix) + devices + machine();
}

rt::StatusOr<std::unique_ptr<Topology>> Topology::parse(std::string_view bytes) {
  if (bytes.substr(0, prefix.size()) != prefix)
    return rt::invalidArgument("this is not a topology of Millrace");
  bytes.remove_prefix(prefix.size());
  size_t end = bytes.find(' ');
  if (end == std::string_view::npos || bytes.substr(end) != machine())
    return rt::failedPrecondition("the topology is that of another machine or version");
  std::vector<ProcessDevices> processes;
  unsigned total = 0;
  for (std::string_view rest = bytes.substr(0, end); !rest.empty() || processes.empty();) {
    std::string_view each = rest.substr(0, rest.find('+'));
    rest.remove_prefix(std::min(rest.size(), each.size() + 1));
    size_t at = each.find('@');
    rt::StatusOr<unsigned> count = deviceCount(each.substr(0, at));
    if (!count)
      return count.status();
    if ((total += *count) > rt::kMaxDevices)
      return rt::invalidArgument("a topology has at most " + std::to_string(rt::kMaxDevices) + " devices");
    processes.push_back({*count, 0});
    if (at == std::string_view::npos)
      continue;
    const char *last = each.data() + each.size();
    if (auto [position, error] = std::from_chars(each.data() + at + 1, last, processes.back().slice); error != std::errc() || position != last)
      return rt::invalidArgument("expects the slice of a process in a topology to be a number");
  }
  return std::make_unique<Topology>(processes);
}

namespace slots {

rt::Status TopologyDescription_Create(TopologyDescription_Create_Args &args) {
  unsigned numDevices = 1;
  std::string_view name(args.name, args.name_size);
  if (!name.empty()) {
    rt::StatusOr<unsigned> count = deviceCount(name);
    if (!count)
      return count.status();
    numDevices = *count;
  }
  for (size_t i = 0; i < args.num_options; ++i) {
    if (nameOf(args.create_options[i]) != "num_devices")
      return rt::invalidArgument("unknown topology option '" + std::string(nameOf(args.create_options[i])) +
                                 "'; the only option is num_devices");
    rt::StatusOr<int64_t> number = integerFrom(args.create_options[i]);
    if (!number)
      return number.status();
    if (*number < 1 || *number > rt::kMaxDevices)
      return rt::invalidArgument("option num_devices is out of range: " + std::to_string(*number));
    numDevices = unsigned(*number);
  }
  args.topology = std::make_unique<Topology>(std::vector<ProcessDevices>{{numDevices, 0}}).release();
  return {};
}
rt::Status TopologyDescription_Destroy(TopologyDescription_Destroy_Args &args) {
  delete args.object;
  return {};
}
rt::Status TopologyDescription_PlatformName(TopologyDescription_PlatformName_Args &args) {
  giveString(args, kPlatformName);
  return {};
}
rt::Status TopologyDescription_PlatformVersion(TopologyDescription_PlatformVersion_Args &args) {
  giveString(args, platformVersion());
  return {};
}
rt::Status TopologyDescription_GetDeviceDescriptions(TopologyDescription_GetDeviceDescriptions_Args &args) {
  giveList(args, args.object->descriptions);
  return {};
}
rt::Status TopologyDescription_Serialize(TopologyDescription_Serialize_Args &args) {
  giveBytes(args, args.object->serialize());
  return {};
}
rt::Status TopologyDescription_Deserialize(TopologyDescription_Deserialize_Args &args) {
  rt::StatusOr<std::unique_ptr<Topology>> topology = Topology::parse({args.data, args.size});
  if (!topology)
    return topology.status();
  args.topology = topology->release();
  return {};
}
rt::Status TopologyDescription_Attributes(TopologyDescription_Attributes_Args &args) {
  args.list = nullptr;
  args.size = 0;
  return {};
}
rt::Status TopologyDescription_Fingerprint(TopologyDescription_Fingerprint_Args &args) {
  std::string text = args.topology->serialize();
  args.fingerprint = rt::hash64(text.data(), text.size());
  return {};
}
rt::Status
TopologyDescription_MakeCanonicalShapeForMemorySpace(TopologyDescription_MakeCanonicalShapeForMemorySpace_Args &) {
  return rt::unimplemented("canonical shapes of memory spaces: every memory takes row-major shapes");
}
rt::Status TopologyDescription_GetMemorySpaceKindIds(TopologyDescription_GetMemorySpaceKindIds_Args &) {
  return rt::unimplemented("memory kinds of a topology");
}

} // namespace slots
} // namespace millrace::pjrt
