// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compiler.h - From the bytes of a program to a Compiled --------------===//
#pragma once
#include "pjrt/Objects.h"

namespace millrace::pjrt {

/// Compiles a StableHLO module (text, bytecode or portable artifact), or reads it from Millrace's cache. The message of an error has one line per
/// diagnostic, "file.py:12:5: error: ...". Thread-safe.
rt::StatusOr<std::shared_ptr<const Compiled>> compileProgram(const ProgramCode &program, std::string_view optionBytes);

/// Returns the simplified module of `compiled` as StableHLO that other tools read.
rt::StatusOr<std::string> optimizedModule(const Compiled &compiled);

/// Serializes a Compiled, and back. The bytes are checked completely: damaged or foreign bytes are DataLoss, InvalidArgument or FailedPrecondition.
rt::StatusOr<std::string> serializeCompiled(const Compiled &compiled);
rt::StatusOr<std::shared_ptr<const Compiled>> parseCompiled(std::string_view bytes);

/// Loads onto the devices that `options` name.
rt::StatusOr<LoadedExecutable *> loadCompiled(Client &client, std::shared_ptr<const Compiled> compiled,
                                              const CompileOptionsProto &options);

} // namespace millrace::pjrt
