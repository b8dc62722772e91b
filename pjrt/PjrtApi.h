// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PjrtApi.h - PJRT C API 0.112: argument structs and function table ---===//
// One struct per function, in the order of the table. "out" fields are set by the function. ApiLayout.cpp checks sizes and
// offsets against the ones measured with jaxlib.
#pragma once
#include "pjrt/PjrtTypes.h"

namespace millrace::pjrt {

// Argument structs that many functions share: an object and one or two results.
template <typename Object>
struct ObjectArgs : Args {
  Object *object;
};
template <typename Object, typename Result>
struct GetArgs : Args {
  Object *object;
  Result result; ///< out
};
template <typename Object>
struct StringArgs : Args {
  Object *object;
  const char *data; ///< out, lives as long as the object
  size_t size;      ///< out
};
template <typename Object, typename Element>
struct ListArgs : Args {
  Object *object;
  const Element *list; ///< out, lives as long as the object
  size_t size;         ///< out
};
/// Bytes that the caller frees with `deleter(holder)`.
template <typename Object>
struct BytesArgs : Args {
  Object *object;
  const char *data;        ///< out
  size_t size;             ///< out
  void *holder;            ///< out
  void (*deleter)(void *); ///< out
};
/// The text of a status as callers pass it.
struct StatusText {
  int code;
  const char *message;
  size_t message_size;
};
struct ShapeArgs {
  const int64_t *dims;
  size_t num_dims;
  int element_type;
  MemoryLayout *layout;
};

using Error_Destroy_Args = ObjectArgs<Error>;
using Error_Message_Args = StringArgs<const Error>;
using Error_GetCode_Args = GetArgs<const Error, int>;
struct Error_ForEachPayload_Args : Args {
  const Error *error;
  void (*visitor)(const char *, size_t, const char *, size_t, void *);
  void *user_arg;
};
using Plugin_Initialize_Args = Args;
struct Plugin_Attributes_Args : Args {
  const NamedValue *attributes; ///< out
  size_t num_attributes;        ///< out
};

using Event_Destroy_Args = ObjectArgs<Event>;
using Event_IsReady_Args = GetArgs<Event, bool>;
using Event_Error_Args = ObjectArgs<Event>;
using Event_Await_Args = ObjectArgs<Event>;
struct Event_OnReady_Args : Args {
  Event *event;
  void (*callback)(Error *, void *);
  void *user_arg;
};
using Event_Create_Args = ObjectArgs<Event>; ///< out
struct Event_Set_Args : Args {
  Event *event;
  StatusText status;
};

/// Creates the error that a callback returns.
using CallbackError = Error *(*)(int code, const char *message, size_t size);
struct KeyValueGetArgs : Args {
  const char *key;
  size_t key_size;
  int timeout_in_ms;
  CallbackError *callback_error;
  void *user_arg;
  char *value;                      ///< out
  size_t value_size;                ///< out
  void (*value_deleter)(char *);    ///< out
};
struct KeyValuePutArgs : Args {
  const char *key;
  size_t key_size;
  const char *value;
  size_t value_size;
  CallbackError *callback_error;
  void *user_arg;
};
struct KeyValueTryGetArgs : Args {
  const char *key;
  size_t key_size;
  CallbackError *callback_error;
  void *user_arg;
  char *value;                      ///< out
  size_t value_size;                ///< out
  void (*value_deleter)(char *);    ///< out
};
using KeyValueGet = Error *(KeyValueGetArgs *);
using KeyValueTryGet = Error *(KeyValueTryGetArgs *);
using KeyValuePut = Error *(KeyValuePutArgs *);

struct Client_Create_Args : Args {
  const NamedValue *create_options;
  size_t num_options;
  // Initialised only with several processes.
  KeyValueGet *kv_get;
  void *kv_get_arg;
  KeyValuePut *kv_put;
  void *kv_put_arg;
  Client *client; ///< out
  KeyValueTryGet *kv_try_get; ///< missing in older callers
  void *kv_try_get_arg;
};
using Client_Destroy_Args = ObjectArgs<Client>;
using Client_PlatformName_Args = StringArgs<Client>;
using Client_ProcessIndex_Args = GetArgs<Client, int>;
using Client_PlatformVersion_Args = StringArgs<Client>;
using Client_Devices_Args = ListArgs<Client, Device *>;
using Client_AddressableDevices_Args = ListArgs<Client, Device *>;
struct Client_LookupDevice_Args : Args {
  Client *client;
  int id;
  Device *device; ///< out
};
using Client_LookupAddressableDevice_Args = Client_LookupDevice_Args;
using Client_AddressableMemories_Args = ListArgs<Client, Memory *>;
struct Client_Compile_Args : Args {
  Client *client;
  const ProgramCode *program;
  const char *compile_options;
  size_t compile_options_size;
  LoadedExecutable *executable; ///< out
};
struct Client_DefaultDeviceAssignment_Args : Args {
  Client *client;
  int num_replicas, num_partitions;
  size_t default_assignment_size;
  int *default_assignment; ///< written
};
struct Client_BufferFromHostBuffer_Args : Args {
  Client *client;
  const void *data;
  int type;
  const int64_t *dims;
  size_t num_dims;
  const int64_t *byte_strides;
  size_t num_byte_strides;
  int host_buffer_semantics;
  Device *device;
  Memory *memory; ///< takes precedence over device
  MemoryLayout *device_layout;
  Event *done_with_host_buffer; ///< out
  Buffer *buffer;               ///< out
};

using DeviceDescription_Id_Args = GetArgs<DeviceDescription, int>;
using DeviceDescription_ProcessIndex_Args = GetArgs<DeviceDescription, int>;
struct DeviceDescription_Attributes_Args : Args {
  DeviceDescription *description;
  size_t num_attributes;        ///< out
  const NamedValue *attributes; ///< out
};
using DeviceDescription_Kind_Args = StringArgs<DeviceDescription>;
using DeviceDescription_DebugString_Args = StringArgs<DeviceDescription>;
using DeviceDescription_ToString_Args = StringArgs<DeviceDescription>;
using Device_GetDescription_Args = GetArgs<Device, DeviceDescription *>;
using Device_IsAddressable_Args = GetArgs<Device, bool>;
using Device_LocalHardwareId_Args = GetArgs<Device, int>;
using Device_AddressableMemories_Args = ListArgs<Device, Memory *>;
using Device_DefaultMemory_Args = GetArgs<Device, Memory *>;
struct Device_MemoryStats_Args : Args {
  /// A number that may be missing; the interface has separate fields for `value` and the flag.
  struct Number {
    int64_t value;
    bool is_set;
  };
  Device *device;
  int64_t bytes_in_use;
  Number peak_bytes_in_use, num_allocs, largest_alloc_size, bytes_limit, bytes_reserved, peak_bytes_reserved,
      bytes_reservable_limit, largest_free_block_bytes, pool_bytes, peak_pool_bytes;
};
using Memory_Id_Args = GetArgs<Memory, int>;
using Memory_Kind_Args = StringArgs<Memory>;
using Memory_DebugString_Args = StringArgs<Memory>;
using Memory_ToString_Args = StringArgs<Memory>;
using Memory_AddressableByDevices_Args = ListArgs<Memory, Device *>;

using Executable_Destroy_Args = ObjectArgs<Executable>;
using Executable_Name_Args = StringArgs<Executable>;
using Executable_NumReplicas_Args = GetArgs<Executable, size_t>;
using Executable_NumPartitions_Args = GetArgs<Executable, size_t>;
using Executable_NumOutputs_Args = GetArgs<Executable, size_t>;
using Executable_SizeOfGeneratedCodeInBytes_Args = GetArgs<Executable, int64_t>;
struct Executable_GetCostAnalysis_Args : Args {
  Executable *executable;
  size_t num_properties;        ///< out
  const NamedValue *properties; ///< out
};
struct MemoryKindsArgs : Args {
  Executable *executable;
  size_t size;              ///< out
  const char *const *kinds; ///< out
  const size_t *kind_sizes; ///< out
};
using Executable_OutputMemoryKinds_Args = MemoryKindsArgs;
struct Executable_OptimizedProgram_Args : Args {
  Executable *executable;
  ProgramCode *program; ///< code == nullptr queries the size; otherwise the buffer is filled
};
using Executable_Serialize_Args = BytesArgs<const Executable>;
using LoadedExecutable_Destroy_Args = ObjectArgs<LoadedExecutable>;
using LoadedExecutable_GetExecutable_Args = GetArgs<LoadedExecutable, Executable *>;
using LoadedExecutable_AddressableDevices_Args = ListArgs<LoadedExecutable, Device *>;
using LoadedExecutable_Delete_Args = ObjectArgs<LoadedExecutable>;
using LoadedExecutable_IsDeleted_Args = GetArgs<LoadedExecutable, bool>;
struct LoadedExecutable_Execute_Args : Args {
  LoadedExecutable *executable;
  ExecuteOptions *options;
  Buffer *const *const *argument_lists; ///< [device][argument]
  size_t num_devices, num_args;
  Buffer **const *output_lists;   ///< [device][result], written
  Event **device_complete_events; ///< may be null; written
  Device *execute_device;         ///< null: the devices for which the program was compiled
};
struct Executable_DeserializeAndLoad_Args : Args {
  Client *client;
  const char *data;
  size_t size;
  LoadedExecutable *executable; ///< out
  const char *compile_options;  ///< null: the options in the data
  size_t compile_options_size;
  void *load_options;
};
using LoadedExecutable_Fingerprint_Args = StringArgs<LoadedExecutable>;

using Buffer_Destroy_Args = ObjectArgs<Buffer>;
using Buffer_ElementType_Args = GetArgs<Buffer, int>;
using Buffer_Dimensions_Args = ListArgs<Buffer, int64_t>;
using Buffer_UnpaddedDimensions_Args = ListArgs<Buffer, int64_t>;
using Buffer_DynamicDimensionIndices_Args = ListArgs<Buffer, size_t>;
using Buffer_GetMemoryLayout_Args = GetArgs<Buffer, MemoryLayout>;
using Buffer_OnDeviceSizeInBytes_Args = GetArgs<Buffer, size_t>;
using Buffer_Device_Args = GetArgs<Buffer, Device *>;
using Buffer_Memory_Args = GetArgs<Buffer, Memory *>;
using Buffer_Delete_Args = ObjectArgs<Buffer>;
using Buffer_IsDeleted_Args = GetArgs<Buffer, bool>;
struct Buffer_CopyToDevice_Args : Args {
  Buffer *buffer;
  Device *device;
  Buffer *copy; ///< out
};
struct Buffer_ToHostBuffer_Args : Args {
  Buffer *buffer;
  MemoryLayout *host_layout; ///< null: the layout of the buffer
  void *dst;                 ///< null queries the size
  size_t dst_size;
  Event *event; ///< out
};
using Buffer_IsOnCpu_Args = GetArgs<Buffer, bool>;
using Buffer_ReadyEvent_Args = GetArgs<Buffer, Event *>;
using Buffer_UnsafePointer_Args = GetArgs<Buffer, uintptr_t>;
using Buffer_IncreaseExternalReferenceCount_Args = ObjectArgs<Buffer>;
using Buffer_DecreaseExternalReferenceCount_Args = ObjectArgs<Buffer>;
using Buffer_OpaqueDeviceMemoryDataPointer_Args = GetArgs<Buffer, void *>;

using CopyToDeviceStream_Destroy_Args = ObjectArgs<CopyToDeviceStream>;
struct CopyToDeviceStream_AddChunk_Args : Args {
  CopyToDeviceStream *stream;
  void *chunk;
  Event *done; ///< out
};
using CopyToDeviceStream_TotalBytes_Args = GetArgs<CopyToDeviceStream, int64_t>;
using CopyToDeviceStream_GranuleSize_Args = GetArgs<CopyToDeviceStream, int64_t>;
using CopyToDeviceStream_CurrentBytes_Args = GetArgs<CopyToDeviceStream, int64_t>;

struct TopologyDescription_Create_Args : Args {
  const char *name;
  size_t name_size;
  const NamedValue *create_options;
  size_t num_options;
  Topology *topology; ///< out
};
using TopologyDescription_Destroy_Args = ObjectArgs<Topology>;
using TopologyDescription_PlatformName_Args = StringArgs<const Topology>;
using TopologyDescription_PlatformVersion_Args = StringArgs<Topology>;
using TopologyDescription_GetDeviceDescriptions_Args = ListArgs<const Topology, DeviceDescription *>;
using TopologyDescription_Serialize_Args = BytesArgs<Topology>;
using TopologyDescription_Attributes_Args = ListArgs<Topology, NamedValue>;
struct Compile_Args : Args {
  const Topology *topology;
  const ProgramCode *program;
  const char *compile_options;
  size_t compile_options_size;
  Client *client;         ///< may be null
  Executable *executable; ///< out
};
struct Executable_OutputElementTypes_Args : Args {
  Executable *executable;
  int *types;  ///< out
  size_t size; ///< out
};
struct Executable_OutputDimensions_Args : Args {
  Executable *executable;
  size_t num_outputs;      ///< out
  const int64_t *dims;     ///< out, of all outputs in a row
  const size_t *dim_sizes; ///< out, rank per output
};
struct Buffer_CopyToMemory_Args : Args {
  Buffer *buffer;
  Memory *memory;
  Buffer *copy; ///< out
};
struct Client_CreateViewOfDeviceBuffer_Args : Args {
  Client *client;
  void *data;
  const int64_t *dims;
  size_t num_dims;
  int element_type;
  MemoryLayout *layout;
  Device *device;
  void (*on_delete)(void *data, void *argument); ///< may be null
  void *on_delete_arg;
  intptr_t stream;
  Buffer *buffer; ///< out
  Memory *memory; ///< takes precedence over device
};
using Executable_Fingerprint_Args = StringArgs<Executable>;
using Client_TopologyDescription_Args = GetArgs<Client, Topology *>;
struct Executable_GetCompiledMemoryStats_Args : Args {
  Executable *executable;
  int64_t generated_code, argument, output, alias, temp;
  int64_t host_generated_code, host_argument, host_output, host_alias, host_temp;
  int64_t peak, total, total_allocation, indefinite_allocations, peak_unpadded_heap;
};
using Memory_Kind_Id_Args = GetArgs<Memory, int>;
using ExecuteContext_Create_Args = ObjectArgs<ExecuteContext>; ///< out
using ExecuteContext_Destroy_Args = ObjectArgs<ExecuteContext>;
struct Buffer_CopyRawToHost_Args : Args {
  Buffer *buffer;
  void *dst;
  int64_t offset, transfer_size;
  Event *event; ///< out
};

using AsyncHostToDeviceTransferManager_Destroy_Args = ObjectArgs<TransferManager>;
struct AsyncHostToDeviceTransferManager_TransferData_Args : Args {
  TransferManager *manager;
  int index;
  const void *data;
  int64_t offset, size;
  bool is_last_transfer;
  Event *done; ///< out
};
struct Client_CreateBuffersForAsyncHostToDevice_Args : Args {
  Client *client;
  ShapeSpec *shapes;
  size_t num_shapes;
  MemoryLayout **layouts; ///< may be null
  size_t num_layouts;
  Memory *memory;
  TransferManager *manager; ///< out
};
struct AsyncHostToDeviceTransferManager_RetrieveBuffer_Args : Args {
  TransferManager *manager;
  int index;
  Buffer *buffer; ///< out
};
using AsyncHostToDeviceTransferManager_Device_Args = GetArgs<TransferManager, Device *>;
using AsyncHostToDeviceTransferManager_BufferCount_Args = GetArgs<TransferManager, size_t>;
struct AsyncHostToDeviceTransferManager_BufferSize_Args : Args {
  TransferManager *manager;
  int index;
  size_t size; ///< out
};
struct AsyncHostToDeviceTransferManager_SetBufferError_Args : Args {
  TransferManager *manager;
  int index;
  int code;
  const char *message;
  size_t message_size;
};
struct AsyncHostToDeviceTransferManager_AddMetadata_Args : Args {
  TransferManager *manager;
  const NamedValue *metadata;
  size_t num_metadata;
};
struct Client_DmaMap_Args : Args {
  Client *client;
  void *data;
  size_t size;
};
struct Client_DmaUnmap_Args : Args {
  Client *client;
  void *data;
};
struct Client_CreateUninitializedBuffer_Args : Args {
  Client *client;
  ShapeArgs shape;
  Device *device;
  Memory *memory;
  Buffer *buffer; ///< out
};
struct Client_UpdateGlobalProcessInfo_Args : Args {
  Client *client;
  void *infos;
  size_t num_infos;
};
struct TopologyDescription_Deserialize_Args : Args {
  const char *data;
  size_t size;
  Topology *topology; ///< out
};
struct Client_CreateAliasBuffer_Args : Args {
  Client *client;
  Memory *memory;
  ShapeArgs shape;
  Buffer *buffer;                ///< out
  AliasFulfillment *fulfillment; ///< out
};
struct Client_FulfillAliasBuffer_Args : Args {
  Client *client;
  Buffer *buffer; ///< the value; unused if there is an error code
  StatusText status;
  AliasFulfillment *fulfillment;
};
using LoadedExecutable_GetDeviceAssignment_Args = BytesArgs<LoadedExecutable>;
struct Client_CreateErrorBuffer_Args : Args {
  Client *client;
  StatusText status;
  ShapeArgs shape;
  Memory *memory;
  Buffer *buffer; ///< out
  const NamedValue *payload;
  size_t num_payload;
};
struct AsyncHostToDeviceTransferManager_TransferLiteral_Args : Args {
  TransferManager *manager;
  int index;
  const void *data;
  ShapeArgs shape;
  Event *done; ///< out
};
struct Buffer_CopyRawToHostFuture_Args : Args {
  struct Callback {
    size_t struct_size;
    void *callback_data;
    StatusText status;
    void *dst;
  };
  Buffer *buffer;
  int64_t offset, transfer_size;
  Event *event;              ///< out
  void *callback_data;       ///< out
  void (*ready)(Callback *); ///< out
};
struct Device_PoisonExecution_Args : Args {
  Device *device;
  int32_t launch_id;
  int code;
  const char *message;
  size_t message_size;
  bool poisoned; ///< out
  const NamedValue *payload;
  size_t num_payload;
};
struct Device_CreateAsyncTrackingEvent_Args : Args {
  Device *device;
  const char *description;
  size_t description_size;
  AsyncTrackingEvent *event; ///< out
};
using AsyncTrackingEvent_Destroy_Args = ObjectArgs<AsyncTrackingEvent>;
using Executable_GetCompileOptions_Args = BytesArgs<Executable>;
struct Buffer_DonateWithControlDependency_Args : Args {
  struct Callback {
    size_t struct_size;
    void *callback_data;
    StatusText status;
  };
  Buffer *buffer;
  void *callback_data;       ///< out
  void (*ready)(Callback *); ///< out
  Buffer *donated;           ///< out
};
struct Device_GetAttributes_Args : Args {
  Device *device;
  const NamedValue *attributes; ///< out
  size_t num_attributes;        ///< out
  void *holder;                 ///< out
  void (*deleter)(void *);      ///< out, never null
};
struct Client_Load_Args : Args {
  Client *client;
  Executable *executable;
  const char *compile_options;
  size_t compile_options_size;
  LoadedExecutable *loaded; ///< out
};
using LoadedExecutable_AddressableDeviceLogicalIds_Args = ListArgs<LoadedExecutable, LogicalId>;
struct Buffer_Bitcast_Args : Args {
  Buffer *buffer;
  int element_type;
  const int64_t *dims;
  size_t num_dims;
  MemoryLayout *layout;
  Buffer *result; ///< out
};
struct TopologyDescription_Fingerprint_Args : Args {
  const Topology *topology;
  uint64_t fingerprint; ///< out
};
using Executable_ParameterMemoryKinds_Args = MemoryKindsArgs;
using Device_ClearMemoryStats_Args = ObjectArgs<Device>;
/// The fields of the last two are unknown; the functions return Unimplemented.
using TopologyDescription_MakeCanonicalShapeForMemorySpace_Args = Args;
using TopologyDescription_GetMemorySpaceKindIds_Args = Args;

// X(function, struct_size that jaxlib 0.10.2 passes). The first two return nothing, the others an Error* (null = ok).
#define MILLRACE_PJRT_VOID_SLOTS(X) X(Error_Destroy, 24) X(Error_Message, 40)
#define MILLRACE_PJRT_SLOTS(X)                                                                                        \
  X(Error_GetCode, 28) X(Plugin_Initialize, 16) X(Plugin_Attributes, 32) X(Event_Destroy, 24) X(Event_IsReady, 25)    \
  X(Event_Error, 24) X(Event_Await, 24) X(Event_OnReady, 40) X(Client_Create, 88) X(Client_Destroy, 24)               \
  X(Client_PlatformName, 40) X(Client_ProcessIndex, 28) X(Client_PlatformVersion, 40) X(Client_Devices, 40)           \
  X(Client_AddressableDevices, 40) X(Client_LookupDevice, 40) X(Client_LookupAddressableDevice, 40)                   \
  X(Client_AddressableMemories, 40) X(Client_Compile, 56) X(Client_DefaultDeviceAssignment, 48)                       \
  X(Client_BufferFromHostBuffer, 120) X(DeviceDescription_Id, 28) X(DeviceDescription_ProcessIndex, 28)               \
  X(DeviceDescription_Attributes, 40) X(DeviceDescription_Kind, 40) X(DeviceDescription_DebugString, 40)              \
  X(DeviceDescription_ToString, 40) X(Device_GetDescription, 32) X(Device_IsAddressable, 25)                          \
  X(Device_LocalHardwareId, 28) X(Device_AddressableMemories, 40) X(Device_DefaultMemory, 32)                         \
  X(Device_MemoryStats, 185) X(Memory_Id, 28) X(Memory_Kind, 40) X(Memory_DebugString, 40) X(Memory_ToString, 40)     \
  X(Memory_AddressableByDevices, 40) X(Executable_Destroy, 24) X(Executable_Name, 40) X(Executable_NumReplicas, 32)   \
  X(Executable_NumPartitions, 32) X(Executable_NumOutputs, 32) X(Executable_SizeOfGeneratedCodeInBytes, 32)           \
  X(Executable_GetCostAnalysis, 40) X(Executable_OutputMemoryKinds, 48) X(Executable_OptimizedProgram, 32)            \
  X(Executable_Serialize, 56) X(LoadedExecutable_Destroy, 24) X(LoadedExecutable_GetExecutable, 32)                   \
  X(LoadedExecutable_AddressableDevices, 40) X(LoadedExecutable_Delete, 24) X(LoadedExecutable_IsDeleted, 25)         \
  X(LoadedExecutable_Execute, 80) X(Executable_DeserializeAndLoad, 72) X(LoadedExecutable_Fingerprint, 40)            \
  X(Buffer_Destroy, 24) X(Buffer_ElementType, 28) X(Buffer_Dimensions, 40) X(Buffer_UnpaddedDimensions, 40)           \
  X(Buffer_DynamicDimensionIndices, 40) X(Buffer_GetMemoryLayout, 104) X(Buffer_OnDeviceSizeInBytes, 32)              \
  X(Buffer_Device, 32) X(Buffer_Memory, 32) X(Buffer_Delete, 24) X(Buffer_IsDeleted, 25) X(Buffer_CopyToDevice, 40)   \
  X(Buffer_ToHostBuffer, 56) X(Buffer_IsOnCpu, 25) X(Buffer_ReadyEvent, 32) X(Buffer_UnsafePointer, 32)               \
  X(Buffer_IncreaseExternalReferenceCount, 24) X(Buffer_DecreaseExternalReferenceCount, 24)                           \
  X(Buffer_OpaqueDeviceMemoryDataPointer, 32) X(CopyToDeviceStream_Destroy, 24) X(CopyToDeviceStream_AddChunk, 40)    \
  X(CopyToDeviceStream_TotalBytes, 32) X(CopyToDeviceStream_GranuleSize, 32) X(CopyToDeviceStream_CurrentBytes, 32)   \
  X(TopologyDescription_Create, 56) X(TopologyDescription_Destroy, 24) X(TopologyDescription_PlatformName, 40)        \
  X(TopologyDescription_PlatformVersion, 40) X(TopologyDescription_GetDeviceDescriptions, 40)                         \
  X(TopologyDescription_Serialize, 56) X(TopologyDescription_Attributes, 40) X(Compile, 64)                           \
  X(Executable_OutputElementTypes, 40) X(Executable_OutputDimensions, 48) X(Buffer_CopyToMemory, 40)                  \
  X(Client_CreateViewOfDeviceBuffer, 112) X(Executable_Fingerprint, 40) X(Client_TopologyDescription, 32)             \
  X(Executable_GetCompiledMemoryStats, 144) X(Memory_Kind_Id, 28) X(ExecuteContext_Create, 24)                        \
  X(ExecuteContext_Destroy, 24) X(Buffer_CopyRawToHost, 56) X(AsyncHostToDeviceTransferManager_Destroy, 24)           \
  X(AsyncHostToDeviceTransferManager_TransferData, 72) X(Client_CreateBuffersForAsyncHostToDevice, 72)                \
  X(AsyncHostToDeviceTransferManager_RetrieveBuffer, 40) X(AsyncHostToDeviceTransferManager_Device, 32)               \
  X(AsyncHostToDeviceTransferManager_BufferCount, 32) X(AsyncHostToDeviceTransferManager_BufferSize, 40)              \
  X(AsyncHostToDeviceTransferManager_SetBufferError, 48) X(AsyncHostToDeviceTransferManager_AddMetadata, 40)          \
  X(Client_DmaMap, 40) X(Client_DmaUnmap, 32) X(Client_CreateUninitializedBuffer, 80)                                 \
  X(Client_UpdateGlobalProcessInfo, 40) X(TopologyDescription_Deserialize, 40) X(Client_CreateAliasBuffer, 80)        \
  X(Client_FulfillAliasBuffer, 64) X(LoadedExecutable_GetDeviceAssignment, 56) X(Client_CreateErrorBuffer, 112)       \
  X(AsyncHostToDeviceTransferManager_TransferLiteral, 80) X(Buffer_CopyRawToHostFuture, 64)                           \
  X(Device_PoisonExecution, 72) X(Device_CreateAsyncTrackingEvent, 48) X(AsyncTrackingEvent_Destroy, 24)              \
  X(Executable_GetCompileOptions, 56) X(Buffer_DonateWithControlDependency, 48) X(Event_Create, 24) X(Event_Set, 48)  \
  X(Device_GetAttributes, 56) X(Client_Load, 56) X(LoadedExecutable_AddressableDeviceLogicalIds, 40)                  \
  X(Buffer_Bitcast, 64) X(Error_ForEachPayload, 40) X(TopologyDescription_Fingerprint, 32)                            \
  X(Executable_ParameterMemoryKinds, 48) X(Device_ClearMemoryStats, 24)                                               \
  X(TopologyDescription_MakeCanonicalShapeForMemorySpace, 88) X(TopologyDescription_GetMemorySpaceKindIds, 40)

/// The table that GetPjrtApi returns.
struct Api {
  size_t struct_size;
  Extension *extension_start;
  Version version;
#define MILLRACE_PJRT_MEMBER(name, size) void (*name)(name##_Args *);
  MILLRACE_PJRT_VOID_SLOTS(MILLRACE_PJRT_MEMBER)
#undef MILLRACE_PJRT_MEMBER
#define MILLRACE_PJRT_MEMBER(name, size) Error *(*name)(name##_Args *);
  MILLRACE_PJRT_SLOTS(MILLRACE_PJRT_MEMBER)
#undef MILLRACE_PJRT_MEMBER
};

} // namespace millrace::pjrt
