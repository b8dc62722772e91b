// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Job.cpp - How the processes of a job find each other ----------------===//
// JAX's distributed service is a key-value store to a plug-in. All that goes through it is what the mesh needs to connect, and with it what
// the client of each process has to know of the others: how many devices they have.
#include "pjrt/Objects.h"
#include "runtime/transport/Wire.h"

#include <algorithm>

namespace millrace::pjrt {
namespace {

namespace transport = rt::transport;

/// The callbacks of PJRT_Client_Create, which any thread may call.
class CallbackStore final : public transport::Store {
public:
  explicit CallbackStore(const Client_Create_Args &args) : get_(args.kv_get), getArg(args.kv_get_arg), put_(args.kv_put), putArg(args.kv_put_arg) {
    const char *begin = reinterpret_cast<const char *>(&args), *end = reinterpret_cast<const char *>(&args.kv_try_get_arg + 1);
    if (args.struct_size >= size_t(end - begin))
      tryGet_ = args.kv_try_get, tryGetArg = args.kv_try_get_arg;
  }

  rt::Status put(const std::string &key, std::string_view value) override {
    KeyValuePutArgs args{};
    args.struct_size = sizeof args;
    args.key = key.data(), args.key_size = key.size();
    args.value = value.data(), args.value_size = value.size();
    args.callback_error = &makeCallbackError;
    args.user_arg = putArg;
    return take(put_(&args));
  }

  rt::StatusOr<std::string> get(const std::string &key, double seconds) override {
    KeyValueGetArgs args{};
    args.struct_size = sizeof args;
    args.key = key.data(), args.key_size = key.size();
    args.timeout_in_ms = int(std::clamp(seconds * 1000, 1.0, 1e9));
    args.callback_error = &makeCallbackError;
    args.user_arg = getArg;
    if (rt::Status status = take(get_(&args)); !status.ok())
      return status;
    return valueOf(args);
  }

  std::optional<std::string> tryGet(const std::string &key) override {
    if (!tryGet_)
      return std::nullopt;
    KeyValueTryGetArgs args{};
    args.struct_size = sizeof args;
    args.key = key.data(), args.key_size = key.size();
    args.callback_error = &makeCallbackError;
    args.user_arg = tryGetArg;
    if (!take(tryGet_(&args)).ok()) // no process has put the key, or the service is gone, which get() and put() report
      return std::nullopt;
    return valueOf(args);
  }

private:
  template <typename CallArgs>
  static std::string valueOf(const CallArgs &args) {
    std::string value(args.value, args.value_size);
    if (args.value_deleter)
      args.value_deleter(args.value);
    return value;
  }
  static Error *failure(int code, const char *message, size_t size) {
    bool isKnown = code > 0 && code <= int(rt::Code::Unauthenticated);
    return makeError(rt::Status(isKnown ? rt::Code(code) : rt::Code::Unknown, std::string(message, size)));
  }
  static inline CallbackError makeCallbackError = failure;

  static rt::Status take(Error *error) {
    std::unique_ptr<Error> owner(error);
    return error ? error->status : rt::Status();
  }

  KeyValueGet *const get_;
  void *const getArg;
  KeyValuePut *const put_;
  void *const putArg;
  KeyValueTryGet *tryGet_ = nullptr;
  void *tryGetArg = nullptr;
};

/// The data that each process shares about its client.
struct Note {
  uint32_t devices = 0;
  int64_t slice = -1; ///< negative: the slice is that of the host
  uint64_t seed = 0;

  std::string encode() const {
    transport::Writer writer;
    writer.number(devices);
    writer.number(slice);
    writer.number(seed);
    return std::move(writer.bytes);
  }
  static rt::StatusOr<Note> decode(std::string_view bytes) {
    transport::Reader reader(bytes);
    Note note;
    note.devices = reader.number<uint32_t>();
    note.slice = reader.number<int64_t>();
    note.seed = reader.number<uint64_t>();
    if (!reader.isComplete() || note.devices == 0 || note.devices > rt::kMaxDevices)
      return rt::dataLoss("the description of another process's devices is malformed");
    return note;
  }
};

} // namespace

rt::StatusOr<Job> joinJob(const Client_Create_Args &args, uint32_t rank, uint32_t size, uint32_t numDevices, std::optional<uint32_t> slice,
                          std::optional<uint64_t> rngSeed) {
  if (!args.kv_get || !args.kv_put)
    return rt::invalidArgument("num_nodes is " + std::to_string(size) + ", but there is no key-value store through which processes could find each "
                               "other: in JAX, call jax.distributed.initialize() first");
  rt::StatusOr<transport::MeshOptions> options = transport::meshOptionsFromEnvironment();
  if (!options)
    return options.status();
  options->rank = rank, options->size = size;
  Note own;
  own.devices = numDevices;
  own.slice = slice ? int64_t(*slice) : -1;
  own.seed = rngSeed ? *rngSeed : rt::freshSeed();
  CallbackStore store(args);
  rt::StatusOr<std::unique_ptr<transport::Mesh>> mesh = transport::Mesh::connect(store, *options, own.encode());
  if (!mesh)
    return mesh.status();
  Job job;
  std::vector<std::string> hosts; // in the order of ranks, so that every process assigns the same numbers
  uint64_t total = 0;
  for (uint32_t process = 0; process < size; ++process) {
    rt::StatusOr<Note> note = Note::decode((*mesh)->noteOf(process));
    if (!note)
      return note.status();
    const std::string &host = (*mesh)->hostOf(process);
    auto found = std::find(hosts.begin(), hosts.end(), host);
    if (found == hosts.end())
      found = hosts.insert(hosts.end(), host);
    if ((note->slice < 0) != (own.slice < 0))
      return rt::invalidArgument("either all processes have a partition_index or none; process " + std::to_string(process) +
                                 (note->slice < 0 ? " has none" : " has one"));
    job.devices.push_back({note->devices, note->slice < 0 ? uint32_t(found - hosts.begin()) : uint32_t(note->slice)});
    total += note->devices;
    if (process == 0)
      job.rngSeed = note->seed;
  }
  if (total > rt::kMaxDevices)
    return rt::invalidArgument("the processes have " + std::to_string(total) + " devices; expects at most " + std::to_string(rt::kMaxDevices));
  job.processes = rt::Processes::create(std::move(*mesh));
  return job;
}

} // namespace millrace::pjrt
