// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Status.cpp - Names of the error codes -------------------------------===//
#include "runtime/base/Status.h"

namespace millrace::runtime {

std::string_view name(Code code) {
  switch (code) {
  case Code::Ok: return "OK";
  case Code::Cancelled: return "CANCELLED";
  case Code::Unknown: return "UNKNOWN";
  case Code::InvalidArgument: return "INVALID_ARGUMENT";
  case Code::DeadlineExceeded: return "DEADLINE_EXCEEDED";
  case Code::NotFound: return "NOT_FOUND";
  case Code::AlreadyExists: return "ALREADY_EXISTS";
  case Code::PermissionDenied: return "PERMISSION_DENIED";
  case Code::ResourceExhausted: return "RESOURCE_EXHAUSTED";
  case Code::FailedPrecondition: return "FAILED_PRECONDITION";
  case Code::Aborted: return "ABORTED";
  case Code::OutOfRange: return "OUT_OF_RANGE";
  case Code::Unimplemented: return "UNIMPLEMENTED";
  case Code::Internal: return "INTERNAL";
  case Code::Unavailable: return "UNAVAILABLE";
  case Code::DataLoss: return "DATA_LOSS";
  case Code::Unauthenticated: return "UNAUTHENTICATED";
  }
  return "UNKNOWN";
}

std::string Status::toString() const {
  if (ok())
    return "OK";
  return std::string(name(code())) + ": " + rep->message;
}

Status Status::withContext(std::string_view context) const {
  if (ok())
    return *this;
  return Status(code(), std::string(context) + ": " + rep->message);
}

} // namespace millrace::runtime
