// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- gloo.cpp - A carrier that is Gloo ----------------------------------===//
// g++ -shared -fPIC -O2 gloo.cpp -lgloo -o libmillrace_gloo.so
// Gloo's connections are found through the job's store, on the interface of GLOO_SOCKET_IFNAME or MILLRACE_INTERFACE, else on loopback. Gloo waits
// in calls that cannot be asked whether they would wait: each request has a thread.
#include "carrier.h"

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

/// As long as the job may take: who is lost is found out by the job's own watch.
constexpr std::chrono::hours forEver(24 * 365);

class JobStore final : public gloo::rendezvous::Store {
public:
  explicit JobStore(const millrace_carrier_store &store) : store(store) {}
  void set(const std::string &key, const std::vector<char> &data) override {
    if (store.put(store.context, key.c_str(), data.data(), data.size()))
      throw std::runtime_error("the job's store does not take " + key);
  }
  std::vector<char> get(const std::string &key) override {
    std::vector<char> value;
    auto take = [](void *to, const char *bytes, size_t size) { static_cast<std::vector<char> *>(to)->assign(bytes, bytes + size); };
    if (store.get(store.context, key.c_str(), take, &value))
      throw std::runtime_error("the job's store does not give " + key);
    return value;
  }
  void wait(const std::vector<std::string> &keys) override {
    for (const std::string &key : keys)
      get(key);
  }

private:
  const millrace_carrier_store &store;
};

struct Carrier {
  std::shared_ptr<gloo::rendezvous::Context> context;
  std::vector<std::atomic<uint64_t>> sent, received; ///< messages to and from each process: their slots
  Carrier(uint32_t size) : sent(size), received(size) {}
};

struct Request {
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer;
  std::atomic<int> state{0}; ///< as test() returns it
  std::thread waits;
};

gloo::transport::tcp::attr place() {
  const char *interface = std::getenv("MILLRACE_INTERFACE");
  if (!interface || !*interface)
    interface = std::getenv("GLOO_SOCKET_IFNAME");
  gloo::transport::tcp::attr place;
  if (interface && *interface && !(interface[0] >= '0' && interface[0] <= '9'))
    place.iface = interface;
  else
    place.hostname = interface && *interface ? interface : "127.0.0.1";
  return place;
}

void *create(uint32_t rank, uint32_t size, const millrace_carrier_store *store, char *error, size_t errorBytes) {
  try {
    auto made = std::make_unique<Carrier>(size);
    made->context = std::make_shared<gloo::rendezvous::Context>(int(rank), int(size));
    made->context->setTimeout(std::chrono::minutes(5));
    JobStore keys(*store);
    std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice(place());
    made->context->connectFullMesh(keys, device);
    return made.release();
  } catch (const std::exception &failure) {
    std::snprintf(error, errorBytes, "%s", failure.what());
    return nullptr;
  }
}

void *start(void *opaque, bool sends, uint32_t other, void *data, uint64_t bytes) {
  auto &carrier = *static_cast<Carrier *>(opaque);
  try {
    auto request = std::make_unique<Request>();
    request->buffer = carrier.context->createUnboundBuffer(data, bytes);
    const uint64_t slot = (sends ? carrier.sent : carrier.received)[other]++;
    if (sends)
      request->buffer->send(int(other), slot);
    else
      request->buffer->recv(int(other), slot);
    Request *kept = request.get();
    request->waits = std::thread([kept, sends] {
      try {
        kept->state = (sends ? kept->buffer->waitSend(forEver) : kept->buffer->waitRecv(forEver)) ? 1 : -1;
      } catch (const std::exception &) {
        kept->state = -1;
      }
    });
    return request.release();
  } catch (const std::exception &) {
    return nullptr;
  }
}

void *sendBytes(void *carrier, uint32_t to, const void *data, uint64_t bytes) { return start(carrier, true, to, const_cast<void *>(data), bytes); }
void *receiveBytes(void *carrier, uint32_t from, void *data, uint64_t bytes) { return start(carrier, false, from, data, bytes); }

int test(void *, void *of) {
  auto *request = static_cast<Request *>(of);
  const int state = request->state;
  if (state) {
    request->waits.join();
    delete request;
  }
  return state;
}

void cancel(void *, void *of) {
  auto *request = static_cast<Request *>(of);
  request->buffer->abortWaitSend();
  request->buffer->abortWaitRecv();
  request->waits.join();
  delete request;
}

void destroy(void *carrier, int) { delete static_cast<Carrier *>(carrier); }

} // namespace

const millrace_carrier *millrace_carrier_table() {
  static const millrace_carrier table = {MILLRACE_CARRIER_VERSION, "gloo", create, sendBytes, receiveBytes, test, cancel, destroy};
  return &table;
}
