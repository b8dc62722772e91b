// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Profiler.cpp - Our planes in the profiles of JAX ---------------------===//
// jaxlib makes a profiler per session, starts and stops it, and merges the XSpace that it collects into its own: planes of devices are added,
// threads of the host join jaxlib's lines for them. It leaves the first two fields of most argument structs uninitialised: none is read here.
#include "pjrt/Profiler.h"
#include "runtime/profile/Thin.h"
#include "runtime/profile/ToXSpace.h"

#include <optional>
#include <string>
#include <string_view>

namespace millrace::pjrt {
namespace {

namespace profile = runtime::profile;

/// One profiling session of jaxlib.
struct Profiler {
  std::optional<profile::Session> session;
  std::string collected;
  profile::Wanted wanted;
};

struct ProfilerArgs {
  size_t struct_size;
  Profiler *profiler;
};
struct ProfilerCreateArgs {
  size_t struct_size;
  const char *options; ///< a serialized ProfileOptions
  size_t options_size;
  Profiler *profiler; ///< out
};
struct ProfilerCollectArgs {
  size_t struct_size;
  Profiler *profiler;
  const uint8_t *buffer; ///< out; lives as long as the profiler, or until it starts again
  size_t buffer_size;    ///< out
};

/// The type that calls return instead of Error; none of Millrace's calls fails.
struct ProfilerError;
struct ErrorDestroyArgs {
  size_t struct_size;
  void *priv;
  ProfilerError *error;
};
struct ErrorMessageArgs : ErrorDestroyArgs {
  const char *message; ///< out
  size_t message_size; ///< out
};
struct ErrorCodeArgs : ErrorDestroyArgs {
  int code; ///< out
};

/// jaxlib 0.8 to 0.10 accepts this table only with exactly this size, and calls through null pointers otherwise.
struct ProfilerApi {
  size_t struct_size;
  void *priv;
  void (*error_destroy)(ErrorDestroyArgs *);
  void (*error_message)(ErrorMessageArgs *);
  ProfilerError *(*error_get_code)(ErrorCodeArgs *);
  ProfilerError *(*create)(ProfilerCreateArgs *);
  ProfilerError *(*destroy)(ProfilerArgs *);
  ProfilerError *(*start)(ProfilerArgs *);
  ProfilerError *(*stop)(ProfilerArgs *);
  ProfilerError *(*collect)(ProfilerCollectArgs *);
};
static_assert(sizeof(ProfilerApi) == 80);

struct ProfilerExtension {
  Extension base;
  ProfilerApi *api;
  int64_t traceme_context_id; ///< of arguments only
};
static_assert(sizeof(ProfilerExtension) == 40);

/// jaxlib truncates sizes to 31 bits: what is larger would be lost without an error.
constexpr size_t kMostBytes = size_t(1) << 30;

ProfilerApi api = {
    sizeof(ProfilerApi),
    nullptr,
    [](ErrorDestroyArgs *) {},
    [](ErrorMessageArgs *args) {
      args->message = "";
      args->message_size = 0;
    },
    [](ErrorCodeArgs *args) -> ProfilerError * {
      args->code = 0;
      return nullptr;
    },
    [](ProfilerCreateArgs *args) -> ProfilerError * {
      args->profiler = new Profiler;
      // A message that cannot be read leaves the defaults: jaxlib calls through null pointers after a create that failed.
      (void)profile::readProfileOptions({args->options, args->options ? args->options_size : 0}, args->profiler->wanted);
      return nullptr;
    },
    [](ProfilerArgs *args) -> ProfilerError * {
      delete args->profiler;
      return nullptr;
    },
    [](ProfilerArgs *args) -> ProfilerError * {
      Profiler &profiler = *args->profiler;
      profiler.collected.clear();
      if (profiler.wanted.hostLevel || profiler.wanted.deviceLevel) // otherwise the program does not pay for records that nobody reads
        profiler.session.emplace();
      return nullptr;
    },
    [](ProfilerArgs *args) -> ProfilerError * {
      Profiler &profiler = *args->profiler;
      if (!profiler.session)
        return nullptr;
      profile::XSpace space = profile::toXSpace(profiler.session->stop(), /*isWhole=*/false, profiler.wanted);
      profiler.session.reset();
      profiler.collected = encodeWithin(space, kMostBytes);
      return nullptr;
    },
    [](ProfilerCollectArgs *args) -> ProfilerError * {
      args->buffer = reinterpret_cast<const uint8_t *>(args->profiler->collected.data());
      args->buffer_size = args->profiler->collected.size();
      return nullptr;
    }};

ProfilerExtension extension = {{sizeof(ProfilerExtension), /*type=*/1, nullptr}, &api, -1};

} // namespace

Extension *profilerExtension(Extension *next) {
  extension.base.next = next;
  return &extension.base;
}

} // namespace millrace::pjrt
