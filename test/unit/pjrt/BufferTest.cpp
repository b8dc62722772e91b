// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BufferTest.cpp - Clients, buffers and transfers over the C API ------===//
#include "test/unit/pjrt/Plugin.h"

#include <cstdlib>
#include <memory>

using namespace millrace::pjrt;
using namespace millrace::pjrt::test;

namespace {

struct Freed {
  void operator()(void *p) const { std::free(p); }
};
std::unique_ptr<float, Freed> alignedFloats(size_t count) {
  std::unique_ptr<float, Freed> data(static_cast<float *>(std::aligned_alloc(64, (count * 4 + 63) / 64 * 64)));
  for (size_t i = 0; i < count; ++i)
    data.get()[i] = float(i);
  return data;
}

std::vector<int64_t> dimsOf(Buffer *buffer) {
  auto args = make<Buffer_Dimensions_Args>();
  args.object = buffer;
  EXPECT_OK(api().Buffer_Dimensions(&args));
  return {args.list, args.list + args.size};
}

TEST(PjrtApi, EverySlotIsThere) {
  EXPECT_EQ(api().struct_size, sizeof(Api));
  EXPECT_EQ(api().version.minor_version, kApiMinor);
  auto *slots = reinterpret_cast<void *const *>(reinterpret_cast<const char *>(&api()) + 40);
  for (int i = 0; i < 138; ++i)
    EXPECT_NE(slots[i], nullptr) << i;
}

TEST(PjrtApi, LayoutExtensionIsFound) {
  const Extension *extension = api().extension_start;
  while (extension && extension->type != 4)
    extension = extension->next;
  ASSERT_NE(extension, nullptr);
  EXPECT_EQ(extension->struct_size, 80u);
}

TEST(PjrtClient, WrongOptionsAreNamed) {
  auto option = make<NamedValue>();
  option.name = "colour";
  option.name_size = 6;
  option.type = NamedValue::Int64;
  auto create = make<Client_Create_Args>();
  create.create_options = &option;
  create.num_options = 1;
  Outcome outcome = outcomeOf(api().Client_Create(&create));
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.message.find("'colour'"), std::string::npos) << outcome.message;
}

TEST(PjrtClient, ErrorsCanBeReadThroughTheirFirstWord) {
  auto lookup = make<Client_LookupDevice_Args>();
  Owned owned(2);
  lookup.client = owned.client;
  lookup.id = 7;
  Error *error = api().Client_LookupDevice(&lookup);
  ASSERT_NE(error, nullptr);
  const ErrorFunctions *functions = *reinterpret_cast<ErrorFunctions **>(error);
  const char *text;
  size_t size;
  functions->message(error, &text, &size);
  EXPECT_EQ(functions->code(error), 3);
  EXPECT_EQ(std::string_view(text, size), "there is no device 7, only 2 devices");
  functions->destroy(error);
}

TEST(PjrtClient, MemoriesKeepUserData) {
  static int destroyed = 0;
  {
    Owned owned;
    Memory *memory = owned.memory(0);
    const MemoryFunctions *functions = *reinterpret_cast<MemoryFunctions **>(memory);
    int key = 0, value = 0;
    EXPECT_EQ(functions->get_user_data(memory, &key), nullptr);
    functions->set_user_data(memory, &key, &value, [](void *) { ++destroyed; });
    EXPECT_EQ(functions->get_user_data(memory, &key), &value);
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(PjrtBuffer, StridesAreFollowed) {
  Owned owned;
  float data[6] = {0, 1, 2, 3, 4, 5};
  int64_t dims[2] = {2, 3}, strides[2] = {4, 8}; // column-major
  auto args = make<Client_BufferFromHostBuffer_Args>();
  args.client = owned.client;
  args.data = data;
  args.type = F32;
  args.dims = dims;
  args.num_dims = 2;
  args.byte_strides = strides;
  args.num_byte_strides = 2;
  args.memory = owned.memory(0);
  EXPECT_OK(api().Client_BufferFromHostBuffer(&args));
  EXPECT_EQ(await(args.done_with_host_buffer).code, 0);
  EXPECT_EQ(get(args.buffer), (std::vector<float>{0, 2, 4, 1, 3, 5}));
  destroy(args.buffer);
}

TEST(PjrtBuffer, LayoutsPermuteMemoryOnly) {
  Owned owned;
  float data[6] = {0, 1, 2, 3, 4, 5};
  int64_t dims[2] = {2, 3}, order[2] = {0, 1};
  auto layout = make<MemoryLayout>();
  layout.type = MemoryLayout::Tiled;
  layout.tiled.minor_to_major = order;
  layout.tiled.minor_to_major_size = 2;
  auto args = make<Client_BufferFromHostBuffer_Args>();
  args.client = owned.client;
  args.data = data;
  args.type = F32;
  args.dims = dims;
  args.num_dims = 2;
  args.memory = owned.memory(0);
  args.device_layout = &layout;
  EXPECT_OK(api().Client_BufferFromHostBuffer(&args));
  destroy(args.done_with_host_buffer);
  EXPECT_EQ(dimsOf(args.buffer), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(get(args.buffer), (std::vector<float>{0, 3, 1, 4, 2, 5})); // no host layout: as it lies in memory
  int64_t rowMajor[2] = {1, 0};
  layout.tiled.minor_to_major = rowMajor;
  float back[6];
  auto toHost = make<Buffer_ToHostBuffer_Args>();
  toHost.buffer = args.buffer;
  toHost.host_layout = &layout;
  toHost.dst = back;
  toHost.dst_size = sizeof(back);
  EXPECT_OK(api().Buffer_ToHostBuffer(&toHost));
  EXPECT_EQ(await(toHost.event).code, 0);
  EXPECT_EQ(std::vector<float>(back, back + 6), std::vector<float>(data, data + 6));
  auto onCpu = make<Buffer_IsOnCpu_Args>();
  onCpu.object = args.buffer;
  EXPECT_OK(api().Buffer_IsOnCpu(&onCpu));
  EXPECT_FALSE(onCpu.result) << "callers would read it as row-major";
  destroy(args.buffer);

  size_t tile = 1;
  int64_t tileDims[1] = {8};
  layout.tiled.num_tiles = 1;
  layout.tiled.tile_dims = tileDims;
  layout.tiled.tile_dim_sizes = &tile;
  EXPECT_EQ(outcomeOf(api().Client_BufferFromHostBuffer(&args)).code, 12);
}

TEST(PjrtBuffer, AlignedHostMemoryIsUsedInPlace) {
  Owned owned;
  auto data = alignedFloats(16);
  int64_t dims[1] = {16};
  auto args = make<Client_BufferFromHostBuffer_Args>();
  args.client = owned.client;
  args.data = data.get();
  args.type = F32;
  args.dims = dims;
  args.num_dims = 1;
  args.memory = owned.memory(0);
  args.host_buffer_semantics = ImmutableZeroCopy;
  EXPECT_OK(api().Client_BufferFromHostBuffer(&args));
  auto pointer = make<Buffer_UnsafePointer_Args>();
  pointer.object = args.buffer;
  EXPECT_OK(api().Buffer_UnsafePointer(&pointer));
  EXPECT_EQ(pointer.result, reinterpret_cast<uintptr_t>(data.get()));
  auto ready = make<Event_IsReady_Args>();
  ready.object = args.done_with_host_buffer;
  EXPECT_OK(api().Event_IsReady(&ready));
  EXPECT_FALSE(ready.result) << "the memory is still in use";
  destroy(args.buffer);
  EXPECT_EQ(await(args.done_with_host_buffer).code, 0);
}

TEST(PjrtBuffer, ExternalReferencesKeepTheMemory) {
  Owned owned;
  Buffer *buffer = owned.put({1, 2, 3});
  auto more = make<Buffer_IncreaseExternalReferenceCount_Args>();
  more.object = buffer;
  EXPECT_OK(api().Buffer_IncreaseExternalReferenceCount(&more));
  auto pointer = make<Buffer_OpaqueDeviceMemoryDataPointer_Args>();
  pointer.object = buffer;
  auto gone = make<Buffer_Delete_Args>();
  gone.object = buffer;
  EXPECT_OK(api().Buffer_Delete(&gone));
  EXPECT_OK(api().Buffer_OpaqueDeviceMemoryDataPointer(&pointer));
  EXPECT_EQ(static_cast<float *>(pointer.result)[2], 3);
  auto less = make<Buffer_DecreaseExternalReferenceCount_Args>();
  less.object = buffer;
  EXPECT_OK(api().Buffer_DecreaseExternalReferenceCount(&less));
  EXPECT_EQ(outcomeOf(api().Buffer_DecreaseExternalReferenceCount(&less)).code, 3);
  EXPECT_EQ(dimsOf(buffer), std::vector<int64_t>{3}) << "a deleted buffer still has a shape";
  destroy(buffer);
}

TEST(PjrtBuffer, CopiesGoToOtherDevicesAndMemories) {
  Owned owned(2);
  Buffer *buffer = owned.put({1, 2, 3});
  auto args = make<Buffer_CopyToMemory_Args>();
  args.buffer = buffer;
  args.memory = owned.memory(1, 1);
  EXPECT_OK(api().Buffer_CopyToMemory(&args));
  destroy(buffer); // the copy may still be in flight
  auto where = make<Buffer_Device_Args>();
  where.object = args.copy;
  EXPECT_OK(api().Buffer_Device(&where));
  EXPECT_EQ(where.result, owned.devices[1]);
  EXPECT_EQ(get(args.copy), (std::vector<float>{1, 2, 3}));
  destroy(args.copy);
}

TEST(PjrtBuffer, RawBytesAreCopiedWithinBounds) {
  Owned owned;
  Buffer *buffer = owned.put({1, 2, 3});
  float two = 0;
  auto args = make<Buffer_CopyRawToHost_Args>();
  args.buffer = buffer;
  args.dst = &two;
  args.offset = 4;
  args.transfer_size = 4;
  EXPECT_OK(api().Buffer_CopyRawToHost(&args));
  EXPECT_EQ(await(args.event).code, 0);
  EXPECT_EQ(two, 2);
  args.offset = 12;
  EXPECT_OK(api().Buffer_CopyRawToHost(&args));
  EXPECT_EQ(await(args.event).code, 3);

  auto later = make<Buffer_CopyRawToHostFuture_Args>();
  later.buffer = buffer;
  later.offset = 8;
  later.transfer_size = 4;
  EXPECT_OK(api().Buffer_CopyRawToHostFuture(&later));
  float three = 0;
  Buffer_CopyRawToHostFuture_Args::Callback callback{};
  callback.struct_size = sizeof(callback);
  callback.callback_data = later.callback_data;
  callback.dst = &three;
  later.ready(&callback);
  EXPECT_EQ(await(later.event).code, 0);
  EXPECT_EQ(three, 3);
  destroy(buffer);
}

TEST(PjrtBuffer, BitcastSharesMemory) {
  Owned owned;
  Buffer *buffer = owned.put({1, 2, 3, 4});
  int64_t dims[2] = {2, 2};
  auto args = make<Buffer_Bitcast_Args>();
  args.buffer = buffer;
  args.element_type = S32;
  args.dims = dims;
  args.num_dims = 2;
  EXPECT_OK(api().Buffer_Bitcast(&args));
  EXPECT_EQ(dimsOf(args.result), (std::vector<int64_t>{2, 2}));
  destroy(args.result);
  dims[0] = 3;
  EXPECT_EQ(outcomeOf(api().Buffer_Bitcast(&args)).code, 3);
  destroy(buffer);
}

TEST(PjrtBuffer, ErrorBuffersFailTheirReaders) {
  Owned owned;
  int64_t dims[1] = {2};
  auto args = make<Client_CreateErrorBuffer_Args>();
  args.client = owned.client;
  args.status = {8, "no luck", 7};
  args.shape.dims = dims;
  args.shape.num_dims = 1;
  args.shape.element_type = F32;
  args.memory = owned.memory(0);
  EXPECT_OK(api().Client_CreateErrorBuffer(&args));
  auto ready = make<Buffer_ReadyEvent_Args>();
  ready.object = args.buffer;
  EXPECT_OK(api().Buffer_ReadyEvent(&ready));
  Outcome outcome = await(ready.result);
  EXPECT_EQ(outcome.code, 8);
  EXPECT_EQ(outcome.message, "no luck");
  destroy(args.buffer);
}

TEST(PjrtBuffer, AliasesBecomeTheirBuffer) {
  Owned owned;
  int64_t dims[1] = {3};
  auto args = make<Client_CreateAliasBuffer_Args>();
  args.client = owned.client;
  args.memory = owned.memory(0);
  args.shape.dims = dims;
  args.shape.num_dims = 1;
  args.shape.element_type = F32;
  EXPECT_OK(api().Client_CreateAliasBuffer(&args));
  Buffer *buffer = owned.put({5, 6, 7});
  auto fulfill = make<Client_FulfillAliasBuffer_Args>();
  fulfill.client = owned.client;
  fulfill.buffer = buffer;
  fulfill.fulfillment = args.fulfillment;
  EXPECT_OK(api().Client_FulfillAliasBuffer(&fulfill));
  destroy(buffer);
  EXPECT_EQ(get(args.buffer), (std::vector<float>{5, 6, 7}));
  destroy(args.buffer);
}

TEST(PjrtBuffer, DonationWaitsForItsDependency) {
  Owned owned;
  Buffer *buffer = owned.put({1, 2});
  auto args = make<Buffer_DonateWithControlDependency_Args>();
  args.buffer = buffer;
  EXPECT_OK(api().Buffer_DonateWithControlDependency(&args));
  EXPECT_TRUE(isDeleted(buffer));
  auto ready = make<Buffer_ReadyEvent_Args>();
  ready.object = args.donated;
  EXPECT_OK(api().Buffer_ReadyEvent(&ready));
  auto isReady = make<Event_IsReady_Args>();
  isReady.object = ready.result;
  EXPECT_OK(api().Event_IsReady(&isReady));
  EXPECT_FALSE(isReady.result);
  Buffer_DonateWithControlDependency_Args::Callback callback{};
  callback.callback_data = args.callback_data;
  args.ready(&callback);
  EXPECT_EQ(await(ready.result).code, 0);
  EXPECT_EQ(get(args.donated), (std::vector<float>{1, 2}));
  destroy(args.donated);
  destroy(buffer);
}

TEST(PjrtTransferManager, FillsPieceByPiece) {
  Owned owned;
  int64_t dims[1] = {4};
  ShapeSpec shapes[2];
  for (ShapeSpec &shape : shapes) {
    shape = make<ShapeSpec>();
    shape.dims = dims;
    shape.num_dims = 1;
    shape.element_type = F32;
  }
  auto create = make<Client_CreateBuffersForAsyncHostToDevice_Args>();
  create.client = owned.client;
  create.shapes = shapes;
  create.num_shapes = 2;
  create.memory = owned.memory(0);
  EXPECT_OK(api().Client_CreateBuffersForAsyncHostToDevice(&create));
  Buffer *buffers[2];
  for (int i = 0; i < 2; ++i) {
    auto retrieve = make<AsyncHostToDeviceTransferManager_RetrieveBuffer_Args>();
    retrieve.manager = create.manager;
    retrieve.index = i;
    EXPECT_OK(api().AsyncHostToDeviceTransferManager_RetrieveBuffer(&retrieve));
    buffers[i] = retrieve.buffer;
  }
  float values[4] = {1, 2, 3, 4};
  auto transfer = make<AsyncHostToDeviceTransferManager_TransferData_Args>();
  transfer.manager = create.manager;
  transfer.data = values + 2;
  transfer.offset = 8;
  transfer.size = 8;
  EXPECT_OK(api().AsyncHostToDeviceTransferManager_TransferData(&transfer));
  EXPECT_EQ(await(transfer.done).code, 0);
  transfer.offset = 12;
  EXPECT_EQ(outcomeOf(api().AsyncHostToDeviceTransferManager_TransferData(&transfer)).code, 3);
  transfer.data = values;
  transfer.offset = 0;
  transfer.is_last_transfer = true;
  EXPECT_OK(api().AsyncHostToDeviceTransferManager_TransferData(&transfer));
  EXPECT_EQ(await(transfer.done).code, 0);
  EXPECT_EQ(get(buffers[0]), std::vector<float>(values, values + 4));
  EXPECT_EQ(outcomeOf(api().AsyncHostToDeviceTransferManager_TransferData(&transfer)).code, 9) << "complete already";

  // A manager that goes away leaves no reader waiting.
  auto ready = make<Buffer_ReadyEvent_Args>();
  ready.object = buffers[1];
  EXPECT_OK(api().Buffer_ReadyEvent(&ready));
  auto gone = make<AsyncHostToDeviceTransferManager_Destroy_Args>();
  gone.object = create.manager;
  EXPECT_OK(api().AsyncHostToDeviceTransferManager_Destroy(&gone));
  EXPECT_EQ(await(ready.result).code, 1);
  destroy(buffers[0]);
  destroy(buffers[1]);
}

TEST(PjrtEvent, CanBeSetByTheCaller) {
  auto create = make<Event_Create_Args>();
  EXPECT_OK(api().Event_Create(&create));
  static Outcome seen;
  auto onReady = make<Event_OnReady_Args>();
  onReady.event = create.object;
  onReady.callback = [](Error *error, void *) { seen = outcomeOf(error); };
  EXPECT_OK(api().Event_OnReady(&onReady));
  auto set = make<Event_Set_Args>();
  set.event = create.object;
  set.status = {13, "broken", 6};
  EXPECT_OK(api().Event_Set(&set));
  EXPECT_EQ(seen.message, "broken");
  EXPECT_EQ(outcomeOf(api().Event_Set(&set)).code, 9) << "twice";
  EXPECT_EQ(await(create.object).code, 13);
}

TEST(PjrtTopology, RoundTripsAndRefusesOthers) {
  auto create = make<TopologyDescription_Create_Args>();
  create.name = "8";
  create.name_size = 1;
  EXPECT_OK(api().TopologyDescription_Create(&create));
  auto bytes = make<TopologyDescription_Serialize_Args>();
  bytes.object = create.topology;
  EXPECT_OK(api().TopologyDescription_Serialize(&bytes));
  std::string text(bytes.data, bytes.size);
  bytes.deleter(bytes.holder);
  auto parse = make<TopologyDescription_Deserialize_Args>();
  parse.data = text.data();
  parse.size = text.size();
  EXPECT_OK(api().TopologyDescription_Deserialize(&parse));
  auto list = make<TopologyDescription_GetDeviceDescriptions_Args>();
  list.object = parse.topology;
  EXPECT_OK(api().TopologyDescription_GetDeviceDescriptions(&list));
  EXPECT_EQ(list.size, 8u);
  for (Topology *topology : {create.topology, parse.topology}) {
    auto gone = make<TopologyDescription_Destroy_Args>();
    gone.object = topology;
    EXPECT_OK(api().TopologyDescription_Destroy(&gone));
  }
  for (size_t size = 0; size < text.size(); ++size) {
    parse.size = size;
    EXPECT_NE(outcomeOf(api().TopologyDescription_Deserialize(&parse)).code, 0) << "cut after " << size;
  }
}

} // namespace
