// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ApiLayout.cpp - Sizes and offsets of the interface, checked ---------===//
// The numbers were measured with jaxlib 0.10.2 (API 0.112). A struct_size does not count padding at the end.
#include "pjrt/PjrtApi.h"

// The structs have a base, so offsetof is not portable C++; clang and gcc define it for all supported ABIs.
#pragma clang diagnostic ignored "-Winvalid-offsetof"

namespace millrace::pjrt {
namespace {

#define MILLRACE_PJRT_CHECK(name, size)                                                                                \
  static_assert(sizeof(name##_Args) == (size + 7) / 8 * 8 || sizeof(name##_Args) == sizeof(Args), #name);
MILLRACE_PJRT_VOID_SLOTS(MILLRACE_PJRT_CHECK)
MILLRACE_PJRT_SLOTS(MILLRACE_PJRT_CHECK)
#undef MILLRACE_PJRT_CHECK

constexpr int countSlots() {
  int count = 0;
#define MILLRACE_PJRT_COUNT(name, size) ++count;
  MILLRACE_PJRT_VOID_SLOTS(MILLRACE_PJRT_COUNT)
  MILLRACE_PJRT_SLOTS(MILLRACE_PJRT_COUNT)
#undef MILLRACE_PJRT_COUNT
  return count;
}
static_assert(countSlots() == 138);
static_assert(sizeof(Api) == 1144);

constexpr size_t slot(int index) { return 40 + 8 * size_t(index); }
static_assert(offsetof(Api, Error_Destroy) == slot(0) && offsetof(Api, Error_GetCode) == slot(2));
static_assert(offsetof(Api, Client_Create) == slot(10) && offsetof(Api, Client_Compile) == slot(20));
static_assert(offsetof(Api, Client_BufferFromHostBuffer) == slot(22) && offsetof(Api, Memory_Id) == slot(35));
static_assert(offsetof(Api, Executable_Destroy) == slot(40) && offsetof(Api, LoadedExecutable_Execute) == slot(55));
static_assert(offsetof(Api, Buffer_ToHostBuffer) == slot(70) && offsetof(Api, Compile) == slot(89));
static_assert(offsetof(Api, Memory_Kind_Id) == slot(97) && offsetof(Api, Client_DmaMap) == slot(110));
static_assert(offsetof(Api, Event_Set) == slot(127) && offsetof(Api, Error_ForEachPayload) == slot(132));
static_assert(offsetof(Api, Device_ClearMemoryStats) == slot(135));
static_assert(offsetof(Api, TopologyDescription_GetMemorySpaceKindIds) == slot(137));

static_assert(sizeof(Extension) == 24 && sizeof(Version) == 24 && sizeof(NamedValue) == 56);
static_assert(sizeof(TiledLayout) == 56 && sizeof(StridedLayout) == 32);
static_assert(offsetof(MemoryLayout, tiled) == 16 && offsetof(MemoryLayout, type) == 72);
static_assert(sizeof(ProgramCode) == 48 && sizeof(ExecuteOptions) == 144 && offsetof(ExecuteOptions, launch_id) == 48);
static_assert(offsetof(ExecuteOptions, call_location) == 80 && sizeof(ErrorFunctions) == 56);
static_assert(sizeof(MemoryFunctions) == 40 && offsetof(Client_Create_Args, client) == 64);
static_assert(offsetof(Client_BufferFromHostBuffer_Args, done_with_host_buffer) == 104);
static_assert(offsetof(Device_MemoryStats_Args, peak_pool_bytes) == 176);
static_assert(offsetof(Client_CreateErrorBuffer_Args, buffer) == 88);
static_assert(offsetof(Buffer_CopyRawToHostFuture_Args::Callback, dst) == 40);
static_assert(offsetof(Device_PoisonExecution_Args, poisoned) == 48);
static_assert(offsetof(Executable_GetCompiledMemoryStats_Args, peak) == 104);

} // namespace
} // namespace millrace::pjrt
