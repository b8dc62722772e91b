// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProtoAttributes.h - Attributes of HLO instructions as fields -------===//
#pragma once

#include "runtime/base/Status.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <string>

namespace millrace::hlo {

/// The fields of HloInstructionProto that come from `name=value` behind the operands of one instruction, in any order.
class InstructionFields {
public:
  /// `computations` has the ids of all computations by name.
  InstructionFields(llvm::StringRef opcode, const llvm::StringMap<int64_t> &computations) : opcode(opcode), computations(computations) {}

  runtime::Status add(llvm::StringRef name, llvm::StringRef value);
  /// Bytes of all fields.
  std::string finish();

private:
  runtime::Status addCalled(llvm::StringRef name, llvm::StringRef value);
  bool addPlain(llvm::StringRef name, llvm::StringRef value);
  bool addDimensionNumbers(llvm::StringRef name, llvm::StringRef value);
  runtime::Status addStructured(llvm::StringRef name, llvm::StringRef value);

  llvm::StringRef opcode;
  const llvm::StringMap<int64_t> &computations;
  std::string fields;
  std::string dot, gather, scatter, precision, triangular, cholesky; ///< messages that several attributes fill
  llvm::SmallVector<std::pair<int, int64_t>> called;                  ///< place among the called computations, id
  bool hasPrecision = false, hasApiVersion = false;
};

/// FrontendAttributes of `{a="1",b={...}}`, OpMetadata of `{op_name="..." source_line=3}`.
std::string frontendAttributes(llvm::StringRef text);
std::string metadataProto(llvm::StringRef text);

} // namespace millrace::hlo
