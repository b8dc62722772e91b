// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Event.cpp - Something that will be finished, with a Status ----------===//
#include "runtime/base/Event.h"

#include <algorithm>
#include <chrono>

namespace millrace::runtime {

Event Event::ready(Status status) {
  if (status.ok())
    return Event();
  EventSource source;
  source.set(std::move(status));
  return source.event();
}

void Event::beginWork() const {
  // The work may be done before begin() returns, and its callbacks destroy the event that they were given to.
  const std::shared_ptr<State> kept = state;
  if (kept && kept->worker)
    kept->worker->begin();
}

bool Event::isReady() const {
  if (!state || state->done.load(std::memory_order_acquire))
    return true;
  beginWork();
  return false;
}

Status Event::await() const {
  if (!state)
    return Status();
  if (state->done.load(std::memory_order_acquire))
    return state->status;
  const std::shared_ptr<State> kept = state; // as in beginWork()
  while (kept->worker && !kept->done.load(std::memory_order_acquire) && kept->worker->workOnce()) {
  }
  if (!kept->done.load(std::memory_order_acquire)) {
    std::unique_lock lock(kept->mutex);
    kept->changed.wait(lock, [&] { return kept->done.load(std::memory_order_acquire); });
  }
  return kept->status;
}

bool Event::awaitFor(double seconds) const {
  const std::shared_ptr<State> kept = state; // as in beginWork()
  if (isReady())
    return true;
  std::unique_lock lock(kept->mutex);
  return kept->changed.wait_for(lock, std::chrono::duration<double>(seconds),
                                [&] { return kept->done.load(std::memory_order_acquire); });
}

void Event::onReady(std::function<void(const Status &)> callback) const { addCallback(std::move(callback), /*isBegun=*/true); }

void Event::observe(std::function<void(const Status &)> callback) const { addCallback(std::move(callback), /*isBegun=*/false); }

void Event::addCallback(std::function<void(const Status &)> callback, bool isBegun) const {
  // Callbacks destroy the event that they were given to (PJRT's clients do), here or, once the mutex is free, on another thread.
  const Event kept = *this;
  if (kept.state) {
    std::unique_lock lock(kept.state->mutex);
    if (!kept.state->done.load(std::memory_order_acquire)) {
      kept.state->waiting.push_back(std::move(callback));
      lock.unlock();
      if (isBegun)
        kept.beginWork();
      return;
    }
  }
  callback(kept.state ? kept.state->status : Status());
}

EventSource::EventSource(std::shared_ptr<Event::Worker> worker) : guard(std::make_shared<Guard>()) {
  guard->state = std::make_shared<Event::State>();
  guard->state->worker = std::move(worker);
}

EventSource::Guard::~Guard() {
  if (!state->done.load(std::memory_order_acquire))
    EventSource::set(*state, Status(Code::Cancelled, "the operation was dropped before it ran"));
}

void EventSource::set(Status status) const {
  const std::shared_ptr<Event::State> kept = guard->state; // callbacks may destroy this source
  set(*kept, std::move(status));
}

void EventSource::set(Event::State &state, Status status) {
  std::vector<std::function<void(const Status &)>> callbacks;
  {
    std::lock_guard lock(state.mutex);
    assert(!state.done && "an event is set once");
    state.status = std::move(status);
    state.done.store(true, std::memory_order_release);
    callbacks.swap(state.waiting);
    state.changed.notify_all();
  }
  for (auto &callback : callbacks)
    callback(state.status);
}

namespace {

/// A thread that waits for several events does the work of those that are missing; other work in their queues may wait for this thread.
struct Workers : Event::Worker {
  std::vector<Event> events;
  bool workOnce() override {
    return std::any_of(events.begin(), events.end(), [](const Event &event) { return !event.isSet() && event.worker()->workOnce(); });
  }
  void begin() override {
    for (const Event &event : events)
      event.worker()->begin();
  }
};

/// Returns the worker for a thread that waits for all events. Work of several workers begins now, because one thread would do it in turn.
std::shared_ptr<Event::Worker> workersOf(const std::vector<Event> &events) {
  auto workers = std::make_shared<Workers>();
  for (const Event &event : events)
    if (event.worker() && !event.isSet())
      workers->events.push_back(event);
  if (workers->events.empty())
    return nullptr;
  if (std::any_of(workers->events.begin(), workers->events.end(),
                  [&](const Event &event) { return event.worker() != workers->events.front().worker(); }))
    workers->begin();
  return workers;
}

} // namespace

Event whenAll(const std::vector<Event> &events) {
  struct Join {
    std::atomic<size_t> missing;
    std::vector<Event> events;
    EventSource source;
    explicit Join(const std::vector<Event> &events) : missing(events.size() + 1), events(events), source(workersOf(events)) {}
    void finish() {
      Status first;
      for (const Event &event : events)
        if (Status status = event.await(); !status.ok() && first.ok())
          first = status;
      source.set(first);
    }
  };
  auto join = std::make_shared<Join>(events);
  Event result = join->source.event();
  auto arrive = [join](const Status &) {
    if (join->missing.fetch_sub(1) == 1)
      join->finish();
  };
  for (const Event &event : events)
    event.observe(arrive);
  arrive(Status());
  return result;
}

} // namespace millrace::runtime
