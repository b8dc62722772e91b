// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Session.h - Step barriers: compile, cache and run graphs ------------===//
// One session per process. A program is found by the structure of its graph (128 bits of hash); what has not been compiled by this
// process is looked up in the persistent cache (lowering/CacheKey.h). Executions are asynchronous: sync() returns when
// they are enqueued.
#pragma once
#include "tracing/ProgramCache.h"
#include "tracing/Progress.h"
#include "tracing/TracedModule.h"
#include "tracing/World.h"

#include <atomic>
#include <mutex>

namespace millrace::tracing {

/// A recursive mutex that knows whether it is this thread that holds it: what may wait for another lock asks.
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
  static int &depth(); ///< there is one such mutex in the process
  std::recursive_mutex inner;
};

class RemoteParts;

/// Of sync(): all values that anybody still holds, or others may be held too.
enum class Roots { All, Some };
/// Of sync(): whose memory becomes a result's. That of leaves that only the graph still holds and that which the user gave up, or the latter alone.
enum class Donors { Any, GivenUp };

class Session {
public:
  /// The process's session; its client has CPU_NUM_DEVICES devices (environment, 1 by default), and is made when it is first needed.
  static Session &get();
  static bool hasStarted();
  /// With the other processes of the world.
  static bool isConnected();
  /// That of the session, or of the environment as long as there is none.
  static runtime::StatusOr<World> world();

  /// Held while graphs are changed: by sync(), and by front ends while they read or rebind the values of their tensors.
  GraphMutex mutex;

  /// Bytes of results of all_gather that are alive at once at most, in the one of the graphs' programs so far that has most of them. Any thread.
  uint64_t gatheredBytes() const { return gathered; }

  /// Copies host memory (row-major) to the device. Errors: ResourceExhausted.
  runtime::StatusOr<Value> upload(const void *data, Shape shape);
  /// Runs what `roots` need; afterwards their nodes are leaves. `roots` without an operation cost nothing. The caller's
  /// vector is emptied: a leaf that only the graph still held is donated, its memory becomes a result's. So is one that the user gave
  /// up (Node::givenUp), at a step barrier, and while donatesGivenUp() everywhere: its tensor has no value afterwards.
  runtime::Status sync(std::vector<Value> roots, Roots which = Roots::Some, Donors donors = Donors::Any);
  void donateGivenUp(bool isOn) { givenUpEverywhere = isOn; }
  bool donatesGivenUp() const { return givenUpEverywhere; }
  /// The same for one operation of eager mode: counted under names of its own.
  runtime::Status syncEagerly(std::vector<Value> roots);
  /// The buffer of a value after sync(). A number is uploaded.
  runtime::StatusOr<runtime::BufferPtr> buffer(const Value &value);
  /// The buffer of a random key, a number that is never kept in a smaller type (StoredTypes.h).
  runtime::StatusOr<runtime::BufferPtr> keyBuffer(uint64_t bits);
  /// As buffer(), in the type of the value's shape: for programs that are not of this session's making. May wait and copy.
  runtime::StatusOr<runtime::BufferPtr> plainBuffer(const Value &value);
  /// A result of such a program as a leaf. May wait and copy.
  runtime::StatusOr<Value> adopt(runtime::BufferPtr plain);
  /// Waits for the value and copies it to `target` (row-major, exactly the shape's bytes).
  runtime::Status download(const Value &value, void *target);
  /// Asked now and then by those who wait for other processes: an error ends the wait. By any thread, without the session's mutex as a rule.
  /// To be set before the session is made.
  static void setInterruptCheck(runtime::Status (*check)());
  /// Waits for everything that was enqueued.
  runtime::Status wait();
  /// Waits until the processes of the world are connected. Without effect where there is one.
  runtime::Status connect();
  /// Seconds without progress after which a collective of these processes ends with an error. Connects.
  runtime::Status setTimeout(const std::vector<uint32_t> &ranks, const std::string &group, uint32_t channels, double seconds);
  /// Other processes may still read tensors of which this one has parts: who leaves in order waits for that until it is false, or no longer than
  /// the session's timeout.
  static bool isAwaited();
  /// An error once a process that this one is connected with is lost, or has left.
  static runtime::Status loss();
  /// Takes leave of the other processes, if there is a session: those that still wait for this one get an error, with `failure` as its
  /// reason. Without a failure what was recorded and enqueued with them is done first; the error is one of that if nobody has been told of any.
  /// Nothing can be run with them afterwards.
  static runtime::Status leave(const std::string &failure);
  /// The user has been told of an error.
  static void setTold();

  //===-- SPMD: one program on all devices of all processes (Spmd.cpp) ------===//

  /// On: programs with annotations run on all devices. Off: on the first one; tensors in parts are put together as needed.
  /// `isAuto`: large tensors without an annotation are split when they are first used.
  runtime::Status usePartitions(bool isOn, bool isAuto = false);
  /// Devices of such programs; 0 while it is off.
  int64_t partitions() const { return numPartitions; }
  /// Copies host memory to the devices, each its part. Every process has the whole tensor. `memory`: what holds `data`, if that may be kept.
  runtime::StatusOr<Value> upload(const void *data, Shape shape, const ShardingPtr &sharding, std::shared_ptr<runtime::Storage> memory = nullptr);
  /// The same for a batch of which each process has a share, cut along dim 0 in the order of processes and their devices; the tensor is all of them
  /// together, and its sharding the one asked for. InvalidArgument where the devices do not divide the share.
  runtime::StatusOr<Value> uploadShare(const void *data, Shape shape, const ShardingPtr &sharding);
  /// What each device of this process has of a leaf; a whole one is shown to all of them.
  runtime::StatusOr<Parts> spread(const Value &leaf);
  /// The leaf has memory, whole or in parts.
  static bool hasMemory(const Value &leaf);
  /// StableHLO of the last program that ran on several devices; "" if there was none.
  const std::string &lastProgram() const { return lastSpread; }

  /// Compiles StableHLO text (or finds it in the persistent cache) and loads it.
  runtime::StatusOr<std::shared_ptr<runtime::Executable>> compileProgram(const std::string &text);
  /// The same of a module that was emitted.
  runtime::StatusOr<std::shared_ptr<runtime::Executable>> compileProgram(TracedModule module);
  /// The same, kept among the session's programs under `key`: for those who hold the text and ask again for every run.
  runtime::StatusOr<std::shared_ptr<runtime::Executable>> keptProgram(const Digest &key, const std::string &text);
  /// Starts a program that sync() did not make, after the recorded collectives if it meets other processes; its results. wait() waits for it too. Errors: as those of Executable::execute, and
  /// FailedPrecondition where executions are not allowed.
  runtime::StatusOr<std::vector<runtime::BufferPtr>> launch(runtime::Executable &executable,
                                                            const std::vector<runtime::BufferPtr> &arguments,
                                                            const runtime::ExecuteOptions &options);
  /// Compiles what sync(roots) would run, once each and without those that have a value already, and runs nothing. `leaves`: what
  /// runGraph() has to be given.
  struct WarmGraph {
    Digest key;
    std::vector<Value> leaves;
    size_t results = 0;
  };
  runtime::StatusOr<WarmGraph> warmUp(const std::vector<Value> &roots);
  /// The same without compiling.
  WarmGraph describe(const std::vector<Value> &roots);
  /// Runs the program of a graph with other leaves; a value per result. Errors: NotFound if it was never compiled or has been
  /// evicted, InvalidArgument for other types.
  runtime::StatusOr<std::vector<Value>> runGraph(const Digest &key, std::vector<Value> leaves);
  /// Whether a number that programs have had before counts as no transfer to the device (the default).
  void keepNumbers(bool isOn) { numbersKept = isOn; }
  bool keepsNumbers() const { return numbersKept; }
  /// Programs that are ready to run.
  size_t numPrograms();
  /// Forgets them; executions that were enqueued are not disturbed.
  void forgetPrograms();

  /// While false, whatever would run a program is an error: in a function that is to become one graph.
  void allowExecution(bool allowed) { executionAllowed = allowed; }
  bool allowsExecution() const { return executionAllowed; }

  /// The program that sync(roots) would run, as StableHLO text.
  runtime::StatusOr<std::string> programText(const std::vector<Value> &roots);
  /// Null if the session could not start; why: startStatus().
  const std::shared_ptr<runtime::Client> &client() {
    (void)started().ok();
    return runtimeClient;
  }
  const runtime::Status &startStatus() { return started(); }
  /// A persistent cache folder other than the environment's; before the first compilation.
  runtime::Status setCacheFolder(const std::string &folder, bool readOnly);
  uint64_t compilations() const { return compiled; }
  /// How many times something was run for sync().
  uint64_t barriers() const { return passed; }
  /// Of the graph that was run last; equal for equal programs of this process.
  uint64_t lastGraph() const { return lastKey; }

private:
  /// upload() without a conversion of `data`, whose type is `dtype`.
  runtime::StatusOr<Value> uploadAs(DType dtype, const void *data, Shape shape);
  Session() = default;
  runtime::StatusOr<LoadedProgramPtr> compileGraph(const Schedule &schedule, const std::vector<Value> &roots,
                                                   std::vector<int64_t> donations);
  /// From among the programs, or compiled.
  runtime::StatusOr<LoadedProgramPtr> findOrCompile(const Schedule &schedule, const std::vector<Value> &roots,
                                                    const std::vector<bool> &dying, const AnalysisOf &what);
  /// A leaf dies with the graph if only nodes that die hold it.
  static std::vector<bool> dyingLeaves(const Schedule &schedule, const std::vector<Value> &roots);
  /// Splits the large whole leaves of a graph that roots need.
  runtime::Status splitLeaves(const std::vector<Value> &roots);
  /// XLA_AUTO_SPMD_MESH as the compiler reads meshes.
  runtime::StatusOr<std::string> autoMesh() const;
  /// How each leaf is to be split. Under mutex.
  runtime::StatusOr<std::vector<std::string>> planLeaves(const Schedule &plan, const std::vector<Value> &roots, const std::string &mesh);
  runtime::Status findResultShardings(LoadedProgram &program, const Schedule &schedule, const std::vector<Value> &roots) const;
  /// Runs the program on all devices and gives the roots their parts.
  runtime::Status runOnAll(const Schedule &schedule, const std::vector<Value> &roots, const LoadedProgram &program,
                           const std::vector<bool> &dying);
  /// Where the graph parts from the one among the compiled that resembles it most; "" if none does.
  std::string nearestDifference(const GraphSummary &now) const;
  /// The arguments of a program with packed numbers.
  runtime::StatusOr<std::vector<runtime::BufferPtr>> gather(const Schedule &schedule, const LoadedProgram &program,
                                                            const std::vector<bool> &dying,
                                                            runtime::ExecuteOptions &options);

  /// Starts at the first call, and with that settles the world.
  const runtime::Status &started();
  runtime::Status start();
  /// Replicas of a program that is not for all devices: the processes of the world, but under SPMD these are no replicas.
  int64_t replicas() const;
  /// Waits and copies all of a leaf in parts to `target`, row-major; with several processes a collective of all that lack a part.
  runtime::Status readParts(const Value &leaf, void *target);
  /// Starts the collectives with other processes that were recorded.
  runtime::Status settleExchanges();
  /// The same for another thread than the user's, if nothing hinders it.
  void pushExchanges();
  runtime::StatusOr<std::vector<runtime::BufferPtr>> enqueue(runtime::Executable &executable, const std::vector<runtime::BufferPtr> &arguments,
                                                             const runtime::ExecuteOptions &options);

  std::once_flag starting;
  static runtime::Status mayGoOn();
  /// Waits for an event, as long as mayGoOn() lets it.
  runtime::Status await(const runtime::Event &event) const;
  int owner = 0; ///< the process that started the session: forks of it belong to no world
  std::unique_ptr<Progress> progress; ///< null in a world of one
  std::shared_ptr<RemoteParts> remoteParts; ///< likewise
  World place; ///< once it is started
  runtime::Status startError;
  std::shared_ptr<runtime::Client> runtimeClient;
  ProgramCache programs{ProgramCache::Limits::ofEnvironment()}; ///< guarded by mutex
  struct InFlight {
    runtime::Event event;
    bool spansProcesses = false;
  };
  /// Forgets what has been done. An error of what ran with other processes is kept: the user may never read a value of that. Under mutex.
  void forgetDone();
  std::vector<InFlight> inFlight; ///< guarded by mutex
  runtime::Status stepError;      ///< likewise; for the next step barrier
  std::atomic<uint64_t> compiled{0};
  uint64_t passed = 0;
  uint64_t lastKey = 0;
  std::atomic<bool> executionAllowed{true};
  std::atomic<uint64_t> gathered{0}; ///< changed under the mutex
  std::atomic<bool> isEager{false}; ///< set under the mutex; compilations without it ask, too
  std::atomic<bool> givenUpEverywhere{false}, numbersKept{true};
  int64_t numPartitions = 0;
  bool splitsAlone = false; ///< use_spmd(auto=True)
  /// How the leaves of graphs are to be split then, by the graphs' keys; guarded by mutex.
  std::unordered_map<Digest, std::vector<std::string>, DigestHash> planned;
  std::string lastSpread;
};

} // namespace millrace::tracing
