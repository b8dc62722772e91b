// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HloProto.h - HLO text as XLA's protocol buffers --------------------===//
// The numbers of fields are those of xla/service/hlo.proto and xla/xla_data.proto.
#pragma once

#include "runtime/base/Status.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace millrace::hlo {

/// HloModuleProto of the text of an HLO module (exportHloText, or the form with operand types and % before names), called `name` unless that is empty.
/// InvalidArgument if it is no such text, Unimplemented if an instruction has an attribute that is not known here; the message names it.
runtime::StatusOr<std::string> moduleProto(llvm::StringRef text, llvm::StringRef name = "");

/// HloProto with that module alone, the content of files *.hlo.pb.
std::string hloProto(llvm::StringRef module);

/// A serialized HloModuleProto as protocol buffers print JSON (64-bit integers are strings) and in their text format, one field a line.
std::string protoJson(llvm::StringRef module);
std::string protoText(llvm::StringRef module);

} // namespace millrace::hlo
