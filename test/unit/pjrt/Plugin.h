// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Plugin.h - A small client of the PJRT C API -------------------------===//
// Loads the plug-in as any caller does, by dlopen, and checks errors in one place.
#pragma once
#include "pjrt/PjrtApi.h"

#include <cstring>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::pjrt::test {

const Api &api();

/// A zeroed argument struct with its size.
template <typename A>
A make(size_t size = sizeof(A)) {
  A args;
  std::memset(static_cast<void *>(&args), 0, sizeof(args));
  args.struct_size = size;
  return args;
}

struct Outcome {
  int code = 0;
  std::string message;
};
/// Reads and destroys the error.
Outcome outcomeOf(Error *error);
#define EXPECT_OK(expression)                                                                                          \
  do {                                                                                                                 \
    ::millrace::pjrt::test::Outcome outcome_ = ::millrace::pjrt::test::outcomeOf(expression);                          \
    EXPECT_EQ(outcome_.code, 0) << outcome_.message;                                                                   \
  } while (false)

/// A serialized CompileOptionsProto. `ids`: [partition][replica] as in the proto, empty = no assignment.
std::string compileOptions(unsigned replicas = 1, unsigned partitions = 1, std::vector<std::vector<int>> ids = {},
                           bool portable = false);

struct Owned {
  explicit Owned(int64_t numDevices = 1);
  ~Owned();
  Client *client = nullptr;
  std::vector<Device *> devices;
  Memory *memory(size_t device, size_t kind = 0) const;

  Outcome compile(std::string_view text, LoadedExecutable *&executable, const std::string &options = compileOptions()) const;
  Buffer *put(const void *data, int type, std::vector<int64_t> dims, size_t device = 0,
              int semantics = OnlyDuringCall) const;
  Buffer *put(const std::vector<float> &values, size_t device = 0) const;
};

std::vector<float> get(Buffer *buffer);
bool isDeleted(Buffer *buffer);
void destroy(Buffer *buffer);
void destroy(LoadedExecutable *executable);
void destroy(Event *event);
Outcome await(Event *event); ///< and destroys it

/// One execution; the results of each device.
Outcome execute(LoadedExecutable *executable, const std::vector<std::vector<Buffer *>> &arguments, size_t numResults,
                std::vector<std::vector<Buffer *>> &results, std::vector<int64_t> nonDonatable = {},
                Device *device = nullptr);

} // namespace millrace::pjrt::test
