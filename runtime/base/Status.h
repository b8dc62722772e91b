// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Status.h - Error code and message, or a value -----------------------===//
// The runtime reports every failure as a Status, and no exception leaves a runtime function. The numbers of the codes are those of the PJRT C API
// (and of gRPC), so that the plug-in passes them on unchanged.
#pragma once
#include <cassert>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace millrace::runtime {

enum class Code : int {
  Ok = 0, Cancelled = 1, Unknown = 2, InvalidArgument = 3, DeadlineExceeded = 4, NotFound = 5, AlreadyExists = 6,
  PermissionDenied = 7, ResourceExhausted = 8, FailedPrecondition = 9, Aborted = 10, OutOfRange = 11,
  Unimplemented = 12, Internal = 13, Unavailable = 14, DataLoss = 15, Unauthenticated = 16
};

/// Returns "INVALID_ARGUMENT" and so on.
std::string_view name(Code code);

/// A code and a message. Copying is cheap; an Ok status holds no memory.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Code code, std::string message) {
    assert(code != Code::Ok && "an error needs an error code");
    rep = std::make_shared<const Rep>(Rep{code, std::move(message)});
  }
  bool ok() const { return !rep; }
  Code code() const { return rep ? rep->code : Code::Ok; }
  std::string_view message() const { return rep ? std::string_view(rep->message) : std::string_view(); }
  /// Returns "INVALID_ARGUMENT: message", or "OK".
  std::string toString() const;
  /// Returns the status with `context` and ": " before its message. Ok stays Ok.
  Status withContext(std::string_view context) const;

private:
  struct Rep {
    Code code;
    std::string message;
  };
  std::shared_ptr<const Rep> rep;
};

inline Status okStatus() { return Status(); }
inline Status invalidArgument(std::string message) { return Status(Code::InvalidArgument, std::move(message)); }
inline Status notFound(std::string message) { return Status(Code::NotFound, std::move(message)); }
inline Status internalError(std::string message) { return Status(Code::Internal, std::move(message)); }
inline Status unimplemented(std::string message) { return Status(Code::Unimplemented, std::move(message)); }
inline Status failedPrecondition(std::string message) { return Status(Code::FailedPrecondition, std::move(message)); }
inline Status resourceExhausted(std::string message) { return Status(Code::ResourceExhausted, std::move(message)); }
inline Status dataLoss(std::string message) { return Status(Code::DataLoss, std::move(message)); }
inline Status deadlineExceeded(std::string message) { return Status(Code::DeadlineExceeded, std::move(message)); }
inline Status aborted(std::string message) { return Status(Code::Aborted, std::move(message)); }

/// A value, or the Status that says why there is none. Test with `if (!x)`, then use `*x` or `x.status()`.
template <typename T>
class [[nodiscard]] StatusOr {
public:
  StatusOr(T value) : content(std::in_place_index<1>, std::move(value)) {}
  StatusOr(Status error) : content(std::in_place_index<0>, std::move(error)) {
    assert(!std::get<0>(content).ok() && "an Ok status carries no value");
  }
  bool ok() const { return content.index() == 1; }
  explicit operator bool() const { return ok(); }
  Status status() const { return ok() ? Status() : std::get<0>(content); }
  T &value() & { assert(ok()); return std::get<1>(content); }
  const T &value() const & { assert(ok()); return std::get<1>(content); }
  T &&value() && { assert(ok()); return std::move(std::get<1>(content)); }
  T &operator*() & { return value(); }
  const T &operator*() const & { return value(); }
  T &&operator*() && { return std::move(*this).value(); }
  T *operator->() { return &value(); }
  const T *operator->() const { return &value(); }

private:
  std::variant<Status, T> content;
};

} // namespace millrace::runtime

/// Returns the error of a Status expression from the enclosing function.
#define MILLRACE_TRY(expression)                                                                                        \
  do {                                                                                                                 \
    if (::millrace::runtime::Status status_ = (expression); !status_.ok())                                             \
      return status_;                                                                                                  \
  } while (false)
