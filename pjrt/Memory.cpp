// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Memory.cpp - Memory spaces ------------------------------------------===//
#include "pjrt/Slots.h"

namespace millrace::pjrt {

Memory::~Memory() {
  for (auto &[key, entry] : userData)
    if (entry.destroy)
      entry.destroy(entry.data);
}

namespace slots {

rt::Status Memory_Id(Memory_Id_Args &args) {
  args.result = int(args.object->space->id);
  return {};
}
rt::Status Memory_Kind(Memory_Kind_Args &args) {
  giveString(args, args.object->space->kind);
  return {};
}
rt::Status Memory_Kind_Id(Memory_Kind_Id_Args &args) {
  // The memory kinds of every device are in the same order.
  args.result = int(args.object->space->id % args.object->device->memories.size());
  return {};
}
rt::Status Memory_DebugString(Memory_DebugString_Args &args) {
  giveString(args, args.object->text);
  return {};
}
rt::Status Memory_ToString(Memory_ToString_Args &args) {
  giveString(args, args.object->text);
  return {};
}
rt::Status Memory_AddressableByDevices(Memory_AddressableByDevices_Args &args) {
  args.list = &args.object->device;
  args.size = 1;
  return {};
}

} // namespace slots
} // namespace millrace::pjrt
