// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Api.cpp - The function table ----------------------------------------===//
#include "pjrt/Extensions.h"
#include "pjrt/Slots.h"

#include <new>

namespace millrace::pjrt {
namespace {

/// Lets no exception leave a function. Millrace throws none, but memory can run out.
template <auto Body, typename A>
Error *call(A *args) {
  try {
    return makeError(Body(*args));
  } catch (const std::bad_alloc &) {
    return makeError(rt::resourceExhausted("out of memory"));
  } catch (const std::exception &exception) {
    return makeError(rt::internalError(exception.what()));
  } catch (...) {
    return makeError(rt::internalError("unknown exception"));
  }
}

constexpr Api makeApi() {
  Api api{};
  api.struct_size = sizeof(Api);
  api.version.struct_size = sizeof(Version);
  api.version.major_version = kApiMajor;
  api.version.minor_version = kApiMinor;
#define MILLRACE_PJRT_FILL(name, size) api.name = [](name##_Args *args) { (void)call<slots::name>(args); };
  MILLRACE_PJRT_VOID_SLOTS(MILLRACE_PJRT_FILL)
#undef MILLRACE_PJRT_FILL
#define MILLRACE_PJRT_FILL(name, size) api.name = [](name##_Args *args) { return call<slots::name>(args); };
  MILLRACE_PJRT_SLOTS(MILLRACE_PJRT_FILL)
#undef MILLRACE_PJRT_FILL
  return api;
}

} // namespace
} // namespace millrace::pjrt

extern "C" __attribute__((visibility("default"))) const millrace::pjrt::Api *GetPjrtApi() {
  static const millrace::pjrt::Api api = [] {
    millrace::pjrt::Api made = millrace::pjrt::makeApi();
    made.extension_start = millrace::pjrt::extensions();
    return made;
  }();
  return &api;
}
