// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Event.h - Completion of asynchronous work, with a Status ------------===//
#pragma once
#include "runtime/base/Status.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace millrace::runtime {

/// A handle of an event, cheap to copy and thread-safe. A default-constructed event is ready and Ok.
class Event {
public:
  Event() = default;
  static Event ready(Status status = Status());

  /// A queue of work that sets the event, perhaps after other work of the queue.
  class Worker {
  public:
    virtual ~Worker() = default;
    /// Runs the next piece of work on the calling thread. Returns false if there is none that this thread may run, or if another thread runs it.
    virtual bool workOnce() = 0;
    /// Starts the work on a thread of its own, because a caller queries the event without waiting for it.
    virtual void begin() {}
  };

  /// Returns whether the event is set. Starts nothing.
  bool isSet() const { return !state || state->done.load(std::memory_order_acquire); }
  /// Returns whether the event is set. This and all following functions except await() and observe() start the worker, see Worker::begin().
  bool isReady() const;
  /// Blocks until the event is set. The calling thread does the work of the event's worker meanwhile, so that no other thread needs to be woken.
  Status await() const;
  std::shared_ptr<Worker> worker() const { return state ? state->worker : nullptr; }
  /// Returns false if `seconds` passed before the event was set.
  bool awaitFor(double seconds) const;
  /// Calls `callback` once: when the event is set (on the setting thread), or at once if it is set already.
  void onReady(std::function<void(const Status &)> callback) const;
  /// Like onReady() for who only watches (a metric): the work begins when someone asks for it or waits for it.
  void observe(std::function<void(const Status &)> callback) const;

private:
  friend class EventSource;
  void beginWork() const;
  void addCallback(std::function<void(const Status &)> callback, bool isBegun) const;
  struct State {
    std::atomic<bool> done{false};
    std::shared_ptr<Worker> worker; ///< may be null; kept alive by the state
    mutable std::mutex mutex;
    mutable std::condition_variable changed;
    Status status;                                            ///< written before `done`
    std::vector<std::function<void(const Status &)>> waiting; ///< guarded by mutex
  };
  explicit Event(std::shared_ptr<State> state) : state(std::move(state)) {}
  std::shared_ptr<State> state;
};

/// The side that sets the event, once. If the last copy is destroyed without setting it, the event becomes Cancelled.
class EventSource {
public:
  explicit EventSource(std::shared_ptr<Event::Worker> worker = nullptr);
  Event event() const { return Event(guard->state); }
  void set(Status status = Status()) const;

private:
  struct Guard {
    std::shared_ptr<Event::State> state;
    ~Guard();
  };
  static void set(Event::State &state, Status status);
  std::shared_ptr<Guard> guard;
};

/// Returns an event that is ready when all are. Its status is that of the first failed event in the list.
Event whenAll(const std::vector<Event> &events);

} // namespace millrace::runtime
