// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Objects.h - What stands behind the pointers of the PJRT C API -------===//
// The objects belong to the caller, who destroys each once; devices, memories and the client's topology belong to the
// client. Everything shared with executions in flight is held by shared_ptr, so objects may be destroyed at any time.
#pragma once
#include "pjrt/CompileOptions.h"
#include "pjrt/PjrtApi.h"
#include "runtime/client/Client.h"
#include "runtime/collective/Processes.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::pjrt {

namespace rt = millrace::runtime;

struct Error {
  const ErrorFunctions *functions;
  rt::Status status;
};

/// An event; `source` exists for those of Event_Create only.
struct Event {
  rt::Event event;
  std::unique_ptr<rt::EventSource> source;
};

struct DeviceDescription {
  /// The devices of one host are a slice; negative with one process.
  DeviceDescription(int id, int process, int64_t slice);
  int id, process;
  std::string debugString, text;
  std::vector<NamedValue> attributes;
};

/// A process with devices; JAX calls its host a slice.
struct ProcessDevices {
  uint32_t count = 0, slice = 0;
  bool operator==(const ProcessDevices &) const = default;
};

/// The devices for which a program can be compiled: this machine's processor, any number of times, in one process or several.
struct Topology {
  explicit Topology(const std::vector<ProcessDevices> &processes);
  std::string serialize() const;
  static rt::StatusOr<std::unique_ptr<Topology>> parse(std::string_view bytes);
  std::vector<std::unique_ptr<DeviceDescription>> owned;
  std::vector<DeviceDescription *> descriptions;
  std::vector<ProcessDevices> processes;
};

struct Memory {
  const MemoryFunctions *functions;
  const rt::MemorySpace *space;
  Device *device;
  std::string text;
  struct UserData {
    void *data;
    void (*destroy)(void *);
  };
  std::mutex mutex;
  std::map<const void *, UserData> userData; ///< guarded by mutex
  ~Memory();
};

struct Device {
  rt::Device *device; ///< null for devices of other processes
  DeviceDescription *description;
  Client *client;
  std::vector<Memory *> memories;
};

struct Client {
  std::shared_ptr<rt::Client> client;
  std::unique_ptr<Topology> topology;
  std::vector<std::unique_ptr<Device>> ownedDevices;
  std::vector<std::unique_ptr<Memory>> ownedMemories;
  std::vector<Device *> devices;     ///< index = id
  std::vector<Device *> addressable; ///< devices of this process
  std::vector<Memory *> memories;    ///< memories of these devices, in the order of MemorySpace::id
  Memory *memoryOf(const rt::MemorySpace &space) const { return memories[space.id - memories.front()->space->id]; }
};

/// The order of elements in memory; empty for row-major.
using Layout = std::vector<int64_t>;

/// An argument or result as the caller sees it. If `layout` is not empty, the program's own type has the dimensions in their order in memory, because
/// the runtime's buffers are always row-major.
struct TensorType {
  rt::DType dtype = rt::DType::Invalid;
  std::vector<int64_t> dims; ///< bound (or 0) if the size is known at run time only
  Layout layout;
  std::string memoryKind; ///< never empty
  std::string sharding;   ///< mhlo.sharding text; may be empty
  bool isStatic = true;
};

/// A layout as an object of the layouts extension.
struct LayoutObject {
  std::string text;
};

/// The key of Program::metadata that holds the layouts of arguments and results.
inline constexpr std::string_view kLayoutsKey = "pjrt layouts";

/// The immutable result of a compilation, which all its executables share.
struct Compiled {
  std::shared_ptr<const rt::Program> program;
  std::string source;      ///< the module as given, for OptimizedProgram
  std::string optionBytes; ///< CompileOptionsProto as given
  CompileOptionsProto options;
  std::string fingerprint;
  std::vector<TensorType> arguments, results;
  // The data in the form in which the API returns them.
  std::vector<int> resultTypes;
  std::vector<int64_t> resultDims;
  std::vector<size_t> resultRanks;
  std::vector<const char *> argumentKinds, resultKinds;
  std::vector<size_t> argumentKindSizes, resultKindSizes;
  std::vector<NamedValue> properties;
  std::vector<std::unique_ptr<LayoutObject>> ownedLayouts;
  std::vector<LayoutObject *> argumentLayouts, resultLayouts;
  /// OpSharding messages; empty for programs of one partition.
  std::vector<std::string> argumentShardings, resultShardings;
  std::vector<const char *> argumentShardingData, resultShardingData;
  std::vector<size_t> argumentShardingSizes, resultShardingSizes;
  /// Fills all fields from `arguments` on. Returns DataLoss if the program's layouts do not fit it.
  rt::Status finish();
};

struct Executable {
  std::shared_ptr<const Compiled> compiled;
  std::mutex mutex;
  std::string optimized; ///< guarded by mutex; made at the first request
};

struct LoadedExecutable {
  Client *client;
  std::shared_ptr<const Compiled> compiled;
  std::vector<Device *> devices;
  std::vector<LogicalId> logicalIds;
  DeviceAssignment assignment;
  bool isPortable = false;
  mutable std::mutex mutex;
  std::shared_ptr<rt::Executable> executable; ///< guarded by mutex; null after Delete
};

struct Buffer {
  rt::BufferPtr buffer;
  Memory *memory;
  Layout layout;
  std::mutex mutex;
  std::vector<int64_t> dims; ///< logical; guarded by mutex while !dimsKnown
  std::atomic<bool> dimsKnown{false};
  int externalReferences = 0;           ///< guarded by mutex
  std::shared_ptr<rt::Storage> storage; ///< held while there are external references; guarded by mutex
  Layout shownLayout;                   ///< the layout that GetMemoryLayout returns; guarded by mutex
};

/// The parts of a client with several processes.
struct Job {
  std::shared_ptr<rt::Processes> processes;
  std::vector<ProcessDevices> devices; ///< per process
  uint64_t rngSeed = 0;                ///< the same in all processes
};

/// Connects process `rank` with the others through the caller's key-value store, and waits for them.
rt::StatusOr<Job> joinJob(const Client_Create_Args &args, uint32_t rank, uint32_t size, uint32_t numDevices, std::optional<uint32_t> slice,
                          std::optional<uint64_t> rngSeed);

/// Gives an alias buffer its value, or its error.
struct AliasFulfillment {
  std::function<void(rt::StatusOr<rt::BufferPtr>)> fulfill;
};

/// User data of an execution, which no function fills.
struct ExecuteContext {};

/// Returns null for Ok; the caller owns the result.
Error *makeError(rt::Status status);
Event *makeEvent(rt::Event event);
/// Returns the status that a caller describes; code 0 is Ok.
rt::Status statusFrom(const StatusText &text);

/// Wraps a runtime buffer. `dims` are logical; if null, the buffer is queried when they are needed.
Buffer *makeBuffer(rt::BufferPtr buffer, Memory *memory, const std::vector<int64_t> *dims, Layout layout = {});
/// Returns the logical sizes; waits if they are the result of a computation. Zeros if that failed, since getters have no errors.
const std::vector<int64_t> &dimsOf(Buffer &buffer);

rt::DType dtypeFrom(int bufferType); ///< Invalid if the runtime lacks the type
int bufferTypeOf(rt::DType dtype);

/// Reads a layout of the API for a tensor of `rank` dimensions; Unimplemented for tiles and strides. Null is row-major.
rt::StatusOr<Layout> layoutFrom(const MemoryLayout *layout, size_t rank);
/// Returns dimensions (or strides) in the order of memory, the slowest first.
std::vector<int64_t> toPhysical(const std::vector<int64_t> &values, const Layout &layout);
std::vector<int64_t> toLogical(const std::vector<int64_t> &values, const Layout &layout);
bool isRowMajor(const Layout &layout);
/// Returns "{1,0}", written out for row-major, too.
std::string layoutText(const Layout &layout, size_t rank);

struct Destination {
  Memory *memory = nullptr;
  rt::DType dtype = rt::DType::Invalid;
  std::vector<int64_t> dims;
  Layout layout;
};
/// Returns the checked destination of a call, from its shape, device and memory.
rt::StatusOr<Destination> destinationFrom(int type, const int64_t *dims, size_t rank, const MemoryLayout *layout,
                                          const Device *device, Memory *memory);

/// Returns InvalidArgument for a device of another process.
rt::Status checkAddressable(const Device &device);

/// Returns the text of a PJRT_NamedValue, for messages and options that are strings.
std::string_view nameOf(const NamedValue &value);
/// Returns an integer that is given as int64 or as text; InvalidArgument otherwise.
rt::StatusOr<int64_t> integerFrom(const NamedValue &value);

/// Passes `bytes` to the caller of a function with BytesArgs.
template <typename A>
void giveBytes(A &args, std::string bytes) {
  auto *holder = new std::string(std::move(bytes));
  args.data = holder->data();
  args.size = holder->size();
  args.holder = holder;
  args.deleter = [](void *held) { delete static_cast<std::string *>(held); };
}
template <typename A>
void giveString(A &args, std::string_view text) {
  args.data = text.data();
  args.size = text.size();
}
template <typename A, typename V>
void giveList(A &args, V &values) {
  args.list = values.data();
  args.size = values.size();
}

inline constexpr std::string_view kPlatformName = "cpu";
std::string_view platformVersion();

} // namespace millrace::pjrt
