// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Plugin.cpp - A small client of the PJRT C API -----------------------===//
#include "test/unit/pjrt/Plugin.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>

namespace millrace::pjrt::test {

const Api &api() {
  static const Api *loaded = [] {
    // Tests must not write to the user's cache.
    ::setenv("MILLRACE_CACHE", "off", 1);
    std::filesystem::path library =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../lib/libmillrace_pjrt.so";
    void *handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      std::fprintf(stderr, "%s\n", ::dlerror());
      std::abort();
    }
    auto get = reinterpret_cast<const Api *(*)()>(::dlsym(handle, "GetPjrtApi"));
    return get();
  }();
  return *loaded;
}

Outcome outcomeOf(Error *error) {
  Outcome outcome;
  if (!error)
    return outcome;
  auto code = make<Error_GetCode_Args>();
  code.object = error;
  api().Error_GetCode(&code);
  auto message = make<Error_Message_Args>();
  message.object = error;
  api().Error_Message(&message);
  outcome = {code.result, std::string(message.data, message.size)};
  auto gone = make<Error_Destroy_Args>();
  gone.object = error;
  api().Error_Destroy(&gone);
  return outcome;
}

std::string compileOptions(unsigned replicas, unsigned partitions, std::vector<std::vector<int>> ids, bool portable) {
  auto message = [](int field, const std::string &bytes) {
    return std::string(1, char(field << 3 | 2)) + char(bytes.size()) + bytes;
  };
  auto number = [](int field, unsigned value) { return std::string(1, char(field << 3)) + char(value); };
  std::string build = number(4, replicas) + number(5, partitions);
  if (!ids.empty()) {
    std::string assignment = number(1, replicas) + number(2, partitions);
    for (const std::vector<int> &partition : ids) {
      std::string list;
      for (int id : partition)
        list += char(id);
      assignment += message(3, message(1, list));
    }
    build += message(9, assignment);
  }
  return message(3, build) + number(4, portable);
}

Owned::Owned(int64_t numDevices) {
  auto option = make<NamedValue>();
  option.name = "num_devices";
  option.name_size = 11;
  option.type = NamedValue::Int64;
  option.int64_value = numDevices;
  option.value_size = 1;
  auto create = make<Client_Create_Args>();
  create.create_options = &option;
  create.num_options = 1;
  EXPECT_OK(api().Client_Create(&create));
  client = create.client;
  auto list = make<Client_Devices_Args>();
  list.object = client;
  EXPECT_OK(api().Client_Devices(&list));
  devices.assign(list.list, list.list + list.size);
}
Owned::~Owned() {
  auto gone = make<Client_Destroy_Args>();
  gone.object = client;
  EXPECT_OK(api().Client_Destroy(&gone));
}
Memory *Owned::memory(size_t device, size_t kind) const {
  auto list = make<Device_AddressableMemories_Args>();
  list.object = devices[device];
  EXPECT_OK(api().Device_AddressableMemories(&list));
  return list.list[kind];
}

Outcome Owned::compile(std::string_view text, LoadedExecutable *&executable, const std::string &options) const {
  auto program = make<ProgramCode>();
  program.code = const_cast<char *>(text.data());
  program.code_size = text.size();
  program.format = "mlir";
  program.format_size = 4;
  auto args = make<Client_Compile_Args>();
  args.client = client;
  args.program = &program;
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  Outcome outcome = outcomeOf(api().Client_Compile(&args));
  executable = outcome.code ? nullptr : args.executable;
  return outcome;
}

Buffer *Owned::put(const void *data, int type, std::vector<int64_t> dims, size_t device, int semantics) const {
  auto args = make<Client_BufferFromHostBuffer_Args>();
  args.client = client;
  args.data = data;
  args.type = type;
  args.dims = dims.data();
  args.num_dims = dims.size();
  args.host_buffer_semantics = semantics;
  args.device = devices[device];
  EXPECT_OK(api().Client_BufferFromHostBuffer(&args));
  destroy(args.done_with_host_buffer);
  return args.buffer;
}
Buffer *Owned::put(const std::vector<float> &values, size_t device) const {
  return put(values.data(), F32, {int64_t(values.size())}, device);
}

std::vector<float> get(Buffer *buffer) {
  auto args = make<Buffer_ToHostBuffer_Args>();
  args.buffer = buffer;
  EXPECT_OK(api().Buffer_ToHostBuffer(&args)); // asks for the size
  std::vector<float> values(args.dst_size / sizeof(float));
  args.dst = values.data();
  EXPECT_OK(api().Buffer_ToHostBuffer(&args));
  Outcome outcome = await(args.event);
  EXPECT_EQ(outcome.code, 0) << outcome.message;
  return values;
}
bool isDeleted(Buffer *buffer) {
  auto args = make<Buffer_IsDeleted_Args>();
  args.object = buffer;
  EXPECT_OK(api().Buffer_IsDeleted(&args));
  return args.result;
}
void destroy(Buffer *buffer) {
  auto args = make<Buffer_Destroy_Args>();
  args.object = buffer;
  EXPECT_OK(api().Buffer_Destroy(&args));
}
void destroy(LoadedExecutable *executable) {
  auto args = make<LoadedExecutable_Destroy_Args>();
  args.object = executable;
  EXPECT_OK(api().LoadedExecutable_Destroy(&args));
}
void destroy(Event *event) {
  auto args = make<Event_Destroy_Args>();
  args.object = event;
  EXPECT_OK(api().Event_Destroy(&args));
}
Outcome await(Event *event) {
  auto args = make<Event_Await_Args>();
  args.object = event;
  Outcome outcome = outcomeOf(api().Event_Await(&args));
  destroy(event);
  return outcome;
}

Outcome execute(LoadedExecutable *executable, const std::vector<std::vector<Buffer *>> &arguments, size_t numResults,
                std::vector<std::vector<Buffer *>> &results, std::vector<int64_t> nonDonatable, Device *device) {
  auto options = make<ExecuteOptions>();
  options.non_donatable_input_indices = nonDonatable.data();
  options.num_non_donatable_input_indices = nonDonatable.size();
  std::vector<Buffer *const *> lists;
  std::vector<Buffer **> outputs;
  results.assign(arguments.size(), std::vector<Buffer *>(numResults));
  std::vector<Event *> done(arguments.size());
  for (size_t d = 0; d < arguments.size(); ++d) {
    lists.push_back(arguments[d].data());
    outputs.push_back(results[d].data());
  }
  auto args = make<LoadedExecutable_Execute_Args>();
  args.executable = executable;
  args.options = &options;
  args.argument_lists = lists.data();
  args.num_devices = arguments.size();
  args.num_args = arguments.empty() ? 0 : arguments[0].size();
  args.output_lists = outputs.data();
  args.device_complete_events = done.data();
  args.execute_device = device;
  Outcome outcome = outcomeOf(api().LoadedExecutable_Execute(&args));
  if (outcome.code)
    return outcome;
  for (Event *event : done)
    if (Outcome one = await(event); one.code)
      outcome = one;
  return outcome;
}

} // namespace millrace::pjrt::test
