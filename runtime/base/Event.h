// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Event.h - Something that will be finished, with a Status ------------===//
#pragma once
#include "runtime/base/Status.h"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace millrace::runtime {

/// A handle that is cheap to copy; thread-safe. A default-constructed event is ready and Ok.
class Event {
public:
  Event() = default;
  static Event ready(Status status = Status());

  /// Somebody whose work sets the event, perhaps after other work of theirs.
  class Worker {
  public:
    virtual ~Worker() = default;
    /// Does their next piece of work on the calling thread; false if there is none that it may do, or somebody does it already.
    virtual bool workOnce() = 0;
    /// Somebody looks at the event who does not wait: work that was left to those who do must begin.
    virtual void begin() {}
  };

  /// Like all below but await, it lets the event's worker begin.
  bool isReady() const;
  /// Blocks until the event is set. Does the work of the event's worker meanwhile: a thread that waits anyway need not wake another one.
  Status await() const;
  std::shared_ptr<Worker> worker() const { return state ? state->worker : nullptr; }
  /// False if `seconds` passed first.
  bool awaitFor(double seconds) const;
  /// Calls `callback` once, when the event is set (on the setting thread) or at once if it is already.
  void onReady(std::function<void(const Status &)> callback) const;

private:
  friend class EventSource;
  void beginWork() const;
  struct State {
    std::atomic<bool> done{false};
    std::shared_ptr<Worker> worker; ///< may be null; as long as the state lives
    mutable std::mutex mutex;
    mutable std::condition_variable changed;
    Status status;                                            ///< written before done
    std::vector<std::function<void(const Status &)>> waiting; ///< guarded by mutex
  };
  explicit Event(std::shared_ptr<State> state) : state(std::move(state)) {}
  std::shared_ptr<State> state;
};

/// The side that sets the event, once. If the last copy dies without setting it, the event becomes Cancelled.
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

/// Ready when all are; the status is that of the first failed one in the list.
Event whenAll(const std::vector<Event> &events);

} // namespace millrace::runtime
