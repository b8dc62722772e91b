// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Objects.cpp - Errors, types, states and futures of the FFI ----------===//
#include "runtime/ffi/Objects.h"

#include <map>
#include <string>

namespace millrace::runtime::ffi {

int32_t abiType(DType type) {
  switch (type) {
  case DType::I1: return 1;
  case DType::I2: return 26;
  case DType::I4: return 21;
  case DType::I8: return 2;
  case DType::I16: return 3;
  case DType::I32: return 4;
  case DType::I64: return 5;
  case DType::U2: return 27;
  case DType::U4: return 22;
  case DType::U8: return 6;
  case DType::U16: return 7;
  case DType::U32: return 8;
  case DType::U64: return 9;
  case DType::F16: return 10;
  case DType::F32: return 11;
  case DType::F64: return 12;
  case DType::BF16: return 16;
  case DType::C64: return 15;
  case DType::C128: return 18;
  case DType::Token: return 17;
  case DType::F8E5M2: return 19;
  case DType::F8E3M4: return 29;
  case DType::F8E4M3: return 28;
  case DType::F8E4M3FN: return 20;
  case DType::F8E4M3B11FNUZ: return 23;
  case DType::F8E5M2FNUZ: return 24;
  case DType::F8E4M3FNUZ: return 25;
  case DType::F4E2M1FN: return 32;
  case DType::F8E8M0FNU: return 33;
  case DType::Invalid:
  case DType::F6E2M3FN:
  case DType::F6E3M2FN: return 0;
  }
  return 0;
}

Status takeError(abi::Error *error) {
  if (!error)
    return Status();
  Status status = std::move(error->status);
  delete error;
  return status;
}

abi::Error *makeError(Status status) { return status.ok() ? nullptr : new abi::Error{std::move(status)}; }

namespace {

struct Types {
  std::mutex mutex;
  struct Entry {
    int64_t id;
    void (*destroy)(void *);
  };
  std::map<std::string, Entry, std::less<>> byName;
  int64_t last = 0;
  static Types &get() {
    static Types *types = new Types;
    return *types;
  }
  const Entry *find(int64_t id) const {
    for (auto &[name, entry] : byName)
      if (entry.id == id)
        return &entry;
    return nullptr;
  }
};

} // namespace

Status registerType(std::string_view name, abi::TypeId *id, const abi::TypeInfo *info) {
  if (!id)
    return invalidArgument("type '" + std::string(name) + "' is registered without a place for its number");
  Types &types = Types::get();
  std::lock_guard lock(types.mutex);
  auto it = types.byName.find(name);
  if (it == types.byName.end()) {
    if (id->id == 0) {
      do
        ++types.last;
      while (types.find(types.last));
      id->id = types.last;
    } else if (types.find(id->id)) {
      return invalidArgument("type '" + std::string(name) + "' wants the number of another type, " +
                             std::to_string(id->id));
    }
    types.byName.emplace(std::string(name), Types::Entry{id->id, info ? info->destroy : nullptr});
    return Status();
  }
  if (id->id != 0 && id->id != it->second.id)
    return invalidArgument("type '" + std::string(name) + "' has number " + std::to_string(it->second.id) +
                           " already, but comes with " + std::to_string(id->id));
  id->id = it->second.id;
  if (info && info->destroy)
    it->second.destroy = info->destroy;
  return Status();
}

State::~State() {
  if (data && destroy)
    destroy(data);
}

Status State::set(abi::TypeId typeId, void *object, void (*itsDestroy)(void *)) {
  if (data)
    return failedPrecondition("the state of this stage is set already");
  if (!object)
    return invalidArgument("a state cannot be a null pointer");
  Types &types = Types::get();
  std::lock_guard lock(types.mutex);
  const Types::Entry *entry = types.find(typeId.id);
  if (!entry || !(itsDestroy || entry->destroy))
    return invalidArgument("the state's type, number " + std::to_string(typeId.id) + ", is not registered" +
                           (entry ? " with a function that destroys it" : ""));
  type = typeId.id, data = object, destroy = itsDestroy ? itsDestroy : entry->destroy;
  return Status();
}

StatusOr<void *> State::get(abi::TypeId typeId) const {
  if (!data)
    return notFound("the state is not set");
  if (type != typeId.id)
    return invalidArgument("the state is of type number " + std::to_string(type) + ", but number " +
                           std::to_string(typeId.id) + " is asked for");
  return data;
}

Status abi::Future::await() {
  std::unique_lock lock(parts->mutex);
  parts->changed.wait(lock, [&] { return parts->outcome.has_value(); });
  return *parts->outcome;
}

} // namespace millrace::runtime::ffi
