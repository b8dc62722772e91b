// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CApi.cpp - The C ABI, except compilation ----------------------------===//
// Every function converts and forwards; no exception leaves one.
#include "runtime/embedding/Objects.h"

#include <new>

using namespace millrace::runtime;

struct millrace_client {
  std::shared_ptr<Client> client;
};
struct millrace_executable {
  std::shared_ptr<Executable> executable;
};
struct millrace_buffer {
  BufferPtr buffer;
  std::mutex mutex;
  std::vector<int64_t> dims; ///< the dimensions that millrace_buffer_type returns; guarded by mutex, set once
  bool dimsKnown = false;
};

namespace millrace::runtime {

namespace {
/// Is returned when there is no memory for an error object.
millrace_error outOfMemory{Code::ResourceExhausted, "out of memory"};
} // namespace

millrace_error *toCError(const Status &status) {
  if (status.ok())
    return nullptr;
  auto *error = new (std::nothrow) millrace_error{status.code(), std::string(status.message())};
  return error ? error : &outOfMemory;
}

namespace {

/// Runs `body`, which returns a Status, and turns exceptions (only std::bad_alloc can occur) into errors.
template <typename Body>
millrace_error *guarded(Body body) {
  try {
    return toCError(body());
  } catch (const std::exception &) {
    return &outOfMemory;
  }
}

template <typename T>
millrace_type typeOf(const std::vector<T> &specs, size_t index) {
  if (index >= specs.size())
    return {MILLRACE_INVALID, 0, nullptr};
  return {millrace_dtype(specs[index].dtype), specs[index].dims.size(), specs[index].dims.data()};
}

Status run(millrace_executable *executable, millrace_buffer *const *arguments, size_t numArguments,
           millrace_buffer **results, size_t numResults, bool wait) {
  Executable &e = *executable->executable;
  size_t devices = e.devices().size(), perDevice = e.program().arguments.size(),
         resultsPerDevice = e.program().results.size();
  if (numArguments != devices * perDevice)
    return invalidArgument("expects " + std::to_string(devices * perDevice) + " arguments, but got " +
                           std::to_string(numArguments));
  if (numResults != devices * resultsPerDevice)
    return invalidArgument("expects room for " + std::to_string(devices * resultsPerDevice) + " results, but got " +
                           std::to_string(numResults));
  std::vector<std::vector<BufferPtr>> lists(devices);
  for (size_t d = 0; d < devices; ++d)
    for (size_t k = 0; k < perDevice; ++k) {
      millrace_buffer *buffer = arguments[d * perDevice + k];
      lists[d].push_back(buffer ? buffer->buffer : nullptr);
    }
  StatusOr<ExecuteResult> result = e.execute(lists);
  if (!result)
    return result.status();
  if (wait)
    for (const Event &done : result->done)
      MILLRACE_TRY(done.await());
  std::vector<std::unique_ptr<millrace_buffer>> made;
  for (auto &list : result->results)
    for (BufferPtr &buffer : list) {
      made.push_back(std::make_unique<millrace_buffer>());
      made.back()->buffer = std::move(buffer);
    }
  for (size_t i = 0; i < made.size(); ++i)
    results[i] = made[i].release();
  return Status();
}

} // namespace
} // namespace millrace::runtime

extern "C" {

uint32_t millrace_abi_version(void) { return MILLRACE_ABI_VERSION; }
const char *millrace_version(void) { return MILLRACE_VERSION; }

int millrace_error_code(const millrace_error *error) { return int(error->code); }
const char *millrace_error_message(const millrace_error *error) { return error->message.c_str(); }
void millrace_error_destroy(millrace_error *error) {
  if (error != &outOfMemory)
    delete error;
}

millrace_error *millrace_client_create(uint32_t numDevices, millrace_client **client) {
  return guarded([&]() -> Status {
    ClientOptions options;
    options.numDevices = numDevices;
    StatusOr<std::shared_ptr<Client>> created = Client::create(options);
    if (!created)
      return created.status();
    *client = new millrace_client{std::move(*created)};
    return Status();
  });
}
void millrace_client_destroy(millrace_client *client) { delete client; }
uint32_t millrace_client_num_devices(const millrace_client *client) {
  return uint32_t(client->client->devices().size());
}

static millrace_error *keepProgram(StatusOr<Program> program, millrace_program **result) {
  if (!program)
    return toCError(program.status());
  *result = new millrace_program{std::make_shared<const Program>(std::move(*program))};
  return nullptr;
}
millrace_error *millrace_program_read(const char *path, millrace_program **program) {
  millrace_error *error = nullptr;
  millrace_error *failure = guarded([&] {
    error = keepProgram(readFile(path), program);
    return Status();
  });
  return failure ? failure : error;
}
millrace_error *millrace_program_parse(const void *bytes, size_t size, millrace_program **program) {
  millrace_error *error = nullptr;
  millrace_error *failure = guarded([&] {
    error = keepProgram(parse({static_cast<const char *>(bytes), size}), program);
    return Status();
  });
  return failure ? failure : error;
}
millrace_error *millrace_program_write(const millrace_program *program, const char *path) {
  return guarded([&] { return writeFile(*program->program, path); });
}
void millrace_program_destroy(millrace_program *program) { delete program; }
size_t millrace_program_num_arguments(const millrace_program *program) { return program->program->arguments.size(); }
size_t millrace_program_num_results(const millrace_program *program) { return program->program->results.size(); }
millrace_type millrace_program_argument_type(const millrace_program *program, size_t index) {
  return typeOf(program->program->arguments, index);
}
millrace_type millrace_program_result_type(const millrace_program *program, size_t index) {
  return typeOf(program->program->results, index);
}
size_t millrace_program_num_devices(const millrace_program *program) {
  return size_t(program->program->numReplicas) * program->program->numPartitions;
}

millrace_error *millrace_load(millrace_client *client, const millrace_program *program,
                              millrace_executable **executable) {
  return guarded([&]() -> Status {
    StatusOr<std::shared_ptr<Executable>> loaded = client->client->load(program->program);
    if (!loaded)
      return loaded.status();
    *executable = new millrace_executable{std::move(*loaded)};
    return Status();
  });
}
void millrace_executable_destroy(millrace_executable *executable) { delete executable; }

millrace_error *millrace_buffer_create(millrace_client *client, uint32_t device, millrace_dtype dtype, size_t rank,
                                       const int64_t *dims, const void *data, size_t size, millrace_buffer **buffer) {
  return guarded([&]() -> Status {
    const auto &devices = client->client->devices();
    if (device >= devices.size())
      return invalidArgument("device " + std::to_string(device) + " of " + std::to_string(devices.size()));
    if (dtype <= MILLRACE_INVALID || dtype > MILLRACE_TOKEN)
      return invalidArgument("element type " + std::to_string(int(dtype)) + " does not exist");
    std::vector<int64_t> shape(dims, dims + rank);
    StatusOr<uint64_t> bytes = denseBytes(DType(dtype), shape);
    if (!bytes)
      return bytes.status();
    if (*bytes != size)
      return invalidArgument("expects " + std::to_string(*bytes) + " bytes for this shape, but got " +
                             std::to_string(size));
    StatusOr<BufferPtr> created = client->client->bufferFromHost(
        data, DType(dtype), shape, {}, HostSemantics::OnlyDuringCall, devices[device]->memories()[0]);
    if (!created)
      return created.status();
    auto result = std::make_unique<millrace_buffer>();
    result->buffer = std::move(*created);
    *buffer = result.release();
    return Status();
  });
}
void millrace_buffer_destroy(millrace_buffer *buffer) { delete buffer; }
millrace_error *millrace_buffer_type(millrace_buffer *buffer, millrace_type *type) {
  return guarded([&]() -> Status {
    std::lock_guard lock(buffer->mutex);
    if (!buffer->dimsKnown) {
      StatusOr<std::vector<int64_t>> dims = buffer->buffer->dims();
      if (!dims)
        return dims.status();
      buffer->dims = std::move(*dims);
      buffer->dimsKnown = true;
    }
    *type = {millrace_dtype(buffer->buffer->dtype()), buffer->dims.size(), buffer->dims.data()};
    return Status();
  });
}
millrace_error *millrace_buffer_read(millrace_buffer *buffer, void *data, size_t size) {
  return guarded([&] { return buffer->buffer->toHost(data, size).await(); });
}

millrace_error *millrace_execute(millrace_executable *executable, millrace_buffer *const *arguments,
                                 size_t numArguments, millrace_buffer **results, size_t numResults) {
  return guarded([&] { return run(executable, arguments, numArguments, results, numResults, false); });
}
millrace_error *millrace_execute_wait(millrace_executable *executable, millrace_buffer *const *arguments,
                                      size_t numArguments, millrace_buffer **results, size_t numResults) {
  return guarded([&] { return run(executable, arguments, numArguments, results, numResults, true); });
}
}
