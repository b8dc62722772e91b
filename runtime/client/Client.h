// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Client.h - Devices, buffers and executables -------------------------===//
// A Client has N virtual CPU devices in this process. Devices of other processes, with which it may run programs together, are known by their ids
// alone. Each device has a thread that runs executions in the order in which they were enqueued; the kernels of all devices share
// ThreadPool::global(). All calls are thread-safe and return at once unless the comment says that they wait. Objects are held by shared_ptr and keep
// their client alive.
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

/// A larger number of devices is refused. Unit: devices of a client, including those of other processes. Source: judgement, not measured alone: far
/// beyond the processes that a job can connect.
inline constexpr uint32_t kMaxDevices = 65536;

class Client;
class Device;
class HostChannels;
class Processes;
struct Plan;

struct ClientOptions {
  uint32_t numDevices = 1;
  /// Bytes per device, 0 for no limit. A request that exceeds it waits as long as executions in progress may free memory.
  uint64_t memoryLimit = 0;
  double timeoutSeconds = 300;   ///< timeout of rendezvous and host transfers
  /// Seed of stablehlo.rng: the same executions in the same order draw the same numbers. Without a seed the numbers are new in every run.
  std::optional<uint64_t> rngSeed = std::nullopt;
  /// The processes that programs may span; null if this one is alone. Device ids count the devices of process 0, 1, ... in order; all processes need
  /// the same rngSeed.
  std::shared_ptr<Processes> processes = nullptr;
  std::vector<uint32_t> devicesOf = {}; ///< number of devices per process, if there are several
};

/// One kind of memory of one device. On CPUs all kinds are the same memory; the kind is only reported.
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
  /// Returns the device's kinds of memory; the default ("device") is the first.
  const std::vector<MemorySpace> &memories() const { return spaces; }
  const MemorySpace *memory(std::string_view kind) const;
  AllocatorStats memoryStats() const { return allocator->stats(); }
  void clearMemoryStats() { allocator->resetPeak(); }
  /// Enqueues tensors for infeed steps (and recv steps from the host, by channel); every call has the tensors of one step.
  void feed(std::vector<std::string> tensors);
  void sendToProgram(int64_t channel, std::vector<std::string> tensors);
  /// Waits (up to the client's timeout) for the tensors of the next outfeed step, or of the next send step of a channel.
  StatusOr<std::vector<std::string>> takeOutfeed();
  StatusOr<std::vector<std::string>> receiveFromProgram(int64_t channel);

private:
  friend class Client;
  friend class Buffer;
  friend class Executable;
  struct Queue;
  Device(Client *owner, uint32_t ordinal, const ClientOptions &options);
  /// Enqueues `task`, which runs after earlier tasks on the device's thread or, with `onAnyThread`, on a thread that waits for it before (worker()).
  /// `endsByItself` says that the task waits for no other thread of the client. Returns true if that holds for all tasks in the queue.
  bool enqueue(std::function<void()> task, bool onAnyThread, bool endsByItself);
  /// Returns true if all tasks in the queue end by themselves.
  bool endsByItself() const;
  std::shared_ptr<Event::Worker> worker() const;
  /// Allocates memory, for clients' threads. If the limit leaves none, waits for queued tasks that end by themselves, because they may free some.
  StatusOr<std::shared_ptr<Storage>> allocate(uint64_t bytes);
  /// Lends an arena of at least `bytes` likewise; null if there is no memory. With `isQueued` the arena is for a task of the queue, whose tasks use
  /// it one after the other, so that waiting tasks need only the largest of their arenas.
  std::shared_ptr<Arena> lendArena(uint64_t bytes, bool isQueued);
  template <typename Attempt>
  auto awaitMemory(uint64_t bytes, Attempt attempt) -> decltype(attempt());
  /// Runs `task` on this thread if the device is idle. Returns false if it is not.
  bool tryInline(const std::function<void()> &task, bool endsByItself);

  Client *owner;
  uint32_t ordinal;
  uint64_t memoryLimit;
  double timeoutSeconds;
  std::vector<MemorySpace> spaces;
  std::shared_ptr<Allocator> allocator;
  std::mutex arenaMutex;
  std::weak_ptr<Arena> queuedArena; ///< arena of the last queued task; guarded by arenaMutex
  std::shared_ptr<HostChannels> channels;
  std::shared_ptr<Queue> queue;
};

/// A tensor on a device, whose value may not have been computed yet.
class Buffer {
public:
  DType dtype() const { return type; }
  /// Returns the row-major sizes. Waits if they depend on a computation.
  StatusOr<std::vector<int64_t>> dims() const;
  Device &device() const { return *space->device; }
  const MemorySpace &memory() const { return *space; }
  /// Returns an event that is set when the value is available, or with the error that prevented it.
  Event ready() const;
  /// Copies the value to `target` (exactly `size` bytes, row-major). The event is set when `target` is complete.
  Event toHost(void *target, uint64_t size) const;
  /// Does the same with strides in bytes of `target`, one per dim.
  Event toHost(void *target, std::vector<int64_t> byteStrides) const;
  /// Waits for the value and returns its memory, which stays valid as long as the storage is held. A donation meanwhile makes a copy.
  StatusOr<std::shared_ptr<Storage>> acquire() const;
  /// Returns the address of the value, which may not be computed yet. Waits only if the memory did not exist before the value: results of programs
  /// that may wait for their caller have memory from the beginning, because the caller may query it first.
  StatusOr<void *> address() const;
  StatusOr<std::shared_ptr<Buffer>> copyTo(const MemorySpace &target) const;
  /// Returns a buffer that aliases this one with another type of the same size; writing to it by donation makes a copy.
  StatusOr<std::shared_ptr<Buffer>> reinterpret(DType dtype, const std::vector<int64_t> &dims) const;
  /// Releases this buffer and returns one whose value is ready when this one's is and `dependency` is set, or fails with it.
  StatusOr<std::shared_ptr<Buffer>> donateAfter(Event dependency);
  /// Releases the memory; executions that are already enqueued still read it.
  void release();
  /// Returns true after release() or donation; every other use is an error then.
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
  /// Arguments that must not be donated although the program would donate them; the runtime copies them.
  std::vector<uint32_t> nonDonatable;
  /// Timeout instead of the client's.
  std::optional<double> timeoutSeconds;
  /// Of a program of several processes: a number that must be equal in all of them; otherwise the execution fails in all.
  uint64_t agreement = 0;
  /// Names of the program (its own name if empty), and of what the number stands for, in the error.
  std::string program, agreementOn;
  /// The values from which the number is computed, if known: equally many, in the same order, in every process.
  std::vector<uint64_t> agreementParts;
  /// Returns the error's description of value `part`, which is `one` in one process and `other` in another. Any thread may call it, also after the
  /// execution has begun.
  std::function<std::string(size_t part, uint64_t one, uint64_t other)> agreementDifference;
  /// Text that follows the error if processes launch different programs.
  std::string advice;
};

struct ExecuteResult {
  std::vector<std::vector<BufferPtr>> results; ///< [device][result]
  std::vector<Event> done;                     ///< [device]
};

/// A buffer whose memory the caller fills: it writes `storage`, then sets `ready` once.
struct PromisedBuffer {
  BufferPtr buffer;
  std::shared_ptr<Storage> storage;
  EventSource ready;
};

/// A buffer that another buffer will replace. `fulfill` is called once, with that buffer (of the same type) or an error.
struct LaterBuffer {
  BufferPtr buffer;
  std::function<void(StatusOr<BufferPtr>)> fulfill;
};

struct CostAnalysis {
  double flops = 0, bytesAccessed = 0;
  uint64_t codeBytes = 0;
  MemoryStats memory;
};

/// How the executions of a program in several processes are matched.
enum class Meets {
  InLaunches,  ///< its n-th launch belongs to the n-th launch in the other processes, which must be of the same program
  InOperations ///< each collective belongs to the next one of its group in the other processes, of any program; one replica per process
};

struct LoadOptions {
  Meets meets = Meets::InLaunches;
  /// Device ids, [replica * numPartitions + partition]. Empty: 0, 1, 2, ..., or the ids of this process if its devices suffice.
  std::vector<uint32_t> deviceAssignment;
  std::optional<LoaderOptions> loader; ///< read from the environment if not set
};

/// A program that is linked for the devices of its assignment and can run.
class Executable {
public:
  const Program &program() const;
  /// Returns the devices of this process; none if the program runs in other processes only, where execute() has no effect.
  const std::vector<Device *> &devices() const { return assigned; }
  /// Returns the position of devices()[d] in the assignment: replica * numPartitions + partition.
  uint32_t memberOf(size_t d) const;
  /// Returns the device ids, [replica * numPartitions + partition].
  const std::vector<uint32_t> &assignment() const { return ids; }
  CostAnalysis cost() const;
  /// How often the program's preparation ran on any device, and how often in a row because a buffer had been replaced.
  struct Preparations {
    uint64_t all = 0, changesInARow = 0;
  };
  Preparations preparations() const;
  /// Enqueues one execution on every device of this process. Every other process of the assignment has to execute the program on its own devices.
  /// `arguments[d][k]` must be on devices()[d]. Donated arguments are released at once. Errors of this call: wrong count, type, shape, device,
  /// released or twice donated buffers; errors of the execution arrive in the events of results and `done`.
  StatusOr<ExecuteResult> execute(const std::vector<std::vector<BufferPtr>> &arguments,
                                  const ExecuteOptions &options = {});
  /// Executes on one device only, for programs of one replica and partition (portable executables).
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
  /// Returns the results of the program's preparation for `arguments` on `device`; they are kept from the last call if the buffers are the same.
  StatusOr<std::vector<std::shared_ptr<Buffer::Value>>> prepare(Device &device, std::span<const BufferPtr> arguments);
  struct Prepared;
  std::shared_ptr<Client> client;
  std::shared_ptr<State> state; ///< state of executions in progress; does not hold the client
  std::vector<Device *> assigned;
  std::vector<uint32_t> ids;
  std::shared_ptr<Prepared> prepared; ///< null if the program has no preparation
};

class Client : public std::enable_shared_from_this<Client> {
public:
  /// Makes a client. Errors: InvalidArgument for 0 or more than kMaxDevices devices.
  static StatusOr<std::shared_ptr<Client>> create(const ClientOptions &options = {});
  ~Client();
  /// Returns the devices of this process.
  const std::vector<std::unique_ptr<Device>> &devices() const { return all; }
  /// Returns the number of devices of all processes.
  uint32_t numGlobalDevices() const { return firstIds.back(); }
  /// Returns a device; null if `id` is that of another process, or of none.
  Device *device(uint32_t id) const;
  /// Returns the process that device `id` belongs to.
  uint32_t processOf(uint32_t id) const;
  uint32_t processIndex() const;
  const ClientOptions &options() const { return settings; }

  /// Copies (or uses, see HostSemantics) host memory. `byteStrides` has one per dim, which may be negative; empty means row-major. `done` is called
  /// once, when `data` may be changed or freed.
  StatusOr<BufferPtr> bufferFromHost(const void *data, DType dtype, const std::vector<int64_t> &dims,
                                     const std::vector<int64_t> &byteStrides, HostSemantics semantics,
                                     const MemorySpace &memory, std::function<void()> done = nullptr);
  /// Returns a buffer over foreign memory (DLPack), always without a copy; `data` must be 64-byte aligned.
  StatusOr<BufferPtr> viewOf(void *data, DType dtype, const std::vector<int64_t> &dims, bool isMutable,
                             const MemorySpace &memory, std::function<void()> release);
  StatusOr<BufferPtr> uninitialized(DType dtype, const std::vector<int64_t> &dims, const MemorySpace &memory);
  StatusOr<PromisedBuffer> promise(DType dtype, const std::vector<int64_t> &dims, const MemorySpace &memory);
  LaterBuffer later(DType dtype, const std::vector<int64_t> &dims, const MemorySpace &memory);
  /// Returns a buffer whose value is an error.
  BufferPtr errorBuffer(Status error, DType dtype, const std::vector<int64_t> &dims, const MemorySpace &memory);

  /// Links the program and waits for that.
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

/// Returns how often programs of this process prepared constants: at first executions, and whenever one of the buffers was replaced.
uint64_t preparationsOfProcess();

/// Returns a seed that no other client has.
uint64_t freshSeed();

/// Returns MILLRACE_COLLECTIVE_TIMEOUT of the environment, in seconds, else the default. Errors: InvalidArgument if it is no positive number.
StatusOr<double> collectiveTimeoutFromEnvironment();

/// Returns MILLRACE_MEMORY_LIMIT of the environment, in bytes; 0 if it is not set. Errors: InvalidArgument if it is no number.
StatusOr<uint64_t> memoryLimitFromEnvironment();

/// Returns the bytes of a dense tensor. Errors: InvalidArgument for negative sizes or overflow.
StatusOr<uint64_t> denseBytes(DType dtype, const std::vector<int64_t> &dims);

} // namespace millrace::runtime
