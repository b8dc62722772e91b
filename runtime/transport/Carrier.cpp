// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Carrier.cpp - A library that carries large messages ----------------===//
#include "runtime/transport/Carrier.h"
#include "runtime/base/Hash.h"

#include <dlfcn.h>

namespace millrace::runtime::transport {
namespace {

/// Returns the folder from which this code was loaded, with a slash; "" if unknown.
std::string ownFolder() {
  Dl_info info;
  if (!::dladdr(reinterpret_cast<const void *>(&ownFolder), &info) || !info.dli_fname)
    return "";
  const std::string file = info.dli_fname;
  return file.substr(0, file.rfind('/') + 1);
}

/// The carrier's libraries prefer their own symbols, because libtorch defines some of Gloo's.
void *open(const std::string &file) { return ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND); }

struct StoreFunctions {
  Store &store;
  double seconds;

  static int put(void *context, const char *key, const char *value, size_t bytes) {
    // The stores of launchers hold text only.
    return static_cast<StoreFunctions *>(context)->store.put(std::string("millrace/carrier/") + key, toHex({value, bytes})).ok() ? 0 : 1;
  }
  static int get(void *context, const char *key, void (*take)(void *, const char *, size_t), void *to) {
    auto &self = *static_cast<StoreFunctions *>(context);
    StatusOr<std::string> text = self.store.get(std::string("millrace/carrier/") + key, self.seconds);
    const std::optional<std::string> value = text ? fromHex(*text) : std::nullopt;
    if (!value)
      return 1;
    take(to, value->data(), value->size());
    return 0;
  }
};

} // namespace

StatusOr<std::unique_ptr<Carrier>> Carrier::load(const std::string &library, uint32_t rank, uint32_t size, Store &store, double seconds) {
  const bool isPath = library.find('/') != std::string::npos;
  const std::string file = isPath ? library : "libmillrace_" + library + ".so";
  void *handle = isPath ? open(file) : open(ownFolder() + file);
  std::string why = handle ? "" : ::dlerror();
  if (!handle && !isPath && !(handle = open(file)))
    why += std::string("; ") + ::dlerror();
  if (!handle)
    return notFound("MILLRACE_TRANSPORT=" + library + ": " + why + ". It is compiled from the sources in millrace.carriers_path(), see docs/guide/processes.md");
  auto table = reinterpret_cast<const millrace_carrier *(*)()>(::dlsym(handle, "millrace_carrier_table"));
  if (!table || table()->version != MILLRACE_CARRIER_VERSION)
    return failedPrecondition(file + " is no carrier of version " + std::to_string(MILLRACE_CARRIER_VERSION));
  StoreFunctions functions{store, seconds};
  const millrace_carrier_store keys{&functions, StoreFunctions::put, StoreFunctions::get};
  char error[1024] = "";
  void *made = table()->create(rank, size, &keys, error, sizeof error);
  if (!made)
    return failedPrecondition(std::string("the carrier ") + table()->name + ": " + (*error ? error : "cannot be created"));
  return std::unique_ptr<Carrier>(new Carrier(*table(), made));
}

Carrier::~Carrier() { end(/*isOrderly=*/false); }

void Carrier::end(bool isOrderly) {
  std::unique_lock lock(ending);
  if (!isEnded)
    table.destroy(carrier, isOrderly);
  isEnded = true;
}

Carrier::Request Carrier::send(uint32_t to, const void *data, uint64_t bytes) {
  std::shared_lock lock(ending);
  return isEnded ? nullptr : table.send(carrier, to, data, bytes);
}

Carrier::Request Carrier::receive(uint32_t from, void *data, uint64_t bytes) {
  std::shared_lock lock(ending);
  return isEnded ? nullptr : table.receive(carrier, from, data, bytes);
}

int Carrier::test(Request request) {
  std::shared_lock lock(ending);
  return isEnded ? -1 : table.test(carrier, request);
}

void Carrier::cancel(Request request, std::shared_ptr<const void> memory) {
  std::shared_lock lock(ending);
  if (!isEnded)
    table.cancel(carrier, request);
  std::lock_guard keeping(mutex);
  kept.push_back(std::move(memory));
}

} // namespace millrace::runtime::transport
