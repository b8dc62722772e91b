// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Devices.cpp - Devices and their descriptions ------------------------===//
#include "pjrt/Slots.h"

namespace millrace::pjrt {

DeviceDescription::DeviceDescription(int id, int process, int64_t slice)
    : id(id), process(process), debugString("MILLRACE_CPU_" + std::to_string(id)),
      text("CpuDevice(id=" + std::to_string(id) + ")") {
  if (slice < 0)
    return;
  NamedValue value{};
  value.struct_size = sizeof value;
  value.name = "slice_index";
  value.name_size = std::string_view(value.name).size();
  value.type = NamedValue::Int64;
  value.int64_value = slice;
  value.value_size = 1;
  attributes.push_back(value);
}

rt::Status checkAddressable(const Device &device) {
  if (device.device)
    return {};
  return rt::invalidArgument(device.description->text + " belongs to process " + std::to_string(device.description->process) +
                             ", not to this one (" + std::to_string(device.client->client->processIndex()) + ")");
}

namespace slots {

rt::Status DeviceDescription_Id(DeviceDescription_Id_Args &args) {
  args.result = args.object->id;
  return {};
}
rt::Status DeviceDescription_ProcessIndex(DeviceDescription_ProcessIndex_Args &args) {
  args.result = args.object->process;
  return {};
}
rt::Status DeviceDescription_Attributes(DeviceDescription_Attributes_Args &args) {
  args.num_attributes = args.description->attributes.size();
  args.attributes = args.description->attributes.data();
  return {};
}
rt::Status DeviceDescription_Kind(DeviceDescription_Kind_Args &args) {
  giveString(args, "cpu");
  return {};
}
rt::Status DeviceDescription_DebugString(DeviceDescription_DebugString_Args &args) {
  giveString(args, args.object->debugString);
  return {};
}
rt::Status DeviceDescription_ToString(DeviceDescription_ToString_Args &args) {
  giveString(args, args.object->text);
  return {};
}

rt::Status Device_GetDescription(Device_GetDescription_Args &args) {
  args.result = args.object->description;
  return {};
}
rt::Status Device_IsAddressable(Device_IsAddressable_Args &args) {
  args.result = args.object->device != nullptr;
  return {};
}
rt::Status Device_LocalHardwareId(Device_LocalHardwareId_Args &args) {
  const Device &device = *args.object;
  args.result = device.device ? device.description->id - device.client->addressable.front()->description->id : -1;
  return {};
}
rt::Status Device_AddressableMemories(Device_AddressableMemories_Args &args) {
  giveList(args, args.object->memories);
  return {};
}
rt::Status Device_DefaultMemory(Device_DefaultMemory_Args &args) {
  MILLRACE_TRY(checkAddressable(*args.object));
  args.result = args.object->memories.front();
  return {};
}
rt::Status Device_MemoryStats(Device_MemoryStats_Args &args) {
  MILLRACE_TRY(checkAddressable(*args.device));
  rt::AllocatorStats stats = args.device->device->memoryStats();
  args.bytes_in_use = int64_t(stats.inUse);
  args.peak_bytes_in_use = {int64_t(stats.peak), true};
  args.num_allocs = {int64_t(stats.allocations), true};
  args.largest_alloc_size = {int64_t(stats.largest), true};
  args.bytes_limit = {int64_t(stats.limit), stats.limit != 0};
  args.bytes_reserved = args.peak_bytes_reserved = args.bytes_reservable_limit = args.largest_free_block_bytes = {0, false};
  args.pool_bytes = {int64_t(stats.inUse + stats.pooled), true};
  // The flag is the last byte of the struct that callers know; the padding behind it belongs to the caller.
  args.peak_pool_bytes.value = 0;
  args.peak_pool_bytes.is_set = false;
  return {};
}
rt::Status Device_ClearMemoryStats(Device_ClearMemoryStats_Args &args) {
  MILLRACE_TRY(checkAddressable(*args.object));
  args.object->device->clearMemoryStats();
  return {};
}
rt::Status Device_GetAttributes(Device_GetAttributes_Args &args) {
  const std::vector<NamedValue> &attributes = args.device->description->attributes;
  args.attributes = attributes.data(); // the attributes live as long as the client
  args.num_attributes = attributes.size();
  args.holder = nullptr;
  args.deleter = [](void *) {};
  return {};
}
rt::Status Device_PoisonExecution(Device_PoisonExecution_Args &args) {
  args.poisoned = false;
  return rt::unimplemented("executions in flight cannot be poisoned");
}
rt::Status Device_CreateAsyncTrackingEvent(Device_CreateAsyncTrackingEvent_Args &args) {
  args.event = nullptr; // null means that nothing is tracked, which callers accept; an error would end the process
  return {};
}
rt::Status AsyncTrackingEvent_Destroy(AsyncTrackingEvent_Destroy_Args &) { return {}; }

} // namespace slots
} // namespace millrace::pjrt
