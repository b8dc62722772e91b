// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Client.h - Devices, buffers and executables -------------------------===//
// A Client is N virtual CPU devices in this process; those of other processes, with which it may run programs together, are known by their
// ids alone. Each device has a thread that runs executions in the order in which
// they were enqueued; kernels of all devices share ThreadPool::global(). All calls are thread-safe and return at once
// unless the comment says that they wait. Objects are held by shared_ptr and keep their client alive.
#pragma once
#include "runtime/base/Event.h"
#include "runtime/buffer/Memory.h"
#include "runtime/loader/Loader.h"
#include "runtime/program/Program.h"

#include <atomic>
#include <functional>
#include <optional>
#include <span>

namespace millrace::runtime {

/// A larger number is refused. Unit: devices of a client, those of other processes among them. Source: judgement, not measured alone: far beyond the
/// processes that a job can connect.
inline constexpr uint32_t kMaxDevices = 65536;

class Client;
class Device;
class HostChannels;
class Processes;
struct Plan;

struct ClientOptions {
  uint32_t numDevices = 1;
  /// Bytes per device, 0 = none. What new buffers and executions lack is waited for as long as executions in flight may give it back.
  uint64_t memoryLimit = 0;
  double timeoutSeconds = 300;   ///< of rendezvous and host transfers
  /// Of stablehlo.rng: the same executions in the same order draw the same numbers. Without one they are new every time.
  std::optional<uint64_t> rngSeed = std::nullopt;
  /// The processes that programs may span; null: this one is alone. Device ids count through all devices of process 0, 1, ...; all need the
  /// same rngSeed.
  std::shared_ptr<Processes> processes = nullptr;
  std::vector<uint32_t> devicesOf = {}; ///< number of devices per process, if there are several
};

/// One kind of memory of one device. On CPUs all kinds are the same memory; the kind is carried along.
struct MemorySpace {
  uint32_t id = 0;
  std::string kind; ///< "device", "pinned_host" or "unpinned_host"
  Device *device = nullptr;
};

class Device {
public:
  ~Device();
  Device(const Device &) = delete;
  uint32_t id() const { return ordinal; }
  Client &client() const { return *owner; }
  std::string toString() const { return "CpuDevice(id=" + std::to_string(ordinal) + ")"; }
  /// The default memory ("device") comes first.
  const std::vector<MemorySpace> &memories() const { return spaces; }
  const MemorySpace *memory(std::string_view kind) const;
  AllocatorStats memoryStats() const { return allocator->stats(); }
  void clearMemoryStats() { allocator->resetPeak(); }
  /// Feed infeed steps (and recv steps from the host, by channel); every call is one step's tensors.
  void feed(std::vector<std::string> tensors);
  void sendToProgram(int64_t channel, std::vector<std::string> tensors);
  /// Waits (up to the client's timeout) for the tensors of the next outfeed step, or send step of a channel.
  StatusOr<std::vector<std::string>> takeOutfeed();
  StatusOr<std::vector<std::string>> receiveFromProgram(int64_t channel);

private:
  friend class Client;
  friend class Buffer;
  friend class Executable;
  struct Queue;
  Device(Client *owner, uint32_t ordinal, const ClientOptions &options);
  /// Runs `task` after those before it, on the device's thread or, with `onAnyThread`, on one that waits for it first (worker()).
  /// `endsByItself`: it waits for nothing that a thread of the client has yet to do. Returns whether that holds with the tasks before it.
  bool enqueue(std::function<void()> task, bool onAnyThread, bool endsByItself);
  /// All tasks that are there end by themselves.
  bool endsByItself() const;
  std::shared_ptr<Event::Worker> worker() const;
  /// For clients' threads. Where the limit leaves no memory, waits for tasks that are there and end by themselves: they may give some back.
  StatusOr<std::shared_ptr<Storage>> allocate(uint64_t bytes);
  /// Likewise, an arena of at least `bytes`; null if there is no memory. With `isQueued` it is for a task of the queue, where one after the
  /// other uses it: those that wait there need no more than the largest of them.
  std::shared_ptr<Arena> lendArena(uint64_t bytes, bool isQueued);
  template <typename Attempt>
  auto awaitMemory(uint64_t bytes, Attempt attempt) -> decltype(attempt());
  /// Runs `task` on this thread if the device is idle.
  bool tryInline(const std::function<void()> &task, bool endsByItself);

  Client *owner;
  uint32_t ordinal;
  uint64_t memoryLimit;
  double timeoutSeconds;
  std::vector<MemorySpace> spaces;
  std::shared_ptr<Allocator> allocator;
  std::mutex arenaMutex;
  std::weak_ptr<Arena> queuedArena; ///< of the last task that lendArena() was called for; guarded by arenaMutex
  std::shared_ptr<HostChannels> channels;
  std::shared_ptr<Queue> queue;
};

/// A tensor on a device; its value may not have been computed yet.
class Buffer {
public:
  DType dtype() const { return type; }
  /// Row-major sizes. Waits if the shape is the outcome of a computation.
  StatusOr<std::vector<int64_t>> dims() const;
  Device &device() const { return *space->device; }
  const MemorySpace &memory() const { return *space; }
  /// Set when the value is there, or with the error that prevented it.
  Event ready() const;
  /// Copies the value to `target` (exactly `size` bytes, row-major); ready when `target` is complete.
  Event toHost(void *target, uint64_t size) const;
  /// As above with strides in bytes of `target`, one per dim.
  Event toHost(void *target, std::vector<int64_t> byteStrides) const;
  /// Waits for the value and returns its memory, which stays valid as long as the storage is held. A donation while it
  /// is held copies.
  StatusOr<std::shared_ptr<Storage>> acquire() const;
  /// Where the value is or will be. Waits unless the memory was there before the value: results of programs that may
  /// wait for their caller, who may ask for this first.
  StatusOr<void *> address() const;
  StatusOr<std::shared_ptr<Buffer>> copyTo(const MemorySpace &target) const;
  /// The same memory as another type of the same size; writing to it by donation copies.
  StatusOr<std::shared_ptr<Buffer>> reinterpret(DType dtype, const std::vector<int64_t> &dims) const;
  /// Gives this buffer up for one whose value is ready when this one's is and `dependency` is, or fails with it.
  StatusOr<std::shared_ptr<Buffer>> donateAfter(Event dependency);
  /// Gives the memory up; executions already enqueued still read it.
  void release();
  /// After release() or donation: every other use is an error.
  bool isReleased() const;

  struct Value;
  Buffer(std::shared_ptr<Client> client, const MemorySpace *space, std::shared_ptr<Value> value);
  ~Buffer();

private:
  friend class Client;
  friend class Executable;
  StatusOr<std::shared_ptr<Value>> get() const;
  std::shared_ptr<Client> client;
  const MemorySpace *space;
  DType type;
  mutable std::mutex mutex;
  std::shared_ptr<Value> value; ///< guarded by mutex; null after release
};

using BufferPtr = std::shared_ptr<Buffer>;

enum class HostSemantics {
  OnlyDuringCall,        ///< copied before the call returns
  UntilTransferCompletes,///< the memory is not changed before `done`
  ImmutableZeroCopy,     ///< used in place where aligned; `done` when no longer needed
  MutableZeroCopy        ///< as above, and a donation may write into it
};

struct ExecuteOptions {
  /// Arguments that must not be consumed although the program would (copied instead).
  std::vector<uint32_t> nonDonatable;
  /// Overrides the client's.
  std::optional<double> timeoutSeconds;
  /// Of a program of several processes: a number that has to be equal in all of them, else the execution fails in all.
  uint64_t agreement = 0;
  /// How the error names the program (its name if empty), and what the number stands for.
  std::string program, agreementOn;
  /// What the number is made of, if anybody says: as many values in every process that agrees, in the same order.
  std::vector<uint64_t> agreementParts;
  /// How the error names value `part`, which is `one` in one process and `other` in another. Called by any thread, also after the execution has begun.
  std::function<std::string(size_t part, uint64_t one, uint64_t other)> agreementDifference;
  /// What is said where the processes launch different programs, after that.
  std::string advice;
};

struct ExecuteResult {
  std::vector<std::vector<BufferPtr>> results; ///< [device][result]
  std::vector<Event> done;                     ///< [device]
};

/// A buffer whose memory somebody else fills: write `storage`, then set `ready` once.
struct PromisedBuffer {
  BufferPtr buffer;
  std::shared_ptr<Storage> storage;
  EventSource ready;
};

/// A buffer that will be another one. `fulfill` is called once, with that buffer (same type) or an error.
struct LaterBuffer {
  BufferPtr buffer;
  std::function<void(StatusOr<BufferPtr>)> fulfill;
};

struct CostAnalysis {
  double flops = 0, bytesAccessed = 0;
  uint64_t codeBytes = 0;
  MemoryStats memory;
};

/// How a program of several processes finds the others.
enum class Meets {
  InLaunches,  ///< its n-th launch is one with the n-th launch in the other processes, of the same program
  InOperations ///< each of its collectives with the next one of the same group in the other processes, whatever runs there. One replica per process.
};

struct LoadOptions {
  Meets meets = Meets::InLaunches;
  /// Device ids, [replica * numPartitions + partition]; empty: 0, 1, 2, ..., or if they suffice those of this process.
  std::vector<uint32_t> deviceAssignment;
  std::optional<LoaderOptions> loader; ///< else from the environment
};

/// A program that is linked and ready on the devices of its assignment.
class Executable {
public:
  const Program &program() const;
  /// Those of this process; none where the program is for others alone, which execute() leaves it to.
  const std::vector<Device *> &devices() const { return assigned; }
  /// Position of devices()[d] in the assignment: replica * numPartitions + partition.
  uint32_t memberOf(size_t d) const;
  /// Device ids, [replica * numPartitions + partition].
  const std::vector<uint32_t> &assignment() const { return ids; }
  CostAnalysis cost() const;
  /// How often the program's preparation ran, on any device, and how often in a row because buffers had been replaced since.
  struct Preparations {
    uint64_t all = 0, changesInARow = 0;
  };
  Preparations preparations() const;
  /// Enqueues one execution on every device of this process; the others of its assignment are served by their own processes, each of which
  /// has to execute it. `arguments[d][k]` must be on devices()[d]. Donated arguments are released
  /// now. Errors of this call: wrong count, type, shape, device, released or twice donated buffers; errors of the
  /// execution arrive in the events of results and `done`.
  StatusOr<ExecuteResult> execute(const std::vector<std::vector<BufferPtr>> &arguments,
                                  const ExecuteOptions &options = {});
  /// Same on one device only, for programs of one replica and partition (portable executables).
  StatusOr<ExecuteResult> executeOn(Device &device, const std::vector<BufferPtr> &arguments,
                                    const ExecuteOptions &options = {});
  ~Executable();

private:
  friend class Client;
  struct State;
  struct Launch;
  Executable() = default;
  StatusOr<ExecuteResult> launch(const std::vector<Device *> &devices,
                                 const std::vector<std::vector<BufferPtr>> &arguments, const ExecuteOptions &options);
  /// What the program's preparation makes of `arguments` on `device`: what it made before, if they are the same buffers.
  StatusOr<std::vector<std::shared_ptr<Buffer::Value>>> prepare(Device &device, std::span<const BufferPtr> arguments);
  struct Prepared;
  std::shared_ptr<Client> client;
  std::shared_ptr<State> state; ///< what executions in flight need; does not hold the client
  std::vector<Device *> assigned;
  std::vector<uint32_t> ids;
  std::shared_ptr<Prepared> prepared; ///< null if the program has no preparation
};

class Client : public std::enable_shared_from_this<Client> {
public:
  /// InvalidArgument for 0 or more than kMaxDevices devices.
  static StatusOr<std::shared_ptr<Client>> create(const ClientOptions &options = {});
  ~Client();
  /// Those of this process.
  const std::vector<std::unique_ptr<Device>> &devices() const { return all; }
  /// Those of all processes.
  uint32_t numGlobalDevices() const { return firstIds.back(); }
  /// Null if `id` is that of another process, or of none.
  Device *device(uint32_t id) const;
  /// The process that device `id` belongs to.
  uint32_t processOf(uint32_t id) const;
  uint32_t processIndex() const;
  const ClientOptions &options() const { return settings; }

  /// Copies (or uses, see HostSemantics) host memory. `byteStrides`: one per dim, empty = row-major; may be negative.
  /// `done` is called once, when `data` may be changed or freed.
  StatusOr<BufferPtr> bufferFromHost(const void *data, DType dtype, const std::vector<int64_t> &dims,
                                     const std::vector<int64_t> &byteStrides, HostSemantics semantics,
                                     const MemorySpace &memory, std::function<void()> done = nullptr);
  /// A buffer over memory of somebody else (DLPack): always zero-copy; `data` must be 64-byte aligned.
  StatusOr<BufferPtr> viewOf(void *data, DType dtype, const std::vector<int64_t> &dims, bool isMutable,
                             const MemorySpace &memory, std::function<void()> release);
  StatusOr<BufferPtr> uninitialized(DType dtype, const std::vector<int64_t> &dims, const MemorySpace &memory);
  StatusOr<PromisedBuffer> promise(DType dtype, const std::vector<int64_t> &dims, const MemorySpace &memory);
  LaterBuffer later(DType dtype, const std::vector<int64_t> &dims, const MemorySpace &memory);
  /// A buffer whose value never comes.
  BufferPtr errorBuffer(Status error, DType dtype, const std::vector<int64_t> &dims, const MemorySpace &memory);

  /// Links the program; waits for that.
  StatusOr<std::shared_ptr<Executable>> load(Program program, const LoadOptions &options = {});
  StatusOr<std::shared_ptr<Executable>> load(std::shared_ptr<const Program> program, const LoadOptions &options = {});

private:
  explicit Client(const ClientOptions &options);
  friend class Executable;
  ClientOptions settings;
  uint64_t rngSeed;
  std::atomic<uint64_t> executions{0};
  std::vector<uint32_t> firstIds; ///< per process, and the end
  std::vector<std::unique_ptr<Device>> all;
};

/// How often programs of this process prepared constants: at the first execution, and whenever one of the buffers was another one.
uint64_t preparationsOfProcess();

/// A seed that no other client has.
uint64_t freshSeed();

/// MILLRACE_COLLECTIVE_TIMEOUT of the environment, in seconds, else the default. InvalidArgument if it is no positive number.
StatusOr<double> collectiveTimeoutFromEnvironment();

/// MILLRACE_MEMORY_LIMIT of the environment, in bytes; 0 without it. InvalidArgument if it is no number.
StatusOr<uint64_t> memoryLimitFromEnvironment();

/// Bytes of a dense tensor; InvalidArgument for negative sizes or overflow.
StatusOr<uint64_t> denseBytes(DType dtype, const std::vector<int64_t> &dims);

} // namespace millrace::runtime
