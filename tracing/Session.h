// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Session.h - Step barriers: compile, cache and execute graphs --------===//
// There is one session per process. A program is looked up by a 128-bit hash of its graph's structure, first in this process and then in the
// persistent cache (lowering/CacheKey.h). Executions are asynchronous: sync() returns when they are enqueued.
#pragma once
#include "tracing/emit/TracedModule.h"
#include "tracing/programs/ProgramCache.h"
#include "tracing/spmd/Progress.h"
#include "tracing/spmd/World.h"

#include <atomic>
#include <mutex>

namespace millrace::tracing {

/// A recursive mutex that knows whether this thread holds it. Functions that may wait for another lock check that, to avoid deadlocks.
class GraphMutex {
public:
  void lock() {
    inner.lock();
    ++depth();
  }
  void unlock() {
    --depth();
    inner.unlock();
  }
  bool heldByThisThread() const { return depth() != 0; }

private:
  static int &depth(); ///< static, because the process has one such mutex only
  std::recursive_mutex inner;
};

class RemoteShards;

/// Which values sync() is called with: all values that have holders, or some of them.
enum class Roots { All, Some };
/// Which memory sync() may donate to results: leaves that only the graph holds and leaves that the user donated, or the latter alone.
enum class Donors { Any, GivenUp };

class Session {
public:
  /// Returns the process's session, which is made at the first call. Its client has CPU_NUM_DEVICES devices (environment, default: 1).
  static Session &get();
  static bool hasStarted();
  /// Returns true if the session is connected with the other processes of the world.
  static bool isConnected();
  /// Returns the session's world, or that of the environment if there is no session.
  static runtime::StatusOr<World> world();

  /// Held while graphs are changed: by sync(), and by front ends while they read or rebind the values of their tensors.
  GraphMutex mutex;

  /// Returns the largest number of bytes of all_gather results that are live at once in any of the graphs' programs so far. Thread-safe.
  uint64_t gatheredBytes() const { return gathered; }

  /// Copies host memory (row-major) to the device. Errors: ResourceExhausted.
  runtime::StatusOr<Value> upload(const void *data, Shape shape);
  /// Executes the pending operations that `roots` depend on; afterwards the roots are leaves. A root without pending operations costs nothing.
  /// Empties the caller's vector, so that a leaf that only the graph holds is donated: its memory becomes a result's. Leaves that the user donated
  /// (Node::givenUp) are donated at a step barrier, and everywhere while donatesGivenUp() is true; their tensors have no value afterwards.
  runtime::Status sync(std::vector<Value> roots, Roots which = Roots::Some, Donors donors = Donors::Any);
  void donateGivenUp(bool isOn) { givenUpEverywhere = isOn; }
  bool donatesGivenUp() const { return givenUpEverywhere; }
  /// Does the same for one operation of eager mode, which has metrics of its own.
  runtime::Status syncEagerly(std::vector<Value> roots);
  /// Returns the buffer of a value after sync(). A number is uploaded.
  runtime::StatusOr<runtime::BufferPtr> buffer(const Value &value);
  /// Returns the buffer of a random key, a number that is never stored in a smaller type (StoredTypes.h).
  runtime::StatusOr<runtime::BufferPtr> keyBuffer(uint64_t bits);
  /// Returns the buffer in the type of the value's shape, for programs that this session did not make. May wait and copy.
  runtime::StatusOr<runtime::BufferPtr> plainBuffer(const Value &value);
  /// Returns a leaf for a result of such a program. May wait and copy.
  runtime::StatusOr<Value> adopt(runtime::BufferPtr plain);
  /// Waits for the value and copies it to `target` (row-major, exactly the shape's bytes).
  runtime::Status download(const Value &value, void *target);
  /// Sets a function that every wait for other processes calls repeatedly; an error that it returns ends the wait. Any thread may call it, usually
  /// without the session's mutex. Must be set before the session is made.
  static void setInterruptCheck(runtime::Status (*check)());
  /// Waits for everything that was enqueued.
  runtime::Status wait();
  /// Waits until the processes of the world are connected. Has no effect in a world of one.
  runtime::Status connect();
  /// Sets the seconds without progress after which a collective of these processes ends with an error. Connects.
  runtime::Status setTimeout(const std::vector<uint32_t> &ranks, const std::string &group, uint32_t channels, double seconds);
  /// Returns true while other processes may still read tensors of which this one has shards. A process that exits normally waits until it is false,
  /// but no longer than the session's timeout.
  static bool isAwaited();
  /// Returns an error if a process that this one is connected with is lost or has left.
  static runtime::Status loss();
  /// Leaves the world if there is a session: processes that still wait for this one get an error with `failure` as its reason. Without a failure the
  /// collectives that were recorded and enqueued are executed first; the returned error is theirs, unless the user has been told of one already.
  /// Afterwards nothing can be executed with other processes.
  static runtime::Status leave(const std::string &failure);
  /// Notes that the user has been told of an error.
  static void setTold();

  //===-- SPMD: one program on all devices of all processes (Spmd.cpp) -------===//

  /// Turns SPMD on or off. On: programs with annotations run on all devices. Off: programs run on the first device, and sharded tensors are gathered
  /// where they are read. `isAuto`: large tensors without an annotation are sharded when they are first used.
  runtime::Status usePartitions(bool isOn, bool isAuto = false);
  /// Returns the number of devices of SPMD programs; 0 while SPMD is off.
  int64_t partitions() const { return numPartitions; }
  /// Copies to each device its shard of a tensor in host memory that every process has. `memory` owns `data` if the data may be kept, or is null.
  runtime::StatusOr<Value> upload(const void *data, Shape shape, const ShardingPtr &sharding, std::shared_ptr<runtime::Storage> memory = nullptr);
  /// Copies a batch of which each process has a part, cut along dim 0 in the order of processes and their devices. The tensor is the concatenation of
  /// the shards, and has the given sharding. Errors: InvalidArgument if the number of devices does not divide the part.
  runtime::StatusOr<Value> uploadShare(const void *data, Shape shape, const ShardingPtr &sharding);
  /// Returns the shards of a leaf on the devices of this process; a leaf that is not sharded is replicated, in one memory.
  runtime::StatusOr<Shards> spread(const Value &leaf);
  /// Returns true if the leaf has memory, sharded or not.
  static bool hasMemory(const Value &leaf);
  /// Returns the StableHLO text of the last program that ran on several devices; "" if there was none.
  const std::string &lastProgram() const { return lastSpread; }
  /// The mesh of automatic sharding in the compiler's notation; empty if it is off. `isPending`: of a program whose arguments are not sharded yet.
  struct Planning {
    std::string mesh;
    int64_t smallest = 0; ///< smaller arguments are replicated
  };
  runtime::StatusOr<Planning> planning(bool isPending) const;

  /// Compiles StableHLO text (or finds the program in the persistent cache) and loads it.
  runtime::StatusOr<std::shared_ptr<runtime::Executable>> compileProgram(const std::string &text);
  /// Does the same for a module that was emitted.
  runtime::StatusOr<std::shared_ptr<runtime::Executable>> compileProgram(TracedModule module);
  /// Does the same and keeps the executable under `key` among the session's programs, for callers that look it up at every execution.
  runtime::StatusOr<std::shared_ptr<runtime::Executable>> keptProgram(const Digest &key, const std::string &text);
  /// Starts a program that sync() did not make and returns its results. If it contains collectives between processes, the recorded ones are started
  /// before it. wait() includes it. Errors: those of Executable::execute, and FailedPrecondition where executions are not allowed.
  runtime::StatusOr<std::vector<runtime::BufferPtr>> launch(runtime::Executable &executable,
                                                            const std::vector<runtime::BufferPtr> &arguments,
                                                            const runtime::ExecuteOptions &options);
  /// Compiles the program of sync(roots) without executing it; roots that have a value are ignored. `leaves` are the values that runGraph() expects.
  struct WarmGraph {
    Digest key;
    std::vector<Value> leaves;
    size_t results = 0;
  };
  runtime::StatusOr<WarmGraph> warmUp(const std::vector<Value> &roots);
  /// Returns the same without compiling.
  WarmGraph describe(const std::vector<Value> &roots);
  /// Executes the program of a graph with other leaves and returns one value per result. Errors: NotFound if the graph was never compiled or has been
  /// evicted, InvalidArgument if types differ.
  runtime::StatusOr<std::vector<Value>> runGraph(const Digest &key, std::vector<Value> leaves);
  /// Sets whether a number that earlier programs have used is not counted as a transfer to the device (the default).
  void keepNumbers(bool isOn) { numbersKept = isOn; }
  bool keepsNumbers() const { return numbersKept; }
  /// Returns the number of loaded programs.
  size_t numPrograms();
  /// Releases the loaded programs, and deletes those in the cache folder of setCacheFolder() or XLA_PERSISTENT_CACHE_PATH, if there is one that may be
  /// written to; enqueued executions are not affected. Errors: those of Cache::clear().
  runtime::Status forgetPrograms();

  /// Sets whether programs may be executed. While it is false an execution is an error, for functions that must be recorded as one graph.
  void allowExecution(bool allowed) { executionAllowed = allowed; }
  bool allowsExecution() const { return executionAllowed; }

  /// Returns the program of sync(roots) as StableHLO text.
  runtime::StatusOr<std::string> programText(const std::vector<Value> &roots);
  /// Returns null if the session could not start; startStatus() says why.
  const std::shared_ptr<runtime::Client> &client() {
    (void)started().ok();
    return runtimeClient;
  }
  const runtime::Status &startStatus() { return started(); }
  /// Sets a persistent cache folder other than the environment's. Must be called before the first compilation.
  runtime::Status setCacheFolder(const std::string &folder, bool readOnly);
  uint64_t compilations() const { return compiled; }
  /// Returns the number of calls of sync() that executed something.
  uint64_t barriers() const { return passed; }
  /// Returns a hash of the graph that was executed last; equal for equal programs of this process.
  uint64_t lastGraph() const { return lastKey; }

private:
  /// Uploads without a conversion `data` of type `dtype`.
  runtime::StatusOr<Value> uploadAs(DType dtype, const void *data, Shape shape);
  Session() = default;
  runtime::StatusOr<LoadedProgramPtr> compileGraph(const Schedule &schedule, const std::vector<Value> &roots,
                                                   std::vector<int64_t> donations);
  /// Returns a loaded program, or compiles it.
  runtime::StatusOr<LoadedProgramPtr> findOrCompile(const Schedule &schedule, const std::vector<Value> &roots,
                                                    const std::vector<bool> &dying, const AnalysisOf &what);
  /// Returns for each leaf whether only nodes that are released with the graph hold it.
  static std::vector<bool> dyingLeaves(const Schedule &schedule, const std::vector<Value> &roots);
  /// Shards the large unsharded leaves that roots depend on.
  runtime::Status splitLeaves(const std::vector<Value> &roots);
  /// Forgets plans and programs of other settings than the environment has now. Errors: a setting that cannot be read. The caller holds the mutex.
  runtime::Status applyPlanSettings();
  /// Returns XLA_AUTO_SPMD_MESH in the compiler's notation of meshes.
  runtime::StatusOr<std::string> autoMesh() const;
  /// Returns the sharding that each leaf is to have. The caller holds the mutex.
  runtime::StatusOr<std::vector<std::string>> planLeaves(const Schedule &plan, const std::vector<Value> &roots, const std::string &mesh);
  runtime::Status findResultShardings(LoadedProgram &program, const Schedule &schedule, const std::vector<Value> &roots) const;
  /// Executes the program on all devices and stores the roots' shards.
  runtime::Status runOnAll(const Schedule &schedule, const std::vector<Value> &roots, const LoadedProgram &program,
                           const std::vector<bool> &dying);
  /// Returns the first difference to the most similar compiled graph; "" if none is similar.
  std::string nearestDifference(const GraphSummary &now) const;
  /// Returns the arguments of a program with packed numbers.
  runtime::StatusOr<std::vector<runtime::BufferPtr>> gather(const Schedule &schedule, const LoadedProgram &program,
                                                            const std::vector<bool> &dying,
                                                            runtime::ExecuteOptions &options);

  /// Starts the session at the first call, which fixes the world.
  const runtime::Status &started();
  runtime::Status start();
  /// Returns the number of replicas of a program for one device: the number of processes of the world, or 1 under SPMD, whose processes are no
  /// replicas.
  int64_t replicas() const;
  /// Waits for a sharded leaf and copies it to `target`, row-major. With several processes it is a collective of all that lack a shard.
  runtime::Status readShards(const Value &leaf, void *target);
  /// Starts the recorded collectives with other processes.
  runtime::Status settleExchanges();
  /// Does the same on a thread other than the user's. Does nothing where executions are not allowed.
  void pushExchanges();
  runtime::StatusOr<std::vector<runtime::BufferPtr>> enqueue(runtime::Executable &executable, const std::vector<runtime::BufferPtr> &arguments,
                                                             const runtime::ExecuteOptions &options);

  std::once_flag starting;
  static runtime::Status mayGoOn();
  /// Waits for an event until mayGoOn() returns an error.
  runtime::Status await(const runtime::Event &event) const;
  int owner = 0; ///< the process that started the session; its forks belong to no world
  std::unique_ptr<Progress> progress; ///< null in a world of one process
  std::shared_ptr<RemoteShards> remoteShards; ///< null in a world of one process
  World place; ///< set when the session starts
  runtime::Status startError;
  std::shared_ptr<runtime::Client> runtimeClient;
  ProgramCache programs{ProgramCache::Limits::ofEnvironment()}; ///< guarded by mutex
  struct InFlight {
    runtime::Event event;
    bool spansProcesses = false;
  };
  /// Removes completed executions. The error of one that ran with other processes is kept, because the user may never read a value of it. The caller
  /// holds the mutex.
  void forgetDone();
  std::vector<InFlight> inFlight; ///< guarded by mutex
  runtime::Status stepError;      ///< reported at the next step barrier; guarded by mutex
  std::atomic<uint64_t> compiled{0};
  uint64_t passed = 0;
  uint64_t lastKey = 0;
  std::atomic<bool> executionAllowed{true};
  std::atomic<uint64_t> gathered{0}; ///< written under the mutex
  std::atomic<bool> isEager{false}; ///< written under the mutex, read by compilations without it
  std::atomic<bool> givenUpEverywhere{false}, numbersKept{true};
  int64_t numPartitions = 0;
  bool splitsAlone = false; ///< use_spmd(auto=True)
  /// The shardings that use_spmd(auto=True) gives to the leaves of graphs, by the graphs' keys; guarded by mutex.
  std::unordered_map<Digest, std::vector<std::string>, DigestHash> planned;
  std::string lastSpread;
  std::string planSettings; ///< of the programs and plans that are kept: the environment's mesh, machine and memory; guarded by mutex
};

} // namespace millrace::tracing
