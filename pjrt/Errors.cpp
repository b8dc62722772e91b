// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Errors.cpp - Error objects ------------------------------------------===//
#include "pjrt/Slots.h"

#include <new>

namespace millrace::pjrt {
namespace {

void destroyError(Error *error);
void messageOf(const Error *error, const char **message, size_t *size) {
  std::string_view text = error->status.message();
  *message = text.data();
  *size = text.size();
}
int codeOf(const Error *error) { return int(error->status.code()); }
void noPayload(const Error *, void *, void *) {}

constexpr ErrorFunctions functions = {sizeof(ErrorFunctions), sizeof(Error), nullptr, destroyError,
                                      messageOf,              codeOf,        noPayload};

/// Is returned when there is no memory for an error object.
Error &outOfMemory() {
  static Error *error = new Error{&functions, rt::resourceExhausted("out of memory")};
  return *error;
}
[[maybe_unused]] Error &madeAtStart = outOfMemory();

void destroyError(Error *error) {
  if (error != &outOfMemory())
    delete error;
}

} // namespace

Error *makeError(rt::Status status) {
  if (status.ok())
    return nullptr;
  Error *error = new (std::nothrow) Error{&functions, std::move(status)};
  return error ? error : &outOfMemory();
}

rt::Status statusFrom(const StatusText &text) {
  if (text.code == 0)
    return {};
  std::string message = text.message ? std::string(text.message, text.message_size) : std::string();
  bool isKnown = text.code >= int(rt::Code::Cancelled) && text.code <= int(rt::Code::Unauthenticated);
  return rt::Status(isKnown ? rt::Code(text.code) : rt::Code::Unknown, std::move(message));
}

namespace slots {

rt::Status Error_Destroy(Error_Destroy_Args &args) {
  if (args.object)
    destroyError(args.object);
  return {};
}
rt::Status Error_Message(Error_Message_Args &args) {
  messageOf(args.object, &args.data, &args.size);
  return {};
}
rt::Status Error_GetCode(Error_GetCode_Args &args) {
  args.result = codeOf(args.object);
  return {};
}
rt::Status Error_ForEachPayload(Error_ForEachPayload_Args &) { return {}; }

} // namespace slots
} // namespace millrace::pjrt
